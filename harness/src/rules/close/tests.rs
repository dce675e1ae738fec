//! Tests of `close`.

use super::super::Judgement;
use super::super::talking::{failures, holds, is_inconclusive, judged, notes};

const HELLO: &str = r#"
    > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true}}}
    < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true},"sessionCapabilities":{"close":{}}},"agentInfo":{"name":"a","version":"1"},"authMethods":[]}}
    > {"id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
    < {"id":1,"result":{"sessionId":"s1"}}
"#;
const PROMPT: &str = r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}"#;
const CLOSE: &str = r#"> {"id":3,"method":"session/close","params":{"sessionId":"s1"}}"#;
const CLOSED: &str = r#"< {"id":3,"result":{}}"#;
const CANCELLED: &str = r#"< {"id":2,"result":{"stopReason":"cancelled"}}"#;
const END: &str = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;

fn after(lines: &[&str]) -> Judgement {
    judged(&format!("{HELLO}\n{}", lines.join("\n")))
}

fn faults(it: &Judgement) -> Vec<String> {
    let own = |id: &String| id.starts_with("CLOSE") || id.starts_with("INTEROP-22");
    failures(it).into_iter().filter(own).collect()
}

#[test]
fn a_turn_whose_session_is_closed_ends_as_cancelled_in_either_order() {
    for order in [[CANCELLED, CLOSED], [CLOSED, CANCELLED]] {
        let it = after(&[PROMPT, CLOSE, order[0], order[1]]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(holds(&it, "CLOSE-02"));
    }
}

#[test]
fn another_end_fails_unless_it_was_under_way() {
    let it = after(&[PROMPT, CLOSE, "wait 1", END, CLOSED]);
    assert_eq!(faults(&it), ["CLOSE-02@6/result/stopReason"]);
    let error = r#"< {"id":2,"error":{"code":-32603,"message":"session closed"}}"#;
    assert_eq!(
        faults(&after(&[PROMPT, CLOSE, error, CLOSED])),
        ["CLOSE-02@6/error"]
    );
    // Whatever it says, it comes after the close, or much later, or the model gave no cause for it.
    let error = r#"< {"id":2,"error":{"code":-32603,"message":"Internal error"}}"#;
    for (lines, place) in [
        ([PROMPT, CLOSE, CLOSED, error], "CLOSE-02@7/error"),
        ([PROMPT, CLOSE, "wait 1", error], "CLOSE-02@6/error"),
        (["model 200", PROMPT, CLOSE, error], "CLOSE-02@7/error"),
    ] {
        let mut lines = lines.to_vec();
        if !lines.contains(&CLOSED) {
            lines.push(CLOSED);
        }
        assert_eq!(faults(&after(&lines)), [place], "{lines:?}");
    }
    for lines in [
        vec![PROMPT, CLOSE, error, CLOSED],
        vec![PROMPT, "model 500", CLOSE, error, CLOSED],
    ] {
        let it = after(&lines);
        assert_eq!(faults(&it), [""; 0], "{lines:?}");
        assert!(is_inconclusive(&it, "CLOSE-02"), "{lines:?}");
    }
    let it = after(&[PROMPT, CLOSE, END, CLOSED]);
    assert_eq!(faults(&it), [""; 0]);
    assert!(is_inconclusive(&it, "CLOSE-02"));
    let it = after(&[PROMPT, CLOSE, CLOSED, "wait 5", "unanswered 2"]);
    assert_eq!(faults(&it), ["CLOSE-02@7"]);
}

#[test]
fn a_close_that_was_refused_or_came_with_a_cancel_proves_nothing() {
    let refused = r#"< {"id":3,"error":{"code":-32603,"message":"busy"}}"#;

    let it = after(&[PROMPT, CLOSE, refused, "wait 1", END]);
    assert_eq!(faults(&it), [""; 0]);
    let cancel = r#"> {"method":"session/cancel","params":{"sessionId":"s1"}}"#;
    let error = r#"< {"id":2,"error":{"code":-32603,"message":"x"}}"#;
    assert_eq!(
        faults(&after(&[PROMPT, cancel, CLOSE, error, CLOSED])),
        [""; 0]
    );
    assert_eq!(
        faults(&after(&[PROMPT, CLOSE, cancel, error, CLOSED])),
        [""; 0]
    );
}

#[test]
fn a_terminal_of_a_closed_session_is_released() {
    let terminal = r#"
        < {"id":7,"method":"terminal/create","params":{"sessionId":"s1","command":"sleep"}}
        > {"id":7,"result":{"terminalId":"t1"}}"#;
    let release = r#"
        < {"id":8,"method":"terminal/release","params":{"sessionId":"s1","terminalId":"t1"}}
        > {"id":8,"result":{}}"#;
    let later = r#"> {"id":9,"method":"session/list","params":{}}"#;
    let it = after(&[
        PROMPT, terminal, CLOSE, CANCELLED, CLOSED, release, "wait 2", later,
    ]);
    assert_eq!(faults(&it), [""; 0]);
    assert!(holds(&it, "CLOSE-03"));
    let it = after(&[PROMPT, terminal, CLOSE, CANCELLED, CLOSED, "wait 2", later]);
    assert_eq!(faults(&it), ["CLOSE-03@5"]);
    let it = after(&[PROMPT, terminal, CLOSE, CANCELLED, CLOSED]);
    assert_eq!(faults(&it), [""; 0]);
    assert!(is_inconclusive(&it, "CLOSE-03"));
}

#[test]
fn a_closed_session_takes_no_prompt_until_it_comes_back() {
    let prompt = PROMPT.replace(":2,", ":5,");
    let (end, error) = (
        r#"< {"id":5,"result":{"stopReason":"end_turn"}}"#,
        r#"< {"id":5,"error":{"code":-32002,"message":"closed"}}"#,
    );
    assert!(holds(
        &after(&[CLOSE, CLOSED, &prompt, error]),
        "INTEROP-22"
    ));
    assert_eq!(
        faults(&after(&[CLOSE, CLOSED, &prompt, end])),
        ["INTEROP-22@7/result"]
    );
    let load = r#"
        > {"id":4,"method":"session/load","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}
        < {"id":4,"result":{}}"#;
    assert_eq!(
        faults(&after(&[CLOSE, CLOSED, load, &prompt, end])),
        [""; 0]
    );
}

#[test]
fn what_still_comes_for_a_closed_session_is_noted_once() {
    let update = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"usage_update","used":1,"size":2}}}"#;
    let it = after(&[CLOSE, CLOSED, update, update]);
    assert_eq!(faults(&it), [""; 0]);
    assert_eq!(notes(&it, "CLOSE-05"), 1);
}

