//! The whole comparison of two traces.

use super::align::Step;
use super::binding::Binding;
use super::class::class_of;
use super::difference::{Change, Class, Comparison, Sides};
use super::found::{Found, Outcome};
use super::members::{Leaf, Members};
use super::pairing::Pairing;
use super::{breaking, sessions};
use crate::canon::{Canonical, Item, ItemId, Scrutiny, Volatility, What};
use crate::trace::Recording;

/// From so many things on, what is missing in one piece is one difference.
pub(super) const IN_ONE_PIECE: usize = 4;
/// So many differences are listed; further ones are counted.
pub(super) const LISTED: usize = 10_000;

/// Compares two traces: what differs on the right from the left.
#[must_use]
pub fn diff(left: &Recording, right: &Recording, volatile: &Volatility) -> Comparison {
    let sides = Sides::RECORDINGS;
    diff_looking_at(left, right, volatile, Scrutiny::default(), sides)
}

/// Compares two traces, and more of them than their messages; `sides` is what they are called.
#[must_use]
pub fn diff_looking_at(
    left: &Recording,
    right: &Recording,
    volatile: &Volatility,
    scrutiny: Scrutiny,
    sides: Sides,
) -> Comparison {
    let ((left, left_fails), (right, right_fails)) = std::thread::scope(|scope| {
        let task = |recording| {
            (
                Canonical::looking_at(recording, volatile, scrutiny),
                breaking::violations(recording),
            )
        };
        let other = scope.spawn(move || task(right));
        let one = task(left);
        match other.join() {
            Ok(other) => (one, other),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    let mut comparer = Comparer::new(&left, &right, sides);
    comparer.run();
    let mut differences = comparer.found;
    breaking::mark(&mut differences, &left, &right, &left_fails, &right_fails);
    let mut omitted = comparer.omitted;
    if differences.len() > LISTED {
        // What matters most is listed, in the order in which it was found.
        let kept = most_important(&differences);
        omitted += differences.len() - LISTED;
        let mut keep = kept.into_iter();
        differences.retain(|_| keep.next().unwrap_or(false));
    }
    for difference in &mut differences {
        difference.finish(&left);
    }
    let comparison = Comparison {
        differences: differences
            .into_iter()
            .map(|found| found.difference)
            .collect(),
        unmatched: volatile.unmatched(|entry| left.hit(entry) || right.hit(entry)),
        omitted,
    };
    // To give back what many small values took takes a while.
    std::thread::scope(|scope| {
        scope.spawn(move || drop(left));
        drop(right);
    });
    comparison
}

fn most_important(found: &[Found]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|index| {
        std::cmp::Reverse(found.get(*index).map(|found| found.difference.class))
    });
    let mut kept = vec![false; found.len()];
    for index in order.into_iter().take(LISTED) {
        if let Some(kept) = kept.get_mut(index) {
            *kept = true;
        }
    }
    kept
}

/// Compares two canonical forms.
pub(super) struct Comparer<'c> {
    pub(super) left: &'c Canonical<'c>,
    pub(super) right: &'c Canonical<'c>,
    pub(super) sides: Sides,
    pub(super) binding: Binding<'c>,
    pub(super) found: Vec<Found>,
    /// How many of each class are kept; of further ones only their number is.
    pub(super) kept: [usize; Class::ALL.len()],
    pub(super) omitted: usize,
}

impl<'c> Comparer<'c> {
    fn new(left: &'c Canonical<'c>, right: &'c Canonical<'c>, sides: Sides) -> Self {
        Self {
            left,
            right,
            sides,
            binding: Binding::new(&left.minted, &right.minted),
            found: Vec::new(),
            kept: [0; Class::ALL.len()],
            omitted: 0,
        }
    }

    fn run(&mut self) {
        let pairs = sessions::matched(self.left, self.right);
        for (left, right) in &pairs {
            if let (Some(left), Some(right)) = (left, right)
                && let (Some(left), Some(right)) = (
                    self.left.sessions.get(*left),
                    self.right.sessions.get(*right),
                )
            {
                self.binding.bind(left.id, right.id);
            }
        }
        let mut pairings = vec![self.pair(&self.left.connection, &self.right.connection)];
        let mut alone = Vec::new();
        for (left, right) in &pairs {
            match (left, right) {
                (Some(left), Some(right)) => {
                    if let (Some(one), Some(other)) = (
                        self.left.sessions.get(*left),
                        self.right.sessions.get(*right),
                    ) {
                        pairings.push(self.pair_turns(&one.items, &other.items, true));
                        for (one, other) in one.floating.iter().zip(&other.floating) {
                            pairings.push(self.pair(one, other));
                        }
                    }
                }
                (left, right) => alone.push((*left, *right)),
            }
        }
        self.bind_pairs(&pairings);
        for pairing in &pairings {
            self.stream(pairing);
        }
        for (left, right) in alone {
            self.lone_session(left, right);
        }
        self.ending();
    }

    fn stream(&mut self, pairing: &Pairing<'c>) {
        let forgiven = self.forgiven(pairing);
        let mut index = 0;
        while let Some(step) = pairing.steps.get(index) {
            if let Step::Both(left, right) = *step {
                if let (Some(one), Some(other)) = (pairing.left.get(left), pairing.right.get(right))
                {
                    self.both(pairing, index, *one, *other);
                }
                index += 1;
                continue;
            }
            let run = self.run_at(pairing, index, &forgiven);
            if run >= IN_ONE_PIECE {
                self.piece(pairing, index, run);
                index += run;
                continue;
            }
            // What moved is in both places; it is forgiven only where it is in either.
            let excused = |step: &usize| forgiven.contains(step);
            if !(excused(&index) && pairing.moved.get(&index).is_none_or(excused)) {
                self.one_sided(pairing, index);
            }
            index += 1;
        }
    }

    fn both(&mut self, pairing: &Pairing<'c>, index: usize, left: ItemId, right: ItemId) {
        let (Some(one), Some(other)) = (self.left.item(left), self.right.item(right)) else {
            return;
        };
        if one.full == other.full && self.bind_items(one, other) {
            return;
        }
        let cut = (one.late || other.late)
            && pairing
                .cancelled
                .binary_search(&(one.turn, other.turn))
                .is_ok();
        if let (What::Call(left_call), What::Call(right_call)) = (&one.what, &other.what) {
            let calls = (
                self.left.calls.get(*left_call as usize),
                self.right.calls.get(*right_call as usize),
            );
            if let (Some(one), Some(other)) = calls {
                self.calls(pairing, index, one, other, cut);
            }
            return;
        }
        // A text that was cut may be longer on the side where it was not.
        if let (
            What::Text { text: one_text, .. },
            What::Text {
                text: other_text, ..
            },
        ) = (&one.what, &other.what)
            && cut
        {
            let (shorter, on_left) = if one_text.len() <= other_text.len() {
                (one, true)
            } else {
                (other, false)
            };
            if shorter.late
                && !self.goes_on(pairing, index, on_left)
                && self.binding.one_begins_other(one_text, other_text)
            {
                return;
            }
        }
        let values = (self.left.node(one), self.right.node(other));
        let leaves = Members::compare(
            self.left,
            self.right,
            &mut self.binding,
            false,
            (&values.0, &values.1),
        );
        for leaf in leaves {
            self.leaf(pairing, index, (left, one), (right, other), leaf);
        }
    }

    /// Whether another text of the same turn follows on one side, so that the one at this step was not cut.
    fn goes_on(&self, pairing: &Pairing<'c>, index: usize, on_left: bool) -> bool {
        let Some(Step::Both(left, right)) = pairing.steps.get(index) else {
            return false;
        };
        let at = if on_left { *left } else { *right };
        let (this, next) = (
            self.item(pairing, at, on_left),
            self.item(pairing, at + 1, on_left),
        );
        matches!((this, next), (Some(this), Some(next))
            if this.turn == next.turn && matches!(next.what, What::Text { .. }))
    }

    pub(super) fn leaf(
        &mut self,
        pairing: &Pairing<'c>,
        index: usize,
        left: (ItemId, &'c Item),
        right: (ItemId, &'c Item),
        leaf: Leaf,
    ) {
        let kind = self.left.class_kind(left.1);
        let class = if leaf.identity {
            Class::Behaviour
        } else {
            class_of(&kind, &leaf.path, leaf.is_text)
        };
        if !self.keeps(class) {
            return;
        }
        let member = leaf.path.last().map_or("value", String::as_str);
        let message = match leaf.change {
            Change::Appeared | Change::Vanished => {
                let (side, _) = self.sides.of(leaf.change == Change::Vanished);
                match leaf.entries {
                    0 => format!("`{member}` is {} only", side.at),
                    count => format!("{count} entries of `{member}` are {} only", side.at),
                }
            }
            Change::Changed if leaf.identity && member == "id" => {
                "it answers another request".to_owned()
            }
            Change::Changed if leaf.identity => format!("`{member}` stands for something else"),
            Change::Changed => format!("`{member}` has another value"),
            Change::Moved => format!("`{member}` stands elsewhere in the list"),
        };
        let place = self.left.member_place(left.1, &leaf.path);
        self.push(
            pairing,
            index,
            Some(left.0),
            Some(right.0),
            Outcome {
                class,
                change: leaf.change,
                place,
                left: leaf.left,
                right: leaf.right,
                message,
            },
        );
    }
}
