//! The catalogue and the scenarios, as the page needs them.

use serde::Serialize;

use super::PageError;
use crate::scenario::file::Set;
use crate::spec;

#[derive(Serialize)]
pub(super) struct Catalogue {
    requirements: Vec<Requirement>,
    scenarios: Vec<Scenario>,
}

#[derive(Serialize)]
struct Requirement {
    id: &'static str,
    level: &'static str,
    basis: &'static str,
    when: String,
    statement: &'static str,
    check: &'static str,
    passive: bool,
    /// Web links.
    cite: Vec<&'static str>,
    reports: &'static [String],
    sharpens: Option<&'static str>,
}

#[derive(Serialize)]
struct Scenario {
    id: String,
    title: String,
    covers: Vec<String>,
}

pub(super) fn catalogue() -> Result<Catalogue, PageError> {
    let catalogue = spec::Catalogue::v1();
    let set = Set::built_in(&|id| catalogue.get(id).is_some())?;
    Ok(Catalogue {
        requirements: catalogue.iter().map(requirement).collect(),
        scenarios: set
            .iter()
            .map(|scenario| Scenario {
                id: scenario.id.clone(),
                title: scenario.title.clone(),
                covers: scenario.covers.iter().map(ToString::to_string).collect(),
            })
            .collect(),
    })
}

fn requirement(entry: &'static spec::Requirement) -> Requirement {
    Requirement {
        id: &entry.id,
        level: entry.level.as_str(),
        basis: entry.basis.as_str(),
        when: entry.when.to_string(),
        statement: &entry.statement,
        check: &entry.check,
        passive: entry.passive,
        cite: entry.cite.iter().map(|place| place.url.as_str()).collect(),
        reports: &entry.reports,
        sharpens: entry.sharpens.as_deref(),
    }
}
