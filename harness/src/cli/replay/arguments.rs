//! The arguments of `harness replay`.

use std::path::PathBuf;

use clap::Args;

use super::super::agent::{
    AgentArguments, LimitArguments, OUTPUT, OutputArguments, PACE, SurroundingsArguments,
};
use super::super::look::LookArguments;
use super::super::value;
use crate::diff::Class;
use crate::replay::Model;

const REPLAY: &str = "Replay";

/// What `harness replay` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "The agent is given by --agent, or word by word after `--`. \
    Exit codes: 0 no difference, 1 differences, 2 usage, 3 no agent, 4 a fault of the harness."
)]
#[command(after_long_help = "\
The replayer sends what the client of the recording sent, each message when what it rests on has happened. Ids and folders \
of the recording are replaced by the live ones. What the agent does otherwise is a difference.

Examples:
  harness replay bug.jsonl --agent \"my-agent --acp\" --trust
  harness replay traces/*.jsonl --agent bob --level text
  harness replay bug.jsonl --agent bob --trust --repeat 5
  harness replay bug.jsonl --trust -- npx some-agent --stdio

Exit codes, the first that holds of 2, 4, 3, 1:
  0  no difference of --level or higher; what the recording breaks too does not count
  1  differences; a requirement that is newly broken is one
  2  usage: flags, files, or a recording that is not trusted
  3  the agent could not be started, or never answered `initialize`
  4  a fault of the harness itself")]
pub(crate) struct ReplayArguments {
    /// The recordings: files, or folders of `*.jsonl`
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) agent: AgentArguments,

    /// From which class on differences are shown and count for the exit code
    ///
    /// The classes are those of `harness diff`.
    #[arg(long, value_name = "CLASS", value_enum, default_value_t = Class::Behaviour, help_heading = REPLAY)]
    pub(super) level: Class,

    /// Let the agent run what the recording makes it run
    ///
    /// A recording makes an agent run the commands that are in it, and an agent may run others. Without this a recording
    /// that is not one of the project's own is not replayed: its commands are listed.
    #[arg(long, help_heading = REPLAY)]
    pub(super) trust: bool,

    /// The model that the agent talks to: `recorded`, `derived` or `none`
    ///
    /// With `recorded` the model's exchanges of the recording are served again, each to the request at its place of the
    /// conversation; a recording without any leaves the agent the model that it has. With `derived` a model is made up from
    /// what the agent said and called in the recording, which is an approximation. With `none` the agent uses what it has.
    #[arg(long, value_name = "MODEL", value_enum, default_value_t = ModelChoice::Recorded, help_heading = REPLAY)]
    pub(super) model: ModelChoice,

    /// Write what the agent does now into the recording
    ///
    /// What is said about the recording and its volatility notes stay. Only if the conversation came to its end.
    #[arg(long, conflicts_with = "repeat", help_heading = REPLAY)]
    pub(super) accept: bool,

    /// Replay each recording so often, and say which differences come and go
    #[arg(long, value_name = "N", default_value = "1", value_parser = times, allow_negative_numbers = true, help_heading = REPLAY)]
    pub(super) repeat: usize,

    /// Let `should` and `interop` count for the exit code
    #[arg(long, help_heading = REPLAY)]
    pub(super) strict: bool,

    #[command(flatten)]
    pub(super) limits: LimitArguments,

    /// Multiply quiet periods
    #[arg(long, value_name = "N", default_value = "1", value_parser = value::factor, allow_negative_numbers = true, help_heading = PACE)]
    pub(super) slow: f64,

    #[command(flatten)]
    pub(super) surroundings: SurroundingsArguments,

    #[command(flatten)]
    pub(super) output: OutputArguments,

    /// Show of the report only differences, failures and the verdict
    #[arg(short, long, conflicts_with = "verbose", help_heading = OUTPUT)]
    pub(super) quiet: bool,

    /// Show every difference with whole values, and what was judged
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) verbose: bool,

    #[command(flatten)]
    pub(super) look: LookArguments,
}

/// Which model the agent talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ModelChoice {
    /// The exchanges of the recording.
    Recorded,
    /// One that is made up from the recording.
    Derived,
    /// None of the harness's.
    None,
}

impl ModelChoice {
    /// The word for it on the command line.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Derived => "derived",
            Self::None => "none",
        }
    }
}

impl From<ModelChoice> for Model {
    fn from(choice: ModelChoice) -> Self {
        match choice {
            ModelChoice::Recorded => Self::Recorded,
            ModelChoice::Derived => Self::Derived,
            ModelChoice::None => Self::None,
        }
    }
}

/// How often a recording is replayed.
fn times(text: &str) -> Result<usize, String> {
    const MOST: usize = 10_000;
    match text.parse::<usize>() {
        Ok(0) => Err("a recording is replayed at least once".to_owned()),
        Ok(number) if number <= MOST => Ok(number),
        Ok(_) => Err(format!("it must be at most {MOST}")),
        Err(_) => Err("expected a whole number, such as 5".to_owned()),
    }
}
