//! The everything surface: the MCP servers of a session.

use std::path::Path;
use std::time::Instant;

use crate::client::{Bob, LIMIT, Setup, Turn, asks_permission, has_status, is_update};
use crate::mcp_server::{HttpServer, program};
use crate::model_server::{ModelServer, says};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

fn setup() -> Setup {
    Setup::new().args(&["--surface", "everything"])
}

/// Opens a session with these servers.
fn session_with(bob: &mut Bob, servers: Value) -> String {
    let cwd = bob.cwd();
    let result = bob.result("session/new", json!({"cwd": cwd, "mcpServers": servers}));
    bob.wait(|message| is_update(message, "available_commands_update"));
    result["sessionId"].as_str().unwrap().to_owned()
}

/// The process whose id a file of the session's folder holds, once it is there.
fn process_in(bob: &Bob, file: &str) -> Pid {
    let deadline = Instant::now() + LIMIT;
    loop {
        let text = std::fs::read_to_string(bob.cwd().join(file)).unwrap_or_default();
        if let Some(pid) = text.strip_suffix('\n') {
            return Pid::from_raw(pid.parse().unwrap());
        }
        assert!(Instant::now() < deadline, "there is no `{file}`");
        std::thread::yield_now();
    }
}

/// Waits until a process is gone; one that is left as a zombie by a parent of its own counts.
fn wait_for_end(pid: Pid) {
    let deadline = Instant::now() + LIMIT;
    let is_zombie = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.contains(") Z ")
    };
    while kill(pid, None).is_ok() && !is_zombie() {
        assert!(Instant::now() < deadline, "process {pid} does not end");
        std::thread::yield_now();
    }
}

fn outputs(turn: &Turn) -> Vec<String> {
    turn.updates()
        .filter_map(|update| update["rawOutput"]["output"].as_str())
        .map(str::to_owned)
        .collect()
}

#[test]
fn tools_of_a_program_are_called_after_permission() {
    let mut bob = setup().start();
    let result = bob.result("initialize", json!({"protocolVersion": 1}));
    assert_eq!(
        result["agentCapabilities"]["mcpCapabilities"],
        json!({"http": true})
    );
    let session = session_with(&mut bob, json!([program("my server")]));
    let id = bob.prompt(
        &session,
        "mcp my_server__say {\"text\":\"hello\"}\nsay done",
    );
    let call = bob.wait(|message| is_update(message, "tool_call"));
    assert_eq!(
        call["params"]["update"],
        json!({
            "sessionUpdate": "tool_call",
            "toolCallId": "call_1",
            "title": "mcp__my_server__say",
            "kind": "other",
            "status": "pending",
            "rawInput": {"text": "hello"},
        })
    );
    let request = bob.wait(asks_permission);
    let options = &request["params"]["options"];
    assert_eq!(
        options[1]["name"],
        "Allow mcp__my_server__say for this session"
    );
    bob.permit(&request, "allow_always");
    let turn = bob.end_of_turn(id);
    assert_eq!(turn.output(), "hello!");
    assert_eq!(turn.text(), "done");

    let turn = bob.turn(&session, "mcp my_server__say {\"text\":\"again\"}");
    assert_eq!((turn.permissions(), turn.output().as_str()), (0, "again!"));
    bob.permission = Some("allow");
    let turn = bob.turn(&session, "mcp my_server__fail\nmcp my_server__fly\nsay on");
    assert_eq!(turn.permissions(), 1);
    let outputs = outputs(&turn);
    assert_eq!(outputs[0], "out of ink");
    assert!(outputs[1].starts_with("there is no tool `mcp__my_server__fly`"));
    assert!(
        turn.states()
            .iter()
            .filter(|(_, status)| status == "failed")
            .count()
            == 2
    );
    assert_eq!(turn.text(), "on");

    bob.permission = Some("reject");
    let turn = bob.turn(&session, "mcp my_server__pid");
    assert_eq!(turn.output(), "[command rejected by the user]");
}

