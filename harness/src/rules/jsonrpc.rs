//! JSONRPC-01 to -10 and INTEROP-13: the envelope of messages, ids, and that each request is answered once.

use serde_json::Value;
use serde_json::value::RawValue;

use super::quote::{quote, quote_id, quote_json};
use super::transport::is_bare_response;
use super::{Conversation, Moment, Open, Out, Place, Rule};
use crate::hash::{HashMap, HashSet};
use crate::spec::{Form, Methods, Side};
use crate::trace::{Body, Party};
use crate::wire::{Id, Kind, Message, Oddity, Reading};

const VERSION: &str = "JSONRPC-01";
const OUTCOME: &str = "JSONRPC-02";
const KNOWN_ID: &str = "JSONRPC-03";
const ANSWERED_ONCE: &str = "JSONRPC-04";
const NOTIFICATION: &str = "JSONRPC-05";
const ERROR: &str = "JSONRPC-06";
const LEGAL_ID: &str = "JSONRPC-07";
const PLAIN_ID: &str = "JSONRPC-08";
const UNIQUE_ID: &str = "JSONRPC-09";
const METHOD_KIND: &str = "JSONRPC-10";
const OPEN_IDS: &str = "INTEROP-13";

/// So many inputs of one recording whose ids could be read though they are malformed are remembered.
const REMEMBERED: usize = 1000;

/// JSONRPC-01 (schema/v1/schema.json#/anyOf/0): `jsonrpc` is "2.0". Asked of messages only; what is no message is
/// TRANSPORT-02's.
///
/// JSONRPC-02 (docs/protocol/v1/overview.mdx#error-handling): a response has exactly one of `result` and `error`; a null
/// counts as present.
///
/// JSONRPC-03 (schema/v1/schema.json#/$defs/RequestId): a response repeats the id of an open request. Each malformed input
/// of the client excuses one error with a null id, or one answer with the id that stands in it (any id, where its id
/// cannot be told). In a recording that begins late or lacks lines an unknown id proves nothing.
///
/// JSONRPC-04 (docs/protocol/v1/overview.mdx#communication-model): each well-formed request is answered once. A second
/// answer, giving up on an answer, and the agent's own end before it fail; an end by the client or of the recording does
/// not, nor does a request of the agent that the client left open, nor a line that may hold the answer unread.
///
/// JSONRPC-05 (docs/protocol/v1/overview.mdx#error-handling): notifications get no response. A response with an unknown id
/// is JSONRPC-03's. One with a null id that no malformed input excuses is put down to a notification, if one was sent
/// after the last request that is still open, and is JSONRPC-03's otherwise: one cause, one failure.
///
/// JSONRPC-06 (schema/v1/schema.json#/$defs/Error): an error is an object with an integer code and a string message.
///
/// JSONRPC-07, -08, -09 (schema/v1/schema.json#/$defs/RequestId): the ids of the agent's requests; INTEROP-13 fails what
/// JSONRPC-09 notes.
///
/// JSONRPC-10 (docs/protocol/v1/overview.mdx#client): requests have an id and notifications none.
#[derive(Default)]
pub(super) struct Jsonrpc {
    /// Malformed inputs that no answer has been tied to yet.
    malformed: u64,
    /// How many of them have an id that cannot be told.
    unreadable: u64,
    /// Ids that stand in malformed inputs that are no requests.
    readable: HashMap<Id, u32>,
    /// Events of malformed inputs that are requests all the same.
    requests: HashSet<u64>,
    /// The last notification of the client that no response was put down to.
    notified: Option<u64>,
    /// Whether the agent said anything after a notification.
    spoke_after: bool,
    blamed: bool,
    /// Requests that were reported as unanswered.
    given_up: HashSet<u64>,
}

