//! The state of one requirement after everything was judged.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::rules::Tally;
use crate::spec::Level;

/// The state of a requirement; the same five words everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Seen to hold, and never seen not to hold. For what is never judged: seen and written down.
    Pass,
    /// Seen not to hold.
    Fail,
    /// Tried, and it could not be told.
    Inconclusive,
    /// Its condition does not hold for this agent.
    NotApplicable,
    /// Nothing of the kind occurred.
    NotExercised,
}

impl State {
    /// All states, in the order of reports.
    pub const ALL: [Self; 5] = [
        Self::Pass,
        Self::Fail,
        Self::Inconclusive,
        Self::NotApplicable,
        Self::NotExercised,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::NotApplicable => "not-applicable",
            Self::NotExercised => "not-exercised",
        }
    }

    /// The state that a tally gives. `observe` and `may` are written down and never fail.
    pub fn of(tally: &Tally, level: Level) -> Self {
        let judged = !matches!(level, Level::Observe | Level::May);
        if tally.fails > 0 && judged {
            Self::Fail
        } else if tally.passes > 0 || (!judged && (tally.fails > 0 || !tally.notes.is_empty())) {
            Self::Pass
        } else if !tally.inconclusive.is_empty() {
            Self::Inconclusive
        } else if !tally.not_applicable.is_empty() {
            Self::NotApplicable
        } else {
            Self::NotExercised
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Judgement;

    #[test]
    fn one_failure_outweighs_any_number_of_passes_and_a_pass_what_could_not_be_told() {
        let mut judgement = Judgement::new();
        judgement.pass("CANCEL-01");
        judgement.inconclusive("CANCEL-01", "the race was lost".into());
        let state = |judgement: &Judgement, level| {
            judgement
                .get("CANCEL-01")
                .map(|tally| State::of(tally, level))
        };
        assert_eq!(state(&judgement, Level::Must), Some(State::Pass));
        judgement.fail("CANCEL-01", None, "no".into());
        assert_eq!(state(&judgement, Level::Must), Some(State::Fail));
        assert_eq!(state(&judgement, Level::Observe), Some(State::Pass));
    }
}
