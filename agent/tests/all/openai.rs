//! The openai model against a server on loopback.

use std::time::{Duration, Instant};

use crate::client::{Bob, Setup, is_update};
use crate::model_server::{ModelServer, Reply, call, finish, says, text};
use serde_json::{Value, json};

fn bob_on(server: &ModelServer) -> Bob {
    Setup::new()
        .env("OPENAI_BASE_URL", &server.base_url)
        .env("OPENAI_API_KEY", "sk-test")
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9")
        .ready()
}

/// Runs one turn against these replies and returns the reason for which it failed.
fn failure(replies: Vec<Reply>) -> (String, usize) {
    let server = ModelServer::start(replies);
    let mut bob = bob_on(&server);
    let session = bob.session();
    let turn = bob.turn(&session, "hi");
    assert_eq!(turn.answer["error"]["code"], -32603, "{}", turn.answer);
    assert_eq!(turn.answer["error"]["message"], "Internal error");
    let reason = turn.answer["error"]["data"]["error"].as_str().unwrap();
    assert!(!reason.contains('\n') && !reason.contains("sk-test"));
    (reason.to_owned(), server.seen().len())
}

fn roles(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap();
    let role = |message: &Value| message["role"].as_str().unwrap().to_owned();
    messages.iter().map(role).collect()
}

#[test]
fn a_model_server_in_the_environment_is_used_by_itself() {
    let server = ModelServer::start(vec![Reply::Events(vec![
        json!({"choices": [{"delta": {"role": "assistant", "content": "", "reasoning_content": "hm"}}]}),
        text("Hel"),
        text("lo é🗜"),
        finish("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 2}}),
    ])]);
    let mut bob = bob_on(&server);
    let banner = bob.stderr_until("bob");
    assert!(banner[0].ends_with("(0.11.0) — openai"), "{banner:?}");
    let session = bob.session();
    let turn = bob.turn(&session, "hi");
    assert_eq!(turn.text(), "Hello é🗜");
    assert_eq!(
        turn.updates().count(),
        2,
        "empty and reasoning deltas are no text"
    );
    let seen = server.seen();
    assert_eq!(seen[0].authorization.as_deref(), Some("Bearer sk-test"));
    let body = &seen[0].body;
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(roles(body), ["system", "user"]);
    let tools: Vec<&Value> = body["tools"].as_array().unwrap().iter().collect();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["bash", "read_file", "write_file", "edit_file", "read_skill"]
    );
    assert_eq!(
        tools[0]["function"]["parameters"]["required"],
        json!(["command"])
    );
}

#[test]
fn flags_outrank_settings_and_settings_the_environment() {
    let server = ModelServer::start(vec![says("a"), says("b")]);
    let mut bob = bob_on(&server);
    bob.write("bob.toml", "[model]\nkind = \"embedded\"\n");
    let session = bob.session();
    assert_eq!(bob.turn(&session, "echo").text(), "echo");
    let mut bob = Setup::new()
        .env("OPENAI_BASE_URL", &server.base_url)
        .args(&["--model", "openai", "--model-name", "flagged"])
        .ready();
    bob.write("bob.toml", "[model]\nkind = \"embedded\"\nname = \"set\"\n");
    let session = bob.session();
    assert_eq!(bob.turn(&session, "hi").text(), "a");
    assert_eq!(server.seen()[0].body["model"], "flagged");
    assert_eq!(server.seen()[0].authorization, None);
}

#[test]
fn fragments_of_parallel_calls_are_joined_by_index_and_their_results_sent_back() {
    let server = ModelServer::start(vec![
        Reply::Events(vec![
            text("Let me see."),
            call(1, Some("b"), Some("write_file"), "{\"path\":\"x"),
            call(0, Some("a"), Some("bash"), ""),
            call(0, None, None, "{\"comm"),
            call(1, None, None, ".txt\",\"content\":\"hi\"}"),
            call(0, None, None, "and\":\"echo out\"}"),
            finish("tool_calls"),
        ]),
        says("Done."),
    ]);
    let mut bob = bob_on(&server);
    bob.permission = Some("allow");
    let session = bob.session();
    let turn = bob.turn(&session, "do it");
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.text(), "Let me see.Done.");
    let titles: Vec<&str> = turn
        .updates()
        .filter_map(|update| update["title"].as_str())
        .collect();
    assert_eq!(titles, ["bash: echo out", "write_file: x.txt (2 bytes)"]);
    let written = bob.cwd().join("x.txt");
    assert_eq!(std::fs::read_to_string(&written).unwrap(), "hi");
    let messages = server.seen()[1].body["messages"].clone();
    assert_eq!(
        messages[2],
        json!({
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"echo out\"}"}},
                {"id": "b", "type": "function", "function": {"name": "write_file", "arguments": "{\"path\":\"x.txt\",\"content\":\"hi\"}"}},
            ],
        })
    );
    assert_eq!(
        messages[3],
        json!({"role": "tool", "tool_call_id": "a", "content": "out\n"})
    );
    assert_eq!(messages[4]["tool_call_id"], "b");
}

