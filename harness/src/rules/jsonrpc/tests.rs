//! Tests of `jsonrpc`.

use super::super::Judgement;
use super::super::talking::{OPENING, failed, judged};
use super::*;

fn after_opening(lines: &str) -> Judgement {
    judged(&format!("{OPENING}\n{lines}"))
}

fn failures(lines: &str) -> Vec<(&'static str, u64, String)> {
    failed(&after_opening(lines))
}

fn one(id: &'static str, event: u64, path: &str) -> Vec<(&'static str, u64, String)> {
    vec![(id, event, path.to_owned())]
}

#[test]
fn a_plain_conversation_passes() {
    let judgement = after_opening(
        r#"
            > {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}
            < {"id":"a","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/project/a"}}
            > {"id":"a","result":{"content":""}}
            > {"method":"session/cancel","params":{"sessionId":"s1"}}
            < {"id":2,"result":{"stopReason":"cancelled"}}
            > {"id":3,"method":"nothing/like/it"}
            < {"id":3,"error":{"code":-32601,"message":"method not found"}}
            "#,
    );
    assert_eq!(failed(&judgement), []);
    for id in [
        VERSION,
        OUTCOME,
        KNOWN_ID,
        ANSWERED_ONCE,
        NOTIFICATION,
        ERROR,
        LEGAL_ID,
        PLAIN_ID,
        METHOD_KIND,
        OPEN_IDS,
    ] {
        assert!(judgement.get(id).unwrap().passes > 0, "{id}");
    }
}

