//! `harness play`: the agent of a recording for clients that do as recorded, and for others.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::command_line::Harness;
use crate::recording::Desk;
use serde_json::{Value, json};

/// One turn with a permission, a second one that is cancelled.
const TWO_TURNS: &str = r#"
    > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"c","version":"1.0.0"}}}
    < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"recorded-agent","version":"1.0.0"},"authMethods":[]}}
    > {"id":1,"method":"session/new","params":{"cwd":"/recorded/project","mcpServers":[]}}
    < {"id":1,"result":{"sessionId":"session-of-the-recording"}}
    < {"method":"session/update","params":{"sessionId":"session-of-the-recording","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
    > {"id":2,"method":"session/prompt","params":{"sessionId":"session-of-the-recording","prompt":[{"type":"text","text":"Edit."}]}}
    < {"method":"session/update","params":{"sessionId":"session-of-the-recording","update":{"sessionUpdate":"tool_call","toolCallId":"t","kind":"edit","title":"Edit","status":"pending","locations":[{"path":"/recorded/project/a.txt"}]}}}
    < {"id":"p","method":"session/request_permission","params":{"sessionId":"session-of-the-recording","toolCall":{"toolCallId":"t"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}
    > {"id":"p","result":{"outcome":{"outcome":"selected","optionId":"yes"}}}
    < {"method":"session/update","params":{"sessionId":"session-of-the-recording","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}}}
    < {"id":2,"result":{"stopReason":"end_turn"}}
    > {"id":3,"method":"session/prompt","params":{"sessionId":"session-of-the-recording","prompt":[{"type":"text","text":"Count."}]}}
    < {"method":"session/update","params":{"sessionId":"session-of-the-recording","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"one two"}}}}
    > {"method":"session/cancel","params":{"sessionId":"session-of-the-recording"}}
    < {"id":3,"result":{"stopReason":"cancelled"}}
    >x
"#;

/// A client at the other end of `harness play`.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// How a play ended.
struct Ended {
    code: i32,
    stderr: String,
    rest: Vec<Value>,
}

impl Client {
    fn of(recording: &Path, more: &[&str]) -> Self {
        let words = [&["play", recording.to_str().unwrap()], more].concat();
        let mut child = Harness::new()
            .command(&words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request and gives all that comes up to its answer.
    fn ask(&mut self, id: i64, method: &str, params: Value) -> Vec<Value> {
        self.send(json!({"id": id, "method": method, "params": params}));
        let mut heard = Vec::new();
        loop {
            let message = self.hear();
            let done = message["id"] == id && message.get("method").is_none();
            heard.push(message);
            if done {
                return heard;
            }
        }
    }

    /// Opens a session in a folder of its own and gives its id.
    fn open(&mut self) -> String {
        let info = json!({"name": "c", "version": "1.0.0"});
        self.ask(
            100,
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": info}),
        );
        let answer = self.ask(
            101,
            "session/new",
            json!({"cwd": "/live/folder", "mcpServers": []}),
        );
        let id = answer.last().unwrap()["result"]["sessionId"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(
            self.hear()["params"]["update"]["sessionUpdate"],
            "available_commands_update"
        );
        id
    }

    /// Plays the first turn, with this text and this option; gives what came before the permission.
    fn first_turn(&mut self, session: &str, text: &str, option: &str) -> Value {
        self.send(json!({"id": 102, "method": "session/prompt", "params": {"sessionId": session, "prompt": [{"type": "text", "text": text}]}}));
        let call = self.hear();
        let permission = self.hear();
        assert_eq!(permission["method"], "session/request_permission");
        let outcome = json!({"outcome": "selected", "optionId": option});
        self.send(json!({"id": permission["id"], "result": {"outcome": outcome}}));
        assert_eq!(self.hear()["params"]["update"]["status"], "completed");
        let answer = self.hear();
        assert_eq!(
            (&answer["id"], &answer["result"]["stopReason"]),
            (&json!(102), &json!("end_turn"))
        );
        call
    }

    fn end(mut self) -> Ended {
        drop(self.input.take());
        let mut rest = Vec::new();
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            rest.push(serde_json::from_str(&line).unwrap());
            line.clear();
        }
        let ended = self.child.wait_with_output().unwrap();
        Ended {
            code: ended.status.code().unwrap(),
            stderr: String::from_utf8(ended.stderr).unwrap(),
            rest,
        }
    }
}

fn desk() -> (Desk, std::path::PathBuf) {
    let desk = Desk::new();
    let path = desk.recording("two-turns.jsonl", &json!({}), TWO_TURNS);
    (desk, path)
}

#[test]
fn a_client_that_does_as_recorded_is_answered_under_its_own_ids_and_folders() {
    let (_desk, path) = desk();
    let mut client = Client::of(&path, &[]);
    let session = client.open();
    let call = client.first_turn(&session, "Edit.", "yes");
    assert_eq!(
        call["params"]["update"]["locations"][0]["path"],
        "/live/folder/a.txt"
    );
    client.send(json!({"id": 103, "method": "session/prompt", "params": {"sessionId": session, "prompt": [{"type": "text", "text": "Count."}]}}));
    assert_eq!(
        client.hear()["params"]["update"]["content"]["text"],
        "one two"
    );
    client.send(json!({"method": "session/cancel", "params": {"sessionId": session}}));
    let answer = client.hear();
    assert_eq!(
        (&answer["id"], &answer["result"]["stopReason"]),
        (&json!(103), &json!("cancelled"))
    );
    let ended = client.end();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.rest, [] as [Value; 0]);
}

#[test]
fn the_answer_to_a_cancelled_turn_waits_for_the_cancel_and_ends_with_the_stream() {
    let (_desk, path) = desk();
    let mut client = Client::of(&path, &[]);
    let session = client.open();
    client.first_turn(&session, "Edit.", "yes");
    client.send(json!({"id": 103, "method": "session/prompt", "params": {"sessionId": session, "prompt": [{"type": "text", "text": "Count."}]}}));
    client.hear();
    let ended = client.end();
    assert_eq!(ended.rest, [] as [Value; 0]);
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("session/cancel"), "{}", ended.stderr);
}

#[test]
fn another_prompt_is_refused_and_said() {
    let (_desk, path) = desk();
    let mut client = Client::of(&path, &[]);
    let session = client.open();
    let prompt =
        json!({"sessionId": session, "prompt": [{"type": "text", "text": "Something else."}]});
    let answer = client.ask(102, "session/prompt", prompt);
    assert_eq!(answer.last().unwrap()["error"]["code"], -32602);
    let unknown = client.ask(103, "_nobody/knows", json!({}));
    assert_eq!(unknown.last().unwrap()["error"]["code"], -32601);
    let ended = client.end();
    assert_eq!(ended.code, 1);
    assert!(
        ended
            .stderr
            .contains("`session/prompt` with id 102 is not in the recording"),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .contains("recorded here is the prompt \"Edit.\" (event ")
            && ended.stderr.contains("`--lenient` goes on with another"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("_nobody/knows"), "{}", ended.stderr);
}

#[test]
fn a_lenient_play_goes_on_with_the_next_turn_and_says_what_differs() {
    let (_desk, path) = desk();
    let mut client = Client::of(&path, &["--lenient"]);
    let session = client.open();
    client.first_turn(&session, "Something else.", "no");
    let another = client.ask(
        104,
        "session/new",
        json!({"cwd": "/other", "mcpServers": []}),
    );
    let fresh = another.last().unwrap()["result"]["sessionId"].clone();
    assert!(fresh.is_string() && fresh != json!(session), "{another:?}");
    let prompt = json!({"sessionId": fresh, "prompt": [{"type": "text", "text": "Hello?"}]});
    let answer = client.ask(105, "session/prompt", prompt);
    assert_eq!(answer.last().unwrap()["result"]["stopReason"], "end_turn");
    let ended = client.end();
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("Something else."), "{}", ended.stderr);
    assert!(ended.stderr.contains("optionId"), "{}", ended.stderr);
}

#[test]
fn a_client_that_says_nothing_or_only_garbage_ends_with_its_stream() {
    let (_desk, path) = desk();
    let ended = Client::of(&path, &[]).end();
    assert_eq!(ended.code, 1);
    let mut client = Client::of(&path, &[]);
    client
        .input
        .as_mut()
        .unwrap()
        .write_all(b"\xff\xfe\n[[[\n\n{\"id\":")
        .unwrap();
    assert_eq!(client.end().code, 1);
}

#[test]
fn what_cannot_be_played_is_usage() {
    let desk = Desk::new();
    let lines: String = TWO_TURNS
        .lines()
        .filter(|line| !line.trim().starts_with('<'))
        .map(|line| format!("{line}\n"))
        .collect();
    let path = desk.recording("client-only.jsonl", &json!({}), &lines);
    let ended = Client::of(&path, &[]).end();
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("no line of the agent"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_cancel_that_does_not_come_is_gone_without_where_the_play_is_lenient() {
    let (_desk, path) = desk();
    let mut client = Client::of(&path, &["--lenient"]);
    let session = client.open();
    client.first_turn(&session, "Edit.", "yes");
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "Count."}]});
    let answer = client.ask(103, "session/prompt", prompt);
    assert_eq!(answer.last().unwrap()["result"]["stopReason"], "cancelled");
    let ended = client.end();
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("does not come"), "{}", ended.stderr);
}

#[test]
fn a_cancel_of_another_turn_is_not_taken_for_the_recorded_one() {
    let (_desk, path) = desk();
    let mut client = Client::of(&path, &[]);
    let session = client.open();
    client.send(json!({"method": "session/cancel", "params": {"sessionId": session}}));
    client.first_turn(&session, "Edit.", "yes");
    client.send(json!({"id": 103, "method": "session/prompt", "params": {"sessionId": session, "prompt": [{"type": "text", "text": "Count."}]}}));
    client.hear();
    let ended = client.end();
    assert_eq!(
        ended.rest,
        [] as [Value; 0],
        "the turn waits for its own cancel"
    );
    assert_eq!(ended.code, 1);
}
