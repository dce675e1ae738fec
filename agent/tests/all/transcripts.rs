//! Whole conversations, to the letter. Ids that differ from run to run are replaced by names.

use crate::client::{Bob, asks_permission};
use serde_json::json;

#[test]
fn a_session_with_tools() {
    let mut bob = Bob::start();
    bob.permission = Some("allow");
    let hello = json!({
        "protocolVersion": 1,
        "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true},
        "clientInfo": {"name": "tests", "version": "1"},
    });
    bob.call("initialize", hello);
    let session = bob.session();
    bob.turn(
        &session,
        "say I look around.\nrun echo hello\nwrite note.txt one two\nedit note.txt one => 1\n\
         read note.txt\nsay That is all.",
    );
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn a_rejection_a_failure_and_a_cancel() {
    let mut bob = Bob::ready();
    let session = bob.session();
    bob.permission = Some("reject");
    bob.turn(&session, "run touch out.txt\nsay Then not.");
    bob.turn(&session, "fail no ink");
    bob.permission = None;
    let id = bob.prompt(&session, "write out.txt text");
    bob.wait(asks_permission);
    bob.cancel(&session);
    bob.end_of_turn(id);
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn commands_and_refusals() {
    let mut bob = Bob::ready();
    let session = bob.session();
    bob.turn(&session, "hello");
    bob.turn(&session, "/compact");
    bob.turn(&session, "/new");
    bob.call(
        "session/set_mode",
        json!({"sessionId": session, "modeId": "code"}),
    );
    bob.call("session/new", json!({"cwd": "here", "mcpServers": []}));
    bob.call(
        "session/prompt",
        json!({"sessionId": "unknown", "prompt": []}),
    );
    insta::assert_snapshot!(bob.transcript());
}
