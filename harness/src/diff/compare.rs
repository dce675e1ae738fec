//! The whole comparison of two traces.

use std::collections::HashMap;

use super::align::{Keys, Step, align};
use super::binding::Binding;
use super::class::class_of;
use super::difference::{Change, Class, Comparison, Difference};
use super::members::{Leaf, Members, shortened};
use super::{breaking, sessions};
use crate::canon::{Canonical, Item, ItemId, Node, Scrutiny, Volatility, What};
use crate::trace::{Exit, Recording};

/// So many unchanged neighbours are shown on each side of a difference.
const NEIGHBOURS: usize = 2;
/// From so many things on, what is missing in one piece is one difference.
const IN_ONE_PIECE: usize = 4;
/// So many differences are listed; further ones are counted.
const LISTED: usize = 10_000;

/// Compares two traces: what differs on the right from the left.
#[must_use]
pub fn diff(left: &Recording, right: &Recording, volatile: &Volatility) -> Comparison {
    diff_looking_at(left, right, volatile, Scrutiny::default())
}

/// Compares two traces, and more of them than their messages.
#[must_use]
pub fn diff_looking_at(
    left: &Recording,
    right: &Recording,
    volatile: &Volatility,
    scrutiny: Scrutiny,
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
    let mut comparer = Comparer::new(&left, &right);
    comparer.run();
    let mut differences = comparer.found;
    breaking::mark(&mut differences, &left, &right, &left_fails, &right_fails);
    let mut omitted = 0;
    if differences.len() > LISTED {
        // What matters most is listed, in the order in which it was found.
        let kept = most_important(&differences);
        omitted = differences.len() - LISTED;
        let mut keep = kept.into_iter();
        differences.retain(|_| keep.next().unwrap_or(false));
    }
    for difference in &mut differences {
        difference.finish(&left);
    }
    Comparison {
        differences: differences
            .into_iter()
            .map(|found| found.difference)
            .collect(),
        unmatched: volatile.unmatched(|entry| left.hit(entry) || right.hit(entry)),
        omitted,
    }
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

/// A difference that was found, with what is needed to say more of it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) difference: Difference,
    pub(super) left: Option<ItemId>,
    pub(super) right: Option<ItemId>,
    /// Unchanged items around it, on the left.
    before: Vec<ItemId>,
    after: Vec<ItemId>,
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

    fn finish(&mut self, left: &Canonical<'_>) {
        let lines = |ids: &[ItemId]| ids.iter().map(|id| left.line(*id)).collect();
        self.difference.before = lines(&self.before);
        self.difference.after = lines(&self.after);
    }
}

/// Compares two canonical forms.
struct Comparer<'c> {
    left: &'c Canonical<'c>,
    right: &'c Canonical<'c>,
    binding: Binding<'c>,
    found: Vec<Found>,
}

/// Two streams and how they stand side by side.
struct Pairing<'c> {
    left: &'c [ItemId],
    right: &'c [ItemId],
    steps: Vec<Step>,
    /// By step, the step of the other side that has the same thing.
    moved: HashMap<usize, usize>,
    /// Turns that were cancelled on both sides, as left and right.
    cancelled: Vec<(u32, u32)>,
}

