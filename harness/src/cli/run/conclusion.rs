//! What a run comes to: its scenarios judged together, and what stood in the way of that.

use serde_json::Value;

use crate::model::Reach;
use crate::profile::Known;
use crate::report::{self, AgentIdentity, Fault, Run, Surroundings};
use crate::scenario::{Outcome, Reached};
use crate::spec::Requirement;
use crate::verdict::{Assessment, Blocked, Blocker, KnownFailures, Piece, Scope, assess};

/// What is judged, and by what, beside the scenarios themselves.
pub(in crate::cli) struct Terms<'a> {
    /// The words that start the agent.
    pub(in crate::cli) words: Vec<String>,
    /// Its known failures.
    pub(in crate::cli) known: &'a [Known],
    /// The day, as `YYYY-MM-DD`.
    pub(in crate::cli) day: &'a str,
    /// Whether the verdict is on the agent or on a part of what it does.
    pub(in crate::cli) scope: Scope,
    /// Which requirements are judged.
    pub(in crate::cli) judges: &'a dyn Fn(&str) -> bool,
    /// What was around the agent.
    pub(in crate::cli) surroundings: Option<Surroundings>,
    /// The words that repeat the run.
    pub(in crate::cli) repeat: (Vec<String>, Vec<String>),
}

/// Judges what was played as a whole; `no_agent` says why there was no agent to speak to.
pub(in crate::cli) fn conclude(
    terms: Terms<'_>,
    outcomes: &[Outcome],
    no_agent: Option<Blocked>,
) -> Run {
    let handshake = outcomes
        .iter()
        .find_map(|outcome| outcome.handshake.as_ref());
    let agent = AgentIdentity::new(terms.words, handshake);
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
        entries: terms.known,
        version: agent.version.as_deref(),
        today: terms.day,
    };
    let judged = |requirement: &Requirement| (terms.judges)(&requirement.id);
    let mut assessment = assess(&pieces, terms.scope, judged, &known);
    let scenarios = outcomes
        .iter()
        .map(|outcome| report::Scenario::of(outcome, &known))
        .collect();
    let blocked = no_agent
        .or_else(|| held_up(outcomes, &assessment, handshake))
        .or_else(|| no_model(outcomes));
    if let Some(blocked) = &blocked {
        assessment = assessment.blocked(blocked);
    }
    Run {
        agent,
        surroundings: terms.surroundings,
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
        repeat: terms.repeat,
        part: None,
    }
}

/// What held up all scenarios of an agent that answered `initialize`: another version, or a login.
fn held_up(
    outcomes: &[Outcome],
    assessment: &Assessment,
    handshake: Option<&Value>,
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
pub(in crate::cli) fn login_advice(handshake: Option<&Value>) -> Vec<String> {
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
fn methods(handshake: Option<&Value>) -> Vec<String> {
    let list = handshake.and_then(|answer| answer.get("authMethods")?.as_array());
    let named = |method: &Value| {
        let id = method.get("id")?.as_str()?;
        Some(match method.get("name").and_then(|name| name.as_str()) {
            Some(name) if name != id => format!("`{id}` ({name})"),
            _ => format!("`{id}`"),
        })
    };
    list.into_iter().flatten().filter_map(named).collect()
}
