//! What one side alone has, or has elsewhere.

use super::align::Step;
use super::compare::Comparer;
use super::difference::{Change, Class};
use super::found::Outcome;
use super::members::shortened;
use super::pairing::Pairing;
use crate::canon::{Canonical, Item, ItemId, What};
use crate::trace::Exit;

/// Where the content of a message is, the narrowest first.
const CONTENT: [&[&str]; 4] = [&["params", "update"], &["params"], &["result"], &["error"]];
/// So many of many things are listed by name.
const NAMED: usize = 5;

impl<'c> Comparer<'c> {
    /// Something that one side alone has, or that stands elsewhere on the other.
    pub(super) fn one_sided(&mut self, pairing: &Pairing<'c>, index: usize) {
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
        // What became of the session is said of the session, and what became of the answer of the call.
        if item.what.is_mark() {
            return;
        }
        if !self.keeps(Class::Behaviour) {
            return;
        }
        let value = self.value(form, item);
        self.push(
            pairing,
            index,
            on_left.then_some(id),
            (!on_left).then_some(id),
            Outcome::of_one_side(
                on_left,
                form.place(item),
                value,
                format!("this is {} only", self.sides.of(on_left).0.at),
            ),
        );
    }

    pub(super) fn moved(&mut self, pairing: &Pairing<'c>, index: usize, twin: usize, left: ItemId) {
        let right = match pairing.steps.get(twin) {
            Some(Step::Right(right)) => pairing.right.get(*right).copied(),
            _ => None,
        };
        let (Some(one), Some(right)) = (self.left.item(left), right) else {
            return;
        };
        if !self.keeps(Class::Behaviour) {
            return;
        }
        let later = twin > index;
        let value = self.value(self.left, one);
        self.push(
            pairing,
            index,
            Some(left),
            Some(right),
            Outcome {
                class: Class::Behaviour,
                change: Change::Moved,
                place: self.left.place(one),
                left: Some(value.clone()),
                right: Some(value),
                message: format!(
                    "this comes {} {}",
                    if later { "later" } else { "earlier" },
                    self.sides.right.at
                ),
            },
        );
    }

    /// Many things in a row that one side alone has.
    pub(super) fn piece(&mut self, pairing: &Pairing<'c>, index: usize, count: usize) {
        let (on_left, ids) = match pairing.steps.get(index) {
            Some(Step::Left(left)) => (true, pairing.left.get(*left..left + count)),
            Some(Step::Right(right)) => (false, pairing.right.get(*right..right + count)),
            _ => return,
        };
        let ids = ids.unwrap_or(&[]);
        let at_end = index + count == pairing.steps.len();
        self.many(Some((pairing, index)), ids, on_left, at_end);
    }

    pub(super) fn many(
        &mut self,
        pairing: Option<(&Pairing<'c>, usize)>,
        ids: &[ItemId],
        on_left: bool,
        at_end: bool,
    ) {
        let form = if on_left { self.left } else { self.right };
        let is_mark = |id: &ItemId| form.item(*id).is_some_and(|item| item.what.is_mark());
        let ids: Vec<ItemId> = ids.iter().filter(|id| !is_mark(id)).copied().collect();
        let ids = ids.as_slice();
        let Some((id, item)) = ids.first().and_then(|id| Some((*id, form.item(*id)?))) else {
            return;
        };
        if !self.keeps(Class::Behaviour) {
            return;
        }
        let (this, other) = self.sides.of(on_left);
        let count = ids.len();
        let message = if at_end {
            format!("{} ends here: {count} more follow {}", other.name, this.at)
        } else {
            format!("these {count} are {} only", this.at)
        };
        let outcome = Outcome::of_one_side(on_left, form.place(item), list(form, ids), message);
        let (left, right) = (on_left.then_some(id), (!on_left).then_some(id));
        match pairing {
            Some((pairing, index)) => self.push(pairing, index, left, right, outcome),
            None => self
                .found
                .push(self.found_of(left, right, outcome, Vec::new(), Vec::new())),
        }
    }

    pub(super) fn lone_session(&mut self, left: Option<usize>, right: Option<usize>) {
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
            let (side, _) = self.sides.of(on_left);
            found.difference.message = format!("the session is {} only", side.at);
            found.difference.place = name;
        }
    }

    pub(super) fn ending(&mut self) {
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
            (Some(_), Some(_)) => "the agent ended otherwise".to_owned(),
            (one, _) => {
                let (_, other) = self.sides.of(one.is_some());
                format!("the agent did not end {}", other.at)
            }
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
                message,
            },
            Vec::new(),
            Vec::new(),
        );
        found.difference.left_event = one.map(|end| u64::from(end.event));
        found.difference.right_event = other.map(|end| u64::from(end.event));
        self.found.push(found);
    }

    /// An item as it is shown.
    pub(super) fn value(&self, form: &Canonical<'c>, item: &Item) -> String {
        match &item.what {
            What::Text { text, .. } => shortened(form.minted.named(text)),
            _ => {
                let node = form.node(item);
                let inner = CONTENT.iter().find_map(|path| node.at(path));
                form.shown(inner.unwrap_or(&node))
            }
        }
    }
}

fn list(form: &Canonical<'_>, ids: &[ItemId]) -> String {
    let mut lines: Vec<String> = ids.iter().take(NAMED).map(|id| form.line(*id)).collect();
    if ids.len() > NAMED {
        lines.push(format!("… {} more", ids.len() - NAMED));
    }
    lines.join("\n")
}
