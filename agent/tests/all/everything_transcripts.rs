//! Whole conversations with the everything surface, a part of it each, exact on the wire.

use crate::client::{Bob, Setup, is_update};
use crate::for_clients::turn;
use crate::mcp_server;
use serde_json::{Value, json};

/// A client that announces these capabilities and allows every tool.
fn announcing(args: &[&str], capabilities: Value) -> Bob {
    let args = [&["--surface", "everything"], args].concat();
    let mut bob = Setup::new().args(&args).start();
    bob.permission = Some("allow");
    bob.result(
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
    );
    bob
}

#[test]
fn a_stored_session() {
    let mut bob = announcing(&[], json!({}));
    let cwd = bob.cwd();
    let session = bob.session();
    bob.write("notes.txt", "milk\n");
    bob.turn(
        &session,
        "think What is there?\nplan read\nread notes.txt\ndone 1\nsay Milk.",
    );
    bob.call("session/list", json!({}));
    let named = json!({"sessionId": session});
    let opening = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    bob.call("session/close", named.clone());
    bob.call("session/load", opening.clone());
    bob.wait(|message| is_update(message, "usage_update"));
    bob.call("session/close", named.clone());
    bob.call("session/resume", opening.clone());
    bob.wait(|message| is_update(message, "usage_update"));
    bob.turn(&session, "/new");
    bob.call("session/delete", named.clone());
    bob.call("session/delete", named);
    bob.call("session/load", opening);
    bob.call("session/list", json!({"cwd": cwd}));
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn images_audio_and_resources() {
    let mut bob = announcing(&[], json!({}));
    let session = bob.session();
    let id = bob.request(
        "session/prompt",
        json!({"sessionId": session, "prompt": [
            {"type": "text", "text": "What is this?"},
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
            {"type": "audio", "mimeType": "audio/wav", "data": "aGk="},
            {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "milk"}},
            {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAEC"}},
        ]}),
    );
    bob.end_of_turn(id);
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn files_and_a_terminal_of_the_client() {
    let announced = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true});
    let mut bob = announcing(&[], announced);
    let session = bob.session();
    turn(
        &mut bob,
        &session,
        "read hello.txt\nedit hello.txt hello => goodbye",
    );
    turn(&mut bob, &session, "run echo hello");
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn tools_of_a_server() {
    let mut bob = announcing(&[], json!({}));
    let cwd = bob.cwd();
    let absent = json!({"name": "absent", "command": "/nowhere/server", "args": [], "env": []});
    let servers = json!([mcp_server::program("echo"), absent]);
    let opened = bob.result("session/new", json!({"cwd": cwd, "mcpServers": servers}));
    bob.wait(|message| is_update(message, "available_commands_update"));
    let session = opened["sessionId"].as_str().unwrap();
    bob.turn(session, "mcp echo__say {\"text\": \"hello\"}");
    bob.turn(session, "mcp echo__fail {}");
    // The program of the server is long, and the same in each test.
    let program = serde_json::to_string(mcp_server::PROGRAM).unwrap();
    insta::assert_snapshot!(bob.transcript().replace(&program, "\"{program}\""));
}

#[test]
fn options_and_modes_of_the_client() {
    let mut bob = announcing(&[], json!({"session": {"configOptions": {"boolean": {}}}}));
    let session = bob.session();
    let set = |id: &str, value: Value| {
        let mut params = json!({"sessionId": session, "configId": id, "value": value});
        if value.is_boolean() {
            params["type"] = json!("boolean");
        }
        params
    };
    bob.call("session/set_config_option", set("effort", json!("high")));
    bob.call("session/set_config_option", set("confirm", json!(false)));
    bob.turn(&session, "run echo unasked");
    let mode = json!({"sessionId": session, "modeId": "plan"});
    bob.call("session/set_mode", mode);
    bob.call("session/set_config_option", set("mode", json!("ask")));
    bob.call("session/set_config_option", set("mode", json!("fly")));
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn questions_by_form_and_by_page() {
    let mut bob = announcing(&[], json!({"elicitation": {"form": {}, "url": {}}}));
    let session = bob.session();
    turn(
        &mut bob,
        &session,
        "ask Which colour?\nask-url https://example.org/login\nsay Thanks.",
    );
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn a_login_and_a_logout() {
    let mut bob = announcing(&["--auth", "agent"], json!({}));
    let cwd = bob.cwd();
    let new = json!({"cwd": cwd, "mcpServers": []});
    bob.call("session/new", new.clone());
    bob.call("authenticate", json!({"methodId": "nobody"}));
    bob.call("authenticate", json!({"methodId": "agent"}));
    bob.session();
    bob.call("logout", json!({}));
    bob.call("session/new", new);
    insta::assert_snapshot!(bob.transcript());
}

#[test]
fn a_request_that_is_cancelled() {
    let mut bob = announcing(&[], json!({}));
    let session = bob.session();
    let id = bob.prompt(&session, "say Working on it.\nwait 60000");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    bob.notify("$/cancel_request", json!({"requestId": id}));
    bob.end_of_turn(id);
    insta::assert_snapshot!(bob.transcript());
}