impl Rule for Jsonrpc {
    fn judges(&self) -> &'static [&'static str] {
        &[
            VERSION,
            OUTCOME,
            KNOWN_ID,
            ANSWERED_ONCE,
            NOTIFICATION,
            ERROR,
            LEGAL_ID,
            PLAIN_ID,
            UNIQUE_ID,
            METHOD_KIND,
            OPEN_IDS,
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        match moment.event.from {
            Party::Client => self.client(moment),
            Party::Agent => self.agent(moment, out),
            Party::Harness => {
                if let Body::Unanswered { id, seconds } = &moment.event.body {
                    self.unanswered(moment, &Id::from_value(id), *seconds, out);
                }
            }
            Party::Model => {}
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        if self.spoke_after && !self.blamed {
            out.pass(NOTIFICATION);
        }
        self.left_open(talk, out);
    }
}

impl Jsonrpc {
    fn client(&mut self, moment: &Moment<'_>) {
        let Some(reading) = moment.reading else {
            return;
        };
        let oddity = match reading {
            Reading::Message(message) => {
                self.client_message(moment, message);
                return;
            }
            Reading::Odd(oddity) => oddity,
        };
        match oddity {
            Oddity::Batch(items) => {
                self.malformed += 1;
                for item in items {
                    self.malformed_with(item.get("id"));
                }
            }
            Oddity::NoMessage(value) => self.malformed_with(value.get("id")),
            Oddity::Several => {
                let text = moment.event.body.wire_bytes().unwrap_or_default();
                let values = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>();
                for value in values.map_while(Result::ok) {
                    let value: Value = serde_json::from_str(value.get()).unwrap_or(Value::Null);
                    self.malformed_with(value.get("id"));
                }
            }
            Oddity::Blank | Oddity::Scalar(_) => self.malformed += 1,
            // A more lenient reader may find a message, and an id, in the rest.
            Oddity::NotUtf8 { .. }
            | Oddity::NotJson { .. }
            | Oddity::Incomplete
            | Oddity::Unreadable { .. } => {
                self.malformed += 1;
                self.unreadable += 1;
            }
        }
    }

    fn malformed_with(&mut self, id: Option<&Value>) {
        self.malformed += 1;
        if let Some(id) = id {
            if self.readable.len() < REMEMBERED {
                *self.readable.entry(Id::from_value(id)).or_default() += 1;
            } else {
                self.unreadable += 1;
            }
        }
    }

    fn client_message(&mut self, moment: &Moment<'_>, message: &Message) {
        let well_formed = is_well_formed(message);
        match message.kind() {
            Kind::Request { .. } => {
                if !well_formed {
                    self.malformed += 1;
                    self.requests.insert(moment.index);
                }
            }
            Kind::Notification { .. } => {
                if well_formed {
                    self.notified = Some(moment.index);
                } else {
                    self.malformed += 1;
                }
            }
            // A response to nothing may be refused like other input that is no request.
            Kind::Response { id } => {
                if !well_formed || moment.answers.is_none() {
                    self.malformed_with(Some(&Value::Null).filter(|_| *id == Id::Null));
                    if *id != Id::Null && self.readable.len() < REMEMBERED {
                        *self.readable.entry(id.clone()).or_default() += 1;
                    }
                }
            }
        }
    }

    fn agent(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if let Some(Reading::Odd(Oddity::NoMessage(value))) = moment.reading {
            if is_bare_response(value) {
                out.fail(
                    OUTCOME,
                    moment.place(),
                    "a response has neither `result` nor `error`, where it must have one of them",
                );
            }
            return;
        }
        let Some(message) = moment.agent_message() else {
            return;
        };
        self.spoke_after |= self.notified.is_some();
        let version = message.members().get("jsonrpc");
        out.check(
            VERSION,
            version.and_then(Value::as_str) == Some("2.0"),
            moment.at(if version.is_some() { "/jsonrpc" } else { "" }),
            || match version {
                Some(other) => format!(
                    "`jsonrpc` is {}, where it must be \"2.0\"",
                    quote_json(other)
                ),
                None => "the message has no `jsonrpc`, which must be \"2.0\"".to_owned(),
            },
        );
        match message.kind() {
            Kind::Request { id, method } => {
                request_id(moment, id, method, out);
                method_kind(moment, method, Form::Request, out);
            }
            Kind::Notification { method } => {
                method_kind(moment, method, Form::Notification, out);
            }
            Kind::Response { id } => {
                outcome(moment, message, out);
                self.response(moment, id, message, out);
            }
        }
    }

    fn response(&mut self, moment: &Moment<'_>, id: &Id, message: &Message, out: &mut Out<'_>) {
        if let Some(open) = moment.answers {
            if self.requests.remove(&open.event) {
                self.malformed = self.malformed.saturating_sub(1);
            }
            if open.id == *id {
                out.pass(KNOWN_ID);
            } else {
                out.note(
                    KNOWN_ID,
                    moment.at("/id"),
                    format!(
                        "the id {} is answered rounded, as {}",
                        open.id,
                        quote_id(id)
                    ),
                );
            }
            if !self.given_up.contains(&open.event) {
                out.pass(ANSWERED_ONCE);
            }
            return;
        }
        if *id == Id::Null {
            self.null_id(moment, message, out);
            return;
        }
        if let Some(count) = self.readable.get_mut(id).filter(|count| **count > 0) {
            *count -= 1;
            self.malformed = self.malformed.saturating_sub(1);
        } else if moment.answered_before && (moment.talk.whole || matches!(id, Id::Integer(_))) {
            // Clients count their ids up: a whole number that was answered is not that of a request that was not seen.
            out.fail(
                ANSWERED_ONCE,
                moment.at("/id"),
                format!(
                    "the request with id {} was answered before, and is answered again",
                    quote_id(id)
                ),
            );
        } else if self.unreadable > 0 {
            self.unreadable -= 1;
            self.malformed = self.malformed.saturating_sub(1);
        } else if !moment.talk.whole {
            out.inconclusive(
                KNOWN_ID,
                "the recording begins late or lacks lines: a response may answer a request that is not in it",
            );
        } else {
            out.fail(
                KNOWN_ID,
                moment.at("/id"),
                format!(
                    "a response has the id {}, which no request of the client has{}",
                    quote_id(id),
                    other_type(moment.talk, id)
                ),
            );
        }
    }

    /// A response with a null id that answers no request with a null id.
    fn null_id(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        if self.malformed > 0 && message.error().is_some() {
            self.malformed -= 1;
            self.unreadable = self.unreadable.min(self.malformed);
            return;
        }
        if !moment.talk.whole {
            out.inconclusive(
                KNOWN_ID,
                "the recording begins late or lacks lines: a response may answer input that is not in it",
            );
            return;
        }
        let last_request = moment.talk.client_requests().map(|open| open.event).max();
        match self.notified {
            Some(event) if last_request.is_none_or(|request| request < event) => {
                self.notified = None;
                self.blamed = true;
                out.fail(
                    NOTIFICATION,
                    moment.at("/id"),
                    "a response with a null id follows a notification, which must never be answered",
                );
            }
            _ => out.fail(
                KNOWN_ID,
                moment.at("/id"),
                "a response has a null id, which is only for input that is no well-formed request",
            ),
        }
    }

    fn unanswered(&mut self, moment: &Moment<'_>, id: &Id, seconds: f64, out: &mut Out<'_>) {
        let talk = moment.talk;
        let Some(open) = talk.client_request(id) else {
            return;
        };
        if self.requests.contains(&open.event) || !self.given_up.insert(open.event) {
            return;
        }
        if let Some(why) = excuse(talk, open) {
            out.inconclusive(ANSWERED_ONCE, why);
            return;
        }
        out.fail(
            ANSWERED_ONCE,
            Place::event(open.event),
            format!(
                "{} with id {} was not answered within {seconds:.1} s",
                quote(&open.method),
                quote_id(id)
            ),
        );
    }

    /// The requests that are open when the trace ends: unanswered for good if the agent ended by itself.
    fn left_open(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        let mut open: Vec<&Open> = talk
            .client_requests()
            .filter(|open| {
                !self.requests.contains(&open.event) && !self.given_up.contains(&open.event)
            })
            .collect();
        open.sort_by_key(|open| open.event);
        let died = talk.end.by_itself();
        let mut lost: Vec<&Open> = Vec::new();
        for request in open {
            if died.is_none_or(|died| request.event > died) {
                out.inconclusive(
                    ANSWERED_ONCE,
                    "the recording ends before some requests are answered",
                );
            } else if let Some(why) =
                after_malformed(talk, request).or_else(|| unread_since(talk, request))
            {
                out.inconclusive(ANSWERED_ONCE, why);
            } else {
                lost.push(request);
            }
        }
        if let (Some(first), Some(exit)) = (lost.first(), talk.end.exit) {
            let others = match lost.len() - 1 {
                0 => String::new(),
                1 => " and one other request".to_owned(),
                many => format!(" and {many} other requests"),
            };
            out.fail(
                ANSWERED_ONCE,
                Place::event(first.event),
                format!(
                    "the agent ended by itself ({exit}) and left {} with id {}{others} unanswered",
                    quote(&first.method),
                    quote_id(&first.id)
                ),
            );
        }
    }
}

/// Why a missing answer proves nothing, if it does not.
pub(super) fn excuse(talk: &Conversation, open: &Open) -> Option<&'static str> {
    if talk.end.by_client() {
        return Some("the client ended the agent before a request was answered");
    }
    // One that closes its stdout and lives on owes the answer all the same.
    if talk.end.exited.is_some() {
        return Some("a request was sent to an agent that had ended, or ended at the time");
    }
    if talk.misaddressed.contains(&open.event) {
        return Some("an answer to a request came under an id of another type");
    }
    if let Some(why) = after_malformed(talk, open) {
        return Some(why);
    }
    if open.id == Id::Null {
        return Some("a request with a null id may be taken for a notification");
    }
    if talk.client_requests().filter(|it| it.id == open.id).count() > 1 {
        return Some("two requests with one id were open at once");
    }
    let waits = talk.agent_requests().any(|request| {
        request.session.is_none() || open.session.is_none() || request.session == open.session
    });
    if waits {
        return Some("the client left a request of the agent open on which the answer may depend");
    }
    unread_since(talk, open)
}

