//! Situations that decide what canonical form and comparison are worth.

use serde_json::{Value, json};

use super::{Change, Class, Difference, Sides, diff, diff_looking_at};
use crate::canon::{Scrutiny, Volatility};
use crate::trace::{Body, Event, Exit, Header, Party, Recording};

/// A trace of messages, each from `>` the client or `<` the agent.
fn trace(lines: &[(char, Value)]) -> Recording {
    let events = lines.iter().map(|(from, message)| {
        let from = if *from == '>' {
            Party::Client
        } else {
            Party::Agent
        };
        let text = message.to_string();
        Event::new(
            0.0,
            from,
            Body::Message {
                text,
                partial: false,
            },
        )
    });
    Recording {
        header: Header::new(),
        events: events.collect(),
        damage: Vec::new(),
    }
}

fn ask(id: impl Into<Value>, method: &str, params: Value) -> (char, Value) {
    (
        '>',
        json!({"jsonrpc":"2.0","id":id.into(),"method":method,"params":params}),
    )
}

fn demand(id: impl Into<Value>, method: &str, params: Value) -> (char, Value) {
    (
        '<',
        json!({"jsonrpc":"2.0","id":id.into(),"method":method,"params":params}),
    )
}

fn reply(from: char, id: impl Into<Value>, result: Value) -> (char, Value) {
    (
        from,
        json!({"jsonrpc":"2.0","id":id.into(),"result":result}),
    )
}

fn update(update: Value) -> (char, Value) {
    (
        '<',
        json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":update}}),
    )
}

