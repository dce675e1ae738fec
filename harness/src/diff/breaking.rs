//! Requirements that are violated on one side only.

use std::collections::BTreeMap;

use super::difference::{Change, Class, Difference};
use super::found::Found;
use crate::canon::{Canonical, ItemId};
use crate::rules::{Finding, judge_recording};
use crate::spec::{Catalogue, Level};
use crate::trace::Recording;

/// The requirements of level `must` that a trace violates, each with its first finding.
pub(super) fn violations(recording: &Recording) -> BTreeMap<&'static str, Option<Finding>> {
    judge_recording(recording)
        .iter()
        .filter(|(id, tally)| {
            tally.fails > 0
                && Catalogue::v1()
                    .get(id)
                    .is_some_and(|requirement| requirement.level == Level::Must)
        })
        .map(|(id, tally)| (id, tally.findings.first().cloned()))
        .collect()
}

/// Says of each requirement that one side alone violates where that is: on the difference at that event, or as one of its own.
///
/// Newly violated on the right is breaking. No longer violated there is a difference in behaviour, so that swapping the sides
/// swaps the outcome.
pub(super) fn mark(
    found: &mut Vec<Found>,
    left: &Canonical<'_>,
    right: &Canonical<'_>,
    left_fails: &BTreeMap<&'static str, Option<Finding>>,
    right_fails: &BTreeMap<&'static str, Option<Finding>>,
) {
    for (id, finding) in right_fails
        .iter()
        .filter(|(id, _)| !left_fails.contains_key(*id))
    {
        one(found, right, id, finding.as_ref(), false);
    }
    for (id, finding) in left_fails
        .iter()
        .filter(|(id, _)| !right_fails.contains_key(*id))
    {
        one(found, left, id, finding.as_ref(), true);
    }
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
    // Of several differences in one message, the one at the member that the finding points to.
    let member = finding
        .and_then(|finding| Some(finding.place.as_ref()?.path.as_str()))
        .and_then(|path| path.rsplit('/').find(|step| step.parse::<usize>().is_err()));
    let at_event = found
        .iter_mut()
        .filter(|found| {
            let (own, number) = if on_left {
                (found.left, found.difference.left_event)
            } else {
                (found.right, found.difference.right_event)
            };
            event.is_some() && (number == event || (item.is_some() && own == item))
        })
        .enumerate()
        .min_by_key(|(number, found)| {
            let at_member = found.difference.place.rsplit(" · ").next() == member;
            (!at_member, *number)
        })
        .map(|(_, found)| found);
    let class = if on_left {
        Class::Behaviour
    } else {
        Class::Breaking
    };
    let words = finding.map_or("", |finding| finding.message.as_str());
    if let Some(known) = at_event {
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
