//! Reading what a server has written down.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::Path;

use serde_json::Value;

use super::wanted::{Transport, Wanted};
use crate::rules::quote;

/// What a server has seen so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    starts: Vec<Start>,
    /// The told headers of each request over HTTP.
    requests: Vec<(String, BTreeMap<String, Value>)>,
    received: Vec<Value>,
    /// How many runs have written down their end.
    ends: usize,
    /// Whether a process of the server lives.
    lives: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Start {
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

impl Seen {
    /// Reads the log of a server; one that is not there is empty.
    pub(crate) fn read(path: &Path) -> Self {
        let mut seen = Self::of(&std::fs::read_to_string(path).unwrap_or_default());
        let locked = |file: File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        seen.lives = File::open(path).is_ok_and(locked);
        seen
    }

    fn of(log: &str) -> Self {
        let mut seen = Self::default();
        for line in log.lines() {
            // The last line may not be written whole yet.
            let Ok(Value::Object(line)) = serde_json::from_str(line) else {
                continue;
            };
            if let Some(start) = line.get("start") {
                let list = start.get("args").and_then(Value::as_array);
                let map = start.get("env").and_then(Value::as_object);
                let text = |value: &Value| value.as_str().map(str::to_owned);
                seen.starts.push(Start {
                    args: list.into_iter().flatten().filter_map(text).collect(),
                    env: map
                        .into_iter()
                        .flatten()
                        .filter_map(|(name, value)| Some((name.clone(), text(value)?)))
                        .collect(),
                });
            } else if let Some(request) = line.get("request") {
                let verb = request.get("verb").and_then(Value::as_str);
                let headers = request.get("headers").and_then(Value::as_object);
                let headers = headers.into_iter().flatten();
                seen.requests.push((
                    verb.unwrap_or_default().to_owned(),
                    headers
                        .map(|(name, value)| (name.clone(), value.clone()))
                        .collect(),
                ));
            } else if let Some(message) = line.get("received") {
                seen.received.push(message.clone());
            } else if line.contains_key("end") {
                seen.ends += 1;
            }
        }
        seen
    }

    /// How often it was started; over HTTP, how many sessions were opened with it.
    pub(crate) fn started(&self) -> u64 {
        self.starts.len() as u64
    }

    /// How often a method was called.
    pub(crate) fn calls(&self, method: &str) -> u64 {
        self.of_method(method).count() as u64
    }

    /// How often a tool was called.
    pub(crate) fn tool_calls(&self, tool: &str) -> u64 {
        let is_it = |message: &&Value| {
            message.pointer("/params/name").and_then(Value::as_str) == Some(tool)
        };
        self.of_method("tools/call").filter(is_it).count() as u64
    }

    fn of_method(&self, method: &str) -> impl Iterator<Item = &Value> {
        self.received
            .iter()
            .filter(move |message| message.get("method").and_then(Value::as_str) == Some(method))
    }

    /// Whether nothing of it goes on.
    pub(crate) fn ended(&self, server: &Wanted) -> bool {
        match server.transport {
            Transport::Stdio => !self.lives,
            Transport::Http | Transport::Sse => self.ends >= self.starts.len(),
        }
    }

    /// The first start with other arguments than the given ones, in words.
    pub(crate) fn other_args(&self, server: &Wanted) -> Option<String> {
        let other = self.starts.iter().find(|start| start.args != server.args)?;
        Some(format!(
            "the MCP server `{}` was given the arguments {} and started with {}",
            server.name,
            list(&server.args),
            list(&other.args)
        ))
    }

    /// The first variable that a start lacks or has with another value, in words.
    pub(crate) fn other_env(&self, server: &Wanted) -> Option<String> {
        self.starts.iter().find_map(|start| {
            let (name, value) = server
                .env
                .iter()
                .find(|(name, value)| start.env.get(name) != Some(value))?;
            let found = match start.env.get(name) {
                Some(found) => format!("with {}", quote(found)),
                None => "without it".to_owned(),
            };
            Some(format!(
                "the MCP server `{}` was given the variable `{name}` with {} and started {found}",
                server.name,
                quote(value)
            ))
        })
    }

    /// The first request that lacks a header or has it with another value, in words.
    pub(crate) fn other_headers(&self, server: &Wanted) -> Option<String> {
        self.requests.iter().find_map(|(verb, headers)| {
            let found = |name: &str| headers.get(&name.to_lowercase());
            let (name, value) = server
                .headers
                .iter()
                .find(|(name, value)| found(name).and_then(Value::as_str) != Some(value))?;
            let found = match found(name) {
                Some(found) => format!("had {found}"),
                None => "had none".to_owned(),
            };
            Some(format!(
                "the MCP server `{}` was given the header `{name}` with {}, and a request ({verb}) {found}",
                server.name,
                quote(value)
            ))
        })
    }

    /// Whether there was any request over HTTP.
    pub(crate) fn was_asked(&self) -> bool {
        !self.requests.is_empty()
    }

    /// All of it, behind the server's name or "it".
    pub(crate) fn in_words(&self, server: &Wanted) -> String {
        if self.starts.is_empty() {
            return "was not started".to_owned();
        }
        let times = |what: &str, number: u64| format!("{what} {number}×");
        let words = [
            times("started", self.started()),
            times("initialized", self.calls("initialize")),
            times("asked for its tools", self.calls("tools/list")),
            times("called", self.calls("tools/call")),
        ];
        let end = match self.ended(server) {
            true => "has ended",
            false => "goes on",
        };
        format!("was {}, and {end}", words.join(", "))
    }
}

fn list(args: &[String]) -> String {
    let args: Vec<String> = args.iter().map(|arg| quote(arg)).collect();
    format!("[{}]", args.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::wanted::State;
    use super::*;

    fn server(transport: Transport) -> Wanted {
        let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        Wanted {
            name: "probe".into(),
            transport,
            args: vec!["a b".into(), String::new()],
            env: pair("KEY", "$HOME"),
            headers: pair("X-Key", "v"),
            state: State::Works,
        }
    }

    const LOG: &str = r#"{"run":"1","start":{"transport":"stdio","args":["a b",""],"env":{"KEY":"$HOME"}}}
{"run":"1","received":{"id":0,"method":"initialize"}}
{"run":"1","received":{"id":1,"method":"tools/list"}}
{"run":"1","received":{"id":2,"method":"tools/call","params":{"name":"echo"}}}
{"run":"1","end":"stdin closed"}
{"run":"1","rece"#;

    #[test]
    fn what_happened_is_counted_and_a_line_in_the_making_is_left_out() {
        let seen = Seen::of(LOG);
        let server = server(Transport::Stdio);
        assert_eq!(seen.started(), 1);
        assert_eq!(seen.calls("initialize"), 1);
        assert_eq!((seen.tool_calls("echo"), seen.tool_calls("env")), (1, 0));
        assert_eq!(seen.other_args(&server), None);
        assert_eq!(seen.other_env(&server), None);
        assert!(seen.ended(&server) && !seen.was_asked());
        assert!(seen.in_words(&server).contains("called 1×"), "{seen:?}");
    }

    #[test]
    fn other_arguments_and_variables_are_told() {
        let server = server(Transport::Stdio);
        for (old, new, part) in [
            (
                r#"["a b",""]"#,
                r#"["a","b"]"#,
                "started with [\"a\", \"b\"]",
            ),
            (r#"["a b",""]"#, "[]", "started with []"),
        ] {
            let told = Seen::of(&LOG.replace(old, new))
                .other_args(&server)
                .unwrap();
            assert!(told.contains(part), "{told}");
        }
        for (new, part) in [
            ("{}", "without it"),
            (r#"{"KEY":"/root"}"#, "with \"/root\""),
        ] {
            let log = LOG.replace(r#"{"KEY":"$HOME"}"#, new);
            let told = Seen::of(&log).other_env(&server).unwrap();
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn each_request_needs_the_headers() {
        let server = server(Transport::Http);
        let asked =
            |headers: &str| format!(r#"{{"request":{{"verb":"POST","headers":{headers}}}}}"#);
        let right = asked(r#"{"x-key":"v"}"#);
        assert_eq!(Seen::of(&right).other_headers(&server), None);
        for wrong in ["{}", r#"{"x-key":"w"}"#, r#"{"x-key":["v","v"]}"#] {
            let seen = Seen::of(&format!("{right}\n{}", asked(wrong)));
            assert!(seen.other_headers(&server).is_some(), "{wrong}");
            assert!(seen.was_asked());
        }
    }

    #[test]
    fn a_server_whose_process_holds_the_log_has_not_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = super::super::log::Log::open(Some(&path)).unwrap();
        log.hold().unwrap();
        let server = server(Transport::Stdio);
        assert!(!Seen::read(&path).ended(&server));
        drop(log);
        assert!(Seen::read(&path).ended(&server));
    }
}
