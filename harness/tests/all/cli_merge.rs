//! `harness run --partition` and `harness merge`: all parts together are one run.

use std::fs;

use crate::command_line::{Harness, Ran, agent};
use serde_json::{Value, json};

/// Runs the parts of a run, and gives their reports' paths and exit codes.
fn parts(harness: &Harness, words: &[&str], of: usize) -> Vec<(String, i32)> {
    let each = (1..=of).map(|number| {
        let file = harness.state.path().join(format!("{number}-of-{of}.json"));
        let file = file.display().to_string();
        let part = format!("{number}/{of}");
        let report = format!("json={file}");
        let own = ["--partition", &part, "--report", &report, "-q"];
        let ran = harness.run(&[words, &own].concat());
        assert!(ran.code < 2 || ran.code == 3, "{}", ran.stderr);
        (file, ran.code)
    });
    each.collect()
}

fn merge(harness: &Harness, files: &[(String, i32)]) -> Ran {
    let files: Vec<&str> = files.iter().map(|(file, _)| file.as_str()).collect();
    harness.call(&[&["merge", "--report", "json=-"], files.as_slice()].concat())
}

/// Takes out times and what hangs on them: the folders of traces, and the numbers of events, since what an agent writes to
/// stderr stands now before, now behind a message. Notes are of what is not judged, the outcome of races among it.
fn steady(report: &mut Value) {
    match report {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), &value) {
                    ("seconds" | "event", _) => *value = json!(0),
                    ("notes", _) => *value = json!([]),
                    ("trace", Value::String(path)) => {
                        let folders: Vec<&str> = path.rsplit('/').take(2).collect();
                        *value = json!(folders);
                    }
                    _ => steady(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(steady),
        // As in "there is no answer after 1.5 s".
        Value::String(text) => {
            let seconds = regex::Regex::new(r"\d+(\.\d+)? s\b").unwrap();
            *text = seconds.replace_all(text, "N s").into_owned();
        }
        _ => {}
    }
}

fn equal(one: &Ran, all: &Ran) {
    let [mut one_report, mut all_report] = [one.json(), all.json()];
    steady(&mut one_report);
    steady(&mut all_report);
    for (name, member) in one_report.as_object().unwrap() {
        if let (Value::Array(left), Value::Array(right)) = (member, &all_report[name]) {
            assert_eq!(left.len(), right.len(), "{name}");
            for (left, right) in left.iter().zip(right) {
                similar_asserts::assert_eq!(left, right, "{}", name);
            }
        } else {
            similar_asserts::assert_eq!(*member, all_report[name], "{}", name);
        }
    }
    assert_eq!(one_report, all_report);
    assert_eq!(one.code, all.code);
}

#[test]
fn three_parts_of_bob_are_one_run() {
    let harness = Harness::new();
    let whole = harness.run(&["--agent", "bob", "--report", "json=-"]);
    let parts = parts(&harness, &["--agent", "bob"], 3);
    let merged = merge(&harness, &parts);
    equal(&whole, &merged);
    assert_eq!(merged.json()["verdict"], "known-failures");
    let counts: Vec<usize> = parts
        .iter()
        .map(|(file, _)| {
            let report: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
            assert_eq!(report["part"]["whole"], true);
            report["scenarios"].as_array().unwrap().len()
        })
        .collect();
    let all = merged.json()["scenarios"].as_array().unwrap().len();
    assert_eq!(counts.iter().sum::<usize>(), all);
    assert!(
        counts.iter().all(|count| count.abs_diff(all / 3) <= 1),
        "{counts:?}"
    );
}

#[test]
fn faults_are_found_whichever_part_they_are_in() {
    let harness = Harness::new();
    for (name, only, code) in [("markup", "init,prompt", 1), ("early-update", "init", 0)] {
        let command = agent(name);
        let words = ["--agent", &command, "--only", only, "--timeout", "2"];
        let whole = harness.run(&[&words[..], &["--report", "json=-"]].concat());
        assert_eq!(whole.code, code, "{}", whole.stderr);
        let parts = parts(&harness, &words, 4);
        equal(&whole, &merge(&harness, &parts));
    }
}

#[test]
fn a_login_and_an_agent_that_never_comes_up_stand_in_the_way_of_all_parts() {
    let harness = Harness::new();
    let login = agent("login");
    let words = [
        "--agent",
        &login,
        "--only",
        "init,session",
        "--timeout",
        "2",
    ];
    let parts_of_login = parts(&harness, &words, 2);
    let whole = harness.run(&[&words[..], &["--report", "json=-"]].concat());
    let merged = merge(&harness, &parts_of_login);
    equal(&whole, &merged);
    assert_eq!(merged.json()["blocked_by"], "login");

    let quits = agent("quits");
    let parts_of_none = parts(&harness, &["--agent", &quits, "--only", "init"], 2);
    let merged = merge(&harness, &parts_of_none);
    assert_eq!(merged.code, 3, "{}", merged.stderr);
    assert_eq!(merged.json()["blocked_by"], "no-agent");
    assert!(
        merged.stderr.contains("never answered `initialize`"),
        "{}",
        merged.stderr
    );
}