#[test]
fn another_or_no_version_of_json_rpc_fails() {
    assert_eq!(
        failures(r#"< {"jsonrpc":"1.0","method":"_x/y"}"#)
            .into_iter()
            .filter(|(id, ..)| *id == VERSION)
            .collect::<Vec<_>>(),
        one(VERSION, 4, "/jsonrpc")
    );
    let raw = crate::trace::Event::new(
        0.0,
        Party::Agent,
        Body::of_line(
            br#"{"method":"$/cancel_request","params":{"requestId":1}}"#.to_vec(),
            false,
        ),
    );
    let judgement = super::super::judge_all(true, [&raw]);
    assert_eq!(failed(&judgement), one(VERSION, 0, ""));
}

#[test]
fn a_response_with_both_or_neither_outcome_fails_once() {
    assert_eq!(
        failures(
            r#"> {"id":2,"method":"session/list"}
                   < {"id":2,"result":{"sessions":[]},"error":{"code":-32603,"message":"no"}}"#
        ),
        one(OUTCOME, 5, "")
    );
    assert_eq!(
        failures(
            r#"> {"id":2,"method":"session/list"}
                   < {"id":2}"#
        ),
        one(OUTCOME, 5, "")
    );
}

#[test]
fn an_id_of_another_type_is_no_id_of_the_client() {
    let judgement = after_opening(
        r#"> {"id":2,"method":"session/list"}
               < {"id":"2","result":{"sessions":[]}}"#,
    );
    assert_eq!(failed(&judgement), one(KNOWN_ID, 5, "/id"));
    let message = &judgement.get(KNOWN_ID).unwrap().findings[0].message;
    assert!(
        message.contains("a number and a string are two ids"),
        "{message}"
    );
}

#[test]
fn an_unknown_id_in_a_late_recording_proves_nothing() {
    let events = super::super::talking::events(r#"< {"id":7,"result":{}}"#);
    let judgement = super::super::judge_all(false, &events);
    assert_eq!(failed(&judgement), []);
    assert_eq!(judgement.get(KNOWN_ID).unwrap().inconclusive.len(), 1);
}

#[test]
fn malformed_input_excuses_one_null_id_each() {
    let error = r#"< {"id":null,"error":{"code":-32700,"message":"parse error"}}"#;
    assert_eq!(failures(&format!(">? {{nonsense\n{error}")), []);
    assert_eq!(
        failures(&format!(">? {{nonsense\n{error}\n{error}")),
        one(KNOWN_ID, 6, "/id")
    );
    assert_eq!(
        failures(&format!(
            ">? {{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"session/list\"}}\n{error}"
        )),
        []
    );
    assert_eq!(
        failures(
            ">? {\"id\":9,\"method\":5}\n< {\"id\":9,\"error\":{\"code\":-32600,\"message\":\"no\"}}"
        ),
        []
    );
}

#[test]
fn a_null_id_after_well_formed_messages_fails() {
    let error = r#"< {"id":null,"error":{"code":-32600,"message":"no"}}"#;
    assert_eq!(failures(error), one(KNOWN_ID, 4, "/id"));
    assert_eq!(
        failures(&format!("> {{\"method\":\"_x/ping\"}}\n{error}")),
        one(NOTIFICATION, 5, "/id")
    );
}

#[test]
fn a_request_with_a_null_id_may_be_answered_with_it() {
    assert_eq!(
        failures(
            r#">? {"id":null,"method":"session/list"}
                   < {"id":null,"error":{"code":-32601,"message":"no"}}"#
        ),
        []
    );
}

#[test]
fn a_second_answer_fails_once() {
    assert_eq!(
        failures(r#"< {"id":1,"result":{"sessionId":"s1"}}"#),
        one(ANSWERED_ONCE, 4, "/id")
    );
}

#[test]
fn an_id_used_twice_may_be_answered_twice() {
    assert_eq!(
        failures(
            r#"> {"id":1,"method":"_x"}
                   < {"id":1,"error":{"code":-32601,"message":"no"}}"#
        ),
        []
    );
}

#[test]
fn giving_up_on_an_answer_fails_at_the_request() {
    assert_eq!(
        failures("> {\"id\":2,\"method\":\"session/list\"}\nunanswered 2"),
        one(ANSWERED_ONCE, 4, "")
    );
}

#[test]
fn an_answer_that_could_not_come_is_inconclusive() {
    for lines in [
        // The client went away.
        "> {\"id\":2,\"method\":\"session/list\"}\n>x\nunanswered 2",
        // The client did not answer first.
        "> {\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s1\",\"prompt\":[]}}\n< {\"id\":1,\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"s1\",\"path\":\"/project/a\"}}\nunanswered 2",
        // The recording ended.
        "> {\"id\":2,\"method\":\"session/list\"}",
        // A stop from outside.
        "> {\"id\":2,\"method\":\"session/list\"}\n<x\nexit 143",
    ] {
        let judgement = after_opening(lines);
        assert_eq!(failed(&judgement), [], "{lines}");
        assert_eq!(judgement.get(ANSWERED_ONCE).unwrap().inconclusive.len(), 1);
    }
}

#[test]
fn malformed_requests_need_no_answer() {
    assert_eq!(
        failures(">? {\"jsonrpc\":\"1.0\",\"id\":2,\"method\":\"session/list\"}\nunanswered 2"),
        []
    );
}

#[test]
fn an_agent_that_dies_leaves_its_requests_unanswered() {
    assert_eq!(
        failures("> {\"id\":2,\"method\":\"session/list\"}\n<x\nexit 1"),
        one(ANSWERED_ONCE, 4, "")
    );
    assert_eq!(
        failures("> {\"id\":2,\"method\":\"session/list\"}\n>x\n<x\nexit 0"),
        []
    );
    assert_eq!(
        failures("<x\n> {\"id\":2,\"method\":\"session/list\"}\nexit 0"),
        []
    );
}

#[test]
fn an_answer_on_a_line_with_two_messages_is_not_missing_as_well() {
    let lines = "> {\"id\":2,\"method\":\"session/list\"}\n< {\"id\":2,\"result\":{\"sessions\":[]}}{\"jsonrpc\":\"2.0\",\"method\":\"_x\"}\nunanswered 2";
    assert_eq!(failures(lines), one("TRANSPORT-03", 5, ""));
}

#[test]
fn an_error_needs_an_integer_and_a_string() {
    for (error, path) in [
        (r#""no""#, "/error"),
        ("null", "/error"),
        (r#"{"message":"no"}"#, "/error"),
        (r#"{"code":-32603}"#, "/error"),
        (r#"{"code":"-32603","message":"no"}"#, "/error/code"),
        (r#"{"code":1.5,"message":"no"}"#, "/error/code"),
        (r#"{"code":-32603,"message":null}"#, "/error/message"),
    ] {
        let lines =
            format!("> {{\"id\":2,\"method\":\"session/list\"}}\n< {{\"id\":2,\"error\":{error}}}");
        assert_eq!(failures(&lines), one(ERROR, 5, path), "{error}");
    }
}

#[test]
fn ids_of_requests_are_strings_integers_or_null() {
    let ids = |id: &str| -> Vec<&'static str> {
        failures(&format!(
                "< {{\"id\":{id},\"method\":\"fs/read_text_file\",\"params\":{{\"sessionId\":\"s1\",\"path\":\"/project/a\"}}}}"
            ))
            .into_iter()
            .map(|(id, ..)| id)
            .collect()
    };
    assert_eq!(ids("true"), [LEGAL_ID]);
    assert_eq!(ids("[1]"), [LEGAL_ID]);
    assert_eq!(ids("1.5"), [LEGAL_ID, PLAIN_ID]);
    assert_eq!(ids("null"), [PLAIN_ID]);
    assert!(ids("0").is_empty() && ids("\"\"").is_empty() && ids("-1").is_empty());
}

#[test]
fn an_id_may_be_used_again_once_it_was_answered() {
    let call = r#"< {"id":1,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/project/a"}}"#;
    let answer = r#"> {"id":1,"result":{"content":""}}"#;
    assert_eq!(failures(&format!("{call}\n{answer}\n{call}")), []);
    let judgement = after_opening(&format!("{call}\n{call}"));
    assert_eq!(failed(&judgement), one(OPEN_IDS, 5, "/id"));
    assert_eq!(judgement.get(UNIQUE_ID).unwrap().notes.len(), 1);
}

#[test]
fn notifications_have_no_id_and_requests_have_one() {
    assert_eq!(
        failures(
            r#"< {"id":5,"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan","entries":[]}}}"#
        ),
        one(METHOD_KIND, 4, "")
    );
    assert_eq!(
        failures(
            r#"< {"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/project/a"}}"#
        ),
        one(METHOD_KIND, 4, "")
    );
}

#[test]
fn an_agent_that_ends_at_input_that_is_no_message_breaks_no_must() {
    let lines = r#"
            >? 42
            > {"id":5,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
            unanswered 5
        "#;
    assert_eq!(failures(lines), []);
    let lines = r#"
            >? {not json
            > {"id":5,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
            <x
            exit 1
        "#;
    assert_eq!(failures(lines), []);
}

#[test]
fn an_id_beyond_what_a_double_holds_may_come_back_rounded() {
    let lines = r#"
            >? {"id":9007199254740993,"method":"x"}
            < {"id":9007199254740992,"error":{"code":-32601,"message":"no"}}
        "#;
    assert_eq!(failures(lines), []);
    let lines = r#"
            >? {"id":9007199254740993,"method":"x"}
            < {"id":9007199254740994,"error":{"code":-32601,"message":"no"}}
        "#;
    assert_eq!(failures(lines).len(), 1);
}

#[test]
fn an_answer_under_an_id_of_another_type_is_one_failure() {
    let lines = r#"
        > {"id":5,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
        < {"id":"5","result":{"sessionId":"s2"}}
        unanswered 5
    "#;
    assert_eq!(failures(lines), one(KNOWN_ID, 5, "/id"));
}

#[test]
fn what_an_unreadable_line_may_have_held_is_not_missed_as_well() {
    let lines = r#"
        > {"id":5,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]}}
        < {"method":"session/update",
        < "params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}
        < {"id":5,"result":{"stopReason":"end_turn"}}
    "#;
    let ids: Vec<&str> = failures(lines).iter().map(|failure| failure.0).collect();
    assert_eq!(ids, ["TRANSPORT-03"]);
}

#[test]
fn a_result_beside_an_error_still_opens_the_session() {
    let lines = r#"
        > {"id":5,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
        < {"id":5,"result":{"sessionId":"s2"},"error":{"code":-32603,"message":"no"}}
        > {"id":6,"method":"session/prompt","params":{"sessionId":"s2","prompt":[{"type":"text","text":"hi"}]}}
        < {"method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}
        < {"id":6,"result":{"stopReason":"end_turn"}}
    "#;
    let ids: Vec<&str> = failures(lines).iter().map(|failure| failure.0).collect();
    assert_eq!(ids, [OUTCOME]);
}

#[test]
fn an_agent_that_closes_its_stdout_and_lives_on_owes_the_answer() {
    let lines = r#"
        > {"id":5,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]}}
        <x
        unanswered 5
    "#;
    let ids: Vec<&str> = failures(lines).iter().map(|failure| failure.0).collect();
    assert!(ids.contains(&ANSWERED_ONCE), "{ids:?}");
}
