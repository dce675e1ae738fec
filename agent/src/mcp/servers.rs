//! All MCP servers of a session.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::config::Config;
use super::server::{Offered, Server};
use crate::log;
use crate::tools::Output;

/// Time that a server has until its tools are known.
const START_LIMIT: Duration = Duration::from_secs(10);

/// The longest name that a model server takes for a tool, in bytes.
const NAME_LIMIT: usize = 64;

/// The servers that a client named for a session.
pub(crate) struct Servers {
    session: Arc<str>,
    wanted: Vec<Config>,
    cwd: PathBuf,
    connected: OnceCell<Connected>,
    ended: CancellationToken,
}

/// What came of connecting them.
#[derive(Default)]
struct Connected {
    servers: Vec<Server>,
    tools: Vec<Tool>,
    /// A line for each server that did not start, until a turn tells them.
    failures: Mutex<Vec<String>>,
}

/// A tool of a server, as the model sees it.
pub(crate) struct Tool {
    /// `mcp__<server>__<tool>`.
    pub(crate) name: String,
    pub(crate) description: String,
    /// The JSON Schema of its arguments.
    pub(crate) parameters: Value,
    /// The place of the server among those that are connected.
    server: usize,
    /// The server's own name for it.
    own_name: String,
}

impl Servers {
    pub(crate) fn new(session: Arc<str>, wanted: Vec<Config>, cwd: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            session,
            wanted,
            cwd,
            connected: OnceCell::new(),
            ended: CancellationToken::new(),
        })
    }

    /// Begins to connect them; nobody waits for that but a turn.
    pub(crate) fn start(self: &Arc<Self>) {
        if !self.wanted.is_empty() {
            let servers = Arc::clone(self);
            tokio::spawn(async move {
                servers.connected().await;
            });
        }
    }

    /// Waits until each server is connected or is known not to start, and returns a line for each
    /// failure that was not told yet.
    pub(crate) async fn ready(&self) -> Vec<String> {
        if self.wanted.is_empty() {
            return Vec::new();
        }
        let connected = self.connected().await;
        let mut failures = connected
            .failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *failures)
    }

    async fn connected(&self) -> &Connected {
        let connect = || async {
            let connected = self.ended.run_until_cancelled(self.connect());
            connected.await.unwrap_or_default()
        };
        self.connected.get_or_init(connect).await
    }

    async fn connect(&self) -> Connected {
        let started = self.wanted.iter().map(|config| async {
            let connected = timeout(START_LIMIT, Server::connect(config, &self.cwd)).await;
            connected.unwrap_or_else(|_| {
                let seconds = START_LIMIT.as_secs();
                Err(format!("it did not answer within {seconds} s"))
            })
        });
        let mut connected = Connected::default();
        let mut failures = Vec::new();
        for (config, started) in self.wanted.iter().zip(join_all(started).await) {
            let name = log::one_line(&config.name);
            match started {
                Ok((server, offered)) => {
                    log::acp(format_args!(
                        "session {}: MCP server {name} has {} tool(s)",
                        self.session,
                        offered.len()
                    ));
                    connected.add(&config.name, server, offered);
                }
                Err(reason) => {
                    let said = format!("MCP server {name} did not start: {reason}");
                    let said = log::one_line(&said);
                    log::acp(format_args!("session {}: {said}", self.session));
                    failures.push(said);
                }
            }
        }
        connected.failures = Mutex::new(failures);
        connected
    }

    /// The tools of all servers that are connected.
    pub(crate) fn tools(&self) -> &[Tool] {
        self.connected
            .get()
            .map_or(&[], |connected| &connected.tools)
    }

    /// The tool that a model named.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools().iter().find(|tool| tool.name == name)
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &Tool, arguments: Map<String, Value>) -> Output {
        let connected = self.connected.get();
        match connected.and_then(|connected| connected.servers.get(tool.server)) {
            Some(server) => server.call(&tool.own_name, arguments).await,
            None => Output::failure("[the server is not connected]"),
        }
    }

    /// Ends all of them, those too that are about to start.
    pub(crate) async fn end(&self) {
        if self.wanted.is_empty() {
            return;
        }
        self.ended.cancel();
        let connected = self.connected().await;
        join_all(connected.servers.iter().map(Server::end)).await;
    }
}

impl Connected {
    /// Adds a server with its tools. Of two tools with one name the first one counts.
    fn add(&mut self, server_name: &str, server: Server, offered: Vec<Offered>) {
        for tool in offered {
            let name = full_name(server_name, &tool.name);
            if self.tools.iter().any(|known| known.name == name) {
                continue;
            }
            self.tools.push(Tool {
                name,
                description: tool.description,
                parameters: tool.parameters,
                server: self.servers.len(),
                own_name: tool.name,
            });
        }
        self.servers.push(server);
    }
}

/// A name that model servers take: of letters, digits, `_` and `-`, and no longer than they allow.
fn full_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => c,
            _ => '_',
        })
        .take(NAME_LIMIT)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_that_a_model_server_takes_them() {
        assert_eq!(full_name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(full_name("my server", "é.x"), "mcp__my_server____x");
        assert_eq!(full_name("a", &"b".repeat(100)).len(), NAME_LIMIT);
    }
}
