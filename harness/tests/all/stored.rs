//! Sessions that are kept, over the real binary: by the reference agent, by one that keeps none, and by an agent that gets one
//! thing after the other wrong.

use std::collections::BTreeSet;

use crate::command_line::{Harness, agent};
use serde_json::Value;

/// The areas that are about sessions that come back, and about ends of sessions and requests.
const AREAS: [&str; 6] = [
    "load/*",
    "resume/*",
    "list/*",
    "delete/*",
    "close/*",
    "reqcancel/*",
];

/// The report of a run of an agent with these scenarios.
fn report(command: &str, scenarios: &[&str]) -> Value {
    slow_report(command, scenarios, "1")
}

/// The same with deliberate delays so many times as long.
fn slow_report(command: &str, scenarios: &[&str], slow: &str) -> Value {
    let mut words = vec!["--agent", command, "--report", "json=-", "--slow", slow];
    if command.contains("stored.sh") {
        words.extend(["--profile", "tests/agents/stored.toml"]);
    }
    scenarios
        .iter()
        .for_each(|name| words.extend(["--only", name]));
    Harness::new().run(&words).json()
}

/// The requirements of a report that have this status, each with its first finding.
fn with_status<'a>(report: &'a Value, status: &str) -> Vec<(&'a str, &'a Value)> {
    let requirements = report["requirements"].as_array().unwrap();
    let own = requirements
        .iter()
        .filter(|requirement| requirement["status"] == status);
    own.map(|own| (own["id"].as_str().unwrap(), &own["findings"][0]["message"]))
        .collect()
}

