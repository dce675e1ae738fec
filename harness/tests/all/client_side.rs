//! What an agent asks of the client: each judge of it is seen to pass where it should, and to fail where it should.

use crate::command_line::{Harness, agent};

/// What `asks-client.sh` has and uses, shown without a scripted model.
const SHOWN: [&str; 17] = [
    "FS-06",
    "FS-07",
    "TERMINAL-03",
    "TERMINAL-04",
    "TERMINAL-07",
    "CANCEL-10",
    "ELICIT-03",
    "ELICIT-12",
    "ELICIT-14",
    "ELICIT-15",
    "MODE-02",
    "CONFIG-04",
    "CONFIG-05",
    "CONFIG-09",
    "CONFIG-10",
    "CONFIG-11",
    "INTEROP-20",
];

/// The scenarios that show them.
const ONLY: &str = "fs/*,terminal/refused[create],cancel/while-a-terminal-runs,elicit/answered,elicit/no-content,elicit/content-to-be-ignored,mode/each,mode/not-offered,config/another-value,config/mode-option,config/switch,config/not-offered";

/// Fault, scenarios, and what fails: exactly these, of any level.
const FAULTS: [(&str, &str, &[&str]); 13] = [
    (
        "dies-on-error",
        "fs/refused[write-failing]",
        &["FS-06", "INTEROP-18", "JSONRPC-04"],
    ),
    ("write-failed", "fs/write-answered[an-object]", &["FS-07"]),
    (
        "dies-on-error",
        "terminal/refused[create]",
        &["INTEROP-18", "JSONRPC-04", "TERMINAL-07"],
    ),
    (
        "leaves-terminal",
        "cancel/while-a-terminal-runs",
        &["CANCEL-10", "TERMINAL-04"],
    ),
    (
        "dies-on-error",
        "elicit/answered[error]",
        &["ELICIT-12", "JSONRPC-04"],
    ),
    ("null-is-another", "elicit/no-content", &["ELICIT-14"]),
    ("refuses-modes", "mode/each", &["MODE-02"]),
    ("out-of-step", "mode/each", &["CONFIG-11"]),
    ("takes-any-mode", "mode/not-offered", &["INTEROP-20"]),
    ("takes-any-option", "config/not-offered", &["INTEROP-20"]),
    ("bare-answer", "config/another-value", &["CONFIG-04"]),
    ("keeps-value", "config/another-value", &["CONFIG-05"]),
    ("keeps-switch", "config/switch", &["CONFIG-09"]),
];

/// The ids of a status, of all levels but `observe`.
fn ids(report: &serde_json::Value, status: &str) -> Vec<String> {
    let all = report["requirements"].as_array().unwrap().iter();
    all.filter(|entry| entry["status"] == status && entry["level"] != "observe")
        .map(|entry| entry["id"].as_str().unwrap().to_owned())
        .collect()
}

fn run(agent: &str, only: &str) -> serde_json::Value {
    let words = [
        "--agent",
        agent,
        "--only",
        only,
        "--timeout",
        "3",
        "--report",
        "json=-",
    ];
    Harness::new().run(&words).json()
}

#[test]
fn what_an_agent_asks_of_the_client_is_shown_and_nothing_is_held_against_it() {
    let report = run(&agent("asks-client"), ONLY);
    assert_eq!(ids(&report, "fail"), Vec::<String>::new());
    let passed = ids(&report, "pass");
    let missing: Vec<&str> = SHOWN
        .into_iter()
        .filter(|id| !passed.iter().any(|own| own == id))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn each_fault_fails_what_it_breaks_and_nothing_else() {
    let mut wrong = Vec::new();
    for (fault, only, expected) in FAULTS {
        let mut failed = ids(
            &run(&format!("{} {fault}", agent("asks-client")), only),
            "fail",
        );
        let mut expected: Vec<String> = expected.iter().map(|id| (*id).to_owned()).collect();
        failed.sort();
        expected.sort();
        if failed != expected {
            wrong.push(format!(
                "{fault} in {only}: expected {expected:?}, found {failed:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The everything surface but for one line that it writes otherwise: scenario, verb, pattern, which, old, new, and what fails.
const OTHERWISE: [(&str, [&str; 5], &str); 5] = [
    (
        "mode/while-a-turn-runs",
        [
            "replace",
            "\"result\":{}",
            "all",
            "\"result\":{}",
            "\"error\":{\"code\":-32602,\"message\":\"Invalid params\"}",
        ],
        "MODE-04",
    ),
    (
        "config/mode-option",
        [
            "replace",
            "current_mode_update",
            "1",
            "\"currentModeId\":\"plan\"",
            "\"currentModeId\":\"code\"",
        ],
        "CONFIG-11",
    ),
    (
        "config/defaults",
        [
            "replace",
            "stopReason",
            "all",
            "\"result\":{\"stopReason\":\"end_turn\"}",
            "\"error\":{\"code\":-32603,\"message\":\"Internal error\"}",
        ],
        "CONFIG-07",
    ),
    (
        "elicit/fallback",
        [
            "replace",
            "stopReason",
            "all",
            "\"result\":{\"stopReason\":\"end_turn\"}",
            "\"error\":{\"code\":-32603,\"message\":\"Internal error\"}",
        ],
        "ELICIT-17",
    ),
    (
        // The agent wants a text where it told the user to give a number.
        "elicit/broken-values",
        [
            "replace",
            "requestedSchema",
            "all",
            "\"answer\":{\"type\":\"string\"",
            "\"answer\":{\"type\":\"integer\"",
        ],
        "ELICIT-13",
    ),
];

#[test]
fn one_line_otherwise_fails_what_it_breaks() {
    let harness = assert_cmd::cargo::cargo_bin("harness");
    let mut wrong = Vec::new();
    for (only, [verb, pattern, nth, old, new], expected) in OTHERWISE {
        let words = [pattern, nth, old, new].map(|word| format!("'{word}'"));
        let command = format!(
            "{} {verb} {} {} bob --surface everything",
            agent("bob-but"),
            words.join(" "),
            harness.display()
        );
        let failed = ids(&run(&command, only), "fail");
        if !failed.iter().any(|id| id == expected) {
            wrong.push(format!("{only}: expected {expected}, found {failed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
