//! The state of a conversation as far as its events tell: the handshake, what is open, sessions and turns.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::Update;
use super::calls::{CallStep, Calls, consent_of};
use super::gap::{self, Gap};
use crate::spec::{Condition, Facts, Truth};
use crate::trace::{Body, Event, ExchangeEnd, ExchangePart, Exit, Party};
use crate::wire::{Id, Kind, Message, Oddity, Reading};

/// Methods whose request creates or reopens a session.
const REOPENS: [&str; 2] = ["session/load", "session/resume"];

/// What is known of a connection after the events so far. Bounded by what is open and by the number of sessions.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// Whether the recording begins with the process.
    pub from_start: bool,
    /// The last `initialize` that was answered with a result.
    pub handshake: Option<Handshake>,
    /// How the agent's side has ended, so far.
    pub end: End,
    /// The last event at which the model refused a request (a status of 400 or more) or broke off its reply.
    pub model_failed: Option<u64>,
    /// The last line of the agent that may have held messages and could not be read as one: a batch, two messages on one
    /// line, a message cut or spread over lines, text that is no UTF-8, a message behind other
    /// text. An answer that seems to be missing may stand there.
    pub unread: Option<u64>,
    /// The first line of the client that is no well-formed message alone on its line, as after such input no text says
    /// that the agent must go on (JSONRPC-18 and JSONRPC-19 observe, INTEROP-06 judges).
    pub malformed: Option<u64>,
    open: [HashMap<Id, VecDeque<Open>>; 2],
    answered: HashMap<Id, u64>,
    sessions: HashMap<String, Session>,
    session_members: Vec<String>,
}

/// What `initialize` agreed on.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// The event of the answer.
    pub event: u64,
    /// The client's params.
    pub params: Value,
    /// The agent's result.
    pub result: Value,
}

impl Handshake {
    /// `protocolVersion` of the result.
    pub fn version(&self) -> Option<u64> {
        self.result.get("protocolVersion")?.as_u64()
    }
}

/// What has ended, and by whose doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The event at which the client closed the agent's stdin.
    pub stdin_closed: Option<u64>,
    /// The event at which the agent's stdout ended.
    pub stdout_closed: Option<u64>,
    /// The event at which the harness first sent a signal.
    pub signalled: Option<u64>,
    /// The event at which the process ended.
    pub exited: Option<u64>,
    /// How the process ended.
    pub exit: Option<Exit>,
}

impl End {
    /// Whether the client side has begun to end the agent, so that a missing answer proves nothing.
    pub fn by_client(&self) -> bool {
        self.stdin_closed.is_some() || self.signalled.is_some()
    }

    /// Whether the agent can still say something.
    pub fn is_over(&self) -> bool {
        self.stdout_closed.is_some() || self.exited.is_some()
    }

    /// The event at which the agent began to end by its own doing: it exited or crashed while its stdin was open. An end
    /// by a signal that others send to stop a program (HUP, INT, KILL, TERM) is not its own doing.
    pub fn by_itself(&self) -> Option<u64> {
        const STOPS: [i32; 4] = [1, 2, 9, 15];
        let exited = self.exited?;
        let stopped = match self.exit? {
            Exit::Signal(signal) => STOPS.contains(&signal),
            Exit::Code(code) => STOPS.contains(&(code - 128)),
        };
        let first = self.stdout_closed.map_or(exited, |eof| eof.min(exited));
        let before = |event: Option<u64>| event.is_some_and(|event| event < first);
        (!stopped && !before(self.stdin_closed) && !before(self.signalled)).then_some(first)
    }
}

/// A request that waits for its answer.
#[derive(Clone, Debug)]
pub struct Open {
    /// The event of the request.
    pub event: u64,
    /// When it was sent, in seconds.
    pub at: f64,
    /// Its id.
    pub id: Id,
    /// Its method.
    pub method: String,
    /// Its params; of a prompt without the content.
    pub params: Value,
    /// The session it names.
    pub session: Option<String>,
    /// Whether it was sent to provoke.
    pub probe: bool,
    /// The event at which its sender asked to cancel it by `$/cancel_request`.
    pub cancel_requested: Option<u64>,
}

