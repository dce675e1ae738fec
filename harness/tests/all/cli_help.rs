//! Help in two lengths, `list` and `explain`, held by snapshots.

use crate::command_line::Harness;

#[test]
fn help_is_grouped_and_has_two_lengths() {
    for (name, words) in [
        ("harness_short", &["-h"][..]),
        ("harness", &["--help"]),
        ("run_short", &["run", "-h"]),
        ("run_long", &["run", "--help"]),
        ("check_short", &["check", "-h"]),
        ("show_short", &["show", "-h"]),
        ("show_long", &["show", "--help"]),
        ("record", &["record", "--help"]),
        ("redact", &["redact", "--help"]),
        ("list", &["list", "--help"]),
        ("explain", &["explain", "--help"]),
    ] {
        let run = Harness::new().call(words);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        insta::assert_snapshot!(name, run.stdout);
    }
}

#[test]
fn a_requirement_and_a_profile_are_explained() {
    for (name, what) in [
        ("explain_requirement", "INIT-03"),
        ("explain_profile", "opencode"),
    ] {
        let run = Harness::new().call(&["explain", what]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        insta::assert_snapshot!(name, run.stdout);
    }
}

#[test]
fn what_clients_are_known_to_break_on_is_explained_with_the_reports() {
    let run = Harness::new().call(&["explain", "interop-01"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for part in [
        "INTEROP-01  interop",
        "sharpens    SESSION-12",
        "openclaw#109961",
    ] {
        assert!(run.stdout.contains(part), "{part} in\n{}", run.stdout);
    }
}

#[test]
fn a_scenario_is_explained_by_its_file_and_by_its_run() {
    for what in ["init/version-unknown", "init/version-unknown[3000]"] {
        let run = Harness::new().call(&["explain", what]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains("INIT-03: "), "{}", run.stdout);
    }
}

#[test]
fn what_is_not_there_is_answered_with_what_is_near() {
    let run = Harness::new().call(&["explain", "init-3"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("did you mean `INIT-03`?"),
        "{}",
        run.stderr
    );
    let run = Harness::new().call(&["explain", "init/version-unkown"]);
    assert!(
        run.stderr.contains("`init/version-unknown`"),
        "{}",
        run.stderr
    );
}

#[test]
fn lists_are_filtered_and_can_be_json() {
    let run = Harness::new().call(&["list", "--only", "CANCEL", "--json"]);
    let list = run.json();
    let list = list.as_array().unwrap();
    assert!(!list.is_empty());
    for entry in list {
        assert!(entry["id"].as_str().unwrap().starts_with("CANCEL-"));
        assert!(entry["statement"].is_string() && entry["level"].is_string());
    }
    let run = Harness::new().call(&["list", "scenarios", "--only", "init/handshake"]);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    let run = Harness::new().call(&["list", "profiles"]);
    assert!(run.stdout.contains("opencode  "), "{}", run.stdout);
    assert_eq!(Harness::new().call(&["list", "--only", "nope"]).code, 2);
}
