//! Prompts: content, attachments, slash commands, and what the history keeps.

use crate::client::{Bob, Setup};
use serde_json::{Value, json};

fn ask(bob: &mut Bob, session: &str, blocks: Value) -> crate::client::Turn {
    let id = bob.request(
        "session/prompt",
        json!({"sessionId": session, "prompt": blocks}),
    );
    bob.end_of_turn(id)
}

#[test]
fn what_is_no_directive_is_echoed_with_white_space_kept() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let turn = bob.turn(&session, "  two  spaces\n\tand a tab — ünïcode 🗜\u{2028} ");
    assert_eq!(
        turn.text(),
        "  two  spaces\n\tand a tab — ünïcode 🗜\u{2028} "
    );
    assert_eq!(turn.stop_reason(), "end_turn");
    bob.stderr_until("[acp] turn done: 0 command(s) · 0 file op(s) · 0 skill(s)");
}

#[test]
fn blocks_are_joined_and_links_become_attachments() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let turn = ask(
        &mut bob,
        &session,
        json!([
            {"type": "text", "text": "one "},
            {"type": "text", "text": "two", "annotations": null, "_meta": {"n": [null]}},
            {"type": "resource_link", "name": "x", "uri": "file:///tmp/x.rs", "size": null},
            {"type": "image", "mimeType": "image/png", "data": ""},
            {"type": "hologram"},
        ]),
    );
    assert_eq!(turn.text(), "one two\n[attached file: /tmp/x.rs]");
}

#[test]
fn paths_in_the_text_are_attached_once_and_logged() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let file = bob.write("a.txt", "");
    let folder = bob.cwd().join("src");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(bob.home.path().join("note"), "").unwrap();
    let home = bob.home.path().display().to_string();
    let absolute = file.display().to_string();
    let turn = bob.turn(
        &session,
        &format!("@a.txt, @src @~/note @{absolute} @missing a@b"),
    );
    let expected = format!(
        "[attached file: {absolute}]\n[attached directory: {}]\n[attached file: {home}/note]",
        folder.display()
    );
    assert!(
        turn.text().ends_with(&format!("a@b\n{expected}")),
        "{}",
        turn.text()
    );
    let log = bob.stderr_until("turn done");
    let attached: Vec<&String> = log
        .iter()
        .filter(|line| line.contains("attached"))
        .collect();
    assert_eq!(attached.len(), 3);
    assert_eq!(
        *attached[0],
        format!("[acp] session {session}: attached {absolute}")
    );
}

#[test]
fn an_empty_prompt_is_a_turn_too() {
    let mut bob = Bob::ready();
    let session = bob.session();
    assert_eq!(ask(&mut bob, &session, json!([])).stop_reason(), "end_turn");
    assert_eq!(bob.turn(&session, "\n").messages.len(), 0);
    let turn = bob.turn(&session, "/new");
    assert_eq!(turn.text(), "🆕 New session: 0 message(s) forgotten.");
}

#[test]
fn streamed_fragments_arrive_one_by_one_in_order() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let turn = bob.turn(&session, "say begin\nstream 3 1\nthink quietly\nsay end");
    let chunks: Vec<&str> = turn
        .updates()
        .map(|update| update["content"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        chunks,
        ["begin", "\nchunk 1\n", "chunk 2\n", "chunk 3\n", "end"]
    );
}

#[test]
fn new_forgets_the_history_and_keeps_what_was_allowed() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow_always");
    let session = bob.session();
    assert_eq!(bob.turn(&session, "run true\nsay done").permissions(), 1);
    let turn = bob.turn(&session, " /new\n");
    assert_eq!(turn.text(), "🆕 New session: 4 message(s) forgotten.");
    assert_eq!(turn.updates().count(), 1);
    assert_eq!(turn.stop_reason(), "end_turn");
    bob.stderr_until(&format!(
        "[acp] session {session}: new session, 4 message(s) forgotten"
    ));
    assert_eq!(bob.turn(&session, "run pwd").permissions(), 0);
}

#[test]
fn a_command_with_anything_beside_it_is_a_question() {
    let mut bob = Bob::ready();
    let session = bob.session();
    for text in ["/new please", "/NEW", "new", "/new\n/compact", "/unload"] {
        assert_eq!(bob.turn(&session, text).text(), text);
    }
}

