//! A cassette from what an agent told its client: an approximation of what its model said, where no exchange was recorded.
//!
//! Texts and thoughts are the model's, and the tool calls that come behind them were called by it. What the agent said by
//! itself cannot be told apart from that, and the arguments of calls are what the agent showed of them.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::talk::{By, Talk};
use super::{Cassette, Take};
use crate::model::script::{Call, Calls, Failure, NamedFailure, Reply, Stop, Text};
use crate::model::{prompt, tools};
use crate::trace::{Party, Recording};
use crate::wire::{Id, Message, Reading};

/// The status of a model that failed, where the recording only shows that the turn did.
const FAILED: u16 = 500;

impl Cassette {
    /// Reads a recording that has no exchange with a model. `live` puts live folders into a JSON text in place of the
    /// recorded ones.
    pub(crate) fn derived(recording: &Recording, live: impl Fn(&str) -> String) -> Self {
        let mut deriving = Deriving::default();
        for event in &recording.events {
            let Some(line) = event
                .body
                .wire_bytes()
                .and_then(|line| std::str::from_utf8(line).ok())
            else {
                continue;
            };
            let Reading::Message(message) = Reading::of(live(line).as_bytes()) else {
                continue;
            };
            match event.from {
                Party::Client => deriving.client(&message),
                Party::Agent => deriving.agent(&message),
                Party::Model | Party::Harness => {}
            }
        }
        deriving.cassette
    }
}

#[derive(Default)]
struct Deriving {
    cassette: Cassette,
    sessions: HashMap<String, Session>,
    /// The prompts that are not answered, with their sessions.
    open: Vec<(Id, String)>,
}

/// The conversation of a session so far, and the reply that goes on.
#[derive(Default)]
struct Session {
    talk: Talk,
    running: bool,
    thoughts: Vec<String>,
    texts: Vec<String>,
    calls: Vec<Told>,
    cancelled: bool,
}

/// What was told of a tool call.
struct Told {
    id: Value,
    members: Map<String, Value>,
}

impl Deriving {
    fn client(&mut self, message: &Message) {
        let Some(session) = message.session() else {
            return;
        };
        match (message.method(), message.id()) {
            (Some("session/prompt"), Some(id)) => {
                self.open.push((id.clone(), session.to_owned()));
                let prompt = prompt::text_in(message).unwrap_or_default();
                self.cassette.knows(&prompt);
                let session = self.sessions.entry(session.to_owned()).or_default();
                session.running = true;
                session.cancelled = false;
                session
                    .talk
                    .say(By::User, vec![super::talk::plain(&prompt)], &prompt);
            }
            (Some("session/cancel"), _) => {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.cancelled = true;
                }
            }
            _ => {}
        }
    }

    fn agent(&mut self, message: &Message) {
        if let Some(place) = self
            .open
            .iter()
            .position(|(id, _)| message.method().is_none() && message.id() == Some(id))
        {
            let (_, session) = self.open.remove(place);
            return self.ended(&session, message);
        }
        let update = message.params().and_then(|params| params.get("update"));
        let (Some("session/update"), Some(name), Some(update)) =
            (message.method(), message.session(), update)
        else {
            return;
        };
        let kind = update
            .get("sessionUpdate")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some(session) = self
            .sessions
            .get_mut(name)
            .filter(|session| session.running)
        else {
            return;
        };
        let text = update.pointer("/content/text").and_then(Value::as_str);
        match (kind, text) {
            ("agent_message_chunk" | "agent_thought_chunk", Some(text)) => {
                // What is said behind calls is another reply, to what they gave back.
                if !session.calls.is_empty() {
                    let taken = session.taken(None);
                    self.put(taken);
                }
                let Some(session) = self.sessions.get_mut(name) else {
                    return;
                };
                match kind {
                    "agent_message_chunk" => session.texts.push(text.to_owned()),
                    _ => session.thoughts.push(text.to_owned()),
                }
            }
            ("tool_call" | "tool_call_update", _) => session.tool(update),
            _ => {}
        }
    }

    /// A prompt was answered.
    fn ended(&mut self, name: &str, message: &Message) {
        let Some(session) = self.sessions.get_mut(name) else {
            return;
        };
        let reason = message
            .result()
            .and_then(|result| result.get("stopReason")?.as_str());
        let mut taken = Vec::new();
        if !session.calls.is_empty() {
            taken.push(session.taken(None));
        }
        taken.push(session.taken(Some(reason.unwrap_or("error"))));
        session.running = false;
        for taken in taken {
            self.put(taken);
        }
    }

    fn put(&mut self, (talk, reply): (Talk, Reply)) {
        let number = u64::try_from(self.cassette.takes.len())
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        self.cassette.takes.push(Take {
            number,
            talk,
            side: None,
            tools: Vec::new(),
            reply,
            lost: None,
            used: false,
        });
    }
}

