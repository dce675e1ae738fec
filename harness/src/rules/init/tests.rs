//! Tests of `init`.

use super::super::Judgement;
use super::super::talking::{OPENING, failed, judged};
use super::*;

const REQUEST: &str = r#"> {"id":0,"method":"initialize","params":{"protocolVersion":1}}"#;

fn answered(result: &str) -> Judgement {
    judged(&format!("{REQUEST}\n< {{\"id\":0,\"result\":{result}}}"))
}

fn ids(judgement: &Judgement) -> Vec<&'static str> {
    failed(judgement).into_iter().map(|(id, ..)| id).collect()
}

#[test]
fn a_handshake_as_it_should_be_passes() {
    let judgement = judged(OPENING);
    assert!(failed(&judgement).is_empty());
    for id in [
        ANSWERED,
        SAME_VERSION,
        AGENT_INFO,
        SPELLED_OUT,
        TYPES,
        LEFT_OUT,
    ] {
        assert_eq!(judgement.get(id).unwrap().passes, 1, "{id}");
    }
}

#[test]
fn an_error_silence_or_a_death_is_no_handshake() {
    assert_eq!(
        failed(&judged(&format!(
            "{REQUEST}\n< {{\"id\":0,\"error\":{{\"code\":-32603,\"message\":\"no\"}}}}"
        ))),
        [(ANSWERED, 1, "/error".to_owned())]
    );
    for end in ["unanswered 0", "<x\nexit 1"] {
        let judgement = judged(&format!("{REQUEST}\n{end}"));
        assert_eq!(ids(&judgement), [ANSWERED, "JSONRPC-04"], "{end}");
    }
}

#[test]
fn an_end_by_others_leaves_the_handshake_open() {
    for end in ["", ">x\n<x\nexit 0", "! 15\n<x\nexit 143"] {
        let judgement = judged(&format!("{REQUEST}\n{end}"));
        assert!(ids(&judgement).is_empty(), "{end}");
        assert_eq!(judgement.get(ANSWERED).unwrap().inconclusive.len(), 1);
    }
}

#[test]
fn a_probe_a_second_one_and_another_version_are_not_held_against_the_agent() {
    let error = r#"< {"id":0,"error":{"code":-32602,"message":"no"}}"#;
    for request in [
        r#">? {"id":0,"method":"initialize","params":{"protocolVersion":1}}"#,
        r#"> {"id":0,"method":"initialize","params":{"protocolVersion":2}}"#,
        r#"> {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":5}}"#,
    ] {
        assert!(ids(&judged(&format!("{request}\n{error}"))).is_empty());
    }
    assert!(ids(&judged(&format!("{OPENING}\n{REQUEST}\n{error}"))).is_empty());
}

#[test]
fn another_version_means_that_one_is_not_supported() {
    let judgement = answered(r#"{"protocolVersion":2,"info":{}}"#);
    assert!(ids(&judgement).is_empty());
    assert_eq!(judgement.get(SAME_VERSION).unwrap().not_applicable.len(), 1);
}

#[test]
fn another_version_beside_one_fails() {
    let judgement = judged(&format!(
        "{OPENING}\n{REQUEST}\n< {{\"id\":0,\"result\":{{\"protocolVersion\":2}}}}"
    ));
    assert_eq!(
        failed(&judgement),
        [(SAME_VERSION, 5, "/result/protocolVersion".to_owned())]
    );
}

#[test]
fn a_result_without_version_fails() {
    let judgement = answered(
        r#"{"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":"1"}}"#,
    );
    assert_eq!(ids(&judgement), [ANSWERED, TYPES, "JSONRPC-12"]);
}

#[test]
fn wrong_types_in_the_result_fail() {
    for (member, path) in [
        (
            r#""agentCapabilities":{"mcpCapabilities":{"http":true},"loadSession":"yes"}"#,
            "/result/agentCapabilities/loadSession",
        ),
        (
            r#""agentCapabilities":{"mcpCapabilities":{"http":true},"sessionCapabilities":{"list":true}}"#,
            "/result/agentCapabilities/sessionCapabilities/list",
        ),
        (
            r#""agentCapabilities":{"mcpCapabilities":{"http":true},"promptCapabilities":{"image":{}}}"#,
            "/result/agentCapabilities/promptCapabilities/image",
        ),
    ] {
        let judgement = answered(&format!(
            r#"{{"protocolVersion":1,{member},"agentInfo":{{"name":"a","version":"1"}}}}"#
        ));
        assert_eq!(
            failed(&judgement),
            [
                (TYPES, 1, path.to_owned()),
                ("JSONRPC-12", 1, path.to_owned())
            ]
        );
    }
    for version in ["\"2024-11-05\"", "70000", "-1", "1.0"] {
        let judgement = answered(&format!(
            r#"{{"protocolVersion":{version},"agentCapabilities":{{"mcpCapabilities":{{"http":true}}}},"agentInfo":{{"name":"a","version":"1"}}}}"#
        ));
        assert_eq!(ids(&judgement), [TYPES, "JSONRPC-12"], "{version}");
    }
}

#[test]
fn name_version_and_capabilities_are_advice() {
    assert_eq!(
        ids(&answered(r#"{"protocolVersion":1}"#)),
        [AGENT_INFO, SPELLED_OUT]
    );
    let empty = answered(
        r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":""}}"#,
    );
    assert_eq!(
        failed(&empty),
        [(AGENT_INFO, 1, "/result/agentInfo".to_owned())]
    );
}

#[test]
fn an_update_of_version_two_fails_under_version_one() {
    let judgement = judged(&format!(
        "{OPENING}\n{}",
        r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle"}}}"#
    ));
    let place = (AGREED_FORMS, 4, "/params/update/sessionUpdate".to_owned());
    assert!(failed(&judgement).contains(&place));
    let one = judged(&format!(
        "{OPENING}\n{}",
        r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan","entries":[]}}}"#
    ));
    assert_eq!(one.get(AGREED_FORMS).unwrap().passes, 1);
}

#[test]
fn what_a_single_capability_fails_the_umbrella_fails() {
    let judgement = judged(
        r#"
            > {"id":0,"method":"initialize","params":{"protocolVersion":1}}
            < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":"1"},"authMethods":[{"type":"terminal","id":"t","name":"T"}]}}
            "#,
    );
    assert_eq!(ids(&judgement), ["AUTH-02", LEFT_OUT]);
}

#[test]
fn a_second_initialize_is_answered_or_refused() {
    let again = |lines: &str| {
        failed(&judged(&format!(
            "{OPENING}\n> {{\"id\":7,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":1}}}}\n{lines}"
        )))
        .into_iter()
        .filter(|it| it.0 == WAITS)
        .map(|it| it.1)
        .collect::<Vec<_>>()
    };
    let later = "> {\"id\":8,\"method\":\"_x\"}\n< {\"id\":8,\"error\":{\"code\":-32601,\"message\":\"no\"}}";
    assert_eq!(again("wait 30\nunanswered 7"), [4]);
    assert_eq!(again(&format!("wait 31\n{later}")), [4]);
    assert!(again(later).is_empty());
    let refused = r#"< {"id":7,"error":{"code":-32600,"message":"no"}}"#;
    assert!(again(&format!("{refused}\nwait 31\n{later}")).is_empty());
}
