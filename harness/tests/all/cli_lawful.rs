//! What the reference agent lacks is exercised on a test agent that has it, and nothing of it is held against that agent.

use crate::command_line::{Harness, agent};

/// What is shown to hold on the well-equipped agent.
const SHOWN: [&str; 16] = [
    "AUTH-01",
    "AUTH-05",
    "AUTH-06",
    "AUTH-07",
    "AUTH-08",
    "SESSION-06",
    "SESSION-07",
    "CONTENT-04",
    "CONTENT-05",
    "CONTENT-06",
    "FS-01",
    "FS-03",
    "PLAN-01",
    "PLAN-02",
    "USAGE-01",
    "INTEROP-19",
];

#[test]
fn what_a_well_equipped_agent_has_is_shown_and_nothing_is_held_against_it() {
    let run = Harness::new().run(&[
        "--agent",
        &agent("well-equipped"),
        "--profile",
        "tests/agents/well-equipped.toml",
        "--only",
        "auth/*,content/*,fs/*,session/additional*,session/malformed*,init/handshake,prompt/hello",
        "--strict",
        "--report",
        "json=-",
    ]);
    let report = run.json();
    let standings = report["requirements"].as_array().unwrap();
    let of = |status: &str| -> Vec<&str> {
        let entries = standings.iter().filter(|entry| entry["status"] == status);
        entries.map(|entry| entry["id"].as_str().unwrap()).collect()
    };
    assert_eq!(of("fail"), Vec::<&str>::new());
    let passed = of("pass");
    let missing: Vec<&str> = SHOWN
        .into_iter()
        .filter(|id| !passed.contains(id))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn an_agent_that_speaks_version_2_too_may_refuse_it_without_its_members() {
    let run = Harness::new().run(&[
        "--agent",
        &agent("both-versions"),
        "--only",
        "init/version*,init/handshake",
        "--report",
        "json=-",
    ]);
    let report = run.json();
    let standings = report["requirements"].as_array().unwrap();
    let negotiated = standings
        .iter()
        .find(|entry| entry["id"] == "INIT-03")
        .unwrap();
    assert_eq!(negotiated["status"], "pass", "{negotiated}");
    assert_eq!(run.code, 0, "{}", run.stderr);
}
