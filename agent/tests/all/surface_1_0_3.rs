//! The 1.0.3 surface: what it has beyond 0.11.0.

use crate::client::{Bob, Setup, asks_permission, is_update};
use crate::model_server::{ModelServer, Reply, call, finish, says, text};
use serde_json::{Value, json};

const SURFACE: [&str; 2] = ["--surface", "1.0.3"];

fn ready() -> Bob {
    Setup::new().args(&SURFACE).ready()
}

fn with_skill(bob: &Bob) {
    bob.write(
        "skills/paint/SKILL.md",
        "---\nname: paint\ndescription: How to paint\n---\nUse two coats.\n",
    );
}

#[test]
fn a_session_of_commands_and_skills() {
    let mut bob = Setup::new().args(&SURFACE).start();
    with_skill(&bob);
    bob.call(
        "initialize",
        json!({"protocolVersion": 1, "clientInfo": {"name": "tests", "version": "1"}}),
    );
    let server = json!({"name": "none", "command": "/nowhere/server", "args": [], "env": []});
    let cwd = bob.cwd();
    let answer = bob.call("session/new", json!({"cwd": cwd, "mcpServers": [server]}));
    let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    bob.wait(|message| is_update(message, "available_commands_update"));
    bob.turn(&session, "/paint say the wall\nsay red");
    bob.turn(&session, "/unload");
    bob.turn(&session, "say again");
    bob.turn(&session, "/compact");
    bob.turn(&session, "/new");
    bob.call(
        "session/load",
        json!({"sessionId": session, "cwd": cwd, "mcpServers": []}),
    );
    insta::assert_snapshot!(bob.transcript());
    let lines = bob.stderr_until("new session, 4 message(s) forgotten");
    let banner = format!("bob {} (1.0.3) — embedded", env!("CARGO_PKG_VERSION"));
    assert_eq!(lines[0], banner);
    for said in [
        "[acp] client tests 1, protocol 1",
        "[acp] session bob-{pid}-1: 1 MCP server(s) ignored",
        "[acp] turn done: 0 command(s) · 0 file op(s) · 1 skill(s)",
        "[acp] session bob-{pid}-1: /unload — Model unloaded.",
    ] {
        let said = said.replace("{pid}", &bob.pid.to_string());
        assert!(lines.contains(&said), "{said}: {lines:#?}");
    }
}

#[test]
fn a_session_with_never() {
    let mut bob = ready();
    let session = bob.session();
    bob.permission = Some("never");
    bob.turn(&session, "run touch out.txt\nsay Then not.");
    bob.permission = Some("allow_always");
    bob.turn(&session, "repeat 2 write note.txt one");
    let again = bob.turn(&session, "run touch out.txt");
    assert_eq!(again.permissions(), 0);
    assert_eq!(again.output(), "[command rejected by the user]");
    insta::assert_snapshot!(bob.transcript());
    assert!(!bob.cwd().join("out.txt").exists());
    // It is for the session: another one asks.
    let other = bob.session();
    let turn = bob.turn(&other, "run touch out.txt");
    assert_eq!(turn.permissions(), 1);
    assert!(bob.cwd().join("out.txt").exists());
}

#[test]
fn never_outlives_a_new_history() {
    let mut bob = ready();
    let session = bob.session();
    bob.permission = Some("never");
    bob.turn(&session, "run true");
    bob.turn(&session, "/new");
    assert_eq!(bob.turn(&session, "run true").permissions(), 0);
}

#[test]
fn a_model_that_repeats_a_refused_write_is_stopped_after_forty_iterations() {
    let mut bob = ready();
    let session = bob.session();
    bob.permission = Some("reject");
    let turn = bob.turn(&session, "repeat 100 write out.txt text\nsay done");
    assert_eq!(turn.permissions(), 40);
    assert_eq!(turn.states().len(), 80, "nothing of the 41st is shown");
    assert_eq!(
        turn.answer["error"],
        json!({
            "code": -32603,
            "message": "Internal error",
            "data": {"error": "exceeded maximum tool call iterations (40)"},
        })
    );
    let turn = bob.turn(&session, "say on");
    assert_eq!(turn.text(), "on");
    assert_eq!(turn.stop_reason(), "end_turn");
}

