//! What the rules have against a recording, by event.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::check::files;
use crate::check::check;
use crate::spec::{Catalogue, Level};

/// So many neighbours of an event with findings are shown on each side.
const NEIGHBOURS: u64 = 2;

/// One thing that the rules have against an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The requirement with its level, and the member of the message.
    pub(super) title: String,
    /// What was seen and what was expected.
    pub(super) message: String,
}

/// What the rules have against a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    by_event: BTreeMap<u64, Vec<Found>>,
    /// What stands at no event.
    pub(super) of_the_whole: Vec<Found>,
    /// Requirements of which more failures were seen than are kept.
    pub(super) more: Vec<String>,
}

impl Findings {
    /// Judges a recording.
    ///
    /// # Errors
    /// A sentence on why it cannot be read.
    pub(super) fn of(path: &Path) -> Result<Self, String> {
        let source = files::open(path)?;
        let checked = check(source.reader)
            .map_err(|error| format!("`{}` could not be read: {error}", path.display()))?;
        let mut findings = Self::default();
        for (id, tally) in checked.judgement.iter() {
            let level = Catalogue::v1().get(id).map(|requirement| requirement.level);
            let Some(level) = level.filter(|level| judges(*level)) else {
                continue;
            };
            for finding in &tally.findings {
                let mut title = format!("{id} {}", level.as_str());
                if let Some(place) = finding.place.as_ref().filter(|it| !it.path.is_empty()) {
                    title.push_str(&format!(", at {}", place.path));
                }
                let found = Found {
                    title,
                    message: finding.message.clone(),
                };
                match &finding.place {
                    Some(place) => findings
                        .by_event
                        .entry(place.event)
                        .or_default()
                        .push(found),
                    None => findings.of_the_whole.push(found),
                }
            }
            let kept = tally.findings.len() as u64;
            if tally.fails > kept {
                findings.more.push(format!(
                    "{id} fails {} times, of which {kept} are shown",
                    tally.fails
                ));
            }
        }
        Ok(findings)
    }

    /// What was found at an event.
    pub(super) fn at(&self, event: u64) -> &[Found] {
        self.by_event.get(&event).map_or(&[], Vec::as_slice)
    }

    /// Whether something was found at an event or at a neighbour of it.
    pub(super) fn are_near(&self, event: u64) -> bool {
        let near = event.saturating_sub(NEIGHBOURS)..=event.saturating_add(NEIGHBOURS);
        self.by_event.range(near).next().is_some()
    }

    /// Whether nothing was found.
    pub(super) fn is_empty(&self) -> bool {
        self.by_event.is_empty() && self.of_the_whole.is_empty()
    }
}

/// Whether what breaks a requirement of this level is a fault.
fn judges(level: Level) -> bool {
    matches!(level, Level::Must | Level::Should | Level::Interop)
}
