//! Tests of `perm`.

use super::super::Judgement;
use super::super::talking::{OPENING, failures, holds, is_inconclusive, judged, notes};

const PROMPT: &str = r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}"#;
const END: &str = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;
const CALL: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"write","kind":"edit","status":"in_progress","locations":[{"path":"/project/a"}]}}}"#;
const RUN: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"run","kind":"execute","status":"in_progress","rawInput":{"command":"touch a"}}}}"#;
const ASK: &str = r#"< {"id":7,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"e","name":"Ever","kind":"allow_always"},{"optionId":"n","name":"No","kind":"reject_once"}]}}"#;
const YES: &str = r#"> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}"#;
const EVER: &str = r#"> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"e"}}}"#;
const NO: &str = r#"> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"n"}}}"#;
const NEVER: &str = r#"> {"id":7,"result":{"outcome":{"outcome":"cancelled"}}}"#;
const WRITE: &str = r#"< {"id":8,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/project/a","content":"x"}}
        > {"id":8,"result":{}}"#;
const SHELL: &str = r#"< {"id":8,"method":"terminal/create","params":{"sessionId":"s1","command":"bash","args":["-lc","touch a"]}}
        > {"id":8,"result":{"terminalId":"t"}}"#;
const DONE: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}}}"#;
const FAILED: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}}}"#;

/// The events of a turn, of which the first is number 5.
fn turn(lines: &[&str]) -> Judgement {
    judged(&format!(
        "{}\n{PROMPT}\n{}\n{END}",
        OPENING.replace("\"fs\":", "\"terminal\":true,\"fs\":"),
        lines.join("\n")
    ))
}

#[test]
fn a_write_after_it_was_allowed_holds() {
    let it = turn(&[CALL, ASK, YES, WRITE, DONE]);
    assert_eq!(failures(&it), [""; 0]);
    for id in ["PERM-01", "PERM-03", "INTEROP-11", "INTEROP-12"] {
        assert!(holds(&it, id), "{id}");
    }
    assert_eq!(notes(&it, "PERM-10"), 1);
}

#[test]
fn a_write_before_the_answer_fails() {
    let it = turn(&[CALL, ASK, WRITE, "wait 0.5", YES, DONE]);
    assert_eq!(failures(&it), ["PERM-03@7"]);
    let it = turn(&[RUN, ASK, SHELL, "wait 0.5", YES, DONE]);
    assert_eq!(failures(&it), ["PERM-03@7"]);
}

#[test]
fn a_write_recorded_just_before_its_answer_proves_nothing() {
    let it = turn(&[CALL, ASK, WRITE, YES, DONE]);
    assert_eq!(failures(&it), [""; 0]);
    assert!(is_inconclusive(&it, "PERM-03"));
}

