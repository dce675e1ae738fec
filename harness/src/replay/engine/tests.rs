//! Tests of `engine`: whole conversations without a process.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::rules::talking::events;
use crate::trace::Recording;

/// How every recording begins.
const HANDSHAKE: &str = r#"
    > {"id":90,"method":"initialize"}
    < {"id":90,"result":{}}
"#;
/// How those begin that are about a session.
const SESSION: &str = r#"
    > {"id":91,"method":"session/new"}
    < {"id":91,"result":{"sessionId":"s"}}
"#;

fn engine(lines: &str, side: Side) -> Engine {
    let recording = Recording {
        events: events(lines),
        ..Recording::default()
    };
    Engine::new(Plan::of(&recording, side).unwrap(), Bindings::default())
}

/// The client of a recording after the handshake, with what it sends then.
fn client(lines: &str) -> (Engine, Vec<Value>) {
    let mut engine = engine(&format!("{HANDSHAKE}{lines}"), Side::Client);
    sent(&mut engine);
    let next = hear(&mut engine, json!({"id": 90, "result": {}}));
    (engine, next)
}

/// The same with a session that is open.
fn in_session(lines: &str) -> (Engine, Vec<Value>) {
    let (mut engine, _) = client(&format!("{SESSION}{lines}"));
    let next = hear(&mut engine, json!({"id": 91, "result": {"sessionId": "s"}}));
    (engine, next)
}

/// All lines that go out now.
fn sent(engine: &mut Engine) -> Vec<Value> {
    let mut lines = Vec::new();
    while let Some(output) = engine.next() {
        match output {
            Output::Send { bytes, .. } => lines.push(serde_json::from_slice(&bytes).unwrap()),
            Output::Unknown { message, .. } => lines.push(json!({"unknown": message.method()})),
            Output::Close => lines.push(json!("close")),
            Output::Signal(_) => {}
        }
    }
    lines
}

fn hear(engine: &mut Engine, mut message: Value) -> Vec<Value> {
    message["jsonrpc"] = json!("2.0");
    engine.see(&Reading::of_text(&message.to_string()), 0);
    sent(engine)
}

fn methods(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| match line["method"].as_str() {
            Some(method) => method,
            None if line == "close" => "close",
            None => "answer",
        })
        .collect()
}

/// A turn with a permission, by the ids of the recording.
fn permission_turn(session: &str, call: &str, request: &str) -> String {
    let (session, call, request) = (json!(session), json!(call), json!(request));
    format!(
        r#"
        > {{"id":1,"method":"session/new","params":{{"cwd":"/","mcpServers":[]}}}}
        < {{"id":1,"result":{{"sessionId":{session}}}}}
        > {{"id":2,"method":"session/prompt","params":{{"sessionId":{session},"prompt":[{{"type":"text","text":"Go."}}]}}}}
        < {{"method":"session/update","params":{{"sessionId":{session},"update":{{"sessionUpdate":"tool_call","toolCallId":{call},"kind":"edit","title":"Edit"}}}}}}
        < {{"id":{request},"method":"session/request_permission","params":{{"sessionId":{session},"toolCall":{{"toolCallId":{call}}},"options":[{{"optionId":"y","name":"Y","kind":"allow_once"}}]}}}}
        > {{"id":{request},"result":{{"outcome":{{"outcome":"selected","optionId":"y"}},"_meta":{{"call":{call}}}}}}}
        < {{"id":2,"result":{{"stopReason":"end_turn"}}}}
        > {{"id":3,"method":"_more","params":{{"sessionId":{session},"toolCallId":{call}}}}}
        < {{"id":3,"result":{{}}}}
        "#
    )
}

/// What goes out to one and the same live agent.
fn with_one_agent(recording: &str) -> Vec<Value> {
    let (mut engine, mut all) = client(recording);
    let update = json!({"sessionUpdate": "tool_call", "toolCallId": "live-call", "kind": "edit", "title": "Edit"});
    let permission = json!({"sessionId": "live-session", "toolCall": {"toolCallId": "live-call"},
        "options": [{"optionId": "y", "name": "Y", "kind": "allow_once"}]});
    for message in [
        json!({"id": 1, "result": {"sessionId": "live-session"}}),
        json!({"method": "session/update", "params": {"sessionId": "live-session", "update": update}}),
        json!({"id": 77, "method": "session/request_permission", "params": permission}),
        json!({"id": 2, "result": {"stopReason": "end_turn"}}),
        json!({"id": 3, "result": {}}),
    ] {
        all.extend(hear(&mut engine, message));
    }
    assert_eq!(engine.waiting(), Waiting::Nothing);
    assert_eq!(engine.incidents, []);
    all
}

