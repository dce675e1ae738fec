//! Tests of `prompt`.

use super::super::Judgement;
use super::super::talking::{
    OPENING, failures, holds, is_inconclusive, judged, judged_late, judged_stored, notes,
};

const PROMPT: &str = r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}"#;
const NEXT: &str = r#"> {"id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"again"}]}}"#;
const CHUNK: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}"#;
const CALL: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"look"}}}"#;
const DONE: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}}}"#;
const MODE: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","title":"t"}}}"#;
const END: &str = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;
const CANCELLED: &str = r#"< {"id":2,"result":{"stopReason":"cancelled"}}"#;
const ERROR: &str = r#"< {"id":2,"error":{"code":-32603,"message":"boom"}}"#;

/// A conversation whose event 4 is the prompt.
fn turn(lines: &[&str]) -> Judgement {
    judged(&format!("{OPENING}\n{PROMPT}\n{}", lines.join("\n")))
}

#[test]
fn a_turn_with_a_reply_holds() {
    let it = turn(&[CHUNK, CALL, DONE, END, NEXT]);
    assert_eq!(failures(&it), [""; 0]);
    for id in ["01", "02", "04", "05", "06", "07"] {
        assert!(holds(&it, &format!("PROMPT-{id}")), "{id}");
    }
    assert!(holds(&it, "INTEROP-02"));
}

#[test]
fn an_error_fails() {
    assert_eq!(failures(&turn(&[ERROR])), ["PROMPT-01@5/error"]);
}

