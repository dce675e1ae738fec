//! `harness replay` against agents that do one thing otherwise than recorded.

use std::path::Path;

use crate::command_line::{Harness, Ran};
use crate::recording::Desk;
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

fn replay_with(desk: &Desk, recording: &Path, mode: &str, more: &[&str]) -> Ran {
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
        message.contains("not sent: `session/prompt` (event 16 of the recording)"),
        "{message}"
    );
    assert!(
        message.contains("without an answer: `session/prompt` (event 4 of the recording)"),
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
    let timed_out: Vec<&Value> = report["differences"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["message"].as_str().unwrap().contains("timed out"))
        .collect();
    assert_eq!(timed_out.len(), 1, "{report:#}");
    assert_eq!(timed_out[0]["place"], "session-1 · turn 1");
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
        messages.contains("not sent: `session/prompt` (event 4 of the recording)"),
        "{messages}"
    );
}

/// A turn that is cancelled after so much text; each step of the stream waits for an answer of the client.
fn stream(ticks: usize) -> String {
    let mut lines = String::from(
        r#"
        > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
        < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"test-agent","version":"1.0.0"},"authMethods":[]}}
        > {"id":1,"method":"session/new","params":{"cwd":"/somewhere","mcpServers":[]}}
        < {"id":1,"result":{"sessionId":"recorded-session-1"}}
        > {"id":2,"method":"session/prompt","params":{"sessionId":"recorded-session-1","prompt":[{"type":"text","text":"Count."}]}}
    "#,
    );
    for tick in 1..=ticks {
        lines.push_str(&format!(
            r#"
            < {{"method":"session/update","params":{{"sessionId":"recorded-session-1","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"0123456789"}}}}}}}}
            < {{"id":"recorded-{tick}","method":"_test/tick","params":{{}}}}
            "#
        ));
        if tick == ticks {
            lines.push_str(
                r#"
                > {"method":"session/cancel","params":{"sessionId":"recorded-session-1"}}
                "#,
            );
        }
        lines.push_str(&format!(
            r#"
            > {{"id":"recorded-{tick}","result":{{}}}}
            "#
        ));
    }
    lines.push_str(
        r#"
        < {"id":2,"result":{"stopReason":"cancelled"}}
        >x
        "#,
    );
    lines
}

#[test]
fn a_cancel_goes_out_at_the_place_of_the_turn_where_it_was() {
    let desk = Desk::new();
    let recording = desk.recording("cancel.jsonl", &json!({}), &stream(4));
    let ran = replay_with(&desk, &recording, "stream", &[]);
    assert_eq!(differences(&ran), [""; 0], "{}", ran.stderr);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let heard = desk.heard_json();
    let cancel = heard.iter().position(|it| it["method"] == "session/cancel");
    let answers = |until: usize| {
        heard[..until]
            .iter()
            .filter(|it| it.get("result").is_some())
            .count()
    };
    assert_eq!(answers(cancel.unwrap()), 3, "{heard:#?}");
    assert_eq!(leaks(&desk), [""; 0]);
}

#[test]
fn a_turn_that_is_answered_before_the_recorded_cancel_makes_it_too_late() {
    let desk = Desk::new();
    let recording = desk.recording("cancel.jsonl", &json!({}), &stream(4));
    let ran = replay_with(&desk, &recording, "early", &[]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let report = ran.json();
    let late: Vec<&Value> = report["differences"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["message"].as_str().unwrap().contains("too late"))
        .collect();
    assert_eq!(late.len(), 1, "{report:#}");
    assert_eq!(late[0]["place"], "session-1 · turn 1");
    let last = desk.heard_json().pop().unwrap();
    assert_eq!(last["method"], "session/cancel", "it is sent all the same");
}

#[test]
fn turns_that_overlapped_do_not_wait_for_each_other() {
    let desk = Desk::new();
    // Two turns at once: the second ends first. The agent of the test takes one turn after the other.
    let lines = r#"
        > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
        < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"test-agent","version":"1.0.0"},"authMethods":[]}}
        > {"id":1,"method":"session/new","params":{"cwd":"/a","mcpServers":[]}}
        < {"id":1,"result":{"sessionId":"recorded-session-1"}}
        > {"id":2,"method":"session/new","params":{"cwd":"/b","mcpServers":[]}}
        < {"id":2,"result":{"sessionId":"recorded-session-2"}}
        > {"id":3,"method":"session/prompt","params":{"sessionId":"recorded-session-1","prompt":[{"type":"text","text":"One"}]}}
        > {"id":4,"method":"session/prompt","params":{"sessionId":"recorded-session-2","prompt":[{"type":"text","text":"Two"}]}}
        < {"method":"session/update","params":{"sessionId":"recorded-session-2","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"01234"}}}}
        < {"id":4,"result":{"stopReason":"end_turn"}}
        > {"id":5,"method":"session/prompt","params":{"sessionId":"recorded-session-2","prompt":[{"type":"text","text":"Three"}]}}
        < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"01234"}}}}
        < {"id":3,"result":{"stopReason":"end_turn"}}
        < {"method":"session/update","params":{"sessionId":"recorded-session-2","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"01234"}}}}
        < {"id":5,"result":{"stopReason":"end_turn"}}
        >x
    "#;
    let recording = desk.recording("overlap.jsonl", &json!({}), lines);
    let ran = replay_with(&desk, &recording, "early", &["--timeout", "5"]);
    assert_eq!(differences(&ran), [""; 0], "{}", ran.stderr);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let cwds: Vec<Value> = desk
        .heard_json()
        .iter()
        .filter_map(|it| it.pointer("/params/cwd").cloned())
        .collect();
    assert_ne!(cwds[0], cwds[1], "two folders stay two");
}

/// One file that is read through the client.
const ONE_READ: &str = r#"
    > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}
    < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"test-agent","version":"1.0.0"},"authMethods":[]}}
    > {"id":1,"method":"session/new","params":{"cwd":"/somewhere/project","mcpServers":[]}}
    < {"id":1,"result":{"sessionId":"recorded-session-1"}}
    > {"id":2,"method":"session/prompt","params":{"sessionId":"recorded-session-1","prompt":[{"type":"text","text":"Read."}]}}
    READ
    < {"id":2,"result":{"stopReason":"end_turn"}}
    >x