#[test]
fn a_session_of_tokens_and_a_loop() {
    let mut bob = ready();
    let session = bob.session();
    bob.permission = Some("allow");
    bob.turn(&session, "run echo one\nsay Two answers.");
    bob.permission = Some("never");
    bob.turn(&session, "repeat 41 write out.txt text");
    bob.turn(&session, "say on");
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn forty_iterations_are_no_fault() {
    let mut bob = ready();
    let session = bob.session();
    let turn = bob.turn(&session, "repeat 40 skill none\nsay done");
    assert_eq!(turn.states().len(), 120);
    assert_eq!(turn.text(), "done");
    assert_eq!(turn.stop_reason(), "end_turn");
}

#[test]
fn a_skill_that_is_asked_for_by_name_goes_to_the_model_with_the_text() {
    let server = ModelServer::start(vec![says("done")]);
    let mut bob = Setup::new()
        .args(&SURFACE)
        .env("OPENAI_BASE_URL", &server.base_url)
        .ready();
    with_skill(&bob);
    let session = bob.session();
    let turn = bob.turn(&session, "/paint the wall");
    assert_eq!(turn.permissions(), 0);
    let question = &server.seen()[0].body["messages"][1];
    assert_eq!(
        *question,
        json!({
            "role": "user",
            "content": "[skill paint]\n---\nname: paint\ndescription: How to paint\n---\n\
                        Use two coats.\n\nthe wall",
        })
    );
}

#[test]
fn what_is_no_command_of_the_folder_is_a_question() {
    let mut bob = ready();
    let session = bob.session();
    assert_eq!(bob.turn(&session, "/paint it").text(), "/paint it");
    assert_eq!(bob.turn(&session, "/new it").text(), "/new it");
}

#[test]
fn tokens_are_told_after_each_answer_and_summed_in_the_result() {
    let counted = |input: u64, output: u64| json!({"choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output}});
    let server = ModelServer::start(vec![
        Reply::Events(vec![
            call(
                0,
                Some("a"),
                Some("ask_user"),
                r#"{"question":"Which one?"}"#,
            ),
            finish("tool_calls"),
            counted(100, 7),
        ]),
        Reply::Events(vec![text("Which one?"), finish("stop"), counted(120, 3)]),
    ]);
    let mut bob = Setup::new()
        .args(&SURFACE)
        .env("OPENAI_BASE_URL", &server.base_url)
        .ready();
    bob.write("bob.toml", "[context]\nwindow = 1000\n");
    let session = bob.session();
    let turn = bob.turn(&session, "go");
    let told: Vec<&Value> = turn
        .updates()
        .filter(|update| update["sessionUpdate"] == "usage_update")
        .collect();
    assert_eq!(
        told,
        [
            &json!({"sessionUpdate": "usage_update", "used": 107, "size": 1000}),
            &json!({"sessionUpdate": "usage_update", "used": 123, "size": 1000}),
        ]
    );
    assert_eq!(
        turn.answer["result"],
        json!({
            "stopReason": "end_turn",
            "usage": {"inputTokens": 220, "outputTokens": 10, "totalTokens": 230},
        })
    );
    // The question is a tool call like another, without permission, and leads to plain text.
    assert_eq!(turn.permissions(), 0);
    let shown = turn.updates().nth(1).unwrap();
    assert_eq!(shown["title"], "ask_user: Which one?");
    assert_eq!(shown["kind"], "execute");
    let told = server.seen()[1].body["messages"][3]["content"].clone();
    assert!(
        told.as_str().unwrap().contains("ask in plain text"),
        "{told}"
    );
}

#[test]
fn a_cancelled_turn_tells_the_tokens_of_what_was_answered() {
    let mut bob = ready();
    let session = bob.session();
    let id = bob.prompt(&session, "write out.txt text");
    bob.wait(asks_permission);
    bob.cancel(&session);
    let turn = bob.end_of_turn(id);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert!(turn.answer["result"]["usage"]["totalTokens"].as_u64() > Some(0));
}

#[test]
fn an_unloaded_model_remembers_nothing() {
    let mut bob = ready();
    let session = bob.session();
    bob.turn(&session, "fail-summary no ink");
    bob.turn(&session, "/unload");
    for _ in 0..5 {
        bob.turn(&session, "hello");
    }
    assert!(
        bob.turn(&session, "/compact")
            .text()
            .starts_with("🗜️ compressed")
    );
}