#[test]
fn an_idle_session_can_be_closed() {
    assert!(holds(&after(&[CLOSE, CLOSED]), "CLOSE-01"));
    let answered = |answer: &str| faults(&after(&[CLOSE, &format!("< {{\"id\":3,{answer}}}")]));
    assert_eq!(
        answered(r#""error":{"code":-32603,"message":"x"}"#),
        ["CLOSE-01@5/error"]
    );
    assert_eq!(answered(r#""result":1"#), ["CLOSE-01@5/result"]);
    assert_eq!(answered(r#""result":null"#), [""; 0]);
    assert_eq!(
        answered(r#""error":{"code":-32000,"message":"log in"}"#),
        [""; 0]
    );
    // A session that is not open, a second close, and a turn that is under way.
    let unknown = CLOSE.replace("s1", "s2");
    let refused = r#"< {"id":3,"error":{"code":-32603,"message":"x"}}"#;
    assert_eq!(faults(&after(&[&unknown, refused])), [""; 0]);
    assert_eq!(faults(&after(&[PROMPT, CLOSE, refused, END])), [""; 0]);
    let second = CLOSE.replace(":3,", ":4,");
    let refused = refused.replace(":3,", ":4,");
    assert_eq!(faults(&after(&[CLOSE, &second, CLOSED, &refused])), [""; 0]);
    assert_eq!(faults(&after(&[CLOSE, CLOSED, &second, &refused])), [""; 0]);
}
