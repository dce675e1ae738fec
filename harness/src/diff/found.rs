//! A difference while the comparison goes on.

use super::align::Step;
use super::compare::{Comparer, LISTED};
use super::difference::{Change, Class, Difference};
use super::pairing::Pairing;
use crate::canon::{Canonical, ItemId};

/// So many unchanged neighbours are shown on each side of a difference.
const NEIGHBOURS: usize = 2;

/// A difference that was found, with what is needed to say more of it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) difference: Difference,
    pub(super) left: Option<ItemId>,
    pub(super) right: Option<ItemId>,
    /// Unchanged items around it, on the left.
    pub(super) before: Vec<ItemId>,
    pub(super) after: Vec<ItemId>,
}

impl Found {
    /// One without neighbours.
    pub(super) fn alone(
        difference: Difference,
        left: Option<ItemId>,
        right: Option<ItemId>,
    ) -> Self {
        Self {
            difference,
            left,
            right,
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    pub(super) fn finish(&mut self, left: &Canonical<'_>) {
        let lines = |ids: &[ItemId]| ids.iter().map(|id| left.line(*id)).collect();
        self.difference.before = lines(&self.before);
        self.difference.after = lines(&self.after);
    }
}

/// What is said of a difference.
pub(super) struct Outcome {
    pub(super) class: Class,
    pub(super) change: Change,
    pub(super) place: String,
    pub(super) left: Option<String>,
    pub(super) right: Option<String>,
    pub(super) message: String,
}

impl Outcome {
    /// Something that one side alone has.
    pub(super) fn of_one_side(
        on_left: bool,
        place: String,
        value: String,
        message: String,
    ) -> Self {
        let (change, left, right) = if on_left {
            (Change::Vanished, Some(value), None)
        } else {
            (Change::Appeared, None, Some(value))
        };
        Self {
            class: Class::Behaviour,
            change,
            place,
            left,
            right,
            message,
        }
    }
}

impl<'c> Comparer<'c> {
    pub(super) fn push(
        &mut self,
        pairing: &Pairing<'c>,
        index: usize,
        left: Option<ItemId>,
        right: Option<ItemId>,
        outcome: Outcome,
    ) {
        let unchanged = |step: &Step| match *step {
            Step::Both(left, right) => {
                let one = self.item(pairing, left, true)?;
                let other = self.item(pairing, right, false)?;
                (one.full == other.full)
                    .then(|| pairing.left.get(left).copied())
                    .flatten()
            }
            _ => None,
        };
        // Looked for nearby only: the rest of a long stream is no neighbour.
        let reach = 4 * NEIGHBOURS;
        let start = index.saturating_sub(reach);
        let mut before: Vec<ItemId> = pairing
            .steps
            .get(start..index)
            .unwrap_or(&[])
            .iter()
            .rev()
            .filter_map(unchanged)
            .take(NEIGHBOURS)
            .collect();
        before.reverse();
        let after = pairing
            .steps
            .iter()
            .skip(index + 1)
            .take(reach)
            .filter_map(unchanged)
            .take(NEIGHBOURS)
            .collect();
        self.found
            .push(self.found_of(left, right, outcome, before, after));
    }

    pub(super) fn found_of(
        &self,
        left: Option<ItemId>,
        right: Option<ItemId>,
        outcome: Outcome,
        before: Vec<ItemId>,
        after: Vec<ItemId>,
    ) -> Found {
        let event = |form: &Canonical<'_>, id: Option<ItemId>| {
            id.and_then(|id| form.item(id))
                .map(|item| u64::from(item.event))
        };
        Found {
            difference: Difference {
                class: outcome.class,
                change: outcome.change,
                place: outcome.place,
                left: outcome.left,
                right: outcome.right,
                left_event: event(self.left, left),
                right_event: event(self.right, right),
                requirements: Vec::new(),
                message: outcome.message,
                before: Vec::new(),
                after: Vec::new(),
            },
            left,
            right,
            before,
            after,
        }
    }

    /// Whether one more of a class is kept.
    pub(super) fn keeps(&mut self, class: Class) -> bool {
        let Some(kept) = self.kept.get_mut(class as usize) else {
            return false;
        };
        if *kept < LISTED {
            *kept += 1;
            true
        } else {
            self.omitted += 1;
            false
        }
    }
}
