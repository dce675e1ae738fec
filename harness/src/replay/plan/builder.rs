//! Reads a recording once and builds the plan.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::{Value, json};

use super::missing::{Missing, playable};
use super::{Act, Ask, Cause, Notice, Plan, Request, Rest, Step, TurnPoint, Unplayable, folders};
use crate::replay::calls::{CallList, Calls, RecordedCall};
use crate::replay::turn::TurnProgress;
use crate::spec::Side;
use crate::trace::{Body, Event, Party, Recording};
use crate::wire::{Id, Kind, Message, Reading};

/// The signals that are sent again.
const SIGNALS: [i32; 3] = [1, 2, 15];
/// The methods by which a client stops what is under way.
const STOPS: [&str; 4] = [
    "session/cancel",
    "$/cancel_request",
    "session/close",
    "session/delete",
];
/// The methods that open a session.
const OPENS: [&str; 4] = [
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
];

/// The messages of one session, or those of the connection.
#[derive(Default)]
struct Queue {
    last: Option<usize>,
    pending: Vec<Cause>,
    /// Requests of the played side that are open, the latest last.
    open: Vec<usize>,
}

struct Builder {
    plan: Plan,
    queues: HashMap<Option<String>, Queue>,
    /// The queues in which something happened since the last barrier.
    touched: Vec<Option<String>>,
    barrier: Option<usize>,
    /// What concerns all sessions, since the last barrier.
    common: Vec<Cause>,
    open_own: HashMap<Id, VecDeque<usize>>,
    open_peer: HashMap<Id, VecDeque<usize>>,
    answered_peer: HashMap<Id, usize>,
    /// The prompts that are open, by session.
    turns: HashMap<String, VecDeque<usize>>,
    progress: HashMap<usize, TurnProgress>,
    calls: Calls,
    rest: BTreeMap<String, usize>,
    ended: bool,
    /// The folders that sessions are opened in: by step, until the answer tells whether it worked.
    naming: BTreeMap<usize, Vec<String>>,
    named: Vec<String>,
}

impl Plan {
    /// The plan by which a side of a recording is played.
    ///
    /// # Errors
    /// Where the recording has no line of that side.
    pub(crate) fn of(recording: &Recording, side: Side) -> Result<Self, Unplayable> {
        playable(recording, side)?;
        let mut builder = Builder::new(side);
        if side == Side::Client {
            builder.put_in(recording);
        }
        for (index, event) in recording.events.iter().enumerate() {
            builder.event(index, event);
        }
        Ok(builder.finish(recording))
    }
}

impl Builder {
    fn new(side: Side) -> Self {
        Self {
            plan: Plan {
                side,
                steps: Vec::new(),
                asks: Vec::new(),
                points: Vec::new(),
                strays: Vec::new(),
                notices: Vec::new(),
                rests: Vec::new(),
                end: Vec::new(),
                calls: CallList::default(),
                sessions: Vec::new(),
                folders: Vec::new(),
                notes: Vec::new(),
            },
            queues: HashMap::new(),
            touched: Vec::new(),
            barrier: None,
            common: Vec::new(),
            open_own: HashMap::new(),
            open_peer: HashMap::new(),
            answered_peer: HashMap::new(),
            turns: HashMap::new(),
            progress: HashMap::new(),
            calls: Calls::default(),
            rest: BTreeMap::new(),
            ended: false,
            naming: BTreeMap::new(),
            named: Vec::new(),
        }
    }

    fn is_replay(&self) -> bool {
        self.plan.side == Side::Client
    }

