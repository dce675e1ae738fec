//! `harness replay` against agents that do one thing otherwise than recorded.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod command_line;
mod recording;

use std::path::PathBuf;

use command_line::{Harness, Ran};
use recording::Desk;
use serde_json::{Value, json};

/// Two edits in one turn: the first is allowed, the second rejected.
const TWO_EDITS: &str = r#"
    > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
    < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"test-agent","version":"1.0.0"},"authMethods":[]}}
    > {"id":1,"method":"session/new","params":{"cwd":"/somewhere/project","mcpServers":[]}}
    < {"id":1,"result":{"sessionId":"recorded-session-1"}}
    > {"id":2,"method":"session/prompt","params":{"sessionId":"recorded-session-1","prompt":[{"type":"text","text":"Look into /somewhere/project/src of recorded-session-1."}]}}
    < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Working."}}}}
    < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"tool_call","toolCallId":"recorded-tool-a","kind":"edit","title":"Edit a.txt","status":"pending","rawInput":{"path":"a.txt"}}}}
    < {"id":"recorded-ask-1","method":"session/request_permission","params":{"sessionId":"recorded-session-1","toolCall":{"toolCallId":"recorded-tool-a","kind":"edit","title":"Edit a.txt","rawInput":{"path":"a.txt"}},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]}}
    > {"id":"recorded-ask-1","result":{"outcome":{"outcome":"selected","optionId":"allow"}}}
    < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"recorded-tool-a","status":"completed"}}}
    < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"tool_call","toolCallId":"recorded-tool-b","kind":"edit","title":"Edit b.txt","status":"pending","rawInput":{"path":"b.txt"}}}}
    < {"id":"recorded-ask-2","method":"session/request_permission","params":{"sessionId":"recorded-session-1","toolCall":{"toolCallId":"recorded-tool-b","kind":"edit","title":"Edit b.txt","rawInput":{"path":"b.txt"}},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]}}
    > {"id":"recorded-ask-2","result":{"outcome":{"outcome":"selected","optionId":"reject"}}}
    < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"recorded-tool-b","status":"failed"}}}
    < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" Done."}}}}
    < {"id":2,"result":{"stopReason":"end_turn"}}
    >x
    <x
    exit 0
"#;