#[test]
fn the_reference_agent_with_everything_keeps_its_sessions() {
    let report = report("bob --surface everything", &AREAS);
    let passed: BTreeSet<&str> = with_status(&report, "pass").iter().map(|it| it.0).collect();
    for id in [
        "LOAD-01",
        "LOAD-02",
        "LOAD-03",
        "LOAD-04",
        "LOAD-05",
        "LOAD-07",
        "LOAD-08",
        "LOAD-10",
        "RESUME-01",
        "RESUME-02",
        "RESUME-03",
        "RESUME-04",
        "LIST-01",
        "LIST-02",
        "LIST-03",
        "LIST-04",
        "LIST-05",
        "LIST-06",
        "LIST-08",
        "LIST-11",
        "DELETE-01",
        "DELETE-02",
        "DELETE-03",
        "CLOSE-01",
        "CLOSE-02",
        "REQCANCEL-01",
        "REQCANCEL-03",
        "UPDATE-07",
        "USAGE-03",
        "INTEROP-22",
    ] {
        assert!(passed.contains(id), "{id} did not pass");
    }
    assert_eq!(with_status(&report, "fail"), []);
    let scenarios = report["scenarios"].as_array().unwrap();
    let open: Vec<&Value> = scenarios
        .iter()
        .filter(|scenario| scenario["status"] != "pass" && scenario["id"] != "list/pages")
        .collect();
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn the_reference_agent_turns_pages() {
    // A busy machine may take its time for fifty-two sessions.
    let report = slow_report("bob --surface everything", &["list/pages"], "20");
    let passed = with_status(&report, "pass");
    assert!(passed.iter().any(|(id, _)| *id == "LIST-07"), "{passed:?}");
    assert_eq!(with_status(&report, "fail"), []);
}

#[test]
fn what_the_plain_reference_agent_does_not_advertise_is_not_applicable() {
    let report = report(
        "bob",
        &["load/*", "resume/*", "list/*", "delete/*", "close/*"],
    );
    assert_eq!(with_status(&report, "fail"), []);
    for scenario in report["scenarios"].as_array().unwrap() {
        assert_eq!(scenario["status"], "not-applicable", "{scenario}");
    }
    let idle: BTreeSet<&str> = with_status(&report, "not-applicable")
        .iter()
        .map(|it| it.0)
        .collect();
    for id in [
        "LOAD-01",
        "RESUME-01",
        "LIST-01",
        "DELETE-01",
        "CLOSE-01",
        "USAGE-03",
    ] {
        assert!(idle.contains(id), "{id} is applicable");
    }
}

#[test]
fn another_agent_that_keeps_sessions_fails_nothing() {
    let command = agent("stored");
    let report = report(&command, &[&AREAS[..], &["auth/*"]].concat());
    assert_eq!(with_status(&report, "fail"), []);
    let passed: BTreeSet<&str> = with_status(&report, "pass").iter().map(|it| it.0).collect();
    for id in [
        "LOAD-02",
        "LOAD-05",
        "LOAD-07",
        "CLOSE-02",
        "REQCANCEL-01",
        "AUTH-11",
        "AUTH-12",
    ] {
        assert!(passed.contains(id), "{id} did not pass");
    }
}

/// What the agent gets wrong, where that shows, and what it breaks.
const FAULTS: [(&str, &str, &[&str]); 33] = [
    ("load-refuses", "load/listed", &["LOAD-01", "LOAD-08"]),
    ("load-nothing", "load/new-process", &["LOAD-02"]),
    ("load-half", "load/new-process", &["LOAD-02"]),
    ("load-late", "load/new-process", &["LOAD-02", "LOAD-03"]),
    ("load-order", "load/new-process", &["LOAD-04"]),
    ("load-roles", "load/after-close", &["LOAD-04"]),
    ("load-calls", "load/new-process", &["LOAD-05"]),
    ("load-deaf", "load/new-process", &["LOAD-07", "PROMPT-01"]),
    ("no-usage", "load/new-process", &["USAGE-03"]),
    ("resume-refuses", "resume/listed", &["RESUME-01"]),
    ("resume-replays", "resume/new-process", &["RESUME-02"]),
    (
        "resume-deaf",
        "resume/right-away",
        &["PROMPT-01", "RESUME-03"],
    ),
    ("resume-servers", "resume/without-servers", &["RESUME-04"]),
    ("list-refuses", "list/all", &["LIST-01"]),
    (
        "list-null",
        "list/unused-folder",
        &["JSONRPC-12", "LIST-02"],
    ),
    ("list-others", "list/by-folder", &["LIST-03"]),
    ("list-folders", "list/all", &["LIST-04"]),
    ("list-twice", "list/all", &["LIST-05"]),
    ("list-times", "list/all", &["LIST-06"]),
    ("list-pages", "list/pages", &["LIST-07"]),
    ("list-cursor", "list/invalid-cursor", &["LIST-08"]),
    ("list-roots", "list/all", &["LIST-10"]),
    ("list-forgets", "list/between-turns", &["LIST-11"]),
    ("list-titles", "list/between-turns", &["UPDATE-07"]),
    ("delete-refuses", "delete/after-close", &["DELETE-01"]),
    ("delete-keeps", "delete/listed", &["DELETE-02"]),
    ("delete-once", "delete/again", &["DELETE-03"]),
    ("deleted-goes-on", "delete/then-prompt", &["INTEROP-22"]),
    ("close-refuses", "close/after-a-turn", &["CLOSE-01"]),
    ("close-fails", "close/after-the-first-update", &["CLOSE-02"]),
    ("closed-goes-on", "close/then-prompt", &["INTEROP-22"]),
    (
        "request-aborts",
        "reqcancel/after-the-first-update",
        &["REQCANCEL-01"],
    ),
    (
        "request-answers",
        "reqcancel/nothing-to-cancel",
        &["JSONRPC-03", "JSONRPC-04", "REQCANCEL-03"],
    ),
];

#[test]
fn each_fault_of_an_agent_that_keeps_sessions_is_found_and_nothing_besides() {
    let mut wrong = Vec::new();
    for (fault, scenario, ids) in FAULTS {
        let report = report(&format!("{} {fault}", agent("stored")), &[scenario]);
        let found: BTreeSet<&str> = with_status(&report, "fail").iter().map(|it| it.0).collect();
        if found != ids.iter().copied().collect() {
            wrong.push(format!("{fault}: {:?}", with_status(&report, "fail")));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_logout_that_answers_with_text_or_changes_nothing_is_found() {
    for (fault, scenario, id) in [
        ("logout-text", "auth/logout", "AUTH-11"),
        ("logout-keeps", "auth/logged-out", "AUTH-12"),
    ] {
        let report = report(&format!("{} {fault}", agent("stored")), &[scenario]);
        let found = with_status(&report, "fail");
        assert!(
            found.iter().any(|(own, _)| *own == id),
            "{fault}: {found:?}"
        );
    }
}
