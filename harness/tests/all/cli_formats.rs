//! The formats of `--report` on the real binary: what stands in them, and that text of an agent has no effect in any.

use std::fs;
use std::path::Path;

use crate::command_line::{Harness, Ran, agent};
use crate::junit_schema::{self, Case, Suite};
use serde_json::Value;

const FORMATS: [&str; 4] = ["json", "junit", "markdown", "badge"];

/// Calls the harness with all formats at once, and gives what is in their files, in the order of [`FORMATS`].
fn all(harness: &Harness, words: &[&str]) -> (Ran, [String; 4]) {
    let folder = harness.state.path();
    let targets = FORMATS.map(|format| format!("{format}={}", folder.join(format).display()));
    let flags = targets.iter().flat_map(|target| ["--report", target]);
    let given: Vec<&str> = words.iter().copied().chain(flags).collect();
    let ran = harness.call(&given);
    let read = |format| fs::read_to_string(folder.join(format)).unwrap();
    (ran, FORMATS.map(read))
}

fn judged(harness: &Harness, name: &str, only: &str, more: &[&str]) -> (Ran, [String; 4]) {
    let command = agent(name);
    let words = ["run", "--agent", &command, "--only", only, "--timeout", "2"];
    all(harness, &[&words, more].concat())
}

fn suite(harness: &Harness, name: &str, only: &str, more: &[&str]) -> (Ran, Suite) {
    let (ran, [_, junit, _, _]) = judged(harness, name, only, more);
    (ran, junit_schema::read(&junit))
}

fn case<'a>(suite: &'a Suite, name: &str) -> &'a Case {
    let found = suite.cases.iter().find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("no case `{name}` in {suite:#?}"))
}

/// Replaces what differs from run to run.
fn steady(text: &str, harness: &Harness) -> String {
    let state = harness.state.path().display().to_string();
    let text = text.replace(&state, "STATE");
    text.lines()
        .map(|line| {
            let mut line = line.to_owned();
            if let Some(at) = line.find(" time=\"") {
                let rest = line.split_off(at);
                let after = rest[7..].split_once('"').unwrap().1;
                line.push_str(" time=\"0.000\"");
                line.push_str(after);
            }
            if let Some(at) = line.find("STATE/") {
                let rest = line.split_off(at);
                let name = rest
                    .find(".jsonl")
                    .map_or(0, |end| rest[..end].rfind('/').unwrap() + 1);
                line.push_str(&format!("STATE/…/{}", &rest[name..]));
            }
            line
        })
        .filter(|line| !line.contains("<property "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn what_is_made_of_the_json_later_is_equal_byte_for_byte() {
    let harness = Harness::new();
    let folder = harness.state.path();
    let markup = agent("markup");
    let recording = "../traces/cancel-while-streaming.jsonl";
    let trials: [&[&str]; 3] = [
        &[
            "run",
            "--agent",
            &markup,
            "--only",
            "init,cancel/next-turn",
            "--timeout",
            "2",
        ],
        &["check", recording, "tests/recordings"],
        &["replay", recording, "--agent", "bob"],
    ];
    for words in trials {
        let (_, written) = all(&harness, words);
        for (format, written) in FORMATS.into_iter().zip(&written) {
            let report = folder.join("json").display().to_string();
            let ran = harness.call(&["report", &report, "--report", &format!("{format}=-")]);
            assert_eq!(ran.code, 0, "{words:?} {format}: {}", ran.stderr);
            assert!(!written.is_empty());
            assert!(
                ran.stdout == *written,
                "{words:?} {format}:\n{}\n{written}",
                ran.stdout
            );
        }
    }
}

#[test]
fn text_of_an_agent_has_no_effect_in_any_format() {
    let harness = Harness::new();
    let (ran, [json, junit, markdown, badge]) = judged(
        &harness,
        "markup",
        "init/handshake,prompt/hello,UPDATE",
        &[],
    );
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let document: Value = serde_json::from_str(&json).unwrap();
    let name = document["agent"]["name"].as_str().unwrap();
    assert!(
        name.contains("<script>") && name.contains('\u{202e}'),
        "{name}"
    );
    let hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}' || c == '\u{fffe}';
    for text in [&junit, &markdown, &badge] {
        assert!(!text.contains(hidden), "{text:?}");
    }
    // The schema is held: nothing closed an element, and every text came back as it was.
    let suite = junit_schema::read(&junit);
    assert!(
        suite.name.contains("</failure>]]><script>"),
        "{}",
        suite.name
    );
    assert!(
        suite.name.contains("\\u202e \\u0000 \\u009b \\ufffe"),
        "{}",
        suite.name
    );
    let failed = suite.cases.iter().filter(|case| case.result == "failure");
    assert!(failed.clone().any(|case| case.text.contains("<script>")));
    assert!(markdown.contains("<script>"), "it is shown as it is");
    for line in markdown.lines() {
        let outside = without_code(line);
        for part in [
            "script",
            "alert",
            "img",
            "@",
            "#1",
            "evil",
            "javascript",
            "**b**",
        ] {
            assert!(!outside.contains(part), "{part} in {outside}");
        }
        let tags = [
            "<details>",
            "</details>",
            "<summary>",
            "</summary>",
            "<b>",
            "</b>",
        ];
        let bare = tags
            .iter()
            .fold(outside.clone(), |text, tag| text.replace(tag, ""));
        let links = bare.replace("<https://github.com/agentclientprotocol/", "");
        assert!(!links.contains('<'), "{outside}");
    }
    assert!(!badge.contains("script"), "{badge}");
}

/// A line of Markdown without its code spans, found as CommonMark finds them.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        out.push_str(&rest[..at]);
        let ticks = rest[at..].chars().take_while(|c| *c == '`').count();
        let body = &rest[at + ticks..];
        let mut from = 0;
        let end = loop {
            let Some(next) = body[from..].find('`') else {
                panic!("a code span is open: {line}");
            };
            let start = from + next;
            let row = body[start..].chars().take_while(|c| *c == '`').count();
            if row == ticks {
                break start + row;
            }
            from = start + row;
        };
        rest = &body[end..];
    }
    out.push_str(rest);
    out
}

