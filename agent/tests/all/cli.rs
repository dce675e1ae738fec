//! Arguments and exit codes.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn bob(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_bob"))
        .args(arguments)
        .env_remove("OPENAI_BASE_URL")
        .write_stdin("")
        .assert()
}

#[test]
fn bob_alone_and_in_both_spellings_of_acp_serves() {
    for arguments in [
        &[][..],
        &["acp"],
        &["-acp"],
        &["-acp", "--surface", "0.11.0"],
    ] {
        bob(arguments)
            .success()
            .stdout("")
            .stderr(contains("(0.11.0) — embedded\n"));
    }
}

#[test]
fn version_and_help_are_said_on_stdout() {
    bob(&["--version"])
        .success()
        .stdout(format!("bob {}\n", env!("CARGO_PKG_VERSION")));
    bob(&["--help"])
        .success()
        .stdout(contains("--model").and(contains("OPENAI_BASE_URL")));
}

#[test]
fn a_surface_that_is_not_there_is_refused_with_those_that_are() {
    bob(&["--surface", "2.0"])
        .code(2)
        .stdout("")
        .stderr(contains(
            "there is no surface `2.0`; known: 0.11.0, 1.0.3, everything",
        ));
}

#[test]
fn arguments_that_mean_nothing_are_refused() {
    bob(&["serve"]).code(2);
    bob(&["--model", "magic"])
        .code(2)
        .stderr(contains("embedded"));
    bob(&["--port", "1"]).code(2);
}

#[test]
fn settings_are_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    std::fs::write(&path, "[context]\nwindow = 1\nwidth = 2\n").unwrap();
    let name = path.to_str().unwrap();
    bob(&["--config", name])
        .code(2)
        .stderr(contains(format!("bob: {name}:3: ")).and(contains("width")));
    bob(&["--config", "/nowhere/my.toml"])
        .code(2)
        .stderr(contains("/nowhere/my.toml: cannot be read"));
}

#[test]
fn the_model_of_the_settings_is_in_the_banner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    std::fs::write(&path, "[model]\nkind = \"openai\"\nname = \"small\"\n").unwrap();
    bob(&["--config", path.to_str().unwrap()])
        .success()
        .stderr(contains("— openai small\n"));
}

#[test]
fn faults_and_quirks_are_listed_as_text_and_as_json() {
    bob(&["--list-faults"])
        .success()
        .stdout(contains("cancel-ignored (--surface 0.11.0)").and(contains("breaks CANCEL-01")));
    for (flag, noun) in [("--list-faults", "faults"), ("--list-quirks", "quirks")] {
        let output = bob(&[flag, "--json"]).success().get_output().stdout.clone();
        let table: serde_json::Value = serde_json::from_slice(&output).unwrap();
        assert!(table[noun].as_array().unwrap().len() >= 25, "{noun}");
    }
}

#[test]
fn a_fault_that_is_not_there_is_refused() {
    bob(&["--fault", "none"])
        .code(2)
        .stdout("")
        .stderr(contains("there is no fault `none`; `bob --list-faults`"));
    bob(&["--quirk", "cancel-ignored"])
        .code(2)
        .stderr(contains("there is no quirk"));
}

#[test]
fn what_cannot_show_is_refused_with_where_it_does() {
    for (arguments, reason) in [
        (
            &["--fault", "load-replays-nothing"][..],
            "`load-replays-nothing` does not show on the surface 0.11.0; it does with `--surface` everything",
        ),
        (
            &["--fault", "usage-null"],
            "it does with `--surface` 1.0.3 or everything",
        ),
        (
            &[
                "--surface",
                "everything",
                "--fault",
                "load-advertised-and-unknown",
            ],
            "it does with `--surface` 0.11.0 or 1.0.3",
        ),
        (
            &["--surface", "everything", "--fault", "logout-fails"],
            "`logout-fails` does not show with `--auth` none; it does with `--auth` agent",
        ),
        (
            &["--quirk", "first-page-empty"],
            "it does with `--surface` everything",
        ),
    ] {
        bob(arguments).code(2).stdout("").stderr(contains(reason));
    }
}

#[test]
fn a_fault_shows_on_the_wire_and_a_quirk_beside_it() {
    bob(&["--fault", "banner-on-stdout", "--quirk", "chatty-stderr"])
        .success()
        .stdout("Starting bob…\n");
}
