//! Failures of an agent that are known, with their reasons.

use serde::{Deserialize, Serialize};

use crate::source::Position;

/// A requirement that is known to fail. Where it passes instead, the entry is stale and fails the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The file it stands in.
    #[serde(skip)]
    pub file: String,
    /// Where in it.
    #[serde(skip)]
    pub position: Position,
    /// The requirement, such as `MCP-01`.
    pub id: String,
    /// The scenario in which it fails, by the id of a file or of one run; in all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The versions of `agentInfo` for which it is so; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// Why it fails, and why that is accepted.
    pub reason: String,
    /// Where it is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The day, as `YYYY-MM-DD`, after which the entry no longer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl Known {
    /// Whether the entry counts for an agent of this version (`agentInfo.version`, if it told one) on this day
    /// (`YYYY-MM-DD`).
    #[must_use]
    pub fn counts(&self, version: Option<&str>, today: &str) -> bool {
        let version_fits = self.versions.is_empty()
            || version.is_some_and(|version| self.versions.iter().any(|known| known == version));
        version_fits && self.until.as_deref().is_none_or(|until| today <= until)
    }

    /// Whether it excuses a failure of `id` in a scenario (its id, such as `init/versions[0]`; `None` outside of any).
    #[must_use]
    pub fn covers(&self, id: &str, scenario: Option<&str>) -> bool {
        let in_scenario = |own: &String| {
            scenario.is_some_and(|scenario| {
                scenario
                    .strip_prefix(own.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
            })
        };
        self.id == id && self.scenario.as_ref().is_none_or(in_scenario)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known {
            file: String::new(),
            position: Position::default(),
            id: "MCP-01".to_owned(),
            scenario: Some("mcp/stdio".to_owned()),
            versions: vec!["1.0.0".to_owned()],
            reason: String::new(),
            link: None,
            until: Some("2026-12-31".to_owned()),
        }
    }

    #[test]
    fn an_entry_counts_for_its_versions_up_to_its_day() {
        assert!(known().counts(Some("1.0.0"), "2026-12-31"));
        assert!(!known().counts(Some("1.0.0"), "2027-01-01"));
        assert!(!known().counts(Some("1.0.1"), "2026-12-31"));
        assert!(!known().counts(None, "2026-12-31"));
    }

    #[test]
    fn an_entry_for_a_file_is_one_for_all_its_runs_and_for_no_other_file() {
        assert!(known().covers("MCP-01", Some("mcp/stdio")));
        assert!(known().covers("MCP-01", Some("mcp/stdio[two]")));
        assert!(!known().covers("MCP-01", Some("mcp/stdio-twice")));
        assert!(!known().covers("MCP-02", Some("mcp/stdio")));
        assert!(!known().covers("MCP-01", None));
    }
}
