//! One event as a rule sees it: with what it holds and what it means in the conversation.

use std::cell::{OnceCell, RefCell};

use serde_json::Value;

use super::form::{self, Forms};
use super::{CallStep, Conversation, Gap, Open, Place, Turn};
use crate::spec::{Methods, Schema, Side, Truth, Violation};
use crate::trace::{Event, Party};
use crate::wire::{Kind, Message, Reading};

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
    /// Read once per event, for most rules ask for it; see [`Moment::update`].
    pub(super) update: Option<Update<'a>>,
    /// See [`Moment::payload`].
    pub(super) payload: Option<Payload<'a>>,
    /// Where [`Moment::violations`] keeps what it found.
    pub(super) violations: &'a OnceCell<Vec<Violation>>,
    /// Where [`Moment::form`] keeps its number.
    pub(super) form: &'a OnceCell<u64>,
    /// Forms that were valid before.
    pub(super) forms: &'a RefCell<Forms>,
}

/// What a message of the agent carries, and the definition that it must fit.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// The method of the message, or of the request that it answers.
    pub method: &'a str,
    /// `/params` or `/result`.
    pub member: &'static str,
    /// The name of the definition in the schema.
    pub definition: &'static str,
    /// The value; `None` where a message has no `params`.
    pub value: Option<&'a Value>,
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

/// The session update that an event is.
pub(super) fn update_of<'a>(event: &Event, reading: Option<&'a Reading>) -> Option<Update<'a>> {
    let message = reading.filter(|_| event.from == Party::Agent)?.message()?;
    (message.method() == Some("session/update"))
        .then(|| Update::of(message))
        .flatten()
}

/// What the agent's message carries; see [`Moment::payload`].
pub(super) fn payload_of<'a>(
    talk: &Conversation,
    from: Party,
    reading: Option<&'a Reading>,
    answers: Option<&'a Open>,
) -> Option<Payload<'a>> {
    let message = reading.filter(|_| from == Party::Agent)?.message()?;
    match message.kind() {
        Kind::Request { method, .. } | Kind::Notification { method } => {
            if !talk.is_version_one() {
                return None;
            }
            let known = Methods::v1().get(method)?;
            known.called_by(Side::Agent).then(|| Payload {
                method,
                member: "/params",
                definition: &known.params,
                value: message.params(),
            })
        }
        Kind::Response { .. } => {
            let open = answers?;
            let result = message.result().filter(|_| message.error().is_none())?;
            let known = Methods::v1().get(&open.method)?;
            if matches!(talk.evaluate(&known.gate), Truth::Fails(_)) {
                // The client called what it must not: whatever the agent answers is only recorded (INIT-15).
                return None;
            }
            if open.method == "initialize" {
                // An answer that agrees on another version has the shape of that version.
                let version = result.get("protocolVersion").and_then(Value::as_u64);
                if version.is_some_and(|version| version != 1 && version <= 65535) {
                    return None;
                }
            } else if !talk.is_version_one() {
                return None;
            }
            Some(Payload {
                method: &open.method,
                member: "/result",
                definition: known.result.as_deref()?,
                value: Some(result),
            })
        }
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
        self.update
    }

    /// What the agent's message carries, if the schema of version 1 defines it: the params of a method that agents call,
    /// or the result of a request that it answers. `None` where another version was agreed on, or none yet.
    pub fn payload(&self) -> Option<Payload<'a>> {
        self.payload
    }

    /// A number for the form of the payload; see [`super::form`].
    pub(super) fn form(&self) -> u64 {
        *self
            .form
            .get_or_init(|| self.payload.as_ref().map_or(0, form::form))
    }

    /// What the schema says against [`Moment::payload`], with paths from the top of the message such as
    /// `/params/update/title`. Worked out once per event, when first asked for.
    ///
    /// A violation with `later` is a form of drafts or later revisions: to be noted, never failed. A `null` result whose
    /// definition asks for no member gives none (INTEROP-25 judges it).
    pub fn violations(&self) -> &'a [Violation] {
        self.violations.get_or_init(|| self.find_violations())
    }

    fn find_violations(&self) -> Vec<Violation> {
        let Some(payload) = self.payload() else {
            return Vec::new();
        };
        let Some(value) = payload.value else {
            return vec![Violation {
                path: String::new(),
                message: "the member `params` is missing".to_owned(),
                keyword: "required".to_owned(),
                silent: false,
                later: None,
            }];
        };
        let schema = Schema::v1();
        if value.is_null()
            && payload.member == "/result"
            && schema.result_tolerates_null(payload.method)
        {
            return Vec::new();
        }
        if self.forms.borrow().is_valid(self.form()) {
            return Vec::new();
        }
        let mut violations = schema.violations(payload.definition, value);
        if violations.is_empty() {
            self.forms.borrow_mut().remember(self.form());
        }
        for violation in &mut violations {
            violation.path.insert_str(0, payload.member);
        }
        violations
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
