//! CLOSE-01 to -03, -05 and INTEROP-22: what closing a session ends, and what it still takes.

use serde_json::Value;

use super::prompt::{blames_account, said};
use super::quote::{quote, quote_json};
use super::refusal::excuse;
use super::{Conversation, Moment, Open, Origin, Out, Place, Rule, Turn};
use std::collections::VecDeque;

use crate::hash::{HashMap, HashSet};
use crate::trace::Body;
use crate::wire::{Id, Message};

/// How long after a close an answer may already have been under way, in seconds.
const UNDER_WAY: f64 = 0.2;

/// How long after its close a session may still hold a terminal, in seconds.
const GRACE: f64 = 1.0;

/// So many terminals and prompts are remembered.
const REMEMBERED: usize = 10_000;

/// CLOSE-01 (docs/protocol/v1/session-setup.mdx#closing-a-session): to close a session that is open, and in which nothing is
/// under way from the request to its answer, succeeds with an object. A null is INTEROP-25's.
///
/// CLOSE-02 (same section): the turn that is open when its session is closed ends
/// as a cancelled one, whichever of the two is answered first. Judged where the close succeeds. Only the oldest open turn is
/// judged, and none that the client cancelled otherwise as well. An error that comes so soon that it may have been under way
/// proves nothing, unless it comes after the answer to the close, speaks of the close, or the exchanges with the model show
/// that there was nothing to fail.
///
/// CLOSE-03 (same section): the terminals of the session have been released a second after the answer to the close. What
/// else a session holds cannot be seen in the traffic.
///
/// CLOSE-05: what still comes for a closed session is noted.
///
/// INTEROP-22: a prompt in a session that was closed or deleted is not answered with a result, unless the session came back.
#[derive(Default)]
pub(super) struct Closing {
    /// By the event of the prompt.
    turns: HashMap<u64, Closed>,
    /// Terminals that were not released, by their session and id.
    terminals: HashMap<String, HashMap<String, u64>>,
    /// Those whose session was closed, in the order of the closes: the oldest is due first.
    held: VecDeque<Held>,
    /// Requests to close a session in which nothing was under way.
    idle: HashSet<u64>,
    /// Prompts that were sent in a session that was closed.
    prompts: HashSet<u64>,
    /// Sessions of which something came after the close, noted once each.
    noted: HashSet<String>,
    now: f64,
}

/// A turn whose session is being closed.
struct Closed {
    /// The event of the close.
    close: u64,
    at: f64,
    session: String,
    probe: bool,
    /// Whether the close was answered with a result.
    succeeded: bool,
    ended: Option<Ended>,
}

/// How the turn ended.
enum Ended {
    Cancelled,
    /// Why it proves nothing.
    Open(String),
    Fault(Place, String),
}

/// The terminals of a session that was closed.
struct Held {
    session: String,
    /// The events of the requests that created them, by their ids.
    terminals: HashMap<String, u64>,
    /// When the close was answered, and the event of that.
    at: f64,
    answer: u64,
}

impl Rule for Closing {
    fn judges(&self) -> &'static [&'static str] {
        &["CLOSE-01", "CLOSE-02", "CLOSE-03", "CLOSE-05", "INTEROP-22"]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.now = moment.event.at;
        if !moment.talk.is_version_one() {
            return;
        }
        if let Body::Unanswered { id, .. } = &moment.event.body {
            self.gave_up(moment, &Id::from_value(id), out);
        } else if let Some(message) = moment.client_message() {
            self.client_sent(moment, message, out);
        } else if let Some((open, message)) = moment.answer_to("session/prompt") {
            if let Some(turn) = moment.ended_turn {
                self.ended(moment, turn, message, out);
            }
            if self.prompts.remove(&open.event) {
                prompted(moment, message, out);
            }
        } else if let Some((open, message)) = moment.answer_to("session/close") {
            if self.idle.remove(&open.event) && !open.probe {
                closed_idle(moment, open, message, out);
            }
            self.closed(moment, open.event, open.session.as_deref(), message, out);
        } else if let Some(message) = moment.agent_message() {
            self.agent_sent(moment, message, out);
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        for closed in std::mem::take(&mut self.turns).into_values() {
            if closed.succeeded {
                out.inconclusive(
                    "CLOSE-02",
                    "the recording ends before the turn was answered whose session was closed",
                );
            }
        }
        let over = talk.end.by_client() || talk.end.is_over();
        for held in std::mem::take(&mut self.held) {
            if self.now - held.at >= GRACE && !over {
                held.fail(out);
            } else if !held.terminals.is_empty() {
                out.inconclusive(
                    "CLOSE-03",
                    "the recording ends soon after a session was closed that had a terminal",
                );
            }
        }
    }
}

