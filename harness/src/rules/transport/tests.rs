//! Tests of `transport`.

use super::super::judge_all;
use super::super::talking::{OPENING, events, failed, judged};
use super::*;
use crate::trace::Event;

fn after_opening(lines: &str) -> String {
    format!("{OPENING}\n{lines}")
}

fn agent(bytes: &[u8], partial: bool) -> Event {
    Event::new(1.0, Party::Agent, Body::of_line(bytes.to_vec(), partial))
}

#[test]
fn a_clean_stream_passes_all_four() {
    let judgement = judged(OPENING);
    assert!(failed(&judgement).is_empty());
    for id in [UTF8, ONLY_MESSAGES, ONE_A_LINE, SINGLY] {
        assert_eq!(judgement.get(id).unwrap().passes, 1, "{id}");
    }
}

#[test]
fn a_banner_fails_nothing_but_the_rule_on_banners() {
    let judgement = judged(&format!("< Starting agent v1…\n{OPENING}"));
    assert_eq!(failed(&judgement), [(ONLY_MESSAGES, 0, String::new())]);
    let finding = &judgement.get(ONLY_MESSAGES).unwrap().findings[0];
    assert!(finding.message.contains("Starting agent"));
}

#[test]
fn a_scalar_and_a_log_object_are_no_messages() {
    let judgement = judged(&after_opening(
        "< 42\n< {\"level\":\"info\",\"msg\":\"ready\"}",
    ));
    assert_eq!(
        failed(&judgement),
        [
            (ONLY_MESSAGES, 4, String::new()),
            (ONLY_MESSAGES, 5, String::new())
        ]
    );
}

#[test]
fn blank_lines_carriage_returns_and_outer_white_space_are_tolerated() {
    let mut all = events(OPENING);
    all.push(agent(b"", false));
    all.push(agent(b"  \r", false));
    all.push(agent(
        b" {\"jsonrpc\":\"2.0\",\"method\":\"_x/y\",\"params\":{}} \r",
        false,
    ));
    let judgement = judge_all(true, &all);
    assert!(
        failed(&judgement)
            .iter()
            .all(|(id, ..)| !id.starts_with("TRANSPORT"))
    );
}

#[test]
fn a_pretty_printed_message_is_spread_over_lines() {
    let judgement = judged(
        "< {\n< \"jsonrpc\": \"2.0\",\n< \"method\": \"_x\",\n< \"params\": {\"text\": \"a } b\"}\n< }",
    );
    assert_eq!(failed(&judgement), [(ONE_A_LINE, 0, String::new())]);
}

#[test]
fn a_raw_newline_in_a_string_is_spread_over_lines() {
    let judgement =
        judged("< {\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"params\":{\"text\":\"one\n< two\"}}");
    assert_eq!(failed(&judgement), [(ONE_A_LINE, 0, String::new())]);
}

#[test]
fn what_is_begun_and_never_completed_is_no_message() {
    let judgement = judged(&format!("< {{\"jsonrpc\":\"2.0\",\"method\":\n{OPENING}"));
    assert_eq!(failed(&judgement), [(ONLY_MESSAGES, 0, String::new())]);
}

#[test]
fn two_messages_on_one_line_are_one_failure() {
    let judgement = judged(&after_opening(
        r#"< {"jsonrpc":"2.0","method":"_a"}{"jsonrpc":"2.0","method":"_b"}"#,
    ));
    assert_eq!(failed(&judgement), [(ONE_A_LINE, 4, String::new())]);
}

#[test]
fn a_batch_fails_under_version_one_only() {
    let batch = r#"< [{"jsonrpc":"2.0","method":"_a"}]"#;
    assert_eq!(
        failed(&judged(&after_opening(batch))),
        [(SINGLY, 4, String::new())]
    );
    let second = format!(
        "> {{\"id\":0,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":2}}}}\n< {{\"id\":0,\"result\":{{\"protocolVersion\":2}}}}\n{batch}"
    );
    assert!(failed(&judged(&second)).is_empty());
}

#[test]
fn bytes_that_are_no_utf8_fail_the_first_rule_only() {
    let mut all = events(OPENING);
    all.push(agent(b"{\"jsonrpc\":\"2.0\",\"method\":\"_\xff\"}", false));
    assert_eq!(failed(&judge_all(true, &all)), [(UTF8, 4, String::new())]);
}

#[test]
fn a_last_message_without_newline_fails_unless_a_signal_ended_the_agent() {
    let tail = |end: &str| {
        let mut all = events(OPENING);
        all.push(Event::new(1.0, Party::Client, Body::Eof));
        all.extend(events(if end == "kill" { "! 9" } else { "" }));
        all.push(agent(b"{\"jsonrpc\":\"2.0\",\"method\":\"_x\"}", true));
        all.extend(events("<x\nexit 0"));
        failed(&judge_all(true, &all))
    };
    let failures = tail("");
    assert!(
        failures.contains(&(ONE_A_LINE, 5, String::new())),
        "{failures:?}"
    );
    assert!(!tail("kill").iter().any(|(id, ..)| *id == ONE_A_LINE));
}

#[test]
fn a_line_cut_by_the_end_is_no_failure() {
    let mut all = events(&after_opening(">x\n! 9"));
    all.push(agent(b"{\"jsonrpc\":\"2.0\",\"meth", true));
    all.extend(events("<x\nexit 0"));
    assert!(failed(&judge_all(true, &all)).is_empty());
}

#[test]
fn words_at_shutdown_are_no_message() {
    let mut all = events(&after_opening(">x"));
    all.push(agent(b"Goodbye", true));
    all.extend(events("<x\nexit 0"));
    assert_eq!(
        failed(&judge_all(true, &all)),
        [(ONLY_MESSAGES, 5, String::new())]
    );
}

#[test]
fn deep_nesting_and_lone_surrogates_are_json() {
    let deep = format!(
        r#"< {{"jsonrpc":"2.0","method":"_x","params":{}{}}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    let judgement = judged(&after_opening(&format!(
        "{deep}\n{}",
        r#"< {"jsonrpc":"2.0","method":"_x","params":{"a":"\ud800"}}"#
    )));
    assert!(judgement.get(ONLY_MESSAGES).unwrap().fails == 0);
    assert_eq!(judgement.get(ONLY_MESSAGES).unwrap().notes.len(), 1);
}

#[test]
fn a_line_of_which_only_the_start_was_kept_is_not_judged() {
    let mut all = events(OPENING);
    all.push(Event::new(
        1.0,
        Party::Harness,
        Body::Other(serde_json::json!({"cut": {"bound": 9, "kept": 5}})),
    ));
    all.push(agent(b"{\"jso", false));
    assert!(failed(&judge_all(true, &all)).is_empty());
}

#[test]
fn silence_until_the_end_is_inconclusive() {
    let judgement = judged("<x\nexit 0");
    assert_eq!(judgement.get(UTF8).unwrap().inconclusive.len(), 1);
}