#[test]
fn a_server_over_http_is_used_and_its_session_is_ended() {
    let server = HttpServer::start();
    let mut bob = setup().ready();
    bob.permission = Some("allow");
    let session = session_with(&mut bob, json!([server.entry("sums")]));
    let turn = bob.turn(&session, "mcp sums__add {\"a\":2,\"b\":3}");
    assert_eq!(turn.output(), "5");
    bob.result("session/close", json!({"sessionId": session}));
    let seen = server.seen();
    let methods: Vec<&str> = seen.iter().map(|seen| seen.method.as_str()).collect();
    assert_eq!(
        methods,
        [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
            ""
        ]
    );
    assert!(seen.iter().all(|seen| seen.key.as_deref() == Some("k")));
    assert!(
        seen.iter()
            .skip(1)
            .all(|seen| seen.session.as_deref() == Some("s1"))
    );
    assert_eq!(seen.last().unwrap().verb, "DELETE");
}

#[test]
fn servers_that_do_not_start_are_told_once_and_the_others_work() {
    let mut bob = setup().ready();
    bob.permission = Some("allow");
    let servers = json!([
        {"name": "gone", "command": "/no/such/program", "args": [], "env": []},
        {"name": "mute", "command": "true", "args": [], "env": []},
        program("good"),
        {"name": "old", "type": "sse", "url": "http://localhost/", "headers": []},
        {"name": "shut", "type": "http", "url": "http://127.0.0.1:1/", "headers": []},
    ]);
    let session = session_with(&mut bob, servers);
    let turn = bob.turn(&session, "mcp good__say {\"text\":\"hi\"}\nsay done");
    let text = turn.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert_eq!(
        lines[0],
        "MCP server gone did not start: `/no/such/program` cannot be started: \
         No such file or directory (os error 2)"
    );
    assert!(
        lines[1].starts_with("MCP server mute did not start: "),
        "{text}"
    );
    assert_eq!(
        lines[2],
        "MCP server old did not start: its type is `sse`, but only stdio and http are supported"
    );
    assert!(
        lines[3].starts_with("MCP server shut did not start: "),
        "{text}"
    );
    assert_eq!(lines[4], "done");
    assert_eq!(turn.output(), "hi!");
    assert_eq!(bob.turn(&session, "say once").text(), "once");
    let log = bob.stderr_to_the_end().join("\n");
    assert!(log.contains(&format!(
        "[acp] session {session}: MCP server gone did not start: "
    )));
    assert!(log.contains(&format!(
        "[acp] session {session}: MCP server good has 4 tool(s)"
    )));
    assert!(!log.contains("ignored"));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let mut bob = setup().ready();
    let cwd = bob.cwd();
    for servers in [json!({}), json!([{"name": "a"}]), json!(["a"])] {
        let answer = bob.call("session/new", json!({"cwd": cwd, "mcpServers": servers}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn a_server_ends_with_its_session() {
    let mut bob = setup().ready();
    bob.permission = Some("allow");
    for method in ["session/close", "session/delete"] {
        let session = session_with(&mut bob, json!([program("a")]));
        let turn = bob.turn(&session, "mcp a__pid");
        let server = Pid::from_raw(turn.output().parse().unwrap());
        assert!(kill(server, None).is_ok());
        bob.result(method, json!({"sessionId": session}));
        wait_for_end(server);
        assert!(bob.cwd().join("ended").exists(), "{method}");
        std::fs::remove_file(bob.cwd().join("ended")).unwrap();
    }
}

#[test]
fn a_session_that_is_opened_again_has_the_servers_that_this_request_names() {
    let mut bob = setup().ready();
    bob.permission = Some("allow");
    let session = session_with(&mut bob, json!([program("a")]));
    let turn = bob.turn(&session, "mcp a__pid");
    let first = Pid::from_raw(turn.output().parse().unwrap());
    let cwd = bob.cwd();
    for method in ["session/load", "session/resume"] {
        let params = json!({"sessionId": session, "cwd": cwd, "mcpServers": [program("b")]});
        bob.result(method, params);
        let turn = bob.turn(&session, "mcp b__say {\"text\":\"b\"}\nmcp a__pid");
        let outputs = outputs(&turn);
        assert_eq!(outputs[0], "b!", "{method}");
        assert!(outputs[1].starts_with("there is no tool"), "{method}");
    }
    wait_for_end(first);
}

#[test]
fn servers_and_what_they_started_end_with_bob() {
    for by_signal in [false, true] {
        let mut bob = setup().ready();
        bob.permission = Some("allow");
        let session = session_with(&mut bob, json!([program("a")]));
        bob.prompt(&session, "mcp a__hang");
        bob.wait(|message| has_status(message, "in_progress"));
        let (server, left) = (process_in(&bob, "started"), process_in(&bob, "left"));
        if by_signal {
            bob.signal(Signal::SIGTERM);
        } else {
            bob.close_stdin();
        }
        assert!(bob.exit().success());
        wait_for_end(server);
        wait_for_end(left);
    }
}

#[test]
fn a_cancel_and_the_time_limit_end_a_call_and_the_server_stays() {
    let mut bob = setup().ready();
    bob.permission = Some("allow");
    bob.write("bob.toml", "[tools]\ntimeout_s = 1\n");
    let session = session_with(&mut bob, json!([program("a")]));
    let turn = bob.turn(&session, "mcp a__hang\nmcp a__say {\"text\":\"here\"}");
    assert_eq!(
        outputs(&turn),
        ["[ended after 1 s, the time limit]", "here!"]
    );
    std::fs::remove_file(bob.cwd().join("hanging")).unwrap();
    let id = bob.prompt(&session, "mcp a__hang");
    bob.wait(|message| has_status(message, "in_progress"));
    wait_for_file(&bob.cwd().join("hanging"));
    bob.cancel(&session);
    let turn = bob.end_of_turn(id);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.output(), "[cancelled]");
    let turn = bob.turn(&session, "mcp a__say {\"text\":\"still\"}");
    assert_eq!(turn.output(), "still!");
    // What the server left behind ends with it, as it would not if bob were killed.
    bob.close_stdin();
    assert!(bob.exit().success());
}

fn wait_for_file(path: &Path) {
    let deadline = Instant::now() + LIMIT;
    while !path.exists() {
        assert!(Instant::now() < deadline, "there is no {}", path.display());
        std::thread::yield_now();
    }
}

#[test]
fn a_server_that_dies_fails_its_calls_alone() {
    let mut bob = setup().ready();
    bob.permission = Some("allow");
    let session = session_with(&mut bob, json!([program("a")]));
    let turn = bob.turn(&session, "mcp a__pid");
    let server = Pid::from_raw(turn.output().parse().unwrap());
    kill(server, Signal::SIGKILL).unwrap();
    let turn = bob.turn(&session, "mcp a__say {\"text\":\"x\"}\nsay on");
    assert!(
        turn.output().starts_with("[the server failed: "),
        "{}",
        turn.output()
    );
    assert_eq!(turn.text(), "on");
}

#[test]
fn tools_are_offered_to_a_model_server_with_their_schema() {
    let (mcp, model) = (HttpServer::start(), ModelServer::start(vec![says("hi")]));
    let mut bob = setup().env("OPENAI_BASE_URL", &model.base_url).ready();
    let session = session_with(&mut bob, json!([mcp.entry("sums")]));
    bob.turn(&session, "hello");
    let body = &model.seen()[0].body;
    let tool = body["tools"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        tool["function"],
        json!({
            "name": "mcp__sums__add",
            "description": "Adds two numbers.",
            "parameters": {"type": "object", "properties": {"a": {"type": "number"}}},
        })
    );
}