#[test]
fn calls_that_cannot_be_run_are_shown_fail_and_are_told_to_the_model() {
    let server = ModelServer::start(vec![
        Reply::Events(vec![
            call(0, Some("a"), Some("fly"), "{}"),
            call(1, Some("b"), Some("bash"), "{not json"),
            call(2, Some("c"), Some("bash"), ""),
            finish("tool_calls"),
        ]),
        says("Sorry."),
    ]);
    let mut bob = bob_on(&server);
    let session = bob.session();
    let turn = bob.turn(&session, "do it");
    assert_eq!(turn.permissions(), 0);
    assert_eq!(turn.text(), "Sorry.");
    let states: Vec<String> = turn
        .states()
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(
        states,
        [
            "pending", "failed", "pending", "failed", "pending", "failed"
        ]
    );
    let messages = server.seen()[1].body["messages"].clone();
    let sent_back = &messages[2]["tool_calls"][1]["function"]["arguments"];
    assert_eq!(*sent_back, "{not json");
    let told = messages[3]["content"].as_str().unwrap();
    assert!(told.starts_with("there is no tool `fly`"), "{told}");
    assert_eq!(messages[5]["content"], "bash needs a string `command`");
}

#[test]
fn a_stream_may_be_cut_anywhere_into_pieces() {
    let stream = format!(
        ": keep-alive\r\n\r\ndata: {}\r\n\r\ndata:{}\n\ndata: [DONE]\n\n",
        text("é🗜"),
        finish("stop")
    );
    let pieces = stream.bytes().map(|byte| vec![byte]).collect();
    let server = ModelServer::start(vec![Reply::Raw(pieces)]);
    let mut bob = bob_on(&server);
    let session = bob.session();
    assert_eq!(bob.turn(&session, "hi").text(), "é🗜");
}

#[test]
fn a_key_that_is_refused_fails_the_turn_at_once() {
    let body = json!({"error": {"message": "Incorrect API key\nprovided."}}).to_string();
    let (reason, asked) = failure(vec![Reply::Status(401, None, body)]);
    assert_eq!(
        reason,
        "the model server answered 401 Unauthorized: Incorrect API key provided."
    );
    assert_eq!(asked, 1);
}

#[test]
fn a_busy_server_is_asked_three_times() {
    let busy = Reply::Status(429, None, String::new());
    let (reason, asked) = failure(vec![busy.clone(), busy.clone(), busy]);
    assert_eq!(reason, "the model server answered 429 Too Many Requests");
    assert_eq!(asked, 3);
}

