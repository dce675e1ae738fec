//! REQCANCEL-01 to -05: requests that are cancelled by `$/cancel_request`.

use serde_json::Value;

use super::prompt::{blames_account, said};
use super::quote::{quote, quote_id};
use super::{Conversation, Moment, Open, Out, Place, Rule};
use crate::hash::HashSet;
use crate::trace::Body;
use crate::wire::{Id, Message};

/// The code of a request that was cancelled.
const CANCELLED: i64 = -32800;

/// Words of an error that say that something was broken off.
const WORDS: [&str; 6] = [
    "cancel",
    "abort",
    "interrupt",
    "timed out",
    "timeout",
    "terminated",
];

/// So many ids are remembered.
const REMEMBERED: usize = 100_000;

/// How long after a notification an answer to it may come, in seconds.
const SOON: f64 = 1.0;

/// REQCANCEL-01 (docs/protocol/v1/cancellation.mdx#cancel_request-notification): a request that the client asked to cancel
/// is answered with a result or with -32800. Another error fails where it says that the request was broken off; any other
/// may have its own reason. Silence fails. What is wrong in the result, its own method's requirements judge.
///
/// REQCANCEL-02: how the request was answered is noted.
///
/// REQCANCEL-03: a notification whose name begins with `$/` gets no response, and does not end the agent. A response
/// counts that has no id, or that of a request which the notification names and which is not open.
///
/// REQCANCEL-04: the agent cancels requests of its own only.
///
/// REQCANCEL-05 (#internal-cancellation): an error that says that a request was broken off, with another code, is noted
/// where nobody had cancelled it.
#[derive(Default)]
pub(super) struct RequestCancels {
    /// The ids of the agent's requests that were answered.
    answered: HashSet<Id>,
    /// The last notification whose name begins with `$/`.
    last: Option<Optional>,
    races: Races,
}

/// What came of the turns that the client asked to cancel as requests.
#[derive(Default)]
struct Races {
    /// How many there were.
    all: u64,
    /// How many of them were answered as cancelled.
    won: u64,
    /// The event of the last answer.
    last: u64,
}

struct Optional {
    event: u64,
    at: f64,
    method: String,
    /// The request that it names, where that is not open.
    names: Option<Id>,
}