proptest! {
    #[test]
    fn the_ids_of_the_recording_change_nothing_in_what_is_sent(
        session in "[a-z0-9-]{1,12}",
        call in "(call|1|[a-z0-9-]{1,12})",
        request in "[a-z0-9-]{1,12}",
    ) {
        let known = with_one_agent(&permission_turn("recorded-session", "recorded-call", "recorded-ask"));
        prop_assert_eq!(with_one_agent(&permission_turn(&session, &call, &request)), known);
    }

    #[test]
    fn whatever_an_agent_says_nothing_panics_and_giving_up_comes_to_an_end(
        said in prop::collection::vec(("[a-z]{1,3}", 0u8..5, 0i64..5), 0..12),
    ) {
        let (mut engine, _) = client(&permission_turn("s", "c", "r"));
        for (text, kind, number) in said {
            hear(&mut engine, match kind {
                0 => json!({"id": number, "result": {"sessionId": text}}),
                1 => json!({"id": number, "result": text}),
                2 => json!({"id": number, "error": {"code": 1, "message": text}}),
                3 => json!({"id": number, "method": "session/request_permission", "params": {"sessionId": text}}),
                _ => json!({"method": "session/update", "params": {"sessionId": text, "update": {"sessionUpdate": "tool_call", "toolCallId": number}}}),
            });
        }
        for _ in 0..20 {
            engine.give_up(1.0);
            engine.settle();
            sent(&mut engine);
        }
        prop_assert_eq!(engine.waiting(), Waiting::Nothing);
    }
}

#[test]
fn a_step_waits_for_the_answers_and_requests_of_its_queue_and_for_no_update() {
    let (mut engine, first) = in_session(
        r#"
        > {"id":1,"method":"session/prompt","params":{"sessionId":"s"}}
        < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"}}}
        < {"id":5,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}
        > {"id":5,"result":{"content":""}}
        > {"id":2,"method":"session/set_mode","params":{"sessionId":"s","modeId":"m"}}
        < {"id":1,"error":{"code":1,"message":""}}
        > {"id":3,"method":"session/list"}
        >x
    "#,
    );
    assert_eq!(methods(&first), ["session/prompt"]);
    let read = json!({"id": "a", "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/x"}});
    assert_eq!(
        methods(&hear(&mut engine, read)),
        ["answer", "session/set_mode"]
    );
    let answer = json!({"id": 1, "error": {"code": 2, "message": ""}});
    assert_eq!(
        methods(&hear(&mut engine, answer)),
        ["session/list", "close"]
    );
    assert_eq!(engine.waiting(), Waiting::Nothing);
}

#[test]
fn an_open_permission_is_the_place_of_a_cancel_though_the_tool_is_not_as_far() {
    let (mut engine, _) = in_session(
        r#"
        > {"id":1,"method":"session/prompt","params":{"sessionId":"s"}}
        < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","status":"in_progress"}}}
        < {"id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}
        > {"method":"session/cancel","params":{"sessionId":"s"}}
        > {"id":5,"result":{"outcome":{"outcome":"cancelled"}}}
        < {"id":1,"result":{"stopReason":"cancelled"}}
    "#,
    );
    let ask = json!({"id": 9, "method": "session/request_permission", "params": {"sessionId": "s", "toolCall": {"toolCallId": "d"}, "options": []}});
    assert_eq!(
        methods(&hear(&mut engine, ask)),
        ["session/cancel", "answer"]
    );
}

#[test]
fn what_is_given_up_is_told_with_the_requests_that_have_no_answer() {
    let (mut engine, _) = client(&permission_turn("s", "c", "r"));
    hear(&mut engine, json!({"id": 1, "result": {"sessionId": "L"}}));
    assert_eq!(engine.give_up(1.0), [Id::Integer(2)]);
    sent(&mut engine);
    assert!(matches!(engine.incidents[0], Incident::TimedOut { .. }));
}

#[test]
fn answers_to_lines_that_are_no_messages_are_waited_for_apart() {
    let mut engine = engine(
        r#"
        > ]broken
        < {"id":null,"error":{"code":-32700,"message":"x"}}
        > {"id":1,"method":"session/list"}
    "#,
        Side::Client,
    );
    while engine.next().is_some() {}
    assert_eq!(engine.waiting(), Waiting::Stray);
    let answer = json!({"id": null, "error": {"code": -32700, "message": "y"}});
    assert_eq!(methods(&hear(&mut engine, answer)), ["session/list"]);
}

#[test]
fn a_recorded_agent_answers_in_its_order_and_waits_for_the_cancel() {
    let mut engine = engine(
        r#"
        > {"id":1,"method":"session/new","params":{"cwd":"/r"}}
        < {"id":1,"result":{"sessionId":"s"}}
        > {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
        < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"}}}
        > {"method":"session/cancel","params":{"sessionId":"s"}}
        < {"id":2,"result":{"stopReason":"cancelled"}}
    "#,
        Side::Agent,
    );
    assert_eq!(sent(&mut engine), [] as [Value; 0]);
    let new = json!({"id": "n", "method": "session/new", "params": {"cwd": "/l"}});
    assert_eq!(hear(&mut engine, new)[0]["id"], "n");
    let prompt =
        json!({"id": 8, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}});
    assert_eq!(methods(&hear(&mut engine, prompt)), ["session/update"]);
    let cancel = json!({"method": "session/cancel", "params": {"sessionId": "s"}});
    let answer = hear(&mut engine, cancel);
    assert_eq!((&answer[0]["id"], answer.len()), (&json!(8), 1));
}