impl Closing {
    fn client_sent(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        if let Some((open, answer)) = moment.client_answer_to("terminal/create") {
            let id = answer.result().and_then(|result| result.get("terminalId"));
            if let (Some(id), Some(session)) = (id.and_then(Value::as_str), &open.session) {
                let of_session = self.terminals.entry(session.clone()).or_default();
                if of_session.len() < REMEMBERED {
                    of_session.insert(id.to_owned(), open.event);
                }
            }
            return;
        }
        // What the client closes ends what it could have been asked for.
        if moment.talk.end.by_client() {
            return;
        }
        self.overdue(moment, out);
        let Some(session) = message.session() else {
            return;
        };
        match message.method() {
            Some("session/close") => {
                if is_idle(moment, session) && self.idle.len() < REMEMBERED {
                    self.idle.insert(moment.index);
                }
                let turn = moment.talk.turn(session);
                if let Some(turn) = turn.filter(|turn| turn.cancelled == Some(moment.index)) {
                    let closed = Closed {
                        close: moment.index,
                        at: moment.event.at,
                        session: session.to_owned(),
                        probe: moment.is_probe(),
                        succeeded: false,
                        ended: None,
                    };
                    self.turns.insert(turn.event, closed);
                }
            }
            Some("session/prompt") => {
                let known = moment.talk.session(session);
                if known.is_some_and(|known| known.closed.is_some())
                    && self.prompts.len() < REMEMBERED
                {
                    self.prompts.insert(moment.index);
                }
            }
            Some("session/cancel") => {
                // Which of the two ended the turn cannot be told.
                self.turns.retain(|_, closed| closed.session != session);
            }
            _ => {}
        }
    }

    fn ended(&mut self, moment: &Moment<'_>, turn: &Turn, message: &Message, out: &mut Out<'_>) {
        let Some(mut closed) = self.turns.remove(&turn.event) else {
            return;
        };
        let reason = message
            .result()
            .and_then(|result| result.get("stopReason"))
            .and_then(Value::as_str);
        let after = moment.event.at - closed.at;
        // A turn that waited for a permission ends by what the client answered to it after the close.
        let waited = turn
            .permission_cancelled
            .is_some_and(|answered| answered > closed.close);
        let talk = moment.talk;
        let may_have_failed =
            !talk.model_seen || talk.model_failed.is_some_and(|failed| failed > turn.event);
        let crosses = after <= UNDER_WAY
            && !waited
            && !closed.succeeded
            && may_have_failed
            && !speaks_of_the_end(message);
        closed.ended = Some(match reason {
            Some("cancelled") => Ended::Cancelled,
            None if blames_account(message) => {
                Ended::Open("the turn may have failed before the close".to_owned())
            }
            None if message.error().is_some() && crosses => Ended::Open(format!(
                "the error {} came {:.0} ms after the close and may have been under way",
                message.error_code().unwrap_or_default(),
                after * 1000.0
            )),
            None if message.error().is_some() => Ended::Fault(
                moment.at("/error"),
                format!(
                    "the turn whose session was closed was answered with the error {} {}, expected stopReason \"cancelled\"",
                    message.error_code().unwrap_or_default(),
                    quote(said(message))
                ),
            ),
            Some(reason) if (after <= UNDER_WAY && !waited) || closed.probe => {
                Ended::Open(format!(
                    "the answer {} came {:.0} ms after the close and may have been under way",
                    quote(reason),
                    after * 1000.0
                ))
            }
            Some(reason) => Ended::Fault(
                moment.at("/result/stopReason"),
                format!(
                    "stopReason is {} {:.0} ms after the session was closed, expected \"cancelled\"",
                    quote(reason),
                    after * 1000.0
                ),
            ),
            None => return,
        });
        if closed.succeeded {
            conclude(closed, out);
        } else {
            self.turns.insert(turn.event, closed);
        }
    }

    fn closed(
        &mut self,
        moment: &Moment<'_>,
        close: u64,
        session: Option<&str>,
        message: &Message,
        out: &mut Out<'_>,
    ) {
        let failed = message.error().is_some();
        let turns: Vec<u64> = self
            .turns
            .iter()
            .filter(|(_, closed)| closed.close == close)
            .map(|(prompt, _)| *prompt)
            .collect();
        for prompt in turns {
            let Some(mut closed) = self.turns.remove(&prompt) else {
                continue;
            };
            if failed {
                out.inconclusive("CLOSE-02", "the close was refused while a turn was open");
                continue;
            }
            closed.succeeded = true;
            if closed.ended.is_some() {
                conclude(closed, out);
            } else {
                self.turns.insert(prompt, closed);
            }
        }
        if failed {
            return;
        }
        if let Some(session) = session
            && let Some(terminals) = self.terminals.remove(session)
        {
            self.held.push_back(Held {
                session: session.to_owned(),
                terminals,
                at: moment.event.at,
                answer: moment.index,
            });
        }
    }

