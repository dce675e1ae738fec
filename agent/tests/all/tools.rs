//! Tools: what the client sees of them, and who is asked.

use crate::client::{Bob, asks_permission, has_status, wait_for_end};
use serde_json::{Value, json};

/// The states of one call that was run.
fn run_and_ended(status: &str) -> Vec<(String, String)> {
    ["pending", "in_progress", status]
        .map(|status| ("call_1".to_owned(), status.to_owned()))
        .to_vec()
}

#[test]
fn a_command_is_shown_asked_about_run_and_ended() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let session = bob.session();
    let turn = bob.turn(&session, "run echo out; echo err >&2; pwd");
    assert_eq!(turn.states(), run_and_ended("completed"));
    assert_eq!(
        turn.output(),
        format!("out\nerr\n{}\n", bob.cwd().display())
    );
    let call = json!({"command": "echo out; echo err >&2; pwd"});
    let updates: Vec<&Value> = turn.updates().collect();
    assert_eq!(
        *updates[0],
        json!({
            "sessionUpdate": "tool_call",
            "toolCallId": "call_1",
            "title": "bash: echo out; echo err >&2; pwd",
            "kind": "execute",
            "status": "pending",
            "rawInput": call,
        })
    );
    let request = turn
        .messages
        .iter()
        .find(|message| asks_permission(message));
    assert_eq!(
        request.unwrap()["params"],
        json!({
            "sessionId": session,
            "toolCall": {
                "toolCallId": "call_1",
                "title": "bash: echo out; echo err >&2; pwd",
                "kind": "execute",
                "rawInput": call,
            },
            "options": [
                {"optionId": "allow", "kind": "allow_once", "name": "Allow"},
                {"optionId": "allow_always", "kind": "allow_always", "name": "Allow bash for this session"},
                {"optionId": "reject", "kind": "reject_once", "name": "Reject"},
            ],
        })
    );
    // Announced first, asked about next, and running only then.
    assert!(asks_permission(&turn.messages[1]));
    assert!(has_status(&turn.messages[2], "in_progress"));
    bob.stderr_until("[acp] turn done: 1 command(s) · 0 file op(s) · 0 skill(s)");
}

#[test]
fn a_command_that_fails_says_how() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let session = bob.session();
    let turn = bob.turn(&session, "run echo half; exit 7");
    assert_eq!(turn.states(), run_and_ended("failed"));
    assert_eq!(turn.output(), "half\n[exit code 7]");
    assert_eq!(turn.stop_reason(), "end_turn");
    let turn = bob.turn(&session, "run kill -9 $$");
    assert_eq!(turn.output(), "[ended by signal 9]");
}

#[test]
fn the_input_of_a_command_is_closed() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let session = bob.session();
    assert_eq!(bob.turn(&session, "run cat; echo end").output(), "end\n");
}

#[test]
fn files_are_written_edited_and_read() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let session = bob.session();
    let turn = bob.turn(
        &session,
        "write new/a.txt one two\nedit new/a.txt two => 2\nread new/a.txt",
    );
    let path = bob.cwd().join("new/a.txt");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one 2");
    let ended: Vec<&Value> = turn
        .updates()
        .filter(|update| update["status"] == "completed")
        .collect();
    assert_eq!(
        ended[0]["content"],
        json!([{"type": "diff", "path": path, "newText": "one two"}])
    );
    assert_eq!(
        ended[1]["content"],
        json!([{"type": "diff", "path": path, "oldText": "one two", "newText": "one 2"}])
    );
    assert_eq!(
        ended[2]["content"],
        json!([{"type": "content", "content": {"type": "text", "text": "one 2"}}])
    );
    assert!(
        ended
            .iter()
            .all(|update| update["rawOutput"]["output"].is_string())
    );
    let announced: Vec<&Value> = turn
        .updates()
        .filter(|update| update["sessionUpdate"] == "tool_call")
        .collect();
    let shown: Vec<(&str, &str)> = announced
        .iter()
        .map(|call| {
            (
                call["kind"].as_str().unwrap(),
                call["title"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("edit", "write_file: new/a.txt (7 bytes)"),
            ("edit", "edit_file: new/a.txt"),
            ("read", "read_file: new/a.txt"),
        ]
    );
    assert!(
        announced
            .iter()
            .all(|call| call["locations"] == json!([{"path": path}]))
    );
    for request in turn
        .messages
        .iter()
        .filter(|message| asks_permission(message))
    {
        assert_eq!(
            request["params"]["toolCall"]["locations"],
            json!([{"path": path}])
        );
    }
    bob.stderr_until("[acp] turn done: 0 command(s) · 3 file op(s) · 0 skill(s)");
}

#[test]
fn a_file_tool_that_cannot_do_its_work_fails_with_a_text() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    bob.write("twice.txt", "a a");
    let session = bob.session();
    for prompt in [
        "read missing.txt",
        "read .",
        "edit twice.txt a => b",
        "edit twice.txt x => y",
        "write . text",
    ] {
        let turn = bob.turn(&session, prompt);
        let last = turn.updates().last().unwrap();
        assert_eq!(last["status"], "failed", "{prompt}");
        assert_eq!(last["content"][0]["type"], "content");
        assert_eq!(
            last["content"][0]["content"]["text"],
            last["rawOutput"]["output"]
        );
        assert_eq!(turn.stop_reason(), "end_turn");
    }
    let text = std::fs::read_to_string(bob.cwd().join("twice.txt")).unwrap();
    assert_eq!(text, "a a");
}