#[test]
fn a_failure_is_told_whole_in_junit_and_markdown() {
    let harness = Harness::new();
    let scenarios = ["--scenarios", "tests/agents/scenarios"];
    let (ran, [_, junit, markdown, badge]) =
        judged(&harness, "wrong-cancel", "faults/cancelled", &scenarios);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    insta::assert_snapshot!("junit", steady(&junit, &harness));
    insta::assert_snapshot!("markdown", steady(&markdown, &harness));
    insta::assert_snapshot!("badge", badge);
    let suite = junit_schema::read(&junit);
    assert_eq!(suite.properties["CANCEL-01"], "must fail");
    let case = case(&suite, "faults/cancelled");
    assert_eq!(
        (case.class.as_str(), case.result.as_str()),
        ("faults", "failure")
    );
}

#[test]
fn a_known_failure_is_skipped_with_its_reason() {
    let harness = Harness::new();
    let words = ["run", "--agent", "bob", "--only", "MCP-01"];
    let (ran, [_, junit, markdown, badge]) = all(&harness, &words);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let suite = junit_schema::read(&junit);
    let known = suite
        .cases
        .iter()
        .find(|case| case.kind == "known")
        .unwrap();
    assert_eq!(known.result, "skipped");
    assert!(known.title.starts_with("MCP-01 known: "), "{}", known.title);
    assert!(suite.cases.iter().all(|case| case.result != "failure"));
    assert!(
        markdown.contains("### Known failures\n\n- **MCP-01** (must): "),
        "{markdown}"
    );
    assert!(!markdown.contains("### Failures"), "{markdown}");
    assert!(badge.contains("\"1 known failure\""), "{badge}");
}

#[test]
fn a_case_fails_where_the_exit_code_counts_the_failure() {
    let harness = Harness::new();
    let fails = |suite: &Suite| suite.cases.iter().any(|case| case.result == "failure");
    let (ran, advice) = suite(&harness, "early-update", "init/baseline-methods", &[]);
    assert_eq!((ran.code, fails(&advice)), (0, false), "{advice:#?}");
    let told = advice
        .cases
        .iter()
        .find(|case| case.kind == "interop")
        .unwrap();
    assert!(
        told.title.contains("counts with --strict only"),
        "{}",
        told.title
    );
    let (ran, strict) = suite(
        &harness,
        "early-update",
        "init/baseline-methods",
        &["--strict"],
    );
    assert_eq!((ran.code, fails(&strict)), (1, true), "{strict:#?}");
}

