//! The everything surface: sessions on disk.

use std::path::{Path, PathBuf};

use crate::client::{Bob, Setup, asks_permission, is_update};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A bob on this state folder.
fn bob_on(state: &Path) -> Bob {
    Setup::new()
        .args(&[
            "--surface",
            "everything",
            "--state",
            state.to_str().unwrap(),
        ])
        .ready()
}

fn state() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn end(mut bob: Bob) {
    bob.close_stdin();
    bob.exit();
}

fn file_of(state: &TempDir, session: &str) -> PathBuf {
    state
        .path()
        .join("sessions")
        .join(session)
        .join("session.json")
}

fn ids(result: &Value) -> Vec<String> {
    let sessions = result["sessions"].as_array().unwrap();
    let id = |session: &Value| session["sessionId"].as_str().unwrap().to_owned();
    sessions.iter().map(id).collect()
}

/// The updates up to the answer of a request, and the answer.
fn with_updates(bob: &mut Bob, method: &str, params: Value) -> (Vec<Value>, Value) {
    let id = bob.request(method, params);
    let turn = bob.end_of_turn(id);
    (turn.updates().cloned().collect(), turn.answer)
}

#[test]
fn another_process_replays_a_session_and_goes_on_with_it() {
    let state = state();
    let mut first = bob_on(state.path());
    first.permission = Some("allow");
    let session = first.session();
    first.turn(
        &session,
        "think Hm.\nsay one\nsay two\nplan a; b\nwrite note.txt text",
    );
    first.turn(&session, "say three\nmode code");
    let folder = first.cwd();
    first.close_stdin();
    first.exit();

    let mut second = bob_on(state.path());
    let params = json!({"sessionId": session, "cwd": folder, "mcpServers": []});
    let (updates, answer) = with_updates(&mut second, "session/load", params);
    let shown: Vec<String> = updates
        .iter()
        .map(|update| {
            let kind = update["sessionUpdate"].as_str().unwrap();
            let text = update["content"]["text"].as_str();
            let what = text.or(update["status"].as_str()).unwrap_or("");
            format!("{kind}: {what}")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "user_message_chunk: think Hm.\nsay one\nsay two\nplan a; b\nwrite note.txt text",
            "agent_thought_chunk: Hm.",
            "agent_message_chunk: one\ntwo",
            "tool_call: completed",
            "tool_call: completed",
            "plan: ",
            "user_message_chunk: say three\nmode code",
            "agent_message_chunk: three",
            "tool_call: completed",
        ]
    );
    assert_eq!(updates[4]["content"][0]["newText"], "text");
    assert_eq!(answer["result"]["modes"]["currentModeId"], "code");
    let mut messages: Vec<&Value> = updates
        .iter()
        .filter_map(|update| update.get("messageId"))
        .collect();
    messages.dedup();
    assert_eq!(messages.len(), 5);
    second.wait(|message| is_update(message, "available_commands_update"));
    let usage = second.wait(|message| is_update(message, "usage_update"));
    assert!(usage["params"]["update"]["cost"]["amount"].as_f64() > Some(0.0));
    // Ids of calls and messages go on, and the conversation is still known to the model.
    let turn = second.turn(&session, "done 1");
    assert_eq!(turn.states()[0].0, "call_4");
    assert_eq!(
        turn.updates()
            .filter(|update| update["sessionUpdate"] == "plan")
            .count(),
        2
    );
    assert_eq!(
        second.turn(&session, "/new").text(),
        "🆕 New session: 11 message(s) forgotten."
    );
    end(second);
    drop(first);
}

#[test]
fn a_resumed_session_shows_nothing_of_the_past() {
    let state = state();
    let mut first = bob_on(state.path());
    let session = first.session();
    first.turn(&session, "say one");
    let cwd = first.cwd();
    first.close_stdin();
    first.exit();
    let mut second = bob_on(state.path());
    let params = json!({"sessionId": session, "cwd": cwd});
    let (updates, answer) = with_updates(&mut second, "session/resume", params);
    assert!(updates.is_empty(), "{updates:#?}");
    assert!(answer["result"].is_object());
    second.wait(|message| is_update(message, "usage_update"));
    let forgotten = second.turn(&session, "/new").text();
    assert_eq!(forgotten, "🆕 New session: 2 message(s) forgotten.");
}

