//! Tests of `load`.

use super::super::talking::{events, failures, holds, is_inconclusive, judged, notes};
use super::super::{Judge, Judgement};

const HELLO: &str = r#"
    > {"id":0,"method":"initialize","params":{"protocolVersion":1}}
    < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true},"loadSession":true,"sessionCapabilities":{"list":{},"resume":{}}},"agentInfo":{"name":"a","version":"1"},"authMethods":[]}}
"#;
const NEW: &str = r#"
    > {"id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
    < {"id":1,"result":{"sessionId":"s1"}}
"#;
const LOAD: &str = r#"> {"id":8,"method":"session/load","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}"#;
const LOADED: &str = r#"< {"id":8,"result":{}}"#;
const RESUME: &str = r#"> {"id":8,"method":"session/resume","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}"#;
const REFUSED: &str = r#"< {"id":8,"error":{"code":-32002,"message":"not found"}}"#;

fn update(kind: &str, text: &str) -> String {
    format!(
        r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"{kind}","content":{{"type":"text","text":"{text}"}}}}}}}}"#
    )
}

fn user(text: &str) -> String {
    update("user_message_chunk", text)
}

fn agent(text: &str) -> String {
    update("agent_message_chunk", text)
}

fn call(id: &str, title: &str) -> String {
    format!(
        r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"tool_call","toolCallId":"{id}","title":"{title}","status":"completed"}}}}}}"#
    )
}

fn turn(id: u64, asked: &str, updates: &[String]) -> String {
    format!(
        r#"> {{"id":{id},"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"{asked}"}}]}}}}
        {}
        < {{"id":{id},"result":{{"stopReason":"end_turn"}}}}"#,
        updates.join("\n")
    )
}

/// Two turns: the heron and the otter.
fn two_turns() -> String {
    [
        turn(
            2,
            "Tell me of the heron.",
            &[agent("It stands"), agent(" still.")],
        ),
        turn(3, "And the otter?", &[agent("It swims.")]),
    ]
    .join("\n")
}

/// Two turns, and a load that replays this in the same process.
fn replayed(updates: &[String]) -> Judgement {
    judged(&format!(
        "{HELLO}{NEW}{}\n{LOAD}\n{}\n{LOADED}\nwait 1\n>x",
        two_turns(),
        updates.join("\n")
    ))
}

/// What the rules find in the conversations with two processes of one agent.
fn with_two_processes(first: &str, second: &str) -> Judgement {
    let mut judge = Judge::new(true);
    for event in &events(first) {
        judge.see(event);
    }
    judge.begins_anew(true);
    for event in &events(second) {
        judge.see(event);
    }
    judge.finish().0
}

/// The failures of this area.
fn faults(it: &Judgement) -> Vec<String> {
    let mut ids: Vec<String> = failures(it)
        .into_iter()
        .filter(|id| id.starts_with("LOAD") || id.starts_with("RESUME"))
        .map(|failure| failure.split('@').next().unwrap_or_default().to_owned())
        .collect();
    ids.dedup();
    ids
}

#[test]
fn a_replay_of_all_that_was_said_holds_whatever_its_chunks_are() {
    for replay in [
        vec![
            user("Tell me of the heron."),
            agent("It stands still."),
            user("And the otter?"),
            agent("It swims."),
        ],
        vec![
            user("Tell me "),
            user("of the heron.\\n"),
            agent("It stands\\nstill."),
            user("And the otter?"),
            agent("It"),
            agent(" swims."),
        ],
        // Something of the agent's own in front and in between.
        vec![
            user("<env>/project</env>"),
            user("Tell me of the heron."),
            update("agent_thought_chunk", "Hm."),
            agent("It stands still."),
            user("And the otter?"),
            agent("It swims."),
        ],
        // Kept in other words.
        vec![
            user("Tell me of the heron."),
            agent("(a summary)"),
            user("And the otter?"),
            agent("(another)"),
        ],
    ] {
        let it = replayed(&replay);
        assert_eq!(failures(&it), [""; 0], "{replay:?}");
        for id in ["LOAD-01", "LOAD-02", "LOAD-03", "LOAD-04"] {
            assert!(holds(&it, id), "{id} {replay:?}");
        }
        assert_eq!(notes(&it, "LOAD-06"), 1);
    }
}

#[test]
fn what_is_missing_in_a_replay_fails() {
    for replay in [
        vec![],
        vec![user("Tell me of the heron."), agent("It stands still.")],
        vec![
            user("Tell me of the heron."),
            agent("It stands still."),
            agent("It swims."),
        ],
        vec![
            user("Tell me of the heron."),
            user("And the otter?"),
            agent("It swims."),
        ],
        vec![
            user("Tell me of the heron."),
            agent("It stands still."),
            user("And the otter?"),
        ],
    ] {
        assert_eq!(faults(&replayed(&replay)), ["LOAD-02"], "{replay:?}");
    }
}