/// How a session came to be known on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Created by `session/new`.
    New,
    /// Named in a `session/load`.
    Load,
    /// Named in a `session/resume`.
    Resume,
    /// Created by `session/fork`, which is a draft.
    Fork,
    /// Named by the client in a recording that begins later.
    Before,
}

/// A session that the client knows.
#[derive(Clone, Debug)]
pub struct Session {
    /// How it came to be known.
    pub origin: Origin,
    /// The event that made it known: the answer to `session/new`, or the load or resume request.
    pub known: u64,
    /// `cwd` of the request that opened it.
    pub cwd: Option<String>,
    /// `additionalDirectories` of that request.
    pub additional: Vec<String>,
    /// The event at which a close or delete of it was answered.
    pub closed: Option<u64>,
    /// The event of a load request whose answer is due: what comes is replay.
    pub loading: Option<u64>,
    /// The turns that are open, the oldest first (a second prompt may wait in the agent).
    pub turns: VecDeque<Turn>,
    /// How many turns have ended.
    pub turns_ended: u64,
    /// Whether the last turn that ended was answered `cancelled`.
    pub last_cancelled: bool,
    /// The event of the last answer to a prompt.
    pub last_answer: Option<u64>,
    /// Since the last answer to a prompt, as long as no content is due.
    pub gap: Option<Gap>,
    /// Its tool calls.
    pub calls: Calls,
}

/// The interval from a `session/prompt` to its answer.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Its session.
    pub session: String,
    /// The event of the prompt.
    pub event: u64,
    /// When the prompt was sent, in seconds.
    pub at: f64,
    /// The id of the prompt.
    pub id: Id,
    /// The event at which the client cancelled it: `session/cancel`, `$/cancel_request`, close or delete.
    pub cancelled: Option<u64>,
    /// When that was, in seconds.
    pub cancelled_at: Option<f64>,
    /// The event at which a permission of the turn was answered with the outcome `cancelled`.
    pub permission_cancelled: Option<u64>,
}

/// What an event changed, for the rules that see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) answers: Option<Open>,
    pub(super) ended_turn: Option<Turn>,
    pub(super) answered_before: bool,
    pub(super) ended_gap: Option<Gap>,
    pub(super) call: Option<CallStep>,
}

impl Conversation {
    /// A conversation of which nothing has been seen.
    pub fn new(from_start: bool) -> Self {
        Self {
            from_start,
            ..Self::default()
        }
    }

    /// The session, if the client knows it.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// All sessions that the client knows.
    pub fn sessions(&self) -> impl Iterator<Item = (&str, &Session)> {
        self.sessions
            .iter()
            .map(|(id, session)| (id.as_str(), session))
    }

    /// The turn of a session that the agent works on: the oldest open one.
    pub fn turn(&self, session: &str) -> Option<&Turn> {
        self.sessions.get(session)?.turns.front()
    }

    /// The requests of the client that wait for an answer, in no order.
    pub fn client_requests(&self) -> impl Iterator<Item = &Open> {
        self.open[0].values().flatten()
    }

    /// The requests of the agent that wait for an answer, in no order.
    pub fn agent_requests(&self) -> impl Iterator<Item = &Open> {
        self.open[1].values().flatten()
    }

    /// The open requests of the client with this id, the oldest first.
    pub fn client_request(&self, id: &Id) -> Option<&Open> {
        self.open[0].get(id)?.front()
    }

    /// How many requests of the agent with this id are open.
    pub fn agent_requests_of(&self, id: &Id) -> usize {
        self.open[1].get(id).map_or(0, VecDeque::len)
    }

