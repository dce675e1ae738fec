//! One MCP server: started or reached, and ended.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::Signal;
use reqwest::header::HeaderMap;
use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{Peer, RoleClient, ServiceExt as _};
use serde_json::{Map, Value};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::config::{Config, Reach};
use super::http::Http;
use super::result;
use crate::model::root_cause;
use crate::tools::{Output, Processes};

/// Time that a server has to end by itself after its connection was closed, and again after it
/// was asked to.
const GRACE: Duration = Duration::from_millis(200);

/// Time that an address has to take a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// A variable of bob's own that is no business of a server's.
const SECRET: &str = "OPENAI_API_KEY";

type Running = RunningService<RoleClient, ClientConfig>;

/// A server that is connected.
pub(super) struct Server {
    peer: Peer<RoleClient>,
    running: Mutex<Option<Running>>,
    program: Option<Program>,
}

/// The program of a server, and all that it started; dropping this kills what is left.
struct Program {
    child: Mutex<Option<Child>>,
    processes: Processes,
}

/// A tool as its server tells it.
pub(super) struct Offered {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Value,
}

impl Server {
    /// Connects a server and lists its tools.
    ///
    /// # Errors
    ///
    /// Says what went wrong, for people.
    pub(super) async fn connect(
        config: &Config,
        cwd: &Path,
    ) -> Result<(Self, Vec<Offered>), String> {
        let server = match &config.reach {
            Reach::Stdio {
                command,
                arguments,
                environment,
            } => Self::start(command, arguments, environment, cwd).await?,
            Reach::Http { url, headers } => Self::reach(url, headers).await?,
            Reach::Other(kind) => {
                return Err(format!(
                    "its type is `{kind}`, but only stdio and http are supported"
                ));
            }
        };
        let info = server.peer.peer_info();
        if info.is_some_and(|info| info.capabilities.tools.is_none()) {
            return Ok((server, Vec::new()));
        }
        let tools = server
            .peer
            .list_all_tools()
            .await
            .map_err(|error| format!("it does not list its tools: {error}"))?;
        let offered = tools.into_iter().map(|tool| Offered {
            name: tool.name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            parameters: Value::Object((*tool.input_schema).clone()),
        });
        Ok((server, offered.collect()))
    }

    async fn start(
        command: &str,
        arguments: &[String],
        environment: &[(String, String)],
        cwd: &Path,
    ) -> Result<Self, String> {
        let mut child = Command::new(command)
            .args(arguments)
            .env_remove(SECRET)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("`{command}` cannot be started: {error}"))?;
        let processes = Processes::default();
        if let Some(leader) = child.id() {
            processes.add(leader);
        }
        let (Some(output), Some(input)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(format!("`{command}` has no stdin and stdout"));
        };
        let program = Program {
            child: Mutex::new(Some(child)),
            processes,
        };
        let running = this_client().serve((output, input)).await;
        Self::new(running, Some(program))
    }

    async fn reach(url: &str, headers: &HeaderMap) -> Result<Self, String> {
        let mut http = reqwest::Client::builder().connect_timeout(CONNECT_LIMIT);
        let url =
            reqwest::Url::parse(url).map_err(|error| format!("its address is none: {error}"))?;
        if crate::address::is_on_this_machine(&url) {
            // A proxy cannot reach the loopback of this machine.
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| error.to_string())?;
        let headers: HashMap<_, _> = headers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let config =
            StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(headers);
        let transport = StreamableHttpClientTransport::with_client(Http(http), config);
        let running = this_client().serve(transport).await;
        Self::new(running, None)
    }

    fn new(
        running: Result<Running, ClientInitializeError>,
        program: Option<Program>,
    ) -> Result<Self, String> {
        let running = running.map_err(|error| match error {
            ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
            ClientInitializeError::TransportError { error, .. } => root_cause(&*error.error),
            error => error.to_string(),
        })?;
        Ok(Self {
            peer: running.peer().clone(),
            running: Mutex::new(Some(running)),
            program,
        })
    }

    /// Calls a tool by the server's own name for it.
    pub(super) async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Output {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let called = self.peer.call_tool(params).await;
        match called.map(serde_json::to_value) {
            Ok(Ok(called)) => result::output(&called),
            Ok(Err(error)) => Output::failure(format!("[the result cannot be read: {error}]")),
            Err(error) => Output::failure(format!("[the server failed: {error}]")),
        }
    }

    /// Closes the connection, and ends the program behind it.
    pub(super) async fn end(&self) {
        let running = lock(&self.running).take();
        if let Some(mut running) = running {
            let _ = running.close_with_timeout(GRACE).await;
        }
        let Some(program) = &self.program else {
            return;
        };
        let child = lock(&program.child).take();
        if let Some(mut child) = child
            && timeout(GRACE, child.wait()).await.is_err()
        {
            program.processes.signal(None, Signal::SIGTERM);
            let _ = timeout(GRACE, child.wait()).await;
        }
        // What it started itself may still be there.
        program.processes.signal(None, Signal::SIGKILL);
        program.processes.forget_empty();
    }
}

fn this_client() -> ClientConfig {
    let itself = Implementation::new("bob", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(ClientCapabilities::default(), itself)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
