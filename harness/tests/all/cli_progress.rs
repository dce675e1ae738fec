//! What `harness run` shows while it runs: a live area on a terminal, plain lines elsewhere.

use crate::command_line::{Harness, agent};
use crate::pseudo_terminal::{On, on_a_terminal, screen};

#[test]
fn on_a_terminal_the_live_area_tells_areas_and_scenarios_and_vanishes() {
    let harness = Harness::new();
    let words = [
        "run",
        "--agent",
        "bob",
        "--only",
        "init/*,cancel/twice",
        "-j",
        "2",
    ];
    let (sent, out, code) = on_a_terminal(harness.command(&words), On::Stderr, 100);
    assert_eq!(code, 0, "{sent}{out}");
    for part in [
        " scenarios",
        "/2 areas",
        "init ",
        "cancel 0/1",
        " s  cancel/twice",
    ] {
        assert!(sent.contains(part), "{part} in {sent:?}");
    }
    assert!(sent.contains("\u{1b}["), "it is drawn anew");
    assert_eq!(screen(&sent, 100), "", "nothing stays: {sent:?}");
    assert!(out.contains("conformant"), "{out}");
}

#[test]
fn failures_stay_above_the_live_area_with_what_the_agent_said_as_plain_text() {
    let harness = Harness::new();
    let hostile = agent("hostile-text");
    let words = [
        "run",
        "--agent",
        &hostile,
        "--only",
        "init/baseline-methods",
        "--color",
        "never",
    ];
    let (sent, _, code) = on_a_terminal(harness.command(&words), On::Stderr, 100);
    assert_eq!(code, 1, "{sent}");
    let shown = screen(&sent, 100);
    let of = |id: &str| shown.lines().filter(|line| line.starts_with(id)).count();
    assert_eq!(
        (of("JSONRPC-12 must"), of("PROMPT-02 must")),
        (1, 1),
        "{shown:?}"
    );
    assert!(shown.contains("init/baseline-methods: "), "{shown:?}");
    assert!(shown.contains("\\u001b[2J"), "{shown:?}");
    assert!(!shown.contains("scenarios"), "{shown:?}");
    assert!(!sent.contains(['\u{202e}', '\u{9b}']), "{sent:?}");
}

#[test]
fn quiet_and_dumb_terminals_and_files_have_no_live_area() {
    let harness = Harness::new();
    let words = ["run", "--agent", "bob", "--only", "init/handshake"];
    let (sent, _, _) = on_a_terminal(
        harness.command(&[&words[..], &["-q"]].concat()),
        On::Stderr,
        80,
    );
    assert_eq!(sent, "");
    let mut verbose = harness.command(&[&words[..], &["-v"]].concat());
    let output = verbose.output().unwrap();
    let lines = String::from_utf8(output.stderr).unwrap();
    assert!(lines.starts_with("pass "), "{lines}");
    assert!(!lines.contains(['\u{1b}', '\r']), "{lines:?}");
}