impl<'c> Comparer<'c> {
    fn new(left: &'c Canonical<'c>, right: &'c Canonical<'c>) -> Self {
        Self {
            left,
            right,
            binding: Binding::new(&left.minted, &right.minted),
            found: Vec::new(),
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
                        pairings.push(self.pair(&one.items, &other.items));
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

    // ---- alignment

    fn pair(&self, left: &'c [ItemId], right: &'c [ItemId]) -> Pairing<'c> {
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
    fn cancelled(&self, pairing: &Pairing<'c>) -> Vec<(u32, u32)> {
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

    fn item(&self, pairing: &Pairing<'c>, index: usize, on_left: bool) -> Option<&'c Item> {
        if on_left {
            self.left.item(*pairing.left.get(index)?)
        } else {
            self.right.item(*pairing.right.get(index)?)
        }
    }

    /// Binds what was minted: requests and calls that stand beside each other, and all that equal things mention.
    fn bind_pairs(&mut self, pairings: &[Pairing<'c>]) {
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
    fn bind_items(&mut self, left: &Item, right: &Item) -> bool {
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

    // ---- differences

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
            if !forgiven.contains(&index) {
                self.one_sided(pairing, index);
            }
            index += 1;
        }
    }

    /// How many things in a row are on the same side only, from this step on.
    fn run_at(
        &self,
        pairing: &Pairing<'c>,
        index: usize,
        forgiven: &std::collections::HashSet<usize>,
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

    /// Things in flight when a turn was cancelled on both sides: one side may have fewer of them, at the end.
    fn forgiven(&self, pairing: &Pairing<'c>) -> std::collections::HashSet<usize> {
        let mut forgiven = std::collections::HashSet::new();
        if pairing.cancelled.is_empty() {
            return forgiven;
        }
        // By the left turn: the steps at which late things stand on one side only, as long as no pair follows.
        let mut open: HashMap<u32, (Vec<usize>, bool, bool)> = HashMap::new();
        for (index, step) in pairing.steps.iter().enumerate() {
            let item = match *step {
                Step::Left(left) | Step::Both(left, _) => self.item(pairing, left, true),
                Step::Right(right) => self.item(pairing, right, false),
            };
            let Some(item) = item.filter(|item| item.late) else {
                continue;
            };
            let on_right = matches!(step, Step::Right(_));
            let Some((turn, _)) = pairing
                .cancelled
                .iter()
                .find(|(left, right)| item.turn == if on_right { *right } else { *left })
            else {
                continue;
            };
            let entry = open.entry(*turn).or_default();
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

    /// Two calls by their states.
    fn calls(
        &mut self,
        pairing: &Pairing<'c>,
        index: usize,
        left: &'c crate::canon::Call,
        right: &'c crate::canon::Call,
        cut: bool,
    ) {
        let (lefts, rights) = (self.left.states(left), self.right.states(right));
        let keys = |form: &Canonical<'_>, states: &[(ItemId, Node<'_>)]| -> Vec<Keys> {
            states
                .iter()
                .filter_map(|(id, _)| form.item(*id))
                .map(|item| [item.full, item.shape, item.kind])
                .collect()
        };
        let steps = align(&keys(self.left, &lefts), &keys(self.right, &rights));
        let last_pair = steps
            .iter()
            .rposition(|step| matches!(step, Step::Both(..)))
            .map_or(0, |last| last + 1);
        let tail = steps.get(last_pair..).unwrap_or(&[]);
        let one_sided = tail.iter().all(|step| matches!(step, Step::Left(_)))
            || tail.iter().all(|step| matches!(step, Step::Right(_)));
        for (number, step) in steps.iter().enumerate() {
            match *step {
                Step::Both(one, other) => {
                    let (Some((left, one)), Some((right, other))) =
                        (lefts.get(one), rights.get(other))
                    else {
                        continue;
                    };
                    let leaves = Members::compare(
                        self.left,
                        self.right,
                        &mut self.binding,
                        cut,
                        (one, other),
                    );
                    let items = (self.left.item(*left), self.right.item(*right));
                    if let (Some(one), Some(other)) = items {
                        for leaf in leaves {
                            self.leaf(pairing, index, (*left, one), (*right, other), leaf);
                        }
                    }
                }
                _ if cut && one_sided && number >= last_pair => {}
                Step::Left(one) => {
                    if let Some((id, node)) = lefts.get(one) {
                        self.state(pairing, index, *id, node, true);
                    }
                }
                Step::Right(other) => {
                    if let Some((id, node)) = rights.get(other) {
                        self.state(pairing, index, *id, node, false);
                    }
                }
            }
        }
    }

    /// A state of a call that one side alone has.
    fn state(
        &mut self,
        pairing: &Pairing<'c>,
        index: usize,
        id: ItemId,
        node: &Node<'_>,
        on_left: bool,
    ) {
        let form = if on_left { self.left } else { self.right };
        let Some(item) = form.item(id) else {
            return;
        };
        let value = form.shown(node);
        let name = match node.get("status").and_then(Node::text) {
            Some(status) => format!("state `{status}`"),
            None => format!("`{}`", form.line(id)),
        };
        let place = match node.get("status") {
            Some(_) => form.member_place(item, &["status".to_owned()]),
            None => form.place(item),
        };
        self.push(
            pairing,
            index,
            on_left.then_some(id),
            (!on_left).then_some(id),
            Outcome {
                class: Class::Behaviour,
                change: if on_left {
                    Change::Vanished
                } else {
                    Change::Appeared
                },
                place,
                left: on_left.then(|| value.clone()),
                right: (!on_left).then_some(value),
                message: if on_left {
                    format!("the {name} of the call is missing on the right")
                } else {
                    format!("the call has a {name} more on the right")
                },
            },
        );
    }

    fn leaf(
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
        let member = leaf.path.last().map_or("value", String::as_str);
        let message = match leaf.change {
            Change::Changed if leaf.identity && member == "id" => {
                "it answers another request".to_owned()
            }
            Change::Changed if leaf.identity => format!("`{member}` stands for something else"),
            Change::Changed => format!("`{member}` has another value"),
            Change::Appeared => format!("`{member}` is on the right only"),
            Change::Vanished => format!("`{member}` is on the left only"),
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

    /// Something that one side alone has, or that stands elsewhere on the other.
    fn one_sided(&mut self, pairing: &Pairing<'c>, index: usize) {
        let Some(step) = pairing.steps.get(index) else {
            return;
        };
        let (id, form, on_left) = match *step {
            Step::Left(left) => (pairing.left.get(left), self.left, true),
            Step::Right(right) => (pairing.right.get(right), self.right, false),
            Step::Both(..) => return,
        };
        let Some((id, item)) = id.and_then(|id| Some((*id, form.item(*id)?))) else {
            return;
        };
        if let Some(twin) = pairing.moved.get(&index) {
            if on_left {
                self.moved(pairing, index, *twin, id);
            }
            return;
        }
        // What became of the session is said of the session.
        if matches!(item.what, What::NewSession) {
            return;
        }
        let value = self.value(form, item);
        self.push(
            pairing,
            index,
            on_left.then_some(id),
            (!on_left).then_some(id),
            Outcome {
                class: Class::Behaviour,
                change: if on_left {
                    Change::Vanished
                } else {
                    Change::Appeared
                },
                place: form.place(item),
                left: on_left.then(|| value.clone()),
                right: (!on_left).then_some(value),
                message: format!(
                    "this is on the {} only",
                    if on_left { "left" } else { "right" }
                ),
            },
        );
    }

    fn moved(&mut self, pairing: &Pairing<'c>, index: usize, twin: usize, left: ItemId) {
        let right = match pairing.steps.get(twin) {
            Some(Step::Right(right)) => pairing.right.get(*right).copied(),
            _ => None,
        };
        let (Some(one), Some((right, other))) = (
            self.left.item(left),
            right.and_then(|id| Some((id, self.right.item(id)?))),
        ) else {
            return;
        };
        let later = twin > index;
        let value = self.value(self.left, one);
        let other_value = self.value(self.right, other);
        self.push(
            pairing,
            index,
            Some(left),
            Some(right),
            Outcome {
                class: Class::Behaviour,
                change: Change::Moved,
                place: self.left.place(one),
                left: Some(value),
                right: Some(other_value),
                message: format!(
                    "this comes {} on the right",
                    if later { "later" } else { "earlier" }
                ),
            },
        );
    }

    /// Many things in a row that one side alone has.
    fn piece(&mut self, pairing: &Pairing<'c>, index: usize, count: usize) {
        let (on_left, ids) = match pairing.steps.get(index) {
            Some(Step::Left(left)) => (true, pairing.left.get(*left..left + count)),
            Some(Step::Right(right)) => (false, pairing.right.get(*right..right + count)),
            _ => return,
        };
        let ids = ids.unwrap_or(&[]);
        let at_end = index + count == pairing.steps.len();
        self.many(Some((pairing, index)), ids, on_left, at_end);
    }

    fn many(
        &mut self,
        pairing: Option<(&Pairing<'c>, usize)>,
        ids: &[ItemId],
        on_left: bool,
        at_end: bool,
    ) {
        let form = if on_left { self.left } else { self.right };
        let Some((id, item)) = ids.first().and_then(|id| Some((*id, form.item(*id)?))) else {
            return;
        };
        let (this, other) = if on_left {
            ("left", "right")
        } else {
            ("right", "left")
        };
        let count = ids.len();
        let message = if at_end {
            format!("the {other} ends here: {count} more follow on the {this}")
        } else {
            format!("these {count} are on the {this} only")
        };
        let value = list(form, ids);
        let outcome = Outcome {
            class: Class::Behaviour,
            change: if on_left {
                Change::Vanished
            } else {
                Change::Appeared
            },
            place: form.place(item),
            left: on_left.then(|| value.clone()),
            right: (!on_left).then_some(value),
            message,
        };
        let (left, right) = (on_left.then_some(id), (!on_left).then_some(id));
        match pairing {
            Some((pairing, index)) => self.push(pairing, index, left, right, outcome),
            None => self
                .found
                .push(self.found_of(left, right, outcome, Vec::new(), Vec::new())),
        }
    }

    fn lone_session(&mut self, left: Option<usize>, right: Option<usize>) {
        let on_left = left.is_some();
        let form = if on_left { self.left } else { self.right };
        let Some(session) = left
            .or(right)
            .and_then(|session| form.sessions.get(session))
        else {
            return;
        };
        let mut ids: Vec<ItemId> = session.items.clone();
        ids.extend(session.floating.iter().flatten());
        let before = self.found.len();
        self.many(None, &ids, on_left, false);
        let name = form.minted.name(session.id);
        if let Some(found) = self.found.get_mut(before) {
            let side = if on_left { "left" } else { "right" };
            found.difference.message = format!("the session is on the {side} only");
            found.difference.place = name;
        }
    }

    fn ending(&mut self) {
        let ends = (self.left.ending, self.right.ending);
        let abnormal = |exit: Exit| exit != Exit::Code(0);
        let (one, other) = match ends {
            (Some(one), Some(other)) => {
                // An end that the harness forced says nothing about the agent.
                if one.exit == other.exit || one.forced || other.forced {
                    return;
                }
                (Some(one), Some(other))
            }
            (Some(one), None) if !one.forced && (abnormal(one.exit) || self.right.closed) => {
                (Some(one), None)
            }
            (None, Some(other)) if !other.forced && (abnormal(other.exit) || self.left.closed) => {
                (None, Some(other))
            }
            _ => return,
        };
        let message = match (one, other) {
            (Some(_), Some(_)) => "the agent ended otherwise",
            (Some(_), None) => "the agent did not end on the right",
            _ => "the agent did not end on the left",
        };
        let mut found = self.found_of(
            None,
            None,
            Outcome {
                class: Class::Behaviour,
                change: match (one, other) {
                    (Some(_), Some(_)) => Change::Changed,
                    (Some(_), None) => Change::Vanished,
                    _ => Change::Appeared,
                },
                place: "connection · exit".to_owned(),
                left: one.map(|end| end.exit.to_string()),
                right: other.map(|end| end.exit.to_string()),
                message: message.to_owned(),
            },
            Vec::new(),
            Vec::new(),
        );
        found.difference.left_event = one.map(|end| u64::from(end.event));
        found.difference.right_event = other.map(|end| u64::from(end.event));
        self.found.push(found);
    }

    /// An item as it is shown.
    fn value(&self, form: &Canonical<'c>, item: &Item) -> String {
        match &item.what {
            What::Text { text, .. } => shortened(form.minted.named(text)),
            _ => {
                let node = form.node(item);
                let inner = CONTENT.iter().find_map(|path| node.at(path));
                form.shown(inner.unwrap_or(&node))
            }
        }
    }

    fn push(
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

    fn found_of(
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
}

/// What is said of a difference.
struct Outcome {
    class: Class,
    change: Change,
    place: String,
    left: Option<String>,
    right: Option<String>,
    message: String,
}

/// Where the content of a message is, the narrowest first.
const CONTENT: [&[&str]; 4] = [&["params", "update"], &["params"], &["result"], &["error"]];

/// So many of many things are listed by name.
const NAMED: usize = 5;

fn list(form: &Canonical<'_>, ids: &[ItemId]) -> String {
    let mut lines: Vec<String> = ids.iter().take(NAMED).map(|id| form.line(*id)).collect();
    if ids.len() > NAMED {
        lines.push(format!("… {} more", ids.len() - NAMED));
    }
    lines.join("\n")
}

/// The same things that are on the left only in one place and on the right only in another.
fn moved(steps: &[Step], left: &[Keys], right: &[Keys]) -> HashMap<usize, usize> {
    let full = |keys: &[Keys], index: usize| keys.get(index).and_then(|keys| keys.first()).copied();
    let mut lefts: HashMap<u64, std::collections::VecDeque<usize>> = HashMap::new();
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
