//! `harness run`: drives an agent through scenarios and judges every message on the wire.

mod areas;
mod arguments;
pub(super) mod arrival;
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
use crate::model::Reach;
use crate::report::{self, AgentIdentity, Fault, Run, Surroundings};
use crate::scenario::{Outcome, Reached, Setup};
use crate::verdict::{Assessment, Blocked, Blocker, KnownFailures, Piece, Scope, Verdict, assess};
pub(super) use arguments::RunArguments;
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
    let plan = plan::plan(arguments).map_err(|why| {
        error(why);
        Exit::Usage
    })?;
    let screen = arguments.look.screen(&io::stderr());
    let played = play::play(&plan, arguments.quiet, arguments.verbose, screen).map_err(|why| {
        error(format_args!("{why}; {REPORT_FAULT}"));
        Exit::Fault
    })?;
    let run = conclude(&plan, played);
    arguments.output().show(&run).map_err(|why| {
        error(why);
        Exit::Fault
    })?;
    Ok(run)
}

/// Judges what was played as a whole.
fn conclude(plan: &Plan, played: Played) -> Run {
    let outcomes = &played.outcomes;
    let handshake = outcomes
        .iter()
        .find_map(|outcome| outcome.handshake.as_ref());
    let agent = AgentIdentity::new(plan.words.clone(), handshake);
    let pieces: Vec<Piece> = outcomes
        .iter()
        .map(|outcome| Piece {
            scenario: Some(outcome.id.clone()),
            trace: outcome.trace.clone(),
            lines: None,
            judgement: outcome.judgement.clone(),
        })
        .collect();
    let known = KnownFailures {
        entries: &plan.setup.profile.known,
        version: agent.version.as_deref(),
        today: &jiff::Zoned::now().date().to_string(),
    };
    let scope = if plan.selection.is_everything() {
        Scope::Whole
    } else {
        Scope::Part
    };
    let judged = |requirement: &crate::spec::Requirement| plan.selection.judges(&requirement.id);
    let mut assessment = assess(&pieces, scope, judged, &known);
    let scenarios = outcomes
        .iter()
        .map(|outcome| report::Scenario::of(outcome, &known))
        .collect();
    let blocked = played
        .no_agent
        .or_else(|| held_up(outcomes, &assessment, handshake))
        .or_else(|| no_model(outcomes));
    if let Some(blocked) = &blocked {
        assessment = assessment.blocked(blocked);
    }
    Run {
        agent,
        surroundings: Some(surroundings(&plan.setup)),
        assessment,
        blocked,
        scenarios,
        recordings: Vec::new(),
        faults: outcomes
            .iter()
            .filter_map(|outcome| {
                Some(Fault {
                    scenario: Some(outcome.id.clone()),
                    message: outcome.fault.clone()?,
                })
            })
            .collect(),
        repeat: plan.repeat.clone(),
    }
}

/// What was around the agent.
fn surroundings(setup: &Setup) -> Surroundings {
    let model = setup.scripted_model.then(ModelAccess::default);
    Surroundings::of(&setup.environment(model), &setup.user)
}

/// What held up all scenarios of an agent that answered `initialize`: another version, or a login.
fn held_up(
    outcomes: &[Outcome],
    assessment: &Assessment,
    handshake: Option<&serde_json::Value>,
) -> Option<Blocked> {
    let version = outcomes.iter().find_map(|outcome| match outcome.reached {
        Reached::OtherVersion(version) => Some(version),
        _ => None,
    });
    if let Some(version) = version {
        return Some(Blocked {
            by: Blocker::Version,
            why: format!(
                "The agent answers version {version} of the protocol where version 1 was asked for; the harness judges version 1."
            ),
            advice: Vec::new(),
        });
    }
    let wanted = outcomes.iter().find_map(|outcome| match &outcome.reached {
        Reached::Unauthenticated(why) => Some(why),
        _ => None,
    })?;
    let opened = |id| {
        assessment
            .get(id)
            .is_some_and(|standing| standing.passes > 0)
    };
    if opened("SESSION-01") || opened("PROMPT-01") {
        return None;
    }
    Some(Blocked {
        by: Blocker::Login,
        why: format!("The agent wants a login first: {wanted}."),
        advice: login_advice(handshake),
    })
}

/// Where the model is recorded and gave no answer at all.
fn no_model(outcomes: &[Outcome]) -> Option<Blocked> {
    let mut reach = Reach::default();
    for outcome in outcomes {
        reach.add(&outcome.upstream);
    }
    Some(Blocked {
        by: Blocker::Model,
        why: format!("No turn could be judged, since {}.", reach.nobody()?),
        advice: vec![
            "Look at the address behind `--record-model`, and pass the key that it wants with `--env NAME`."
                .to_owned(),
        ],
    })
}

/// What may help an agent that wants a login, by its answer to `initialize`.
pub(super) fn login_advice(handshake: Option<&serde_json::Value>) -> Vec<String> {
    let methods = methods(handshake);
    let offers = if methods.is_empty() {
        "It offers no method to log in (`authMethods` is empty or absent).".to_owned()
    } else {
        format!("It offers: {}.", methods.join(", "))
    };
    vec![
        offers,
        "Put `auth = \"METHOD\"` into a profile or into `harness.toml`, pass its key with `--env NAME`, \
         or log in yourself and use `--home keep`."
            .to_owned(),
    ]
}

/// The login methods that the agent offers, as it names them.
fn methods(handshake: Option<&serde_json::Value>) -> Vec<String> {
    let list = handshake.and_then(|answer| answer.get("authMethods")?.as_array());
    let named = |method: &serde_json::Value| {
        let id = method.get("id")?.as_str()?;
        Some(match method.get("name").and_then(|name| name.as_str()) {
            Some(name) if name != id => format!("`{id}` ({name})"),
            _ => format!("`{id}`"),
        })
    };
    list.into_iter().flatten().filter_map(named).collect()
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
