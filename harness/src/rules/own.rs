//! Whether the harness itself keeps to the protocol: the shape of what it sends as a client.
//!
//! An agent that answers a malformed request with an error is right, so a fault here must not become a finding about the
//! agent. What a scenario sends to provoke is marked as a probe and is not looked at.

use serde_json::Value;

use super::quote::quote;
use crate::hash::HashMap;
use crate::spec::{Methods, Schema, Side};
use crate::trace::{Event, Party};
use crate::wire::{Id, Kind, Reading};

/// Reads along what the harness sends, and keeps what breaks the schema. Bounded by the requests of the agent that are
/// open, and by [`TOLD`].
#[derive(Debug, Default)]
pub struct OwnMessages {
    /// The methods of the agent's requests that have no answer yet.
    asked: HashMap<Id, String>,
    faults: Vec<String>,
}

/// So many faults are told.
const TOLD: usize = 5;

impl OwnMessages {
    /// Sees the event with this number, and what its line holds.
    pub fn see(&mut self, index: u64, event: &Event, reading: Option<&Reading>) {
        let Some(message) = reading.and_then(Reading::message) else {
            return;
        };
        match (event.from, message.kind()) {
            (Party::Agent, Kind::Request { id, method }) => {
                self.asked.insert(id.clone(), method.to_owned());
            }
            (Party::Client, Kind::Response { id }) => {
                let asked = self.asked.remove(id);
                if event.probe.is_some() || message.error().is_some() {
                    return;
                }
                let Some(method) = asked else { return };
                let Some(known) = Methods::v1().get(&method) else {
                    return;
                };
                if let Some(definition) = known.result.as_deref() {
                    let value = message.result().unwrap_or(&Value::Null);
                    self.judge(index, ("/result", definition), value, &method);
                }
            }
            (Party::Client, Kind::Request { method, .. } | Kind::Notification { method })
                if event.probe.is_none() =>
            {
                let Some(known) = Methods::v1().get(method) else {
                    return;
                };
                if known.called_by(Side::Client) {
                    let value = message.params().unwrap_or(&Value::Null);
                    self.judge(index, ("/params", &known.params), value, method);
                }
            }
            _ => {}
        }
    }

    fn judge(&mut self, index: u64, part: (&str, &str), value: &Value, method: &str) {
        let (member, definition) = part;
        for violation in Schema::v1().violations(definition, value) {
            if violation.later.is_none() && self.faults.len() < TOLD {
                self.faults.push(format!(
                    "the harness's own message at event {index} breaks the schema: {} at {member}{}: {} (what is sent so on purpose is marked with `probe` in its step)",
                    quote(method),
                    violation.path,
                    violation.message
                ));
            }
        }
    }

    /// What was found, a sentence each: at most five.
    #[must_use]
    pub fn into_faults(self) -> Vec<String> {
        self.faults
    }
}

#[cfg(test)]
mod tests {
    use super::super::talking::{OPENING, events};
    use super::*;

    fn faults(lines: &str) -> Vec<String> {
        let mut own = OwnMessages::default();
        for (index, event) in events(&format!("{OPENING}\n{lines}")).iter().enumerate() {
            own.see(index as u64, event, event.body.reading().as_ref());
        }
        own.into_faults()
    }

    const ASKED: &str = r#"
        < {"id":7,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[]}}
    "#;

    #[test]
    fn what_fits_raises_nothing() {
        assert_eq!(
            faults(&format!(
                r#"{ASKED}
                > {{"id":7,"result":{{"outcome":{{"outcome":"cancelled"}}}}}}
                > {{"method":"session/cancel","params":{{"sessionId":"s1"}}}}
                > {{"id":3,"method":"_own/thing","params":[1]}}"#
            )),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_request_and_an_answer_that_break_the_schema_are_told_with_their_place() {
        let found = faults(&format!(
            r#"{ASKED}
            > {{"id":7,"result":{{"outcome":{{"outcome":"selected"}}}}}}
            > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1"}}}}"#
        ));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("event 5"), "{found:?}");
        assert!(found[0].contains("\"session/request_permission\" at /result/outcome"));
        assert!(found[1].contains("\"session/prompt\" at /params"));
    }

    #[test]
    fn what_is_sent_on_purpose_and_errors_are_left_alone() {
        let lines = format!(
            r#"{ASKED}
            > {{"id":7,"error":{{"code":-32601,"message":"no"}}}}
            >? {{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{{}}}}"#
        );
        assert_eq!(faults(&lines), Vec::<String>::new());
    }
}