#[test]
fn another_order_or_role_fails() {
    for replay in [
        // The turns the other way round.
        vec![
            user("And the otter?"),
            agent("It swims."),
            user("Tell me of the heron."),
            agent("It stands still."),
        ],
        // The answers the other way round.
        vec![
            user("Tell me of the heron."),
            agent("It swims."),
            user("And the otter?"),
            agent("It stands still."),
        ],
        // All of the user first.
        vec![
            user("Tell me of the heron."),
            user("And the otter?"),
            agent("It stands still."),
            agent("It swims."),
        ],
        // The agent before the user.
        vec![
            agent("It stands still."),
            user("Tell me of the heron."),
            agent("It swims."),
            user("And the otter?"),
        ],
        // The user's words as the agent's.
        vec![
            agent("Tell me of the heron."),
            agent("It stands still."),
            agent("And the otter?"),
            agent("It swims."),
        ],
        // The agent's words as the user's.
        vec![
            user("Tell me of the heron."),
            user("It stands still."),
            user("And the otter?"),
            user("It swims."),
        ],
    ] {
        assert_eq!(faults(&replayed(&replay)), ["LOAD-04"], "{replay:?}");
    }
}

#[test]
fn an_agent_that_repeats_the_words_of_the_user_is_told_from_one_that_mixes_the_roles() {
    let echo = |replay: &[String]| {
        judged(&format!(
            "{HELLO}{NEW}{}\n{LOAD}\n{}\n{LOADED}\nwait 1\n>x",
            turn(2, "hello heron", &[agent("You said: hello heron")]),
            replay.join("\n")
        ))
    };
    let said = agent("You said: hello heron");
    assert_eq!(faults(&echo(&[user("hello heron"), said.clone()])), [""; 0]);
    assert_eq!(faults(&echo(std::slice::from_ref(&said))), ["LOAD-02"]);
    assert_eq!(faults(&echo(&[agent("hello heron"), said])), ["LOAD-04"]);
}

#[test]
fn a_question_that_was_asked_twice_is_replayed_twice() {
    let it = |replay: &[String]| {
        let turns = [
            turn(2, "go on", &[agent("a")]),
            turn(3, "go on", &[agent("b")]),
        ];
        judged(&format!(
            "{HELLO}{NEW}{}\n{LOAD}\n{}\n{LOADED}\nwait 1\n>x",
            turns.join("\n"),
            replay.join("\n")
        ))
    };
    let whole = [user("go on"), agent("a"), user("go on"), agent("b")];
    assert_eq!(faults(&it(&whole)), [""; 0]);
    assert_eq!(faults(&it(&whole[..2])), ["LOAD-02"]);
}

#[test]
fn turns_that_did_not_end_by_themselves_and_other_blocks_need_not_come_back() {
    let cancelled = r#"
        > {"id":4,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Stop."}]}}
        > {"method":"session/cancel","params":{"sessionId":"s1"}}
        < {"id":4,"result":{"stopReason":"cancelled"}}
        > {"id":5,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"resource_link","name":"n","uri":"file:///a"}]}}
        < {"id":5,"result":{"stopReason":"end_turn"}}"#;
    let it = judged(&format!(
        "{HELLO}{NEW}{}\n{cancelled}\n{LOAD}\n{}\n{}\n{LOADED}\nwait 1\n>x",
        turn(2, "hello", &[agent("hi")]),
        user("hello"),
        agent("hi")
    ));
    assert_eq!(faults(&it), [""; 0]);
    assert!(holds(&it, "LOAD-02"));
}

#[test]
fn a_slash_command_leaves_it_open_what_the_agent_keeps() {
    let it = judged(&format!(
        "{HELLO}{NEW}{}\n{}\n{LOAD}\n{LOADED}\nwait 1\n>x",
        turn(2, "hello", &[agent("hi")]),
        turn(3, "/new", &[agent("done")])
    ));
    assert_eq!(faults(&it), [""; 0]);
    assert!(is_inconclusive(&it, "LOAD-02"));
}

#[test]
fn tool_calls_come_back_by_id_or_title_or_number() {
    let it = |replay: &[String]| {
        let asked = turn(
            2,
            "look",
            &[call("t1", "Read a"), call("t2", "Read b"), agent("ok")],
        );
        let replay = [&[user("look")], replay, &[agent("ok")]].concat();
        faults(&judged(&format!(
            "{HELLO}{NEW}{asked}\n{LOAD}\n{}\n{LOADED}\nwait 1\n>x",
            replay.join("\n")
        )))
    };
    assert_eq!(it(&[call("t1", "x"), call("t2", "y")]), [""; 0]);
    assert_eq!(it(&[call("n1", "Read a"), call("n2", "Read b")]), [""; 0]);
    assert_eq!(it(&[call("n1", "x"), call("n2", "y")]), [""; 0]);
    assert_eq!(it(&[call("t1", "Read a")]), ["LOAD-05"]);
    assert_eq!(it(&[]), ["LOAD-05"]);
}