    fn gave_up(&mut self, moment: &Moment<'_>, id: &Id, out: &mut Out<'_>) {
        let Some(open) = moment.talk.client_request(id) else {
            return;
        };
        let Some(closed) = self.turns.remove(&open.event) else {
            return;
        };
        if closed.probe || open.probe {
            return;
        }
        match super::jsonrpc::excuse(moment.talk, open) {
            Some(why) => out.inconclusive("CLOSE-02", why),
            None if !closed.succeeded => {
                out.inconclusive("CLOSE-02", "neither the close nor the turn was answered");
            }
            None => out.fail(
                "CLOSE-02",
                moment.place(),
                "the turn whose session was closed was never answered, expected stopReason \"cancelled\"",
            ),
        }
    }

    fn agent_sent(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        if message.method() == Some("terminal/release") {
            let id = message.params().and_then(|params| params.get("terminalId"));
            if let (Some(id), Some(session)) = (id.and_then(Value::as_str), message.session()) {
                self.released(id, session, out);
            }
            return;
        }
        self.overdue(moment, out);
        let (Some(method), Some(session)) = (message.method(), message.session()) else {
            return;
        };
        let closed = moment.talk.session(session).and_then(|known| known.closed);
        if let Some(closed) = closed.filter(|closed| *closed < moment.index)
            && self.noted.len() < REMEMBERED
            && self.noted.insert(session.to_owned())
        {
            let what = moment.update().map_or(method, |update| update.kind);
            out.note(
                "CLOSE-05",
                moment.at("/params/sessionId"),
                format!("{what} came for the session after it had been closed or deleted (event {closed})"),
            );
        }
    }

    fn released(&mut self, id: &str, session: &str, out: &mut Out<'_>) {
        let open = self.terminals.get_mut(session);
        if open.is_some_and(|open| open.remove(id).is_some()) {
            return;
        }
        let mut held = self.held.iter_mut().filter(|held| held.session == session);
        if held.any(|held| held.terminals.remove(id).is_some()) {
            out.pass("CLOSE-03");
        }
    }

    /// Fails the terminals that closed sessions have held for too long.
    fn overdue(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        while let Some(held) = self
            .held
            .pop_front_if(|held| moment.event.at - held.at >= GRACE)
        {
            held.fail(out);
        }
    }
}

impl Held {
    fn fail(self, out: &mut Out<'_>) {
        let mut created: Vec<u64> = self.terminals.into_values().collect();
        created.sort_unstable();
        for created in created {
            out.fail(
                "CLOSE-03",
                Place::event(created),
                format!(
                    "the terminal was not released within {GRACE:.0} s, though its session {} was closed (event {})",
                    quote(&self.session),
                    self.answer
                ),
            );
        }
    }
}

/// Words of an error by which an agent says that it ended a turn because of the close.
const END: [&str; 7] = [
    "abort",
    "cancel",
    "close",
    "closing",
    "destroy",
    "dispos",
    "interrupt",
];

fn speaks_of_the_end(message: &Message) -> bool {
    let error = message.error().map(ToString::to_string).unwrap_or_default();
    let error = error.to_lowercase();
    END.iter().any(|word| error.contains(word))
}

fn conclude(closed: Closed, out: &mut Out<'_>) {
    match closed.ended {
        Some(Ended::Cancelled) => out.pass("CLOSE-02"),
        Some(Ended::Open(why)) => out.inconclusive("CLOSE-02", why),
        Some(Ended::Fault(place, message)) => out.fail("CLOSE-02", place, message),
        None => {}
    }
}

/// Whether a session is open, and no request about it but this one.
fn is_idle(moment: &Moment<'_>, session: &str) -> bool {
    let known = moment.talk.session(session);
    known.is_some_and(|known| {
        matches!(known.origin, Origin::New | Origin::Load | Origin::Resume)
            && known.closed.is_none()
    }) && !moment
        .talk
        .client_requests()
        .any(|open| open.event != moment.index && open.session.as_deref() == Some(session))
}

/// CLOSE-01.
fn closed_idle(moment: &Moment<'_>, open: &Open, message: &Message, out: &mut Out<'_>) {
    let busy = moment
        .talk
        .client_requests()
        .any(|it| it.session == open.session);
    let result = message.result().filter(|_| message.error().is_none());
    match (result, excuse(open, message)) {
        _ if busy => {}
        (Some(result), _) if result.is_null() => {}
        (Some(result), _) => {
            out.check("CLOSE-01", result.is_object(), moment.at("/result"), || {
                format!(
                    "session/close is answered with {}, expected an object",
                    quote_json(result)
                )
            })
        }
        (None, Some(why)) => out.inconclusive("CLOSE-01", why),
        (None, None) => out.fail(
            "CLOSE-01",
            moment.at("/error"),
            format!(
                "to close an open session in which nothing is under way was refused with {} {}",
                message.error_code().unwrap_or_default(),
                quote(said(message))
            ),
        ),
    }
}

/// INTEROP-22.
fn prompted(moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
    if message.error().is_some() {
        out.pass("INTEROP-22");
    } else if message.result().is_some() {
        out.fail(
            "INTEROP-22",
            moment.at("/result"),
            "a prompt in a session that was closed or deleted was answered with a result, expected an error",
        );
    }
}

#[cfg(test)]
mod tests;
