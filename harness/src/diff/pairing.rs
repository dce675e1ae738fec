//! Two streams side by side: what belongs together, what moved, what a cancel excuses.

use std::collections::VecDeque;
use std::hash::{Hash as _, Hasher as _};
use std::ops::Range;

use super::align::{Keys, Step, align, left_first};
use super::compare::Comparer;
use super::likeness;
use crate::canon::{Canonical, Item, ItemId, What, hasher};
use crate::hash::{HashMap, HashSet};

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
    /// Two streams without turns, side by side.
    pub(super) fn pair(&self, left: &'c [ItemId], right: &'c [ItemId]) -> Pairing<'c> {
        self.pair_turns(left, right, false)
    }

    /// Two streams side by side. Turns are anchors: things of one turn are not taken for those of another.
    pub(super) fn pair_turns(
        &self,
        left: &'c [ItemId],
        right: &'c [ItemId],
        turns: bool,
    ) -> Pairing<'c> {
        let left_keys = keys(self.left, left);
        let right_keys = keys(self.right, right);
        let steps = if turns {
            let (lefts, rights) = (self.left.turns(left), self.right.turns(right));
            let chapters = (chapters(&left_keys, &lefts), chapters(&right_keys, &rights));
            let mut steps = Vec::with_capacity(left.len().max(right.len()));
            for step in align(&chapters.0, &chapters.1) {
                within(
                    step,
                    (&left_keys, &lefts),
                    (&right_keys, &rights),
                    &mut steps,
                );
            }
            steps
        } else {
            align(&left_keys, &right_keys)
        };
        let mut steps = self.without_unlike_calls(steps, left, right);
        // Parting leaves a mix of both sides, whose order would depend on which side is which.
        left_first(&mut steps);
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

    /// Parts calls that stand beside each other and have nothing in common.
    fn without_unlike_calls(
        &self,
        steps: Vec<Step>,
        left: &[ItemId],
        right: &[ItemId],
    ) -> Vec<Step> {
        let mut out = Vec::with_capacity(steps.len());
        for step in steps {
            let unlike = match step {
                Step::Both(one, other) => {
                    let items = (
                        left.get(one).and_then(|id| self.left.item(*id)),
                        right.get(other).and_then(|id| self.right.item(*id)),
                    );
                    matches!(items, (Some(one), Some(other))
                        if matches!(one.what, What::Call(_)) && one.shape != other.shape
                            && !likeness::alike((self.left, &self.left.node(one)), (self.right, &self.right.node(other))))
                    .then_some((one, other))
                }
                _ => None,
            };
            match unlike {
                Some((one, other)) => out.extend([Step::Left(one), Step::Right(other)]),
                None => out.push(step),
            }
        }
        out
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
                && right.turn > 0
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
        let mut forgiven = HashSet::default();
        if pairing.cancelled.is_empty() {
            return forgiven;
        }
        let by_left: HashMap<u32, u32> = pairing.cancelled.iter().copied().collect();
        let by_right: HashMap<u32, u32> = by_left
            .iter()
            .map(|(left, right)| (*right, *left))
            .collect();
        // By the left turn: the steps at which late things stand on one side only, as long as no pair follows.
        let mut open: HashMap<u32, (Vec<usize>, bool, bool)> = HashMap::default();
        for (index, step) in pairing.steps.iter().enumerate() {
            let of = |id, left| self.item(pairing, id, left);
            let late = |item: Option<&Item>| item.is_some_and(|item| item.late);
            let (item, on_right, late) = match *step {
                Step::Left(left) => (of(left, true), false, late(of(left, true))),
                Step::Right(right) => (of(right, false), true, late(of(right, false))),
                // That it was in flight on one side is enough.
                Step::Both(left, right) => (
                    of(left, true),
                    false,
                    late(of(left, true)) || late(of(right, false)),
                ),
            };
            let Some(item) = item.filter(|_| late) else {
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

fn keys(form: &Canonical<'_>, ids: &[ItemId]) -> Vec<Keys> {
    ids.iter()
        .map(|id| {
            form.item(*id)
                .map_or([0; 3], |item| [item.full, item.shape, item.kind])
        })
        .collect()
}

/// What each turn is compared by: all of it, then its prompt, then that it is one.
fn chapters(keys: &[Keys], turns: &[Range<usize>]) -> Vec<Keys> {
    turns
        .iter()
        .enumerate()
        .map(|(number, turn)| {
            let keys = keys.get(turn.clone()).unwrap_or(&[]);
            let mut all = hasher();
            for [full, ..] in keys {
                full.hash(&mut all);
            }
            let prompt = keys.first().filter(|_| number > 0);
            let [full, _, kind] = prompt.copied().unwrap_or_default();
            [all.finish(), full, kind]
        })
        .collect()
}

/// The steps through two turns, or through one that one side alone has.
fn within(
    step: Step,
    (left_keys, lefts): (&[Keys], &[Range<usize>]),
    (right_keys, rights): (&[Keys], &[Range<usize>]),
    out: &mut Vec<Step>,
) {
    let (left, right) = match step {
        Step::Both(left, right) => (lefts.get(left), rights.get(right)),
        Step::Left(left) => (lefts.get(left), None),
        Step::Right(right) => (None, rights.get(right)),
    };
    let empty = 0..0;
    let (left, right) = (left.unwrap_or(&empty), right.unwrap_or(&empty));
    let steps = align(
        left_keys.get(left.clone()).unwrap_or(&[]),
        right_keys.get(right.clone()).unwrap_or(&[]),
    );
    out.extend(steps.into_iter().map(|step| match step {
        Step::Both(one, other) => Step::Both(left.start + one, right.start + other),
        Step::Left(one) => Step::Left(left.start + one),
        Step::Right(other) => Step::Right(right.start + other),
    }));
}

impl Canonical<'_> {
    /// Where the turns of a session's stream are; first what comes before any.
    fn turns(&self, ids: &[ItemId]) -> Vec<Range<usize>> {
        let begins = |id: &ItemId| {
            let request = self.item(*id).and_then(|item| item.request);
            request
                .and_then(|request| self.requests.get(request as usize))
                .is_some_and(|request| request.turn.is_some() && request.item == *id)
        };
        let mut turns = Vec::new();
        let mut start = 0;
        for (index, id) in ids.iter().enumerate() {
            if begins(id) {
                turns.push(start..index);
                start = index;
            }
        }
        turns.push(start..ids.len());
        turns
    }
}

/// The same things that are on the left only in one place and on the right only in another.
fn moved(steps: &[Step], left: &[Keys], right: &[Keys]) -> HashMap<usize, usize> {
    let full = |keys: &[Keys], index: usize| keys.get(index).and_then(|keys| keys.first()).copied();
    let mut lefts: HashMap<u64, VecDeque<usize>> = HashMap::default();
    for (step, index) in steps.iter().enumerate() {
        if let Step::Left(index) = index
            && let Some(full) = full(left, *index)
        {
            lefts.entry(full).or_default().push_back(step);
        }
    }
    let mut moved = HashMap::default();
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
