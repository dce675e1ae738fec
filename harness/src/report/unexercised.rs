//! What a run could not show, and what would: the end of its report.

use std::collections::BTreeMap;

use super::table::table;
use super::{Detail, Run, plain};
use crate::profile::Consent;
use crate::scenario::Status;
use crate::scenario::file::{Scenario, Set};
use crate::spec::Level;
use crate::verdict::{Standing, State};

/// So many lines are shown, unless all are asked for.
const LINES: usize = 12;

/// So many ids stand in one line.
const IDS: usize = 6;

/// What would exercise something has at least so many columns.
const NARROWEST: usize = 24;

/// Lines that say which requirements were not exercised or stayed inconclusive, and what would exercise them, the most
/// weighty first; none where nothing was run, or where something held up the whole run.
pub(super) fn unexercised(run: &Run, detail: Detail, width: usize) -> Vec<String> {
    if run.is_of_recordings() || run.blocked.is_some() {
        return Vec::new();
    }
    let scenarios = Set::built_in(&|_| true).unwrap_or_default();
    let mut by_cure: BTreeMap<(Level, String), Vec<&str>> = BTreeMap::new();
    for standing in &run.assessment.standings {
        let requirement = standing.requirement;
        if !matches!(
            requirement.level,
            Level::Must | Level::Interop | Level::Should
        ) {
            continue;
        }
        if let Some(cure) = cure(run, standing, &scenarios) {
            let ids = by_cure.entry((requirement.level, cure)).or_default();
            ids.push(&requirement.id);
        }
    }
    if by_cure.is_empty() {
        return Vec::new();
    }
    let most = match detail {
        Detail::Much => by_cure.len(),
        Detail::Little | Detail::Normal => LINES,
    };
    let more = by_cure.len().saturating_sub(most);
    let shown: Vec<((Level, String), String)> = by_cure
        .into_iter()
        .take(most)
        .map(|(cure, ids)| (cure, named(&ids)))
        .collect();
    let level = |(level, _): &(Level, String)| format!("  {}", level.as_str());
    let before = |(cure, ids): &((Level, String), String)| (level(cure).len(), ids.len());
    let levels = shown.iter().map(|it| before(it).0).max().unwrap_or(0);
    let ids = shown.iter().map(|it| before(it).1).max().unwrap_or(0);
    let room = width.saturating_sub(levels + ids + 4).max(NARROWEST);
    let rows: Vec<Vec<String>> = shown
        .into_iter()
        .map(|(cure, ids)| vec![level(&cure), ids, cut(&plain(&cure.1), room)])
        .collect();
    let mut lines = vec!["Not exercised, and what would exercise it:".to_owned()];
    lines.extend(table(&rows, |_| false));
    if more > 0 {
        lines.push(format!("  and {more} more (-v)"));
    }
    lines.push(String::new());
    lines
}

/// What would exercise a requirement; `None` where it was exercised, or cannot apply.
fn cure(run: &Run, standing: &Standing, scenarios: &Set) -> Option<String> {
    let id = &standing.requirement.id;
    let covering: Vec<&Scenario> = scenarios
        .iter()
        .filter(|scenario| scenario.covers.contains(id))
        .collect();
    let came_of = |scenario: &Scenario| run.scenarios.iter().find(|it| it.id == scenario.id);
    if !matches!(standing.state, State::NotExercised | State::Inconclusive) {
        return None;
    }
    let without_consent = covering.iter().find_map(|scenario| {
        let why = &came_of(scenario)?.why;
        let refused = why
            .iter()
            .any(|why| why.starts_with("not run without consent"));
        scenario.allow.first().filter(|_| refused)
    });
    if let Some(consent) = without_consent {
        return Some(allow(consent));
    }
    if let Some(left_out) = covering.iter().find(|it| came_of(it).is_none()) {
        let all_left_out = covering.iter().all(|it| came_of(it).is_none());
        if all_left_out {
            return Some(format!("--only {}", left_out.file));
        }
    }
    if let Some(why) = standing
        .why
        .first()
        .filter(|_| standing.state == State::Inconclusive)
    {
        return Some(format!("it was tried: {why}"));
    }
    let tried = covering.iter().find_map(|scenario| {
        let it = came_of(scenario).filter(|it| it.status != Status::Pass)?;
        Some(format!("{}: {}", scenario.file, it.why.first()?))
    });
    Some(tried.unwrap_or_else(|| {
        "nothing in this run brought it about (`harness explain ID`)".to_owned()
    }))
}

fn allow(consent: &Consent) -> String {
    format!(
        "allow = [\"{}\"] in a profile or in harness.toml",
        consent.as_str()
    )
}

/// Ids by area, such as `CANCEL-01 -02`, at most so many.
fn named(ids: &[&str]) -> String {
    let mut out = String::new();
    let mut area = "";
    for id in ids.iter().take(IDS) {
        let own = id.rsplit_once('-').map_or(*id, |(area, _)| area);
        if own == area {
            out.push(' ');
            out.push_str(id.strip_prefix(area).unwrap_or(id));
        } else {
            if !out.is_empty() {
                out.push_str(", ");
            }
            out.push_str(id);
            area = own;
        }
    }
    if ids.len() > IDS {
        out.push_str(&format!(", {} more", ids.len() - IDS));
    }
    out
}

/// The text in one line of at most so many characters.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let short: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", short.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_put_together_by_area_and_long_reasons_are_cut() {
        assert_eq!(
            named(&["AUTH-06", "AUTH-07", "FS-01"]),
            "AUTH-06 -07, FS-01"
        );
        let many = ["A-01", "A-02", "A-03", "A-04", "A-05", "A-06", "A-07"];
        assert!(named(&many).ends_with(", 1 more"));
        assert_eq!(cut(&"x".repeat(100), 30).chars().count(), 30);
    }
}