    /// `clientCapabilities` of the handshake, null where the client left them out.
    pub fn client_capabilities(&self) -> Option<&Value> {
        let handshake = self.handshake.as_ref()?;
        Some(
            handshake
                .params
                .get("clientCapabilities")
                .unwrap_or(&Value::Null),
        )
    }

    /// `agentCapabilities` of the handshake, null where the agent left them out.
    pub fn agent_capabilities(&self) -> Option<&Value> {
        let handshake = self.handshake.as_ref()?;
        Some(
            handshake
                .result
                .get("agentCapabilities")
                .unwrap_or(&Value::Null),
        )
    }

    /// `authMethods` of the handshake, null where the agent left them out.
    pub fn auth_methods(&self) -> Option<&Value> {
        let handshake = self.handshake.as_ref()?;
        Some(handshake.result.get("authMethods").unwrap_or(&Value::Null))
    }

    /// Whether a capability of the client is on: a boolean `true`, or anything else but `false` and null.
    pub fn client_can(&self, path: &[&str]) -> bool {
        switched_on(self.client_capabilities(), path)
    }

    /// Whether a capability of the agent is on: a boolean `true`, or anything else but `false` and null.
    pub fn agent_can(&self, path: &[&str]) -> bool {
        switched_on(self.agent_capabilities(), path)
    }

    /// Whether version 1 is spoken: agreed on, or taken for granted in a recording that begins after the handshake.
    pub fn is_version_one(&self) -> bool {
        match &self.handshake {
            Some(handshake) => handshake.version() == Some(1),
            None => !self.from_start,
        }
    }

    /// Whether any session result (new, load, resume) held this member, not null.
    pub fn session_result_has(&self, member: &str) -> bool {
        self.session_members.iter().any(|seen| seen == member)
    }

    /// Evaluates a condition of the catalogue on this connection.
    pub fn evaluate(&self, condition: &Condition) -> Truth {
        condition.evaluate(&Facts {
            initialized: self.handshake.is_some(),
            agent_capabilities: self.agent_capabilities(),
            client_capabilities: self.client_capabilities(),
            auth_methods: self.auth_methods(),
            session_result_has: &|member| self.session_result_has(member),
        })
    }

    /// Takes the next event.
    pub(super) fn observe(
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
            (Body::Exit(exit), _) => {
                self.end.exited.get_or_insert(index);
                self.end.exit.get_or_insert(*exit);
            }
            (Body::Model(exchange), _) => {
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
            return Change::default();
        };
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
                self.open[1].entry(id.clone()).or_default().push_back(open);
                Change {
                    call: self.permission_asked(index, method, message),
                    ..Change::default()
                }
            }
            (Party::Agent, Kind::Notification { method }) if method == "session/update" => Change {
                call: self.updated(index, event.at, message),
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
                known.closed = None;
                if method == "session/load" {
                    known.loading = Some(index);
                }
            } else if !self.from_start && !self.sessions.contains_key(session) {
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
                        if known.turns.is_empty() {
                            known.calls.turn_begins();
                        }
                        known.turns.push_back(Turn {
                            session: session.clone(),
                            event: index,
                            at: event.at,
                            id: id.clone(),
                            cancelled: None,
                            cancelled_at: None,
                            permission_cancelled: None,
                        });
                    }
                    "session/close" | "session/delete" => known.cancel_turns(index, event.at),
                    _ => {}
                }
            }
        }
        self.open[0].entry(id.clone()).or_default().push_back(open);
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

    fn updated(&mut self, index: u64, at: f64, message: &Message) -> Option<CallStep> {
        let update = Update::of(message)?;
        let session = self.sessions.get_mut(update.session)?;
        if let Some(gap) = &mut session.gap
            && update.is_content()
        {
            gap.late += 1;
            gap.last = at;
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
            return Change {
                answered_before: self.answered.contains_key(id),
                ..Change::default()
            };
        };
        self.answered.insert(id.clone(), index);
        let result = message.result().filter(|_| message.error().is_none());
        let mut change = Change::default();
        match open.method.as_str() {
            "initialize" => {
                if let Some(result) = result {
                    self.handshake = Some(Handshake {
                        event: index,
                        params: open.params.clone(),
                        result: result.clone(),
                    });
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
                }
                self.remember_members(result);
            }
            "session/load" | "session/resume" => {
                self.remember_members(result);
                if let Some(session) = open
                    .session
                    .as_ref()
                    .and_then(|id| self.sessions.get_mut(id))
                {
                    session.loading = None;
                }
                if result.is_none()
                    && let Some(id) = &open.session
                    && self
                        .sessions
                        .get(id)
                        .is_some_and(|known| known.known == open.event)
                {
                    // A load or resume that was refused made nothing known.
                    self.sessions.remove(id);
                }
            }
            "session/prompt" => {
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
            }
        }
    }
}

