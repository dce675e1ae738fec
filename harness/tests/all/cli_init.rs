//! `harness init`: a first run, and a file that knows what failed.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::command_line::{Harness, agent};

fn called(harness: &Harness, folder: &Path, words: &[&str]) -> (i32, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = harness.command(words).current_dir(folder).output().unwrap();
    let said = String::from_utf8([stdout, stderr].concat()).unwrap();
    (status.code().unwrap(), said)
}

#[test]
fn what_failed_is_known_to_the_next_run_and_the_file_is_never_written_over() {
    let harness = Harness::new();
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(agent("twice"));
    let command = format!("sh {}", program.display());
    let only = ["--only", "prompt/hello,cancel/next-turn"];
    let (code, said) = called(
        &harness,
        folder.path(),
        &[&["init", "--agent", &command], &only[..]].concat(),
    );
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("next: harness run"), "{said}");

    let text = fs::read_to_string(folder.path().join("harness.toml")).unwrap();
    assert!(
        text.starts_with(&format!("agent = \"{command}\"\n")),
        "{text}"
    );
    assert!(text.contains("[[known]]\nid = \"JSONRPC-04\""), "{text}");
    assert!(text.contains("reason = \"not looked at yet: "), "{text}");

    let (code, said) = called(&harness, folder.path(), &[&["run"], &only[..]].concat());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("known-failures"), "{said}");

    let (code, said) = called(&harness, folder.path(), &["init", "--agent", "bob"]);
    assert_eq!(code, 2, "{said}");
    assert_eq!(
        fs::read_to_string(folder.path().join("harness.toml")).unwrap(),
        text
    );
}

#[test]
fn nothing_is_written_for_an_agent_that_does_not_come_up() {
    let harness = Harness::new();
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = called(
        &harness,
        folder.path(),
        &[
            "init",
            "--agent",
            "/no/such/agent",
            "--only",
            "prompt/hello",
        ],
    );
    assert_eq!(code, 3, "{said}");
    assert!(!folder.path().join("harness.toml").exists());
}
