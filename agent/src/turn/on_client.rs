//! Tools that work on the client's side: its files, as the editor has them, and its terminals.

use std::path::Path;
use std::time::Duration;

use agent_client_protocol as acp;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::Turn;
use crate::client::Update;
use crate::tools::{CANCELLED, Change, Invocation, OUTPUT_LIMIT, Output, replaced};
use crate::update;

/// Why a request has no result, for the model.
type Refusal = String;

impl Turn<'_> {
    /// Runs a call on the client's side, if the client announced what it takes.
    pub(super) async fn run_on_client(&self, id: &str, call: &Invocation) -> Option<Output> {
        if !self.session.parts.client_tools {
            return None;
        }
        let announced = self.session.announced;
        let argument = |name: &str| {
            let value = call.arguments.get(name).and_then(Value::as_str);
            value.unwrap_or_default()
        };
        let path = call.path.as_deref().unwrap_or(Path::new(""));
        let output = match call.name.as_str() {
            "read_file" if announced.reads_files => {
                self.read_on_client(path).await.map(Output::done)
            }
            "write_file" if announced.writes_files => {
                self.write_on_client(path, argument("content")).await
            }
            "edit_file" if announced.reads_files && announced.writes_files => {
                self.edit_on_client(path, argument("old"), argument("new"))
                    .await
            }
            "bash" if announced.terminals => self.run_in_terminal(id, argument("command")).await,
            _ => return None,
        };
        Some(output.unwrap_or_else(Output::failure))
    }

    async fn read_on_client(&self, path: &Path) -> Result<String, Refusal> {
        let result = self
            .asked("fs/read_text_file", json!({ "path": path }))
            .await?;
        match result.get("content") {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err("[the client answered without the text of the file]".to_owned()),
        }
    }

    async fn write_on_client(&self, path: &Path, content: &str) -> Result<Output, Refusal> {
        let old = self.text_before(path).await;
        if self.cancel.is_cancelled() {
            return Err(CANCELLED.to_owned());
        }
        let params = json!({ "path": path, "content": content });
        self.asked("fs/write_text_file", params).await?;
        let said = format!("wrote {} bytes to {}", content.len(), path.display());
        Ok(changed(path, said, old, content.to_owned()))
    }

    async fn edit_on_client(&self, path: &Path, old: &str, new: &str) -> Result<Output, Refusal> {
        let before = self.read_on_client(path).await?;
        let after = replaced(&before, old, new)
            .map_err(|reason| format!("{}: {reason}", path.display()))?;
        let params = json!({ "path": path, "content": after });
        self.asked("fs/write_text_file", params).await?;
        let said = format!("edited {}", path.display());
        Ok(changed(path, said, Some(before), after))
    }

    /// The text that a file has before it is written, for the diff: none for a new file.
    async fn text_before(&self, path: &Path) -> Option<String> {
        if self.session.announced.reads_files {
            return self.read_on_client(path).await.ok();
        }
        let metadata = tokio::fs::metadata(path).await.ok()?;
        if !metadata.is_file() {
            return None;
        }
        tokio::fs::read_to_string(path).await.ok()
    }

    async fn run_in_terminal(&self, id: &str, command: &str) -> Result<Output, Refusal> {
        let mut created = self.ask(
            "terminal/create",
            json!({
                "command": "bash",
                "args": ["-c", command],
                "cwd": self.session.cwd,
                "outputByteLimit": OUTPUT_LIMIT,
            }),
        );
        let answer = self.cancel.run_until_cancelled(&mut created).await;
        let Some(Ok(created)) = answer else {
            self.release_when_created(created);
            return Err(CANCELLED.to_owned());
        };
        let created = created.map_err(|error| refusal("terminal/create", &error))?;
        let Some(terminal) = created.get("terminalId").and_then(Value::as_str) else {
            return Err("[the client answered without a terminal]".to_owned());
        };
        let shown = update::tool_call_in_terminal(id, terminal);
        self.send(Update::Other(shown)).await;
        let output = self.watch_terminal(terminal).await;
        drop(self.ask("terminal/release", json!({ "terminalId": terminal })));
        Ok(Output {
            terminal: Some(terminal.to_owned()),
            ..output.unwrap_or_else(Output::failure)
        })
    }

    /// A terminal that is made after the turn was cancelled is released all the same.
    fn release_when_created(&self, created: Answer) {
        let (client, session) = (self.client.clone(), self.session.id.clone());
        tokio::spawn(async move {
            if let Ok(Ok(result)) = created.await
                && let Some(terminal) = result.get("terminalId")
            {
                let params = json!({ "sessionId": &*session, "terminalId": terminal });
                drop(client.ask("terminal/kill", params.clone()));
                drop(client.ask("terminal/release", params));
            }
        });
    }

    /// Waits for the end of the command, or ends it.
    async fn watch_terminal(&self, terminal: &str) -> Result<Output, Refusal> {
        let named = json!({ "terminalId": terminal });
        let seconds = self.session.settings.tools.timeout_s;
        let exit = self.asked("terminal/wait_for_exit", named.clone());
        let exit = timeout(Duration::from_secs(seconds), exit).await;
        if self.cancel.is_cancelled() || exit.is_err() {
            drop(self.ask("terminal/kill", named.clone()));
        }
        if self.cancel.is_cancelled() {
            return Err(CANCELLED.to_owned());
        }
        let result = self.asked("terminal/output", named).await?;
        let mut text = match result.get("output") {
            Some(Value::String(text)) => text.clone(),
            _ => return Err("[the client answered without the output]".to_owned()),
        };
        if result.get("truncated") == Some(&Value::Bool(true)) {
            text.insert_str(0, "[… the beginning was cut …]\n");
        }
        let note = match exit {
            Err(_) => Some(format!("[ended after {seconds} s, the time limit]")),
            Ok(exit) => note_of(&exit?),
        };
        Ok(match note {
            None => Output::done(text),
            Some(note) => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                Output::failure(text + &note)
            }
        })
    }

    /// Sends a request about this session.
    fn ask(&self, method: &str, params: Value) -> Answer {
        let mut whole = Map::new();
        whole.insert("sessionId".to_owned(), (&*self.session.id).into());
        if let Value::Object(params) = params {
            whole.extend(params);
        }
        self.client.ask(method, Value::Object(whole))
    }

    /// The result of a request about this session, unless the turn is cancelled first.
    pub(super) async fn asked(&self, method: &str, params: Value) -> Result<Value, Refusal> {
        let answer = self.ask(method, params);
        match self.cancel.run_until_cancelled(answer).await {
            Some(Ok(Ok(result))) => Ok(result),
            Some(Ok(Err(error))) => Err(refusal(method, &error)),
            Some(Err(_)) | None => Err(CANCELLED.to_owned()),
        }
    }
}

type Answer = tokio::sync::oneshot::Receiver<Result<Value, acp::Error>>;

fn refusal(method: &str, error: &acp::Error) -> Refusal {
    let said = crate::log::one_line(&error.message);
    format!("[the client refused {method}: {said}]")
}

/// What has to be said of the end of a command: nothing if it went well.
fn note_of(exit: &Value) -> Option<String> {
    if let Some(signal) = exit.get("signal").and_then(Value::as_str) {
        return Some(format!("[ended by signal {signal}]"));
    }
    match exit.get("exitCode").and_then(Value::as_u64) {
        Some(0) => None,
        Some(code) => Some(format!("[exit code {code}]")),
        None => Some("[ended]".to_owned()),
    }
}

fn changed(path: &Path, said: String, old: Option<String>, new: String) -> Output {
    Output {
        change: Some(Change {
            path: path.to_owned(),
            old,
            new,
        }),
        ..Output::done(said)
    }
}