#[test]
fn an_unknown_session_is_not_found_and_can_be_deleted() {
    let state = state();
    let mut bob = bob_on(state.path());
    let cwd = bob.cwd();
    for id in ["bob-0-0", "../x", ""] {
        for method in ["session/load", "session/resume", "session/close"] {
            let params = json!({"sessionId": id, "cwd": cwd, "mcpServers": []});
            let error = bob.call(method, params)["error"].clone();
            assert_eq!(error["code"], -32002, "{method} {id}: {error}");
            assert_eq!(error["data"], json!({"sessionId": id}));
        }
        let params = json!({"sessionId": id});
        assert_eq!(bob.result("session/delete", params), json!({}));
    }
    let answer = bob.call("session/load", json!({"cwd": cwd, "mcpServers": []}));
    assert_eq!(answer["error"]["code"], -32602);
    let answer = bob.call("session/load", json!({"sessionId": "a", "cwd": "here"}));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn sessions_are_listed_in_pages_and_by_folder() {
    let state = state();
    let mut bob = bob_on(state.path());
    assert_eq!(
        bob.result("session/list", json!({})),
        json!({"sessions": []})
    );
    let other = bob.cwd().join("other");
    std::fs::create_dir(&other).unwrap();
    let apart = bob.session_in(&other);
    let mut opened: Vec<String> = (0..51).map(|_| bob.session()).collect();
    bob.turn(&apart, "Paint it");
    let first = bob.result("session/list", json!({}));
    assert_eq!(ids(&first).len(), 50);
    // The one that was used last comes first.
    let entry = &first["sessions"][0];
    assert_eq!(entry["sessionId"], apart.as_str());
    assert_eq!(entry["title"], "Paint it");
    assert_eq!(entry["cwd"], other.to_str().unwrap());
    let cursor = first["nextCursor"].clone();
    let second = bob.result("session/list", json!({"cursor": cursor}));
    assert!(second.get("nextCursor").is_none());
    let mut listed = ids(&first);
    listed.extend(ids(&second));
    listed.sort();
    opened.push(apart.clone());
    opened.sort();
    assert_eq!(listed, opened);
    let by_folder = bob.result("session/list", json!({"cwd": other}));
    assert_eq!(ids(&by_folder), [apart]);
    let none = bob.result("session/list", json!({"cwd": "/nowhere"}));
    assert_eq!(none, json!({"sessions": []}));
    for params in [
        json!({"cursor": "x"}),
        json!({"cursor": 1}),
        json!({"cwd": []}),
    ] {
        let answer = bob.call("session/list", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn a_deleted_session_is_gone_in_the_middle_of_a_turn_too() {
    let state = state();
    let mut bob = bob_on(state.path());
    let session = bob.session();
    let prompt = bob.prompt(&session, "run sleep 60");
    bob.wait(asks_permission);
    let delete = bob.request("session/delete", json!({"sessionId": session}));
    assert_eq!(bob.answer(prompt)["result"]["stopReason"], "cancelled");
    assert_eq!(bob.answer(delete)["result"], json!({}));
    assert!(!file_of(&state, &session).exists());
    assert_eq!(
        bob.result("session/list", json!({})),
        json!({"sessions": []})
    );
    let answer = bob.call(
        "session/prompt",
        json!({"sessionId": session, "prompt": []}),
    );
    assert_eq!(answer["error"]["code"], -32602);
    let delete = bob.result("session/delete", json!({"sessionId": session}));
    assert_eq!(delete, json!({}));
}

#[test]
fn a_closed_session_is_free_for_another_process() {
    let state = state();
    let (mut first, mut second) = (bob_on(state.path()), bob_on(state.path()));
    let session = first.session();
    let cwd = first.cwd();
    let load = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    let answer = second.call("session/load", load.clone());
    let said = answer["error"]["data"]["error"].as_str().unwrap();
    assert_eq!(said, "the session is open in another process");
    let answer = second.call("session/delete", json!({"sessionId": session}));
    assert_eq!(answer["error"]["code"], -32603);

    let prompt = first.prompt(&session, "say begun\nwait 60000");
    first.wait(|message| is_update(message, "agent_message_chunk"));
    let close = first.request("session/close", json!({"sessionId": session}));
    assert_eq!(first.answer(prompt)["result"]["stopReason"], "cancelled");
    assert_eq!(first.answer(close)["result"], json!({}));
    second.result("session/load", load);
    let texts: Vec<&Value> = second
        .log
        .iter()
        .map(|(_, message)| &message["params"]["update"]["content"]["text"])
        .filter(|text| text.is_string())
        .collect();
    assert_eq!(texts, ["say begun\nwait 60000", "begun"]);
}

#[test]
fn a_session_that_is_open_can_be_loaded_again() {
    let state = state();
    let mut bob = bob_on(state.path());
    let session = bob.session();
    bob.turn(&session, "say one");
    let cwd = bob.cwd();
    let params = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    let (updates, _) = with_updates(&mut bob, "session/load", params);
    assert_eq!(updates.len(), 2);
    assert_eq!(bob.turn(&session, "say two").text(), "two");
}

#[test]
fn a_damaged_file_is_reported_and_left_out() {
    let state = state();
    let mut bob = bob_on(state.path());
    let (damaged, whole) = (bob.session(), bob.session());
    bob.result("session/close", json!({"sessionId": damaged}));
    std::fs::write(file_of(&state, &damaged), "{\"form\":1,\"id\":").unwrap();
    assert_eq!(ids(&bob.result("session/list", json!({}))), [whole]);
    let path = file_of(&state, &damaged).display().to_string();
    let lines = bob.stderr_until("warning: session left out: ");
    assert!(lines.last().unwrap().contains(&path), "{lines:#?}");
    let cwd = bob.cwd();
    let params = json!({"sessionId": damaged, "cwd": cwd, "mcpServers": []});
    let answer = bob.call("session/load", params);
    let said = answer["error"]["data"]["error"].as_str().unwrap();
    assert!(said.starts_with(&path), "{said}");
    assert_eq!(
        bob.result("session/delete", json!({"sessionId": damaged})),
        json!({})
    );
}

#[test]
fn further_folders_are_those_of_the_last_request() {
    let state = state();
    let mut bob = bob_on(state.path());
    let far = tempfile::tempdir().unwrap();
    let far = far.path().canonicalize().unwrap();
    std::fs::write(far.join("far.txt"), "").unwrap();
    let cwd = bob.cwd();
    for list in [json!("x"), json!([1]), json!([""]), json!(["far"])] {
        let params = json!({"cwd": cwd, "mcpServers": [], "additionalDirectories": list});
        let answer = bob.call("session/new", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let params = json!({"cwd": cwd, "mcpServers": [], "additionalDirectories": [far]});
    let id = bob.result("session/new", params)["sessionId"].clone();
    let session = id.as_str().unwrap().to_owned();
    let attached = format!(
        "see @far.txt\n[attached file: {}]",
        far.join("far.txt").display()
    );
    assert_eq!(bob.turn(&session, "see @far.txt").text(), attached);
    let listed = bob.result("session/list", json!({}));
    assert_eq!(listed["sessions"][0]["additionalDirectories"], json!([far]));
    let params = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    bob.result("session/load", params);
    assert_eq!(bob.turn(&session, "see @far.txt").text(), "see @far.txt");
    let listed = bob.result("session/list", json!({}));
    assert!(listed["sessions"][0].get("additionalDirectories").is_none());
}

#[test]
fn a_request_that_is_cancelled_is_answered_so() {
    let state = state();
    let mut bob = bob_on(state.path());
    let session = bob.session();
    let prompt = bob.prompt(&session, "run sleep 60");
    bob.wait(asks_permission);
    // Both arrive at once, and the request has to wait for the turn that it ends.
    let cwd = bob.cwd();
    let load = json!({"jsonrpc": "2.0", "id": "load", "method": "session/load",
        "params": {"sessionId": session, "cwd": cwd, "mcpServers": []}});
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request",
        "params": {"requestId": "load"}});
    bob.send_bytes(format!("{load}\n{cancel}\n").as_bytes());
    let mut messages = bob.wait_all(|message| message["id"] == "load");
    let answer = messages.pop().unwrap();
    // What was done before the cancel was read is answered as it is: both are right.
    let is_loaded = answer["result"]["modes"].is_object();
    assert!(is_loaded || answer["error"]["code"] == -32800, "{answer}");
    // Whether the turn had been ended by then or not, it ends in good order.
    bob.cancel(&session);
    let ended = messages.into_iter().find(|message| message["id"] == prompt);
    let ended = ended.unwrap_or_else(|| bob.answer(prompt));
    assert_eq!(ended["result"]["stopReason"], "cancelled");
}
