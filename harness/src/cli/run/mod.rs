//! `harness run`: drives an agent through scenarios and judges every message on the wire.

mod areas;
mod arguments;
pub(super) mod arrival;
pub(super) mod conclusion;
mod jobs;
mod live;
mod plan;
mod play;
mod progress;
mod suite;

use std::io;

use super::Exit;
use super::output::error;
use super::reports::REPORT_FAULT;
use crate::agent::ModelAccess;
use crate::report::part::{Judged, Part};
use crate::report::{Run, Surroundings};
use crate::scenario::Setup;
use crate::verdict::{Scope, Verdict};
pub(super) use arguments::RunArguments;
use conclusion::Terms;
pub(super) use conclusion::login_advice;
use plan::Plan;
pub(super) use play::NEEDS_A_HOME;
use play::Played;
pub(crate) use suite::{Came, Suite};

/// Runs the command.
pub(super) fn main(arguments: &RunArguments) -> Exit {
    match judged(arguments) {
        Ok(run) => exit(&run, arguments.strict),
        Err(exit) => exit,
    }
}

/// Runs the scenarios, judges what they showed, and tells it where the arguments say.
///
/// # Errors
/// The exit code where it does not come to a report; why is told already.
pub(super) fn judged(arguments: &RunArguments) -> Result<Run, Exit> {
    let ready = Ready::new(arguments).map_err(|why| {
        error(why);
        Exit::Usage
    })?;
    let run = ready.play()?;
    arguments.output().show(&run).map_err(|why| {
        error(why);
        Exit::Fault
    })?;
    Ok(run)
}

/// A run that nothing of the command line hinders any more.
pub(super) struct Ready<'a> {
    arguments: &'a RunArguments,
    plan: Plan,
}

impl<'a> Ready<'a> {
    /// Finds out what the arguments mean.
    ///
    /// # Errors
    /// A sentence on what is wrong with them.
    pub(super) fn new(arguments: &'a RunArguments) -> Result<Self, String> {
        let plan = plan::plan(arguments)?;
        Ok(Self { arguments, plan })
    }

    /// Runs the scenarios and judges what they showed; progress is told on stderr, and nothing else.
    ///
    /// # Errors
    /// The exit code of a fault of the harness, which is told already.
    pub(super) fn play(&self) -> Result<Run, Exit> {
        let arguments = self.arguments;
        let screen = arguments.look.screen(&io::stderr());
        let played = play::play(&self.plan, arguments.quiet, arguments.verbose, screen);
        let played = played.map_err(|why| {
            error(format_args!("{why}; {REPORT_FAULT}"));
            Exit::Fault
        })?;
        Ok(conclude(&self.plan, &played))
    }
}

/// Judges what was played as a whole.
fn conclude(plan: &Plan, played: &Played) -> Run {
    let day = jiff::Zoned::now().date().to_string();
    let known = &plan.setup.profile.known;
    let whole = plan.selection.is_everything();
    let terms = Terms {
        words: plan.words.clone(),
        known,
        day: &day,
        scope: match (whole, plan.partition) {
            (true, None) => Scope::Whole,
            _ => Scope::Part,
        },
        judges: &|id| plan.selection.judges(id),
        surroundings: Some(surroundings(&plan.setup)),
        repeat: plan.repeat.clone(),
    };
    let mut run = conclusion::conclude(terms, &played.outcomes, played.no_agent.clone());
    if let Some(partition) = plan.partition {
        // What does not fail here may fail in another part: only all of them together show that it is stale.
        run.assessment.stale.clear();
        run.part = Some(Part {
            number: partition.number,
            of: partition.of,
            whole,
            day,
            scenarios: plan.all.clone(),
            known: known.clone(),
            judged: Judged::all(&played.outcomes),
        });
    }
    run
}

/// What was around the agent.
fn surroundings(setup: &Setup) -> Surroundings {
    let model = setup.scripted_model.then(ModelAccess::default);
    Surroundings::of(&setup.environment(model), &setup.user)
}

/// The exit code: the first that holds of 4, 3, 1.
pub(super) fn exit(run: &Run, strict: bool) -> Exit {
    let assessment = &run.assessment;
    if !run.faults.is_empty() {
        Exit::Fault
    } else if run.has_no_agent() {
        Exit::NoAgent
    } else if assessment.failures(strict).next().is_some()
        || !assessment.stale.is_empty()
        || matches!(
            assessment.verdict,
            Verdict::NotConformant | Verdict::Inconclusive
        )
    {
        Exit::Findings
    } else {
        Exit::Fine
    }
}