#[test]
fn a_broken_server_that_recovers_is_not_noticed() {
    let broken = Reply::Status(500, Some("0"), "oops".into());
    let server = ModelServer::start(vec![broken.clone(), broken, says("here")]);
    let mut bob = bob_on(&server);
    let session = bob.session();
    assert_eq!(bob.turn(&session, "hi").text(), "here");
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn the_pause_before_another_try_ends_with_a_cancel() {
    let server = ModelServer::start(vec![Reply::Status(503, Some("60"), String::new())]);
    let mut bob = bob_on(&server);
    let session = bob.session();
    let id = bob.prompt(&session, "hi");
    bob.stderr_until("trying again in 5.0 s");
    let began = Instant::now();
    bob.cancel(&session);
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_stream_that_is_cut_fails_the_turn_and_keeps_what_was_said() {
    for reply in [
        Reply::Ends(vec![text("half")]),
        Reply::Breaks(vec![text("half")]),
    ] {
        let server = ModelServer::start(vec![reply, says("again")]);
        let mut bob = bob_on(&server);
        let session = bob.session();
        let id = bob.prompt(&session, "first");
        bob.wait(|message| is_update(message, "agent_message_chunk"));
        server.break_stream();
        let answer = bob.answer(id);
        let reason = answer["error"]["data"]["error"].as_str().unwrap();
        assert!(
            reason.starts_with("the model server cut the stream"),
            "{reason}"
        );
        assert_eq!(bob.turn(&session, "second").text(), "again");
        let body = &server.seen()[1].body;
        assert_eq!(roles(body), ["system", "user", "assistant", "user"]);
        assert_eq!(body["messages"][2]["content"], "half");
    }
}

#[test]
fn a_stream_that_is_cut_before_any_word_takes_the_question_out() {
    let server = ModelServer::start(vec![Reply::Ends(vec![]), says("again")]);
    let mut bob = bob_on(&server);
    let session = bob.session();
    assert!(bob.turn(&session, "first").answer["error"].is_object());
    assert_eq!(bob.turn(&session, "second").text(), "again");
    let messages = server.seen()[1].body["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 2);
    assert_eq!(messages[1]["content"], "second");
}

#[test]
fn an_error_within_the_stream_and_an_event_that_is_no_json_fail_the_turn() {
    let error = json!({"error": {"message": "overloaded", "code": 529}});
    let (reason, _) = failure(vec![Reply::Events(vec![error])]);
    assert_eq!(reason, "the model server failed: overloaded");
    let (reason, _) = failure(vec![Reply::Raw(vec![b"data: {oops\n\n".to_vec()])]);
    assert_eq!(reason, "the model server sent an event that is no JSON");
}

#[test]
fn a_server_that_refuses_the_connection_fails_the_turn() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut bob = Setup::new()
        .env("OPENAI_BASE_URL", &format!("http://{address}/v1/"))
        .ready();
    let session = bob.session();
    let turn = bob.turn(&session, "hi");
    let reason = turn.answer["error"]["data"]["error"].as_str().unwrap();
    assert!(
        reason.starts_with(&format!(
            "the model server at {address} cannot be reached: "
        )),
        "{reason}"
    );
}

#[test]
fn a_cancel_ends_a_stream_that_hangs_and_what_was_said_is_kept() {
    let server = ModelServer::start(vec![Reply::Hangs(vec![text("half")]), says("again")]);
    let mut bob = bob_on(&server);
    let session = bob.session();
    let id = bob.prompt(&session, "first");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    let began = Instant::now();
    bob.cancel(&session);
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    assert!(began.elapsed() < Duration::from_secs(1));
    bob.turn(&session, "second");
    let body = &server.seen()[1].body;
    assert_eq!(roles(body), ["system", "user", "assistant", "user"]);
}

#[test]
fn after_a_cancel_every_call_of_the_history_has_a_result() {
    let server = ModelServer::start(vec![
        Reply::Events(vec![
            call(0, Some("a"), Some("bash"), "{\"command\":\"true\"}"),
            call(1, Some("b"), Some("bash"), "{\"command\":\"true\"}"),
            finish("tool_calls"),
        ]),
        says("again"),
    ]);
    let mut bob = bob_on(&server);
    let session = bob.session();
    let id = bob.prompt(&session, "first");
    bob.wait(crate::client::asks_permission);
    bob.cancel(&session);
    let turn = bob.end_of_turn(id);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.states(), [("call_1".to_owned(), "failed".to_owned())]);
    bob.turn(&session, "second");
    let messages = server.seen()[1].body["messages"].clone();
    assert_eq!(
        messages[3],
        json!({"role": "tool", "tool_call_id": "a", "content": "[cancelled]"})
    );
    assert_eq!(
        messages[4],
        json!({"role": "tool", "tool_call_id": "b", "content": "[cancelled]"})
    );
}

#[test]
fn a_summary_is_asked_from_the_model_and_stands_for_what_it_summarised() {
    let server = ModelServer::start(vec![
        says("one"),
        says("two"),
        says("Short."),
        says("three"),
    ]);
    let mut bob = bob_on(&server);
    bob.write("bob.toml", "[context]\nkeepLastTurns = 1\n");
    let session = bob.session();
    bob.turn(&session, "first");
    bob.turn(&session, "second");
    let turn = bob.turn(&session, "/compact");
    assert!(
        turn.text()
            .starts_with("🗜️ compressed 2 messages → 1 summary + 2 kept")
    );
    bob.turn(&session, "third");
    let seen = server.seen();
    assert_eq!(seen[2].body["tools"], Value::Null);
    let messages = seen[3].body["messages"].clone();
    assert_eq!(
        roles(&seen[3].body),
        ["system", "user", "user", "assistant", "user"]
    );
    assert!(
        messages[1]["content"]
            .as_str()
            .unwrap()
            .ends_with("\nShort.")
    );
    assert_eq!(messages[2]["content"], "second");
}
