//! Failures that are known for an agent, with a reason each.

use globset::Glob;

/// A failure that is known and does not fail the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The requirement.
    pub id: String,
    /// Only in scenarios that fit this glob; everywhere if absent.
    pub scenario: Option<String>,
    /// Only for these values of `agentInfo.version`; for all if empty.
    pub versions: Vec<String>,
    /// Why it is so.
    pub reason: String,
    /// Where it is discussed.
    pub link: Option<String>,
    /// The last day (`YYYY-MM-DD`) on which it still counts as known.
    pub until: Option<String>,
}

/// A known failure that no longer holds and has to be taken out of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The requirement.
    pub id: String,
    /// Why it is stale, as a sentence.
    pub why: String,
}

impl Known {
    /// Whether the entry speaks of this version of the agent; one that names versions is ignored while the version is unknown.
    pub fn is_for(&self, version: Option<&str>) -> bool {
        self.versions.is_empty()
            || version.is_some_and(|version| self.versions.iter().any(|known| known == version))
    }

    /// Whether the entry speaks of this scenario.
    pub fn covers(&self, scenario: Option<&str>) -> bool {
        match (&self.scenario, scenario) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(glob), Some(scenario)) => {
                Glob::new(glob).is_ok_and(|glob| glob.compile_matcher().is_match(scenario))
            }
        }
    }

    /// Whether the entry still counts on a day given as `YYYY-MM-DD`.
    pub fn counts_on(&self, today: &str) -> bool {
        self.until.as_deref().is_none_or(|until| today <= until)
    }
}