/// Whether the client had sent input before that is no message: what an agent does then is INTEROP-06's.
fn after_malformed(talk: &Conversation, open: &Open) -> Option<&'static str> {
    talk.malformed
        .is_some_and(|malformed| malformed <= open.event)
        .then_some("the client had sent input before that is no message")
}

/// Whether the answer may stand in a line that could not be read, of the agent or of the recording.
pub(super) fn unread_since(talk: &Conversation, open: &Open) -> Option<&'static str> {
    if talk.hole_since(open.event) {
        return Some("the answer to a request may stand in a line of the recording that is lost");
    }
    talk.unread
        .is_some_and(|unread| unread > open.event)
        .then_some("the answer to a request may stand in a line that holds no single message")
}

/// Whether the client's message is one that the agent has to understand.
fn is_well_formed(message: &Message) -> bool {
    let version = message.members().get("jsonrpc").and_then(Value::as_str);
    let params = message
        .params()
        .is_none_or(|params| params.is_object() || params.is_array());
    version == Some("2.0") && params && message.id().is_none_or(Id::is_legal)
}

fn request_id(moment: &Moment<'_>, id: &Id, method: &str, out: &mut Out<'_>) {
    let value = moment
        .agent_message()
        .and_then(|message| message.members().get("id"));
    let fractional = value.is_some_and(Value::is_f64);
    out.check(LEGAL_ID, id.is_legal(), moment.at("/id"), || {
        format!(
            "the request {} has the id {}, where a string, a 64-bit integer or null is expected",
            quote(method),
            quote_id(id)
        )
    });
    if *id == Id::Null || fractional || id.is_legal() {
        out.check(
            PLAIN_ID,
            *id != Id::Null && !fractional,
            moment.at("/id"),
            || {
                format!(
                    "the request {} has the id {}, which should be neither null nor a fraction",
                    quote(method),
                    quote_id(id)
                )
            },
        );
    }
    if moment.talk.agent_requests_of(id) > 1 {
        let message = format!(
            "the request {} has the id {} of another request that is still open, so that their answers cannot be told apart",
            quote(method),
            quote_id(id)
        );
        out.note(UNIQUE_ID, moment.at("/id"), message.clone());
        out.fail(OPEN_IDS, moment.at("/id"), message);
    } else {
        out.pass(OPEN_IDS);
    }
}

