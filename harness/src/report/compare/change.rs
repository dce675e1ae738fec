//! What became better or worse from one report of an agent to the next.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::table::{Cell, Table};
use crate::spec::Level;
use crate::verdict::State;

/// One requirement whose state is another than before, or that fails in other scenarios.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The column.
    pub agent: String,
    /// The requirement.
    pub id: String,
    /// Its level.
    pub level: Level,
    /// Whether that is better or worse.
    pub way: Way,
    /// What it was; null where it was not judged.
    pub before: Option<Side>,
    /// What it is.
    pub after: Option<Side>,
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// The state.
    pub status: State,
    /// The scenarios in which it fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
}

/// Which way something changed, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// It fails now or fails in more scenarios, or it passed and is not shown any more.
    Worse,
    /// It failed or failed in more scenarios, or it is shown to pass now.
    Better,
    /// Neither.
    Other,
}

impl Way {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Worse, Self::Better, Self::Other];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Other => "other",
        }
    }
}

impl Change {
    /// The change in words, such as `pass -> fail in cancel/twice`.
    pub(super) fn in_words(&self) -> String {
        let side = |side: &Option<Side>| match side {
            None => "not judged".to_owned(),
            Some(side) if side.scenarios.is_empty() => side.status.as_str().to_owned(),
            Some(side) => format!("{} in {}", side.status, side.scenarios.join(", ")),
        };
        format!("{} -> {}", side(&self.before), side(&self.after))
    }
}

/// What changed from a column of one table to a column of another; what became worse first.
pub(super) fn between(old: &Table, before: &str, new: &Table, after: &str) -> Vec<Change> {
    let mut rows: Vec<(&str, Level)> = Vec::new();
    for row in old.requirements.iter().chain(&new.requirements) {
        if !rows.iter().any(|(id, _)| *id == row.id) {
            rows.push((&row.id, row.level));
        }
    }
    let changes = rows.into_iter().filter_map(|(id, level)| {
        let before = old.cell(id, before).map(side);
        let now = new.cell(id, after).map(side);
        (before != now).then(|| Change {
            agent: after.to_owned(),
            id: id.to_owned(),
            level,
            way: way(level, before.as_ref(), now.as_ref()),
            before,
            after: now,
        })
    });
    let mut changes: Vec<Change> = changes.collect();
    changes.sort_by_key(|change| change.way);
    changes
}

fn side(cell: &Cell) -> Side {
    Side {
        status: cell.status,
        scenarios: cell.scenarios.clone(),
    }
}

/// What is not judged is neither better nor worse.
fn way(level: Level, before: Option<&Side>, after: Option<&Side>) -> Way {
    let (Some(before), Some(after)) = (before, after) else {
        return Way::Other;
    };
    if matches!(level, Level::May | Level::Observe) {
        return Way::Other;
    }
    let rank = |side: &Side| match side.status {
        State::Fail => 0,
        State::Inconclusive | State::NotApplicable | State::NotExercised => 1,
        State::Pass => 2,
    };
    let set = |side: &Side| side.scenarios.iter().cloned().collect::<BTreeSet<_>>();
    match rank(after).cmp(&rank(before)) {
        std::cmp::Ordering::Less => Way::Worse,
        std::cmp::Ordering::Greater => Way::Better,
        std::cmp::Ordering::Equal
            if set(after).is_superset(&set(before)) && before.status == State::Fail =>
        {
            Way::Worse
        }
        std::cmp::Ordering::Equal
            if set(after).is_subset(&set(before)) && before.status == State::Fail =>
        {
            Way::Better
        }
        std::cmp::Ordering::Equal => Way::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(status: State, scenarios: &[&str]) -> Side {
        Side {
            status,
            scenarios: scenarios.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn to_fail_or_to_fail_in_more_scenarios_is_worse() {
        let pass = side(State::Pass, &[]);
        let one = side(State::Fail, &["a"]);
        let two = side(State::Fail, &["a", "b"]);
        let other = side(State::Fail, &["c"]);
        let open = side(State::Inconclusive, &[]);
        let off = side(State::NotApplicable, &[]);
        for (before, after, expected) in [
            (&pass, &one, Way::Worse),
            (&one, &pass, Way::Better),
            (&one, &two, Way::Worse),
            (&two, &one, Way::Better),
            (&one, &other, Way::Other),
            (&pass, &open, Way::Worse),
            (&open, &one, Way::Worse),
            (&one, &open, Way::Better),
            (&open, &off, Way::Other),
        ] {
            let way = |level| way(level, Some(before), Some(after));
            assert_eq!(way(Level::Must), expected, "{before:?} {after:?}");
            assert_eq!(way(Level::Observe), Way::Other);
        }
        assert_eq!(way(Level::Must, None, Some(&one)), Way::Other);
    }
}
