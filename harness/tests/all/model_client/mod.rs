//! A plain HTTP client of the scripted model: what it sends and gets is bytes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use acp_harness::model::ModelServer;
use acp_harness::model::script::Script;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// How long something may take that should take no time.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with its script.
pub(crate) struct Model {
    address: String,
    // Fields are dropped in this order: the server before the runtime that it lives in.
    _server: ModelServer,
    _runtime: Runtime,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// Whether the body came to the end that it announced.
    pub(crate) complete: bool,
}

impl Model {
    pub(crate) fn with(script: &str) -> Self {
        #[derive(serde::Deserialize)]
        struct File {
            model: Script,
        }
        let script = toml::from_str::<File>(script).unwrap().model;
        let runtime = Runtime::new().unwrap();
        let (out, _) = mpsc::channel(1);
        let server = {
            let _inside = runtime.enter();
            ModelServer::start(script, out).unwrap()
        };
        Self {
            address: server.base_url().replace("http://", ""),
            _server: server,
            _runtime: runtime,
        }
    }

    /// One request, with these header lines.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        for line in headers {
            head.push_str(line);
            head.push_str("\r\n");
        }
        let length = body.len();
        write!(stream, "{head}content-length: {length}\r\n\r\n{body}").unwrap();
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        Answer::of(&String::from_utf8(bytes).unwrap(), read.is_ok())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], &body.to_string())
    }

    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> Value {
        self.send("GET", path, headers, "").json()
    }
}

impl Answer {
    fn of(text: &str, ended: bool) -> Self {
        let (head, rest) = text.split_once("\r\n\r\n").expect("no head came");
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let chunked = headers
            .iter()
            .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let (body, complete) = match chunked {
            true => joined(rest),
            false => (rest.to_owned(), true),
        };
        Self {
            status: status.parse().unwrap(),
            headers,
            body,
            complete: complete && ended,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The events of a stream: the name, where there is one, and the data.
    pub(crate) fn events(&self) -> Vec<(Option<String>, Value)> {
        let events = self.body.split("\n\n").filter(|event| !event.is_empty());
        events
            .map(|event| {
                let field = |name: &str| {
                    let mut lines = event.lines();
                    lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
                };
                let data = field("data: ").unwrap();
                (field("event: "), serde_json::from_str(&data).unwrap())
            })
            .collect()
    }

    /// The data of the events, whose names are the types that the data say.
    pub(crate) fn named(&self) -> Vec<Value> {
        let events = self.events().into_iter();
        events
            .map(|(name, data)| {
                assert_eq!(name.as_deref(), data["type"].as_str());
                data
            })
            .collect()
    }
}

/// The body of chunks, and whether the last one came.
fn joined(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = more.get(..size) else {
            break;
        };
        body.push_str(chunk);
        rest = more.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}

/// The types of events, each run of one type once.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    types.dedup();
    types
}

/// The strings at a pointer, joined.
pub(crate) fn joined_at(events: &[Value], pointer: &str) -> String {
    let texts = events.iter().filter_map(|event| event.pointer(pointer));
    texts.filter_map(Value::as_str).collect()
}
