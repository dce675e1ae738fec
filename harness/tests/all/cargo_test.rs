//! Scenarios as tests of an agent's own crate; `examples/agent-under-test` is one that passes.

use acp_harness::cargo_test::{Ended, run};

/// Runs the test program of an agent with a filter.
fn tested(agent: &[&str], filter: &[&str]) -> Result<Ended, String> {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["acp", "--test-threads", "2"].iter().chain(filter);
    let words = ["--only", "init/*", "--"].iter().chain(agent);
    let words: Vec<&str> = words.copied().collect();
    let ended = run(flags.map(|flag| (*flag).to_owned()), folder.path(), &words);
    let trace = folder.path().join("init/handshake.jsonl");
    if ended
        .as_ref()
        .is_ok_and(|ended| ended.passed + ended.failed > 0)
    {
        assert!(trace.is_file(), "the trace is kept");
    }
    ended
}

#[test]
fn a_scenario_is_a_test_that_passes_fails_or_is_ignored() {
    let harness = env!("CARGO_BIN_EXE_harness");
    let one = ["--exact", "init/handshake"];
    let ended = |passed, failed, ignored| {
        Ok(Ended {
            passed,
            failed,
            ignored,
        })
    };
    assert_eq!(tested(&[harness, "bob"], &one), ended(1, 0, 0));
    assert_eq!(
        tested(&["tests/agents/banner.sh"], &one),
        ended(0, 1, 0),
        "a banner on stdout breaks TRANSPORT-02"
    );
    assert_eq!(
        tested(&["tests/agents/quits.sh"], &one),
        ended(0, 1, 0),
        "an agent that does not come up is no pass"
    );
    let none = ["--exact", "no/such-scenario"];
    assert_eq!(tested(&[harness, "bob"], &none), ended(0, 0, 0));
}

#[test]
fn words_that_are_no_arguments_of_a_run_are_refused() {
    let error = tested(&[], &[]).unwrap_err();
    assert!(error.contains("agent"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let error = run(["acp".to_owned()], folder.path(), &["--olny", "init"]).unwrap_err();
    assert!(error.contains("--olny"), "{error}");
}
