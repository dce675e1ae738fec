//! A tool call as the sequence of its states: what an update changes, and what it only says again.

use std::borrow::Cow;

use super::minted::Minted;
use super::node::Node;
use crate::hash::HashMap;

/// What a new call has unless it says otherwise.
const AT_FIRST: [(&str, &str); 2] = [("kind", "other"), ("status", "pending")];
/// Lists that are empty at first.
const EMPTY_AT_FIRST: [&str; 2] = ["content", "locations"];

/// What is known of a call so far: each member by the hash of its value.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    members: HashMap<Box<str>, u64>,
    ended: bool,
}

impl State {
    /// Whether a last state was reached.
    pub(crate) const fn ended(&self) -> bool {
        self.ended
    }

    /// Takes an update in and gives what it changes; `None` where it only says again what is known.
    pub(crate) fn advance<'a>(&mut self, update: Node<'a>, minted: &Minted) -> Option<Node<'a>> {
        let Node::Object(mut members) = update else {
            return None;
        };
        let starts = members
            .iter()
            .any(|(name, value)| name == "sessionUpdate" && value.text() == Some("tool_call"));
        if starts {
            for (name, word) in AT_FIRST {
                if !members.iter().any(|(member, _)| member == name) {
                    members.push((name.into(), Node::Text(Cow::Borrowed(word))));
                }
            }
            if self.members.is_empty() {
                let empty = Node::List(Vec::new()).hashes(minted).full;
                for name in EMPTY_AT_FIRST {
                    self.members.insert(name.into(), empty);
                }
            }
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
        }
        let first = self.members.is_empty();
        if let Some((_, status)) = members.iter().find(|(name, _)| name == "status") {
            self.ended = matches!(status.text(), Some("completed" | "failed"));
        }
        let mut changes = false;
        members.retain(|(name, value)| {
            if name == "sessionUpdate" {
                return starts || first;
            }
            let hash = value.hashes(minted).full;
            let changed = self.members.insert(name.as_ref().into(), hash) != Some(hash);
            changes |= changed;
            changed
        });
        changes.then_some(Node::Object(members))
    }
}

/// The update about a tool call in a message.
pub(crate) fn update_of<'n, 'a>(message: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let update = message.at(&["params", "update"])?;
    matches!(
        update.get("sessionUpdate")?.text()?,
        "tool_call" | "tool_call_update"
    )
    .then_some(update)
}

/// The update of a message, taken out of it.
pub(crate) fn into_update(mut message: Node<'_>) -> Option<Node<'_>> {
    let update = message.get_mut("params")?.get_mut("update")?;
    Some(std::mem::replace(update, Node::Null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn states(updates: &[serde_json::Value]) -> Vec<serde_json::Value> {
        let minted = Minted::new();
        let mut state = State::default();
        updates
            .iter()
            .filter_map(|update| state.advance(Node::from(update.clone()), &minted))
            .map(|node| node.json(&minted))
            .collect()
    }

    #[test]
    fn an_update_counts_by_what_it_changes() {
        assert_eq!(
            states(&[
                json!({"sessionUpdate":"tool_call","title":"ls"}),
                json!({"sessionUpdate":"tool_call_update","status":"pending","title":"ls"}),
                json!({"sessionUpdate":"tool_call_update","status":"in_progress","title":"ls"}),
                json!({"sessionUpdate":"tool_call_update","status":"in_progress"}),
                json!({"sessionUpdate":"tool_call_update","content":[]}),
                json!({"sessionUpdate":"tool_call_update","status":"completed"}),
            ]),
            [
                json!({"kind":"other","sessionUpdate":"tool_call","status":"pending","title":"ls"}),
                json!({"status":"in_progress"}),
                json!({"status":"completed"}),
            ]
        );
    }

    #[test]
    fn a_call_that_begins_with_an_update_says_so() {
        assert_eq!(
            states(&[json!({"sessionUpdate":"tool_call_update","status":"in_progress"})]),
            [json!({"sessionUpdate":"tool_call_update","status":"in_progress"})]
        );
    }
}
