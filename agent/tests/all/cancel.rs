//! Cancelled turns, closed inputs and signals.

use std::time::{Duration, Instant};

use crate::client::{Bob, Turn, asks_permission, has_status, is_update, wait_for_end};
use nix::sys::signal::Signal;
use serde_json::json;

/// A cancel has to take effect within this time.
const SECOND: Duration = Duration::from_secs(1);

/// Cancels, and waits for the end of the turn.
fn cancelled(bob: &mut Bob, session: &str, id: i64) -> Turn {
    let began = Instant::now();
    bob.cancel(session);
    let turn = bob.end_of_turn(id);
    assert!(began.elapsed() < SECOND, "{:?}", began.elapsed());
    assert_eq!(turn.stop_reason(), "cancelled");
    turn
}

/// Shows that the session is none the worse, and that nothing of the cancelled turn follows.
fn is_usable(bob: &mut Bob, session: &str) {
    let turn = bob.turn(session, "hello");
    assert_eq!(turn.text(), "hello");
    assert_eq!(turn.messages.len(), 1, "{:?}", turn.messages);
    assert_eq!(turn.stop_reason(), "end_turn");
}

#[test]
fn a_cancel_while_the_answer_streams() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let id = bob.prompt(&session, "stream 1000000 1");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    cancelled(&mut bob, &session, id);
    is_usable(&mut bob, &session);
}

#[test]
fn a_cancel_while_the_answer_streams_as_fast_as_it_can() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let id = bob.prompt(&session, "stream 100000000 0");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    bob.cancel(&session);
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    is_usable(&mut bob, &session);
}

#[test]
fn a_cancel_while_a_tool_runs_ends_its_processes() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let session = bob.session();
    let id = bob.prompt(
        &session,
        "run echo $$ > pid; trap '' TERM; sleep 600 & sleep 601\nsay no",
    );
    bob.wait(|message| has_status(message, "in_progress"));
    let pid = pid_in(&bob, "pid");
    let turn = cancelled(&mut bob, &session, id);
    assert_eq!(turn.states(), [("call_1".to_owned(), "failed".to_owned())]);
    wait_for_end(pid);
    is_usable(&mut bob, &session);
}

#[test]
fn a_cancel_while_permission_is_asked_runs_nothing_even_if_it_is_given_later() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let id = bob.prompt(&session, "run touch out.txt");
    let request = bob.wait(asks_permission);
    let turn = cancelled(&mut bob, &session, id);
    assert_eq!(turn.states(), [("call_1".to_owned(), "failed".to_owned())]);
    assert_eq!(
        turn.messages.len(),
        1,
        "no `$/cancel_request`: {:?}",
        turn.messages
    );
    bob.permit(&request, "allow");
    is_usable(&mut bob, &session);
    assert!(!bob.cwd().join("out.txt").exists());
}

#[test]
fn a_permission_answered_with_cancelled_after_the_cancel() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let id = bob.prompt(&session, "run touch out.txt");
    let request = bob.wait(asks_permission);
    bob.cancel(&session);
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    bob.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": outcome}));
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    is_usable(&mut bob, &session);
}

#[test]
fn a_cancel_while_the_turn_waits_for_its_place() {
    let mut bob = Bob::ready();
    let (first, second) = (bob.session(), bob.session());
    let running = bob.prompt(&first, "say begun\nwait 60000");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    let waiting = bob.prompt(&second, "say never");
    let turn = cancelled(&mut bob, &second, waiting);
    assert_eq!(turn.messages.len(), 0);
    cancelled(&mut bob, &first, running);
    is_usable(&mut bob, &second);
}

#[test]
fn a_cancel_of_one_session_leaves_the_others_alone() {
    let mut bob = Bob::ready();
    let (first, second) = (bob.session(), bob.session());
    let running = bob.prompt(&first, "say begun\nwait 60000");
    let waiting = bob.prompt(&second, "say mine");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    cancelled(&mut bob, &first, running);
    let turn = bob.end_of_turn(waiting);
    assert_eq!(turn.text(), "mine");
    assert_eq!(turn.stop_reason(), "end_turn");
}

#[test]
fn a_cancel_with_nothing_running_does_not_touch_the_next_turn() {
    let mut bob = Bob::ready();
    let session = bob.session();
    bob.cancel(&session);
    is_usable(&mut bob, &session);
    let id = bob.prompt(&session, "say begun\nwait 60000");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    bob.cancel(&session);
    bob.cancel(&session);
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    bob.cancel(&session);
    is_usable(&mut bob, &session);
}

