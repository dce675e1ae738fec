//! The arguments of `harness run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::super::reports::Output;
use super::super::value::{self, Color, Target};
use crate::agent::Named;

const AGENT: &str = "Agent";
const CHOICE: &str = "What is run and judged";
const PACE: &str = "Pace";
const SURROUNDINGS: &str = "Surroundings of the agent";
const OUTPUT: &str = "Output";

/// What `harness run` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "The agent is given by --agent, or word by word after `--`. \
    Exit codes: 0 all holds, 1 findings or no verdict, 2 usage, 3 no agent, 4 a fault of the harness."
)]
#[command(after_long_help = "\
Examples:
  harness run --agent bob
  harness run --agent \"my-agent --acp\" --report json=report.json
  harness run --agent \"my-agent --acp\" --only CANCEL,prompt/* -v
  harness run --profile my-agent.toml
  harness run -- npx some-agent --stdio

Exit codes, the first that holds of 2, 4, 3, 1:
  0  all holds; failures that are known for the agent too
  1  findings, stale known failures, or an inconclusive verdict
  2  usage: flags, files, or nothing that matched
  3  the agent could not be started, or never answered `initialize`
  4  a fault of the harness itself")]
pub(crate) struct RunArguments {
    /// The agent's command, or the name of a profile
    ///
    /// It is split like a POSIX shell splits words; no shell runs it. `bob` as its first word means the reference agent
    /// that is built in. `harness list profiles` shows the other names.
    #[arg(long, value_name = "COMMAND", help_heading = AGENT, conflicts_with = "words")]
    pub(super) agent: Option<String>,

    /// How the agent is started and steered: a name, or a file
    ///
    /// Without this the profile is found by the name of the program. With a profile alone, its own command is run.
    #[arg(long, value_name = "NAME|FILE", help_heading = AGENT)]
    pub(super) profile: Option<String>,

    /// The agent's command, word by word
    #[arg(last = true, value_name = "COMMAND", help_heading = AGENT)]
    pub(super) words: Vec<OsString>,

    /// Run and judge only these: requirements, areas, scenarios
    ///
    /// An id (`CANCEL-01`), an area (`CANCEL`), a scenario or a pattern for scenarios (`cancel/*`); several with commas, or
    /// by repeating the flag. The verdict is then on this part.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = CHOICE)]
    pub(super) only: Vec<String>,

    /// Leave these out; patterns as for --only
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = CHOICE)]
    pub(super) skip: Vec<String>,

    /// Add the scenarios of a folder to those that are built in
    ///
    /// One with the id of another takes its place.
    #[arg(long, value_name = "DIR", help_heading = CHOICE)]
    pub(super) scenarios: Vec<PathBuf>,

    /// Let `should` and `interop` count for the exit code
    #[arg(long, help_heading = CHOICE)]
    pub(super) strict: bool,

    /// How many scenarios run side by side
    ///
    /// By default what the cores and the free memory allow; a profile says how much memory an agent takes.
    #[arg(long, value_name = "N", value_parser = value::jobs, allow_negative_numbers = true, help_heading = PACE)]
    pub(super) jobs: Option<usize>,

    /// How long a request is waited for without any progress
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = value::seconds, allow_negative_numbers = true, help_heading = PACE)]
    pub(super) timeout: f64,

    /// How long the agent has to answer `initialize`
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = value::seconds, allow_negative_numbers = true, help_heading = PACE)]
    pub(super) startup_timeout: f64,

    /// Multiply quiet periods and deliberate delays
    ///
    /// For slow agents and slow machines. A profile may multiply them too.
    #[arg(long, value_name = "N", default_value = "1", value_parser = value::factor, allow_negative_numbers = true, help_heading = PACE)]
    pub(super) slow: f64,

    /// Give the agent a variable, or pass on your own
    ///
    /// `--env NAME=VALUE` sets it, `--env NAME` passes your own value. May be repeated; the last of a name counts.
    #[arg(long, value_name = "NAME[=VALUE]", help_heading = SURROUNDINGS)]
    pub(super) env: Vec<Named>,

    /// Pass on all of your variables
    ///
    /// Without this an agent gets PATH, language and the like. Those that lead to a real model do not pass while the
    /// scripted model is used.
    #[arg(long, help_heading = SURROUNDINGS)]
    pub(super) env_all: bool,

    /// The agent's home folder: a fresh one, or your own
    ///
    /// A fresh home keeps your settings and history out of the run. `keep` is for agents that do not come up without them.
    #[arg(long, value_name = "HOME", value_enum, default_value_t = HomeChoice::Fresh, help_heading = SURROUNDINGS)]
    pub(super) home: HomeChoice,

    /// The model that the agent talks to: the scripted one, or none
    ///
    /// With `none` no variable of a model is set: the agent uses what it has. Scenarios that need a script are inconclusive.
    #[arg(long, value_name = "MODEL", value_enum, default_value_t = ModelChoice::Scripted, help_heading = SURROUNDINGS)]
    pub(super) model: ModelChoice,

    /// Write a report: `json=FILE`, or `json=-` for stdout
    ///
    /// May be repeated. With `json=-` the text goes to stderr.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = value::target, help_heading = OUTPUT)]
    pub(super) report: Vec<Target>,

    /// Keep the traces in this folder
    ///
    /// By default in the user's state folder under the agent's name, where the last ten runs are kept.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(super) keep: Option<PathBuf>,

    /// Show no progress, and of the report only failures and the verdict
    #[arg(short, long, conflicts_with = "verbose", help_heading = OUTPUT)]
    pub(super) quiet: bool,

    /// Show every scenario as it ends, notes, and why things were not judged
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) verbose: bool,

    /// Colour: `auto`, `always` or `never`; NO_COLOR is heeded
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = OUTPUT)]
    pub(super) color: Color,
}

impl RunArguments {
    /// How much is shown, and where.
    pub(super) fn output(&self) -> Output<'_> {
        Output {
            quiet: self.quiet,
            verbose: self.verbose,
            color: self.color,
            reports: &self.report,
        }
    }
}

/// Which home folder the agent gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum HomeChoice {
    /// A fresh one for each scenario.
    Fresh,
    /// The user's own.
    Keep,
}

/// Which model the agent talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ModelChoice {
    /// The scripted model of each scenario.
    Scripted,
    /// None of the harness's.
    None,
}
