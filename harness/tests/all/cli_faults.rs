//! Each test agent has one fault, and the harness names just the requirements that it breaks.

use crate::command_line::{Harness, agent};

/// Agent, what is run, and the `must`s and `interop`s that fail: exactly these.
const FAULTS: [(&str, &str, &[&str]); 9] = [
    ("echo", "init/*,jsonrpc/*,ext/*,content/*,transport/*", &[]),
    (
        "banner",
        "init/handshake,init/baseline-methods",
        &["TRANSPORT-02"],
    ),
    ("early-update", "init/baseline-methods", &["INTEROP-01"]),
    ("twice", "init/baseline-methods", &["JSONRPC-04"]),
    (
        "deaf",
        "jsonrpc/unknown-method",
        &["JSONRPC-04", "JSONRPC-13"],
    ),
    ("stray-tool", "init/baseline-methods", &["TOOLCALL-01"]),
    ("wrong-cancel", "faults/cancelled", &["CANCEL-01"]),
    ("runs-anyway", "faults/rejected", &["PERM-04", "INTEROP-17"]),
    (
        "hostile-text",
        "init/baseline-methods",
        &["JSONRPC-12", "PROMPT-02"],
    ),
];

#[test]
fn a_fault_fails_the_requirement_that_it_breaks_and_no_other() {
    let mut wrong = Vec::new();
    for (name, only, expected) in FAULTS {
        let run = Harness::new().run(&[
            "--agent",
            &agent(name),
            "--scenarios",
            "tests/agents/scenarios",
            "--only",
            only,
            "--timeout",
            "2",
            "--report",
            "json=-",
        ]);
        let failed: Vec<&str> = run.json()["requirements"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|entry| entry["status"] == "fail")
            .filter(|entry| entry["level"] == "must" || entry["level"] == "interop")
            .map(|entry| entry["id"].as_str().unwrap().to_owned())
            .map(|id| &*id.leak())
            .collect();
        if failed != expected {
            wrong.push(format!("{name}: expected {expected:?}, found {failed:?}"));
        }
        let must = expected.iter().any(|id| !id.starts_with("INTEROP"));
        assert_eq!(run.code, i32::from(must), "{name}: {}", run.stderr);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_interop_failure_counts_only_where_it_is_asked_for() {
    let early = agent("early-update");
    let arguments = ["--agent", &early, "--only", "init/baseline-methods"];
    assert_eq!(Harness::new().run(&arguments).code, 0);
    let strict = [&arguments[..], &["--strict"]].concat();
    assert_eq!(Harness::new().run(&strict).code, 1);
}

#[test]
fn a_failure_shows_requirement_message_text_trace_and_command() {
    let harness = Harness::new();
    let run = harness.run(&["--agent", &agent("banner"), "--only", "init/handshake"]);
    for part in [
        "TRANSPORT-02 must",
        "Welcome to test-agent 1.0.0\n    ^^^^^^^^^^^",
        "/docs/protocol/v1/transports.mdx#stdio",
        "init/handshake.jsonl --around ",
        "│◂···",
        "repeat  harness run --agent",
        "--only init/handshake",
        "test-agent 1.0.0: not-conformant (",
    ] {
        assert!(run.stdout.contains(part), "{part} in\n{}", run.stdout);
    }
    let look = run
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("look    harness "))
        .unwrap();
    let words: Vec<&str> = look.split(' ').collect();
    let shown = harness.call(&words);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.contains("not JSON Welcome to test-agent"),
        "{}",
        shown.stdout
    );
}

#[test]
fn text_of_an_agent_is_never_a_control_sequence() {
    let run = Harness::new().run(&[
        "--agent",
        &agent("hostile-text"),
        "--only",
        "init/baseline-methods",
        "-v",
        "--color",
        "never",
    ]);
    assert!(run.stdout.contains("\\u001b[2J"), "{}", run.stdout);
    for text in [&run.stdout, &run.stderr] {
        let hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(hidden), "{text:?}");
    }
}
