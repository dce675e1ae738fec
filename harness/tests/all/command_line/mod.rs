//! Runs the real binary, with a state folder of its own.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt as _;
use serde_json::Value;
use tempfile::TempDir;

/// The harness, and the folder in which it keeps traces.
pub(crate) struct Harness {
    pub(crate) state: TempDir,
}

/// What a run of it gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Harness {
    pub(crate) fn new() -> Self {
        Self {
            state: tempfile::tempdir().unwrap(),
        }
    }

    /// `harness` with these words.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::cargo_bin("harness").unwrap();
        command
            .args(words)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("XDG_STATE_HOME", self.state.path())
            .env_remove("COLUMNS")
            .env_remove("NO_COLOR");
        command
    }

    /// Runs `harness` with these words to its end.
    pub(crate) fn call(&self, words: &[&str]) -> Ran {
        let output = self.command(words).output().unwrap();
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `harness run` with these words.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.call(&[&["run"], words].concat())
    }
}

impl Ran {
    /// What it wrote to stdout, as JSON.
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("{error}: {}\n{}", self.stdout, self.stderr),
        }
    }
}

/// The path of a test agent.
pub(crate) fn agent(name: &str) -> String {
    let path = Path::new("tests/agents").join(format!("{name}.sh"));
    path.to_str().unwrap().to_owned()
}