#[test]
fn a_cancel_right_behind_the_prompt() {
    let mut bob = Bob::ready();
    let session = bob.session();
    for _ in 0..20 {
        let id = bob.prompt(&session, "wait 60000");
        cancelled(&mut bob, &session, id);
    }
    is_usable(&mut bob, &session);
}

#[test]
fn a_cancel_request_on_a_prompt_is_a_cancel() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let id = bob.prompt(&session, "say begun\nwait 60000");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    bob.notify("$/cancel_request", json!({"requestId": 9999}));
    bob.notify("$/cancel_request", json!({"requestId": id}));
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    is_usable(&mut bob, &session);
}

#[test]
fn a_cancel_during_a_summary_changes_nothing() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let first = bob.prompt(&session, "say begun\nwait 60000");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    let second = bob.prompt(&session, "/compact");
    bob.cancel(&session);
    both_cancelled(&mut bob, first, second);
    let turn = bob.turn(&session, "/new");
    assert_eq!(turn.text(), "🆕 New session: 2 message(s) forgotten.");
}

#[test]
fn while_a_turn_runs_other_requests_are_answered() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let id = bob.prompt(&session, "say begun\nwait 60000");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    bob.session();
    assert_eq!(bob.call("nonsense", json!({}))["error"]["code"], -32601);
    cancelled(&mut bob, &session, id);
}

#[test]
fn the_end_of_the_input_ends_an_idle_bob() {
    for mut bob in [Bob::start(), Bob::ready()] {
        bob.close_stdin();
        assert!(bob.exit().success());
    }
}

#[test]
fn the_end_of_the_input_cancels_a_turn_in_the_middle_of_its_text() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let id = bob.prompt(&session, "say begun\nwait 60000");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    bob.close_stdin();
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    assert!(bob.exit().success());
}

#[test]
fn the_end_of_the_input_cancels_a_turn_that_asks_for_permission() {
    for _ in 0..10 {
        let mut bob = Bob::ready();
        let session = bob.session();
        let id = bob.prompt(&session, "run touch out.txt");
        bob.wait(asks_permission);
        bob.close_stdin();
        let turn = bob.end_of_turn(id);
        assert_eq!(turn.stop_reason(), "cancelled");
        assert_eq!(turn.states(), [("call_1".to_owned(), "failed".to_owned())]);
        assert!(bob.exit().success());
    }
}

#[test]
fn the_end_of_the_input_ends_the_processes_of_a_tool_and_what_waits() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    let session = bob.session();
    let id = bob.prompt(&session, "run echo $$ > pid; sleep 600 & sleep 601");
    let waiting = bob.prompt(&session, "say never");
    bob.wait(|message| has_status(message, "in_progress"));
    let pid = pid_in(&bob, "pid");
    bob.close_stdin();
    both_cancelled(&mut bob, id, waiting);
    assert!(bob.exit().success());
    wait_for_end(pid);
}

#[test]
fn a_signal_to_stop_cancels_what_runs_and_the_exit_code_is_zero() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut bob = Bob::ready();
        bob.permission = Some("allow");
        let session = bob.session();
        let id = bob.prompt(&session, "run echo $$ > pid; sleep 600");
        bob.wait(|message| has_status(message, "in_progress"));
        let pid = pid_in(&bob, "pid");
        bob.signal(signal);
        assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
        assert_eq!(bob.exit().code(), Some(0), "{signal}");
        wait_for_end(pid);
    }
}

/// Two turns are answered `cancelled`, in either order.
fn both_cancelled(bob: &mut Bob, first: i64, second: i64) {
    let mut answers = [(); 2].map(|()| bob.wait(|message| message.get("result").is_some()));
    answers.sort_by_key(|answer| answer["id"].as_i64());
    for (answer, id) in answers.iter().zip([first, second]) {
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"], json!({"stopReason": "cancelled"}));
    }
}

/// The process id that a command writes into a file.
fn pid_in(bob: &Bob, name: &str) -> i32 {
    let path = bob.cwd().join(name);
    let deadline = Instant::now() + crate::client::LIMIT;
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(pid) = text.strip_suffix('\n') {
            return pid.parse().unwrap();
        }
        assert!(Instant::now() < deadline, "the command does not start");
        std::thread::yield_now();
    }
}
