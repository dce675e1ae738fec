//! Agents for which there is no profile, over the real binary: their tools are found, what they ask beside the conversation
//! is told apart, and where no tool fits, the report says which there are.
//!
//! The agent is this test program itself, started as one of the ignored tests at its end. It asks the model that
//! `OPENAI_BASE_URL` names.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use crate::command_line::Harness;
use serde_json::{Value, json};

/// The command that starts one of the agents below. The test framework has stdout for itself, so the agent writes to
/// descriptor 3.
fn command(agent: &str) -> String {
    let program = env::current_exe().unwrap();
    format!(
        "sh -c 'exec \"$0\" --ignored --exact unknown_agent::{agent} 3>&1 >/dev/null' '{}'",
        program.display()
    )
}

/// All lines of the traces in a folder.
fn traces(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all += &match path.is_dir() {
            true => traces(&path),
            false => fs::read_to_string(&path).unwrap(),
        };
    }
    all
}

#[test]
fn the_one_tool_of_an_unknown_agent_is_called_and_what_it_asks_beside_uses_up_nothing() {
    let harness = Harness::new();
    let kept = harness.state.path().join("kept");
    let mut words = vec![
        "--agent",
        "",
        "--report",
        "json=-",
        "--keep",
        kept.to_str().unwrap(),
    ];
    let command = command("an_agent_with_one_tool");
    words[1] = &command;
    let scenarios = [
        "toolcall/execute",
        "perm/reject-once",
        "perm/cancelled",
        "cancel/while-permission-is-asked",
    ];
    scenarios
        .iter()
        .for_each(|name| words.extend(["--only", name]));
    let run = harness.run(&words);
    let report = run.json();
    for id in [
        "TOOLCALL-01",
        "TOOLCALL-06",
        "PERM-01",
        "PERM-04",
        "PERM-06",
        "CANCEL-05",
    ] {
        let requirements = report["requirements"].as_array().unwrap();
        let own = requirements.iter().find(|own| own["id"] == id).unwrap();
        assert_eq!(own["status"], "pass", "{own}\n{}", run.stderr);
    }
    let traces = traces(&kept);
    assert!(traces.contains("\"side\":\"warm-up\""), "{traces}");
    assert!(traces.contains("\"side\":\"topic\""), "{traces}");
}

#[test]
fn where_no_tool_fits_the_report_names_those_that_the_agent_offers() {
    let harness = Harness::new();
    let command = command("an_agent_whose_tools_do_nothing_of_use");
    let run = harness.run(&["--agent", &command, "--only", "toolcall/execute", "-v"]);
    let wanted = "no tool that was offered takes one (the agent offers weather, remember)";
    assert!(run.stdout.contains(wanted), "{}", run.stdout);
}

#[test]
fn two_sessions_at_once_get_each_its_own_replies() {
    let harness = Harness::new();
    let bob = format!("'{}' bob --model openai", env!("CARGO_BIN_EXE_harness"));
    let run = harness.run(&[
        "--agent",
        &bob,
        "--report",
        "json=-",
        "--only",
        "session/two-side-by-side",
    ]);
    let report = run.json();
    let requirements = report["requirements"].as_array().unwrap();
    let own = requirements.iter().find(|own| own["id"] == "SESSION-10");
    assert_eq!(own.unwrap()["status"], "pass", "{report:#}");
}

/// A tool of a name and what it says, with these parameters.
fn tool(name: &str, about: &str, parameters: &Value, required: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": parameters, "required": required});
    json!({"type": "function", "function": {"name": name, "description": about, "parameters": schema}})
}

/// A small agent: chat completions, not streamed, no system text.
struct Agent {
    client: File,
    tools: Vec<Value>,
    cwd: String,
    messages: Vec<Value>,
    calls: usize,
}

impl Agent {
    fn serve(tools: Vec<Value>) {
        let client = File::options().write(true).open("/dev/fd/3").unwrap();
        let mut agent = Self {
            client,
            tools,
            cwd: String::new(),
            messages: Vec::new(),
            calls: 0,
        };
        agent.ask(&[json!({"role": "user", "content": "ping"})]);
        while let Some(message) = next() {
            let id = message["id"].clone();
            let result = match message["method"].as_str() {
                Some("initialize") => json!({"protocolVersion": 1, "agentCapabilities": {}}),
                Some("session/new") => {
                    agent.cwd = message["params"]["cwd"].as_str().unwrap().to_owned();
                    agent.messages.clear();
                    json!({"sessionId": "only"})
                }
                Some("session/prompt") => {
                    let text = message["params"]["prompt"][0]["text"]
                        .as_str()
                        .unwrap()
                        .to_owned();
                    json!({"stopReason": agent.turn(&text)})
                }
                _ => continue,
            };
            agent.send(&json!({"id": id, "result": result}));
        }
    }

