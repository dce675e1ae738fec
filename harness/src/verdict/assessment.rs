//! Puts the judgements of all traces of a run together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::standing::standing;
use super::{Stale, Standing, State};
use crate::profile::Known;
use crate::rules::Judgement;
use crate::spec::{Catalogue, Level, Requirement};
use crate::trace::Lines;

/// What must really have taken place before an agent is called conformant: handshake, session, turn, clean stdout.
pub const BASELINE: [&str; 4] = ["TRANSPORT-02", "INIT-01", "SESSION-01", "PROMPT-01"];

/// The judgement of one trace.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The scenario that made the trace.
    pub scenario: Option<String>,
    /// Where the trace is kept.
    pub trace: Option<PathBuf>,
    /// On which lines of it the events stand, where that is known.
    pub lines: Option<Lines>,
    /// What was found in it.
    pub judgement: Judgement,
}

/// What was asked to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A whole run: the verdict is on the agent.
    Whole,
    /// A part of it, or a recording: the verdict is on what was judged.
    Part,
}

/// The known failures of an agent, and what decides whether they count.
#[derive(Clone, Copy, Debug)]
pub struct KnownFailures<'a> {
    /// The entries.
    pub entries: &'a [Known],
    /// The agent's `agentInfo.version`; entries for certain versions are ignored while it is unknown.
    pub version: Option<&'a str>,
    /// The day as `YYYY-MM-DD`.
    pub today: &'a str,
}

impl<'a> KnownFailures<'a> {
    /// The entry that excuses a failure of `id` in a scenario.
    pub fn find(&self, id: &str, scenario: Option<&str>) -> Option<&'a Known> {
        self.entries
            .iter()
            .find(|known| known.covers(id, scenario) && known.counts(self.version, self.today))
    }

    /// The entries for the agent's version, also those whose day has passed.
    fn of_version(&self) -> impl Iterator<Item = &'a Known> {
        let version = self.version;
        self.entries.iter().filter(move |known| {
            let day = known.until.as_deref().unwrap_or_default();
            known.counts(version, day)
        })
    }
}

/// How many requirements of one level are in each state.
pub type Totals = BTreeMap<Level, BTreeMap<State, usize>>;

/// The verdict on an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No `must` failed and the baseline was shown.
    Conformant,
    /// The only failed `must`s are known.
    KnownFailures,
    /// A `must` failed.
    NotConformant,
    /// The baseline could not be shown.
    Inconclusive,
}

impl Verdict {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conformant => "conformant",
            Self::KnownFailures => "known-failures",
            Self::NotConformant => "not-conformant",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Everything that a report needs.
#[derive(Clone, Debug)]
pub struct Assessment {
    /// Every requirement of the catalogue that is in scope, in its order.
    pub standings: Vec<Standing>,
    /// Counts by level and state.
    pub totals: Totals,
    /// The verdict.
    pub verdict: Verdict,
    /// What is missing for a verdict on the agent as a whole: baseline ids that did not pass, with their state.
    pub missing: Vec<(&'static str, State)>,
    /// Known failures that no longer hold.
    pub stale: Vec<Stale>,
}

impl Assessment {
    /// The standing of one requirement.
    pub fn get(&self, id: &str) -> Option<&Standing> {
        self.standings
            .iter()
            .find(|standing| standing.requirement.id == id)
    }

    /// Failures that are not known, of the levels that count: `must` alone, or `should` and `interop` too.
    pub fn failures(&self, strict: bool) -> impl Iterator<Item = &Standing> {
        self.standings.iter().filter(move |standing| {
            standing.state == State::Fail
                && standing.known.is_none()
                && counts(standing.requirement.level, strict)
        })
    }