#[test]
fn a_skill_is_read_without_asking() {
    let mut bob = Bob::ready();
    bob.write(
        "skills/release/SKILL.md",
        "---\nname: release\n---\nTag it.",
    );
    let session = bob.session();
    let turn = bob.turn(&session, "skill release");
    assert_eq!(turn.permissions(), 0);
    assert_eq!(turn.states(), run_and_ended("completed"));
    assert_eq!(turn.output(), "---\nname: release\n---\nTag it.");
    let call = turn.updates().next().unwrap();
    assert_eq!(call["title"], "read_skill: release");
    assert_eq!(call["kind"], "read");
    bob.stderr_until("[acp] turn done: 0 command(s) · 0 file op(s) · 1 skill(s)");
    let turn = bob.turn(&session, "skill ../release");
    assert_eq!(turn.updates().last().unwrap()["status"], "failed");
}

#[test]
fn a_rejected_call_does_not_happen_and_the_turn_goes_on() {
    let mut bob = Bob::ready();
    bob.permission = Some("reject");
    let session = bob.session();
    let turn = bob.turn(&session, "run touch out.txt\nsay understood");
    assert!(!bob.cwd().join("out.txt").exists());
    let states: Vec<String> = turn
        .states()
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(states, ["pending", "failed"]);
    assert_eq!(turn.output(), "[command rejected by the user]");
    assert_eq!(turn.text(), "understood");
    assert_eq!(turn.stop_reason(), "end_turn");
    bob.stderr_until("[acp] turn done: 0 command(s) · 0 file op(s) · 0 skill(s)");
}

#[test]
fn what_is_no_clear_consent_is_a_rejection() {
    let mut bob = Bob::ready();
    let session = bob.session();
    for answer in [
        json!({"error": {"code": -32000, "message": "log in first"}}),
        json!({"error": {"code": -32603, "message": "broken", "data": {"secret": 1}}}),
        json!({"error": "not even an error"}),
        json!({"result": {"outcome": {"outcome": "cancelled"}}}),
        json!({"result": {"outcome": {"outcome": "selected", "optionId": "always"}}}),
        json!({"result": {"outcome": {"outcome": "approved", "optionId": "allow"}}}),
        json!({"result": {}}),
        json!({"result": null}),
        json!({"result": {"outcome": {"outcome": "selected", "optionId": "allow"}}, "error": {}}),
    ] {
        let id = bob.prompt(&session, "run touch out.txt");
        let request = bob.wait(asks_permission);
        let mut reply = answer.clone();
        reply["jsonrpc"] = json!("2.0");
        reply["id"] = request["id"].clone();
        bob.send(reply);
        let turn = bob.end_of_turn(id);
        assert_eq!(turn.output(), "[command rejected by the user]", "{answer}");
        assert_eq!(turn.stop_reason(), "end_turn", "{answer}");
        assert!(!bob.cwd().join("out.txt").exists(), "{answer}");
    }
}

#[test]
fn allowed_for_the_session_means_this_tool_in_this_session() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow_always");
    let session = bob.session();
    let other = bob.session();
    assert_eq!(bob.turn(&session, "repeat 3 run true").permissions(), 1);
    assert_eq!(bob.turn(&session, "run true").permissions(), 0);
    assert_eq!(bob.turn(&session, "write a.txt x").permissions(), 1);
    let turn = bob.turn(&other, "run true");
    assert_eq!(turn.permissions(), 1);
    // Ids count over the whole process.
    assert_eq!(turn.states()[0].0, "call_6");
}

#[test]
fn long_output_keeps_its_head_and_its_tail() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let session = bob.session();
    let turn = bob.turn(
        &session,
        "run echo begin; head -c 3000000 /dev/zero | tr '\\0' 'é'; echo; echo end",
    );
    let output = turn.output();
    assert!(output.len() < 100_000, "{} bytes", output.len());
    assert!(output.starts_with("begin\n") && output.ends_with("\nend\n"));
    assert!(output.contains(" bytes cut …]"));
}

#[test]
fn a_command_ends_at_the_time_limit_with_its_children() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    bob.write("bob.toml", "[tools]\ntimeout_s = 1\n");
    let session = bob.session();
    let turn = bob.turn(&session, "run echo $$; sleep 60 & sleep 61");
    assert_eq!(turn.states(), run_and_ended("failed"));
    let output = turn.output();
    assert!(
        output.ends_with("\n[ended after 1 s, the time limit]"),
        "{output}"
    );
    wait_for_end(output.lines().next().unwrap().parse().unwrap());
}

#[test]
fn what_writes_on_in_the_background_does_not_hold_up_the_command() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let session = bob.session();
    let turn = bob.turn(&session, "run yes & echo $! > pid; true");
    assert_eq!(turn.states(), run_and_ended("completed"));
    let pid = std::fs::read_to_string(bob.cwd().join("pid")).unwrap();
    wait_for_end(pid.trim().parse().unwrap());
}

#[test]
fn what_a_command_left_in_the_background_ends_with_the_turn() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow_always");
    let session = bob.session();
    let turn = bob.turn(
        &session,
        "run sleep 600 & echo $! > pid; echo started\nrun kill -0 $(cat pid) && echo alive",
    );
    assert_eq!(turn.output(), "alive\n");
    let pid = std::fs::read_to_string(bob.cwd().join("pid")).unwrap();
    wait_for_end(pid.trim().parse().unwrap());
}

#[test]
fn a_folder_that_is_not_there_fails_the_command_only() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let gone = bob.cwd().join("gone");
    let session = bob.session_in(&gone);
    let turn = bob.turn(&session, "run pwd\nsay still here");
    assert_eq!(
        turn.output(),
        format!(
            "the command cannot be started: there is no folder {}",
            gone.display()
        )
    );
    assert_eq!(turn.text(), "still here");
}
