//! A canonical form as a trace again: the one that stands for all traces of the same behaviour.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::canonical::Canonical;
use super::item::{Item, ItemId, What};
use super::minted::{Reference, Scope};
use super::node::Node;
use crate::hash::HashMap;
use crate::trace::{Body, Event, Header, Party, Recording};

impl Canonical<'_> {
    /// The canonical form as a trace: streams one after the other, chunks joined, values by their names.
    ///
    /// The canonical form of the outcome is the outcome.
    #[must_use]
    pub fn to_recording(&self) -> Recording {
        let mut writer = Writer {
            form: self,
            events: Vec::new(),
            names: HashMap::default(),
            counts: HashMap::default(),
        };
        writer.all();
        Recording {
            header: Header {
                start: self.recording.header.start,
                ..Header::new()
            },
            events: writer.events,
            damage: Vec::new(),
        }
    }
}

struct Writer<'w, 'c> {
    form: &'w Canonical<'c>,
    events: Vec<Event>,
    names: HashMap<Reference, String>,
    counts: HashMap<(&'static str, Option<Reference>), u32>,
}

impl Writer<'_, '_> {
    fn all(&mut self) {
        let form = self.form;
        let mut created: BTreeMap<u32, Vec<ItemId>> = BTreeMap::new();
        for (number, session) in form.sessions.iter().enumerate() {
            let Ok(number) = u32::try_from(number) else {
                continue;
            };
            let new = |id: &&ItemId| {
                form.item(**id).is_some_and(|item| {
                    matches!(form.kind_name(item), "session/new" | "session/new response")
                })
            };
            created.insert(number, session.items.iter().filter(new).copied().collect());
        }
        let mut order: Vec<u32> = Vec::new();
        let mut begun: BTreeSet<u32> = BTreeSet::new();
        for id in &form.connection {
            let Some(item) = form.item(*id) else {
                continue;
            };
            match (&item.what, item.session) {
                (What::NewSession, Some(session)) => {
                    for id in created.get(&session).into_iter().flatten() {
                        self.item(*id);
                    }
                    order.push(session);
                    begun.insert(session);
                }
                _ => self.item(*id),
            }
        }
        let others = created.keys().filter(|number| !begun.contains(*number));
        let others: Vec<u32> = others.copied().collect();
        order.extend(others);
        for number in order {
            let Some(session) = form.sessions.get(number as usize) else {
                continue;
            };
            let done = created.get(&number).map_or(&[][..], Vec::as_slice);
            for id in session.items.iter().filter(|id| !done.contains(id)) {
                self.item(*id);
            }
            for id in session.floating.iter().flatten() {
                self.item(*id);
            }
        }
        self.ending();
    }

    fn item(&mut self, id: ItemId) {
        let form = self.form;
        let Some(item) = form.item(id) else {
            return;
        };
        match &item.what {
            What::Call(call) => {
                let Some(call) = form.calls.get(*call as usize) else {
                    return;
                };
                for (id, node) in form.states(call) {
                    if let Some(step) = form.item(id) {
                        let value = self.json(&node);
                        let is_message = node.get("method").is_some()
                            || node.get("result").is_some()
                            || node.get("error").is_some();
                        let session = form.context_session(step);
                        let message = if is_message {
                            value
                        } else {
                            self.update(value, session, call.id)
                        };
                        self.message(step, &message);
                    }
                }
            }
            // It was written with its call.
            What::Answered => {}
            What::Line => {
                let text = match self.json(&form.node(item)) {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                self.push(item.from, Body::of_line(text.into_bytes(), false));
            }
            What::Stderr => {
                if let Value::String(text) = self.json(&form.node(item)) {
                    self.push(item.from, Body::Stderr(text.into_bytes()));
                }
            }
            _ => {
                let value = self.json(&form.node(item));
                self.message(item, &value);
            }
        }
    }

    /// What a state of a call changes, as the update that says so.
    fn update(&mut self, value: Value, session: Option<Reference>, call: Reference) -> Value {
        let mut update = Map::new();
        update.insert("sessionUpdate".to_owned(), "tool_call_update".into());
        update.insert("toolCallId".to_owned(), self.name(call).into());
        if let Value::Object(members) = value {
            update.extend(members);
        }
        let session = session.map(|session| self.name(session));
        json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": session, "update": update}})
    }

    fn message(&mut self, item: &Item, message: &Value) {
        let text = message.to_string();
        self.push(
            item.from,
            Body::Message {
                text,
                partial: false,
            },
        );
    }

    fn push(&mut self, from: Party, body: Body) {
        #[expect(clippy::cast_precision_loss, reason = "far from where it matters")]
        let at = self.events.len() as f64;
        self.events.push(Event::new(at, from, body));
    }

    fn json(&mut self, node: &Node<'_>) -> Value {
        let minted = &self.form.minted;
        let (names, counts) = (&mut self.names, &mut self.counts);
        node.json_with(minted, &mut |reference| {
            name(minted, names, counts, reference)
        })
    }

    fn name(&mut self, reference: Reference) -> String {
        name(
            &self.form.minted,
            &mut self.names,
            &mut self.counts,
            reference,
        )
    }

    fn ending(&mut self) {
        if self.form.closed {
            self.push(Party::Client, Body::Eof);
        }
        if let Some(ending) = self.form.ending {
            if ending.forced {
                self.push(Party::Harness, Body::Signal(15));
            }
            self.push(Party::Agent, Body::Exit(ending.exit));
        }
    }
}

/// The name of a value by the order in which the values of its kind are written.
fn name(
    minted: &super::minted::Minted,
    names: &mut HashMap<Reference, String>,
    counts: &mut HashMap<(&'static str, Option<Reference>), u32>,
    reference: Reference,
) -> String {
    if let Some(name) = names.get(&reference) {
        return name.clone();
    }
    let series = minted.series(reference).map(|(word, scope)| match scope {
        Scope::Connection => (word, None),
        Scope::Session(session) => (word, Some(session)),
    });
    let Some(series) = series else {
        return String::new();
    };
    let count = counts.entry(series).or_default();
    *count += 1;
    let name = minted.numbered(reference, *count);
    names.insert(reference, name.clone());
    name
}

impl Canonical<'_> {
    fn context_session(&self, item: &Item) -> Option<Reference> {
        let session = self.sessions.get(item.session? as usize)?;
        Some(session.id)
    }
}
