//! `initialize`, `session/new` and the methods that are not there.

use crate::client::{Bob, is_update};
use serde_json::{Value, json};

#[test]
fn initialize_says_who_bob_is_and_that_nothing_optional_is_supported() {
    let mut bob = Bob::start();
    let answer = bob.call("initialize", json!({"protocolVersion": 1}));
    assert_eq!(
        answer["result"].to_string(),
        r#"{"protocolVersion":1,"agentCapabilities":{"auth":{},"mcpCapabilities":{},"promptCapabilities":{},"sessionCapabilities":{}},"agentInfo":{"name":"bob","title":"Bob (bash-first agent)","version":"0.11.0"},"authMethods":[]}"#
    );
    let stderr = bob.stderr_to_the_end();
    assert_eq!(
        stderr[0],
        format!("bob {} (0.11.0) — embedded", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(stderr[1], "[acp] client unknown, protocol 1");
}

#[test]
fn every_legal_version_is_answered_with_one_and_the_client_is_logged() {
    for version in [0, 1, 2, 65535] {
        let mut bob = Bob::start();
        let answer = bob.call(
            "initialize",
            json!({
                "protocolVersion": version,
                "clientInfo": {"name": "zed", "version": "1.2.0"},
                "clientCapabilities": {"fs": {"readTextFile": "odd"}, "session": null, "new": [1]},
                "_meta": {"a": null},
            }),
        );
        assert_eq!(
            answer["result"]["protocolVersion"], 1,
            "asked for {version}"
        );
        bob.stderr_until("[acp] client zed 1.2.0, protocol 1");
    }
}

#[test]
fn a_version_that_is_no_version_is_refused_and_initialize_works_after_it() {
    let mut bob = Bob::start();
    for version in [json!(65536), json!(-1), json!("1"), json!(1.5), Value::Null] {
        let answer = bob.call("initialize", json!({"protocolVersion": version}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let answer = bob.call("initialize", json!({}));
    assert_eq!(answer["error"]["code"], -32602);
    let answer = bob.call("initialize", json!({"protocolVersion": 1}));
    assert_eq!(answer["result"]["protocolVersion"], 1);
}

#[test]
fn a_request_before_initialize_is_refused_and_a_second_initialize_answered() {
    let mut bob = Bob::start();
    let early = bob.call("session/new", json!({"cwd": "/", "mcpServers": []}));
    assert_eq!(early["error"]["code"], -32600);
    for _ in 0..2 {
        let answer = bob.call("initialize", json!({"protocolVersion": 1}));
        assert_eq!(answer["result"]["agentInfo"]["name"], "bob");
    }
    bob.session();
}

#[test]
fn authenticate_has_nothing_to_do() {
    let mut bob = Bob::ready();
    let answer = bob.call("authenticate", json!({"methodId": "any"}));
    assert_eq!(answer["result"], json!({}));
}

#[test]
fn what_is_not_implemented_is_not_found() {
    let mut bob = Bob::ready();
    for method in [
        "session/set_mode",
        "session/set_config_option",
        "session/list",
        "session/resume",
        "session/close",
        "session/load",
        "session/delete",
        "logout",
        "session/cancel",
        "session/update",
        "_example.org/ping",
        "$/unknown",
        "nonsense",
    ] {
        let answer = bob.call(method, json!({"sessionId": "x"}));
        assert_eq!(
            answer["error"],
            json!({"code": -32601, "message": "Method not found", "data": {"method": method}})
        );
    }
}

#[test]
fn unknown_notifications_are_ignored() {
    let mut bob = Bob::ready();
    for method in [
        "_example.org/note",
        "$/note",
        "note",
        "session/cancel",
        "$/cancel_request",
    ] {
        bob.notify(method, json!({"sessionId": "none", "requestId": 99}));
        bob.notify(method, json!(["odd"]));
    }
    let id = bob.request("authenticate", json!({}));
    let messages = bob.wait_all(|message| message["id"] == id);
    assert_eq!(messages.len(), 1, "{messages:?}");
}

#[test]
fn every_session_is_announced_before_its_commands() {
    let mut bob = Bob::ready();
    let cwd = bob.cwd();
    let ids: Vec<i64> = (0..300)
        .map(|_| bob.request("session/new", json!({"cwd": cwd, "mcpServers": []})))
        .collect();
    let mut messages = bob.wait_all(|message| message["id"] == ids[299]);
    messages.push(bob.wait(|message| is_update(message, "available_commands_update")));
    assert_eq!(messages.len(), 600);
    for (index, pair) in messages.chunks(2).enumerate() {
        let session = format!("bob-{}-{}", bob.pid, index + 1);
        assert_eq!(pair[0]["id"], ids[index]);
        assert_eq!(pair[0]["result"], json!({"sessionId": session}));
        assert_eq!(pair[1]["params"]["sessionId"], json!(session));
        assert_eq!(
            pair[1]["params"]["update"],
            json!({
                "sessionUpdate": "available_commands_update",
                "availableCommands": [
                    {"name": "new", "description": "Clear the history and start a new session"},
                    {"name": "compact", "description": "Compress the history now, keeping the last turns"},
                ],
            })
        );
    }
}

#[test]
fn a_session_needs_an_absolute_folder() {
    let mut bob = Bob::ready();
    for params in [
        json!({"mcpServers": []}),
        json!({"cwd": "relative/path", "mcpServers": []}),
        json!({"cwd": "", "mcpServers": []}),
        json!({"cwd": 5, "mcpServers": []}),
        json!(["/tmp"]),
        Value::Null,
    ] {
        let answer = bob.call("session/new", params);
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["message"], "Invalid params");
    }
}

#[test]
fn mcp_servers_are_counted_and_ignored() {
    let mut bob = Bob::ready();
    let servers = json!([{"name": "a", "command": "/bin/false", "args": [], "env": []}, 5]);
    let answer = bob.call("session/new", json!({"cwd": "/", "mcpServers": servers}));
    let session = answer["result"]["sessionId"].as_str().unwrap();
    let line = format!("[acp] session {session}: 2 MCP server(s) ignored");
    bob.stderr_until(&line);
    // The member may be left out as well.
    let answer = bob.call("session/new", json!({"cwd": "/"}));
    assert!(answer["result"]["sessionId"].is_string());
}

#[test]
fn an_unknown_session_is_refused_by_its_id() {
    let mut bob = Bob::ready();
    let answer = bob.call(
        "session/prompt",
        json!({"sessionId": "bob-0-1", "prompt": [{"type": "text", "text": "hi"}]}),
    );
    assert_eq!(
        answer["error"],
        json!({"code": -32602, "message": "Invalid params", "data": {"sessionId": "bob-0-1"}})
    );
}

#[test]
fn faulty_parameters_of_a_prompt_are_refused_and_the_session_goes_on() {
    let mut bob = Bob::ready();
    let session = bob.session();
    for params in [
        json!({"prompt": []}),
        json!({"sessionId": session}),
        json!({"sessionId": session, "prompt": "text"}),
        json!({"sessionId": session, "prompt": [{"type": "text"}]}),
        json!([session, []]),
    ] {
        let answer = bob.call("session/prompt", params);
        assert_eq!(answer["error"]["code"], -32602);
    }
    assert_eq!(bob.turn(&session, "hello").text(), "hello");
}
