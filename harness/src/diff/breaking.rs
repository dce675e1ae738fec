//! Requirements that are violated on one side only.

use std::collections::BTreeMap;

use super::difference::{Change, Class, Difference};
use super::found::Found;
use crate::canon::{Canonical, ItemId};
use crate::rules::{Finding, judge_recording};
use crate::spec::{Catalogue, Level};
use crate::trace::Recording;

/// How a trace violates a requirement.
pub(super) struct Violated {
    fails: u64,
    /// The first of the failures.
    findings: Vec<Finding>,
}

/// The requirements of level `must` that a trace violates.
pub(super) type Violations = BTreeMap<&'static str, Violated>;

/// What a trace violates.
pub(super) fn violations(recording: &Recording) -> Violations {
    judge_recording(recording)
        .iter()
        .filter(|(id, tally)| {
            tally.fails > 0
                && Catalogue::v1()
                    .get(id)
                    .is_some_and(|requirement| requirement.level == Level::Must)
        })
        .map(|(id, tally)| {
            let violated = Violated {
                fails: tally.fails,
                findings: tally.findings.clone(),
            };
            (id, violated)
        })
        .collect()
}

/// Says of each requirement that one side alone violates where that is: on the difference at that event, or as one of its own.
///
/// Newly violated on the right is breaking. No longer violated there is a difference in behaviour, so that swapping the sides
/// swaps the outcome. Where both violate a requirement, and the right does so more often, it is newly violated at a difference
/// of which the right side violates it and the left does not.
pub(super) fn mark(
    found: &mut Vec<Found>,
    left: &Canonical<'_>,
    right: &Canonical<'_>,
    left_fails: &Violations,
    right_fails: &Violations,
) {
    for (id, now) in right_fails {
        match left_fails.get(id) {
            None => one(found, right, id, now.findings.first(), false),
            Some(before) => more(found, (left, before), (right, now), id),
        }
    }
    for (id, before) in left_fails
        .iter()
        .filter(|(id, _)| !right_fails.contains_key(*id))
    {
        one(found, left, id, before.findings.first(), true);
    }
}

/// Says where the right violates once more what both violate.
fn more(
    found: &mut [Found],
    (left, before): (&Canonical<'_>, &Violated),
    (right, now): (&Canonical<'_>, &Violated),
    id: &str,
) {
    let mut more = now.fails.saturating_sub(before.fails);
    for finding in &now.findings {
        if more == 0 {
            return;
        }
        let Some(known) = at_event(found, right, Some(finding), false) else {
            continue;
        };
        let there = before.findings.iter().any(|own| {
            let event = own.place.as_ref().map(|place| place.event);
            let item = event.and_then(|event| left.owner(event));
            event.is_some()
                && (event == known.difference.left_event || item.is_some() && item == known.left)
        });
        if there || known.difference.requirements.iter().any(|own| own == id) {
            continue;
        }
        more -= 1;
        known.difference.class = known.difference.class.max(Class::Breaking);
        known.difference.requirements.push(id.to_owned());
        known.difference.message.push_str(&format!(
            "; {id} is newly violated here: {}",
            finding.message
        ));
    }
}

/// The difference at the event of a finding; of several in one message, the one at the member that it points to.
fn at_event<'f>(
    found: &'f mut [Found],
    form: &Canonical<'_>,
    finding: Option<&Finding>,
    on_left: bool,
) -> Option<&'f mut Found> {
    let place = finding?.place.as_ref()?;
    let event = Some(place.event);
    let item = form.owner(place.event);
    let mut steps = place.path.rsplit('/');
    let member = steps.find(|step| step.parse::<usize>().is_err());
    found
        .iter_mut()
        .filter(|found| {
            let (own, number) = if on_left {
                (found.left, found.difference.left_event)
            } else {
                (found.right, found.difference.right_event)
            };
            number == event || (item.is_some() && own == item)
        })
        .enumerate()
        .min_by_key(|(number, found)| {
            let at_member = found.difference.place.rsplit(" · ").next() == member;
            (!at_member, *number)
        })
        .map(|(_, found)| found)
}

fn one(
    found: &mut Vec<Found>,
    form: &Canonical<'_>,
    id: &str,
    finding: Option<&Finding>,
    on_left: bool,
) {
    let event = finding
        .and_then(|finding| finding.place.as_ref())
        .map(|place| place.event);
    let item = event.and_then(|event| form.owner(event));
    let class = if on_left {
        Class::Behaviour
    } else {
        Class::Breaking
    };
    let words = finding.map_or("", |finding| finding.message.as_str());
    if let Some(known) = at_event(found, form, finding, on_left) {
        known.difference.class = known.difference.class.max(class);
        if !on_left {
            known.difference.requirements.push(id.to_owned());
            known
                .difference
                .message
                .push_str(&format!("; {id} is newly violated: {words}"));
        }
        return;
    }
    let value = Some(words.to_owned()).filter(|words| !words.is_empty());
    let message = if on_left {
        format!("{id} is no longer violated")
    } else {
        format!("{id} is newly violated")
    };
    let difference = Difference {
        class,
        change: if on_left {
            Change::Vanished
        } else {
            Change::Appeared
        },
        place: place(form, item),
        left: value.clone().filter(|_| on_left),
        right: value.filter(|_| !on_left),
        left_event: event.filter(|_| on_left),
        right_event: event.filter(|_| !on_left),
        requirements: if on_left {
            Vec::new()
        } else {
            vec![id.to_owned()]
        },
        message,
        before: Vec::new(),
        after: Vec::new(),
    };
    found.push(Found::alone(
        difference,
        item.filter(|_| on_left),
        item.filter(|_| !on_left),
    ));
}

fn place(form: &Canonical<'_>, item: Option<ItemId>) -> String {
    item.and_then(|item| form.item(item))
        .map_or_else(|| "connection".to_owned(), |item| form.place(item))
}
