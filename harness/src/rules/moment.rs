//! One event as a rule sees it: with what it holds and what it means in the conversation.

use serde_json::Value;

use super::{CallStep, Conversation, Gap, Open, Place, Turn};
use crate::trace::{Event, Party};
use crate::wire::{Message, Reading};

/// One event, what its line holds, and the conversation after it.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The number of the event in the trace, from 0.
    pub index: u64,
    /// The event.
    pub event: &'a Event,
    /// What the line of the wire holds; `None` where the event is no line of the wire.
    pub reading: Option<&'a Reading>,
    /// The conversation as it is after this event.
    pub talk: &'a Conversation,
    /// For a response: the request that it answers (already taken out of the open ones).
    pub answers: Option<&'a Open>,
    /// For the answer to a `session/prompt`: the turn that it ended (already taken out of its session).
    pub ended_turn: Option<&'a Turn>,
    /// For a response: a request of the same id that was answered before, if this is one answer too many.
    pub answered_before: bool,
    /// For a request of the client: the time without a turn in its session that it ended.
    pub ended_gap: Option<&'a Gap>,
    /// What the event did to a tool call: a `tool_call`, a `tool_call_update`, a permission request or its answer.
    pub call: Option<CallStep>,
}

/// A `session/update` notification of the agent.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// `params.sessionId`.
    pub session: &'a str,
    /// `params.update.sessionUpdate`.
    pub kind: &'a str,
    /// `params.update`.
    pub body: &'a Value,
}

impl<'a> Update<'a> {
    pub(super) fn of(message: &'a Message) -> Option<Self> {
        let params = message.params()?;
        let body = params.get("update")?;
        Some(Self {
            session: params.get("sessionId")?.as_str()?,
            kind: body.get("sessionUpdate")?.as_str()?,
            body,
        })
    }
}

impl<'a> Moment<'a> {
    /// The message of the event, whoever sent it.
    pub fn message(&self) -> Option<&'a Message> {
        self.reading?.message()
    }

    /// The message, if the agent sent it.
    pub fn agent_message(&self) -> Option<&'a Message> {
        (self.event.from == Party::Agent)
            .then(|| self.message())
            .flatten()
    }

    /// The message, if the client sent it.
    pub fn client_message(&self) -> Option<&'a Message> {
        (self.event.from == Party::Client)
            .then(|| self.message())
            .flatten()
    }

    /// The request or notification of this method, if the agent sent one.
    pub fn agent_call(&self, method: &str) -> Option<&'a Message> {
        self.agent_message()
            .filter(|message| message.method() == Some(method))
    }

    /// The request or notification of this method, if the client sent one.
    pub fn client_call(&self, method: &str) -> Option<&'a Message> {
        self.client_message()
            .filter(|message| message.method() == Some(method))
    }

    /// The agent's response to a request of this method.
    pub fn answer_to(&self, method: &str) -> Option<(&'a Open, &'a Message)> {
        let open = self.answers.filter(|open| open.method == method)?;
        Some((open, self.agent_message()?))
    }

    /// The client's response to a request of this method.
    pub fn client_answer_to(&self, method: &str) -> Option<(&'a Open, &'a Message)> {
        let open = self.answers.filter(|open| open.method == method)?;
        Some((open, self.client_message()?))
    }

    /// The session update, if it is one that names its session and kind.
    pub fn update(&self) -> Option<Update<'a>> {
        Update::of(self.agent_call("session/update")?)
    }

    /// Whether the client sent this to provoke.
    pub fn is_probe(&self) -> bool {
        self.event.probe.is_some()
    }

    /// The event as a place.
    pub fn place(&self) -> Place {
        Place::event(self.index)
    }

    /// A member of the event's message as a place.
    pub fn at(&self, path: impl Into<String>) -> Place {
        Place::new(self.index, path)
    }
}