fn replay_with(desk: &Desk, recording: &PathBuf, mode: &str, more: &[&str]) -> Ran {
    let mut words = desk.replay(recording, mode);
    words.extend(more.iter().map(|word| (*word).to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Harness::new().call(&words)
}

/// Replays the two edits on the agent in one of its modes.
fn two_edits(mode: &str) -> (Desk, Ran) {
    let desk = Desk::new();
    let recording = desk.recording("two-edits.jsonl", &json!({}), TWO_EDITS);
    let ran = replay_with(&desk, &recording, mode, &[]);
    (desk, ran)
}

/// The differences of a report, each as `class change place`.
fn differences(ran: &Ran) -> Vec<String> {
    let report = ran.json();
    let list = report["differences"].as_array().unwrap();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    list.iter()
        .map(|it| {
            format!(
                "{} {} {}",
                text(it, "class"),
                text(it, "change"),
                text(it, "place")
            )
        })
        .collect()
}

/// The permissions that the agent was answered, in order: `allow`, `reject`, or the outcome.
fn outcomes(desk: &Desk) -> Vec<String> {
    desk.heard_json()
        .iter()
        .filter_map(|message| message.pointer("/result/outcome"))
        .map(|outcome| {
            let option = outcome.get("optionId").unwrap_or(&outcome["outcome"]);
            option.as_str().unwrap().to_owned()
        })
        .collect()
}

fn leaks(desk: &Desk) -> Vec<String> {
    desk.heard()
        .into_iter()
        .filter(|line| line.contains("recorded-") || line.contains("/somewhere"))
        .collect()
}

#[test]
fn an_agent_that_does_the_same_has_no_difference_and_sees_no_id_or_folder_of_the_recording() {
    let (desk, ran) = two_edits("plain");
    assert_eq!(differences(&ran), [""; 0], "{}", ran.stderr);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(outcomes(&desk), ["allow", "reject"]);
    assert_eq!(leaks(&desk), [""; 0]);
    let prompt = &desk.heard_json()[2];
    let text = prompt
        .pointer("/params/prompt/0/text")
        .unwrap()
        .as_str()
        .unwrap();
    assert!(text.contains("/workspace/src of live-"), "{text}");
}

#[test]
fn an_agent_that_mints_ids_of_another_type_is_answered_under_these() {
    let (desk, ran) = two_edits("number-ids");
    assert_eq!(differences(&ran), [""; 0], "{}", ran.stderr);
    assert_eq!(ran.code, 0);
    let ids: Vec<Value> = desk
        .heard_json()
        .iter()
        .filter(|message| message.get("result").is_some())
        .map(|message| message["id"].clone())
        .collect();
    assert_eq!(ids, [json!(1001), json!(1002)]);
}

#[test]
fn requests_in_another_order_get_the_answers_that_are_theirs() {
    let (desk, ran) = two_edits("other-order");
    assert_eq!(outcomes(&desk), ["reject", "allow"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let found = differences(&ran);
    assert!(
        found
            .iter()
            .any(|it| it.starts_with("behaviour moved session-1 · turn 1")),
        "{found:?}"
    );
}

#[test]
fn a_request_too_many_is_rejected_and_is_a_difference() {
    let (desk, ran) = two_edits("once-more");
    assert_eq!(outcomes(&desk), ["allow", "reject", "reject"]);
    assert_eq!(ran.code, 1);
    let found = differences(&ran);
    assert!(
        found
            .iter()
            .all(|it| it.starts_with("behaviour appeared session-1 · turn 1"))
            && !found.is_empty(),
        "{found:?}"
    );
    let notes = ran.json()["replays"][0]["notes"].to_string();
    assert!(notes.contains("rejected with option"), "{notes}");
}

#[test]
fn a_request_too_few_is_a_difference_and_nothing_waits_for_it() {
    let (desk, ran) = two_edits("once-less");
    assert_eq!(outcomes(&desk), ["allow"]);
    assert_eq!(ran.code, 1);
    let found = differences(&ran);
    assert!(
        found
            .iter()
            .all(|it| it.starts_with("behaviour vanished session-1 · turn 1"))
            && !found.is_empty(),
        "{found:?}"
    );
}

#[test]
fn an_option_that_is_called_otherwise_is_chosen_by_its_kind() {
    let (desk, ran) = two_edits("other-option");
    assert_eq!(outcomes(&desk), ["yes-please", "reject"]);
    assert_eq!(ran.code, 1, "the options are not the same");
}

#[test]
fn updates_that_nobody_knows_are_differences_and_no_trouble() {
    let (desk, ran) = two_edits("unknown-updates");
    assert_eq!(outcomes(&desk), ["allow", "reject"]);
    assert_eq!(ran.code, 1);
    let found = differences(&ran);
    assert!(
        found.iter().all(|it| it.contains(" appeared ")),
        "{found:?}"
    );
}

#[test]
fn text_in_other_chunks_and_a_slow_agent_are_no_difference() {
    for mode in ["chunks", "slow"] {
        let (desk, ran) = two_edits(mode);
        assert_eq!(differences(&ran), [""; 0], "{mode}: {}", ran.stderr);
        assert_eq!(ran.code, 0);
        assert_eq!(outcomes(&desk), ["allow", "reject"]);
    }
}

#[test]
fn an_agent_that_dies_in_the_middle_is_one_difference_and_what_was_not_sent_is_told() {
    let desk = Desk::new();
    let more = r#"
    > {"id":3,"method":"session/prompt","params":{"sessionId":"recorded-session-1","prompt":[{"type":"text","text":"More."}]}}
    < {"id":3,"result":{"stopReason":"end_turn"}}
    >x
    "#;
    let lines = TWO_EDITS.replace("    >x\n    <x\n    exit 0\n", more);
    let recording = desk.recording("dies.jsonl", &json!({}), &lines);
    let ran = replay_with(&desk, &recording, "dies", &[]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let report = ran.json();
    let gone: Vec<&Value> = report["differences"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["message"].as_str().unwrap().contains("in the middle"))
        .collect();
    assert_eq!(gone.len(), 1, "{report:#}");
    let message = gone[0]["message"].as_str().unwrap();
    assert!(message.contains("exit code 7"), "{message}");
    assert!(
        message.contains("not sent: `session/prompt` (event 16)"),
        "{message}"
    );
    assert!(
        message.contains("without an answer: `session/prompt` (event 4)"),
        "{message}"
    );
}

#[test]
fn an_agent_that_says_no_more_is_waited_for_once_and_the_replay_goes_on() {
    let desk = Desk::new();
    let recording = desk.recording("mute.jsonl", &json!({}), TWO_EDITS);
    let ran = replay_with(&desk, &recording, "mute", &["--timeout", "0.4"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let report = ran.json();
    let messages = report["differences"].to_string();
    assert!(messages.contains("timed out"), "{messages}");
}

#[test]
fn a_session_that_cannot_be_opened_leaves_its_messages_unsent() {
    let (desk, ran) = two_edits("no-session");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(leaks(&desk), [""; 0]);
    assert_eq!(desk.heard().len(), 2, "{:?}", desk.heard());
    let report = ran.json();
    let messages = report["differences"].to_string();
    assert!(
        messages.contains("not sent: `session/prompt` (event 4)"),
        "{messages}"
    );
}