#[test]
fn a_known_failure_is_stale_only_where_no_part_shows_it() {
    let harness = Harness::new();
    let profile = harness.state.path().join("profile.toml");
    let known =
        "[[known]]\nid = \"INIT-01\"\nscenario = \"init/handshake\"\nreason = \"it was so once\"\n";
    let text = format!(
        "name = \"quiet\"\nabout = \"A test agent\"\ncommand = [\"{}\"]\n{known}",
        agent("echo")
    );
    fs::write(&profile, text).unwrap();
    let profile = profile.display().to_string();
    let words = [
        "--profile",
        &profile,
        "--only",
        "init/handshake,init/baseline-methods",
    ];
    let parts = parts(&harness, &words, 2);
    assert!(parts.iter().all(|(_, code)| *code == 0), "{parts:?}");
    let merged = merge(&harness, &parts);
    assert_eq!(merged.code, 1, "{}", merged.stderr);
    assert_eq!(merged.json()["stale"][0]["id"], "INIT-01");
}

#[test]
fn what_are_not_all_parts_of_one_run_is_refused() {
    let harness = Harness::new();
    let echo = agent("echo");
    let early = agent("early-update");
    let of = |command: &str, only: &str, folder: &str| {
        let words = ["--agent", command, "--only", only];
        let made = parts(&harness, &words, 2);
        let moved = made.into_iter().map(|(file, _)| {
            let to = file.replace("-of-2", &format!("-of-2-{folder}"));
            fs::rename(&file, &to).unwrap();
            to
        });
        moved.collect::<Vec<String>>()
    };
    let own = of(&echo, "init", "own");
    let other_agent = of(&early, "init", "agent");
    let other_choice = of(&echo, "init,prompt", "choice");
    let whole = harness
        .state
        .path()
        .join("whole.json")
        .display()
        .to_string();
    let report = format!("json={whole}");
    harness.run(&[
        "--agent",
        &echo,
        "--only",
        "init/handshake",
        "--report",
        &report,
    ]);
    let altered = harness
        .state
        .path()
        .join("altered.json")
        .display()
        .to_string();
    let mut text: Value = serde_json::from_str(&fs::read_to_string(&own[1]).unwrap()).unwrap();
    text["spec"]["revision"] = json!("0123");
    fs::write(&altered, text.to_string()).unwrap();
    let trials: [(&[&str], &str); 6] = [
        (&[&own[0]], "part 2 of 2 is missing"),
        (
            &[&own[0], &own[1], &own[1]],
            "are both part 2 of 2: give each part once",
        ),
        (
            &[&own[0], &other_agent[1]],
            "they have another command of the agent",
        ),
        (
            &[&own[0], &other_choice[1]],
            "they have another choice of scenarios",
        ),
        (
            &[&own[0], &altered],
            "they have another revision of the specification",
        ),
        (
            &[&whole],
            "is no part of a run: it was made without `--partition`",
        ),
    ];
    for (files, part) in trials {
        let ran = harness.call(&[&["merge"], files].concat());
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    let mut text: Value = serde_json::from_str(&fs::read_to_string(&own[1]).unwrap()).unwrap();
    text["agent"]["version"] = json!("2.0.0");
    fs::write(&altered, text.to_string()).unwrap();
    let ran = harness.call(&["merge", &own[0], &altered]);
    let told = "they have another agent: `test-agent 1.0.0` and `test-agent 2.0.0`";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    // In any order.
    let ran = harness.call(&["merge", "-q", &own[1], &own[0]]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_part_that_cannot_be_is_refused() {
    let harness = Harness::new();
    let trials: [(&[&str], &str); 4] = [
        (&["--partition", "0/3"], "counted from 1 to 3"),
        (&["--partition", "4/3"], "counted from 1 to 3"),
        (&["--partition", "half"], "such as 1/4"),
        (
            &["--partition", "2/2", "--only", "init/handshake"],
            "part 2 of 2 holds no scenario: there are 1 to run",
        ),
    ];
    for (words, part) in trials {
        let ran = harness.run(&[&["--agent", "bob"], words].concat());
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let ran = harness.call(&["init", "--agent", "bob", "--partition", "1/2"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("needs the whole run"), "{}", ran.stderr);
}
