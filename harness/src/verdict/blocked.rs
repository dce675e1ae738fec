//! One cause, one failure: what stood in the way of a whole run is named once, and what depends on it is inconclusive.

use serde::{Deserialize, Serialize};

use super::assessment::{missing, totals};
use super::{Assessment, State, Verdict};
use crate::spec::Level;

/// What kept a run from being judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// What it was.
    pub by: Blocker,
    /// A sentence that says so and quotes what was seen.
    pub why: String,
    /// What else a person needs: what the agent wrote to stderr, what may help; a line each.
    pub advice: Vec<String>,
}

/// The kinds of things that keep a run from being judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blocker {
    /// The agent could not be started or never answered `initialize`.
    NoAgent,
    /// It opens no session before a login.
    Login,
    /// It speaks another version of the protocol.
    Version,
    /// Its model gave no answer at all.
    Model,
}

impl Blocker {
    /// The areas of requirements that can be judged all the same.
    const fn judged_areas(self) -> &'static [&'static str] {
        match self {
            Self::NoAgent => &[],
            Self::Login => &["TRANSPORT", "JSONRPC", "INIT", "AUTH"],
            Self::Version => &["TRANSPORT", "JSONRPC", "INIT"],
            Self::Model => &[
                "TRANSPORT",
                "JSONRPC",
                "INIT",
                "AUTH",
                "SESSION",
                "LIST",
                "DELETE",
            ],
        }
    }
}

impl Assessment {
    /// The same assessment where `blocked` stood in the way: what depends on it is inconclusive and names it. What was
    /// shown to hold stays shown, unless there was no agent at all. The verdict is `not-conformant` if another `must`
    /// failed, else `inconclusive`.
    #[must_use]
    pub fn blocked(mut self, blocked: &Blocked) -> Self {
        let areas = blocked.by.judged_areas();
        for standing in &mut self.standings {
            let judged = areas.contains(&standing.requirement.own_area());
            let shown = matches!(standing.state, State::Pass | State::NotApplicable);
            if judged || (shown && blocked.by != Blocker::NoAgent) {
                continue;
            }
            standing.state = State::Inconclusive;
            standing.known = None;
            standing.findings.clear();
            standing.shown = None;
            standing.why = vec![blocked.why.clone()];
        }
        self.totals = totals(&self.standings);
        self.missing = missing(&self.standings);
        let failed = self.standings.iter().any(|standing| {
            standing.state == State::Fail
                && standing.requirement.level == Level::Must
                && standing.known.is_none()
        });
        self.verdict = if failed {
            Verdict::NotConformant
        } else {
            Verdict::Inconclusive
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KnownFailures, Piece, Scope, assess};
    use super::*;
    use crate::rules::Judgement;

    fn assessment(failing: &[&'static str]) -> Assessment {
        let mut judgement = Judgement::new();
        judgement.pass("TRANSPORT-01");
        for id in failing {
            judgement.fail(id, None, "no".into());
        }
        let piece = Piece {
            scenario: None,
            trace: None,
            lines: None,
            judgement,
        };
        let known = KnownFailures {
            entries: &[],
            version: None,
            today: "2026-11-30",
        };
        assess(&[piece], Scope::Whole, |_| true, &known)
    }

    fn blocked(by: Blocker) -> Blocked {
        Blocked {
            by,
            why: "it wants a login".into(),
            advice: Vec::new(),
        }
    }

    #[test]
    fn what_needs_a_session_is_inconclusive_where_a_login_is_missing() {
        let it = assessment(&["SESSION-01"]).blocked(&blocked(Blocker::Login));
        assert_eq!(it.verdict, Verdict::Inconclusive);
        let standing = it.get("SESSION-01").unwrap();
        assert_eq!(standing.state, State::Inconclusive);
        assert_eq!(standing.why, ["it wants a login"]);
        assert_eq!(it.get("TRANSPORT-01").unwrap().state, State::Pass);
        assert_eq!(it.count(Level::Must, State::Fail), 0);
    }

    #[test]
    fn what_sharpens_a_requirement_on_logins_is_judged_without_a_login() {
        let it = assessment(&["INTEROP-19", "INTEROP-22"]).blocked(&blocked(Blocker::Login));
        assert_eq!(it.get("INTEROP-19").unwrap().state, State::Fail);
        assert_eq!(it.get("INTEROP-22").unwrap().state, State::Inconclusive);
    }

    #[test]
    fn what_needs_the_model_is_inconclusive_where_it_never_answered() {
        let it = assessment(&["PROMPT-03"]).blocked(&blocked(Blocker::Model));
        assert_eq!(it.verdict, Verdict::Inconclusive);
        assert_eq!(it.get("PROMPT-03").unwrap().state, State::Inconclusive);
        let it = assessment(&["SESSION-01"]).blocked(&blocked(Blocker::Model));
        assert_eq!(it.verdict, Verdict::NotConformant);
    }

    #[test]
    fn another_fault_is_still_a_failure() {
        let it = assessment(&["TRANSPORT-02"]).blocked(&blocked(Blocker::Login));
        assert_eq!(it.verdict, Verdict::NotConformant);
        let it = assessment(&["TRANSPORT-02"]).blocked(&blocked(Blocker::NoAgent));
        assert_eq!(it.verdict, Verdict::Inconclusive);
        assert_eq!(it.get("TRANSPORT-01").unwrap().state, State::Inconclusive);
    }
}
