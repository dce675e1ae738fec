//! Tests of `toolcall`.

use super::super::Judgement;
use super::super::talking::{
    OPENING, failures, holds, is_inconclusive, judged, judged_late, notes,
};

const PROMPT: &str = r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}"#;
const END: &str = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;

/// A `session/update` of `s1`.
fn update(body: &str) -> String {
    format!(r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{{body}}}}}}}"#)
}

/// A `tool_call` with further members.
fn call(id: &str, more: &str) -> String {
    update(&format!(
        r#""sessionUpdate":"tool_call","toolCallId":"{id}","title":"look","kind":"read"{more}"#
    ))
}

/// A `tool_call_update` with further members.
fn step(id: &str, more: &str) -> String {
    update(&format!(
        r#""sessionUpdate":"tool_call_update","toolCallId":"{id}"{more}"#
    ))
}

const RUNS: &str = r#","status":"in_progress""#;
const DONE: &str = r#","status":"completed""#;

/// The events of a turn, of which the first is number 5.
fn turn(lines: &[&str]) -> Judgement {
    judged(&format!("{OPENING}\n{PROMPT}\n{}\n{END}", lines.join("\n")))
}

#[test]
fn a_call_that_is_announced_run_and_completed_holds() {
    let it = turn(&[&call("a", ""), &step("a", RUNS), &step("a", DONE)]);
    assert_eq!(failures(&it), [""; 0]);
    for id in ["TOOLCALL-01", "TOOLCALL-02", "TOOLCALL-04", "TOOLCALL-06"] {
        assert!(holds(&it, id), "{id}");
    }
}

#[test]
fn an_update_of_an_unannounced_call_fails_once() {
    let it = turn(&[&step("a", RUNS), &step("a", DONE)]);
    assert_eq!(failures(&it), ["TOOLCALL-01@5/params/update/toolCallId"]);
}

#[test]
fn a_permission_request_is_no_announcement() {
    let ask = r#"< {"id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"a","title":"t","kind":"edit"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}"#;
    let it = turn(&[ask, &step("a", RUNS)]);
    assert!(failures(&it).contains(&"TOOLCALL-01@6/params/update/toolCallId".to_owned()));
}

#[test]
fn a_call_older_than_the_recording_proves_nothing() {
    let it = judged_late(&format!("{PROMPT}\n{}\n{END}", step("a", RUNS)));
    assert_eq!(failures(&it), [""; 0]);
    assert!(is_inconclusive(&it, "TOOLCALL-01"));
    let resume = r#"> {"id":7,"method":"session/resume","params":{"sessionId":"s0","cwd":"/project"}}
            < {"id":7,"result":{}}
            > {"id":8,"method":"session/prompt","params":{"sessionId":"s0","prompt":[{"type":"text","text":"hello"}]}}
            < {"method":"session/update","params":{"sessionId":"s0","update":{"sessionUpdate":"tool_call_update","toolCallId":"old","status":"completed"}}}"#;
    let it = judged(&format!("{OPENING}\n{resume}"));
    assert!(is_inconclusive(&it, "TOOLCALL-01"));
}

