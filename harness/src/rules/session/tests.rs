//! Tests of `session`.

use super::super::talking::{OPENING, events, failed, judged};
use super::super::{Judgement, judge_all};
use super::*;

const INITIALIZED: &str = r#"
        > {"id":0,"method":"initialize","params":{"protocolVersion":1}}
        < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":"1"},"authMethods":[]}}
    "#;
const NEW: &str =
    r#"> {"id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}"#;

fn after_opening(lines: &str) -> Judgement {
    judged(&format!("{OPENING}\n{lines}"))
}

fn created_by(lines: &str) -> Judgement {
    judged(&format!("{INITIALIZED}\n{NEW}\n{lines}"))
}

fn one(id: &'static str, event: u64, path: &str) -> Vec<(&'static str, u64, String)> {
    vec![(id, event, path.to_owned())]
}

fn ids(judgement: &Judgement) -> Vec<&'static str> {
    failed(judgement).into_iter().map(|(id, ..)| id).collect()
}

fn commands(session: &str) -> String {
    format!(
        r#"< {{"method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"available_commands_update","availableCommands":[]}}}}}}"#
    )
}

#[test]
fn a_session_id_is_what_session_new_is_for() {
    assert_eq!(judged(OPENING).get(CREATED).unwrap().passes, 1);
    for answer in [r#"{"sessionId":""}"#, r#"{}"#, r#"{"sessionId":7}"#] {
        let judgement = created_by(&format!(r#"< {{"id":1,"result":{answer}}}"#));
        assert!(
            failed(&judgement).contains(&(CREATED, 3, "/result".to_owned())),
            "{answer}"
        );
    }
    let refused = created_by(r#"< {"id":1,"error":{"code":-32603,"message":"no"}}"#);
    assert_eq!(failed(&refused), one(CREATED, 3, "/error"));
}

#[test]
fn a_refusal_that_may_be_right_is_inconclusive() {
    let auth = created_by(r#"< {"id":1,"error":{"code":-32000,"message":"log in"}}"#);
    assert!(failed(&auth).is_empty());
    assert_eq!(auth.get(CREATED).unwrap().inconclusive.len(), 1);
    let servers = judged(&format!(
        "{INITIALIZED}\n{}",
        r#"
            > {"id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[{"name":"x","command":"/no","args":[],"env":[]}]}}
            < {"id":1,"error":{"code":-32603,"message":"no such server"}}
            "#
    ));
    assert!(failed(&servers).is_empty());
    assert_eq!(servers.get(CREATED).unwrap().inconclusive.len(), 1);
}

#[test]
fn a_probe_may_be_refused() {
    let judgement = judged(&format!(
        "{INITIALIZED}\n{}",
        r#"
            >? {"id":1,"method":"session/new","params":{"cwd":"/nowhere","mcpServers":[]}}
            < {"id":1,"error":{"code":-32602,"message":"no such folder"}}
            > {"id":2,"method":"session/new","params":{"cwd":"relative","mcpServers":[]}}
            < {"id":2,"error":{"code":-32602,"message":"not absolute"}}
            "#
    ));
    assert!(failed(&judgement).is_empty());
}

#[test]
fn a_session_that_never_comes_fails() {
    assert_eq!(
        failed(&created_by("unanswered 1")),
        [
            ("JSONRPC-04", 2, String::new()),
            (CREATED, 2, String::new())
        ]
    );
    assert!(failed(&created_by(">x\nunanswered 1")).is_empty());
}

#[test]
fn each_session_has_an_id_of_its_own() {
    let second = |id: &str| {
        after_opening(&format!(
            "> {{\"id\":2,\"method\":\"session/new\",\"params\":{{\"cwd\":\"/project\",\"mcpServers\":[]}}}}\n< {{\"id\":2,\"result\":{{\"sessionId\":\"{id}\"}}}}"
        ))
    };
    assert_eq!(failed(&second("s1")), one(OWN_ID, 5, "/result/sessionId"));
    assert_eq!(second("s2").get(OWN_ID).unwrap().passes, 1);
}

#[test]
fn an_id_that_nobody_gave_fails() {
    let judgement = after_opening(&commands("ghost"));
    assert_eq!(failed(&judgement), one(KNOWN, 4, "/params/sessionId"));
    let known = after_opening(&commands("s1"));
    assert_eq!(known.get(KNOWN).unwrap().passes, 1);
    assert_eq!(known.get(NOT_EARLY).unwrap().passes, 1);
}

#[test]
fn an_update_before_the_answer_is_early_and_not_unknown() {
    let judgement = created_by(&format!(
        "{}\n< {{\"id\":1,\"result\":{{\"sessionId\":\"s1\"}}}}",
        commands("s1")
    ));
    assert_eq!(failed(&judgement), one(NOT_EARLY, 3, "/params/sessionId"));
    assert_eq!(judgement.get(EARLY).unwrap().notes.len(), 1);
}

#[test]
fn an_early_id_that_the_answer_does_not_give_is_unknown() {
    let judgement = created_by(&format!(
        "{}\n< {{\"id\":1,\"result\":{{\"sessionId\":\"s2\"}}}}",
        commands("s1")
    ));
    assert_eq!(failed(&judgement), one(KNOWN, 3, "/params/sessionId"));
}

#[test]
fn ids_of_loads_and_of_the_time_before_are_no_faults() {
    let load = r#"> {"id":2,"method":"session/load","params":{"sessionId":"old","cwd":"/project","mcpServers":[]}}"#;
    assert!(ids(&after_opening(&format!("{load}\n{}", commands("old")))).is_empty());
    let refused = r#"< {"id":2,"error":{"code":-32002,"message":"no such session"}}"#;
    let judgement = after_opening(&format!("{load}\n{refused}\n{}", commands("old")));
    assert_eq!(failed(&judgement), one(REFUSED, 6, "/params/sessionId"));
    let late = judge_all(false, &events(&commands("s1")));
    assert!(ids(&late).is_empty());
    assert_eq!(late.get(KNOWN).unwrap().inconclusive.len(), 1);
}

#[test]
fn a_forked_session_is_known() {
    let judgement = after_opening(&format!(
        "> {{\"id\":2,\"method\":\"session/fork\",\"params\":{{\"sessionId\":\"s1\",\"cwd\":\"/project\"}}}}\n< {{\"id\":2,\"result\":{{\"sessionId\":\"s2\"}}}}\n{}",
        commands("s2")
    ));
    assert!(ids(&judgement).is_empty());
}

#[test]
fn a_write_outside_the_folder_fails_unless_a_prompt_asked_for_it() {
    let write = |prompt: &str, path: &str| {
        after_opening(&format!(
            r#"
                > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"{prompt}"}}]}}}}
                < {{"id":0,"method":"fs/write_text_file","params":{{"sessionId":"s1","path":"{path}","content":""}}}}
                "#
        ))
    };
    assert_eq!(
        failed(&write("tidy up", "/etc/hosts")),
        one(ROOTS, 5, "/params/path")
    );
    assert!(ids(&write("add a line to /etc/hosts", "/etc/hosts")).is_empty());
    let inside = write("tidy up", "/project/a/../b");
    assert!(ids(&inside).is_empty());
    assert_eq!(inside.get(ROOTS).unwrap().passes, 1);
}

#[test]
fn a_read_or_a_location_outside_is_noted() {
    let judgement = after_opening(
        r#"
            < {"id":0,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/etc/hosts"}}
            < {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","locations":[{"path":"/etc/hosts"}]}}}
            "#,
    );
    assert!(!ids(&judgement).contains(&ROOTS));
    assert_eq!(judgement.get(ROOTS).unwrap().notes.len(), 2);
}