impl Session {
    fn tool(&mut self, update: &Value) {
        let Some(id) = update.get("toolCallId") else {
            return;
        };
        let place = match self.calls.iter().position(|call| call.id == *id) {
            Some(place) => place,
            None => {
                self.calls.push(Told {
                    id: id.clone(),
                    members: Map::new(),
                });
                self.calls.len() - 1
            }
        };
        if let (Some(call), Some(members)) = (self.calls.get_mut(place), update.as_object()) {
            for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                call.members.insert(name.clone(), value.clone());
            }
        }
    }

    /// The reply that went on, and what it was an answer to; `end` is the reason where the turn ends with it.
    fn taken(&mut self, end: Option<&str>) -> (Talk, Reply) {
        let talk = self.talk.clone();
        let said = self.texts.concat();
        let told = std::mem::take(&mut self.calls);
        let chunks = |texts: &mut Vec<String>| {
            (!texts.is_empty()).then(|| Text::Chunks(std::mem::take(texts)))
        };
        let mut reply = Reply {
            think: chunks(&mut self.thoughts),
            say: chunks(&mut self.texts),
            ..Reply::default()
        };
        match end {
            Some("cancelled") => reply.hold = true,
            Some("refusal") => reply.refuse = Some(said.clone()),
            Some("max_tokens") => reply.stop = Some(Stop::Length),
            Some("error") if said.is_empty() => {
                reply.fail = Some(Failure::Status {
                    status: FAILED,
                    message: None,
                });
            }
            Some("error") => reply.fail = Some(Failure::Named(NamedFailure::Cut)),
            _ => {}
        }
        if reply.refuse.is_some() {
            reply.say = None;
        }
        if !told.is_empty() {
            reply.call = Some(Calls::Many(told.iter().map(call).collect()));
        }
        self.talk
            .say(By::Model, vec![super::talk::steady(&said)], &said);
        if !told.is_empty() {
            let results: Vec<String> = told.iter().map(result).collect();
            let words = results
                .iter()
                .map(|result| super::talk::steady(result))
                .collect();
            self.talk.say(By::Tools, words, &results.join(" "));
        }
        (talk, reply)
    }
}

/// A tool call by its meaning; where none is known, by its title as the name of a tool.
fn call(told: &Told) -> Call {
    let text = |name: &str| told.members.get(name).and_then(Value::as_str);
    let mut arguments = told
        .members
        .get("rawInput")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let contents = told.members.get("content").and_then(Value::as_array);
    let diff = contents
        .into_iter()
        .flatten()
        .find(|it| it.get("type").and_then(Value::as_str) == Some("diff"));
    let given = |from: &str, to: &str, arguments: &mut Map<String, Value>| {
        if let Some(value) = diff
            .and_then(|diff| diff.get(from))
            .filter(|value| value.is_string())
        {
            arguments.insert(to.to_owned(), value.clone());
        }
    };
    given("path", "path", &mut arguments);
    given("newText", "content", &mut arguments);
    let kind = text("kind").unwrap_or_default();
    if diff.is_none()
        && let Some(path) = told
            .members
            .get("locations")
            .and_then(|it| it.pointer("/0/path"))
        && kind != "execute"
    {
        arguments.entry("path").or_insert_with(|| path.clone());
    }
    if kind == "execute"
        && let Some(title) = text("title")
    {
        arguments
            .entry("command")
            .or_insert_with(|| title.trim_matches('`').into());
    }
    tools::of_kind(kind, &arguments).unwrap_or_else(|| Call {
        tool: Some(text("title").unwrap_or("tool").to_owned()),
        arguments,
        ..Call::default()
    })
}

/// What a tool gave back, as far as the agent showed it.
fn result(told: &Told) -> String {
    let contents = told.members.get("content").and_then(Value::as_array);
    let texts = contents
        .into_iter()
        .flatten()
        .filter_map(|it| it.pointer("/content/text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