impl Open {
    fn new(index: u64, event: &Event, id: &Id, method: &str, message: &Message) -> Self {
        let mut params = message.params().cloned().unwrap_or(Value::Null);
        if let (Some(members), "session/prompt") = (params.as_object_mut(), method) {
            members.shift_remove("prompt");
        }
        Self {
            event: index,
            at: event.at,
            id: id.clone(),
            method: method.to_owned(),
            session: message.session().map(str::to_owned),
            params,
            probe: event.probe.is_some(),
            cancel_requested: None,
        }
    }
}

impl Session {
    fn new(origin: Origin, known: u64, params: &Value) -> Self {
        let additional = params
            .get("additionalDirectories")
            .and_then(Value::as_array)
            .map(|list| {
                list.iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default();
        Self {
            origin,
            known,
            cwd: params.get("cwd").and_then(Value::as_str).map(str::to_owned),
            additional,
            closed: None,
            loading: None,
            turns: VecDeque::new(),
            turns_ended: 0,
            last_cancelled: false,
            last_answer: None,
            gap: None,
            calls: Calls::default(),
        }
    }

    fn cancel_turns(&mut self, index: u64, at: f64) {
        for turn in &mut self.turns {
            turn.cancel(index, at);
        }
    }
}

impl Turn {
    fn cancel(&mut self, index: u64, at: f64) {
        self.cancelled.get_or_insert(index);
        self.cancelled_at.get_or_insert(at);
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

fn take(open: &mut HashMap<Id, VecDeque<Open>>, id: &Id) -> Option<Open> {
    let queue = open.get_mut(id)?;
    let first = queue.pop_front();
    if queue.is_empty() {
        open.remove(id);
    }
    first
}

/// The open id beyond 2^53 that a reader of numbers as doubles makes this id from; such ids are only recorded
/// (JSONRPC-16).
fn rounded(open: &HashMap<Id, VecDeque<Open>>, id: &Id) -> Option<Id> {
    const EXACT: u64 = 1 << 53;
    #[expect(
        clippy::cast_precision_loss,
        reason = "that loss is what is looked for"
    )]
    let double = match id {
        Id::Integer(integer) if integer.unsigned_abs() >= EXACT => *integer as f64,
        Id::Illegal(text) => text.parse::<f64>().ok()?,
        _ => return None,
    };
    #[expect(
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "that loss is what is looked for"
    )]
    let is_it = |other: &&Id| matches!(other, Id::Integer(integer) if integer.unsigned_abs() > EXACT && *integer as f64 == double);
    open.keys().find(is_it).cloned()
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

fn switched_on(capabilities: Option<&Value>, path: &[&str]) -> bool {
    let mut value = match capabilities {
        Some(value) => value,
        None => return false,
    };
    for name in path {
        match value.get(name) {
            Some(inner) => value = inner,
            None => return false,
        }
    }
    !matches!(value, Value::Null | Value::Bool(false))
}
