//! The everything surface: logging in and out.

use std::path::Path;

use crate::client::{Bob, Setup};
use assert_cmd::Command;
use predicates::str::contains;
use serde_json::{Value, json};

fn with(args: &[&str], capabilities: Value) -> (Bob, Value) {
    let mut all = vec!["--surface", "everything"];
    all.extend(args);
    let mut bob = Setup::new().args(&all).start();
    let result = bob.result(
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
    );
    (bob, result)
}

fn new(bob: &mut Bob) -> Value {
    let cwd = bob.cwd();
    bob.call("session/new", json!({"cwd": cwd, "mcpServers": []}))
}

fn authenticate(bob: &mut Bob, method: &str) -> Value {
    bob.call("authenticate", json!({"methodId": method}))
}

/// Runs bob's login in a terminal that says `input`.
fn log_in(state: &Path, input: &str) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_bob"))
        .args(["--surface", "everything", "--auth", "terminal", "--state"])
        .arg(state)
        .arg("--login")
        .write_stdin(input)
        .assert()
}

#[test]
fn without_logins_sessions_are_open_to_all() {
    let (mut bob, result) = with(&[], json!({"auth": {"terminal": true}}));
    assert_eq!(result["authMethods"], json!([]));
    assert_eq!(result["agentCapabilities"]["auth"], json!({}));
    assert!(new(&mut bob)["result"]["sessionId"].is_string());
    let answer = authenticate(&mut bob, "agent");
    assert_eq!(
        answer["error"],
        json!({"code": -32602, "message": "Invalid params", "data": {"methodId": "agent"}})
    );
    assert_eq!(bob.call("logout", json!({}))["error"]["code"], -32601);
}

#[test]
fn a_login_by_the_agent_comes_before_any_session() {
    let (mut bob, result) = with(&["--auth", "agent"], json!({}));
    assert_eq!(result["agentCapabilities"]["auth"], json!({"logout": {}}));
    let methods = result["authMethods"].as_array().unwrap();
    assert_eq!(methods.len(), 1);
    assert_eq!(methods[0]["id"], "agent");
    assert!(methods[0].get("type").is_none());

    let refused = json!({
        "code": -32000,
        "message": "Authentication required",
        "data": {"error": "log in first, by one of the `authMethods`"},
    });
    assert_eq!(new(&mut bob)["error"], refused);
    let cwd = bob.cwd();
    for method in ["session/load", "session/resume"] {
        let params = json!({"sessionId": "bob-1-1", "cwd": cwd, "mcpServers": []});
        assert_eq!(bob.call(method, params)["error"], refused, "{method}");
    }
    assert_eq!(authenticate(&mut bob, "terminal")["error"]["code"], -32602);
    let nameless = bob.call("authenticate", json!({}));
    assert_eq!(nameless["error"]["code"], -32602);
    assert_eq!(new(&mut bob)["error"], refused);

    assert_eq!(authenticate(&mut bob, "agent")["result"], json!({}));
    let session = bob.session();
    assert_eq!(bob.result("logout", json!({})), json!({}));
    assert_eq!(bob.result("logout", json!({})), json!({}));
    assert_eq!(new(&mut bob)["error"], refused);
    assert_eq!(bob.turn(&session, "say still here").text(), "still here");

    assert_eq!(authenticate(&mut bob, "agent")["result"], json!({}));
    bob.session();
}

#[test]
fn a_login_in_a_terminal_is_for_clients_that_have_one() {
    let state = tempfile::tempdir().unwrap();
    let args = [
        "--auth",
        "terminal",
        "--state",
        state.path().to_str().unwrap(),
    ];
    for capabilities in [json!({}), json!({"auth": {"terminal": false}})] {
        let (mut bob, result) = with(&args, capabilities);
        assert_eq!(result["authMethods"], json!([]));
        assert_eq!(result["agentCapabilities"]["auth"], json!({}));
        bob.session();
    }

    let (mut bob, result) = with(&args, json!({"auth": {"terminal": true}}));
    let method = &result["authMethods"][0];
    assert_eq!(method["id"], "terminal");
    assert_eq!(method["type"], "terminal");
    assert_eq!(method["args"], json!(["--login"]));
    assert_eq!(new(&mut bob)["error"]["code"], -32000);
    assert_eq!(authenticate(&mut bob, "terminal")["error"]["code"], -32000);

    log_in(state.path(), "")
        .code(1)
        .stdout(contains("Not logged in."));
    assert_eq!(new(&mut bob)["error"]["code"], -32000);
    log_in(state.path(), "\n")
        .success()
        .stderr("")
        .stdout("Log in to bob? Enter: yes, end of input: no.\nLogged in.\n");
    assert_eq!(authenticate(&mut bob, "terminal")["result"], json!({}));
    bob.session();

    // It outlives the process, until somebody logs out.
    let (mut later, _) = with(&args, json!({"auth": {"terminal": true}}));
    later.session();
    assert_eq!(later.result("logout", json!({})), json!({}));
    assert_eq!(new(&mut bob)["error"]["code"], -32000);
}

#[test]
fn a_surface_without_logins_has_none_of_this() {
    let mut bob = Bob::ready();
    assert_eq!(authenticate(&mut bob, "anything")["result"], json!({}));
    assert_eq!(bob.call("authenticate", json!({}))["result"], json!({}));
    assert_eq!(bob.call("logout", json!({}))["error"]["code"], -32601);
    for (args, said) in [
        (
            &["--auth", "agent"][..],
            "`--auth` needs `--surface everything`",
        ),
        (
            &["--surface", "everything", "--login"],
            "`--login` needs `--auth terminal`",
        ),
    ] {
        Command::new(env!("CARGO_BIN_EXE_bob"))
            .args(args)
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(said));
    }
}
