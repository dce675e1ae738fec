//! MCP servers: the server of the harness, and what is judged of an agent by it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::command_line::{Harness, Ran, agent};

const EVERYTHING: &str = "bob --surface everything";

/// The ids with this status in the report of a run.
fn with_status(run: &Ran, status: &str) -> Vec<String> {
    run.json()["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["status"] == status)
        .map(|entry| entry["id"].as_str().unwrap().to_owned())
        .filter(|id| id.starts_with("MCP-"))
        .collect()
}

fn run(agent: &str, only: &str) -> (Harness, Ran) {
    let harness = Harness::new();
    let run = harness.run(&["--agent", agent, "--only", only, "--report", "json=-"]);
    (harness, run)
}

#[test]
fn an_agent_that_uses_servers_is_conformant_in_all_that_it_advertises() {
    let (_harness, run) = run(EVERYTHING, "mcp");
    assert_eq!(run.json()["verdict"], "conformant", "{}", run.stderr);
    let judged = [1, 2, 3, 4, 6, 7, 8, 9].map(|number| format!("MCP-{number:02}"));
    assert_eq!(with_status(&run, "pass"), judged);
    assert_eq!(with_status(&run, "not-applicable"), ["MCP-05"]);
}

#[test]
fn the_surfaces_that_ignore_servers_have_these_failures_known_and_no_others() {
    for agent in ["bob", "bob --surface 1.0.3"] {
        let (_harness, run) = run(agent, "mcp");
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(run.json()["verdict"], "known-failures", "{agent}");
        assert_eq!(with_status(&run, "fail"), ["MCP-01", "MCP-02", "MCP-06"]);
        let open = with_status(&run, "inconclusive");
        assert_eq!(
            open,
            ["MCP-03"],
            "a server that is not started shows nothing"
        );
    }
}

/// What becomes of each line that the agent hears, what is run, and what fails.
const FAULTS: [(&str, &str, &[&str]); 12] = [
    // Not a fault, so that the others are known to be ones.
    ("s/x/x/", "mcp/*", &[]),
    // The servers are dropped.
    (
        r#"s/"mcpServers":\[{.*}\]/"mcpServers":[]/"#,
        "mcp/stdio,mcp/two-servers",
        &["MCP-01", "MCP-02"],
    ),
    // A server is refused.
    (
        r#"/"method":"session\/new"/s/"mcpServers":\[{.*}\]/"mcpServers":7/"#,
        "mcp/stdio",
        &["MCP-01"],
    ),
    // The second server is dropped.
    (
        r#"s/,{"name":"otter".*}\]/]/"#,
        "mcp/two-servers",
        &["MCP-02"],
    ),
    // Arguments are split at blanks, dropped, or replaced as a shell does.
    (
        r#"s/"two words"/"two","words"/"#,
        "mcp/arguments",
        &["MCP-03"],
    ),
    (
        r#"s/"args":\[[^]]*\]/"args":[]/"#,
        "mcp/arguments",
        &["MCP-03"],
    ),
    (
        r#"s/"\$HOME","\*"/"\/root","*"/"#,
        "mcp/arguments",
        &["MCP-03"],
    ),
    // An empty argument is left out.
    (r#"s/"",//"#, "mcp/arguments", &["MCP-03"]),
    // Variables are dropped, or trimmed.
    (
        r#"s/"env":\[[^]]*\]/"env":[]/"#,
        "mcp/arguments",
        &["MCP-03"],
    ),
    (
        r#"s/" two words "/"two words"/"#,
        "mcp/arguments",
        &["MCP-03"],
    ),
    // A header is left out.
    (r#"s/{"name":"X-Probe"[^}]*},//"#, "mcp/http", &["MCP-04"]),
    // Servers are taken from `session/new` alone.
    (
        r#"/"method":"session\/[rl]/s/"mcpServers":\[{.*}\]/"mcpServers":[]/"#,
        "mcp/resume,mcp/load",
        &["MCP-09"],
    ),
];

#[test]
fn an_agent_that_does_otherwise_with_servers_fails_just_what_it_breaks() {
    let mut wrong = Vec::new();
    for (script, only, expected) in FAULTS {
        let words = [
            agent("hears-otherwise"),
            env!("CARGO_BIN_EXE_harness").to_owned(),
            script.to_owned(),
        ];
        let quoted = words.map(|word| format!("'{word}'")).join(" ");
        let (_harness, run) = run(&quoted, only);
        let failed = with_status(&run, "fail");
        if failed != expected {
            wrong.push(format!("{script}: expected {expected:?}, found {failed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_server_saw_is_kept_beside_the_trace() {
    let (harness, run) = run(EVERYTHING, "mcp/stdio");
    let report = run.json();
    let trace = report["scenarios"][0]["trace"].as_str().unwrap();
    let log = Path::new(trace).with_extension("probe.log");
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains(r#""method":"tools/call""#), "{log}");
    drop(harness);
}

/// A server on stdin and stdout, or over HTTP.
struct Server {
    child: Child,
    log: tempfile::TempPath,
}

impl Server {
    fn start(words: &[&str], variables: &[(&str, &str)]) -> Self {
        let log = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let child = Command::new(env!("CARGO_BIN_EXE_harness"))
            .args(["mcp-echo", "--log"])
            .arg(&log)
            .args(words)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, log }
    }

    /// The lines of the log, without time and run.
    fn log(&self) -> Vec<Value> {
        let lines = fs::read_to_string(&self.log).unwrap();
        let line = |line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let members = line.as_object_mut().unwrap();
            assert!(members.remove("at").is_some() && members.remove("run").is_some());
            line
        };
        lines.lines().map(line).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_on_stdio_answers_and_writes_down_start_messages_and_end() {
    let words = [
        "--env",
        "GIVEN",
        "--env",
        "ABSENT",
        "--",
        "-v",
        "two words",
        "",
    ];
    let mut server = Server::start(&words, &[("GIVEN", "a=b"), ("OTHER", "secret")]);
    let mut input = server.child.stdin.take().unwrap();
    let mut output = BufReader::new(server.child.stdout.take().unwrap()).lines();
    let mut ask = |message: Value| {
        writeln!(input, "{message}").unwrap();
        let line = output.next().unwrap().unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let call = |id: u64, name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let result = ask(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}),
    );
    assert_eq!(result["result"]["protocolVersion"], "2025-06-18");
    let tools = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(tools["result"]["tools"][0]["name"], "echo");
    let text = |answer: &Value| answer["result"]["content"][0]["text"].clone();
    assert_eq!(
        text(&ask(call(2, "env", json!({})))),
        r#"["-v","two words",""]"#
    );
    assert_eq!(text(&ask(call(3, "env", json!({"name": "GIVEN"})))), "a=b");
    let failed = ask(call(4, "env", json!({"name": "OTHER"})));
    assert_eq!(failed["result"]["isError"], true);
    assert_eq!(ask(call(5, "wait", json!({"ms": 1})))["id"], 5);
    drop(input);
    assert!(server.child.wait().unwrap().success());
    let log = server.log();
    let start = json!({"start": {"transport": "stdio", "args": ["-v", "two words", ""], "env": {"GIVEN": "a=b"}}});
    assert_eq!(log.first(), Some(&start));
    assert_eq!(log.last(), Some(&json!({"end": "stdin closed"})));
    let received = log.iter().filter(|line| line.get("received").is_some());
    assert_eq!(received.count(), 6);
}

/// Starts a server over HTTP and gives its address.
fn over_http(form: &str) -> (Server, String) {
    let mut server = Server::start(&[form, "--header", "X-Probe"], &[]);
    let output = server.child.stdout.as_mut().unwrap();
    let mut url = String::new();
    BufReader::new(output).read_line(&mut url).unwrap();
    (server, url.trim().to_owned())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(future)
}

#[test]
fn headers_and_a_port_need_a_server_that_has_them() {
    for (flag, value) in [("--header", "X-Probe"), ("--port", "4711")] {
        let ran = Harness::new().call(&["mcp-echo", flag, value]);
        assert_eq!(ran.code, 2, "{flag}");
        assert!(ran.stderr.contains("`--http` or `--sse`"), "{}", ran.stderr);
    }
}

#[test]
fn a_server_over_http_opens_a_session_and_tells_the_named_headers_alone() {
    let (server, url) = over_http("--http");
    block_on(async {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let post = |message: Value| client.post(&url).header("X-Probe", "1").json(&message);
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize"});
        let answer = post(initialize)
            .header("Authorization", "secret")
            .send()
            .await
            .unwrap();
        let session = answer.headers()["mcp-session-id"].clone();
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer["result"]["serverInfo"]["name"], "mcp-echo");
        let done = post(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .header("mcp-session-id", session.clone())
            .send()
            .await
            .unwrap();
        assert_eq!(done.status(), 202);
        assert_eq!(client.get(&url).send().await.unwrap().status(), 405);
        let page = post(json!({})).header("Origin", "http://example.org");
        assert_eq!(page.send().await.unwrap().status(), 403);
        let gone = client.delete(&url).header("mcp-session-id", session);
        assert_eq!(gone.send().await.unwrap().status(), 200);
    });
    let log = server.log();
    assert_eq!(
        log[1],
        json!({"request": {"verb": "POST", "headers": {"x-probe": "1"}}})
    );
    assert_eq!(log.last(), Some(&json!({"end": "deleted"})));
}

#[test]
fn a_server_of_the_older_form_names_an_address_and_answers_in_its_stream() {
    let (server, url) = over_http("--sse");
    block_on(async {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut stream = client
            .get(&url)
            .header("X-Probe", "1")
            .send()
            .await
            .unwrap();
        let mut heard = String::new();
        let mut hear = async |until: &str| {
            while !heard.contains(until) {
                let chunk = stream.chunk().await.unwrap().expect("the stream goes on");
                heard.push_str(std::str::from_utf8(&chunk).unwrap());
            }
            heard.clone()
        };
        let first = hear("\n\n").await;
        let path = first
            .strip_prefix("event: endpoint\ndata: ")
            .unwrap()
            .trim();
        let address = url.replace("/sse", path);
        let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
        let posted = client.post(&address).json(&ping).send().await.unwrap();
        assert_eq!(posted.status(), 202);
        hear("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n\n").await;
        let nowhere = client.post(url.replace("/sse", "/messages")).json(&ping);
        assert_eq!(nowhere.send().await.unwrap().status(), 404);
    });
    let log = server.log();
    assert_eq!(log[0]["start"]["transport"], "sse");
    assert_eq!(
        log[1],
        json!({"request": {"verb": "GET", "headers": {"x-probe": "1"}}})
    );
}

#[test]
fn a_port_without_http_is_refused() {
    let run = Harness::new().call(&["mcp-echo", "--port", "4000"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--http"), "{}", run.stderr);
}
