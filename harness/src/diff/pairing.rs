//! Two streams side by side: what belongs together, what moved, what a cancel excuses.

use std::collections::{HashMap, HashSet, VecDeque};

use super::align::{Keys, Step, align};
use super::compare::Comparer;
use crate::canon::{Canonical, Item, ItemId, What};

/// Two streams and how they stand side by side.
pub(super) struct Pairing<'c> {
    pub(super) left: &'c [ItemId],
    pub(super) right: &'c [ItemId],
    pub(super) steps: Vec<Step>,
    /// By step, the step of the other side that has the same thing.
    pub(super) moved: HashMap<usize, usize>,
    /// Turns that were cancelled on both sides, as left and right.
    pub(super) cancelled: Vec<(u32, u32)>,
}

impl<'c> Comparer<'c> {
    pub(super) fn pair(&self, left: &'c [ItemId], right: &'c [ItemId]) -> Pairing<'c> {
        let keys = |form: &Canonical<'_>, ids: &[ItemId]| -> Vec<Keys> {
            ids.iter()
                .map(|id| {
                    form.item(*id)
                        .map_or([0; 3], |item| [item.full, item.shape, item.kind])
                })
                .collect()
        };
        let (left_keys, right_keys) = (keys(self.left, left), keys(self.right, right));
        let steps = align(&left_keys, &right_keys);
        let mut pairing = Pairing {
            left,
            right,
            moved: moved(&steps, &left_keys, &right_keys),
            cancelled: Vec::new(),
            steps,
        };
        pairing.cancelled = self.cancelled(&pairing);
        pairing
    }

    /// The turns in which a cancel on one side stands beside one on the other, and those that the agent's end cut off.
    pub(super) fn cancelled(&self, pairing: &Pairing<'c>) -> Vec<(u32, u32)> {
        let mut turns = Vec::new();
        for step in &pairing.steps {
            if let Step::Both(left, right) = step
                && let (Some(left), Some(right)) = (
                    self.item(pairing, *left, true),
                    self.item(pairing, *right, false),
                )
                && left.turn > 0
                && (matches!(
                    self.left.kind_name(left),
                    "session/cancel" | "$/cancel_request"
                ) || (self.left.was_cut_off(left) && self.right.was_cut_off(right)))
            {
                turns.push((left.turn, right.turn));
            }
        }
        turns.sort_unstable();
        turns.dedup();
        turns
    }

    pub(super) fn item(
        &self,
        pairing: &Pairing<'c>,
        index: usize,
        on_left: bool,
    ) -> Option<&'c Item> {
        if on_left {
            self.left.item(*pairing.left.get(index)?)
        } else {
            self.right.item(*pairing.right.get(index)?)
        }
    }

    /// Binds what was minted: requests and calls that stand beside each other, and all that equal things mention.
    pub(super) fn bind_pairs(&mut self, pairings: &[Pairing<'c>]) {
        let mut pairs: Vec<(&Item, &Item)> = Vec::new();
        for pairing in pairings {
            for (index, step) in pairing.steps.iter().enumerate() {
                let (left, right) = match *step {
                    Step::Both(left, right) => (left, right),
                    Step::Left(left) => match pairing
                        .moved
                        .get(&index)
                        .and_then(|twin| pairing.steps.get(*twin))
                    {
                        Some(Step::Right(right)) => (left, *right),
                        _ => continue,
                    },
                    Step::Right(_) => continue,
                };
                if let (Some(left), Some(right)) = (
                    self.item(pairing, left, true),
                    self.item(pairing, right, false),
                ) {
                    pairs.push((left, right));
                }
            }
        }
        pairs.sort_by_key(|(left, _)| left.event);
        for (left, right) in pairs {
            let requests = (
                left.request
                    .and_then(|request| self.left.requests.get(request as usize)),
                right
                    .request
                    .and_then(|request| self.right.requests.get(request as usize)),
            );
            if let (Some(one), Some(other)) = requests
                && self
                    .left
                    .item(one.item)
                    .is_some_and(|item| item.event == left.event)
                && self
                    .right
                    .item(other.item)
                    .is_some_and(|item| item.event == right.event)
            {
                self.binding.bind(one.reference, other.reference);
            }
            if let (Some(one), Some(other)) = (self.left.call_of(left), self.right.call_of(right)) {
                self.binding.bind(one.id, other.id);
            }
            if left.full == right.full {
                self.bind_items(left, right);
            }
        }
    }

    /// Binds the values of two equal items; tells whether all are each other's.
    pub(super) fn bind_items(&mut self, left: &Item, right: &Item) -> bool {
        let (lefts, rights) = (
            self.left.references_of(left),
            self.right.references_of(right),
        );
        let mut all = lefts.len() == rights.len();
        for (left, right) in lefts.iter().zip(rights) {
            all &= self.binding.bind(*left, *right);
        }
        if let (What::Call(one), What::Call(other)) = (&left.what, &right.what)
            && let (Some(one), Some(other)) = (
                self.left.calls.get(*one as usize),
                self.right.calls.get(*other as usize),
            )
        {
            for (left, right) in one.steps.iter().zip(&other.steps) {
                if let (Some(left), Some(right)) = (self.left.item(*left), self.right.item(*right))
                {
                    all &= self.bind_items(left, right);
                }
            }
        }
        all
    }

    /// Things in flight when a turn was cancelled on both sides: one side may have fewer of them, at the end.
    pub(super) fn forgiven(&self, pairing: &Pairing<'c>) -> HashSet<usize> {
        let mut forgiven = HashSet::new();
        if pairing.cancelled.is_empty() {
            return forgiven;
        }
        let by_left: HashMap<u32, u32> = pairing.cancelled.iter().copied().collect();
        let by_right: HashMap<u32, u32> = by_left
            .iter()
            .map(|(left, right)| (*right, *left))
            .collect();
        // By the left turn: the steps at which late things stand on one side only, as long as no pair follows.
        let mut open: HashMap<u32, (Vec<usize>, bool, bool)> = HashMap::new();
        for (index, step) in pairing.steps.iter().enumerate() {
            let (item, on_right) = match *step {
                Step::Left(left) | Step::Both(left, _) => (self.item(pairing, left, true), false),
                Step::Right(right) => (self.item(pairing, right, false), true),
            };
            let Some(item) = item.filter(|item| item.late) else {
                continue;
            };
            let turn = if on_right {
                by_right.get(&item.turn).copied()
            } else {
                by_left.contains_key(&item.turn).then_some(item.turn)
            };
            let Some(turn) = turn else {
                continue;
            };
            let entry = open.entry(turn).or_default();
            match step {
                Step::Both(..) => entry.0.clear(),
                Step::Left(_) => {
                    entry.0.push(index);
                    entry.1 = true;
                }
                Step::Right(_) => {
                    entry.0.push(index);
                    entry.2 = true;
                }
            }
            if matches!(step, Step::Both(..)) {
                (entry.1, entry.2) = (false, false);
            }
        }
        for (steps, left, right) in open.into_values() {
            // Something else on each side is no longer a prefix.
            if left != right {
                forgiven.extend(steps);
            }
        }
        forgiven
    }

    /// How many things in a row are on the same side only, from this step on.
    pub(super) fn run_at(
        &self,
        pairing: &Pairing<'c>,
        index: usize,
        forgiven: &HashSet<usize>,
    ) -> usize {
        let side = |step: &Step| matches!(step, Step::Left(_));
        let Some(first) = pairing.steps.get(index).map(side) else {
            return 0;
        };
        pairing
            .steps
            .iter()
            .enumerate()
            .skip(index)
            .take_while(|(index, step)| {
                !matches!(step, Step::Both(..))
                    && side(step) == first
                    && !forgiven.contains(index)
                    && !pairing.moved.contains_key(index)
            })
            .count()
    }
}

/// The same things that are on the left only in one place and on the right only in another.
fn moved(steps: &[Step], left: &[Keys], right: &[Keys]) -> HashMap<usize, usize> {
    let full = |keys: &[Keys], index: usize| keys.get(index).and_then(|keys| keys.first()).copied();
    let mut lefts: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (step, index) in steps.iter().enumerate() {
        if let Step::Left(index) = index
            && let Some(full) = full(left, *index)
        {
            lefts.entry(full).or_default().push_back(step);
        }
    }
    let mut moved = HashMap::new();
    for (step, index) in steps.iter().enumerate() {
        if let Step::Right(index) = index
            && let Some(twin) =
                full(right, *index).and_then(|full| lefts.get_mut(&full)?.pop_front())
        {
            moved.insert(twin, step);
            moved.insert(step, twin);
        }
    }
    moved
}
