//! How each event changes what is known of a connection.

use std::collections::VecDeque;

use serde_json::Value;

use super::open::{self, rounded, take, under_another_type};
use super::{Change, Conversation, Handshake, Open, Origin, Session, Turn};
use crate::rules::Update;
use crate::rules::calls::{CallStep, consent_of};
use crate::rules::gap::{self, Gap};
use crate::trace::{Body, Event, ExchangeEnd, ExchangePart, Party};
use crate::wire::{Id, Kind, Message, Oddity, Reading};

/// So many requests whose answer came under an id of another type are remembered.
const REMEMBERED: usize = 10_000;

/// Methods whose request creates or reopens a session.
const REOPENS: [&str; 2] = ["session/load", "session/resume"];

impl Conversation {
    /// Takes the next event.
    pub(in crate::rules) fn observe(
        &mut self,
        index: u64,
        event: &Event,
        reading: Option<&Reading>,
    ) -> Change {
        match (&event.body, event.from) {
            (Body::Eof, Party::Client) => {
                self.end.stdin_closed.get_or_insert(index);
            }
            (Body::Eof, Party::Agent) => {
                self.end.stdout_closed.get_or_insert(index);
            }
            (Body::Signal(_), _) => {
                self.end.signalled.get_or_insert(index);
            }
            // A recorder saw that the client reads no longer: what the agent does then is the client's doing.
            (Body::Other(value), Party::Harness)
                if value.get("closed").and_then(Value::as_str) == Some("client") =>
            {
                self.end.stdin_closed.get_or_insert(index);
            }
            (Body::Exit(exit), _) => {
                self.end.exited.get_or_insert(index);
                self.end.exit.get_or_insert(*exit);
            }
            (Body::Model(exchange), _) => {
                self.model_seen = true;
                if matches!(
                    exchange.part,
                    ExchangePart::Status(400..)
                        | ExchangePart::End(ExchangeEnd::Cut | ExchangeEnd::Refused)
                ) {
                    self.model_failed = Some(index);
                }
            }
            _ => {}
        }
        if event.from == Party::Client
            && reading.is_some_and(|reading| !is_well_formed(event, reading))
        {
            self.malformed.get_or_insert(index);
        }
        let Some(message) = reading.and_then(Reading::message) else {
            if let (Party::Agent, Some(Reading::Odd(oddity))) = (event.from, reading)
                && (oddity.may_hold_messages() || after_other_text(event, oddity))
            {
                self.unread = Some(index);
            }
            if matches!(event.body, Body::Line { .. }) {
                self.notice_line(event.from);
            }
            return Change::default();
        };
        self.notice(event.from, message);
        match (event.from, message.kind()) {
            (Party::Client, Kind::Request { id, method }) => {
                self.client_request_sent(index, event, id, method, message)
            }
            (Party::Client, Kind::Notification { method }) => {
                self.client_notified(index, event.at, method, message);
                Change {
                    ended_gap: self.gap_ended_by_custom(method, message),
                    ..Change::default()
                }
            }
            (Party::Client, Kind::Response { id }) => self.client_answered(index, id, message),
            (Party::Agent, Kind::Request { id, method }) => {
                let open = Open::new(index, event, id, method, message);
                open::push(&mut self.open[1], open, self.hole.unwrap_or(0));
                Change {
                    call: self.permission_asked(index, method, message),
                    ..Change::default()
                }
            }
            (Party::Agent, Kind::Notification { method }) if method == "session/update" => Change {
                call: self.updated(index, event, message),
                ..Change::default()
            },
            (Party::Agent, Kind::Response { id }) => {
                self.agent_answered(index, event.at, id, message)
            }
            _ => Change::default(),
        }
    }

