//! What `harness.toml` and profiles say reaches the agent, and what of the user's does not: over the real binary.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::command_line::Harness;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository with an agent that gives itself a name of variables, and has two modes.
struct Repository {
    folder: TempDir,
}

impl Repository {
    fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir(path.join("inner")).unwrap();
        fs::write(path.join("harness.toml"), settings).unwrap();
        let parts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/conversation.sh");
        let text = format!(
            r#"#!/bin/sh
. '{}'
on_initialize() {{
    result "{{\"protocolVersion\":1,\"agentInfo\":{{\"name\":\"$OWN_NAME key=$MISTRAL_API_KEY\",\"version\":\"1\"}}}}"
}}
on_new() {{
    result '{{"sessionId":"session-1","modes":{{"currentModeId":"code","availableModes":[{{"id":"ask","name":"Ask"}},{{"id":"code","name":"Code"}}]}}}}'
}}
on_unknown() {{
    case $line in
    *set_mode*) result '{{}}' ;;
    *) refuse -32601 "method not found" ;;
    esac
}}
serve
"#,
            parts.display()
        );
        let program = path.join("agent.sh");
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    /// Runs `harness run` in a folder of the repository: exit code, JSON report, stdout or stderr.
    fn run(&self, inner: &str, words: &[&str]) -> (i32, Value, String) {
        let harness = Harness::new();
        let report = harness.state.path().join("report.json");
        let target = format!("json={}", report.display());
        let mut command = harness.command(
            &[
                &["run", "--report", &target, "--only", "prompt/hello"],
                words,
            ]
            .concat(),
        );
        let output = command
            .current_dir(self.folder.path().join(inner))
            .env("MISTRAL_API_KEY", "sk-real")
            .output()
            .unwrap();
        let text = fs::read_to_string(&report).unwrap_or_default();
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap(),
            serde_json::from_str(&text).unwrap_or_default(),
            String::from_utf8(said).unwrap(),
        )
    }
}

#[test]
fn the_file_of_the_folder_above_names_agent_and_environment() {
    let repository = Repository::new("agent = \"./agent.sh\"\nenv.OWN_NAME = \"ours\"\n");
    let (code, report, said) = repository.run("inner", &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(report["agent"]["name"], "ours key=");
}

#[test]
fn what_the_command_line_says_goes_before_the_file() {
    let repository = Repository::new("agent = \"./agent.sh\"\nenv.OWN_NAME = \"ours\"\n");
    let (_, report, said) = repository.run("", &["--agent", "bob"]);
    assert_eq!(report["agent"]["name"], "bob", "{said}");
    let (_, report, said) = repository.run("", &["--env", "OWN_NAME=told"]);
    assert_eq!(report["agent"]["name"], "told key=", "{said}");
}

#[test]
fn a_profile_beside_the_file_is_found_by_its_path() {
    let repository = Repository::new("profile = \"mine.toml\"\n");
    let folder = repository.folder.path();
    let profile = format!(
        "name = \"mine\"\nabout = \"ours\"\ncommand = [\"{}\"]\nset_mode = \"ask\"\nenv.OWN_NAME = \"profile\"\n",
        folder.join("agent.sh").display()
    );
    fs::write(folder.join("mine.toml"), profile).unwrap();
    let kept: PathBuf = folder.join("kept");
    let (code, report, said) = repository.run("inner", &["--keep", kept.to_str().unwrap()]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(report["agent"]["name"], "profile key=");
    let trace = fs::read_to_string(kept.join("prompt/hello.jsonl")).unwrap();
    let at = |part: &str| {
        trace
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {trace}"))
    };
    let set = r#""method":"session/set_mode","params":{"sessionId":"session-1","modeId":"ask"}"#;
    assert!(at(set) < at("session/prompt"), "{trace}");
}

#[test]
fn what_is_wrong_in_the_file_is_told_at_its_place() {
    for (text, part) in [
        ("agnt = \"x\"", "harness.toml:1:1: unknown key `agnt`"),
        (
            "\nprofile = \"opncode\"",
            "harness.toml:2:11: there is no profile `opncode`; did you mean `opencode`?",
        ),
        (
            "[[known]]\nid = \"INIT-99\"\nreason = \"x\"",
            "harness.toml:2:6: there is no requirement `INIT-99`",
        ),
    ] {
        let (code, _, said) = Repository::new(text).run("", &["--agent", "bob"]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn keys_of_the_user_reach_the_agent_only_where_they_are_handed_over_and_the_report_says_so() {
    let repository = Repository::new("agent = \"./agent.sh\"\n");
    let (_, report, said) = repository.run("", &[]);
    assert_eq!(report["agent"]["name"], " key=");
    let around = json!({"home": "fresh", "model": "scripted", "env_all": false, "handed_over": []});
    assert_eq!(report["surroundings"], around);
    assert!(said.contains("none of your keys"), "{said}");

    let (_, report, said) = repository.run("", &["--env", "MISTRAL_API_KEY"]);
    assert_eq!(report["agent"]["name"], " key=sk-real");
    let handed = json!([{"name": "MISTRAL_API_KEY", "by": "--env"}]);
    assert_eq!(report["surroundings"]["handed_over"], handed);
    assert!(said.contains("MISTRAL_API_KEY (--env)"), "{said}");

    let (_, report, said) = repository.run("", &["--env-all"]);
    assert_eq!(report["agent"]["name"], " key=sk-real");
    assert_eq!(report["surroundings"]["env_all"], true);
    let handed = report["surroundings"]["handed_over"].as_array().unwrap();
    let entry = json!({"name": "MISTRAL_API_KEY", "by": "--env-all"});
    assert!(handed.contains(&entry), "{handed:?}");
    assert!(said.contains("MISTRAL_API_KEY (--env-all)"), "{said}");
}

#[test]
fn known_failures_of_the_repository_are_not_those_of_another_agent() {
    let known = "agent = \"./agent.sh\"\n[[known]]\nid = \"PROMPT-02\"\nscenario = \"prompt/hello\"\nreason = \"so\"\n";
    let repository = Repository::new(known);
    let (code, _, said) = repository.run("", &[]);
    assert_eq!(code, 1, "it passes, and so the entry is stale: {said}");
    let (code, _, said) = repository.run("", &["--agent", "bob"]);
    assert_eq!(code, 0, "{said}");
}