"#;

#[test]
fn a_file_that_was_read_then_needs_not_be_there_now() {
    let desk = Desk::new();
    let read = r#"
    < {"id":7,"method":"fs/read_text_file","params":{"sessionId":"recorded-session-1","path":"/somewhere/project/notes.txt"}}
    > {"id":7,"result":{"content":"as recorded"}}
    < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Read: as recorded"}}}}
    "#;
    let recording = desk.recording("read.jsonl", &json!({}), &ONE_READ.replace("READ", read));
    let ran = replay_with(&desk, &recording, "reads", &["--level", "text"]);
    assert_eq!(differences(&ran), [""; 0], "{}", ran.stderr);
    assert_eq!(ran.code, 0);
}

#[test]
fn a_file_that_nobody_read_then_is_read_from_the_workspace_of_the_recording() {
    let desk = Desk::new();
    let header = json!({"workspace": {"notes.txt": "from the header"}});
    let recording = desk.recording("read.jsonl", &header, &ONE_READ.replace("READ", ""));
    let ran = replay_with(&desk, &recording, "reads", &[]);
    assert_eq!(ran.code, 1, "a request that is new is a difference");
    let text = ran.json()["differences"].to_string();
    assert!(text.contains("from the header"), "{text}");
}

#[test]
fn what_the_recording_began_without_is_put_in_and_said() {
    let desk = Desk::new();
    let lines = r#"
        > {"id":2,"method":"session/prompt","params":{"sessionId":"recorded-session-1","prompt":[{"type":"text","text":"One"}]}}
        < {"method":"session/update","params":{"sessionId":"recorded-session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"01234"}}}}
        < {"id":2,"result":{"stopReason":"end_turn"}}
    "#;
    let recording = desk.recording("late.jsonl", &json!({"start": false}), lines);
    let ran = replay_with(&desk, &recording, "early", &[]);
    assert_eq!(differences(&ran), [""; 0], "{}", ran.stderr);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(leaks(&desk), [""; 0]);
    let notes = ran.json()["replays"][0]["notes"].to_string();
    assert!(
        notes.contains("no `initialize`") && notes.contains("a new one stands for it"),
        "{notes}"
    );
}

#[test]
fn lines_that_are_no_messages_are_sent_as_they_were() {
    let desk = Desk::new();
    let lines = r#"
        > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
        < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"test-agent","version":"1.0.0"},"authMethods":[]}}
        > {"id":1,"method":"session/new","params":{"cwd":"/somewhere","mcpServers":[]}}
        < {"id":1,"result":{"sessionId":"recorded-session-1"}}
        > ]broken recorded-session-1[
        > {"method":"_odd/note","params":{"list":[1.50,"recorded-session-1"],  "e":1e2}}
        >x
    "#;
    let recording = desk.recording("odd.jsonl", &json!({}), lines);
    let ran = replay_with(&desk, &recording, "early", &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(leaks(&desk), [""; 0]);
    let heard = desk.heard();
    assert!(
        heard[2].starts_with("]broken live-") && heard[2].ends_with('['),
        "{}",
        heard[2]
    );
    assert!(
        heard[3].contains("[1.50,\"live-") && heard[3].ends_with("],  \"e\":1e2}}"),
        "{}",
        heard[3]
    );
}

#[test]
fn a_recording_that_is_not_trusted_is_not_replayed_and_its_commands_are_listed() {
    let desk = Desk::new();
    let lines = TWO_EDITS.replace(
        r#""kind":"edit","title":"Edit a.txt""#,
        r#""kind":"execute","title":"rm -rf everything""#,
    );
    let recording = desk.recording("untrusted.jsonl", &json!({}), &lines);
    let words = desk.replay(&recording, "plain");
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| *word != "--trust")
        .collect();
    let ran = Harness::new().call(&words);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("rm -rf everything"), "{}", ran.stderr);
    assert!(ran.stderr.contains("may run others"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--trust"), "{}", ran.stderr);
    assert_eq!(desk.heard(), [""; 0]);
}

#[test]
fn an_agent_that_is_not_there_or_never_answers_is_exit_code_3() {
    let desk = Desk::new();
    let recording = desk.recording("x.jsonl", &json!({}), TWO_EDITS);
    let path = recording.to_str().unwrap();
    for agent in [
        "no-such-program",
        "sh tests/agents/quits.sh",
        "sh tests/agents/silent.sh",
    ] {
        let ran = Harness::new().call(&[
            "replay",
            path,
            "--trust",
            "--agent",
            agent,
            "--startup-timeout",
            "1",
        ]);
        assert_eq!(ran.code, 3, "{agent}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains("error: the agent"),
            "{agent}: {}",
            ran.stderr
        );
    }
}

#[test]
fn what_cannot_be_replayed_is_usage_and_says_why() {
    let desk = Desk::new();
    let agent_only: String = TWO_EDITS
        .lines()
        .filter(|line| !line.trim().starts_with('>'))
        .map(|line| format!("{line}\n"))
        .collect();
    let one_side = desk.recording("one-side.jsonl", &json!({}), &agent_only);
    let ran = replay_with(&desk, &one_side, "plain", &[]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("no line of the client"),
        "{}",
        ran.stderr
    );
    let ran = Harness::new().call(&["replay", "nowhere.jsonl", "--agent", "bob"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("nowhere.jsonl"), "{}", ran.stderr);
}

#[test]
fn differences_that_come_and_go_are_told_from_those_that_stay() {
    let desk = Desk::new();
    let recording = desk.recording("two-edits.jsonl", &json!({}), TWO_EDITS);
    let ran = replay_with(&desk, &recording, "once-less", &["--repeat", "3"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let report = ran.json();
    let list = report["differences"].as_array().unwrap();
    assert!(
        !list.is_empty() && list.iter().all(|it| it["runs"] == 3 && it["of"] == 3),
        "{report:#}"
    );
    assert_eq!(report["replays"][0]["traces"].as_array().unwrap().len(), 3);
}

#[test]
fn what_is_accepted_is_the_recording_from_then_on() {
    let desk = Desk::new();
    let header = json!({"about": "Two edits.", "cwd": "/somewhere/project"});
    let recording = desk.recording("two-edits.jsonl", &header, TWO_EDITS);
    let ran = replay_with(&desk, &recording, "once-less", &["--accept"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("two-edits.jsonl: accepted"),
        "{}",
        ran.stderr
    );
    let text = std::fs::read_to_string(&recording).unwrap();
    assert!(
        text.lines().next().unwrap().contains("Two edits."),
        "{text}"
    );
    assert!(
        text.contains("/somewhere/project") && !text.contains("acp-harness-"),
        "{text}"
    );
    let again = replay_with(&desk, &recording, "once-less", &["--level", "text"]);
    assert_eq!(differences(&again), [""; 0], "{}", again.stderr);
    assert_eq!(again.code, 0);
}

#[test]
fn what_did_not_come_to_its_end_is_not_accepted() {
    let desk = Desk::new();
    let recording = desk.recording("two-edits.jsonl", &json!({}), TWO_EDITS);
    let before = std::fs::read(&recording).unwrap();
    let ran = replay_with(&desk, &recording, "dies", &["--accept"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("left as it is"), "{}", ran.stderr);
    assert_eq!(std::fs::read(&recording).unwrap(), before);
}

#[test]
fn an_agent_that_closes_its_stdout_and_lives_is_gone_at_once() {
    let (_desk, ran) = two_edits("closes");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let messages = ran.json()["differences"].to_string();
    assert!(
        messages.contains("the agent closed its stdout in the middle"),
        "{messages}"
    );
    assert!(!messages.contains("timed out"), "{messages}");
}

#[test]
fn what_comes_after_the_end_of_a_recording_that_breaks_off_is_no_difference() {
    let all: Vec<&str> = TWO_EDITS.lines().collect();
    // Cut in the text, before a permission request, and before the answer to a prompt.
    for length in [2, 7, 8, 11, 15] {
        let desk = Desk::new();
        let recording = desk.recording("cut.jsonl", &json!({}), &all[..length].join("\n"));
        let ran = replay_with(&desk, &recording, "plain", &["--level", "text"]);
        assert_eq!(differences(&ran), [""; 0], "{length}: {}", ran.stderr);
        assert_eq!(ran.code, 0, "{length}: {}", ran.stderr);
    }
}
