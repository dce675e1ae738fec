//! Scenarios as tests of an agent's own crate: one test each, under `cargo test` and `cargo nextest`.
//!
//! In `Cargo.toml` of the agent:
//!
//! ```toml
//! [dev-dependencies]
//! acp-harness = { git = "…" }
//!
//! [[test]]
//! name = "acp"
//! harness = false
//! ```
//!
//! and in `tests/acp.rs`, with the arguments of `harness run`:
//!
//! ```ignore
//! acp_harness::scenarios_as_tests!["--", env!("CARGO_BIN_EXE_my-agent"), "--acp"];
//! ```
//!
//! A test fails where `harness run` on its scenario alone would fail, and says what `harness run` says. One that could show
//! nothing (inconclusive, not applicable), or whose failures are all known for the agent, is ignored, with the reason. Known
//! failures that pass are not told here, for one scenario does not show that: `harness run` does.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::cli::{Came, Suite};

/// How many tests came out how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Those that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that could show nothing.
    pub ignored: u64,
}

/// Runs scenarios as tests.
///
/// `flags` is the command line of the test program with its name, as `cargo test` gives it (`--list`, `--exact`, a filter);
/// `traces` the folder for the traces; `words` the arguments of `harness run`. Results are told on stdout as those of other
/// tests are. Flags that are none end the process, as in other tests.
///
/// # Errors
/// A sentence on what is wrong with `words`, or on what the system did not give.
pub fn run(
    flags: impl IntoIterator<Item = String>,
    traces: &Path,
    words: &[&str],
) -> Result<Ended, String> {
    let suite = Arc::new(Suite::new(traces, words)?);
    let trials = suite.ids().map(|id| {
        let (suite, id) = (Arc::clone(&suite), id.to_owned());
        Trial::ignorable_test(id.clone(), move || match suite.play(&id) {
            Came::Passed => Ok(Completion::Completed),
            Came::Open(why) => Ok(Completion::ignored_with(why)),
            Came::Failed(report) => Err(Failed::from(report)),
        })
    });
    let ended = libtest_mimic::run(&Arguments::from_iter(flags), trials.collect());
    Ok(Ended {
        passed: ended.num_passed,
        failed: ended.num_failed,
        ignored: ended.num_ignored,
    })
}

/// The `main` of a test program; see [`scenarios_as_tests`](crate::scenarios_as_tests).
pub fn main(traces: &str, words: &[&str]) -> ExitCode {
    /// What `cargo test` takes for a failure.
    const FAILED: u8 = 101;
    match run(std::env::args(), Path::new(traces), words) {
        Ok(ended) if ended.failed == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(FAILED),
        Err(why) => {
            crate::cli::error(why);
            ExitCode::from(FAILED)
        }
    }
}

/// Makes a test program of scenarios: a test with `harness = false` whose file holds this and nothing else.
///
/// Takes the arguments of `harness run`, the agent's command behind `"--"` among them. Traces are kept in the folder that
/// cargo has for what tests write (`target/tmp`). See [`cargo_test`](crate::cargo_test).
#[macro_export]
macro_rules! scenarios_as_tests {
    ($($word:expr),+ $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::cargo_test::main(
                concat!(env!("CARGO_TARGET_TMPDIR"), "/acp"),
                &[$($word),+],
            )
        }
    };
}