impl Rule for RequestCancels {
    fn judges(&self) -> &'static [&'static str] {
        &[
            "REQCANCEL-01",
            "REQCANCEL-02",
            "REQCANCEL-03",
            "REQCANCEL-04",
            "REQCANCEL-05",
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        match &moment.event.body {
            Body::Unanswered { id, .. } => gave_up(moment, &Id::from_value(id), out),
            Body::Exit(_) => self.exited(moment.talk, out),
            _ => {}
        }
        if let Some(message) = moment.client_message() {
            self.client_sent(moment, message, out);
        } else if let Some(message) = moment.agent_message() {
            if message.is_response() {
                self.agent_answered(moment, message, out);
            } else if message.method() == Some("$/cancel_request") {
                self.agent_cancels(moment, message, out);
            }
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        if self.last.take().is_some() && talk.end.by_itself().is_none() {
            out.pass("REQCANCEL-03");
        }
        let Races { all, won, last } = self.races;
        if all > 1 {
            out.note(
                "REQCANCEL-02",
                Place::event(last),
                format!(
                    "turns and their cancels (`$/cancel_request`): the cancel won {won} of {all}"
                ),
            );
        }
    }
}

impl Races {
    fn add(&mut self, event: u64, answer: &Message) {
        let reason = answer.result().and_then(|result| result.get("stopReason"));
        let cancelled = reason.and_then(Value::as_str) == Some("cancelled")
            || answer.error_code() == Some(CANCELLED);
        self.all += 1;
        self.won += u64::from(cancelled);
        self.last = event;
    }
}

impl RequestCancels {
    fn client_sent(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        if let (true, Some(open)) = (message.is_response(), moment.answers)
            && self.answered.len() < REMEMBERED
        {
            self.answered.insert(open.id.clone());
        }
        let notification = message.method().filter(|_| message.id().is_none());
        let Some(method) = notification.filter(|method| method.starts_with("$/")) else {
            return;
        };
        if self.last.is_some() {
            out.pass("REQCANCEL-03");
        }
        let id = message.params().and_then(|params| params.get("requestId"));
        let id = id.map(Id::from_value);
        self.last = Some(Optional {
            event: moment.index,
            at: moment.event.at,
            method: method.to_owned(),
            names: id.filter(|id| moment.talk.client_request(id).is_none()),
        });
    }

    fn agent_answered(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        match moment.answers {
            Some(open) if open.cancel_requested.is_some() => {
                if open.method == "session/prompt" && !open.probe {
                    self.races.add(moment.index, message);
                }
                cancelled(moment, open, message, out);
            }
            Some(open) => broken_off(moment, open, message, out),
            None => self.stray(moment, message, out),
        }
    }

    /// A response that answers no open request.
    fn stray(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        let Some(last) = &self.last else {
            return;
        };
        let id = message.id();
        let null = id.is_none_or(|id| *id == Id::Null)
            && moment.talk.malformed.is_none()
            && moment.event.at - last.at <= SOON;
        if null || (id.is_some() && id == last.names.as_ref()) {
            out.fail(
                "REQCANCEL-03",
                moment.at("/id"),
                format!(
                    "the notification {} (event {}) was answered, expected no response",
                    quote(&last.method),
                    last.event
                ),
            );
            self.last = None;
        }
    }

    fn exited(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        let Some(last) = &self.last else {
            return;
        };
        let Some(end) = talk.end.by_itself() else {
            return;
        };
        // An agent that ends while it works on a request may do so for another reason.
        let idle = talk.client_requests().all(|open| open.event > last.event);
        if idle && end > last.event {
            out.fail(
                "REQCANCEL-03",
                Place::event(end),
                format!(
                    "the agent ended after the notification {} (event {}), which it may ignore",
                    quote(&last.method),
                    last.event
                ),
            );
            self.last = None;
        }
    }

    fn agent_cancels(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        let Some(id) = message.params().and_then(|params| params.get("requestId")) else {
            return;
        };
        let id = Id::from_value(id);
        let place = moment.at("/params/requestId");
        if moment.talk.agent_requests_of(&id) > 0 {
            out.pass("REQCANCEL-04");
        } else if self.answered.contains(&id) {
            out.pass("REQCANCEL-04");
            out.note(
                "REQCANCEL-04",
                place,
                format!(
                    "the request {} was answered already, which may be a race",
                    quote_id(&id)
                ),
            );
        } else if self.answered.len() >= REMEMBERED {
            out.inconclusive(
                "REQCANCEL-04",
                "more requests were answered than are remembered",
            );
        } else {
            out.fail(
                "REQCANCEL-04",
                place,
                format!(
                    "the agent cancels the request {}, which it never sent",
                    quote_id(&id)
                ),
            );
        }
    }
}

fn cancelled(moment: &Moment<'_>, open: &Open, message: &Message, out: &mut Out<'_>) {
    if open.probe {
        return;
    }
    let code = message.error_code();
    let form = match (message.error(), message.result()) {
        (Some(_), _) => format!("the error {}", code.unwrap_or_default()),
        (None, Some(result)) => match result.get("stopReason").and_then(Value::as_str) {
            Some(reason) => format!("the stop reason {}", quote(reason)),
            None => "a result".to_owned(),
        },
        (None, None) => return,
    };
    out.note(
        "REQCANCEL-02",
        moment.place(),
        format!(
            "{}, cancelled as a request, was answered with {form}",
            open.method
        ),
    );
    if message.error().is_none() || code == Some(CANCELLED) {
        out.pass("REQCANCEL-01");
        return;
    }
    let text = said(message);
    if is_broken_off(message) && !blames_account(message) {
        out.fail(
            "REQCANCEL-01",
            moment.at("/error/code"),
            format!(
                "{} was cancelled as a request and answered with the error {} {}, expected a result or the error {CANCELLED}",
                open.method,
                code.unwrap_or_default(),
                quote(text)
            ),
        );
    } else {
        out.inconclusive(
            "REQCANCEL-01",
            format!(
                "{} was answered with {} {}, which may have another reason than the cancel",
                open.method,
                code.unwrap_or_default(),
                quote(text)
            ),
        );
    }
}

fn broken_off(moment: &Moment<'_>, open: &Open, message: &Message, out: &mut Out<'_>) {
    let by_client = moment
        .ended_turn
        .is_some_and(|turn| turn.cancelled.is_some());
    if !open.probe
        && !by_client
        && message.error_code().is_some_and(|code| code != CANCELLED)
        && is_broken_off(message)
    {
        out.note(
            "REQCANCEL-05",
            moment.at("/error/code"),
            format!(
                "{} was broken off with the error {} {}; {CANCELLED} says that",
                open.method,
                message.error_code().unwrap_or_default(),
                quote(said(message))
            ),
        );
    }
}

/// Whether an error says that something was broken off.
fn is_broken_off(message: &Message) -> bool {
    let error = message.error();
    let data = error
        .and_then(|error| error.get("data"))
        .map(Value::to_string);
    let text = format!("{} {}", said(message), data.unwrap_or_default()).to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

fn gave_up(moment: &Moment<'_>, id: &Id, out: &mut Out<'_>) {
    let open = moment.talk.client_request(id);
    let Some(open) = open.filter(|open| open.cancel_requested.is_some() && !open.probe) else {
        return;
    };
    match super::jsonrpc::excuse(moment.talk, open) {
        Some(why) => out.inconclusive("REQCANCEL-01", why),
        None => out.fail(
            "REQCANCEL-01",
            Place::event(open.event),
            format!(
                "{} was cancelled as a request and never answered, expected a result or the error {CANCELLED}",
                open.method
            ),
        ),
    }
}

#[cfg(test)]
mod tests;