#[test]
fn content_after_the_answer_fails_and_a_state_never() {
    let state = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"usage_update","used":1,"size":2}}}"#;
    let said = [user("hello"), agent("hi")].join("\n");
    let after = |late: &str| {
        judged(&format!(
            "{HELLO}{NEW}{}\n{LOAD}\n{said}\n{LOADED}\n{late}\nwait 1\n>x",
            turn(2, "hello", &[agent("hi")])
        ))
    };
    let it = after(state);
    assert_eq!(failures(&it), [""; 0]);
    assert!(holds(&it, "LOAD-03"));
    assert_eq!(faults(&after(&agent("hi"))), ["LOAD-03"]);
    // New words are no replay.
    let it = after(&agent("Welcome back!"));
    assert_eq!(faults(&it), [""; 0]);
    assert_eq!(notes(&it, "LOAD-03"), 1);
    assert_eq!(faults(&after(&call("t1", "x"))), ["LOAD-03"]);
    // What the next turn brings is no replay.
    let next = turn(9, "more", &[agent("yes")]);
    assert_eq!(faults(&after(&next)), [""; 0]);
}

#[test]
fn an_answer_that_ends_the_recording_leaves_it_open_whether_more_would_have_come() {
    let it = judged(&format!("{HELLO}{LOAD}\n{LOADED}"));
    assert!(is_inconclusive(&it, "LOAD-03"));
}

#[test]
fn what_an_earlier_process_was_told_must_come_back_too() {
    let first = format!("{HELLO}{NEW}{}\n>x\nexit 0", two_turns());
    let whole = [
        user("Tell me of the heron."),
        agent("It stands still."),
        user("And the otter?"),
        agent("It swims."),
    ];
    let second =
        |replay: &[String]| format!("{HELLO}{LOAD}\n{}\n{LOADED}\nwait 1\n>x", replay.join("\n"));
    let it = with_two_processes(&first, &second(&whole));
    assert_eq!(failures(&it), [""; 0]);
    for id in ["LOAD-02", "LOAD-08"] {
        assert!(holds(&it, id), "{id}");
    }
    let it = with_two_processes(&first, &second(&whole[..2]));
    assert_eq!(faults(&it), ["LOAD-02"]);
    // An id that the new process gives to another session means another session.
    let again = format!("{HELLO}{NEW}{LOAD}\n{LOADED}\nwait 1\n>x");
    assert_eq!(faults(&with_two_processes(&first, &again)), [""; 0]);
}

#[test]
fn a_refusal_fails_where_the_new_process_lists_the_session() {
    let first = format!("{HELLO}{NEW}{}\n>x\nexit 0", two_turns());
    let list = r#"
        > {"id":7,"method":"session/list","params":{}}
        < {"id":7,"result":{"sessions":[{"sessionId":"s1","cwd":"/project"}]}}
    "#;
    let it = with_two_processes(&first, &format!("{HELLO}{LOAD}\n{REFUSED}\n>x"));
    assert_eq!(faults(&it), ["LOAD-08"]);
    assert!(is_inconclusive(&it, "LOAD-01"));
    let it = with_two_processes(&first, &format!("{HELLO}{list}{LOAD}\n{REFUSED}\n>x"));
    assert_eq!(faults(&it), ["LOAD-01", "LOAD-08"]);
    let it = with_two_processes(&first, &format!("{HELLO}{list}{RESUME}\n{REFUSED}\n>x"));
    assert_eq!(faults(&it), ["RESUME-01"]);
    // In another folder, or with servers that may be the reason, nothing is shown.
    let elsewhere = LOAD.replace("/project", "/elsewhere");
    let it = with_two_processes(&first, &format!("{HELLO}{list}{elsewhere}\n{REFUSED}\n>x"));
    assert_eq!(faults(&it), [""; 0]);
}

#[test]
fn a_method_that_is_advertised_and_not_there_fails() {
    let missing = r#"< {"id":8,"error":{"code":-32601,"message":"Method not found"}}"#;
    assert_eq!(
        faults(&judged(&format!("{HELLO}{LOAD}\n{missing}"))),
        ["LOAD-01"]
    );
    assert_eq!(
        faults(&judged(&format!("{HELLO}{RESUME}\n{missing}"))),
        ["RESUME-01"]
    );
    let login = r#"< {"id":8,"error":{"code":-32000,"message":"log in"}}"#;
    assert!(is_inconclusive(
        &judged(&format!("{HELLO}{LOAD}\n{login}")),
        "LOAD-01"
    ));
}

