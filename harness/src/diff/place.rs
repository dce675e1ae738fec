//! Where something is, and what it is, in words.

use crate::canon::{Canonical, FLOATING, Item, ItemId, Node, What};
use crate::trace::Party;

/// Between the parts of a place.
const DOT: &str = " · ";

/// The longest quotation in a line, in characters.
const QUOTED: usize = 60;

/// Members that hold the members of a message and say nothing themselves.
const ENVELOPE: [&str; 3] = ["params", "update", "result"];

impl Canonical<'_> {
    /// The place of an item, as `session-1 · turn 2 · tool-1`.
    pub(super) fn place(&self, item: &Item) -> String {
        let mut parts = Vec::new();
        match item
            .session
            .and_then(|session| self.sessions.get(session as usize))
        {
            Some(session) => {
                parts.push(self.minted.name(session.id));
                // A state update stands in no turn: it may come in any.
                if item.turn > 0 && !self.is_floating(item) {
                    parts.push(format!("turn {}", item.turn));
                }
            }
            None => parts.push("connection".to_owned()),
        }
        if let Some(call) = self.call_of(item) {
            parts.push(self.minted.name(call.id));
        }
        let what = match &item.what {
            What::Call(_) => return parts.join(DOT),
            What::Step(_) => match self.question(item) {
                Some(question) => question,
                None => return parts.join(DOT),
            },
            What::Text { .. } => self.spoken(item).to_owned(),
            What::Line => "line that is no message".to_owned(),
            _ => {
                let name = self.kind_name(item);
                name.strip_prefix("session/update ")
                    .unwrap_or(name)
                    .to_owned()
            }
        };
        parts.push(what);
        parts.join(DOT)
    }

    fn is_floating(&self, item: &Item) -> bool {
        let name = self.kind_name(item);
        name.strip_prefix("session/update ")
            .is_some_and(|kind| FLOATING.contains(&kind))
    }

    /// The place of a member of an item.
    pub(super) fn member_place(&self, item: &Item, path: &[String]) -> String {
        let mut place = self.place(item);
        let mut steps = path;
        if !matches!(item.what, What::Step(_)) || self.question(item).is_some() {
            while let [first, rest @ ..] = steps
                && ENVELOPE.contains(&first.as_str())
                && !rest.is_empty()
            {
                steps = rest;
            }
        }
        // The text of a message is the message.
        if matches!(item.what, What::Text { .. }) && steps == ["content", "text"] {
            steps = &[];
        }
        for step in steps {
            place.push_str(DOT);
            place.push_str(step);
        }
        place
    }

    /// What a step of a call is, where it is no state: the question about it or the answer.
    fn question(&self, item: &Item) -> Option<String> {
        let message = self.raw(item.event)?;
        match message.get("method").and_then(Node::text) {
            Some("session/update") => None,
            Some(method) => Some(method.to_owned()),
            None => Some("session/request_permission response".to_owned()),
        }
    }

    /// The kind of message that a step of a call is, as the table of classes has it.
    pub(super) fn class_kind(&self, item: &Item) -> String {
        match &item.what {
            What::Step(_) => self
                .question(item)
                .unwrap_or_else(|| "tool call state".to_owned()),
            _ => self.kind_name(item).to_owned(),
        }
    }

    fn spoken(&self, item: &Item) -> &'static str {
        match self.kind_name(item) {
            "session/update agent_message_chunk" => "agent message",
            "session/update agent_thought_chunk" => "agent thought",
            _ => "user message",
        }
    }

    /// One line that tells an item from its neighbours.
    pub(super) fn line(&self, id: ItemId) -> String {
        let Some(item) = self.item(id) else {
            return String::new();
        };
        let what = match &item.what {
            What::Text { text, .. } => format!("{} {}", self.spoken(item), quoted(text)),
            What::Call(call) => {
                let steps = self
                    .calls
                    .get(*call as usize)
                    .map_or(0, |call| call.steps.len());
                let states = if steps == 1 {
                    "1 state".to_owned()
                } else {
                    format!("{steps} states")
                };
                let name = self
                    .call_of(item)
                    .map_or_else(String::new, |call| self.minted.name(call.id));
                format!("{name} {}({states})", self.gist(item))
            }
            What::Step(_) => {
                let question = self.question(item).unwrap_or_else(|| "state".to_owned());
                format!("{question} {}", self.gist(item))
            }
            What::Line | What::Stderr => format!("{} {}", self.kind_name(item), self.gist(item)),
            What::NewSession | What::Answered => self.kind_name(item).to_owned(),
            What::Message(_) => {
                let name = self.kind_name(item);
                let name = name.strip_prefix("session/update ").unwrap_or(name);
                format!("{name} {}", self.gist(item))
            }
        };
        let speaker = match item.from {
            Party::Client => "client",
            Party::Agent => "agent",
            Party::Model => "model",
            Party::Harness => "harness",
        };
        format!("{speaker}: {}", what.trim_end())
    }

    /// What an item is mostly about, with a space behind it; empty where there is nothing to quote.
    fn gist(&self, item: &Item) -> String {
        let node = match item.what {
            What::Step(_) => self.raw(item.event).unwrap_or(Node::Null),
            _ => self.node(item),
        };
        const PLACES: [&[&str]; 13] = [
            &["title"],
            &["result", "stopReason"],
            &["result", "outcome", "optionId"],
            &["result", "outcome", "outcome"],
            &["result", "action"],
            &["error", "message"],
            &["params", "update", "status"],
            &["params", "update", "title"],
            &["params", "update", "currentModeId"],
            &["params", "path"],
            &["params", "command"],
            &["params", "modeId"],
            &["params", "toolCall", "title"],
        ];
        let text = match &node {
            Node::Text(text) => Some(text.as_ref()),
            node => PLACES
                .iter()
                .find_map(|place| node.at(place)?.text())
                .or_else(|| match node.at(&["params", "prompt"])? {
                    Node::List(blocks) => blocks.iter().find_map(|block| block.get("text")?.text()),
                    _ => None,
                }),
        };
        text.map_or_else(String::new, |text| {
            format!("{} ", quoted(&self.minted.named(text)))
        })
    }
}

/// The start of a text in quotation marks.
fn quoted(text: &str) -> String {
    let mut short: String = text
        .chars()
        .map(|c| if c == '\n' { '↵' } else { c })
        .take(QUOTED)
        .collect();
    if text.chars().nth(QUOTED).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}