    /// Puts in front what the client did before the recording began.
    fn put_in(&mut self, recording: &Recording) {
        let missing = Missing::in_recording(recording);
        let mut put = |id: &str, method: &str, params: &Value, reply: Value, note: String| {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let act = Act::Send {
                bytes: message.to_string().into_bytes(),
                partial: false,
                probe: None,
            };
            let step = self.barrier(None, act, method.to_owned());
            if let Some(step) = self.plan.steps.get_mut(step) {
                step.request = Some(Request {
                    id: Id::Text(id.to_owned()),
                    method: method.to_owned(),
                    reply: Some(reply),
                    reply_event: None,
                });
            }
            self.common.push(Cause::Replied(step));
            self.plan.notes.push(note);
        };
        if let Some(params) = &missing.initialize {
            put(
                "harness-initialize",
                "initialize",
                params,
                json!({"result": {}}),
                "the recording has no `initialize`: one of the harness's own is sent".to_owned(),
            );
        }
        let cwd = recording.header.cwd.clone();
        let cwd = cwd.filter(|cwd| cwd.starts_with('/') || cwd.starts_with("{home}"));
        let cwd = cwd.unwrap_or_else(|| "/".to_owned());
        for (number, session) in missing.sessions.iter().enumerate() {
            put(
                &format!("harness-session-{}", number + 1),
                "session/new",
                &json!({"cwd": cwd, "mcpServers": []}),
                json!({"result": {"sessionId": session}}),
                format!(
                    "the recording does not show how session `{session}` was opened: a new one stands for it"
                ),
            );
        }
        if !missing.sessions.is_empty() {
            self.named.push(cwd);
        }
    }

    fn event(&mut self, index: usize, event: &Event) {
        let own = match self.plan.side {
            Side::Client => Party::Client,
            Side::Agent => Party::Agent,
        };
        match (&event.body, event.from) {
            (Body::Message { partial, .. } | Body::Line { partial, .. }, from) if from == own => {
                let bytes = event.body.wire_bytes().unwrap_or_default().to_vec();
                let act = Act::Send {
                    bytes,
                    partial: *partial,
                    probe: event.probe.clone(),
                };
                match event.body.reading() {
                    Some(Reading::Message(message)) => self.own(index, &message, act),
                    _ => self.odd(index, act),
                }
            }
            (Body::Message { .. } | Body::Line { .. }, Party::Client | Party::Agent) => {
                match event.body.reading() {
                    Some(Reading::Message(message)) => self.peer(index, &message),
                    _ => self.came("a line that is no message".to_owned()),
                }
            }
            (Body::Eof, Party::Client) if self.is_replay() => {
                self.stop(index, Act::Close, "the end of the client's messages");
            }
            (Body::Signal(signal), Party::Harness)
                if self.is_replay() && SIGNALS.contains(signal) =>
            {
                self.stop(index, Act::Signal(*signal), "a signal");
            }
            (Body::Eof | Body::Exit(_), Party::Agent) => {
                if !self.is_replay() && !self.ended {
                    self.stop(index, Act::Close, "the end of the agent");
                }
                self.ended = true;
            }
            // What the client did not see the agent answer: it ends by itself.
            (Body::Eof, Party::Client) => self.ended = true,
            _ => {}
        }
    }

    /// A message of the side that is played.
    fn own(&mut self, index: usize, message: &Message, act: Act) {
        let session = message.session().map(str::to_owned);
        match message.kind() {
            Kind::Response { id } => self.answer(index, id, message, act),
            Kind::Request { id, method } => {
                let step = self.line(index, session.clone(), act, method);
                if let Some(step) = self.plan.steps.get_mut(step) {
                    step.request = Some(Request {
                        id: id.clone(),
                        method: method.clone(),
                        reply: None,
                        reply_event: None,
                    });
                }
                self.open_own.entry(id.clone()).or_default().push_back(step);
                self.queue(&session).open.push(step);
                if method == "session/prompt"
                    && let Some(session) = session
                {
                    self.turns.entry(session).or_default().push_back(step);
                }
                if let Some(session) = message.session()
                    && matches!(method.as_str(), "session/load" | "session/resume")
                    && !self.plan.sessions.iter().any(|known| known == session)
                {
                    let note = format!(
                        "session `{session}` was made before the recording: it is named as it was, and the agent cannot know it"
                    );
                    self.plan.notes.push(note);
                }
                if OPENS.contains(&method.as_str()) {
                    self.naming.insert(step, folders_in(message.params()));
                }
            }
            Kind::Notification { method } if method == "$/cancel_request" => {
                let id = cancelled_id(message);
                let request = id.and_then(|id| self.open_own.get(&id)?.front().copied());
                let queue = request
                    .and_then(|request| self.plan.steps.get(request))
                    .and_then(|step| step.session.clone());
                self.line(index, queue, act, method);
            }
            Kind::Notification { method } => {
                self.line(index, session, act, method);
            }
        }
    }

