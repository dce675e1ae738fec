//! A run whose scenarios are played one by one, each judged by itself.

use std::path::Path;

use tokio::runtime::Runtime;

use super::arguments::RunArguments;
use super::plan::{self, Plan};
use super::{conclude, play};
use crate::agent;
use crate::report::{self, Detail, Paint, plain};
use crate::scenario::Status;

/// How a scenario came out.
pub(crate) enum Came {
    /// What it is about holds.
    Passed,
    /// It showed nothing that counts; why.
    Open(String),
    /// Something failed: the report.
    Failed(String),
}

/// Scenarios that can be played one by one, side by side.
pub(crate) struct Suite {
    plan: Plan,
    strict: bool,
    runtime: Runtime,
}

impl Suite {
    /// Reads the arguments of `harness run`.
    ///
    /// # Errors
    /// A sentence on what is wrong with them, or on what the system did not give.
    pub(crate) fn new(traces: &Path, words: &[&str]) -> Result<Self, String> {
        let keep = traces.display().to_string();
        let before = ["--keep", &keep];
        let arguments = RunArguments::of_words(before.into_iter().chain(words.iter().copied()))?;
        let runtime = Runtime::new().map_err(|error| format!("the harness cannot run: {error}"))?;
        runtime
            .block_on(async { agent::guard::install(|signal| std::process::exit(128 + signal)) })
            .map_err(|error| format!("the harness cannot listen to signals: {error}"))?;
        Ok(Self {
            plan: plan::plan(&arguments)?,
            strict: arguments.strict,
            runtime,
        })
    }

    /// The ids of the scenarios.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.plan
            .scenarios
            .iter()
            .map(|scenario| scenario.id.as_str())
    }

    /// Plays a scenario and judges it.
    pub(crate) fn play(&self, id: &str) -> Came {
        let Some(scenario) = self.plan.scenarios.iter().find(|it| it.id == id) else {
            return Came::Failed(format!("there is no scenario `{id}`"));
        };
        let played = self.runtime.block_on(play::one(&self.plan, scenario));
        let status = played.outcomes.first().map(|outcome| outcome.status);
        let why = played
            .outcomes
            .iter()
            .flat_map(|outcome| outcome.why.clone());
        let why = plain(&why.collect::<Vec<_>>().join("; "));
        let run = conclude(&self.plan, &played);
        if let Some(blocked) = run.blocked.as_ref().filter(|_| run.has_no_agent()) {
            let lines = std::iter::once(&blocked.why).chain(&blocked.advice);
            let lines: Vec<String> = lines.map(|line| plain(line)).collect();
            return Came::Failed(lines.join("\n"));
        }
        let mut failures = run.assessment.failures(self.strict).peekable();
        if failures.peek().is_some() || !run.faults.is_empty() {
            return Came::Failed(report::text(&run, Detail::Little, Paint::default()));
        }
        let known = run
            .assessment
            .standings
            .iter()
            .find_map(|standing| standing.known.as_ref());
        match (status, known) {
            (Some(Status::Pass), _) => Came::Passed,
            (Some(Status::Fail), Some(known)) => Came::Open(format!("known: {}", plain(known))),
            (Some(Status::Fail), None) => Came::Passed,
            _ => Came::Open(why),
        }
    }
}