    /// How many requirements of a level are in a state.
    pub fn count(&self, level: Level, state: State) -> usize {
        self.totals
            .get(&level)
            .and_then(|states| states.get(&state))
            .copied()
            .unwrap_or(0)
    }
}

fn counts(level: Level, strict: bool) -> bool {
    match level {
        Level::Must => true,
        Level::Should | Level::Interop => strict,
        Level::May | Level::Observe => false,
    }
}

/// Puts the judgements of all pieces together.
///
/// `in_scope` tells which requirements were to be judged at all.
pub fn assess(
    pieces: &[Piece],
    scope: Scope,
    in_scope: impl Fn(&Requirement) -> bool,
    known: &KnownFailures<'_>,
) -> Assessment {
    let all: Vec<_> = pieces.iter().map(|piece| (piece, *known)).collect();
    let mut assessment = put_together(&all, scope, in_scope);
    assessment.stale = stale(&assessment.standings, pieces, scope, known);
    assessment
}

/// Puts the judgements of recordings together, each with the known failures of its agent. The verdict is on what was
/// judged. A recording is a part of what an agent does, so a known failure that it does not show is not stale.
pub fn assess_recordings(
    pieces: &[(Piece, KnownFailures<'_>)],
    in_scope: impl Fn(&Requirement) -> bool,
) -> Assessment {
    let all: Vec<_> = pieces
        .iter()
        .map(|(piece, known)| (piece, *known))
        .collect();
    put_together(&all, Scope::Part, in_scope)
}

fn put_together(
    pieces: &[(&Piece, KnownFailures<'_>)],
    scope: Scope,
    in_scope: impl Fn(&Requirement) -> bool,
) -> Assessment {
    let standings: Vec<Standing> = Catalogue::v1()
        .iter()
        .filter(|requirement| in_scope(requirement))
        .map(|requirement| standing(requirement, pieces))
        .collect();
    let missing = missing(&standings);
    let failed = |known: bool| {
        standings.iter().any(|standing| {
            standing.requirement.level == Level::Must
                && standing.state == State::Fail
                && standing.known.is_some() == known
        })
    };
    let verdict = if failed(false) {
        Verdict::NotConformant
    } else if scope == Scope::Whole && !missing.is_empty() {
        Verdict::Inconclusive
    } else if failed(true) {
        Verdict::KnownFailures
    } else if scope == Scope::Part && nothing_passed(&standings) {
        Verdict::Inconclusive
    } else {
        Verdict::Conformant
    };
    Assessment {
        totals: totals(&standings),
        standings,
        verdict,
        missing,
        stale: Vec::new(),
    }
}

/// Counts the standings by level and state.
pub(super) fn totals(standings: &[Standing]) -> Totals {
    let mut totals = Totals::new();
    for standing in standings {
        let states = totals.entry(standing.requirement.level).or_default();
        *states.entry(standing.state).or_default() += 1;
    }
    totals
}

/// What of the baseline did not pass and is not known to fail.
pub(super) fn missing(standings: &[Standing]) -> Vec<(&'static str, State)> {
    BASELINE
        .iter()
        .filter_map(|id| {
            let standing = standings
                .iter()
                .find(|standing| standing.requirement.id == *id);
            let state = standing.map_or(State::NotExercised, |standing| standing.state);
            let known = standing.is_some_and(|standing| standing.known.is_some());
            (state != State::Pass && !known).then_some((*id, state))
        })
        .collect()
}

fn nothing_passed(standings: &[Standing]) -> bool {
    !standings
        .iter()
        .any(|standing| standing.state == State::Pass)
}

/// A known failure is stale where what it speaks of was judged and holds, or where its day has passed. One that names no
/// scenario may fail in any, so a part of a run does not show that it holds.
fn stale(
    standings: &[Standing],
    pieces: &[Piece],
    scope: Scope,
    known: &KnownFailures<'_>,
) -> Vec<Stale> {
    let mut stale = Vec::new();
    let mut told = BTreeSet::new();
    for entry in known.of_version() {
        let Some(standing) = standings
            .iter()
            .find(|standing| standing.requirement.id == entry.id)
        else {
            continue;
        };
        let (mut passes, mut fails) = (0, 0);
        for piece in pieces
            .iter()
            .filter(|piece| entry.covers(&entry.id, piece.scenario.as_deref()))
        {
            if let Some(tally) = piece.judgement.get(&standing.requirement.id) {
                passes += tally.passes;
                fails += tally.fails;
            }
        }
        let why = match &entry.until {
            Some(until) if !entry.counts(known.version, known.today) && fails > 0 => {
                format!(
                    "{} was known to fail until {until}, and still fails",
                    entry.id
                )
            }
            _ if scope == Scope::Part && entry.scenario.is_none() => continue,
            _ if passes > 0 && fails == 0 => format!(
                "{} is listed as known to fail ({}), but it passes: take the entry out",
                entry.id, entry.reason
            ),
            _ => continue,
        };
        if told.insert(why.clone()) {
            stale.push(Stale {
                id: entry.id.clone(),
                why,
            });
        }
    }
    stale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(scenario: &str, fill: impl Fn(&mut Judgement)) -> Piece {
        let mut judgement = Judgement::new();
        fill(&mut judgement);
        Piece {
            scenario: Some(scenario.into()),
            trace: None,
            lines: None,
            judgement,
        }
    }

    #[test]
    fn the_first_trace_that_shows_a_state_is_named() {
        let pieces = [
            piece("a", |it| it.inconclusive("CANCEL-01", "a race".into())),
            piece("b", |it| it.pass("CANCEL-01")),
            piece("c", |it| it.pass("CANCEL-01")),
        ];
        let known = KnownFailures {
            entries: &[],
            version: None,
            today: "2026-11-30",
        };
        let it = assess(&pieces, Scope::Part, |_| true, &known);
        let scenario = |id: &str| it.get(id).unwrap().shown.clone()?.scenario;
        assert_eq!(scenario("CANCEL-01").as_deref(), Some("b"));
        assert_eq!(scenario("CANCEL-02"), None);
    }

    fn baseline(judgement: &mut Judgement) {
        for id in BASELINE {
            judgement.pass(id);
        }
    }

    fn known(id: &str) -> Known {
        Known {
            file: "profile.toml".into(),
            position: Default::default(),
            id: id.into(),
            scenario: None,
            versions: Vec::new(),
            reason: "as designed".into(),
            link: None,
            until: None,
        }
    }

    fn verdict(pieces: &[Piece], scope: Scope, known: &[Known]) -> Assessment {
        let known = KnownFailures {
            entries: known,
            version: Some("1.0"),
            today: "2026-11-30",
        };
        assess(pieces, scope, |_| true, &known)
    }

    #[test]
    fn without_a_turn_there_is_no_verdict_on_a_whole_run() {
        let pieces = [piece("a", |judgement| judgement.pass("INIT-01"))];
        let it = verdict(&pieces, Scope::Whole, &[]);
        assert_eq!(it.verdict, Verdict::Inconclusive);
        assert_eq!(it.missing.len(), 3);
        assert_eq!(
            verdict(&pieces, Scope::Part, &[]).verdict,
            Verdict::Conformant
        );
    }

    #[test]
    fn a_failed_must_outweighs_a_missing_baseline_and_a_failed_should_counts_only_when_strict() {
        let failed = [piece("a", |judgement| {
            judgement.fail("JSONRPC-01", None, "no".into())
        })];
        assert_eq!(
            verdict(&failed, Scope::Whole, &[]).verdict,
            Verdict::NotConformant
        );
        let advised = [piece("a", |judgement| {
            baseline(judgement);
            judgement.fail("INIT-06", None, "no".into());
        })];
        let it = verdict(&advised, Scope::Whole, &[]);
        assert_eq!(it.verdict, Verdict::Conformant);
        assert_eq!(it.failures(false).count(), 0);
        assert_eq!(it.failures(true).count(), 1);
    }

    #[test]
    fn a_known_failure_is_told_apart_and_one_that_passes_is_stale() {
        let pieces = [piece("mcp/stdio", |judgement| {
            baseline(judgement);
            judgement.fail("MCP-01", None, "no".into());
        })];
        let it = verdict(&pieces, Scope::Whole, &[known("MCP-01")]);
        assert_eq!(it.verdict, Verdict::KnownFailures);
        assert!(it.stale.is_empty());
        let elsewhere = Known {
            scenario: Some("init/plain".into()),
            ..known("MCP-01")
        };
        assert_eq!(
            verdict(&pieces, Scope::Whole, &[elsewhere]).verdict,
            Verdict::NotConformant
        );
        let past = Known {
            until: Some("2026-01-01".into()),
            ..known("MCP-01")
        };
        let it = verdict(&pieces, Scope::Whole, &[past]);
        assert_eq!((it.verdict, it.stale.len()), (Verdict::NotConformant, 1));
        let fine = [piece("mcp/stdio", |judgement| {
            baseline(judgement);
            judgement.pass("MCP-01");
        })];
        let it = verdict(&fine, Scope::Whole, &[known("MCP-01")]);
        assert_eq!((it.verdict, it.stale.len()), (Verdict::Conformant, 1));
    }
}
