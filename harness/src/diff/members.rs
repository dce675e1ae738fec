//! Two values member by member.

use std::hash::{Hash as _, Hasher as _};

use super::align::{Keys, Step, align};
use super::binding::Binding;
use super::compare::IN_ONE_PIECE;
use super::difference::Change;
use crate::canon::{Canonical, Node, hasher, same_number};

/// Members by which the elements of a list are told apart.
const NAMES: [&str; 9] = [
    "optionId",
    "id",
    "sessionId",
    "name",
    "group",
    "value",
    "path",
    "uri",
    "type",
];

/// The longest value that is shown in full, in bytes.
const SHOWN: usize = 64 * 1024;

/// One place at which two values differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    /// Names of members, and names or numbers of elements.
    pub(super) path: Vec<String>,
    pub(super) change: Change,
    pub(super) left: Option<String>,
    pub(super) right: Option<String>,
    /// Whether it is a minted value that stands for another thing.
    pub(super) identity: bool,
    /// Whether all that stands there is strings.
    pub(super) is_text: bool,
    /// How many entries of a list it is about; 0 where it is about a value.
    pub(super) entries: usize,
}

/// Compares two values of two traces.
pub(super) struct Members<'m, 'c> {
    pub(super) left: &'m Canonical<'c>,
    pub(super) right: &'m Canonical<'c>,
    pub(super) binding: &'m mut Binding<'c>,
    /// Whether a text may be the beginning of the other.
    pub(super) cut: bool,
    path: Vec<String>,
    found: Vec<Leaf>,
}

impl<'m, 'c> Members<'m, 'c> {
    /// The places at which two values differ.
    pub(super) fn compare(
        left: &'m Canonical<'c>,
        right: &'m Canonical<'c>,
        binding: &'m mut Binding<'c>,
        cut: bool,
        values: (&Node<'_>, &Node<'_>),
    ) -> Vec<Leaf> {
        let mut members = Self {
            left,
            right,
            binding,
            cut,
            path: Vec::new(),
            found: Vec::new(),
        };
        members.values(values.0, values.1);
        members.found
    }

    fn values(&mut self, left: &Node<'_>, right: &Node<'_>) {
        match (left, right) {
            (Node::Object(left), Node::Object(right)) => {
                let (mut lefts, mut rights) = (left.iter().peekable(), right.iter().peekable());
                loop {
                    let order = match (lefts.peek(), rights.peek()) {
                        (Some((one, _)), Some((other, _))) => one.cmp(other),
                        (Some(_), None) => std::cmp::Ordering::Less,
                        (None, Some(_)) => std::cmp::Ordering::Greater,
                        (None, None) => break,
                    };
                    let left = order.is_le().then(|| lefts.next()).flatten();
                    let right = order.is_ge().then(|| rights.next()).flatten();
                    let Some((name, _)) = left.or(right) else {
                        break;
                    };
                    self.path.push(name.clone().into_owned());
                    self.maybe(left.map(|(_, value)| value), right.map(|(_, value)| value));
                    self.path.pop();
                }
            }
            (Node::List(lefts), Node::List(rights)) => self.lists(lefts, rights),
            (Node::Text(one), Node::Text(other)) => {
                let same = self.binding.same_text(one, other)
                    || (self.cut && self.binding.one_begins_other(one, other));
                if !same {
                    self.differ(Some(left), Some(right), false);
                }
            }
            (Node::Number(one), Node::Number(other)) if same_number(one, other) => {}
            (Node::Id(one), Node::Id(other)) => {
                if !self.binding.bind(*one, *other) {
                    self.differ(Some(left), Some(right), true);
                }
            }
            _ if left == right => {}
            _ => self.differ(Some(left), Some(right), false),
        }
    }

    fn maybe(&mut self, left: Option<&Node<'_>>, right: Option<&Node<'_>>) {
        match (left, right) {
            (Some(left), Some(right)) => self.values(left, right),
            _ => self.differ(left, right, false),
        }
    }

