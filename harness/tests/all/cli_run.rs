//! `harness run` over the real binary: flags, exit codes, reports.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use crate::command_line::{Harness, agent};
use serde_json::Value;

/// Words after `run`, and a part of what is said.
const USAGE: [(&[&str], &str); 22] = [
    (&[], "no agent is given: write `harness run --agent"),
    (&["--agent", ""], "the agent's command is empty"),
    (&["--agent", "x 'y"], "close the quote"),
    (&["--agent", "bob", "--", "bob"], "cannot be used with"),
    (
        &["--agent", "bob", "--profile", "bobb"],
        "did you mean `bob`?",
    ),
    (
        &["--agent", "bob", "--profile", "./none.toml"],
        "cannot read `./none.toml`",
    ),
    (
        &["--agent", "bob", "--only", "CANCEL-1"],
        "did you mean `CANCEL-01`",
    ),
    (
        &["--agent", "bob", "--skip", "nothing-of-it"],
        "is no requirement, no area and no scenario",
    ),
    (
        &["--agent", "bob", "--only", "init", "--skip", "init"],
        "no scenario is left to run",
    ),
    (
        &["--agent", "bob", "--scenarios", "/no/such"],
        "cannot read `/no/such`",
    ),
    (&["--agent", "bob", "--jobs", "0"], "at least one scenario"),
    (&["--agent", "bob", "--jobs", "-2"], "at least one scenario"),
    (&["--agent", "bob", "--timeout", "-1"], "more than zero"),
    (&["--agent", "bob", "--timeout", "nan"], "that is no number"),
    (
        &["--agent", "bob", "--startup-timeout", "0"],
        "more than zero",
    ),
    (&["--agent", "bob", "--slow", "inf"], "at most 1000"),
    (&["--agent", "bob", "--env", "=x"], "names no variable"),
    (
        &["--agent", "bob", "--report", "xml=x"],
        "there is no format `xml`",
    ),
    (
        &["--agent", "bob", "--report", "json=/no/such/x.json"],
        "cannot be written to `/no/such/x.json`",
    ),
    (
        &["--agent", "bob", "--report", "json=-", "--report", "json=-"],
        "only one report",
    ),
    (
        &["--agent", "bob", "--keep", "/dev/null/x"],
        "cannot be kept in `/dev/null/x`",
    ),
    (&["--agent", "bob", "-q", "-v"], "cannot be used with"),
];

#[test]
fn what_is_wrong_with_the_words_is_said_and_nothing_is_run() {
    let harness = Harness::new();
    for (words, part) in USAGE {
        let run = harness.run(words);
        assert_eq!(run.code, 2, "{words:?}: {}", run.stderr);
        assert!(
            run.stderr.starts_with("error: "),
            "{words:?}: {}",
            run.stderr
        );
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{words:?}");
    }
}

/// The agent's command, and a part of the sentence on it.
const NO_AGENT: [(&str, &str); 6] = [
    (
        "no-such-agent-anywhere --acp",
        "`no-such-agent-anywhere` was not found on the PATH",
    ),
    ("/etc/passwd", "is not executable"),
    (
        "sh -c 'echo hello'",
        "it wrote \"hello\", which is no JSON, and ended with exit code 0",
    ),
    (
        "tests/agents/quits.sh",
        "it wrote nothing and ended with exit code 3",
    ),
    (
        "tests/agents/garbage.sh",
        "it wrote \"what is this?\", which is no JSON, and was given up after 1 s",
    ),
    (
        "tests/agents/silent.sh",
        "it wrote nothing and was given up after 1 s",
    ),
];

#[test]
fn an_agent_that_never_answers_is_one_sentence_and_exit_code_3() {
    for (command, part) in NO_AGENT {
        let harness = Harness::new();
        let report = harness.state.path().join("report.json");
        let run = harness.run(&[
            "--agent",
            command,
            "--startup-timeout",
            "1",
            "--report",
            &format!("json={}", report.display()),
        ]);
        assert_eq!(run.code, 3, "{command}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{command}: {}", run.stderr);
        assert_eq!(run.stderr.matches("error: ").count(), 1, "{}", run.stderr);
        assert!(run.stdout.contains("inconclusive"), "{}", run.stdout);
        let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
        assert_eq!(report["verdict"], "inconclusive");
        assert!(report["blocked"].as_str().unwrap().contains(part));
        assert!(report["scenarios"].as_array().unwrap().len() < 30);
    }
}

