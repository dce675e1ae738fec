//! MCP servers for tests: a program in a few lines of shell, and one over HTTP on loopback.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response};
use axum::routing::any;
use serde_json::{Value, json};

/// A server with the tools `say` (its text again), `fail`, `pid`, and `hang`, which also leaves a
/// process behind. It writes its process id into the file `started` of its folder, and `ended`
/// when its stdin is closed.
pub(crate) const PROGRAM: &str = r#"
echo $$ > started
tools='{"name":"say","description":"Says it again.","inputSchema":{"type":"object"}}'
for name in fail pid hang; do tools+=',{"name":"'$name'","inputSchema":{"type":"object"}}'; done
while IFS= read -r line; do
  [[ $line =~ \"id\":([0-9]+) ]] || continue
  id=${BASH_REMATCH[1]}
  reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  text() { reply '{"content":[{"type":"text","text":"'"$1"'"}],"isError":'"${2:-false}"'}'; }
  case $line in
    *'"method":"initialize"'*)
      reply '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"1"}}' ;;
    *'"method":"tools/list"'*) reply '{"tools":['"$tools"']}' ;;
    *'"name":"say"'*) [[ $line =~ \"text\":\"([^\"]*)\" ]]; text "${BASH_REMATCH[1]}$EXTRA" ;;
    *'"name":"fail"'*) text 'out of ink' true ;;
    *'"name":"pid"'*) text $$ ;;
    *'"name":"hang"'*) sleep 600 & echo $! > left; touch hanging ;;
  esac
done
touch ended
"#;

/// The entry of `mcpServers` for that program.
pub(crate) fn program(name: &str) -> Value {
    json!({
        "name": name,
        "command": "bash",
        "args": ["-c", PROGRAM],
        "env": [{"name": "EXTRA", "value": "!"}],
    })
}

/// A request over HTTP: its method, the JSON-RPC method, the session and a header of the client's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) verb: String,
    pub(crate) method: String,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<String>,
}

type Shared = Arc<Mutex<Vec<Seen>>>;

pub(crate) struct HttpServer {
    pub(crate) url: String,
    seen: Shared,
    _runtime: tokio::runtime::Runtime,
}

impl HttpServer {
    /// Starts a server that answers `tools/call` by a stream of events, anything else as JSON.
    pub(crate) fn start() -> Self {
        let seen = Shared::default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/mcp", any(answer))
            .with_state(Arc::clone(&seen));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self {
            url,
            seen,
            _runtime: runtime,
        }
    }

    /// The entry of `mcpServers` for this server.
    pub(crate) fn entry(&self, name: &str) -> Value {
        json!({
            "name": name,
            "type": "http",
            "url": self.url,
            "headers": [{"name": "X-Key", "value": "k"}],
        })
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn answer(
    State(seen): State<Shared>,
    verb: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let header = |name: &str| {
        let value = headers.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    seen.lock().unwrap().push(Seen {
        verb: verb.to_string(),
        method: method.clone(),
        session: header("mcp-session-id"),
        key: header("x-key"),
    });
    let response = Response::builder().header("mcp-session-id", "s1");
    let result = match method.as_str() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{
            "name": "add",
            "description": "Adds two numbers.",
            "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}},
        }]}),
        "tools/call" => {
            let number = |name: &str| message["params"]["arguments"][name].as_i64().unwrap_or(0);
            let sum = number("a") + number("b");
            json!({"content": [{"type": "text", "text": sum.to_string()}]})
        }
        _ => return response.status(202).body(Body::empty()).unwrap(),
    };
    let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    if method == "tools/call" {
        return response
            .header("content-type", "text/event-stream; charset=utf-8")
            .body(Body::from(format!(
                ": hello\n\nevent: message\ndata: {reply}\n\n"
            )))
            .unwrap();
    }
    response
        .header("content-type", "application/json")
        .body(Body::from(reply.to_string()))
        .unwrap()
}
