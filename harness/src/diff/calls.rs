//! Two tool calls by their states.

use super::align::{Keys, Step, align};
use super::compare::Comparer;
use super::difference::{Change, Class};
use super::found::Outcome;
use super::members::{Leaf, Members};
use super::pairing::Pairing;
use crate::canon::{Call, Canonical, ItemId, Node};
use crate::hash::HashSet;

/// What a difference within a call says, wherever the message has the call.
#[derive(PartialEq, Eq, Hash)]
struct Told {
    path: Vec<String>,
    change: Change,
    left: Option<String>,
    right: Option<String>,
}

impl Told {
    fn of(leaf: &Leaf) -> Self {
        let at = leaf
            .path
            .iter()
            .rposition(|step| matches!(step.as_str(), "update" | "toolCall"))
            .map_or(0, |at| at + 1);
        Self {
            path: leaf.path.get(at..).unwrap_or_default().to_vec(),
            change: leaf.change,
            left: leaf.left.clone(),
            right: leaf.right.clone(),
        }
    }
}

impl<'c> Comparer<'c> {
    /// Two calls by their states.
    pub(super) fn calls(
        &mut self,
        pairing: &Pairing<'c>,
        index: usize,
        left: &'c Call,
        right: &'c Call,
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
        let mut told = HashSet::default();
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
                            // A question tells what the call told before: that is one difference.
                            let is_told = !told.insert(Told::of(&leaf));
                            if !(is_told && leaf.path.iter().any(|step| step == "toolCall")) {
                                self.leaf(pairing, index, (*left, one), (*right, other), leaf);
                            }
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
    pub(super) fn state(
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
        if !self.keeps(Class::Behaviour) {
            return;
        }
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
            Outcome::of_one_side(
                on_left,
                place,
                value,
                if on_left {
                    format!("the {name} of the call is missing {}", self.sides.right.at)
                } else {
                    format!("the call has a {name} more {}", self.sides.right.at)
                },
            ),
        );
    }
}
