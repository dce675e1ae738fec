//! The everything surface: files and terminals of the client.

use crate::client::{Bob, Setup, Turn, asks_permission};
use serde_json::{Value, json};

fn ready(capabilities: Value) -> Bob {
    let mut bob = Setup::new().args(&["--surface", "everything"]).start();
    bob.permission = Some("allow");
    bob.result(
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
    );
    bob
}

fn files() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

fn terminals() -> Value {
    json!({"terminal": true})
}

/// Runs a turn, and gives each request of bob's the member `result` or `error` that `answer` says.
fn turn(bob: &mut Bob, text: &str, answer: impl Fn(&str) -> Value) -> (Turn, Vec<Value>) {
    let session = bob.session();
    let id = bob.prompt(&session, text);
    let (mut messages, mut requests) = (Vec::new(), Vec::new());
    loop {
        let message = bob.wait(|_| true);
        if message["id"] == id {
            // What is sent at the end of a terminal needs no answer, but comes before this one.
            return (
                Turn {
                    messages,
                    answer: message,
                },
                requests,
            );
        }
        if let Some(method) = message["method"].as_str()
            && message.get("id").is_some()
            && !asks_permission(&message)
        {
            let mut reply = answer(method);
            reply["jsonrpc"] = json!("2.0");
            reply["id"] = message["id"].clone();
            assert_eq!(message["params"]["sessionId"], session.as_str());
            let mut request = message.clone();
            request["params"]
                .as_object_mut()
                .unwrap()
                .remove("sessionId");
            requests.push(json!([method, request["params"]]));
            bob.send(reply);
        }
        messages.push(message);
    }
}

fn names(requests: &[Value]) -> Vec<&str> {
    requests
        .iter()
        .map(|request| request[0].as_str().unwrap())
        .collect()
}

#[test]
fn files_are_read_and_written_as_the_client_has_them() {
    let mut bob = ready(files());
    let path = bob.write("note.txt", "on disk");
    let (turn, requests) = turn(
        &mut bob,
        "read note.txt\nedit note.txt buffer => editor\nwrite note.txt new",
        |method| match method {
            "fs/read_text_file" => json!({"result": {"content": "in the buffer"}}),
            _ => json!({"result": {}}),
        },
    );
    let read = json!(["fs/read_text_file", {"path": path}]);
    let write = |content: &str| json!(["fs/write_text_file", {"path": path, "content": content}]);
    assert_eq!(
        requests,
        [
            read.clone(),
            read.clone(),
            write("in the editor"),
            read,
            write("new")
        ]
    );
    let diffs: Vec<&Value> = turn
        .updates()
        .filter(|update| update["content"][0]["type"] == "diff")
        .map(|update| &update["content"][0])
        .collect();
    assert_eq!(diffs[0]["newText"], "in the editor");
    assert_eq!(diffs[1]["oldText"], "in the buffer");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "on disk");
    assert_eq!(turn.stop_reason(), "end_turn");
}

#[test]
fn what_the_client_refuses_or_answers_wrongly_fails_the_call_alone() {
    let refused = json!({"error": {"code": -32603, "message": "not\nnow"}});
    for (answer, said) in [
        (refused, "[the client refused fs/read_text_file: not now]"),
        (
            json!({"result": null}),
            "[the client answered without the text of the file]",
        ),
        (
            json!({"result": {"content": 5}}),
            "[the client answered without the text of the file]",
        ),
    ] {
        let mut bob = ready(files());
        let (turn, _) = turn(&mut bob, "read note.txt\nsay on", |_| answer.clone());
        assert_eq!(turn.output(), said);
        assert_eq!(turn.text(), "on");
        assert_eq!(turn.stop_reason(), "end_turn");
    }
}

#[test]
fn a_write_is_answered_by_null_or_refused() {
    let mut bob = ready(json!({"fs": {"writeTextFile": true}}));
    let path = bob.write("note.txt", "old");
    let (turn_of_null, requests) =
        turn(&mut bob, "write note.txt new", |_| json!({"result": null}));
    assert_eq!(names(&requests), ["fs/write_text_file"]);
    let shown = turn_of_null
        .updates()
        .find(|update| update["status"] == "completed");
    assert_eq!(shown.unwrap()["content"][0]["oldText"], "old");
    let (refused, _) = turn(
        &mut bob,
        "write note.txt new",
        |_| json!({"error": {"code": 1, "message": "read-only"}}),
    );
    assert_eq!(
        refused.output(),
        "[the client refused fs/write_text_file: read-only]"
    );
    // An edit needs both, so this one is bob's own.
    let (_, requests) = turn(&mut bob, "edit note.txt old => mine", |_| json!({}));
    assert!(requests.is_empty());
    assert_eq!(std::fs::read_to_string(path).unwrap(), "mine");
}

