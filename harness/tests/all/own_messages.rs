//! What the harness itself sends is judged too, and told apart from what the agent does.

use std::fs;

use crate::command_line::Harness;

/// Runs a scenario whose prompt lacks what a prompt must have, with these further keys in its step.
fn run_with(keys: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("own")).unwrap();
    fs::write(
        folder.path().join("own/malformed.toml"),
        format!(
            "title = \"A prompt without its text\"\ncovers = [\"JSONRPC-13\"]\n\n\
             [[step]]\nnew = true\n\n\
             [[step]]\nrequest = {{ method = \"session/prompt\", params = {{ sessionId = \"{{{{session}}}}\" }} }}\n{keys}"
        ),
    )
    .unwrap();
    let harness = Harness::new();
    let scenarios = folder.path().to_str().unwrap();
    let ran = harness.run(&[
        "--agent",
        "bob",
        "--scenarios",
        scenarios,
        "--only",
        "own/malformed",
    ]);
    (ran.code, ran.stdout + &ran.stderr)
}

#[test]
fn a_message_of_the_harness_that_breaks_the_schema_is_its_own_fault() {
    let (code, said) = run_with("");
    assert_eq!(code, 4, "{said}");
    assert!(
        said.contains("the harness's own message at event"),
        "{said}"
    );
    assert!(said.contains("`probe`"), "{said}");
}

#[test]
fn one_that_is_marked_as_a_probe_is_none() {
    let (code, said) = run_with("probe = \"without a prompt\"\n");
    assert!(code == 0 || code == 1, "{said}");
    assert!(!said.contains("own message"), "{said}");
}
