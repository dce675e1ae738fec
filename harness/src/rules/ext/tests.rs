//! Tests of `ext`.

use super::super::Judgement;
use super::super::talking::{OPENING, failed, judged};
use super::*;

fn after_opening(lines: &str) -> Judgement {
    judged(&format!("{OPENING}\n{lines}"))
}

fn update(body: &str) -> Judgement {
    after_opening(&format!(
        r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{body}}}}}"#
    ))
}

fn of_area(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
    failed(judgement)
        .into_iter()
        .filter(|(id, ..)| id.starts_with("EXT"))
        .collect()
}

fn chunk(meta: &str) -> String {
    format!(
        r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"a","_meta":{meta}}}}}"#
    )
}

#[test]
fn own_data_in_meta_passes() {
    let judgement = update(&chunk(r#"{"own":{"_meta":5}}"#));
    assert!(failed(&judgement).is_empty());
    assert_eq!(judgement.get(META).unwrap().passes, 1);
    assert!(judgement.get(MEMBERS).unwrap().passes > 0);
    assert_eq!(judgement.get(METHODS).unwrap().passes, 1);
    assert!(of_area(&update(&chunk("null"))).is_empty());
}

#[test]
fn a_meta_that_is_no_object_fails() {
    for meta in ["5", "[]", "\"x\""] {
        assert_eq!(
            of_area(&update(&chunk(meta))),
            [(META, 4, "/params/update/content/_meta".to_owned())]
        );
    }
}

#[test]
fn what_a_tool_calls_meta_is_its_own_matter() {
    let judgement = update(
        r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","rawInput":{"_meta":5,"own":1},"rawOutput":{"_meta":"x"}}"#,
    );
    assert!(failed(&judgement).is_empty());
    let own = after_opening(r#"< {"method":"_own/note","params":{"_meta":5}}"#);
    assert!(of_area(&own).iter().all(|(id, ..)| *id == ADVERTISED));
}

#[test]
fn own_members_in_types_of_the_protocol_fail() {
    assert_eq!(
        failed(&update(
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","toolName":"ls"}"#
        )),
        [(MEMBERS, 4, "/params/update/toolName".to_owned())]
    );
    let result = after_opening(
        r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}
               < {"id":2,"result":{"stopReason":"end_turn","cost":5}}"#,
    );
    assert_eq!(failed(&result), [(MEMBERS, 5, "/result/cost".to_owned())]);
}

#[test]
fn a_form_that_was_clean_before_does_not_hide_another() {
    let call = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","content":[{"type":"content","content":{"type":"text","text":"a"}}]}}}"#;
    let own = call.replace(r#""text":"a""#, r#""text":"a","own":1"#);
    let judgement = after_opening(&format!("{call}\n{call}\n{own}\n{own}"));
    let of = |event| {
        (
            MEMBERS,
            event,
            "/params/update/content/0/content/own".to_owned(),
        )
    };
    assert_eq!(of_area(&judgement), [of(6), of(7)]);
}

#[test]
fn members_known_from_later_are_noted() {
    let judgement = after_opening(
        r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}
               < {"id":2,"result":{"stopReason":"end_turn","usage":{"totalTokens":5}}}"#,
    );
    assert!(failed(&judgement).is_empty());
    assert_eq!(judgement.get(MEMBERS).unwrap().notes.len(), 1);
}

#[test]
fn a_member_under_a_wrong_name_is_one_fault() {
    let judgement = update(r#"{"sessionUpdate":"current_mode_update","modeId":"ask"}"#);
    assert!(of_area(&judgement).is_empty());
}

#[test]
fn methods_are_of_the_client_or_begin_with_an_underscore() {
    let call = |method: &str| {
        of_area(&after_opening(&format!(
            "< {{\"id\":9,\"method\":\"{method}\",\"params\":{{}}}}"
        )))
    };
    let place = [(METHODS, 4, "/method".to_owned())];
    for method in ["myagent/ask", "session/prompt", "mcp/connect", "auth/login"] {
        assert_eq!(call(method), place, "{method}");
    }
    let cancel = after_opening(r#"< {"method":"$/cancel_request","params":{"requestId":1}}"#);
    assert!(of_area(&cancel).is_empty());
}

#[test]
fn a_draft_that_the_client_takes_part_in_is_noted() {
    let judgement = after_opening(
        r#"
            > {"id":2,"method":"session/new","params":{"cwd":"/project","mcpServers":[{"type":"acp","name":"x","id":"1"}]}}
            < {"id":2,"result":{"sessionId":"s2"}}
            < {"id":9,"method":"mcp/connect","params":{}}
            "#,
    );
    assert!(of_area(&judgement).is_empty());
    assert_eq!(judgement.get(METHODS).unwrap().notes.len(), 1);
}

#[test]
fn own_methods_are_advertised() {
    let run = |capabilities: &str| {
        judged(&format!(
            r#"
                > {{"id":0,"method":"initialize","params":{{"protocolVersion":1}}}}
                < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{capabilities},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
                < {{"method":"_own/note"}}
                "#
        ))
    };
    assert_eq!(
        failed(&run(r#"{"mcpCapabilities":{"http":true}}"#)),
        [(ADVERTISED, 2, "/method".to_owned())]
    );
    for capabilities in [
        r#"{"mcpCapabilities":{"http":true},"_meta":{"own":{}}}"#,
        r#"{"mcpCapabilities":{"http":true,"_meta":{"own":true}}}"#,
    ] {
        let judgement = run(capabilities);
        assert!(failed(&judgement).is_empty());
        assert_eq!(judgement.get(ADVERTISED).unwrap().passes, 1);
    }
}

#[test]
fn trace_context_has_its_form() {
    let sound = r#"{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"congo=t61rcWkgMzE,rojo@x=1","baggage":"userId=alice,serverNode=DF%2028;prop=1;flag"}"#;
    let judgement = update(&chunk(sound));
    assert!(failed(&judgement).is_empty());
    assert_eq!(judgement.get(TRACE).unwrap().passes, 3);
    for (name, value) in [
        (
            "traceparent",
            "\"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01\"",
        ),
        (
            "traceparent",
            "\"00-00000000000000000000000000000000-b7ad6b7169203331-01\"",
        ),
        ("traceparent", "\"abc\""),
        ("traceparent", "5"),
        ("tracestate", "\"no pair\""),
        ("baggage", "\"a b=c\""),
    ] {
        assert_eq!(
            of_area(&update(&chunk(&format!("{{\"{name}\":{value}}}")))),
            [(TRACE, 4, format!("/params/update/content/_meta/{name}"))],
            "{value}"
        );
    }
}