    /// A line of a session, or one that concerns the whole connection.
    fn line(&mut self, index: usize, session: Option<String>, act: Act, method: &str) -> usize {
        let step = match &session {
            None if self.is_replay() => self.barrier(Some(index), act, method.to_owned()),
            _ => self.next(Some(index), session.clone(), act, method.to_owned()),
        };
        if self.is_replay() && STOPS.contains(&method) {
            self.at_the_place_of(step, session.as_deref());
        }
        step
    }

    /// A line that is no message: it keeps its place among all others.
    fn odd(&mut self, index: usize, act: Act) {
        let what = "a line that is no message".to_owned();
        if self.is_replay() {
            self.barrier(Some(index), act, what);
        } else {
            self.next(Some(index), None, act, what);
        }
    }

    /// An answer of the played side.
    fn answer(&mut self, index: usize, id: &Id, message: &Message, act: Act) {
        let open = self.open_peer.get_mut(id).and_then(VecDeque::pop_front);
        let Some(ask) = open else {
            let again = self.answered_peer.get(id).copied();
            let step = self.line(index, None, act, "an answer to nothing");
            if let Some(step) = self.plan.steps.get_mut(step) {
                step.answers = again;
            }
            return;
        };
        self.answered_peer.insert(id.clone(), ask);
        let Some(asked) = self.plan.asks.get(ask) else {
            return;
        };
        let (session, asked_at) = (asked.session.clone(), asked.event);
        let what = format!("the answer to `{}`", asked.method);
        let opens = OPENS.contains(&asked.method.as_str());
        let number = self.plan.steps.len();
        let mut after = vec![Cause::Asked(ask)];
        let in_order = !self.is_replay() && session.is_some();
        let queue = self.queue(&session);
        let last = queue.last;
        if in_order {
            after.append(&mut queue.pending);
        }
        if let Some(last) = last
            && (in_order || self.event_of(last) > asked_at)
        {
            after.push(Cause::Gone(last));
        }
        let queue = self.queue(&session);
        queue.pending.push(Cause::Gone(number));
        if in_order {
            queue.last = Some(number);
        }
        if let Some(ask) = self.plan.asks.get_mut(ask) {
            ask.answer = Some(number);
        }
        let mut step = Step {
            event: Some(index),
            session,
            act,
            request: None,
            answers: Some(ask),
            after,
            stops: Vec::new(),
            what,
        };
        step.after.dedup();
        self.plan.steps.push(step);
        if opens && let Some(result) = message.result() {
            self.opened(result, Cause::Gone(number));
        }
    }

    /// A message of the other side.
    fn peer(&mut self, index: usize, message: &Message) {
        let session = message.session().map(str::to_owned);
        match message.kind() {
            Kind::Request { id, method } => self.ask(index, id, method, session, message),
            Kind::Response { id } => self.reply(index, id, message),
            Kind::Notification { method } if self.is_replay() => {
                self.update(method, session.as_deref(), message);
            }
            Kind::Notification { method } => {
                if method == "session/cancel" || method == "$/cancel_request" {
                    self.notice(index, method, session, message);
                }
            }
        }
    }

    fn ask(
        &mut self,
        index: usize,
        id: &Id,
        method: &str,
        session: Option<String>,
        message: &Message,
    ) {
        let number = self.plan.asks.len();
        let of_session = self.queue(&session);
        let (behind, open) = (of_session.last, of_session.open.last().copied());
        let open = open.or_else(|| self.queue(&None).open.last().copied());
        let params = message.params().cloned().unwrap_or(Value::Null);
        self.plan.asks.push(Ask {
            event: index,
            method: method.to_owned(),
            params: self.calls.completed(session.as_deref(), &params),
            session: session.clone(),
            during: open,
            behind: behind.or(self.barrier),
            answer: None,
        });
        self.open_peer
            .entry(id.clone())
            .or_default()
            .push_back(number);
        self.happened(&session, Cause::Asked(number));
    }

