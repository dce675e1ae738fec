//! A small client: it starts the real binary, sends lines, and waits for messages.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before a test gives up.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// How bob is started.
pub(crate) struct Setup {
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Setup {
    pub(crate) fn new() -> Self {
        Self {
            args: Vec::new(),
            env: Vec::new(),
        }
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args = args.iter().map(ToString::to_string).collect();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Starts bob without a word.
    pub(crate) fn start(self) -> Bob {
        let folder = tempfile::tempdir().unwrap();
        let home = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_bob"))
            .args(&self.args)
            .env_remove("OPENAI_BASE_URL")
            .env_remove("OPENAI_API_KEY")
            .env_remove("RUST_LOG")
            .env_remove("XDG_STATE_HOME")
            .env("HOME", home.path())
            .envs(self.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                let message = serde_json::from_str(&line)
                    .unwrap_or_else(|_| panic!("stdout holds a line that is no JSON: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let (sender, stderr) = channel();
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Bob {
            pid: child.id(),
            stdin: child.stdin.take(),
            child,
            messages,
            stderr,
            next_id: 1,
            permission: None,
            folder,
            home,
            log: Vec::new(),
        }
    }

    /// Starts bob and initializes it.
    pub(crate) fn ready(self) -> Bob {
        let mut bob = self.start();
        let id = bob.request(
            "initialize",
            json!({"protocolVersion": 1, "clientInfo": {"name": "tests", "version": "1"}}),
        );
        let answer = bob.answer(id);
        assert_eq!(answer["result"]["protocolVersion"], 1);
        bob
    }
}

/// A running bob, and everything that was said.
pub(crate) struct Bob {
    pub(crate) pid: u32,
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    stderr: Receiver<String>,
    next_id: i64,
    /// The option with which permission requests are answered at once, if they are.
    pub(crate) permission: Option<&'static str>,
    pub(crate) folder: TempDir,
    pub(crate) home: TempDir,
    /// Both directions, in the order seen here.
    pub(crate) log: Vec<(&'static str, Value)>,
}

/// The updates of a turn and its answer.
pub(crate) struct Turn {
    pub(crate) messages: Vec<Value>,
    pub(crate) answer: Value,
}

impl Turn {
    pub(crate) fn stop_reason(&self) -> &str {
        self.answer["result"]["stopReason"]
            .as_str()
            .unwrap_or_else(|| panic!("no stop reason: {}", self.answer))
    }

    pub(crate) fn updates(&self) -> impl Iterator<Item = &Value> {
        self.messages
            .iter()
            .filter(|message| message["method"] == "session/update")
            .map(|message| &message["params"]["update"])
    }

    /// The agent's text, joined.
    pub(crate) fn text(&self) -> String {
        self.updates()
            .filter(|update| update["sessionUpdate"] == "agent_message_chunk")
            .map(|update| update["content"]["text"].as_str().unwrap())
            .collect()
    }

    /// The state of each tool call in the order in which it was sent.
    pub(crate) fn states(&self) -> Vec<(String, String)> {
        self.updates()
            .filter_map(|update| {
                let id = update["toolCallId"].as_str()?;
                let status = update["status"].as_str()?;
                Some((id.to_owned(), status.to_owned()))
            })
            .collect()
    }

    pub(crate) fn permissions(&self) -> usize {
        self.messages
            .iter()
            .filter(|message| message["method"] == "session/request_permission")
            .count()
    }

    /// What the last tool call led to.
    pub(crate) fn output(&self) -> String {
        self.updates()
            .filter_map(|update| update["rawOutput"]["output"].as_str())
            .last()
            .expect("a tool ended")
            .to_owned()
    }
}

pub(crate) fn is_update(message: &Value, kind: &str) -> bool {
    message["params"]["update"]["sessionUpdate"] == kind
}

pub(crate) fn has_status(message: &Value, status: &str) -> bool {
    message["params"]["update"]["status"] == status
}

pub(crate) fn asks_permission(message: &Value) -> bool {
    message["method"] == "session/request_permission"
}

impl Bob {
    pub(crate) fn start() -> Self {
        Setup::new().start()
    }

    pub(crate) fn ready() -> Self {
        Setup::new().ready()
    }

    /// The session folder that tests use unless they need another.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.cwd().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.log.push(("->", message));
        self.send_bytes(line.as_bytes());
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next message, if one comes in time.
    pub(crate) fn next_within(&mut self, limit: Duration) -> Option<Value> {
        match self.messages.recv_timeout(limit) {
            Ok(message) => {
                self.log.push(("<-", message.clone()));
                if let Some(option) = self.permission
                    && asks_permission(&message)
                {
                    self.permit(&message, option);
                }
                Some(message)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Reads up to the message that `wanted` describes, and returns it.
    pub(crate) fn wait(&mut self, wanted: impl FnMut(&Value) -> bool) -> Value {
        self.wait_all(wanted).pop().unwrap()
    }

    /// Like [`Self::wait`], with the messages before it.
    pub(crate) fn wait_all(&mut self, mut wanted: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let deadline = Instant::now() + LIMIT;
        let mut messages = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(message) = self.next_within(left) else {
                panic!("the awaited message did not come; before it: {messages:#?}");
            };
            let found = wanted(&message);
            messages.push(message);
            if found {
                return messages;
            }
        }
    }

    pub(crate) fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Sends a request and returns the whole answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Sends a request that has to succeed, and returns its result.
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(crate) fn session(&mut self) -> String {
        let cwd = self.cwd();
        self.session_in(&cwd)
    }

    /// Opens a session and reads the commands that follow.
    pub(crate) fn session_in(&mut self, cwd: &Path) -> String {
        let answer = self.call("session/new", json!({"cwd": cwd, "mcpServers": []}));
        let id = answer["result"]["sessionId"]
            .as_str()
            .unwrap_or_else(|| panic!("no session: {answer}"))
            .to_owned();
        self.wait(|message| is_update(message, "available_commands_update"));
        id
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> i64 {
        self.request(
            "session/prompt",
            json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}),
        )
    }

    /// Sends a prompt and reads until it is answered.
    pub(crate) fn turn(&mut self, session: &str, text: &str) -> Turn {
        let id = self.prompt(session, text);
        self.end_of_turn(id)
    }

    pub(crate) fn end_of_turn(&mut self, id: i64) -> Turn {
        let mut messages =
            self.wait_all(|message| message["id"] == id && message.get("method").is_none());
        let answer = messages.pop().unwrap();
        Turn { messages, answer }
    }

    pub(crate) fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({"sessionId": session}));
    }

    pub(crate) fn permit(&mut self, request: &Value, option: &str) {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": outcome}));
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.pid).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    /// Waits for the end of the process.
    pub(crate) fn exit(&mut self) -> ExitStatus {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "bob does not end");
            thread::yield_now();
        }
    }

    /// Everything that bob wrote to stderr, up to a line that holds `text`.
    pub(crate) fn stderr_until(&mut self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self
                .stderr
                .recv_timeout(LIMIT)
                .unwrap_or_else(|_| panic!("stderr never said `{text}`: {lines:#?}"));
            let found = line.contains(text);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    /// Closes stdin, waits for the end and returns all of stderr.
    pub(crate) fn stderr_to_the_end(&mut self) -> Vec<String> {
        self.close_stdin();
        self.exit();
        self.stderr.iter().collect()
    }

    /// The conversation as text, with what differs from run to run replaced by names.
    pub(crate) fn transcript(&self) -> String {
        let mut text = String::new();
        for (direction, message) in &self.log {
            text.push_str(direction);
            text.push(' ');
            text.push_str(&message.to_string());
            text.push('\n');
        }
        let mut requests = 0;
        for (direction, message) in &self.log {
            let asks = *direction == "<-" && message.get("method").is_some();
            if let Some(id) = message["id"].as_str().filter(|_| asks) {
                requests += 1;
                text = text.replace(id, &format!("{{request-{requests}}}"));
            }
        }
        let text = without_times(&text);
        text.replace(&format!("bob-{}-", self.pid), "bob-{pid}-")
            .replace(&self.cwd().display().to_string(), "{cwd}")
            .replace(&self.folder.path().display().to_string(), "{cwd}")
    }
}

impl Drop for Bob {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text with each value of `updatedAt` replaced by a name.
fn without_times(text: &str) -> String {
    let mark = "\"updatedAt\":\"";
    let mut parts = text.split(mark);
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('"').unwrap();
        plain.push_str(mark);
        plain.push_str("{time}\"");
        plain.push_str(rest);
    }
    plain
}

/// Whether a process with this id still runs; a zombie does not.
pub(crate) fn is_running(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().unwrap().trim_start();
        !state.starts_with('Z') && !state.starts_with('X')
    })
}

/// Waits until a process has ended.
pub(crate) fn wait_for_end(pid: i32) {
    let deadline = Instant::now() + LIMIT;
    while is_running(pid) {
        assert!(Instant::now() < deadline, "process {pid} is still running");
        thread::yield_now();
    }
}
