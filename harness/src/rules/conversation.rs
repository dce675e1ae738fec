//! The state of a conversation as far as its events tell: the handshake, what is open, sessions and turns.

use std::collections::VecDeque;

use serde_json::Value;

use super::calls::CallStep;
use super::gap::Gap;
use crate::hash::{HashMap, HashSet};
use crate::spec::{Condition, Facts, Truth};
use crate::wire::Id;

mod answered;
mod end;
mod observing;
mod open;
mod presence;
mod session;
mod transcript;

pub use end::End;
pub use open::Open;
pub use presence::{Missing, Start};
pub use session::{Origin, Session, Turn};
pub use transcript::{Past, Transcript};
pub(in crate::rules) use transcript::{squeeze, squeezed};

/// What is known of a connection after the events so far. Bounded by what is open and by the number of sessions.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// Whether nothing is missing between the start of the process and the event before this one, as far as can be told.
    /// Where it is not so, what seems to be unknown may have been told in what is missing.
    pub whole: bool,
    /// The first event after the last place at which something is missing: 0 where the recording begins late.
    pub hole: Option<u64>,
    /// The last `initialize` that was answered with a result.
    pub handshake: Option<Handshake>,
    /// How the agent's side has ended, so far.
    pub end: End,
    /// The last event at which the model refused a request (a status of 400 or more) or broke off its reply.
    pub model_failed: Option<u64>,
    /// Whether exchanges with the model are recorded at all.
    pub model_seen: bool,
    /// The last line of the agent that may have held messages and could not be read as one: a batch, two messages on one
    /// line, a message cut or spread over lines, text that is no UTF-8, a message behind other
    /// text. An answer that seems to be missing may stand there.
    pub unread: Option<u64>,
    /// The first line of the client that is no well-formed message alone on its line, as after such input no text says
    /// that the agent must go on (JSONRPC-18 and JSONRPC-19 observe, INTEROP-06 judges).
    pub malformed: Option<u64>,
    /// The events of requests whose answer came under an id of another type, such as `"1"` for `1` (JSONRPC-03).
    pub misaddressed: HashSet<u64>,
    /// Whether a session was opened by an answer that gave no id, so that an unknown id may be its id.
    pub nameless_session: bool,
    open: [HashMap<Id, VecDeque<Open>>; 2],
    answered: answered::Answered,
    sessions: HashMap<String, Session>,
    transcripts: transcript::Transcripts,
    session_members: Vec<String>,
    agreed: u64,
    presence: presence::Presence,
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
    /// `protocolVersion` of the result.
    version: Option<u64>,
}

impl Handshake {
    fn new(event: u64, params: Value, result: Value) -> Self {
        let version = result.get("protocolVersion").and_then(Value::as_u64);
        Self {
            event,
            params,
            result,
            version,
        }
    }

    /// `protocolVersion` of the result.
    pub fn version(&self) -> Option<u64> {
        self.version
    }
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
    ///
    /// `from_start`: whether the recording begins with the process.
    pub fn new(from_start: bool) -> Self {
        Self {
            whole: from_start,
            hole: (!from_start).then_some(0),
            ..Self::default()
        }
    }

    /// The session, if the client knows it.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// What was said in a session, also in an earlier process. Only kept where the agent can load or resume sessions.
    pub fn transcript(&self, session: &str) -> Option<&Transcript> {
        self.transcripts.get(session)
    }

    /// Whether sessions can come back.
    fn keeps_transcripts(&self) -> bool {
        self.agent_can(&["loadSession"]) || self.agent_can(&["sessionCapabilities", "resume"])
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

    /// Whether version 1 is spoken: agreed on, or taken for granted where the handshake is not in the recording and
    /// nothing speaks for another version.
    pub fn is_version_one(&self) -> bool {
        match &self.handshake {
            Some(handshake) => handshake.version() == Some(1),
            None => {
                !self.whole
                    && self
                        .presence
                        .hinted_version()
                        .is_none_or(|version| version == 1)
            }
        }
    }

    /// Changes whenever something does that conditions of the catalogue depend on.
    pub(super) fn agreed(&self) -> u64 {
        self.agreed
    }

    /// Whether something is missing that is not only the start.
    pub(super) fn lacks_lines(&self) -> bool {
        self.hole.is_some_and(|hole| !self.begins_at(hole))
    }

    /// Whether something is missing in the recording after this event.
    pub fn hole_since(&self, event: u64) -> bool {
        self.hole.is_some_and(|hole| hole > event)
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