    fn client_request_sent(
        &mut self,
        index: u64,
        event: &Event,
        id: &Id,
        method: &str,
        message: &Message,
    ) -> Change {
        let open = Open::new(index, event, id, method, message);
        let mut change = Change::default();
        let hole = self.hole.unwrap_or(0);
        if let Some(session) = &open.session {
            if REOPENS.contains(&method) {
                let origin = if method == "session/load" {
                    Origin::Load
                } else {
                    Origin::Resume
                };
                let known = self
                    .sessions
                    .entry(session.clone())
                    .or_insert_with(|| Session::new(origin, index, &open.params));
                known.comes_back(index, method == "session/load");
            } else if !self.whole && !self.sessions.contains_key(session) {
                self.sessions.insert(
                    session.clone(),
                    Session::new(Origin::Before, index, &Value::Null),
                );
            }
            if let Some(known) = self.sessions.get_mut(session) {
                if gap::ends_at(method) {
                    change.ended_gap = known.gap.take();
                }
                match method {
                    "session/prompt" => {
                        // What was open when lines were lost has probably ended in them.
                        known.turns.retain(|turn| turn.event >= hole);
                        known.keep_coming(|coming| coming.event >= hole);
                        if known.turns.is_empty() {
                            known.calls.turn_begins();
                        }
                        let shared = !known.turns.is_empty();
                        known.turns.push_back(Turn {
                            session: session.clone(),
                            event: index,
                            at: event.at,
                            id: id.clone(),
                            cancelled: None,
                            cancelled_at: None,
                            permission_cancelled: None,
                        });
                        if self.keeps_transcripts() {
                            self.transcripts.prompted(
                                session,
                                index,
                                shared,
                                event.redacted,
                                message,
                            );
                        }
                    }
                    "session/close" | "session/delete" => known.cancel_turns(index, event.at),
                    _ => {}
                }
            }
        }
        open::push(&mut self.open[0], open, hole);
        change
    }

    fn permission_asked(
        &mut self,
        index: u64,
        method: &str,
        message: &Message,
    ) -> Option<CallStep> {
        if method != "session/request_permission" {
            return None;
        }
        let call = message.params()?.get("toolCall")?;
        let session = self.sessions.get_mut(message.session()?)?;
        let turn = session.turns.front().map(|turn| turn.event);
        session.calls.asked(index, turn, call)
    }

    fn updated(&mut self, index: u64, event: &Event, message: &Message) -> Option<CallStep> {
        let update = Update::of(message)?;
        if self.keeps_transcripts() {
            let turn = self.turn(update.session).map(|turn| turn.event);
            self.transcripts.updated(&update, turn, event.redacted);
        }
        let session = self.sessions.get_mut(update.session)?;
        if let Some(gap) = &mut session.gap
            && update.is_content()
        {
            gap.late += 1;
            gap.last = event.at;
        }
        let turn = session.turns.front().map(|turn| turn.event);
        match update.kind {
            "tool_call" => {
                let replayed = session.loading.is_some();
                session.calls.announced(index, turn, replayed, update.body)
            }
            "tool_call_update" => session.calls.updated(index, turn, update.body),
            _ => None,
        }
    }

    fn client_notified(&mut self, index: u64, at: f64, method: &str, message: &Message) {
        match method {
            "session/cancel" => {
                if let Some(session) = message.session().and_then(|id| self.sessions.get_mut(id)) {
                    session.cancel_turns(index, at);
                }
            }
            "$/cancel_request" => {
                let Some(id) = message.params().and_then(|params| params.get("requestId")) else {
                    return;
                };
                let id = Id::from_value(id);
                let Some(open) = self.open[0].get_mut(&id).and_then(VecDeque::front_mut) else {
                    return;
                };
                open.cancel_requested.get_or_insert(index);
                let event = open.event;
                if let Some(session) = open
                    .session
                    .as_ref()
                    .and_then(|id| self.sessions.get_mut(id))
                    && let Some(turn) = session.turns.iter_mut().find(|turn| turn.event == event)
                {
                    turn.cancel(index, at);
                }
            }
            _ => {}
        }
    }

    /// A custom notification that names a session may ask for content.
    fn gap_ended_by_custom(&mut self, method: &str, message: &Message) -> Option<Gap> {
        if !method.starts_with('_') {
            return None;
        }
        self.sessions.get_mut(message.session()?)?.gap.take()
    }

    fn client_answered(&mut self, index: u64, id: &Id, message: &Message) -> Change {
        let Some(open) = take(&mut self.open[1], id) else {
            return Change::default();
        };
        let cancelled = message
            .result()
            .and_then(|result| result.pointer("/outcome/outcome"))
            .and_then(Value::as_str)
            == Some("cancelled");
        if open.method == "session/request_permission"
            && cancelled
            && let Some(turn) = open
                .session
                .as_ref()
                .and_then(|id| self.sessions.get_mut(id))
                .and_then(|session| session.turns.front_mut())
        {
            turn.permission_cancelled.get_or_insert(index);
        }
        let call = (open.method == "session/request_permission")
            .then(|| {
                let consent = consent_of(index, &open.params, message.result());
                let session = self.sessions.get_mut(open.session.as_ref()?)?;
                session
                    .calls
                    .answered(open.params.get("toolCall")?, consent)
            })
            .flatten();
        Change {
            answers: Some(open),
            call,
            ..Change::default()
        }
    }