#[test]
fn compact_turns_older_turns_into_one_summary() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let turn = bob.turn(&session, "/compact");
    assert_eq!(
        turn.text(),
        "🗜️ nothing to compact: 0 message(s), no turn older than the last 4"
    );
    for number in 0..6 {
        bob.turn(&session, &format!("question {number}"));
    }
    let text = bob.turn(&session, "/compact").text();
    assert!(
        text.starts_with("🗜️ compressed 4 messages → 1 summary + 8 kept ("),
        "{text}"
    );
    assert!(
        text.contains(" tokens, 0.") && text.ends_with("s)"),
        "{text}"
    );
    bob.stderr_until(&format!("[acp] session {session}: /compact — {text}"));
    let text = bob.turn(&session, "/compact").text();
    assert_eq!(
        text,
        "🗜️ nothing to compact: 9 message(s), no turn older than the last 4"
    );
}

#[test]
fn a_summary_that_fails_leaves_the_history_as_it_was() {
    let mut bob = Bob::ready();
    bob.write("bob.toml", "[context]\nkeepLastTurns = 1\n");
    let session = bob.session();
    bob.turn(&session, "one");
    bob.turn(&session, "fail-summary no ink left\nsay two");
    let turn = bob.turn(&session, "/compact");
    assert_eq!(turn.text(), "[compact: failed, history kept: no ink left]");
    assert_eq!(turn.stop_reason(), "end_turn");
    let text = bob.turn(&session, "/compact").text();
    assert!(
        text.starts_with("🗜️ compressed 2 messages → 1 summary + 2 kept"),
        "{text}"
    );
}

#[test]
fn a_full_window_is_compressed_before_the_next_question() {
    let mut bob = Bob::ready();
    bob.write("bob.toml", "[context]\nkeepLastTurns = 1\nwindow = 10\n");
    let session = bob.session();
    bob.turn(&session, "a question of some length, to fill the window");
    bob.turn(&session, "another one");
    let turn = bob.turn(&session, "a third one");
    assert_eq!(turn.text(), "a third one");
    bob.stderr_until(&format!(
        "[acp] session {session}: 🗜️ compressed 2 messages"
    ));
    assert_eq!(
        bob.turn(&session, "/new").text(),
        "🆕 New session: 5 message(s) forgotten."
    );
}

#[test]
fn a_failed_turn_is_an_internal_error_with_its_reason_and_the_session_goes_on() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let turn = bob.turn(&session, "fail the model is out of ink");
    assert_eq!(
        turn.answer["error"],
        json!({
            "code": -32603,
            "message": "Internal error",
            "data": {"error": "the model is out of ink"},
        })
    );
    bob.stderr_until("[acp] turn done: 0 command(s)");
    assert_eq!(bob.turn(&session, "hello").text(), "hello");
}

#[test]
fn only_a_question_without_any_answer_is_taken_out_of_the_history() {
    let mut bob = Bob::ready();
    let session = bob.session();
    bob.turn(&session, "fail at once");
    bob.turn(&session, "say half\nfail then");
    let turn = bob.turn(&session, "/new");
    assert_eq!(turn.text(), "🆕 New session: 2 message(s) forgotten.");
}

#[test]
fn a_cancelled_answer_stays_in_the_history() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let id = bob.prompt(&session, "say half\nwait 60000");
    bob.wait(|message| crate::client::is_update(message, "agent_message_chunk"));
    bob.cancel(&session);
    assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
    bob.stderr_until("[acp] turn done: 0 command(s)");
    let turn = bob.turn(&session, "/new");
    assert_eq!(turn.text(), "🆕 New session: 2 message(s) forgotten.");
}

#[test]
fn settings_with_a_wrong_key_refuse_the_session_with_their_line() {
    let mut bob = Bob::ready();
    let path = bob.write("bob.toml", "[tools]\ntimeout = 5\n");
    let answer = bob.call("session/new", json!({"cwd": bob.cwd(), "mcpServers": []}));
    assert_eq!(answer["error"]["code"], -32603);
    let reason = answer["error"]["data"]["error"].as_str().unwrap();
    assert!(
        reason.starts_with(&format!("{}:2: ", path.display())),
        "{reason}"
    );
    // Another folder is not concerned, and neither is a bob with settings of its own.
    bob.session_in(std::path::Path::new("/"));
    let settings = bob.write("other.toml", "");
    let mut other = Setup::new()
        .args(&["--config", settings.to_str().unwrap()])
        .ready();
    other.session_in(&bob.cwd());
}
