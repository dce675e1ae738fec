//! Tests of `elicit`.

use super::super::Judgement;
use super::super::talking::{failed, judged};
use super::*;

fn session(elicitation: &str, lines: &str) -> Judgement {
    judged(&format!(
        r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{{"elicitation":{elicitation}}}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"mcpCapabilities":{{"http":true}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1"}}}}
            > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[]}}}}
            {lines}
            "#
    ))
}

const BOTH: &str = r#"{"form":{},"url":{}}"#;

fn form(scope: &str) -> String {
    format!(
        r#"< {{"id":5,"method":"elicitation/create","params":{{{scope}"mode":"form","message":"Name?","requestedSchema":{{"type":"object","properties":{{"name":{{"type":"string"}}}}}}}}}}"#
    )
}

fn url(id: &str, number: u32) -> String {
    format!(
        r#"< {{"id":{number},"method":"elicitation/create","params":{{"sessionId":"s1","mode":"url","message":"Visit","elicitationId":"{id}","url":"https://example.org/x"}}}}"#
    )
}

fn of_area(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
    failed(judgement)
        .into_iter()
        .filter(|(id, ..)| id.starts_with("ELICIT"))
        .collect()
}

fn one(id: &'static str, event: u64, path: &str) -> Vec<(&'static str, u64, String)> {
    vec![(id, event, path.to_owned())]
}

const SESSION: &str = r#""sessionId":"s1","#;

#[test]
fn what_was_announced_may_be_asked() {
    let judgement = session(BOTH, &format!("{}\n{}", form(SESSION), url("e1", 6)));
    assert!(failed(&judgement).is_empty(), "{:?}", failed(&judgement));
    assert_eq!(judgement.get(MODE_AND_SCOPE).unwrap().passes, 2);
    assert_eq!(judgement.get(UNIQUE).unwrap().passes, 1);
}

#[test]
fn a_form_has_lists_of_choices_alone() {
    for (items, sound) in [
        (r#"{"type":"string","enum":["a"]}"#, true),
        (r#"{"anyOf":[{"const":"a","title":"A"}]}"#, true),
        (r#"{"type":"object"}"#, false),
        (r#"{"type":"array","items":{"type":"string"}}"#, false),
        (r##"{"type":"string","$ref":"#/x"}"##, false),
    ] {
        let list = format!(r#"{{"type":"array","items":{items}}}"#);
        let form = form(SESSION).replace(r#"{"type":"string"}"#, &list);
        let failures = of_area(&session(BOTH, &form));
        assert_eq!(failures.is_empty(), sound, "{items}: {failures:?}");
    }
}

#[test]
fn what_was_not_announced_may_not() {
    for elicitation in ["null", "{}", r#"{"form":null,"url":null}"#, r#"{"url":{}}"#] {
        assert_eq!(
            of_area(&session(elicitation, &form(SESSION))),
            one(FORM_OFFERED, 5, "/params/mode"),
            "{elicitation}"
        );
    }
    assert_eq!(
        of_area(&session(r#"{"form":{}}"#, &url("e1", 5))),
        one(URL_OFFERED, 5, "/params/mode")
    );
    let none = session("{}", r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#);
    assert_eq!(none.get(FORM_OFFERED).unwrap().passes, 1);
    assert_eq!(none.get(URL_OFFERED).unwrap().passes, 1);
}

#[test]
fn the_scope_must_exist() {
    for (scope, path) in [
        ("", "/params"),
        (r#""sessionId":"ghost","#, "/params/sessionId"),
        (r#""requestId":9,"#, "/params/requestId"),
        (r#""requestId":1,"#, "/params/requestId"),
        (
            r#""sessionId":"s1","toolCallId":"t","#,
            "/params/toolCallId",
        ),
    ] {
        assert_eq!(
            of_area(&session(BOTH, &form(scope))),
            one(MODE_AND_SCOPE, 5, path),
            "{scope}"
        );
    }
}

#[test]
fn an_open_request_and_an_announced_call_are_scopes() {
    assert!(of_area(&session(BOTH, &form(r#""requestId":2,"#))).is_empty());
    let call = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"x"}}}"#;
    let asked = form(r#""sessionId":"s1","toolCallId":"t","#);
    assert!(of_area(&session(BOTH, &format!("{call}\n{asked}"))).is_empty());
}

#[test]
fn a_mode_is_known_or_marked_as_own() {
    let asked = |mode: &str| {
        of_area(&session(
            BOTH,
            &format!(
                r#"< {{"id":5,"method":"elicitation/create","params":{{"sessionId":"s1",{mode}"message":"x"}}}}"#
            ),
        ))
    };
    assert_eq!(
        asked(r#""mode":"voice","#),
        one(MODE_AND_SCOPE, 5, "/params")
    );
    assert_eq!(asked(""), one(MODE_AND_SCOPE, 5, "/params"));
    assert!(asked(r#""mode":"_voice","#).is_empty());
}

#[test]
fn an_id_is_used_once_while_it_is_outstanding() {
    let again = format!("{}\n{}", url("e1", 5), url("e1", 6));
    assert_eq!(
        of_area(&session(BOTH, &again)),
        one(UNIQUE, 6, "/params/elicitationId")
    );
    let accept = r#"> {"id":5,"result":{"action":"accept"}}"#;
    let accepted = format!("{}\n{accept}\n{}", url("e1", 5), url("e1", 6));
    assert_eq!(
        of_area(&session(BOTH, &accepted)),
        one(UNIQUE, 7, "/params/elicitationId")
    );
    for over in [
        r#"> {"id":5,"result":{"action":"decline"}}"#,
        r#"> {"id":5,"error":{"code":-32602,"message":"no"}}"#,
        r#"< {"method":"elicitation/complete","params":{"elicitationId":"e1"}}"#,
    ] {
        let lines = format!("{}\n{over}\n{}", url("e1", 5), url("e1", 6));
        assert!(of_area(&session(BOTH, &lines)).is_empty(), "{over}");
    }
}

#[test]
fn a_completion_names_a_url_elicitation() {
    let complete = r#"< {"method":"elicitation/complete","params":{"elicitationId":"e1"}}"#;
    assert_eq!(
        of_area(&session(BOTH, complete)),
        one(COMPLETED, 5, "/params/elicitationId")
    );
    let twice = session(BOTH, &format!("{}\n{complete}\n{complete}", url("e1", 5)));
    assert!(of_area(&twice).is_empty());
    assert_eq!(twice.get(COMPLETED).unwrap().passes, 2);
    assert_eq!(twice.get(COMPLETED).unwrap().notes.len(), 1);
}

#[test]
fn a_list_is_one_of_texts() {
    let form = |items: &str| {
        session(
            BOTH,
            &format!(
                r#"< {{"id":5,"method":"elicitation/create","params":{{"sessionId":"s1","mode":"form","message":"Name?","requestedSchema":{{"type":"object","properties":{{"n":{{"type":"array","items":{items}}}}}}}}}}}"#
            ),
        )
    };
    for items in [
        r#"{"type":"string","enum":["a"]}"#,
        r#"{"anyOf":[{"const":"a","title":"A"}]}"#,
        r#"{"type":"_own","enum":["a"]}"#,
    ] {
        assert_eq!(of_area(&form(items)), [], "{items}");
    }
    for items in [r#"{"type":"object"}"#, r#"{"type":"number","enum":[1]}"#] {
        assert_eq!(
            of_area(&form(items)),
            one("ELICIT-04", 5, "/params/requestedSchema/properties/n"),
            "{items}"
        );
    }
}
