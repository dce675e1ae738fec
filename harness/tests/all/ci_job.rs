//! What a CI job runs: `scripts/ci/judge`, as `action.yml` calls it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A job of a CI machine: its folder, and what its steps leave behind.
struct Job {
    folder: TempDir,
}

impl Job {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the script on `agent` with further flags.
    fn judge(&self, agent: &str, flags: &[&str]) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/ci/judge");
        Command::new("bash")
            .arg(script)
            .args(flags)
            .current_dir(&self.folder)
            .env("HARNESS", env!("CARGO_BIN_EXE_harness"))
            .env("AGENT", agent)
            .env("REPORTS", self.path("out"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .env("GITHUB_OUTPUT", self.path("output"))
            .output()
            .unwrap()
    }
}

#[test]
fn a_job_leaves_each_report_and_says_the_verdict() {
    let job = Job::new();
    let output = job.judge("bob", &["--only", "CANCEL"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for file in [
        "report.json",
        "junit.xml",
        "summary.md",
        "report.html",
        "badge.json",
    ] {
        assert!(!job.read(&format!("out/{file}")).is_empty(), "{file}");
    }
    assert!(job.path("out/traces").is_dir());
    assert_eq!(job.read("summary"), job.read("out/summary.md"));
    assert!(
        job.read("output")
            .starts_with("verdict=conformant\nreports=")
    );
}

#[test]
fn a_job_fails_with_its_agent_and_keeps_the_reports() {
    let job = Job::new();
    let output = job.judge(
        "bob --fault cancel-ends-the-turn-as-done",
        &["--only", "CANCEL-01"],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(job.read("output").starts_with("verdict=not-conformant\n"));
    assert!(job.read("summary").contains("CANCEL-01"));
}

#[test]
fn a_job_runs_its_part_alone() {
    let job = Job::new();
    let output = job.judge("bob", &["--only", "CANCEL", "--partition", "1/3"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let whole: serde_json::Value = serde_json::from_str(&job.read("out/report.json")).unwrap();
    assert!(!whole["scenarios"].as_array().unwrap().is_empty());
}
