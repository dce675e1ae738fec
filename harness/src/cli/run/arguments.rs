//! The arguments of `harness run`.

use std::path::PathBuf;

use clap::{Args, FromArgMatches as _};

use super::super::agent::{
    AgentArguments, LimitArguments, ModelChoice, OUTPUT, OutputArguments, PACE, SURROUNDINGS,
    SurroundingsArguments,
};
use super::super::groups;
use super::super::look::LookArguments;
use super::super::reports::Output;
use super::super::value::{self, Partition};
use crate::agent::Named;
use crate::model::Upstream;

const CHOICE: &str = "What is run and judged";

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
    #[command(flatten)]
    pub(super) agent: AgentArguments,

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

    /// Run one part of several, for runs that are spread over machines
    ///
    /// `--partition 1/4` is the first of four: each scenario is in one part, always in the same. `harness merge` makes of the
    /// JSON reports of all parts the report of the run. The verdict of a part is on what was judged.
    #[arg(long, value_name = "K/N", value_parser = value::partition, help_heading = CHOICE)]
    pub(super) partition: Option<Partition>,

    /// Let `should` and `interop` count for the exit code
    #[arg(long, help_heading = CHOICE)]
    pub(super) strict: bool,

    /// How many scenarios run side by side
    ///
    /// By default what the cores and the free memory allow; a profile says how much memory an agent takes.
    #[arg(short, long, value_name = "N", value_parser = value::jobs, allow_negative_numbers = true, help_heading = PACE)]
    pub(super) jobs: Option<usize>,

    #[command(flatten)]
    pub(super) limits: LimitArguments,

    /// Multiply quiet periods and deliberate delays
    ///
    /// For slow agents and slow machines. A profile may multiply them too.
    #[arg(long, value_name = "N", default_value = "1", value_parser = value::factor, allow_negative_numbers = true, help_heading = PACE)]
    pub(super) slow: f64,

    #[command(flatten)]
    pub(super) surroundings: SurroundingsArguments,

    /// The model that the agent talks to: the scripted one, or none
    ///
    /// With `none` no variable of a model is set: the agent uses what it has. Scenarios that need a script are inconclusive.
    #[arg(long, value_name = "MODEL", value_enum, default_value_t = ModelChoice::Scripted, help_heading = SURROUNDINGS)]
    pub(super) model: ModelChoice,

    /// Run with a real model, and keep its exchanges in the traces
    ///
    /// The agent's base URLs lead to a proxy that passes on to this server; forms of `URL` as in `harness record
    /// --model-upstream`. The agent's key comes by `--env NAME`. Scenarios that need a script are inconclusive. A trace can
    /// be replayed without the model.
    #[arg(long, value_name = "[FAMILY=]URL", conflicts_with = "model", help_heading = SURROUNDINGS)]
    pub(super) record_model: Vec<Upstream>,

    #[command(flatten)]
    pub(super) output: OutputArguments,

    /// Show no progress, and of the report only failures and the verdict
    #[arg(short, long, conflicts_with = "verbose", help_heading = OUTPUT)]
    pub(super) quiet: bool,

    /// Show every scenario as it ends, notes, and why things were not judged
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) verbose: bool,

    #[command(flatten)]
    pub(super) look: LookArguments,
}

impl RunArguments {
    /// Reads the words behind `harness run`.
    ///
    /// # Errors
    /// What is wrong with them, as `harness run` would say it.
    pub(in crate::cli) fn of_words<'a>(
        words: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let all = ["harness", "run"].into_iter().chain(words);
        let matches = groups::command()
            .try_get_matches_from(all)
            .map_err(|error| error.to_string())?;
        matches
            .subcommand_matches("run")
            .map(Self::from_arg_matches)
            .ok_or("the words are no arguments of `harness run`")?
            .map_err(|error| error.to_string())
    }

    /// Whether reports are to be written.
    pub(in crate::cli) fn writes_reports(&self) -> bool {
        !self.output.report.is_empty()
    }

    /// Which agent is started.
    pub(in crate::cli) fn agent(&self) -> &AgentArguments {
        &self.agent
    }

    /// The variables that the agent is given.
    pub(in crate::cli) fn variables(&self) -> &[Named] {
        &self.surroundings.env
    }

    /// Whether `should` and `interop` count.
    pub(in crate::cli) fn is_strict(&self) -> bool {
        self.strict
    }

    /// Whether only a part is run, of several.
    pub(in crate::cli) fn is_part(&self) -> bool {
        self.partition.is_some()
    }

    /// How much is shown, and where.
    pub(super) fn output(&self) -> Output<'_> {
        Output {
            quiet: self.quiet,
            verbose: self.verbose,
            look: self.look,
            strict: self.strict,
            reports: &self.output.report,
        }
    }
}