    fn reply(&mut self, index: usize, id: &Id, message: &Message) {
        let Some(step) = self.open_own.get_mut(id).and_then(VecDeque::pop_front) else {
            if self.is_replay() {
                self.happened(&None, Cause::Strayed(self.plan.strays.len()));
                self.plan.strays.push(index);
            }
            return;
        };
        let Some(asked) = self.plan.steps.get_mut(step) else {
            return;
        };
        let session = asked.session.clone();
        let mut opens = false;
        if let Some(request) = &mut asked.request {
            opens = OPENS.contains(&request.method.as_str());
            request.reply = Some(Value::Object(message.members().clone()));
            request.reply_event = Some(index);
        }
        self.queue(&session).open.retain(|open| *open != step);
        if let Some(turns) = session
            .as_ref()
            .and_then(|session| self.turns.get_mut(session))
        {
            turns.retain(|turn| *turn != step);
        }
        self.progress.remove(&step);
        let named = self.naming.remove(&step);
        match message.result() {
            Some(result) if opens => {
                self.named.extend(named.into_iter().flatten());
                if session.is_some() {
                    self.happened(&session, Cause::Replied(step));
                }
                self.opened(result, Cause::Replied(step));
            }
            _ => self.happened(&session, Cause::Replied(step)),
        }
    }

    /// A session came to be with this.
    fn opened(&mut self, result: &Value, cause: Cause) {
        match result.get("sessionId").and_then(Value::as_str) {
            Some(session) => {
                self.plan.sessions.push(session.to_owned());
                self.happened(&Some(session.to_owned()), cause);
            }
            None => self.happened(&None, cause),
        }
    }

    /// A notification of the agent: nothing waits for it, and yet it tells how far a turn is.
    fn update(&mut self, method: &str, session: Option<&str>, message: &Message) {
        let update = message.params().and_then(|params| params.get("update"));
        self.came(kind_of(method, message));
        let (Some(session), Some(update)) = (session, update) else {
            return;
        };
        let turn = self.turns.get(session).and_then(VecDeque::front).copied();
        let begun = self.calls.note(Some(session), update);
        if let Some(turn) = turn {
            self.progress.entry(turn).or_default().note(update);
            if let Some(id) = begun {
                self.plan.calls.add(turn, RecordedCall::of(id, update));
            }
        }
    }

    /// A cancel of the client.
    fn notice(&mut self, index: usize, method: &str, session: Option<String>, message: &Message) {
        let of_request = cancelled_id(message)
            .and_then(|id| self.open_peer.get(&id)?.front().copied())
            .and_then(|ask| self.plan.asks.get(ask)?.session.clone());
        let session = session.or(of_request);
        let number = self.plan.notices.len();
        self.plan.notices.push(Notice {
            method: method.to_owned(),
            during: self
                .plan
                .asks
                .iter()
                .rposition(|ask| ask.session == session && ask.answer.is_none()),
            session: session.clone(),
            event: index,
        });
        self.happened(&session, Cause::Noticed(number));
    }

    /// Something came that is not waited for.
    fn came(&mut self, kind: String) {
        *self.rest.entry(kind).or_default() += 1;
    }

    /// Something happened that the next step of its queue waits for.
    fn happened(&mut self, session: &Option<String>, cause: Cause) {
        self.rest.clear();
        if session.is_none() && self.is_replay() {
            self.common.push(cause);
        } else {
            self.queue(session).pending.push(cause);
        }
    }

    fn queue(&mut self, session: &Option<String>) -> &mut Queue {
        if self.touched.last() != Some(session) {
            self.touched.push(session.clone());
        }
        self.queues.entry(session.clone()).or_default()
    }

    /// Adds a step to its queue.
    fn next(
        &mut self,
        event: Option<usize>,
        session: Option<String>,
        act: Act,
        what: String,
    ) -> usize {
        let (barrier, common) = (self.barrier, self.common.clone());
        let number = self.plan.steps.len();
        let queue = self.queue(&session);
        let mut after = std::mem::take(&mut queue.pending);
        after.extend(queue.last.map(Cause::Gone));
        after.extend(
            barrier
                .filter(|barrier| queue.last < Some(*barrier))
                .map(Cause::Gone),
        );
        after.extend(common);
        queue.last = Some(number);
        self.push(event, session, act, what, after)
    }

    /// Adds a step that waits for all queues and that all queues wait for.
    fn barrier(&mut self, event: Option<usize>, act: Act, what: String) -> usize {
        let mut after: Vec<Cause> = self.everything();
        after.append(&mut self.common);
        after.extend(self.barrier.map(Cause::Gone));
        let step = self.push(event, None, act, what, after);
        self.barrier = Some(step);
        step
    }