#[test]
fn a_resume_that_replays_fails_and_states_do_not() {
    let usage = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"usage_update","used":1,"size":2}}}"#;
    let it = judged(&format!("{HELLO}{RESUME}\n{usage}\n{LOADED}\nwait 1\n>x"));
    assert_eq!(failures(&it), [""; 0]);
    assert!(holds(&it, "RESUME-01") && holds(&it, "RESUME-02"));
    let it = judged(&format!(
        "{HELLO}{RESUME}\n{}\n{}\n{LOADED}\nwait 1\n>x",
        user("hello"),
        agent("hi")
    ));
    assert_eq!(failures(&it), ["RESUME-02@3/params/update"]);
    // Afterwards it is only noted.
    let it = judged(&format!(
        "{HELLO}{RESUME}\n{LOADED}\n{}\nwait 1\n>x",
        agent("hi")
    ));
    assert_eq!(faults(&it), [""; 0]);
    assert_eq!(notes(&it, "RESUME-02"), 1);
}

#[test]
fn a_resume_is_answered_with_an_object() {
    let it = judged(&format!(
        "{HELLO}{RESUME}\n{}",
        r#"< {"id":8,"result":"ok"}"#
    ));
    assert_eq!(faults(&it), ["RESUME-01"]);
}

#[test]
fn a_request_to_the_client_during_a_replay_is_noted() {
    let ask = r#"< {"id":5,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/project/a"}}"#;
    let it = judged(&format!("{HELLO}{LOAD}\n{ask}\n{LOADED}"));
    assert_eq!(notes(&it, "LOAD-11"), 1);
}

#[test]
fn two_loads_of_one_session_at_once_are_no_late_replay() {
    let again = LOAD.replace("\"id\":8", "\"id\":9");
    let loaded_again = LOADED.replace("\"id\":8", "\"id\":9");
    let whole = [
        user("Tell me of the heron."),
        agent("It stands still."),
        user("And the otter?"),
        agent("It swims."),
    ]
    .join("\n");
    for (between, behind) in [
        (format!("{whole}\n{LOADED}\n{whole}"), loaded_again.as_str()),
        (format!("{whole}\n{loaded_again}\n{whole}"), LOADED),
        (format!("{whole}\n{whole}\n{LOADED}"), loaded_again.as_str()),
        // The second one is refused, as the session is being loaded.
        (
            format!("{}\n{whole}", REFUSED.replace("\"id\":8", "\"id\":9")),
            LOADED,
        ),
    ] {
        let it = judged(&format!(
            "{HELLO}{NEW}{}\n{LOAD}\n{again}\n{between}\n{behind}\nwait 1\n>x",
            two_turns()
        ));
        assert_eq!(faults(&it), [""; 0], "{between}");
        assert!(is_inconclusive(&it, "LOAD-02"), "{between}");
    }
    // What comes after both were answered is late all the same.
    let it = judged(&format!(
        "{HELLO}{NEW}{}\n{LOAD}\n{again}\n{LOADED}\n{loaded_again}\n{whole}",
        two_turns()
    ));
    assert_eq!(faults(&it), ["LOAD-03"]);
}

#[test]
fn a_refused_load_takes_nothing_from_another_one_that_is_under_way() {
    let again = LOAD.replace("\"id\":8", "\"id\":9");
    let loaded_again = LOADED.replace("\"id\":8", "\"id\":9");
    let it = judged(&format!(
        "{HELLO}{LOAD}\n{again}\n{REFUSED}\n{}\n{loaded_again}\n{}",
        user("Tell me of the heron."),
        turn(10, "And the otter?", &[agent("It swims.")])
    ));
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn a_conversation_that_comes_twice_fails() {
    let whole = [
        user("Tell me of the heron."),
        agent("It stands still."),
        user("And the otter?"),
        agent("It swims."),
    ];
    assert_eq!(
        faults(&replayed(&[whole.clone(), whole.clone()].concat())),
        ["LOAD-04"]
    );
    // Said twice, and replayed once.
    let it = judged(&format!(
        "{HELLO}{NEW}{}\n{}\n{LOAD}\n{}\n{LOADED}\nwait 1\n>x",
        two_turns(),
        two_turns().replace("\"id\":", "\"id\":1"),
        [whole.clone(), whole.clone()].concat().join("\n")
    ));
    assert_eq!(failures(&it), [""; 0]);
    // The words of the user once more beside a file, as an agent may show them.
    let mut beside = whole.to_vec();
    beside.insert(0, user("Tell me of the heron. And the otter?"));
    assert_eq!(failures(&replayed(&beside)), [""; 0]);
}