#[test]
fn no_agent_is_one_failure_with_what_may_help() {
    let harness = Harness::new();
    let (ran, [_, junit, markdown, badge]) = all(&harness, &["run", "--agent", &agent("quits")]);
    assert_eq!(ran.code, 3);
    let suite = junit_schema::read(&junit);
    let failed: Vec<&Case> = suite
        .cases
        .iter()
        .filter(|case| case.result == "failure")
        .collect();
    assert_eq!(failed.len(), 1, "{failed:#?}");
    assert!(
        failed[0].title.contains("never answered `initialize`"),
        "{failed:#?}"
    );
    assert!(failed[0].text.contains("--home keep"), "{failed:#?}");
    assert!(markdown.contains(": inconclusive\n\n`"), "{markdown}");
    assert!(badge.contains("\"no agent\""), "{badge}");
}

#[test]
fn a_recording_is_a_case_and_so_is_one_that_is_replayed() {
    let harness = Harness::new();
    let recording = "../traces/cancel-while-streaming.jsonl";
    let (ran, [_, junit, _, _]) = all(&harness, &["check", recording]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let checked = junit_schema::read(&junit);
    assert_eq!(case(&checked, recording).class, "recordings");
    let words = ["replay", recording, "--agent", &agent("echo"), "--trust"];
    let (ran, [_, junit, markdown, _]) = all(&harness, &words);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let replayed = junit_schema::read(&junit);
    let case = case(&replayed, recording);
    assert_eq!(
        (case.class.as_str(), case.kind.as_str()),
        ("replay", "difference")
    );
    assert!(case.text.contains("behaviour · "), "{}", case.text);
    assert!(markdown.contains("### Differences\n\n- "), "{markdown}");
}

#[test]
fn what_cannot_be_written_or_read_is_said() {
    let harness = Harness::new();
    let recording = "../traces/initialize.jsonl";
    let later = harness.state.path().join("later.json");
    fs::write(&later, r#"{"format":2}"#).unwrap();
    let later = later.display().to_string();
    let trials: [(&[&str], &str); 7] = [
        (
            &["diff", recording, recording, "--report", "junit=-"],
            "`harness diff` writes no `junit`",
        ),
        (
            &["report", "/no/such.json", "--report", "junit=-"],
            "cannot be read",
        ),
        (
            &["report", recording, "--report", "junit=-"],
            "is no report: missing field `format`",
        ),
        (
            &["report", &later, "--report", "junit=-"],
            "it has format 2",
        ),
        (
            &["report", &later, &later, "--report", "junit=x.xml"],
            "put `{name}` into its name, as in `junit={name}.out`",
        ),
        (&["report", &later], "--report"),
        (
            &[
                "check",
                recording,
                "--report",
                "json=/tmp/x",
                "--report",
                "junit=/tmp/x",
            ],
            "two reports are to go to `/tmp/x`",
        ),
    ];
    for (words, part) in trials {
        let ran = harness.call(words);
        assert_eq!(ran.code, 2, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{words:?}: {}", ran.stderr);
    }
    assert!(!Path::new("x.xml").exists());
}

#[test]
fn several_reports_go_to_files_by_their_names() {
    let harness = Harness::new();
    let folder = harness.state.path();
    for name in ["one", "two"] {
        let report = format!(
            "json={}",
            folder.join(name).with_extension("json").display()
        );
        harness.call(&["check", "../traces/initialize.jsonl", "--report", &report]);
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let target = format!("badge={}", path("{name}-badge.json"));
    let ran = harness.call(&[
        "report",
        &path("one.json"),
        &path("two.json"),
        "--report",
        &target,
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for name in ["one-badge.json", "two-badge.json"] {
        let badge: Value = serde_json::from_str(&fs::read_to_string(path(name)).unwrap()).unwrap();
        assert_eq!(badge["schemaVersion"], 1);
        assert!(badge["label"].is_string() && badge["color"].is_string());
    }
}
