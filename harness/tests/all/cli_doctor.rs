//! `harness doctor` over the real binary: what is missing, what would be started, and how its start goes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::command_line::{Harness, Ran, agent};

/// Runs `harness doctor` with these words and hardly any variables.
fn doctor(harness: &Harness, words: &[&str], path: &str) -> Ran {
    let mut command = harness.command(&[&["doctor"], words].concat());
    command
        .env_clear()
        .env("HOME", harness.state.path())
        .env("PATH", path)
        .env("MISTRAL_API_KEY", "sk-real");
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

const PATH: &str = "/usr/bin:/bin";

/// A program of this text, in a folder.
fn program(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_agent_that_is_ready_is_shown_with_all_that_it_gets() {
    let run = doctor(&Harness::new(), &["--agent", &agent("echo")], PATH);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    insta::with_settings!({filters => vec![
        (regex_of(here.to_str().unwrap()).as_str(), "HERE"),
        (r"[0-9]+\.[0-9] s", "N s"),
    ]}, {
        insta::assert_snapshot!(run.stdout);
    });
    assert!(!run.stdout.contains("sk-real"));
}

fn regex_of(text: &str) -> String {
    text.replace('.', r"\.")
}

#[test]
fn an_agent_that_is_not_installed_is_told_with_how_to_install_it() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().to_str().unwrap();
    let run = doctor(&Harness::new(), &["--agent", "opencode"], nowhere);
    assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
    for part in [
        "not installed: `opencode` was not found on the PATH",
        "npm install -g opencode-ai@",
        "{home}/.config/opencode/opencode.json",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("initialize "), "{}", run.stdout);
}

#[test]
fn a_wrong_node_is_told_with_what_is_wanted_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    program(path, "node", "#!/bin/sh\necho v18.1.0\n");
    fs::write(
        path.join("package.json"),
        r#"{"name":"my-agent","engines":{"node":">=20.19"}}"#,
    )
    .unwrap();
    let agent = program(path, "my-agent", "#!/usr/bin/env node\n");
    let search = format!("{}:{PATH}", path.to_str().unwrap());
    let run = doctor(&Harness::new(), &["--agent", &agent], &search);
    assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.contains("v18.1.0, but >=20.19 is wanted"),
        "{}",
        run.stdout
    );
    let text = run.stdout.replace('\n', " ");
    assert!(
        text.contains("Node.js is v18.1.0, and the agent wants >=20.19. That may be why."),
        "{text}"
    );
}

#[test]
fn what_stands_in_the_way_decides_the_exit_code() {
    for (name, words, code, part) in [
        ("login", &[][..], 1, "it needs a login: error -32000"),
        ("login", &[][..], 1, "It offers: `browser`"),
        ("later-version", &[][..], 1, "it answers version 2"),
        ("quits", &[][..], 3, "no settings in"),
        (
            "silent",
            &["--startup-timeout", "0.5"][..],
            3,
            "was given up after",
        ),
    ] {
        let agent = agent(name);
        let words = [&["--agent", agent.as_str()], words].concat();
        let run = doctor(&Harness::new(), &words, PATH);
        assert_eq!(run.code, code, "{name}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains(part), "{name}: {}", run.stdout);
    }
    let run = doctor(&Harness::new(), &[], PATH);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("write `harness doctor --agent"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_answer_that_is_not_right_is_no_readiness() {
    let folder = tempfile::tempdir().unwrap();
    for (result, part) in [
        ("null", "INIT-"),
        (
            r#"{"protocolVersion":"1","agentCapabilities":{}}"#,
            "found the string \"1\"",
        ),
    ] {
        let text = format!(
            "#!/bin/sh\nread line\necho '{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{result}}}'\n\
             read line\necho '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"sessionId\":\"s\"}}}}'\ncat > /dev/null\n"
        );
        let agent = program(folder.path(), "odd", &text);
        let run = doctor(&Harness::new(), &["--agent", &agent], PATH);
        assert_eq!(run.code, 1, "{result}: {}{}", run.stdout, run.stderr);
        assert!(
            run.stdout.contains("its answer is not right: "),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains(part), "{}", run.stdout);
        assert!(
            run.stdout.trim_end().ends_with("odd: not ready"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn an_answer_that_comes_too_late_is_told_as_that() {
    let folder = tempfile::tempdir().unwrap();
    // It answers when its stdin is closed: behind any limit.
    let text = "#!/bin/sh\ncat > /dev/null\n\
        echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{}}}'\n";
    let agent = program(folder.path(), "late", text);
    let words = ["--agent", &agent, "--startup-timeout", "0.5"];
    let run = doctor(&Harness::new(), &words, PATH);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    let text = run.stdout.replace('\n', " ");
    assert!(text.contains(", too late"), "{text}");
    assert!(
        text.contains("it answered `initialize` after ") && text.contains("the limit is 0.50 s"),
        "{text}"
    );
}

#[test]
fn the_files_that_count_and_the_tools_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("mine.toml");
    let text = format!(
        "name = \"mine\"\nabout = \"mine\"\ncommand = [\"{}/tests/agents/echo.sh\"]\n[tools]\nexecute = \"sh\"\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(&profile, text).unwrap();
    fs::write(
        folder.path().join("harness.toml"),
        "profile = \"mine.toml\"\n[tools]\nread = { tool = \"cat\", with = { all = true } }\n",
    )
    .unwrap();
    let harness = Harness::new();
    let mut command = harness.command(&["doctor"]);
    let output = command.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    for part in [
        "mine.toml",
        "settings    harness.toml",
        "`cat` with {\"all\":true}",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn what_no_program_can_be_given_is_a_matter_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("mine.toml");
    let text = "name = \"mine\"\nabout = \"mine\"\ncommand = [\"true\"]\n[env]\nA = \"x\\u0000\"\n";
    fs::write(&profile, text).unwrap();
    let run = doctor(
        &Harness::new(),
        &["--profile", profile.to_str().unwrap()],
        PATH,
    );
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stderr
            .contains("mine.toml:5:5: the value of `A` holds a NUL"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_mode_that_the_agent_does_not_offer_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("mine.toml");
    let text = format!(
        "name = \"mine\"\nabout = \"mine\"\ncommand = [\"{}\"]\nset_mode = \"ask\"\n",
        agent("echo")
    );
    fs::write(&profile, text).unwrap();
    let words = ["--profile", profile.to_str().unwrap()];
    let run = doctor(&Harness::new(), &words, PATH);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout
            .contains("the mode `ask`, which the agent does not offer"),
        "{}",
        run.stdout
    );
}
