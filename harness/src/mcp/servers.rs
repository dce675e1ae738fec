//! The servers of one scenario.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::http::{self, Form};
use super::log::Log;
use super::seen::Seen;
use super::tools::Started;
use super::wanted::{State, Transport, Wanted};

/// The servers of one scenario: those over HTTP run in this process until this is dropped; those over stdio are programs that
/// the agent starts.
#[derive(Debug)]
pub(crate) struct Servers {
    servers: Vec<(Wanted, Value, PathBuf)>,
    stop: CancellationToken,
}

impl Servers {
    /// Makes all servers ready; programs and logs go into `folder`. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(wanted: &[Wanted], folder: &Path) -> io::Result<Self> {
        let mut servers = Self {
            servers: Vec::new(),
            stop: CancellationToken::new(),
        };
        if !wanted.is_empty() {
            std::fs::create_dir_all(folder)?;
        }
        for (number, server) in wanted.iter().enumerate() {
            let log = folder.join(format!("{number}.jsonl"));
            let entry = match server.transport {
                Transport::Stdio => {
                    let program = folder.join(number.to_string());
                    if server.state != State::Missing {
                        write_program(server, &program, &log)?;
                    }
                    entry_of_program(server, &program)
                }
                Transport::Http => servers.serve(server, Form::Http, &log)?,
                Transport::Sse => servers.serve(server, Form::Sse, &log)?,
            };
            servers.servers.push((server.clone(), entry, log));
        }
        Ok(servers)
    }

    fn serve(&self, server: &Wanted, form: Form, log: &Path) -> io::Result<Value> {
        let url = if server.state == State::Missing {
            // A port that was free a moment ago.
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
            format!("http://{port}/mcp")
        } else {
            let told: Vec<String> = names(&server.headers);
            let log = (Log::open(Some(log))?, server.state == State::Silent);
            http::serve((form, 0), Started::default(), &told, log, self.stop.clone())?
        };
        Ok(json!({
            "type": form.name(),
            "name": server.name,
            "url": url,
            "headers": pairs(&server.headers),
        }))
    }

    /// `mcpServers` with all of them.
    pub(crate) fn entries(&self) -> Vec<Value> {
        let entries = self.servers.iter();
        entries.map(|(_, entry, _)| entry.clone()).collect()
    }

    /// The entry of `mcpServers` for one.
    pub(crate) fn entry(&self, name: &str) -> Option<&Value> {
        let found = self.servers.iter().find(|(server, ..)| server.name == name);
        found.map(|(_, entry, _)| entry)
    }

    /// A server, and what it has seen so far.
    pub(crate) fn seen(&self, name: &str) -> Option<(&Wanted, Seen)> {
        let found = self.servers.iter().find(|(server, ..)| server.name == name);
        found.map(|(server, _, log)| (server, Seen::read(log)))
    }

    /// The names of the servers with the files that hold what they have seen, where there is anything.
    pub(crate) fn logs(&self) -> impl Iterator<Item = (&str, &Path)> {
        let all = self.servers.iter();
        all.map(|(server, _, log)| (server.name.as_str(), log.as_path()))
            .filter(|(_, log)| log.metadata().is_ok_and(|log| log.len() > 0))
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Writes a program that starts the server with all arguments that it gets itself, so that none but the scenario's are given.
fn write_program(server: &Wanted, program: &Path, log: &Path) -> io::Result<()> {
    let harness = std::env::current_exe()?;
    let text = |path: &Path| {
        let not_text = || io::Error::other(format!("`{}` is no text", path.display()));
        path.to_str().map(str::to_owned).ok_or_else(not_text)
    };
    let mut words = vec![
        text(&harness)?,
        "mcp-echo".to_owned(),
        "--log".to_owned(),
        text(log)?,
    ];
    for name in names(&server.env) {
        words.extend(["--env".to_owned(), name]);
    }
    if server.state == State::Silent {
        words.push("--silent".to_owned());
    }
    let script = format!("#!/bin/sh\nexec {} -- \"$@\"\n", shell_words::join(words));
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o700)
        .open(program)?
        .write_all(script.as_bytes())
}

fn entry_of_program(server: &Wanted, program: &Path) -> Value {
    json!({
        "name": server.name,
        "command": program.to_string_lossy(),
        "args": server.args,
        "env": pairs(&server.env),
    })
}

fn names(pairs: &[(String, String)]) -> Vec<String> {
    pairs.iter().map(|(name, _)| name.clone()).collect()
}

fn pairs(pairs: &[(String, String)]) -> Value {
    let pair = |(name, value): &(String, String)| json!({"name": name, "value": value});
    pairs.iter().map(pair).collect()
}