    fn agent_answered(&mut self, index: u64, at: f64, id: &Id, message: &Message) -> Change {
        let taken = take(&mut self.open[0], id).or_else(|| {
            let rounded = rounded(&self.open[0], id)?;
            take(&mut self.open[0], &rounded)
        });
        let Some(open) = taken else {
            if let Some(open) = under_another_type(&self.open[0], id)
                && self.misaddressed.len() < REMEMBERED
            {
                self.misaddressed.insert(open.event);
            }
            return Change {
                answered_before: self.answered.contains(id),
                ..Change::default()
            };
        };
        self.answered.insert(id);
        // An answer with both is JSONRPC-02's; what its result says was said all the same.
        let result = message
            .result()
            .filter(|result| message.error().is_none() || result.is_object());
        let mut change = Change::default();
        match open.method.as_str() {
            "initialize" => {
                if let Some(result) = result {
                    self.agreed += 1;
                    self.handshake =
                        Some(Handshake::new(index, open.params.clone(), result.clone()));
                }
            }
            "session/new" | "session/fork" => {
                if let Some(session) = result
                    .and_then(|result| result.get("sessionId"))
                    .and_then(Value::as_str)
                {
                    let origin = if open.method == "session/new" {
                        Origin::New
                    } else {
                        Origin::Fork
                    };
                    self.sessions
                        .entry(session.to_owned())
                        .or_insert_with(|| Session::new(origin, index, &open.params));
                    self.transcripts.created(session, &open.params);
                } else {
                    self.nameless_session |= result.is_some();
                }
                self.remember_members(result);
            }
            "session/load" | "session/resume" => {
                self.remember_members(result);
                if let Some(id) = &open.session
                    && let Some(session) = self.sessions.get_mut(id)
                {
                    session.keep_coming(|coming| coming.event != open.event);
                    if result.is_none() && session.known == open.event {
                        // One that was refused made nothing known, and another may be on its way.
                        match session.coming.front() {
                            Some(next) => session.known = next.event,
                            None => {
                                self.sessions.remove(id);
                            }
                        }
                    }
                }
            }
            "session/prompt" => {
                if let Some(id) = &open.session {
                    self.transcripts.answered(id, open.event, result);
                }
                if let Some(session) = open
                    .session
                    .as_ref()
                    .and_then(|id| self.sessions.get_mut(id))
                {
                    let position = session
                        .turns
                        .iter()
                        .position(|turn| turn.event == open.event);
                    change.ended_turn =
                        position.and_then(|position| session.turns.remove(position));
                    session.turns_ended += 1;
                    session.last_answer = Some(index);
                    session.last_prompt = Some(open.event);
                    session.last_cancelled = result
                        .and_then(|result| result.get("stopReason"))
                        .and_then(Value::as_str)
                        == Some("cancelled");
                    if session.turns.is_empty() && session.loading.is_none() {
                        let by_client = change
                            .ended_turn
                            .as_ref()
                            .is_some_and(|turn| turn.cancelled.is_some());
                        let cancelled = session.last_cancelled || (by_client && result.is_none());
                        session.gap = Some(Gap::new(index, at, cancelled));
                    }
                }
            }
            "session/close" | "session/delete" => {
                if result.is_some()
                    && let Some(session) = open
                        .session
                        .as_ref()
                        .and_then(|id| self.sessions.get_mut(id))
                {
                    session.closed.get_or_insert(index);
                }
            }
            _ => {}
        }
        change.answers = Some(open);
        change
    }

    fn remember_members(&mut self, result: Option<&Value>) {
        let Some(members) = result.and_then(Value::as_object) else {
            return;
        };
        for (name, value) in members {
            if !value.is_null() && !self.session_members.contains(name) {
                self.session_members.push(name.clone());
                self.agreed += 1;
            }
        }
    }
}

/// Whether a message may stand behind text on the same line, as where a log line and a message ran together.
fn after_other_text(event: &Event, oddity: &Oddity) -> bool {
    matches!(oddity, Oddity::NotJson { .. })
        && event
            .body
            .wire_bytes()
            .is_some_and(|bytes| bytes.contains(&b'{'))
}

/// Whether a line of the client is one message as the protocol wants it, alone on its line.
fn is_well_formed(event: &Event, reading: &Reading) -> bool {
    let Reading::Message(message) = reading else {
        return false;
    };
    let version = message.members().get("jsonrpc").and_then(Value::as_str);
    matches!(event.body, Body::Message { .. })
        && version == Some("2.0")
        && message.id().is_none_or(Id::is_legal)
}
