//! What the client was shown of a session, kept for a replay.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The updates of a session in order: a message once with its whole text, a tool call once with
/// its last state, a plan once with its last entries.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shown {
    updates: Vec<Value>,
    /// Where each tool call stands.
    #[serde(skip)]
    calls: HashMap<String, usize>,
}

/// Updates that are no part of a conversation.
const PASSING: [&str; 5] = [
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
];

impl Shown {
    pub(crate) fn updates(&self) -> &[Value] {
        &self.updates
    }

    /// The highest number of a tool call, 0 without any.
    pub(crate) fn last_call(&self) -> u64 {
        self.updates
            .iter()
            .filter_map(|update| {
                let id = update.get("toolCallId")?.as_str()?;
                id.strip_prefix("call_")?.parse().ok()
            })
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// An update was sent.
    pub(crate) fn record(&mut self, update: &Value) {
        let member = |name: &str| update.get(name).and_then(Value::as_str);
        let kind = member("sessionUpdate").unwrap_or_default();
        if PASSING.contains(&kind) {
            return;
        }
        match kind {
            "tool_call_update" => self.change_call(update),
            "plan" => {
                self.updates.retain(|known| kind_of(known) != Some("plan"));
                self.calls.clear();
                self.updates.push(update.clone());
            }
            _ if self.lengthen(kind, update) => {}
            _ => self.updates.push(update.clone()),
        }
    }

    /// Adds a fragment to the message that it belongs to.
    fn lengthen(&mut self, kind: &str, update: &Value) -> bool {
        let Some(last) = self.updates.last_mut() else {
            return false;
        };
        let same = kind_of(last) == Some(kind) && last.get("messageId") == update.get("messageId");
        let more = update.pointer("/content/text").and_then(Value::as_str);
        match (last.pointer_mut("/content/text"), more) {
            (Some(Value::String(text)), Some(more)) if same && kind.ends_with("_chunk") => {
                text.push_str(more);
                true
            }
            _ => false,
        }
    }

    fn change_call(&mut self, update: &Value) {
        let Some(id) = update.get("toolCallId").and_then(Value::as_str) else {
            return;
        };
        let at = self.calls.get(id).copied().or_else(|| {
            self.updates.iter().rposition(|known| {
                kind_of(known) == Some("tool_call")
                    && known.get("toolCallId").and_then(Value::as_str) == Some(id)
            })
        });
        let Some(at) = at else {
            return;
        };
        self.calls.insert(id.to_owned(), at);
        let call = self.updates.get_mut(at).and_then(Value::as_object_mut);
        let (Some(call), Some(changes)) = (call, update.as_object()) else {
            return;
        };
        apply(call, changes);
    }
}

fn apply(call: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, value) in changes {
        if name != "sessionUpdate" {
            call.insert(name.clone(), value.clone());
        }
    }
}

fn kind_of(update: &Value) -> Option<&str> {
    update.get("sessionUpdate").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chunk(id: &str, text: &str) -> Value {
        json!({
            "sessionUpdate": "agent_message_chunk",
            "messageId": id,
            "content": {"type": "text", "text": text},
        })
    }

    #[test]
    fn a_message_a_call_and_a_plan_are_kept_once_with_their_last_state() {
        let mut shown = Shown::default();
        let plan = |status: &str| json!({"sessionUpdate": "plan", "entries": [{"content": "a", "status": status}]});
        for update in [
            chunk("1", "a"),
            chunk("1", "b"),
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "status": "pending"}),
            plan("pending"),
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 0}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "other", "status": "failed"}),
            plan("completed"),
            chunk("2", "c"),
        ] {
            shown.record(&update);
        }
        assert_eq!(
            shown.updates(),
            [
                chunk("1", "ab"),
                json!({"sessionUpdate": "tool_call", "toolCallId": "c", "status": "failed"}),
                plan("completed"),
                chunk("2", "c"),
            ]
        );
    }
}
