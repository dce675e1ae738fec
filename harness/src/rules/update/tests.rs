//! Tests of `update`.

use super::super::Judgement;
use super::super::talking::{
    OPENING, failures, holds, is_inconclusive, judged, judged_late, notes,
};

const LOADS: &str = r#""agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true}}"#;

fn update(body: &str) -> String {
    format!(r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{{body}}}}}}}"#)
}

fn chunk(role: &str, id: &str) -> String {
    let id = if id.is_empty() {
        String::new()
    } else {
        format!(r#","messageId":"{id}""#)
    };
    update(&format!(
        r#""sessionUpdate":"{role}_chunk","content":{{"type":"text","text":"x"}}{id}"#
    ))
}

fn agent(id: &str) -> String {
    chunk("agent_message", id)
}

fn user(id: &str) -> String {
    chunk("user_message", id)
}

fn prompt(id: u64) -> String {
    format!(
        r#"> {{"id":{id},"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"hello"}}]}}}}"#
    )
}

fn end(id: u64) -> String {
    format!(r#"< {{"id":{id},"result":{{"stopReason":"end_turn"}}}}"#)
}

/// A session of an agent that can load; the first line is event 4.
fn talk(lines: &[String]) -> Judgement {
    let opening = OPENING.replace(
        r#""agentCapabilities":{"mcpCapabilities":{"http":true}}"#,
        LOADS,
    );
    judged(&format!("{opening}\n{}", lines.join("\n")))
}

fn of_area(it: &Judgement) -> Vec<String> {
    failures(it)
        .into_iter()
        .filter(|failure| failure.starts_with("UPDATE"))
        .collect()
}

#[test]
fn stable_kinds_that_fit_hold() {
    let it = talk(&[
        update(r#""sessionUpdate":"current_mode_update","currentModeId":"ask""#),
        update(r#""sessionUpdate":"session_info_update","title":null"#),
    ]);
    assert_eq!(of_area(&it), [""; 0]);
    assert!(holds(&it, "UPDATE-01") && holds(&it, "UPDATE-06"));
}

#[test]
fn a_member_that_is_missing_fails() {
    let it = talk(&[update(
        r#""sessionUpdate":"current_mode_update","modeId":"ask""#,
    )]);
    assert_eq!(of_area(&it), ["UPDATE-01@4/params/update"]);
    let it = talk(&[update(r#""currentModeId":"ask""#)]);
    let failed = of_area(&it);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].starts_with("UPDATE-01@4/params/update"));
    let it = talk(&[r#"< {"method":"session/update","params":{"sessionId":"s1"}}"#.to_owned()]);
    assert_eq!(of_area(&it).len(), 1);
}

#[test]
fn a_fault_that_another_requirement_owns_is_not_failed_twice() {
    let it = talk(&[
        prompt(2),
        update(r#""sessionUpdate":"tool_call","toolCallId":"a","title":"t","status":"done""#),
    ]);
    let failed: Vec<_> = failures(&it)
        .into_iter()
        .filter(|failure| !failure.starts_with("JSONRPC"))
        .collect();
    assert_eq!(failed, ["TOOLCALL-03@5/params/update/status"]);
}

#[test]
fn unknown_kinds_fail_and_extensions_and_later_kinds_are_noted() {
    let it = talk(&[update(r#""sessionUpdate":"progress""#)]);
    assert_eq!(of_area(&it), ["UPDATE-01@4/params/update/sessionUpdate"]);
    let it = talk(&[
        update(r#""sessionUpdate":"_progress""#),
        update(r#""sessionUpdate":"prompt_suggestions_update""#),
    ]);
    assert_eq!(of_area(&it), [""; 0]);
    assert_eq!(notes(&it, "UPDATE-01"), 2);
}

#[test]
fn a_draft_kind_needs_the_client_to_opt_in() {
    let plan = update(r#""sessionUpdate":"plan_removed","planId":"p""#);
    let it = talk(std::slice::from_ref(&plan));
    assert_eq!(of_area(&it), ["UPDATE-02@4/params/update/sessionUpdate"]);
    let opening = OPENING.replace("\"fs\":", "\"plan\":{},\"fs\":");
    assert!(holds(&judged(&format!("{opening}\n{plan}")), "UPDATE-02"));
    let it = judged_late(&plan);
    assert!(is_inconclusive(&it, "UPDATE-02"));
}

#[test]
fn an_id_with_one_role_and_one_turn_holds() {
    let it = talk(&[prompt(2), agent("a"), agent("a"), agent("b"), end(2)]);
    assert_eq!(of_area(&it), [""; 0]);
    assert!(holds(&it, "UPDATE-03") && holds(&it, "UPDATE-04"));
}

#[test]
fn an_id_in_two_roles_fails() {
    let it = talk(&[prompt(2), user("a"), agent("a"), end(2)]);
    assert_eq!(of_area(&it), ["UPDATE-03@6/params/update/messageId"]);
    let it = talk(&[prompt(2), chunk("agent_thought", "a"), agent("a"), end(2)]);
    assert_eq!(of_area(&it), ["UPDATE-03@6/params/update/messageId"]);
}

#[test]
fn an_id_in_two_turns_fails() {
    let it = talk(&[prompt(2), agent("a"), end(2), prompt(3), agent("a"), end(3)]);
    assert_eq!(of_area(&it), ["UPDATE-03@8/params/update/messageId"]);
}

#[test]
fn an_id_that_runs_on_into_a_prompt_that_waited_holds() {
    let it = talk(&[
        prompt(2),
        agent("a"),
        prompt(3),
        agent("a"),
        end(2),
        agent("a"),
        end(3),
    ]);
    assert_eq!(of_area(&it), [""; 0]);
}

#[test]
fn chunks_of_one_role_all_have_ids_or_none() {
    let it = talk(&[
        prompt(2),
        agent("a"),
        agent(""),
        chunk("agent_thought", ""),
        end(2),
    ]);
    assert_eq!(of_area(&it), ["UPDATE-04@6/params/update"]);
    let it = talk(&[prompt(2), agent(""), end(2)]);
    assert_eq!(of_area(&it), [""; 0]);
    assert_eq!(notes(&it, "UPDATE-04"), 1);
}

fn load(id: u64) -> String {
    format!(
        r#"> {{"id":{id},"method":"session/load","params":{{"sessionId":"s1","cwd":"/project","mcpServers":[]}}}}"#
    )
}

fn loaded(id: u64) -> String {
    format!(r#"< {{"id":{id},"result":{{}}}}"#)
}

#[test]
fn a_replay_may_use_the_ids_of_the_live_session_and_of_an_earlier_replay() {
    let it = talk(&[
        prompt(2),
        agent("a"),
        end(2),
        load(3),
        user("u"),
        agent("a"),
        loaded(3),
        load(4),
        user("u"),
        agent("a"),
        loaded(4),
    ]);
    assert_eq!(of_area(&it), [""; 0]);
    assert!(holds(&it, "UPDATE-05"));
    // A replay that comes too late is LOAD-03's.
    let it = talk(&[
        prompt(2),
        agent("a"),
        end(2),
        prompt(3),
        agent("b"),
        end(3),
        load(4),
        loaded(4),
        agent("a"),
        agent("b"),
    ]);
    assert_eq!(of_area(&it), [""; 0]);
}

#[test]
fn an_id_for_two_messages_of_a_replay_fails() {
    let it = talk(&[
        load(3),
        user("u"),
        agent("a"),
        user("v"),
        agent("a"),
        loaded(3),
    ]);
    assert_eq!(of_area(&it), ["UPDATE-05@8/params/update/messageId"]);
    let it = talk(&[load(3), user("u"), agent("u"), loaded(3)]);
    assert_eq!(of_area(&it), ["UPDATE-05@6/params/update/messageId"]);
}

#[test]
fn session_info_holds_no_folders() {
    let it = talk(&[update(
        r#""sessionUpdate":"session_info_update","cwd":"/a""#,
    )]);
    assert_eq!(of_area(&it), ["UPDATE-06@4/params/update/cwd"]);
    let it = talk(&[update(r#""sessionUpdate":"session_info_update","title":5"#)]);
    assert_eq!(of_area(&it), ["UPDATE-06@4/params/update/title"]);
}

#[test]
fn oddities_are_counted() {
    let empty = agent("a").replace("\"text\":\"x\"", "\"text\":\"\"");
    let it = talk(&[prompt(2), user("u"), agent("a"), agent("b"), empty, end(2)]);
    assert_eq!(of_area(&it), [""; 0]);
    assert_eq!(notes(&it, "UPDATE-08"), 4);
}