#[test]
fn without_an_announcement_files_and_commands_are_bobs_own() {
    let mut bob = ready(json!({"fs": {"readTextFile": false}, "terminal": false}));
    let (turn, requests) = turn(&mut bob, "write a.txt b\nread a.txt\nrun cat a.txt", |_| {
        json!({})
    });
    assert!(requests.is_empty());
    assert_eq!(turn.output(), "b");
}

#[test]
fn a_command_runs_in_a_terminal_that_is_shown_and_released() {
    let mut bob = ready(terminals());
    let (turn, mut requests) = turn(&mut bob, "run make\nsay on", |method| match method {
        "terminal/create" => json!({"result": {"terminalId": "t1"}}),
        "terminal/wait_for_exit" => json!({"result": {"exitCode": 2, "signal": null}}),
        "terminal/output" => json!({"result": {"output": "half", "truncated": true}}),
        _ => json!({"result": {}}),
    });
    let create = requests.remove(0);
    let cwd = bob.cwd();
    assert_eq!(
        create,
        json!(["terminal/create", {
            "command": "bash", "args": ["-c", "make"], "cwd": cwd, "outputByteLimit": 32768,
        }])
    );
    let named = json!({"terminalId": "t1"});
    let expected = [
        "terminal/wait_for_exit",
        "terminal/output",
        "terminal/release",
    ];
    assert_eq!(requests, expected.map(|method| json!([method, named])));
    let terminal = json!([{"type": "terminal", "terminalId": "t1"}]);
    let shown = turn
        .updates()
        .filter(|update| update["content"] == terminal);
    assert_eq!(shown.count(), 2);
    assert_eq!(
        turn.output(),
        "[… the beginning was cut …]\nhalf\n[exit code 2]"
    );
    assert_eq!(turn.states().last().unwrap().1, "failed");
    assert_eq!(turn.text(), "on");
}

#[test]
fn a_terminal_that_fails_leaves_the_turn_alive_and_is_released() {
    let refused = || json!({"error": {"code": -32603, "message": "no"}});
    let released = [
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/release",
    ];
    let with_output = [
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/output",
        "terminal/release",
    ];
    for (fails, expected) in [
        ("terminal/create", &released[..1]),
        ("terminal/wait_for_exit", &with_output[..]),
        ("terminal/output", &with_output[..]),
        ("terminal/release", &with_output[..]),
    ] {
        let mut bob = ready(terminals());
        let (turn, requests) = turn(&mut bob, "run make\nsay on", |method| match method {
            method if method == fails => refused(),
            "terminal/create" => json!({"result": {"terminalId": "t1"}}),
            "terminal/wait_for_exit" => json!({"result": {"signal": "SIGKILL"}}),
            "terminal/output" => json!({"result": {"output": "", "truncated": false}}),
            _ => json!({"result": {}}),
        });
        assert_eq!(names(&requests), expected, "{fails}");
        assert_eq!(turn.text(), "on", "{fails}");
        assert_eq!(turn.stop_reason(), "end_turn", "{fails}");
    }
}

#[test]
fn a_cancel_kills_and_releases_the_terminal() {
    let mut bob = ready(terminals());
    let session = bob.session();
    let id = bob.prompt(&session, "run sleep 60");
    let create = bob.wait(|message| message["method"] == "terminal/create");
    let result = json!({"terminalId": "t1"});
    bob.send(json!({"jsonrpc": "2.0", "id": create["id"], "result": result}));
    bob.wait(|message| message["method"] == "terminal/wait_for_exit");
    bob.cancel(&session);
    let turn = bob.end_of_turn(id);
    assert_eq!(turn.stop_reason(), "cancelled");
    let asked: Vec<&str> = turn
        .messages
        .iter()
        .filter(|message| message.get("id").is_some())
        .map(|message| message["method"].as_str().unwrap())
        .collect();
    assert_eq!(asked, ["terminal/kill", "terminal/release"]);
}

#[test]
fn a_terminal_that_is_made_after_the_cancel_is_released_too() {
    let mut bob = ready(terminals());
    let session = bob.session();
    let id = bob.prompt(&session, "run sleep 60");
    let create = bob.wait(|message| message["method"] == "terminal/create");
    bob.cancel(&session);
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    let result = json!({"terminalId": "late"});
    bob.send(json!({"jsonrpc": "2.0", "id": create["id"], "result": result}));
    bob.wait(|message| message["method"] == "terminal/kill");
    let release = bob.wait(|message| message["method"] == "terminal/release");
    assert_eq!(release["params"]["terminalId"], "late");
}