    /// All that the queues wait for since the last barrier.
    fn everything(&mut self) -> Vec<Cause> {
        let mut after = Vec::new();
        for session in std::mem::take(&mut self.touched) {
            if let Some(queue) = self.queues.get_mut(&session) {
                after.append(&mut queue.pending);
                after.extend(queue.last.map(Cause::Gone));
            }
        }
        after
    }

    fn push(
        &mut self,
        event: Option<usize>,
        session: Option<String>,
        act: Act,
        what: String,
        mut after: Vec<Cause>,
    ) -> usize {
        after.sort_unstable();
        after.dedup();
        self.plan.steps.push(Step {
            event,
            session,
            act,
            request: None,
            answers: None,
            after,
            stops: Vec::new(),
            what,
        });
        self.plan.steps.len() - 1
    }

    /// The played side ends its stream, or is told to.
    fn stop(&mut self, index: usize, act: Act, what: &str) {
        let settled = self.settled();
        let step = self.barrier(Some(index), act, what.to_owned());
        if let Some(step) = self.plan.steps.get_mut(step) {
            step.after.extend(settled);
        }
        self.at_the_place_of(step, None);
    }

    /// What came last without being waited for.
    fn settled(&mut self) -> Option<Cause> {
        let ended = self.ended && self.is_replay();
        if self.rest.is_empty() && !ended {
            return None;
        }
        self.plan.rests.push(Rest {
            lines: std::mem::take(&mut self.rest).into_iter().collect(),
            ended,
        });
        Some(Cause::Settled(self.plan.rests.len() - 1))
    }

    /// Lets a step wait until the open turns are where they were: that of a session, or all.
    fn at_the_place_of(&mut self, step: usize, session: Option<&str>) {
        let turns: Vec<usize> = match session {
            Some(session) => self
                .turns
                .get(session)
                .into_iter()
                .flatten()
                .copied()
                .collect(),
            None => self.turns.values().flatten().copied().collect(),
        };
        for turn in turns {
            let point = self.progress.get(&turn).map(TurnProgress::point);
            let point = point.unwrap_or_default();
            let Some(step) = self.plan.steps.get_mut(step) else {
                continue;
            };
            step.stops.push((turn, point.clone()));
            if !point.is_start() {
                step.after.push(Cause::Reached(self.plan.points.len()));
                self.plan.points.push(TurnPoint { turn, point });
            }
        }
    }

    fn event_of(&self, step: usize) -> usize {
        let step = self.plan.steps.get(step);
        step.and_then(|step| step.event).unwrap_or(0)
    }

    fn finish(mut self, recording: &Recording) -> Plan {
        let mut end = self.everything();
        end.append(&mut self.common);
        end.extend(self.barrier.map(Cause::Gone));
        let closed = self
            .plan
            .steps
            .iter()
            .any(|step| matches!(step.act, Act::Close));
        if !closed {
            end.extend(self.settled());
        }
        end.sort_unstable();
        end.dedup();
        self.plan.end = end;
        let open = std::mem::take(&mut self.naming);
        self.named.extend(open.into_values().flatten());
        self.plan.folders = folders::assigned(&self.named, &recording.header);
        self.plan
    }
}

/// What kind of line a notification of the agent is: its method, and of an update its kind.
pub(crate) fn kind_of(method: &str, message: &Message) -> String {
    let kind = message
        .params()
        .and_then(|params| params.pointer("/update/sessionUpdate"))
        .and_then(Value::as_str);
    match kind {
        Some(kind) => format!("{method} {kind}"),
        None => method.to_owned(),
    }
}

/// The folders that a request names to open a session in.
fn folders_in(params: Option<&Value>) -> Vec<String> {
    let member = |name: &str| params.and_then(|params| params.get(name));
    let more = member("additionalDirectories").and_then(Value::as_array);
    member("cwd")
        .into_iter()
        .chain(more.into_iter().flatten())
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The id of the request that a `$/cancel_request` is about.
pub(crate) fn cancelled_id(message: &Message) -> Option<Id> {
    let id = message
        .params()?
        .get("requestId")
        .or(message.params()?.get("id"))?;
    Some(Id::from_value(id))
}