fn method_kind(moment: &Moment<'_>, method: &str, form: Form, out: &mut Out<'_>) {
    if !moment.talk.is_version_one() {
        return;
    }
    let Some(known) = Methods::v1()
        .get(method)
        .filter(|known| known.called_by(Side::Agent))
    else {
        return;
    };
    out.check(
        METHOD_KIND,
        known.form == form,
        moment.place(),
        || match known.form {
            Form::Notification => {
                format!("{method} was sent with an id, where a notification has none")
            }
            Form::Request => format!("{method} was sent without an id, where it needs an answer"),
        },
    );
}

fn outcome(moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
    // A response without both is no message; see above.
    let both = message.result().is_some() && message.error().is_some();
    out.check(OUTCOME, !both, moment.place(), || {
        "a response has both `result` and `error`, where it must have one of them".to_owned()
    });
    let Some(error) = message.error() else {
        return;
    };
    let fault = match error {
        Value::Object(members) => match (members.get("code"), members.get("message")) {
            (None, _) => Some(("/error", "the error has no `code`".to_owned())),
            (_, None) => Some(("/error", "the error has no `message`".to_owned())),
            (Some(code), _) if !code.is_i64() && !code.is_u64() => Some((
                "/error/code",
                format!("the code of the error is {}", quote_json(code)),
            )),
            (_, Some(text)) if !text.is_string() => Some((
                "/error/message",
                format!("the message of the error is {}", quote_json(text)),
            )),
            _ => None,
        },
        // With a result beside it a null is the fault of JSONRPC-02.
        Value::Null if both => return,
        other => Some(("/error", format!("the error is {}", quote_json(other)))),
    };
    match fault {
        None => out.pass(ERROR),
        Some((path, what)) => out.fail(
            ERROR,
            moment.at(path),
            format!(
                "{what}, where an object with an integer `code` and a string `message` is expected"
            ),
        ),
    }
}

/// Says that the id exists with another JSON type.
fn other_type(talk: &Conversation, id: &Id) -> String {
    let open = id.twin().and_then(|twin| talk.client_request(&twin));
    open.map_or_else(String::new, |open| {
        format!(
            " ({} with id {} is open, but a number and a string are two ids)",
            open.method, open.id
        )
    })
}

#[cfg(test)]
mod tests;
