//! What a filter learns from what passes: which requests are open, and what texts may name.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::message;
use super::selector::Sort;
use super::template::{self, Places};

/// A message, and how selectors know it.
#[derive(Debug)]
pub(super) struct Passing {
    pub(super) sort: Sort,
    pub(super) name: String,
    pub(super) value: Value,
    /// The request of the client's that it answers, as it came; null if it answers none.
    pub(super) request: Value,
}

impl Passing {
    fn new(sort: Sort, name: String, value: Value) -> Self {
        Self {
            sort,
            name,
            value,
            request: Value::Null,
        }
    }

    /// A moment that has no message.
    pub(super) fn at(sort: Sort) -> Self {
        Self::new(sort, String::new(), Value::Null)
    }

    /// A chunk of text as many chunks of a character each.
    pub(super) fn by_character(self) -> Vec<Self> {
        const TEXT: &str = "/params/update/content/text";
        let text = self.value.pointer(TEXT).and_then(Value::as_str);
        let Some(text) = text.filter(|text| !text.is_empty()).map(str::to_owned) else {
            return vec![self];
        };
        text.chars()
            .map(|c| {
                let mut value = self.value.clone();
                message::set(&mut value, TEXT, c.to_string().into());
                Self::new(self.sort, self.name.clone(), value)
            })
            .collect()
    }
}

/// What is known of the connection.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The client's open requests by their ids as JSON: the method, and the message.
    open: HashMap<String, (String, Value)>,
    /// The agent's open requests: id as JSON, and method.
    asked: HashMap<String, String>,
    /// Ids that were given to the agent's requests, and their own ones.
    renumbered: HashMap<String, VecDeque<Value>>,
    sessions: Vec<String>,
    pub(super) places: Places,
}

impl Known {
    pub(super) fn new() -> Self {
        let here = std::env::current_dir();
        Self {
            places: Places {
                here: here
                    .map(|folder| folder.display().to_string())
                    .unwrap_or_default(),
                ..Places::default()
            },
            ..Self::default()
        }
    }

    /// Whether a request of the client's with this method is open.
    pub(super) fn is_open(&self, method: &str) -> bool {
        self.open.values().any(|(open, _)| open == method)
    }

    /// Gives a request of the agent's another id.
    pub(super) fn renumber(&mut self, id: &str, passing: &mut Passing) {
        let given = serde_json::from_str::<Value>(&template::fill(id, &self.places));
        if let (Ok(given), Some(id)) = (given, passing.value.get_mut("id")) {
            let own = std::mem::replace(id, given.clone());
            let own_ones = self.renumbered.entry(given.to_string()).or_default();
            own_ones.push_back(own);
        }
    }

    /// Learns from a message of the agent's.
    pub(super) fn going_out(&mut self, value: Value) -> Passing {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        let id = value.get("id").map(Value::to_string);
        let method = text("/method").unwrap_or_default().to_owned();
        if let Some(session) = text("/params/sessionId") {
            self.of_session(session);
        }
        if let Some(call) = text("/params/update/toolCallId") {
            self.places.call = call.to_owned();
        }
        if let Some(terminal) = text("/params/terminalId") {
            self.places.terminal = terminal.to_owned();
        }
        let (id, method) = match (id, method.as_str()) {
            (None, "session/update") => {
                let kind = text("/params/update/sessionUpdate").unwrap_or_default();
                let kind = kind.to_owned();
                return Passing::new(Sort::Update, kind, value);
            }
            (None, _) => return Passing::new(Sort::Notification, method, value),
            (Some(id), _) => (id, method),
        };
        if !method.is_empty() {
            self.places.request.clone_from(&id);
            self.asked.insert(id, method.clone());
            return Passing::new(Sort::Request, method, value);
        }
        let (asked, request) = self.open.remove(&id).unwrap_or_default();
        self.places.id = id;
        if let Some(session) = text("/result/sessionId") {
            let session = session.to_owned();
            self.sessions.push(session.clone());
            self.of_session(&session);
        }
        let sort = match value.get("error") {
            None => Sort::Answer,
            Some(_) => Sort::Error,
        };
        // An answer does not say its session, and is about the one that was asked about.
        if let Some(session) = request.pointer("/params/sessionId").and_then(Value::as_str) {
            self.of_session(session);
        }
        let mut passing = Passing::new(sort, asked, value);
        passing.request = request;
        passing
    }

    fn of_session(&mut self, session: &str) {
        session.clone_into(&mut self.places.session);
        let other = self.sessions.iter().rev().find(|known| *known != session);
        self.places.other = other.cloned().unwrap_or_else(|| session.to_owned());
    }

    /// Learns from a message of the client's.
    pub(super) fn coming_in(&mut self, mut value: Value) -> Passing {
        let id = value.get("id").map(Value::to_string);
        let method = value.get("method").and_then(Value::as_str);
        let method = method.unwrap_or_default().to_owned();
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        if let Some(cwd) = text("/params/cwd") {
            cwd.clone_into(&mut self.places.cwd);
        }
        match (id, method.as_str()) {
            (None, _) => Passing::new(Sort::Told, method, value),
            (Some(id), "") => {
                let own = self.renumbered.get_mut(&id).and_then(VecDeque::pop_front);
                let id = match own {
                    Some(own) => {
                        let id = own.to_string();
                        message::set(&mut value, "/id", own);
                        id
                    }
                    None => id,
                };
                let asked = self.asked.remove(&id).unwrap_or_default();
                Passing::new(Sort::Answered, asked, value)
            }
            (Some(id), _) => {
                self.places.id.clone_from(&id);
                self.open.insert(id, (method.clone(), value.clone()));
                Passing::new(Sort::Asked, method, value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_of_the_session_that_was_asked_about_and_knows_its_request() {
        let mut known = Known::new();
        let request =
            json!({"id": 1, "method": "session/load", "params": {"sessionId": "a", "cwd": "/x"}});
        known.coming_in(request.clone());
        assert!(known.is_open("session/load"));
        let update = json!({"method": "session/update", "params": {"sessionId": "b", "update": {"sessionUpdate": "plan"}}});
        assert_eq!(known.going_out(update).name, "plan");
        let answer = known.going_out(json!({"id": 1, "result": {}}));
        assert_eq!(
            (answer.sort, answer.name.as_str()),
            (Sort::Answer, "session/load")
        );
        assert_eq!(answer.request, request);
        assert_eq!(
            (known.places.session.as_str(), known.places.cwd.as_str()),
            ("a", "/x")
        );
        assert!(!known.is_open("session/load"));
    }

    #[test]
    fn a_request_of_the_agents_can_be_named_later() {
        let mut known = Known::new();
        let request =
            json!({"id": "r", "method": "terminal/output", "params": {"terminalId": "t"}});
        assert_eq!(known.going_out(request).sort, Sort::Request);
        assert_eq!(
            (
                known.places.request.as_str(),
                known.places.terminal.as_str()
            ),
            ("\"r\"", "t")
        );
        assert_eq!(
            known.coming_in(json!({"id": "r", "result": {}})).name,
            "terminal/output"
        );
    }
}
