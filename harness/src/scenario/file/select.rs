//! `--only` and `--skip`: which scenarios are run and which requirements are judged.

use std::collections::BTreeSet;

use globset::{GlobBuilder, GlobMatcher};
use thiserror::Error;

use super::{Scenario, Set};
use crate::source::nearest;

/// A pattern of `--only` or `--skip`: a folder of scenarios (`cancel`), in just these letters; else a requirement's id
/// (`CANCEL-01`) or an area of them (`CANCEL`), in any letters; else a glob over scenario ids (`cancel/*`), where a file's id
/// means all of its runs.
#[derive(Clone, Debug)]
enum Pattern {
    /// These requirements.
    Requirements(BTreeSet<String>),
    /// Scenarios with such ids.
    Scenarios(GlobMatcher),
}

/// What to run and what to judge.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    only: Vec<Pattern>,
    skip: Vec<Pattern>,
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// It fits nothing.
    #[error("`{pattern}` is no requirement, no area and no scenario{}", guess(.near))]
    Nothing {
        /// As it was given.
        pattern: String,
        /// The nearest names that there are.
        near: Vec<String>,
    },
    /// It is no glob.
    #[error("`{pattern}` is no pattern: {reason}")]
    NoGlob {
        /// As it was given.
        pattern: String,
        /// Why.
        reason: String,
    },
}

fn guess(near: &[String]) -> String {
    if near.is_empty() {
        "; `harness list requirements` and `harness list scenarios` show what there is".to_owned()
    } else {
        format!("; did you mean `{}`?", near.join("` or `"))
    }
}

impl Selection {
    /// Reads the patterns of `--only` and `--skip`; `ids` are all requirements, such as `CANCEL-01`.
    ///
    /// # Errors
    /// The first pattern that fits nothing or is no glob.
    pub fn new(
        only: &[String],
        skip: &[String],
        set: &Set,
        ids: &[&str],
    ) -> Result<Self, SelectionError> {
        let read = |patterns: &[String]| {
            patterns
                .iter()
                .map(|text| pattern(text, set, ids))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            only: read(only)?,
            skip: read(skip)?,
        })
    }

    /// Whether everything is run and judged, so that a verdict on the whole can be given.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.only.is_empty() && self.skip.is_empty()
    }

    /// Whether the scenario is run: it fits `--only` (or there is none) by its id or by a requirement that it covers, no
    /// pattern of `--skip` fits its id, and not all that it covers is skipped.
    #[must_use]
    pub fn runs(&self, scenario: &Scenario) -> bool {
        let wanted = self.only.is_empty()
            || self.only.iter().any(|pattern| match pattern {
                Pattern::Requirements(ids) => scenario.covers.iter().any(|id| ids.contains(id)),
                Pattern::Scenarios(glob) => fits(glob, scenario),
            });
        let skipped = self
            .skip
            .iter()
            .any(|pattern| matches!(pattern, Pattern::Scenarios(glob) if fits(glob, scenario)));
        wanted && !skipped && scenario.covers.iter().any(|id| !self.skips(id))
    }

    /// Whether findings on this requirement count: `--skip` does not name it, and where `--only` names requirements it is
    /// among them. Patterns for scenarios leave all requirements in.
    #[must_use]
    pub fn judges(&self, id: &str) -> bool {
        let named = |pattern: &Pattern| match pattern {
            Pattern::Requirements(ids) => ids.contains(id),
            Pattern::Scenarios(_) => true,
        };
        !self.skips(id) && (self.only.is_empty() || self.only.iter().any(named))
    }

    /// Whether `--only` chooses by scenarios alone.
    #[must_use]
    pub fn by_scenario(&self) -> bool {
        let scenarios = |pattern: &Pattern| matches!(pattern, Pattern::Scenarios(_));
        !self.only.is_empty() && self.only.iter().all(scenarios)
    }

    fn skips(&self, id: &str) -> bool {
        self.skip
            .iter()
            .any(|pattern| matches!(pattern, Pattern::Requirements(ids) if ids.contains(id)))
    }
}

fn fits(glob: &GlobMatcher, scenario: &Scenario) -> bool {
    glob.is_match(&scenario.id) || glob.is_match(&scenario.file)
}

fn pattern(text: &str, set: &Set, ids: &[&str]) -> Result<Pattern, SelectionError> {
    let upper = text.to_uppercase();
    let is_area = |id: &str| id.rsplit_once('-').is_some_and(|(area, _)| area == upper);
    // `cancel` could mean both the folder and the area; who writes it as the folder is written means the folder.
    let folder = text.trim_end_matches('/');
    let is_folder = set.iter().any(|scenario| {
        scenario
            .file
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
    });
    if !is_folder {
        let named: BTreeSet<String> = ids
            .iter()
            .filter(|id| **id == upper || is_area(id))
            .map(|id| (*id).to_owned())
            .collect();
        if !named.is_empty() {
            return Ok(Pattern::Requirements(named));
        }
    }
    // A run's name in brackets is not a set of letters.
    let escaped = (if is_folder {
        format!("{folder}/**")
    } else {
        text.to_owned()
    })
    .replace('[', "\\[")
    .replace(']', "\\]");
    let glob = GlobBuilder::new(&escaped)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| SelectionError::NoGlob {
            pattern: text.to_owned(),
            reason: error.kind().to_string(),
        })?;
    let glob = glob.compile_matcher();
    if set.iter().any(|scenario| fits(&glob, scenario)) {
        return Ok(Pattern::Scenarios(glob));
    }
    let areas = ids
        .iter()
        .filter_map(|id| id.rsplit_once('-').map(|(area, _)| area));
    let files = set
        .iter()
        .flat_map(|scenario| [scenario.id.as_str(), scenario.file.as_str()]);
    let folders = set
        .iter()
        .filter_map(|scenario| scenario.file.split_once('/').map(|(folder, _)| folder));
    let mut near: Vec<String> = [
        nearest(text, ids.iter().copied()),
        nearest(text, areas),
        nearest(text, folders),
        nearest(text, files),
    ]
    .into_iter()
    .flatten()
    .map(str::to_owned)
    .collect();
    near.dedup();
    Err(SelectionError::Nothing {
        pattern: text.to_owned(),
        near,
    })
}
