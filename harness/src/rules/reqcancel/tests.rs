//! Tests of `reqcancel`.

use super::super::Judgement;
use super::super::talking::{OPENING, failures, holds, is_inconclusive, judged, notes};

const PROMPT: &str = r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}"#;
const CANCEL: &str = r#"> {"method":"$/cancel_request","params":{"requestId":2}}"#;

fn after(lines: &[&str]) -> Judgement {
    judged(&format!("{OPENING}\n{}", lines.join("\n")))
}

fn faults(it: &Judgement) -> Vec<String> {
    let own = |id: &String| id.starts_with("REQCANCEL");
    failures(it).into_iter().filter(own).collect()
}

#[test]
fn a_result_and_the_code_for_cancelled_requests_hold() {
    for answer in [
        r#"< {"id":2,"result":{"stopReason":"cancelled"}}"#,
        r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#,
        r#"< {"id":2,"error":{"code":-32800,"message":"cancelled"}}"#,
    ] {
        let it = after(&[PROMPT, CANCEL, answer]);
        assert_eq!(faults(&it), [""; 0], "{answer}");
        assert!(holds(&it, "REQCANCEL-01"), "{answer}");
        assert_eq!(notes(&it, "REQCANCEL-02"), 1);
    }
}

#[test]
fn another_error_fails_where_it_speaks_of_the_cancel() {
    let error = |code: i64, message: &str| {
        format!(r#"< {{"id":2,"error":{{"code":{code},"message":"{message}"}}}}"#)
    };
    let it = after(&[PROMPT, CANCEL, &error(-32603, "Request was aborted")]);
    assert_eq!(faults(&it), ["REQCANCEL-01@6/error/code"]);
    let it = after(&[PROMPT, CANCEL, &error(-32603, "disk full")]);
    assert_eq!(faults(&it), [""; 0]);
    assert!(is_inconclusive(&it, "REQCANCEL-01"));
    assert_eq!(
        faults(&after(&[PROMPT, CANCEL, "unanswered 2"])),
        ["REQCANCEL-01@4"]
    );
}

#[test]
fn an_error_that_nobody_asked_for_is_noted() {
    let error = r#"< {"id":2,"error":{"code":-32603,"message":"timed out"}}"#;
    let it = after(&[PROMPT, error]);
    assert_eq!(faults(&it), [""; 0]);
    assert_eq!(notes(&it, "REQCANCEL-05"), 1);
}

#[test]
fn a_notification_gets_no_response() {
    let note = r#"> {"method":"$/unknown","params":{"requestId":"x"}}"#;
    let gone = r#"> {"method":"$/cancel_request","params":{"requestId":1}}"#;
    for lines in [
        [
            note,
            r#"< {"id":null,"error":{"code":-32601,"message":"no"}}"#,
        ],
        [
            note,
            r#"< {"id":"x","error":{"code":-32601,"message":"no"}}"#,
        ],
        [
            gone,
            r#"< {"id":1,"error":{"code":-32800,"message":"cancelled"}}"#,
        ],
    ] {
        assert_eq!(faults(&after(&lines)), ["REQCANCEL-03@5/id"], "{lines:?}");
    }
    let it = after(&[note, gone, "wait 1", ">x"]);
    assert_eq!(faults(&it), [""; 0]);
    assert!(holds(&it, "REQCANCEL-03"));
}

#[test]
fn an_agent_that_ends_at_such_a_notification_fails() {
    let note = r#"> {"method":"$/unknown","params":{}}"#;
    assert_eq!(faults(&after(&[note, "<x", "exit 1"])), ["REQCANCEL-03@5"]);
    assert_eq!(faults(&after(&[note, ">x", "<x", "exit 0"])), [""; 0]);
    // It may have ended over a request.
    assert_eq!(faults(&after(&[PROMPT, note, "<x", "exit 1"])), [""; 0]);
}

#[test]
fn an_agent_cancels_requests_of_its_own_only() {
    let ask =
        r#"< {"id":"q","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/a"}}"#;
    let answer = r#"> {"id":"q","result":{"content":""}}"#;
    let cancel =
        |id: &str| format!(r#"< {{"method":"$/cancel_request","params":{{"requestId":{id}}}}}"#);
    let it = after(&[ask, &cancel("\"q\""), answer]);
    assert!(holds(&it, "REQCANCEL-04"));
    let it = after(&[ask, answer, &cancel("\"q\"")]);
    assert_eq!(faults(&it), [""; 0]);
    assert_eq!(notes(&it, "REQCANCEL-04"), 1);
    assert_eq!(
        faults(&after(&[&cancel("\"z\"")])),
        ["REQCANCEL-04@4/params/requestId"]
    );
    assert_eq!(
        faults(&after(&[PROMPT, &cancel("2")])),
        ["REQCANCEL-04@5/params/requestId"]
    );
}

#[test]
fn races_are_counted() {
    let race = |id: u64, answer: &str| {
        format!(
            r#"> {{"id":{id},"method":"session/prompt","params":{{"sessionId":"s1","prompt":[]}}}}
            > {{"method":"$/cancel_request","params":{{"requestId":{id}}}}}
            < {{"id":{id},{answer}}}"#
        )
    };
    let it = super::super::talking::judged(&format!(
        "{}\n{}\n{}\n{}",
        super::super::talking::OPENING,
        race(2, r#""result":{"stopReason":"cancelled"}"#),
        race(3, r#""result":{"stopReason":"end_turn"}"#),
        race(4, r#""error":{"code":-32800,"message":"cancelled"}"#),
    ));
    let notes = &it.get("REQCANCEL-02").unwrap().notes;
    assert!(
        notes
            .iter()
            .any(|note| note.message.ends_with("the cancel won 2 of 3")),
        "{notes:?}"
    );
}