fn say(text: &str) -> (char, Value) {
    update(json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":text}}))
}

fn call(id: &str, title: &str) -> (char, Value) {
    update(
        json!({"sessionUpdate":"tool_call","toolCallId":id,"title":title,"kind":"execute","status":"pending"}),
    )
}

fn state(id: &str, status: &str) -> (char, Value) {
    update(json!({"sessionUpdate":"tool_call_update","toolCallId":id,"status":status}))
}

fn cancel() -> (char, Value) {
    (
        '>',
        json!({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}),
    )
}

/// A turn with these messages in it, on a session of its own.
fn turn(lines: &[(char, Value)], stop: &str) -> Recording {
    let mut all = vec![
        ask(0, "initialize", json!({"protocolVersion":1})),
        reply('<', 0, json!({"protocolVersion":1})),
        ask(1, "session/new", json!({"cwd":"/w","mcpServers":[]})),
        reply('<', 1, json!({"sessionId":"s"})),
        ask(
            2,
            "session/prompt",
            json!({"sessionId":"s","prompt":[{"type":"text","text":"go"}]}),
        ),
    ];
    all.extend(lines.iter().cloned());
    all.push(reply('<', 2, json!({"stopReason":stop})));
    trace(&all)
}

fn found(left: &Recording, right: &Recording) -> Vec<Difference> {
    diff(left, right, &Volatility::built_in()).differences
}

fn places(differences: &[Difference]) -> Vec<String> {
    differences
        .iter()
        .map(|it| format!("{} {} {}", it.class, it.change, it.place))
        .collect()
}

#[track_caller]
fn same(left: &Recording, right: &Recording) {
    assert_eq!(places(&found(left, right)), [""; 0]);
    assert_eq!(places(&found(right, left)), [""; 0]);
}

#[test]
fn a_text_that_a_cancel_cut_is_compared_as_far_as_it_goes() {
    let long = turn(&[say("one two three"), cancel(), say(" four")], "cancelled");
    same(&long, &turn(&[say("one"), cancel()], "cancelled"));
    same(&long, &turn(&[cancel()], "cancelled"));
    let other = found(&long, &turn(&[say("one too"), cancel()], "cancelled"));
    assert_eq!(
        places(&other),
        ["text changed session-1 · turn 1 · agent message"]
    );
    // What was whole before is compared as a whole.
    let left = turn(
        &[
            say("a"),
            call("c", "run"),
            state("c", "completed"),
            cancel(),
        ],
        "cancelled",
    );
    assert_eq!(found(&left, &turn(&[cancel()], "cancelled")).len(), 2);
}

#[test]
fn a_call_in_flight_at_a_cancel_may_stop_anywhere() {
    let left = turn(
        &[
            call("c", "run"),
            state("c", "in_progress"),
            cancel(),
            state("c", "failed"),
        ],
        "cancelled",
    );
    same(&left, &turn(&[call("c", "run"), cancel()], "cancelled"));
    same(&left, &turn(&[cancel()], "cancelled"));
    let other = found(
        &left,
        &turn(
            &[
                call("c", "run"),
                state("c", "in_progress"),
                cancel(),
                state("c", "completed"),
            ],
            "cancelled",
        ),
    );
    assert_eq!(
        places(&other),
        ["behaviour changed session-1 · turn 1 · tool-1 · status"]
    );
}

#[test]
fn how_a_cancelled_turn_ends_is_always_compared() {
    let left = turn(&[say("one"), cancel()], "cancelled");
    let other = found(&left, &turn(&[say("one"), cancel()], "end_turn"));
    assert!(
        places(&other)
            .iter()
            .any(|place| place.ends_with("session/prompt response · stopReason")),
        "{other:?}"
    );
}

#[test]
fn a_turn_that_the_end_of_stdin_cut_off_is_compared_as_far_as_it_goes() {
    let cut = |lines: &[(char, Value)], answered: bool| {
        let mut recording = turn(lines, "cancelled");
        let answer = recording.events.pop().unwrap();
        recording
            .events
            .push(Event::new(0.0, Party::Client, Body::Eof));
        if answered {
            recording.events.push(answer);
        }
        recording
            .events
            .push(Event::new(0.0, Party::Agent, Body::Exit(Exit::Code(0))));
        recording
    };
    same(&cut(&[say("one two")], true), &cut(&[say("one")], false));
    assert_eq!(
        found(&cut(&[say("one")], true), &cut(&[say("two")], true)).len(),
        1
    );
}

#[test]
fn parallel_calls_may_mix_and_one_missing_call_does_not_shift_the_others() {
    let left = [
        call("a", "one"),
        call("b", "two"),
        state("a", "completed"),
        state("b", "failed"),
    ];
    let mixed = [
        call("x", "one"),
        call("y", "two"),
        state("y", "failed"),
        state("x", "completed"),
    ];
    same(&turn(&left, "end_turn"), &turn(&mixed, "end_turn"));
    let three = [
        call("a", "one"),
        call("b", "two"),
        call("c", "three"),
        state("c", "failed"),
    ];
    let two = [call("1", "two"), call("2", "three"), state("2", "failed")];
    let other = found(&turn(&three, "end_turn"), &turn(&two, "end_turn"));
    assert!(
        places(&other).contains(&"behaviour vanished session-1 · turn 1 · tool-1".to_owned()),
        "{other:?}"
    );
    assert!(
        other
            .iter()
            .all(|it| !it.place.contains("tool-2") && !it.place.contains("tool-3")),
        "{other:?}"
    );
}

#[test]
fn an_update_that_goes_to_another_call_is_found_though_all_looks_alike() {
    let left = [call("a", "one"), call("b", "one"), state("a", "completed")];
    let right = [call("a", "one"), call("b", "one"), state("b", "completed")];
    assert!(!found(&turn(&left, "end_turn"), &turn(&right, "end_turn")).is_empty());
}

#[test]
fn answers_that_are_swapped_are_found_though_all_looks_alike() {
    let read = |id: u64| {
        demand(
            id,
            "fs/read_text_file",
            json!({"sessionId":"s","path":"/w/a"}),
        )
    };
    let content = |id: u64, text: &str| reply('>', id, json!({"content":text}));
    let left = turn(
        &[read(7), read(8), content(7, "x"), content(8, "y")],
        "end_turn",
    );
    same(
        &left,
        &turn(
            &[read(8), read(7), content(8, "x"), content(7, "y")],
            "end_turn",
        ),
    );
    let swapped = turn(
        &[read(7), read(8), content(8, "x"), content(7, "y")],
        "end_turn",
    );
    let other = found(&left, &swapped);
    assert!(
        other
            .iter()
            .any(|it| it.message == "it answers another request"),
        "{other:?}"
    );
}

#[test]
fn an_id_that_is_a_word_is_not_taken_for_the_word() {
    let left = turn(&[call("call", "call"), say("call"), say(" 1")], "end_turn");
    let right = turn(&[call("x9", "call"), say("call 1")], "end_turn");
    same(&left, &right);
    // Where the id itself is written elsewhere, it goes with the id.
    let written = |id: &str| {
        turn(
            &[update(
                json!({"sessionUpdate":"tool_call","toolCallId":id,"title":"t","rawInput":{"own":id,"text":format!("see {id}")}}),
            )],
            "end_turn",
        )
    };
    same(&written("call_00000001"), &written("toolu_ABCDEFGH"));
}

#[test]
fn an_id_that_is_used_again_is_another_call() {
    let once = |id: &str| [call(id, "one"), state(id, "completed")];
    let left: Vec<_> = [once("c"), once("c")].concat();
    let right: Vec<_> = [once("c"), once("d")].concat();
    let other = found(&turn(&left, "end_turn"), &turn(&right, "end_turn"));
    assert!(
        other.iter().all(|it| it.change != Change::Vanished),
        "{other:?}"
    );
}

#[test]
fn questions_for_the_output_of_a_terminal_are_one_as_long_as_it_grows() {
    let poll = |id: u64, output: &str| {
        [
            demand(
                id,
                "terminal/output",
                json!({"sessionId":"s","terminalId":"t"}),
            ),
            reply('>', id, json!({"output":output,"truncated":false})),
        ]
    };
    let start = [
        demand(
            1,
            "terminal/create",
            json!({"sessionId":"s","command":"ls"}),
        ),
        reply('>', 1, json!({"terminalId":"t"})),
    ];
    let talk =
        |polls: &[[(char, Value); 2]]| turn(&[start.to_vec(), polls.concat()].concat(), "end_turn");
    let once = talk(&[poll(2, "abc")]);
    same(
        &once,
        &talk(&[poll(2, ""), poll(3, "a"), poll(4, "abc"), poll(5, "abc")]),
    );
    assert!(!found(&once, &talk(&[poll(2, "x"), poll(3, "abc")])).is_empty());
}

#[test]
fn when_a_client_says_that_it_let_a_terminal_go_makes_no_difference() {
    let start = [
        demand(
            1,
            "terminal/create",
            json!({"sessionId":"s","command":"ls"}),
        ),
        reply('>', 1, json!({"terminalId":"t"})),
    ];
    let end = |method: &str| demand(2, method, json!({"sessionId":"s","terminalId":"t"}));
    for method in ["terminal/kill", "terminal/release"] {
        let lines = [end(method), reply('>', 2, json!({})), say("done")];
        let soon = turn(&[&start[..], &lines].concat(), "end_turn");
        let mut late = soon.clone();
        let answer = late.events.remove(8);
        late.events.push(answer);
        same(&soon, &late);
    }
    // The answer to what the agent waits for keeps its place.
    let lines = [
        end("terminal/wait_for_exit"),
        reply('>', 2, json!({"exitCode":0})),
        say("done"),
    ];
    let soon = turn(&[&start[..], &lines].concat(), "end_turn");
    let mut late = soon.clone();
    let answer = late.events.remove(8);
    late.events.push(answer);
    assert!(!found(&soon, &late).is_empty());
}

#[test]
fn what_says_nothing_may_be_left_out_and_members_may_stand_in_any_order() {
    let left = trace(&[
        ask(
            0,
            "initialize",
            json!({"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false}},"clientInfo":null}),
        ),
        reply(
            '<',
            0,
            json!({"protocolVersion":1,"authMethods":[],"agentCapabilities":{"loadSession":false,"mcpCapabilities":{}}}),
        ),
    ]);
    let right = trace(&[
        ask(
            "a",
            "initialize",
            json!({"clientCapabilities":{},"protocolVersion":1.0}),
        ),
        reply('<', "a", json!({"agentInfo":null,"protocolVersion":1})),
    ]);
    same(&left, &right);
}

#[test]
fn redacted_secrets_are_compared_by_which_is_which() {
    let talk = |one: &str, other: &str| {
        turn(
            &[say(&format!(
                "{{secret-{one}}} and {{secret-{other}}} and {{secret-{one}}}"
            ))],
            "end_turn",
        )
    };
    same(&talk("1", "2"), &talk("2", "1"));
    assert_eq!(found(&talk("1", "2"), &talk("1", "1")).len(), 1);
}

#[test]
fn an_exit_counts_by_its_code_unless_it_was_forced() {
    let ended = |code: i32, signal: bool| {
        let mut recording = turn(&[], "end_turn");
        if signal {
            recording
                .events
                .push(Event::new(0.0, Party::Harness, Body::Signal(15)));
        }
        recording
            .events
            .push(Event::new(0.0, Party::Agent, Body::Exit(Exit::Code(code))));
        recording
    };
    assert_eq!(
        places(&found(&ended(0, false), &ended(3, false))),
        ["behaviour changed connection · exit"]
    );
    same(&ended(0, false), &ended(143, true));
    // A recording that stops before the end says nothing about it.
    same(&ended(0, false), &turn(&[], "end_turn"));
}

#[test]
fn a_session_that_is_missing_is_one_difference() {
    let session = |id: u64, name: &str, text: &str| {
        vec![
            ask(id, "session/new", json!({"cwd":"/w","mcpServers":[]})),
            reply('<', id, json!({"sessionId":name})),
            ask(
                id + 1,
                "session/prompt",
                json!({"sessionId":name,"prompt":[{"type":"text","text":text}]}),
            ),
            reply('<', id + 1, json!({"stopReason":"end_turn"})),
        ]
    };
    let left = trace(
        &[
            session(1, "a", "one"),
            session(3, "b", "two"),
            session(5, "c", "three"),
        ]
        .concat(),
    );
    let right = trace(&[session(1, "x", "one"), session(3, "y", "three")].concat());
    let other = found(&left, &right);
    assert_eq!(places(&other), ["behaviour vanished session-2"]);
    assert_eq!(other[0].class, Class::Behaviour);
}

#[test]
fn what_comes_before_the_answer_that_it_must_wait_for_is_found() {
    let question = demand(
        7,
        "session/request_permission",
        json!({"sessionId":"s","toolCall":{"toolCallId":"c"},
        "options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}),
    );
    let answer = reply(
        '>',
        7,
        json!({"outcome":{"outcome":"selected","optionId":"y"}}),
    );
    let act = demand(
        8,
        "terminal/create",
        json!({"sessionId":"s","command":"rm"}),
    );
    let done = reply('>', 8, json!({"terminalId":"t"}));
    let start = call("c", "run");
    let waits = [
        start.clone(),
        question.clone(),
        answer.clone(),
        act.clone(),
        done.clone(),
    ];
    let acts_first = [start, question, act, done, answer];
    let other = found(&turn(&waits, "end_turn"), &turn(&acts_first, "end_turn"));
    assert!(
        other.iter().any(|it| it.change == Change::Moved),
        "{other:?}"
    );
}

#[test]
fn a_state_update_does_not_float_over_the_opening_of_its_session() {
    let mode = update(json!({"sessionUpdate":"current_mode_update","currentModeId":"a"}));
    let new = ask(1, "session/new", json!({"cwd":"/w","mcpServers":[]}));
    let opened = reply('<', 1, json!({"sessionId":"s"}));
    let left = trace(&[new.clone(), opened.clone(), mode.clone()]);
    let right = trace(&[new, mode, opened]);
    assert!(!found(&left, &right).is_empty());
}

#[test]
fn calls_that_have_nothing_in_common_are_two_calls() {
    let with = |title: &str, kind: &str, path: &str| {
        turn(
            &[update(
                json!({"sessionUpdate":"tool_call","toolCallId":"c","title":title,"kind":kind,"rawInput":{"path":path}}),
            )],
            "end_turn",
        )
    };
    let left = with("Read README.md", "read", "README.md");
    let changes = |right: &Recording| -> Vec<Change> {
        found(&left, right).iter().map(|it| it.change).collect()
    };
    assert_eq!(
        changes(&with("Write list.txt", "edit", "list.txt")),
        [Change::Vanished, Change::Appeared]
    );
    assert_eq!(
        changes(&with("Read main.rs", "read", "main.rs")),
        [Change::Changed, Change::Changed]
    );
}

#[test]
fn things_of_one_turn_are_not_taken_for_those_of_another() {
    let talk = |texts: &[&[&str]]| {
        let mut lines = vec![
            ask(1, "session/new", json!({"cwd":"/w","mcpServers":[]})),
            reply('<', 1, json!({"sessionId":"s"})),
        ];
        for (number, turn) in (2u64..).zip(texts) {
            lines.push(ask(
                number,
                "session/prompt",
                json!({"sessionId":"s","prompt":[{"type":"text","text":format!("turn {number}")}]}),
            ));
            for text in *turn {
                lines.push(say(text));
                lines.push(update(json!({"sessionUpdate":"plan","entries":[]})));
            }
            lines.push(reply('<', number, json!({"stopReason":"end_turn"})));
        }
        trace(&lines)
    };
    let other = found(&talk(&[&["a"], &["b"]]), &talk(&[&["b", "c"], &["d"]]));
    assert!(
        other
            .iter()
            .all(|it| !it.message.contains("another request")),
        "{other:?}"
    );
}

#[test]
fn the_folder_of_an_agent_whose_sessions_were_opened_before_the_recording_is_theirs() {
    let cut = |cwd: &str| {
        let mut recording = trace(&[say(&format!("see {cwd}/a"))]);
        recording.header.cwd = Some(cwd.to_owned());
        recording.header.start = Some(false);
        recording
    };
    same(&cut("/srv/one"), &cut("/srv/two/three"));
}

#[test]
fn the_sides_have_their_names_and_the_words_of_the_agent_stay() {
    let with = |input: Value| {
        turn(
            &[update(
                json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"Look","kind":"read","rawInput":input}),
            )],
            "end_turn",
        )
    };
    let (left, right) = (
        with(json!({"on the left": 1, "same": 1})),
        with(json!({"same": 1})),
    );
    let messages = |sides| {
        let volatile = Volatility::built_in();
        let scrutiny = Scrutiny::default();
        let found = diff_looking_at(&left, &right, &volatile, scrutiny, sides).differences;
        let messages = found.into_iter().map(|difference| difference.message);
        messages.collect::<Vec<_>>()
    };
    assert_eq!(
        messages(Sides::RECORDINGS),
        ["`on the left` is on the left only"]
    );
    assert_eq!(
        messages(Sides::REPLAY),
        ["`on the left` is in the recording only"]
    );
}

/// A turn for each of these answers to its prompt.
fn turns(stops: &[&str]) -> Recording {
    let mut lines = vec![
        ask(0, "initialize", json!({"protocolVersion": 1})),
        reply(
            '<',
            0,
            json!({"protocolVersion": 1, "agentCapabilities": {}}),
        ),
        ask(1, "session/new", json!({"cwd": "/w", "mcpServers": []})),
        reply('<', 1, json!({"sessionId": "s"})),
    ];
    for (number, stop) in (2..).zip(stops) {
        let prompt = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]});
        lines.push(ask(number, "session/prompt", prompt));
        lines.push(reply('<', number, json!({"stopReason": stop})));
    }
    trace(&lines)
}

#[test]
fn a_second_breach_of_the_same_rule_is_breaking_and_one_that_was_there_is_not() {
    let class = |left: &[&str], right: &[&str]| {
        let found = diff(&turns(left), &turns(right), &Volatility::built_in());
        let classes = found.differences.iter().map(|it| it.class);
        classes.collect::<Vec<_>>()
    };
    assert_eq!(
        class(&["bad", "end_turn"], &["bad", "bad"]),
        [Class::Breaking]
    );
    assert_eq!(
        class(&["bad", "end_turn"], &["worse", "end_turn"]),
        [Class::Behaviour]
    );
    assert_eq!(
        class(&["bad", "bad"], &["bad", "end_turn"]),
        [Class::Behaviour]
    );
    assert_eq!(class(&["bad", "bad"], &["bad", "bad"]), []);
}
