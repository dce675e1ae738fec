//! The exchanges of a recording, put together from their parts, and what was replied in them.

use crate::model::interface::{self, Interface, Said};
use crate::model::script::{Call, Calls, Failure, NamedFailure, Reply, Stop, Text};
use crate::trace::{Body, Exchange, ExchangeEnd, ExchangePart, Recording};

/// What stands at the end of a reply that is whole, in one interface or another, without blanks: an agent may hang up
/// behind it.
const ENDS: &[&str] = &[
    "data:[DONE]",
    "\"type\":\"message_stop\"",
    "\"type\":\"response.completed\"",
    "\"finishReason\":\"",
    "\"finish_reason\":\"",
];
/// How much of the end of a reply is looked through for that, in bytes.
const END: usize = 16 * 1024;

/// The status that is taken where none was recorded.
pub(super) const FINE: u16 = 200;

/// One exchange.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) number: u64,
    /// Where it begins in the recording.
    pub(super) event: usize,
    pub(super) path: String,
    pub(super) body: String,
    /// Whose interface it is, where it asks for a reply.
    pub(super) interface: Option<&'static dyn Interface>,
    /// What it was taken for when it was recorded.
    pub(super) side: Option<String>,
    pub(super) end: Option<ExchangeEnd>,
    status: Option<u16>,
    reply: Vec<u8>,
    /// The encoding in which the reply came, where it could not be read and is not there.
    unreadable: Option<String>,
}

/// All exchanges, in the order in which they begin.
pub(super) fn all(recording: &Recording) -> Vec<Heard> {
    let mut all: Vec<Heard> = Vec::new();
    for (event, body) in recording.events.iter().map(|event| &event.body).enumerate() {
        let Body::Model(Exchange { exchange, part }) = body else {
            continue;
        };
        // Those that run side by side are few and recent.
        let place = match all.iter().rposition(|heard| heard.number == *exchange) {
            Some(place) => place,
            None => {
                all.push(Heard {
                    number: *exchange,
                    event,
                    ..Heard::default()
                });
                all.len() - 1
            }
        };
        let Some(heard) = all.get_mut(place) else {
            continue;
        };
        match part {
            ExchangePart::Request { path, body, side } => {
                heard.interface = interface::replying(path);
                heard.path.clone_from(path);
                heard.body.clone_from(body);
                heard.side.clone_from(side);
            }
            ExchangePart::Status(status) => heard.status = Some(*status),
            ExchangePart::Chunk(chunk) => heard.reply.extend_from_slice(chunk.as_bytes()),
            ExchangePart::Bytes(bytes) => heard.reply.extend_from_slice(bytes),
            ExchangePart::Unreadable(encoding) => heard.unreadable = Some(encoding.clone()),
            ExchangePart::End(end) => heard.end = Some(*end),
        }
    }
    all
}

/// A connection that was refused.
pub(super) fn refused() -> Reply {
    failing(Failure::Named(NamedFailure::Refused))
}

fn failing(failure: Failure) -> Reply {
    Reply {
        fail: Some(failure),
        ..Reply::default()
    }
}

impl Heard {
    /// What was replied, as a reply of a script.
    pub(super) fn reply(&self, interface: &dyn Interface) -> Reply {
        let status = self.status.unwrap_or(FINE);
        let said = interface.said(status, &String::from_utf8_lossy(&self.reply));
        if status >= 400 {
            let message = said.error;
            return failing(Failure::Status { status, message });
        }
        let fails = said.error.is_some();
        let mut reply = scripted(said);
        match self.end {
            _ if !fails && self.is_whole() => {}
            Some(ExchangeEnd::Cut) => reply.fail = Some(Failure::Named(NamedFailure::Cut)),
            // An error in the middle of a stream ends it as a cut does.
            _ if fails => reply.fail = Some(Failure::Named(NamedFailure::Cut)),
            // The agent hung up: it was told no more.
            Some(ExchangeEnd::Cancelled) | None => reply.hold = true,
            Some(ExchangeEnd::Complete | ExchangeEnd::Refused) => {}
        }
        reply
    }

    /// Why nothing can be replied in place of it: a clause.
    pub(super) fn lost(&self) -> Option<String> {
        // A failure is given by its status.
        if self.status.is_some_and(|status| status >= 400) {
            return None;
        }
        if let Some(encoding) = &self.unreadable {
            return Some(format!(
                "it came compressed (`{encoding}`), and what is compressed so cannot be recorded"
            ));
        }
        if self.end != Some(ExchangeEnd::Complete) || self.is_whole() {
            return None;
        }
        let reply = String::from_utf8_lossy(&self.reply);
        interface::parts(&reply).is_empty().then(|| {
            if reply.trim().is_empty() {
                "nothing of its body is in the recording".to_owned()
            } else {
                "its body is no reply of a model".to_owned()
            }
        })
    }

    /// What is wrong with its status as it was recorded: a clause.
    pub(super) fn status_damage(&self) -> Option<String> {
        match self.status {
            Some(200..=299 | 400..=599) => None,
            Some(status) => Some(format!("{status} is no status of a reply")),
            // An agent may have hung up before there was one.
            None if self.reply.is_empty() => None,
            None => Some("its status is missing or damaged".to_owned()),
        }
    }

    /// Whether the reply came to its own end, whoever hung up then.
    fn is_whole(&self) -> bool {
        let from = self.reply.len().saturating_sub(END);
        let tail = String::from_utf8_lossy(self.reply.get(from..).unwrap_or_default());
        let tail: String = tail.split_whitespace().collect();
        ENDS.iter().any(|end| tail.contains(end))
    }
}

/// What was said, as a reply of a script.
fn scripted(said: Said) -> Reply {
    let chunks = |texts: Vec<String>| (!texts.is_empty()).then_some(Text::Chunks(texts));
    let calls: Vec<Call> = said.calls.into_iter().map(super::calls::recorded).collect();
    Reply {
        think: chunks(said.thoughts),
        say: chunks(said.texts),
        call: (!calls.is_empty()).then_some(Calls::Many(calls)),
        refuse: said.refusal,
        stop: said.length.then_some(Stop::Length),
        usage: said.usage,
        ..Reply::default()
    }
}
