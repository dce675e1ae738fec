//! What a recording lacks to be played: an `initialize` or a session from before it began, or one of the two sides.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Value, json};
use thiserror::Error;

use crate::spec::Side;
use crate::trace::{Body, Party, Recording};
use crate::wire::{Id, Kind, Reading};

/// Why a recording cannot be played.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum Unplayable {
    /// It holds no line of the client.
    #[error(
        "the recording holds no line of the client, so there is nothing to send; record both sides with `harness record`"
    )]
    NoClient,
    /// It holds no line of the agent.
    #[error(
        "the recording holds no line of the agent, so there is nothing to answer with; record both sides with `harness record`"
    )]
    NoAgent,
}

/// What has to be sent before the first recorded line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Missing {
    /// The parameters of an `initialize` of our own.
    pub(super) initialize: Option<Value>,
    /// The sessions to open, as recorded.
    pub(super) sessions: Vec<String>,
}

impl Missing {
    /// Finds out what the client of a recording did before it began.
    pub(super) fn in_recording(recording: &Recording) -> Self {
        let mut seen = Seen::default();
        for event in &recording.events {
            let client = match event.from {
                Party::Client => true,
                Party::Agent => false,
                Party::Model | Party::Harness => continue,
            };
            if let Some(Reading::Message(message)) = event.body.reading() {
                seen.message(client, &message);
            }
        }
        let late = !recording.header.from_start();
        let initialize = !seen.initialized && (late || seen.worked);
        let sessions = seen
            .used
            .into_iter()
            .filter(|session| !seen.opened.contains(session))
            .filter(|session| {
                seen.alive.contains(session) || (late && !seen.refused.contains(session))
            })
            .collect();
        Self {
            initialize: initialize.then(|| params(&seen.asked)),
            sessions,
        }
    }
}

/// Whether there is something to play.
///
/// # Errors
/// What the recording lacks.
pub(crate) fn playable(recording: &Recording, side: Side) -> Result<(), Unplayable> {
    let (party, error) = match side {
        Side::Client => (Party::Client, Unplayable::NoClient),
        Side::Agent => (Party::Agent, Unplayable::NoAgent),
    };
    let spoke = recording
        .events
        .iter()
        .any(|event| event.from == party && !matches!(event.body, Body::Stderr(_)));
    if spoke { Ok(()) } else { Err(error) }
}

/// The parameters of an `initialize` that announces what the agent went on to use.
fn params(asked: &BTreeSet<String>) -> Value {
    let uses = |prefix: &str| asked.iter().any(|method| method.starts_with(prefix));
    let mut capabilities = json!({
        "fs": {"readTextFile": uses("fs/read"), "writeTextFile": uses("fs/write")},
        "terminal": uses("terminal/"),
    });
    if uses("elicitation/")
        && let Some(members) = capabilities.as_object_mut()
    {
        members.insert("elicitation".into(), json!({"form": {}, "url": {}}));
    }
    json!({"protocolVersion": 1, "clientCapabilities": capabilities})
}

#[derive(Default)]
struct Seen {
    initialized: bool,
    worked: bool,
    asked: BTreeSet<String>,
    used: Vec<String>,
    opened: HashSet<String>,
    alive: HashSet<String>,
    refused: HashSet<String>,
    open: std::collections::HashMap<Id, Option<String>>,
}

impl Seen {
    fn message(&mut self, client: bool, message: &crate::wire::Message) {
        let session = message.session().map(str::to_owned);
        match (message.kind(), client) {
            (Kind::Request { id, method }, true) => {
                self.initialized |= method == "initialize";
                if let Some(session) = &session {
                    if matches!(method.as_str(), "session/load" | "session/resume") {
                        self.opened.insert(session.clone());
                    } else if !self.used.contains(session) {
                        self.used.push(session.clone());
                    }
                }
                self.open.insert(id.clone(), session);
            }
            (Kind::Notification { .. }, true) => {}
            (Kind::Response { id }, false) => {
                let asked = self.open.remove(id).flatten();
                match (message.result(), asked) {
                    (Some(result), asked) => {
                        self.worked |= asked.is_some() || result.get("sessionId").is_some();
                        self.alive.extend(asked);
                        sessions_in(result, &mut self.opened);
                    }
                    (None, Some(asked)) => {
                        self.refused.insert(asked);
                    }
                    (None, None) => {}
                }
            }
            (Kind::Request { method, .. } | Kind::Notification { method }, false) => {
                self.asked.insert(method.clone());
                self.alive.extend(session);
            }
            (Kind::Response { .. }, true) => {}
        }
    }
}

/// The sessions that a result names: the new one, or those of a list.
fn sessions_in(result: &Value, into: &mut HashSet<String>) {
    let named = |value: &Value| Some(value.get("sessionId")?.as_str()?.to_owned());
    into.extend(named(result));
    let list = result.get("sessions").and_then(Value::as_array);
    into.extend(list.into_iter().flatten().filter_map(named));
}