#[test]
fn replayed_calls_are_announced_and_may_repeat_live_ids() {
    let load = r#"> {"id":7,"method":"session/load","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}"#;
    let loaded = r#"< {"id":7,"result":{}}"#;
    let prompt = PROMPT.replace("\"id\":2", "\"id\":8");
    let it = judged(&format!(
        "{OPENING}\n{PROMPT}\n{}\n{}\n{END}\n{load}\n{}\n{loaded}\n{prompt}\n{}",
        call("a", ""),
        step("a", DONE),
        call("a", ""),
        step("a", RUNS),
    ));
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn an_id_that_is_announced_twice_fails() {
    let it = turn(&[&call("a", ""), &call("a", ""), &step("a", DONE)]);
    assert_eq!(failures(&it), ["TOOLCALL-02@6/params/update/toolCallId"]);
    let message = &it.get("TOOLCALL-02").unwrap().findings[0].message;
    assert!(message.contains("the same title"), "{message}");
}

#[test]
fn two_sessions_may_use_one_id() {
    let it = judged(&format!(
        "{OPENING}\n{PROMPT}\n{}\n{}\n{}",
        r#"> {"id":5,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
            < {"id":5,"result":{"sessionId":"s2"}}"#,
        call("a", ""),
        call("a", "").replace("s1", "s2"),
    ));
    assert!(holds(&it, "TOOLCALL-02"));
}

#[test]
fn a_call_that_leaves_its_final_status_fails() {
    let it = turn(&[
        &call("a", ""),
        &step("a", DONE),
        &step("a", r#","status":"failed""#),
    ]);
    assert_eq!(failures(&it), ["TOOLCALL-04@7/params/update/status"]);
    let it = turn(&[&call("a", ""), &step("a", DONE), &step("a", DONE)]);
    assert_eq!(failures(&it), [""; 0]);
    assert!(notes(&it, "TOOLCALL-14") > 0);
}

fn asked(id: &str, answer: &str) -> String {
    format!(
        r#"< {{"id":1,"method":"session/request_permission","params":{{"sessionId":"s1","toolCall":{{"toolCallId":"{id}"}},"options":[{{"optionId":"y","name":"Yes","kind":"allow_once"}},{{"optionId":"n","name":"No","kind":"reject_once"}}]}}}}
            > {{"id":1,"result":{{"outcome":{{"outcome":"selected","optionId":"{answer}"}}}}}}"#
    )
}

#[test]
fn an_allowed_call_shows_that_it_runs() {
    let it = turn(&[
        &call("a", ""),
        &asked("a", "y"),
        &step("a", RUNS),
        &step("a", DONE),
    ]);
    assert!(holds(&it, "TOOLCALL-05"));
    let it = turn(&[&call("a", RUNS), &asked("a", "y"), &step("a", DONE)]);
    assert!(holds(&it, "TOOLCALL-05"), "before the answer counts too");
    let it = turn(&[&call("a", ""), &asked("a", "y"), &step("a", DONE)]);
    assert_eq!(failures(&it), ["TOOLCALL-05@8/params/update/status"]);
}

#[test]
fn a_call_that_was_rejected_or_not_asked_for_need_not_show_that_it_runs() {
    let failed = step("a", r#","status":"failed""#);
    let it = turn(&[&call("a", ""), &asked("a", "n"), &failed]);
    assert_eq!(failures(&it), [""; 0]);
    let it = turn(&[&call("a", ""), &step("a", DONE)]);
    assert_eq!(failures(&it), [""; 0]);
    assert_eq!(notes(&it, "TOOLCALL-05"), 1);
}

#[test]
fn a_call_that_ended_without_ever_running_shows_its_end_too() {
    let it = turn(&[&call("a", ""), &step("a", DONE)]);
    assert!(holds(&it, "TOOLCALL-06"));
    let it = turn(&[&call("a", "")]);
    assert!(!holds(&it, "TOOLCALL-06"), "it may never have been run");
}

#[test]
fn a_call_that_still_runs_when_the_turn_ends_fails() {
    let it = turn(&[&call("a", RUNS)]);
    assert!(failures(&it).contains(&"TOOLCALL-06@6/result/stopReason".to_owned()));
}

#[test]
fn a_status_that_does_not_exist_is_one_failure() {
    for status in ["complete", "running"] {
        let odd = step("a", &format!(r#","status":"{status}""#));
        let it = turn(&[&call("a", RUNS), &odd]);
        let failed = failures(&it);
        assert!(
            !failed.is_empty() && failed.iter().all(|failure| failure.contains("@6/")),
            "{failed:?}"
        );
        let it = turn(&[&call("a", ""), &asked("a", "y"), &odd, &step("a", DONE)]);
        let failed = failures(&it);
        assert!(
            !failed
                .iter()
                .any(|failure| failure.starts_with("TOOLCALL-05")),
            "{failed:?}"
        );
    }
}

#[test]
fn a_call_that_still_runs_when_the_turn_is_cancelled_is_noted() {
    let it = judged(&format!(
        "{OPENING}\n{PROMPT}\n{}\n{}",
        call("a", RUNS),
        r#"> {"method":"session/cancel","params":{"sessionId":"s1"}}
            < {"id":2,"result":{"stopReason":"cancelled"}}"#
    ));
    assert_eq!(failures(&it), [""; 0]);
    assert_eq!(notes(&it, "TOOLCALL-15"), 1);
}

#[test]
fn a_turn_that_writes_without_a_tool_call_fails() {
    let write = r#"< {"id":3,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/project/a","content":""}}
            > {"id":3,"result":{}}"#;
    let it = turn(&[write]);
    assert!(failures(&it).contains(&"TOOLCALL-07@5".to_owned()));
    let it = turn(&[&call("a", ""), write, &step("a", DONE)]);
    assert!(holds(&it, "TOOLCALL-07"));
    let it = turn(&[&write.replace("fs/write_text_file", "fs/read_text_file")]);
    assert!(it.get("TOOLCALL-07").is_none());
}

#[test]
fn relative_paths_and_line_zero_fail() {
    let it = turn(&[&call(
        "a",
        r#","status":"completed","locations":[{"path":"src/a.rs","line":0},{"path":"/a","line":null}],"content":[{"type":"diff","path":"file:///a","newText":""}]"#,
    )]);
    assert_eq!(
        failures(&it),
        [
            "TOOLCALL-08@5/params/update/locations/0/path",
            "TOOLCALL-08@5/params/update/content/0/path",
            "TOOLCALL-09@5/params/update/locations/0/line",
        ]
    );
    let it = turn(&[&call(
        "a",
        r#","status":"completed","locations":[{"path":"C:\\a","line":1}]"#,
    )]);
    assert!(holds(&it, "TOOLCALL-08") && holds(&it, "TOOLCALL-09"));
}

const CREATE: &str = r#"< {"id":3,"method":"terminal/create","params":{"sessionId":"s1","command":"make"}}
        > {"id":3,"result":{"terminalId":"t1"}}"#;
const RELEASE: &str = r#"< {"id":4,"method":"terminal/release","params":{"sessionId":"s1","terminalId":"t1"}}
        > {"id":4,"result":{}}"#;
const SHOWN: &str = r#","content":[{"type":"terminal","terminalId":"t1"}]"#;

fn with_terminals(lines: &[&str]) -> Judgement {
    judged(&format!(
        "{}\n{PROMPT}\n{}\n{END}",
        OPENING.replace("\"fs\":", "\"terminal\":true,\"fs\":"),
        lines.join("\n")
    ))
}

#[test]
fn a_terminal_of_the_session_is_shown_before_its_release() {
    let done = step("a", DONE);
    let shown = step("a", SHOWN);
    let it = with_terminals(&[&call("a", ""), CREATE, &shown, RELEASE, &shown, &done]);
    assert_eq!(failures(&it), [""; 0]);
    assert!(holds(&it, "TOOLCALL-11") && holds(&it, "TOOLCALL-12"));
    let it = with_terminals(&[&call("a", ""), CREATE, RELEASE, &shown, &shown, &done]);
    assert_eq!(
        failures(&it),
        ["TOOLCALL-12@10/params/update/content/0/terminalId"]
    );
}

#[test]
fn a_terminal_that_nobody_made_fails_once() {
    let it = turn(&[&call("a", SHOWN), &step("a", SHOWN), &step("a", DONE)]);
    assert_eq!(
        failures(&it),
        ["TOOLCALL-11@5/params/update/content/0/terminalId"]
    );
}

#[test]
fn a_terminal_that_both_sides_agreed_on_by_meta_proves_nothing() {
    let it = judged(&format!(
        "{}\n{PROMPT}\n{}",
        OPENING.replace("\"fs\":", "\"_meta\":{\"terminal_output\":true},\"fs\":"),
        call("a", SHOWN),
    ));
    assert_eq!(failures(&it), [""; 0]);
    assert!(is_inconclusive(&it, "TOOLCALL-11"));
}

#[test]
fn oddities_are_noted() {
    let it = turn(&[
        &call("a", r#","rawInput":"text","status":"in_progress""#),
        &step("a", ""),
        &step("a", r#","title":" ""#),
        &step("a", r#","status":"pending""#),
        &step(
            "a",
            r#","content":[{"type":"content","content":{"type":"text","text":"one"}}]"#,
        ),
        &step(
            "a",
            r#","content":[{"type":"content","content":{"type":"text","text":"one two"}}]"#,
        ),
        &step(
            "a",
            r#","content":[{"type":"content","content":{"type":"text","text":"three"}}]"#,
        ),
        &step("a", DONE),
    ]);
    assert_eq!(failures(&it), [""; 0]);
    assert_eq!(notes(&it, "TOOLCALL-14"), 5);
}

/// The failures but for those that only say that the schema is broken.
fn of_areas(it: &Judgement) -> Vec<String> {
    failures(it)
        .into_iter()
        .filter(|failure| !failure.starts_with("JSONRPC-11"))
        .collect()
}

#[test]
fn title_status_and_kind_fit_the_schema() {
    let it = turn(&[
        &call("a", RUNS),
        &step("a", r#","status":null,"kind":null"#),
        &step("a", DONE),
    ]);
    assert_eq!(failures(&it), [""; 0]);
    assert!(holds(&it, "TOOLCALL-03"));
    for (more, path) in [
        (r#","status":"cancelled""#, "/status"),
        (r#","status":null"#, "/status"),
        (r#","kind":null"#, "/kind"),
    ] {
        let it = turn(&[&call("a", more), &step("a", DONE)]);
        assert_eq!(
            of_areas(&it),
            [format!("TOOLCALL-03@5/params/update{path}")],
            "{more}"
        );
    }
    let untitled = call("a", "").replace(r#""title":"look","#, "");
    let it = turn(&[&untitled, &step("a", DONE)]);
    assert_eq!(of_areas(&it), ["TOOLCALL-03@5/params/update"]);
}

#[test]
fn a_bare_block_among_the_content_fails() {
    let wrapped = r#","content":[{"type":"content","content":{"type":"text","text":"x"}}]"#;
    let it = turn(&[&call("a", wrapped), &step("a", DONE)]);
    assert!(holds(&it, "TOOLCALL-10"));
    let it = turn(&[
        &call("a", r#","content":[{"type":"text","text":"x"}]"#),
        &step("a", DONE),
    ]);
    let failed = of_areas(&it);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].starts_with("TOOLCALL-10@5/params/update/content/0"));
}

#[test]
fn another_version_is_not_judged() {
    let it = judged(&format!(
        "{}\n{PROMPT}\n{}",
        OPENING.replace("\"protocolVersion\":1", "\"protocolVersion\":2"),
        step("a", DONE),
    ));
    assert!(it.get("TOOLCALL-01").is_none());
}