#[test]
fn a_write_that_another_call_accounts_for_is_not_early() {
    let other = CALL.replace("\"a\",\"title\"", "\"b\",\"title\"");
    let other_done = DONE.replace("\"a\"", "\"b\"");
    let it = turn(&[CALL, ASK, &other, WRITE, &other_done, "wait 1", NO, FAILED]);
    assert_eq!(failures(&it), [""; 0]);
    let read = CALL.replace("\"edit\"", "\"read\"");
    let it = turn(&[&read, ASK, WRITE, "wait 1", YES, DONE]);
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn a_rejected_write_that_happens_fails() {
    let it = turn(&[CALL, ASK, NO, WRITE, FAILED]);
    assert_eq!(failures(&it), ["PERM-04@8"]);
    let it = turn(&[RUN, ASK, NO, SHELL, FAILED]);
    assert_eq!(failures(&it), ["PERM-04@8"]);
}

#[test]
fn a_cancelled_permission_is_no_consent() {
    let it = turn(&[CALL, ASK, NEVER, WRITE, FAILED]);
    assert_eq!(failures(&it), ["PERM-06@8"]);
}

#[test]
fn a_rejected_write_that_was_allowed_later_is_lawful() {
    let it = turn(&[CALL, ASK, NO, ASK, YES, WRITE, DONE]);
    assert_eq!(failures(&it), [""; 0]);
    let second = CALL.replace("\"a\",\"title\"", "\"b\",\"title\"");
    let ask = ASK.replace("\"toolCallId\":\"a\"", "\"toolCallId\":\"b\"");
    let done = DONE.replace("\"a\"", "\"b\"");
    let it = turn(&[CALL, ASK, NO, FAILED, &second, &ask, YES, WRITE, &done]);
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn a_rejected_write_after_a_standing_permission_proves_nothing() {
    let again = ASK.replace("\"id\":7", "\"id\":9");
    let no = NO.replace("\"id\":7", "\"id\":9");
    let it = turn(&[CALL, ASK, EVER, &again, &no, WRITE, DONE]);
    assert_eq!(failures(&it), [""; 0]);
    assert!(is_inconclusive(&it, "PERM-04"));
}

#[test]
fn a_rejected_write_of_the_turn_before_may_be_done_in_the_next() {
    let next = PROMPT.replace("\"id\":2", "\"id\":3");
    let it = judged(&format!(
        "{OPENING}\n{PROMPT}\n{CALL}\n{ASK}\n{NO}\n{FAILED}\n{END}\n{next}\n{}\n{WRITE}\n{}",
        CALL.replace("\"a\",\"title\"", "\"b\",\"title\""),
        DONE.replace("\"a\"", "\"b\""),
    ));
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn a_refused_call_that_is_completed_fails() {
    let it = turn(&[CALL, ASK, NO, DONE]);
    assert_eq!(failures(&it), ["INTEROP-17@8/params/update/status"]);
    let it = turn(&[CALL, ASK, NO, FAILED]);
    assert!(holds(&it, "INTEROP-17"));
}

#[test]
fn an_option_id_that_occurs_twice_fails() {
    let it = turn(&[CALL, &ASK.replace("\"e\"", "\"y\""), YES, DONE]);
    assert_eq!(failures(&it), ["PERM-01@6/params/options/1/optionId"]);
}

#[test]
fn an_option_of_an_unknown_kind_fails_once() {
    let it = turn(&[CALL, &ASK.replace("reject_once", "abort"), YES, DONE]);
    let failed: Vec<String> = failures(&it)
        .into_iter()
        .filter(|failure| !failure.starts_with("JSONRPC-11"))
        .collect();
    assert_eq!(failed, ["PERM-01@6/params/options/2/kind"]);
}

#[test]
fn options_without_a_choice_or_a_name_fail() {
    let none = ASK.replace(ASK.split("\"options\":").nth(1).unwrap(), "[]}}");
    let it = turn(&[CALL, &none, NEVER, FAILED]);
    assert_eq!(failures(&it), ["INTEROP-12@6/params/options"]);
    assert_eq!(notes(&it, "PERM-02"), 1);
    let it = turn(&[CALL, &ASK.replace("reject_once", "allow_once"), YES, DONE]);
    assert_eq!(failures(&it), ["INTEROP-12@6/params/options"]);
    let it = turn(&[
        CALL,
        &ASK.replace("allow_once", "reject_once")
            .replace("allow_always", "reject_always"),
        NO,
        FAILED,
    ]);
    assert_eq!(failures(&it), ["INTEROP-12@6/params/options"]);
    let it = turn(&[CALL, &ASK.replace("\"Yes\"", "\" \""), YES, DONE]);
    assert_eq!(failures(&it), ["INTEROP-12@6/params/options/0/name"]);
}

#[test]
fn a_request_for_a_call_that_is_never_announced_fails() {
    let it = turn(&[ASK, NO]);
    assert!(failures(&it).contains(&"INTEROP-11@5/params/toolCall/toolCallId".to_owned()));
    let shown = ASK.replace(
        "\"toolCallId\":\"a\"",
        "\"toolCallId\":\"a\",\"title\":\"t\",\"kind\":\"edit\"",
    );
    let it = turn(&[&shown, NO]);
    assert!(failures(&it).contains(&"INTEROP-11@5/params/toolCall/toolCallId".to_owned()));
}

#[test]
fn a_request_that_shows_its_call_may_come_first() {
    let shown = ASK.replace(
        "\"toolCallId\":\"a\"",
        "\"toolCallId\":\"a\",\"title\":\"t\",\"kind\":\"edit\"",
    );
    let it = turn(&[&shown, YES, CALL, DONE]);
    assert_eq!(failures(&it), [""; 0]);
    assert!(holds(&it, "INTEROP-11"));
    assert_eq!(notes(&it, "PERM-09"), 1);
}

#[test]
fn requests_outside_of_a_running_turn_are_noted() {
    let it = judged(&format!(
        "{OPENING}\n{PROMPT}\n{CALL}\n{DONE}\n{END}\n{ASK}\n{NEVER}"
    ));
    assert_eq!(failures(&it), [""; 0]);
    assert_eq!(notes(&it, "PERM-09"), 1);
}