    fn lists(&mut self, lefts: &[Node<'_>], rights: &[Node<'_>]) {
        let keys = |form: &Canonical<'_>, items: &[Node<'_>]| -> Vec<Keys> {
            items
                .iter()
                .map(|item| form.keys_of(item, name_of(item)))
                .collect()
        };
        let (left_keys, right_keys) = (keys(self.left, lefts), keys(self.right, rights));
        let steps = align(&left_keys, &right_keys);
        let moved = moved(&steps, &left_keys, &right_keys);
        let alone = |step: &&Step| match step {
            Step::Both(..) => false,
            Step::Left(left) => !moved.iter().any(|pair| pair.0 == *left),
            Step::Right(right) => !moved.iter().any(|pair| pair.1 == *right),
        };
        let (lone_lefts, lone_rights): (Vec<&Step>, Vec<&Step>) = steps
            .iter()
            .filter(alone)
            .partition(|step| matches!(step, Step::Left(_)));
        let in_one = |lone: &[&Step]| lone.len() >= IN_ONE_PIECE;
        for (lone, items) in [(&lone_lefts, lefts), (&lone_rights, rights)] {
            if in_one(lone) {
                self.piece(lone, items);
            }
        }
        for step in &steps {
            if matches!(step, Step::Left(_)) && in_one(&lone_lefts) && alone(&step)
                || matches!(step, Step::Right(_)) && in_one(&lone_rights) && alone(&step)
            {
                continue;
            }
            let (left, right) = match *step {
                Step::Both(left, right) => (Some(left), Some(right)),
                Step::Left(left) => (Some(left), None),
                Step::Right(right) => (None, Some(right)),
            };
            let number = left.or(right).unwrap_or(0) + 1;
            let is_moved = |side: Option<usize>, of: usize| {
                side.is_some_and(|index| {
                    moved
                        .iter()
                        .any(|pair| [pair.0, pair.1].get(of) == Some(&index))
                })
            };
            let one = left.and_then(|index| lefts.get(index));
            let other = right.and_then(|index| rights.get(index));
            let name = one.or(other).and_then(name_of);
            self.path
                .push(name.map_or_else(|| number.to_string(), str::to_owned));
            match (left, right) {
                (Some(left), None) if is_moved(Some(left), 0) => {
                    self.differ(one, one, false);
                    if let Some(leaf) = self.found.last_mut() {
                        leaf.change = Change::Moved;
                    }
                }
                (None, Some(right)) if is_moved(Some(right), 1) => {}
                _ => self.maybe(one, other),
            }
            self.path.pop();
        }
    }

    /// Many entries that one side alone has are one difference.
    fn piece(&mut self, lone: &[&Step], items: &[Node<'_>]) {
        let entry = |step: &&Step| match **step {
            Step::Left(index) | Step::Right(index) => items.get(index),
            Step::Both(..) => None,
        };
        let on_left = matches!(lone.first(), Some(Step::Left(_)));
        let form = if on_left { self.left } else { self.right };
        let texts: Vec<String> = lone
            .iter()
            .filter_map(entry)
            .map(|item| name_of(item).map_or_else(|| form.shown(item), str::to_owned))
            .collect();
        let text = Some(shortened(texts.join(", ")));
        let (change, left, right) = match on_left {
            true => (Change::Vanished, text, None),
            false => (Change::Appeared, None, text),
        };
        self.found.push(Leaf {
            path: self.path.clone(),
            change,
            left,
            right,
            identity: false,
            is_text: lone
                .iter()
                .filter_map(entry)
                .all(|item| matches!(item, Node::Text(_))),
            entries: lone.len(),
        });
    }

    fn differ(&mut self, left: Option<&Node<'_>>, right: Option<&Node<'_>>, identity: bool) {
        self.found.push(Leaf {
            path: self.path.clone(),
            change: match (left, right) {
                (Some(_), None) => Change::Vanished,
                (None, Some(_)) => Change::Appeared,
                _ => Change::Changed,
            },
            left: left.map(|node| self.left.shown(node)),
            right: right.map(|node| match node {
                // By the name of the left trace, so that the two can be told apart.
                Node::Id(reference) => match self.binding.left_of(*reference) {
                    Some(left) => self.left.minted.name(left),
                    None => self.right.shown(node),
                },
                _ => self.right.shown(node),
            }),
            identity,
            is_text: [left, right]
                .into_iter()
                .flatten()
                .all(|node| matches!(node, Node::Text(_))),
            entries: 0,
        });
    }
}

/// So many elements of one list are looked at for having moved.
const MOVED: usize = 100;

/// Elements that are in both lists, but in another order.
fn moved(steps: &[Step], left: &[Keys], right: &[Keys]) -> Vec<(usize, usize)> {
    let lefts = steps.iter().filter_map(|step| match step {
        Step::Left(index) => Some(*index),
        _ => None,
    });
    let mut rights: Vec<usize> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Right(index) => Some(*index),
            _ => None,
        })
        .take(MOVED)
        .collect();
    let mut pairs = Vec::new();
    for index in lefts.take(MOVED) {
        let full = left.get(index).and_then(|keys| keys.first());
        let twin = rights
            .iter()
            .position(|right_index| right.get(*right_index).and_then(|keys| keys.first()) == full);
        if let Some(twin) = twin {
            pairs.push((index, rights.remove(twin)));
        }
    }
    pairs
}

/// What an element of a list is called by one of its members.
fn name_of<'n>(item: &'n Node<'_>) -> Option<&'n str> {
    NAMES.iter().find_map(|name| item.get(name)?.text())
}

impl Canonical<'_> {
    /// What a value is compared by; its kind is its name.
    fn keys_of(&self, node: &Node<'_>, name: Option<&str>) -> Keys {
        let hashes = node.hashes(&self.minted);
        let mut hasher = hasher();
        (std::mem::discriminant(node), name).hash(&mut hasher);
        [hashes.full, hashes.shape, hasher.finish()]
    }

    /// A value for people: the text of a string, else JSON.
    pub(super) fn shown(&self, node: &Node<'_>) -> String {
        let text = match node {
            Node::Text(text) => self.minted.named(text),
            Node::Id(reference) => self.minted.name(*reference),
            other => other.json(&self.minted).to_string(),
        };
        shortened(text)
    }
}

/// A text of bounded length.
pub(super) fn shortened(mut text: String) -> String {
    if text.len() > SHOWN {
        let mut end = SHOWN;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let more = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({more} more bytes)"));
    }
    text
}
