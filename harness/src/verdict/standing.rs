//! The state of one requirement, with what shows it.

use std::path::PathBuf;

use super::State;
use super::assessment::{KnownFailures, Piece};
use crate::rules::{Finding, Tally};
use crate::spec::Requirement;

/// How many sightings of one requirement a report holds.
const KEPT: usize = 50;

/// A finding or note, and the trace it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// What was found, and at which event.
    pub finding: Finding,
    /// The scenario.
    pub scenario: Option<String>,
    /// The trace.
    pub trace: Option<PathBuf>,
    /// The line of the trace that the event stands on, where it is known.
    pub line: Option<u64>,
    /// Whether it is known for this agent.
    pub known: bool,
}

/// Where the state of a requirement is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The scenario.
    pub scenario: Option<String>,
    /// The trace.
    pub trace: Option<PathBuf>,
}

/// The state of one requirement, with its evidence.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The requirement.
    pub requirement: &'static Requirement,
    /// Its state.
    pub state: State,
    /// For a failure: the reason why it is known, if all of its sightings are.
    pub known: Option<String>,
    /// How often it was seen not to hold.
    pub fails: u64,
    /// How often it was seen to hold.
    pub passes: u64,
    /// The failures, the first ones.
    pub findings: Vec<Sighting>,
    /// What was written down without judging.
    pub notes: Vec<Sighting>,
    /// The first trace that shows its state; `None` where nothing does.
    pub shown: Option<Shown>,
    /// Why it is inconclusive or not applicable.
    pub why: Vec<String>,
}

/// Puts together what all pieces say about one requirement.
pub(super) fn standing(
    requirement: &'static Requirement,
    pieces: &[(&Piece, KnownFailures<'_>)],
) -> Standing {
    let mut sum = Tally::default();
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    let mut unknown_fails = 0;
    let mut reason = None;
    for (piece, known) in pieces {
        let Some(tally) = piece.judgement.get(&requirement.id) else {
            continue;
        };
        sum.passes += tally.passes;
        sum.fails += tally.fails;
        for why in &tally.inconclusive {
            if !sum.inconclusive.contains(why) {
                sum.inconclusive.push(why.clone());
            }
        }
        for why in &tally.not_applicable {
            if !sum.not_applicable.contains(why) {
                sum.not_applicable.push(why.clone());
            }
        }
        let entry = known.find(&requirement.id, piece.scenario.as_deref());
        if tally.fails > 0 {
            match entry {
                Some(entry) => reason = reason.or(Some(entry.reason.clone())),
                None => unknown_fails += tally.fails,
            }
        }
        let sighting = |finding: &Finding| Sighting {
            finding: finding.clone(),
            scenario: piece.scenario.clone(),
            trace: piece.trace.clone(),
            line: finding
                .place
                .as_ref()
                .and_then(|place| piece.lines.as_ref()?.of(place.event)),
            known: entry.is_some(),
        };
        findings.extend(
            tally
                .findings
                .iter()
                .take(KEPT - findings.len().min(KEPT))
                .map(sighting),
        );
        notes.extend(
            tally
                .notes
                .iter()
                .take(KEPT - notes.len().min(KEPT))
                .map(sighting),
        );
        sum.notes.extend(tally.notes.first().cloned());
    }
    // What is not known comes first, so that a report that shows one shows that.
    findings.sort_by_key(|sighting: &Sighting| sighting.known);
    let state = State::of(&sum, requirement.level);
    let why = match state {
        State::Inconclusive => sum.inconclusive,
        State::NotApplicable => sum.not_applicable,
        _ => Vec::new(),
    };
    let shows = |(piece, _): &&(&Piece, KnownFailures<'_>)| {
        let tally = piece.judgement.get(&requirement.id);
        tally.is_some_and(|tally| State::of(tally, requirement.level) == state)
    };
    let somewhere = state != State::NotExercised;
    let shown = pieces
        .iter()
        .find(shows)
        .filter(|_| somewhere)
        .map(|(piece, _)| Shown {
            scenario: piece.scenario.clone(),
            trace: piece.trace.clone(),
        });
    Standing {
        requirement,
        state,
        shown,
        known: reason.filter(|_| state == State::Fail && unknown_fails == 0),
        fails: sum.fails,
        passes: sum.passes,
        findings,
        notes,
        why,
    }
}