#[test]
fn an_error_with_a_cause_outside_of_the_agent_proves_nothing() {
    for lines in [
        vec!["model 500", ERROR],
        vec![">x", ERROR],
        vec![r#"< {"id":2,"error":{"code":-32000,"message":"no"}}"#],
        vec![r#"< {"id":2,"error":{"code":-32603,"message":"Invalid API key"}}"#],
    ] {
        let it = turn(&lines);
        assert_eq!(failures(&it), [""; 0]);
        assert!(is_inconclusive(&it, "PROMPT-01"), "{lines:?}");
    }
    let it = judged_late(&format!("{PROMPT}\n{ERROR}"));
    assert!(is_inconclusive(&it, "PROMPT-01"));
}

#[test]
fn a_recording_without_the_model_does_not_tell_why_a_turn_failed_or_was_silent() {
    for (end, id) in [(ERROR, "PROMPT-01"), (END, "PROMPT-05")] {
        let it = judged_stored(&format!("{OPENING}\n{PROMPT}\n{end}"));
        assert_eq!(failures(&it), [""; 0]);
        assert!(is_inconclusive(&it, id), "{id}");
    }
    let it = judged_stored(&format!("{OPENING}\n{PROMPT}\nmodel 200\n{ERROR}"));
    assert_eq!(failures(&it), ["PROMPT-01@6/error"]);
}

#[test]
fn an_error_on_a_probe_or_on_other_blocks_is_not_judged() {
    let probe = PROMPT.replacen('>', ">?", 1);
    assert!(
        judged(&format!("{OPENING}\n{probe}\n{ERROR}"))
            .get("PROMPT-01")
            .is_none()
    );
    let link = PROMPT.replace(
        r#""type":"text","text":"hello""#,
        r#""type":"resource_link","uri":"file:///a","name":"a""#,
    );
    assert!(
        judged(&format!("{OPENING}\n{link}\n{ERROR}"))
            .get("PROMPT-01")
            .is_none()
    );
    let blank = PROMPT.replace("hello", " ");
    assert!(
        judged(&format!("{OPENING}\n{blank}\n{ERROR}"))
            .get("PROMPT-01")
            .is_none()
    );
}

#[test]
fn an_error_on_a_second_prompt_at_once_is_not_judged() {
    let refused = ERROR.replace("\"id\":2", "\"id\":3");
    let it = turn(&[NEXT, &refused, CHUNK, END]);
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn a_prompt_that_is_never_answered_fails() {
    assert!(failures(&turn(&["unanswered 2"])).contains(&"PROMPT-01@4".to_owned()));
    let ask = r#"< {"id":9,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/a"}}"#;
    assert!(is_inconclusive(&turn(&[ask, "unanswered 2"]), "PROMPT-01"));
    assert!(is_inconclusive(
        &turn(&["exit 1", "<x", "unanswered 2"]),
        "PROMPT-01"
    ));
}

#[test]
fn an_unknown_or_missing_stop_reason_fails() {
    let it = turn(&[CHUNK, r#"< {"id":2,"result":{"stopReason":"done"}}"#]);
    assert!(failures(&it).contains(&"PROMPT-02@6/result/stopReason".to_owned()));
    let it = turn(&[CHUNK, r#"< {"id":2,"result":{}}"#]);
    assert!(failures(&it).contains(&"PROMPT-02@6/result".to_owned()));
    assert!(it.get("PROMPT-01").is_none());
}

#[test]
fn an_update_for_a_session_of_nobody_fails_during_a_turn() {
    let foreign = CHUNK.replace("s1", "s9");
    let it = turn(&[CHUNK, &foreign, END]);
    assert!(failures(&it).contains(&"PROMPT-04@6/params/sessionId".to_owned()));
    let opens = r#"> {"id":8,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}"#;
    let it = turn(&[CHUNK, opens, &foreign, END]);
    assert!(holds(&it, "PROMPT-04"));
    let it = judged_late(&format!("{PROMPT}\n{foreign}\n{CHUNK}\n{END}"));
    assert!(is_inconclusive(&it, "PROMPT-04"));
}

#[test]
fn a_turn_without_output_fails() {
    assert_eq!(failures(&turn(&[END])), ["PROMPT-05@5/result/stopReason"]);
    assert!(is_inconclusive(&turn(&["model 500", END]), "PROMPT-05"));
    let command = PROMPT.replace("hello", "/clear");
    let it = judged(&format!("{OPENING}\n{command}\n{END}"));
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn a_call_that_is_left_open_at_end_turn_fails() {
    let it = turn(&[CALL, END]);
    assert_eq!(failures(&it), ["PROMPT-06@6/result/stopReason"]);
    let it = turn(&[CALL, r#"< {"id":2,"result":{"stopReason":"max_tokens"}}"#]);
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn cancelled_without_a_cancel_fails() {
    assert_eq!(
        failures(&turn(&[CANCELLED])),
        ["PROMPT-07@5/result/stopReason"]
    );
}

#[test]
fn cancelled_by_any_way_of_the_client_holds() {
    for cancel in [
        r#"> {"method":"session/cancel","params":{"sessionId":"s1"}}"#,
        r#"> {"method":"$/cancel_request","params":{"requestId":2}}"#,
        r#"> {"id":5,"method":"session/close","params":{"sessionId":"s1"}}"#,
    ] {
        let it = turn(&[cancel, CANCELLED]);
        assert!(holds(&it, "PROMPT-07"), "{cancel}");
    }
    let ask = r#"< {"id":7,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}
            > {"id":7,"result":{"outcome":{"outcome":"cancelled"}}}"#;
    assert!(holds(&turn(&[CALL, ask, CANCELLED]), "PROMPT-07"));
    assert_eq!(failures(&turn(&["! 15", CANCELLED])), [""; 0]);
}

#[test]
fn content_between_turns_fails_once_and_states_never() {
    let it = turn(&[CHUNK, END, MODE, CHUNK, CHUNK, NEXT]);
    assert_eq!(failures(&it), ["INTEROP-02@8/params/update"]);
    assert_eq!((notes(&it, "INTEROP-02"), notes(&it, "PROMPT-09")), (1, 1));
}

#[test]
fn content_that_a_load_or_a_custom_call_brings_is_not_late() {
    for call in [
        r#"> {"id":8,"method":"session/load","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}"#,
        r#"> {"id":8,"method":"_vendor/rewind","params":{"sessionId":"s1"}}"#,
        r#"> {"method":"_vendor/steer","params":{"sessionId":"s1"}}"#,
    ] {
        let it = turn(&[CHUNK, END, call, CHUNK]);
        assert!(holds(&it, "INTEROP-02"), "{call}");
    }
}

#[test]
fn content_of_a_turn_that_began_before_the_recording_is_not_late() {
    let cancel = r#"> {"method":"session/cancel","params":{"sessionId":"s1"}}"#;
    let it = judged_late(&format!("{cancel}\n{CHUNK}"));
    assert_eq!(failures(&it), [""; 0]);
    assert_eq!(notes(&it, "PROMPT-09"), 0);
}

#[test]
fn content_before_any_turn_is_noted() {
    let it = judged(&format!("{OPENING}\n{CHUNK}\n{CHUNK}"));
    assert_eq!(failures(&it), [""; 0]);
    assert_eq!(notes(&it, "PROMPT-09"), 1);
}

#[test]
fn unusual_ends_and_the_prompt_after_them_are_noted() {
    let refusal = r#"< {"id":2,"result":{"stopReason":"refusal"}}"#;
    let end = END.replace("\"id\":2", "\"id\":3");
    let it = turn(&[CHUNK, refusal, NEXT, CHUNK, &end]);
    assert_eq!(failures(&it), [""; 0]);
    assert_eq!(notes(&it, "PROMPT-13"), 2);
}
