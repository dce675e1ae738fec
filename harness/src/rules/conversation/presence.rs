//! What of a conversation is in its recording at all, and what is missing.

use super::Conversation;
use crate::rules::Update;
use crate::spec::Later;
use crate::trace::Party;
use crate::wire::{Kind, Message};

/// How it is known that a recording does not begin with the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Whoever recorded it said so.
    Said,
    /// The first message of the client is no `initialize`.
    ClientGoesOn,
    /// The agent answers, or speaks of a session, before any message of the client.
    AgentGoesOn,
}

/// What is not in a recording, so that not everything could be judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// The start, and how that is known.
    pub start: Option<Start>,
    /// Whether there are messages of the agent and none of the client.
    pub client: bool,
    /// Whether there are messages of the client and none of the agent.
    pub agent: bool,
    /// Whether there are messages, and no `initialize` with its answer.
    pub handshake: bool,
    /// How many lines could not be read.
    pub lines: u64,
    /// The version of the protocol that is spoken, where it is not version 1 and so was not judged.
    pub version: Option<u64>,
}

/// What was seen of the two sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence {
    /// Whether a missing start is to be found out from the messages.
    detects: bool,
    /// The number of the first event of the conversation.
    first: u64,
    start: Option<Start>,
    /// What of the start was missing in an earlier conversation of the recording.
    earlier: Option<Start>,
    client: bool,
    agent: bool,
    /// Whether the client wrote a line that is no message.
    client_line: bool,
    /// How many lines could not be read.
    lines: u64,
    /// The version that messages tell of where the handshake is not in the recording.
    hinted: Option<u64>,
}

impl Presence {
    pub(super) fn hinted_version(&self) -> Option<u64> {
        self.hinted
    }
}

impl Conversation {
    /// The conversation of a recording, which may begin late though nobody said so. `from_start`: what its header says.
    pub(in crate::rules) fn of_recording(from_start: bool) -> Self {
        let mut talk = Self::new(from_start);
        talk.presence.detects = true;
        talk.presence.start = (!from_start).then_some(Start::Said);
        talk
    }

    /// Whether the event with this number is the first of the conversation.
    pub(in crate::rules) fn begins_at(&self, event: u64) -> bool {
        self.presence.first == event
    }

    /// Whether what the model did cannot be told: it is a recording from elsewhere, without the exchanges with the model.
    pub fn model_is_out_of_sight(&self) -> bool {
        self.presence.detects && !self.model_seen
    }

    /// Something is missing before the event with this number: a line of the recording could not be read.
    pub(in crate::rules) fn skipped(&mut self, next: u64) {
        self.presence.lines += 1;
        self.whole = false;
        self.hole = Some(next);
        self.answered.clear();
    }

    /// The conversation with the process that comes after this one's in the same recording; its first event has this
    /// number. What this one lacked stays known.
    pub(in crate::rules) fn with_next_process(&mut self, from_start: bool, next: u64) -> Self {
        let mut talk = if self.presence.detects {
            Self::of_recording(from_start)
        } else {
            Self::new(from_start)
        };
        let before = self.missing();
        talk.presence.lines = before.lines;
        talk.presence.earlier = before.start;
        talk.presence.first = next;
        talk.transcripts = std::mem::take(&mut self.transcripts).of_earlier_process();
        if !talk.whole {
            talk.hole = Some(next);
        }
        talk
    }

    /// What is not in the recording, as far as it was seen.
    pub fn missing(&self) -> Missing {
        let presence = &self.presence;
        let spoken = match &self.handshake {
            Some(handshake) => handshake.version(),
            None => presence.hinted,
        };
        Missing {
            start: presence.start.or(presence.earlier),
            client: presence.agent && !presence.client,
            agent: presence.client && !presence.agent,
            handshake: (presence.agent || presence.client) && self.handshake.is_none(),
            lines: presence.lines,
            version: spoken.filter(|version| *version != 1),
        }
    }

    /// Takes note of who speaks, and of what shows that the start is missing.
    pub(super) fn notice(&mut self, from: Party, message: &Message) {
        match from {
            Party::Client if !self.presence.client => {
                self.presence.client = true;
                if message.method() != Some("initialize") {
                    self.begins_late(Start::ClientGoesOn);
                }
            }
            Party::Agent => {
                self.presence.agent = true;
                let goes_on = || message.is_response() || message.session().is_some();
                if !self.presence.client && !self.presence.client_line && goes_on() {
                    self.begins_late(Start::AgentGoesOn);
                }
                if self.handshake.is_none() && !self.whole {
                    self.hint(message);
                }
            }
            _ => {}
        }
    }

    /// Takes note of a line that is no message: an answer of the agent may be to it.
    pub(super) fn notice_line(&mut self, from: Party) {
        self.presence.client_line |= from == Party::Client;
    }

    fn begins_late(&mut self, how: Start) {
        if self.presence.detects && self.presence.start.is_none() {
            self.presence.start = Some(how);
            self.whole = false;
            self.hole.get_or_insert(self.presence.first);
        }
    }

    /// Looks for what tells the version where the handshake was not seen.
    fn hint(&mut self, message: &Message) {
        let is_v2 = match message.kind() {
            Kind::Response { .. } => {
                let version = message
                    .result()
                    .and_then(|result| result.get("protocolVersion")?.as_u64());
                if version.is_some() {
                    self.presence.hinted = version;
                }
                return;
            }
            Kind::Request { method, .. } | Kind::Notification { method } => {
                Later::v1().is_v2_method(method)
                    || Update::of(message).is_some_and(|it| Later::v1().is_v2_kind(it.kind))
            }
        };
        if is_v2 && self.presence.hinted.is_none() {
            self.presence.hinted = Some(2);
        }
    }
}
