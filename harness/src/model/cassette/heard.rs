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
    reply: String,
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
            ExchangePart::Chunk(chunk) => heard.reply.push_str(chunk),
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
        let status = self.status.unwrap_or(200);
        let said = interface.said(status, &self.reply);
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

    /// Whether the reply came to its own end, whoever hung up then.
    fn is_whole(&self) -> bool {
        let mut from = self.reply.len().saturating_sub(END);
        while !self.reply.is_char_boundary(from) {
            from += 1;
        }
        let tail: String = self
            .reply
            .get(from..)
            .unwrap_or_default()
            .split_whitespace()
            .collect();
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