#[test]
fn an_agent_that_asks_on_and_reads_nothing_does_not_hold_up_the_harness() {
    let harness = Harness::new();
    let words = [
        "--agent",
        &agent("asks-on"),
        "--only",
        "prompt/hello",
        "--timeout",
        "1",
        "-q",
    ];
    let began = std::time::Instant::now();
    let run = harness.run(&words);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stdout.contains("JSONRPC-04"), "{}", run.stdout);
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

#[test]
fn folders_that_cannot_be_written_to_are_usage_and_no_fault_of_the_harness() {
    let harness = Harness::new();
    let output = harness
        .command(&["run", "--agent", "bob", "--only", "prompt/hello"])
        .env("TMPDIR", "/no/such/folder")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("set TMPDIR"), "{text}");
}

#[test]
fn the_last_lines_of_stderr_and_what_may_help_are_told() {
    let run = Harness::new().run(&["--agent", &agent("quits")]);
    assert!(
        run.stderr.contains("    no settings in /"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("`--home keep`"), "{}", run.stderr);
}

#[test]
fn a_login_that_is_missing_is_no_failure_of_the_agent() {
    let run = Harness::new().run(&["--agent", &agent("login"), "--timeout", "2"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains(": inconclusive ("), "{}", run.stdout);
    assert!(
        run.stdout.contains("`browser` (Log in with the browser)"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("`--home keep`"), "{}", run.stdout);
}

#[test]
fn another_version_of_the_protocol_is_not_judged() {
    let run = Harness::new().run(&["--agent", &agent("later-version")]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains("answers version 2"), "{}", run.stdout);
    assert!(run.stdout.contains(": inconclusive ("), "{}", run.stdout);
}

#[test]
fn a_part_has_a_verdict_on_that_part() {
    let run = Harness::new().run(&["--agent", "bob", "--only", "init/handshake", "-v"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("pass"), "{}", run.stderr);
    assert!(run.stdout.ends_with("not applicable)\n"), "{}", run.stdout);
    assert!(
        run.stdout.contains("bob 0.11.0: conformant ("),
        "{}",
        run.stdout
    );
}

#[test]
fn quiet_means_the_verdict_alone_where_nothing_failed() {
    let run = Harness::new().run(&["-q", "--only", "init/handshake", "--", "bob"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
}

#[test]
fn a_known_failure_that_passes_is_stale_and_fails_the_run() {
    let harness = Harness::new();
    let own = harness.state.path().join("harness.toml");
    fs::write(
        &own,
        "[[known]]\nid = \"INIT-01\"\nscenario = \"init/handshake\"\nreason = \"Once.\"\n",
    )
    .unwrap();
    let mut command = harness.command(&["run", "--agent", "bob", "--only", "init/handshake"]);
    let output = command.current_dir(harness.state.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("stale: INIT-01"), "{text}");
    fs::write(&own, "[[known]]\nid = \"INIT-0\"\nreason = \"x\"\n").unwrap();
    let mut command = harness.command(&["run", "--agent", "bob"]);
    let output = command.current_dir(harness.state.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn traces_are_kept_where_they_are_wanted() {
    let harness = Harness::new();
    let folder = harness.state.path().join("kept");
    let kept = folder.to_str().unwrap();
    harness.run(&["--agent", "bob", "--only", "init/handshake", "--keep", kept]);
    assert!(folder.join("init/handshake.jsonl").is_file());
    assert!(!harness.state.path().join("acp-harness").exists());
    harness.run(&["--agent", "bob", "--only", "init/handshake"]);
    assert!(harness.state.path().join("acp-harness/bob").is_dir());
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let harness = Harness::new();
    let mut child = harness
        .command(&["list", "requirements", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(said, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let harness = Harness::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = harness.command(&["list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("could not be written"), "{said}");
}

#[test]
fn bob_gets_its_arguments_as_they_are() {
    let run = Harness::new().call(&["bob", "--help"]);
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains("--surface"), "{}", run.stdout);
    assert_eq!(Harness::new().call(&["bob", "--no-such"]).code, 2);
}
