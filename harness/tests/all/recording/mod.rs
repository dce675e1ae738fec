//! Recordings in a few lines, for the tests of replay and play.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with recordings, and the log that a test agent writes.
pub(crate) struct Desk {
    folder: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a recording: a line each, `> JSON` from the client, `< JSON` from the agent, `>x` and `<x` the ends of their
    /// streams, `exit N` the end of the agent; any other text behind `>` or `<` is a line that is no message. `jsonrpc` is
    /// put in.
    pub(crate) fn recording(&self, name: &str, header: &Value, lines: &str) -> PathBuf {
        let mut first = json!({"acptrace": 1});
        for (key, value) in header.as_object().unwrap() {
            first[key] = value.clone();
        }
        let mut text = format!("{first}\n");
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        for (number, line) in lines.enumerate() {
            let at = number as f64 / 100.0;
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let from = if word.starts_with('>') {
                "client"
            } else {
                "agent"
            };
            let body = match word {
                ">" | "<" => match rest.strip_prefix('{') {
                    Some(members) => format!("\"message\":{{\"jsonrpc\":\"2.0\",{members}"),
                    None => format!("\"line\":{}", json!(rest)),
                },
                ">x" | "<x" => "\"eof\":true".to_owned(),
                _ => format!("\"exit\":{{\"code\":{rest}}}"),
            };
            text.push_str(&format!("{{\"at\":{at},\"from\":\"{from}\",{body}}}\n"));
        }
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The lines that the agent was sent.
    pub(crate) fn heard(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The same as JSON, where they are.
    pub(crate) fn heard_json(&self) -> Vec<Value> {
        self.heard()
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// The words of a replay of a recording with a test agent in one of its modes.
    pub(crate) fn replay(&self, recording: &Path, mode: &str) -> Vec<String> {
        let _ = fs::remove_file(self.path("log"));
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        [
            "replay",
            recording.to_str().unwrap(),
            "--trust",
            "--agent",
            &format!("sh tests/agents/replay-agent.sh {mode}"),
            "--env",
            &format!("LOG={}", text(self.path("log"))),
            "--keep",
            &text(self.path("kept")),
            "--report",
            "json=-",
        ]
        .map(str::to_owned)
        .to_vec()
    }
}