    fn turn(&mut self, text: &str) -> &'static str {
        let topic = format!("Does this message begin a new topic? Answer yes or no.\n\n{text}");
        self.ask(&[json!({"role": "user", "content": topic})]);
        self.messages.push(json!({"role": "user", "content": text}));
        loop {
            let reply = self.ask(&self.messages.clone());
            self.messages.push(reply.clone());
            if let Some(text) = reply["content"].as_str().filter(|text| !text.is_empty()) {
                self.update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}));
            }
            let Some(call) = reply["tool_calls"].get(0) else {
                return "end_turn";
            };
            let arguments: Value =
                serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
            let Some(output) = self.run(&arguments) else {
                return "cancelled";
            };
            self.messages
                .push(json!({"role": "tool", "tool_call_id": call["id"], "content": output}));
        }
    }

    /// What a call gives, after the user was asked; nothing where the turn was cancelled.
    fn run(&mut self, arguments: &Value) -> Option<String> {
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        self.update(json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": "Do", "status": "pending"}));
        self.send(
            &json!({"id": self.calls, "method": "session/request_permission", "params": {
            "sessionId": "only", "toolCall": {"toolCallId": call}, "options": [
                {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                {"optionId": "no", "name": "No", "kind": "reject_once"}]}}),
        );
        let (mut cancelled, mut answer) = (false, Value::Null);
        while answer.is_null() {
            let message = next()?;
            cancelled |= message["method"] == "session/cancel";
            answer = message["result"]["outcome"].clone();
        }
        let path = || Path::new(&self.cwd).join(arguments["path"].as_str().unwrap());
        let done = match arguments["action"].as_str() {
            _ if answer["optionId"] != "yes" => None,
            Some("shell") => {
                let mut shell = Command::new("sh");
                let shell = shell
                    .args(["-c", arguments["line"].as_str()?])
                    .current_dir(&self.cwd);
                Some(String::from_utf8(shell.output().unwrap().stdout).unwrap())
            }
            Some("write_file") => {
                let written = fs::write(path(), arguments["text"].as_str()?);
                written.ok().map(|()| "written".to_owned())
            }
            _ => fs::read_to_string(path()).ok(),
        };
        let status = if done.is_some() {
            "completed"
        } else {
            "failed"
        };
        self.update(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status}),
        );
        (!cancelled).then(|| done.unwrap_or_else(|| "refused".to_owned()))
    }

    fn update(&mut self, update: Value) {
        self.send(
            &json!({"method": "session/update", "params": {"sessionId": "only", "update": update}}),
        );
    }

    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        writeln!(self.client, "{message}").unwrap();
    }

    /// The model's reply to these messages.
    fn ask(&self, messages: &[Value]) -> Value {
        let base = env::var("OPENAI_BASE_URL").unwrap();
        let (host, path) = base
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let body = json!({"model": "m", "messages": messages, "tools": self.tools}).to_string();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "POST /{path}/chat/completions HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (_, body) = reply.split_once("\r\n\r\n").unwrap();
        let reply: Value = serde_json::from_str(body).unwrap();
        reply["choices"][0]["message"].clone()
    }
}

/// The next message of the client; nothing at the end.
fn next() -> Option<Value> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).unwrap();
    (read > 0).then(|| serde_json::from_str(&line).unwrap())
}

#[test]
#[ignore = "an agent that the other tests start"]
fn an_agent_with_one_tool() {
    let string = json!({"type": "string"});
    let actions =
        json!({"type": "string", "enum": ["list_dir", "shell", "read_file", "write_file"]});
    let parameters = json!({"action": actions, "line": string, "path": string, "text": string});
    Agent::serve(vec![tool(
        "do",
        "Act in the workspace.",
        &parameters,
        &["action"],
    )]);
}

#[test]
#[ignore = "an agent that the other tests start"]
fn an_agent_whose_tools_do_nothing_of_use() {
    let string = json!({"type": "string"});
    Agent::serve(vec![
        tool(
            "weather",
            "Tells the weather.",
            &json!({"place": string}),
            &["place"],
        ),
        tool(
            "remember",
            "Keeps a note.",
            &json!({"note": string}),
            &["note"],
        ),
    ]);
}
