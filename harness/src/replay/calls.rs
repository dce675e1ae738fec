//! The tool calls of a conversation with what has been told of each, so that a request about one can be compared.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The members of a tool call that tell what it does.
const TELLING: [&str; 5] = ["kind", "title", "rawInput", "locations", "content"];

/// What is known of tool calls, by session and id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    known: HashMap<(Option<String>, String), Map<String, Value>>,
}

impl Calls {
    /// Takes an update of a session in; gives the call's id where it is new.
    pub(crate) fn note(&mut self, session: Option<&str>, update: &Value) -> Option<Value> {
        let kind = update.get("sessionUpdate").and_then(Value::as_str)?;
        if !matches!(kind, "tool_call" | "tool_call_update") {
            return None;
        }
        let id = update.get("toolCallId")?;
        let key = (session.map(str::to_owned), id.to_string());
        let is_new = !self.known.contains_key(&key) || kind == "tool_call";
        let known = self.known.entry(key).or_default();
        if kind == "tool_call" {
            known.clear();
        }
        tell(known, update);
        is_new.then(|| id.clone())
    }

    /// What is known of a call.
    pub(crate) fn get(&self, session: Option<&str>, id: &Value) -> Option<&Map<String, Value>> {
        self.known
            .get(&(session.map(str::to_owned), id.to_string()))
    }

    /// The parameters of a request with what is known of the tool call that it is about.
    pub(crate) fn completed(&self, session: Option<&str>, params: &Value) -> Value {
        let mut params = params.clone();
        if let Some(call) = params.get_mut("toolCall").and_then(Value::as_object_mut)
            && let Some(known) = call.get("toolCallId").and_then(|id| self.get(session, id))
        {
            for (name, value) in known {
                if call.get(name).is_none_or(Value::is_null) {
                    call.insert(name.clone(), value.clone());
                }
            }
        }
        params
    }
}

fn tell(known: &mut Map<String, Value>, update: &Value) {
    for name in TELLING {
        if let Some(value) = update.get(name).filter(|value| !value.is_null()) {
            known.insert(name.to_owned(), value.clone());
        }
    }
}

/// A tool call of the recording.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedCall {
    /// Its id.
    pub(crate) id: Value,
    /// Its kind when it began.
    pub(crate) kind: Option<String>,
    /// Its title when it began.
    pub(crate) title: Option<String>,
}

impl RecordedCall {
    /// Reads the update that began it.
    pub(crate) fn of(id: Value, update: &Value) -> Self {
        let text = |name: &str| update.get(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            id,
            kind: text("kind"),
            title: text("title"),
        }
    }
}

/// The tool calls of a recording by the turn that they belong to, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallList {
    turns: HashMap<usize, Vec<RecordedCall>>,
}

impl CallList {
    /// Adds a call to a turn.
    pub(crate) fn add(&mut self, turn: usize, call: RecordedCall) {
        self.turns.entry(turn).or_default().push(call);
    }

    /// Takes the call out that fits one of the same turn best: kind and title, else the kind.
    pub(crate) fn take(&mut self, turn: usize, live: &RecordedCall) -> Option<RecordedCall> {
        let calls = self.turns.get_mut(&turn)?;
        let same_kind = |call: &&RecordedCall| call.kind == live.kind;
        let place = calls
            .iter()
            .position(|call| call.kind == live.kind && call.title == live.title)
            .or_else(|| calls.iter().position(|call| same_kind(&call)))?;
        Some(calls.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_completed_by_what_the_updates_told_before() {
        let mut calls = Calls::default();
        let update = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "edit", "title": "Edit"});
        assert_eq!(calls.note(Some("s"), &update), Some(json!("c")));
        let more =
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Edit a.txt"});
        assert_eq!(calls.note(Some("s"), &more), None);
        let params = json!({"toolCall": {"toolCallId": "c", "kind": "other"}});
        assert_eq!(
            calls.completed(Some("s"), &params),
            json!({"toolCall": {"toolCallId": "c", "kind": "other", "title": "Edit a.txt"}})
        );
        assert_eq!(calls.completed(Some("t"), &params), params);
    }

    #[test]
    fn a_call_is_taken_by_kind_and_title_before_its_kind_alone() {
        let call = |id: &str, title: &str| {
            RecordedCall::of(json!(id), &json!({"kind": "read", "title": title}))
        };
        let mut list = CallList::default();
        list.add(0, call("a", "x"));
        list.add(0, call("b", "y"));
        assert_eq!(list.take(0, &call("1", "y")), Some(call("b", "y")));
        assert_eq!(list.take(0, &call("2", "z")), Some(call("a", "x")));
        assert_eq!(list.take(0, &call("3", "x")), None);
        assert_eq!(list.take(1, &call("3", "x")), None);
    }
}
