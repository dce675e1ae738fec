//! One live conversation: the agent process, the trace that grows, the judge that reads along, and the answers to the agent.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::log::{Log, TraceFile};
use super::terminals::Late;
use super::unsent::Unsent;
use super::{
    Answers, Ask, Asking, Outgoing, PermissionChoice, Planned, PlannedReplies, Progress, Reply,
    Terminals,
};
use crate::agent::{AgentProcess, Ending, Patience, StartError};
use crate::model::ModelState;
use crate::rules::{Conversation, Judgement};
use crate::trace::{Body, Header, Observed, Party};
use crate::wire::{Id, Message, Reading};

/// How soon it is tried again to hand over what the agent did not take.
const HAND_OVER_AGAIN: Duration = Duration::from_millis(10);

/// How long to wait for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Without a sign of life from agent or model.
    pub silence: Duration,
    /// In all.
    pub total: Duration,
}

impl Limits {
    /// Waits for a certain time, whatever happens meanwhile.
    pub fn exactly(total: Duration) -> Self {
        Self {
            silence: total,
            total,
        }
    }

    /// Waits as long as there is progress, up to ten times the given silence.
    pub fn while_progress(silence: Duration) -> Self {
        Self {
            silence,
            total: silence.saturating_mul(10),
        }
    }
}

/// Why what was waited for did not come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PumpEnd {
    /// The time was up, after this many seconds.
    TimedOut(f64),
    /// The agent's stdout was closed or its process ended.
    AgentGone,
}

/// A request that was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Its id.
    pub id: Id,
    /// The same as JSON.
    pub json_id: Value,
    /// Its event.
    pub event: u64,
    /// When it was sent.
    pub at: Instant,
    /// Its method.
    pub method: String,
}

/// How a session's permission requests are answered: one choice after the other, the last one for all that follow.
#[derive(Debug)]
struct PermissionPlan {
    session: String,
    choices: Vec<PermissionChoice>,
    used: usize,
    cancelled: bool,
}

/// A request of the agent, other than for permission, that is held open.
#[derive(Debug)]
struct HeldRequest {
    id: Value,
    method: String,
    session: Option<String>,
}

/// A live conversation with an agent.
pub struct Connection {
    /// `None` only where the agent could not be started again.
    agent: Option<AgentProcess>,
    seen: mpsc::Receiver<Observed>,
    model: Option<watch::Receiver<ModelState>>,
    log: Log,
    progress: Progress,
    answers: Answers,
    terminals: Terminals,
    replies: PlannedReplies,
    held: Vec<HeldRequest>,
    permissions: Vec<PermissionPlan>,
    not_offered: Vec<&'static str>,
    next_id: i64,
    wake: Option<Instant>,
    unsent: Unsent,
    last_sign: Instant,
    stdout_closed: bool,
    exited: bool,
}

impl Connection {
    /// A conversation with an agent that was started, whose edges report through `seen`.
    pub fn new(
        agent: AgentProcess,
        seen: mpsc::Receiver<Observed>,
        model: Option<watch::Receiver<ModelState>>,
        trace: TraceFile,
        (answers, terminals): (Answers, Terminals),
        began: Instant,
    ) -> Self {
        Self {
            agent: Some(agent),
            seen,
            model,
            log: Log::new(began, trace),
            progress: Progress::default(),
            answers,
            terminals,
            replies: PlannedReplies::default(),
            held: Vec::new(),
            permissions: Vec::new(),
            not_offered: Vec::new(),
            next_id: 0,
            wake: None,
            unsent: Unsent::default(),
            last_sign: began,
            stdout_closed: false,
            exited: false,
        }
    }

    /// What the agent has sent so far.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The same, to take answers out.
    pub fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// The state of the conversation.
    pub fn talk(&self) -> &Conversation {
        self.log.talk()
    }

    /// The state of the scripted model, if there is one.
    pub fn model(&self) -> Option<ModelState> {
        self.model.as_ref().map(|model| model.borrow().clone())
    }

    /// The kinds of permission options that were wanted and not on offer.
    pub fn not_offered(&self) -> &[&'static str] {
        &self.not_offered
    }

    /// Whether the agent can still say something.
    pub fn is_alive(&self) -> bool {
        !self.stdout_closed && !self.exited
    }

    /// When the agent or its model last did anything.
    pub fn last_sign(&self) -> Instant {
        self.last_sign
    }

    /// Whether the agent's process has ended.
    pub fn has_exited(&self) -> bool {
        self.exited
    }

    /// How the agent's requests are answered from now on.
    pub fn answers_mut(&mut self) -> &mut Answers {
        &mut self.answers
    }

    /// Sends a request; its id is the next number if none is given.
    pub async fn request(
        &mut self,
        method: &str,
        params: Option<&Value>,
        id: Option<Value>,
        probe: Option<&str>,
    ) -> Sent {
        let json_id = id.unwrap_or_else(|| {
            let id = self.next_id;
            self.next_id += 1;
            Value::from(id)
        });
        // What a load replays is seen as a turn.
        if matches!(method, "session/prompt" | "session/load" | "session/resume")
            && let Some(session) = params
                .and_then(|params| params.get("sessionId"))
                .and_then(Value::as_str)
        {
            self.progress.begin_turn(session);
        }
        let message = Outgoing::request(&json_id, method, params);
        let at = Instant::now();
        let event = self
            .send_line(message.text().as_bytes().to_vec(), probe)
            .await;
        Sent {
            id: Id::from_value(&json_id),
            json_id,
            event,
            at,
            method: method.to_owned(),
        }
    }

    /// Sends a notification.
    pub async fn notify(
        &mut self,
        method: &str,
        params: Option<&Value>,
        probe: Option<&str>,
    ) -> u64 {
        let message = Outgoing::notification(method, params);
        self.send_line(message.text().as_bytes().to_vec(), probe)
            .await
    }

    /// Sends one line as it is and gives its event.
    pub async fn send_line(&mut self, line: Vec<u8>, probe: Option<&str>) -> u64 {
        let event = self.record_line(line.clone(), false, probe);
        let mut bytes = line;
        bytes.push(b'\n');
        self.write(bytes);
        event
    }

    /// Sends lines in a single write and gives the event of the last.
    pub async fn send_lines_at_once(&mut self, lines: Vec<Vec<u8>>, probe: Option<&str>) -> u64 {
        let mut bytes = Vec::new();
        let mut event = 0;
        for line in lines {
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
            event = self.record_line(line, false, probe);
        }
        self.write(bytes);
        event
    }

    /// Sends one line byte by byte, each in a write of its own.
    pub async fn send_line_in_bytes(&mut self, line: Vec<u8>, probe: Option<&str>) -> u64 {
        let event = self.record_line(line.clone(), false, probe);
        let mut bytes = line;
        bytes.push(b'\n');
        if let Some(agent) = &mut self.agent {
            agent.write_split(bytes).await;
        }
        event
    }

    /// Sends bytes that no newline follows.
    pub async fn send_partial(&mut self, bytes: Vec<u8>, probe: Option<&str>) -> u64 {
        let event = self.record_line(bytes.clone(), true, probe);
        self.write(bytes);
        event
    }

    /// Says how the permission requests of a session are answered from now on: one choice after the other, the last for all
    /// that follow, `allow_once` without any.
    pub fn plan_permissions(&mut self, session: &str, choices: Vec<PermissionChoice>) {
        self.permissions.retain(|plan| plan.session != session);
        self.permissions.push(PermissionPlan {
            session: session.to_owned(),
            choices,
            used: 0,
            cancelled: false,
        });
    }

    /// Says how other requests of the agent are answered from now on.
    pub fn plan_replies(&mut self, replies: PlannedReplies) {
        self.replies = replies;
    }

    /// Makes the pump that is under way look again at this moment, even if nothing comes.
    pub fn wake_at(&mut self, moment: Instant) {
        self.wake = Some(moment);
    }

    /// The client has cancelled the turn of a session: permission requests that are open or still come are answered
    /// `cancelled`, as every client must; so are elicitations that are held open.
    pub async fn cancel_permissions(&mut self, session: &str) {
        match self
            .permissions
            .iter_mut()
            .find(|plan| plan.session == session)
        {
            Some(plan) => plan.cancelled = true,
            None => self.permissions.push(PermissionPlan {
                session: session.to_owned(),
                choices: vec![PermissionChoice::Cancelled],
                used: 0,
                cancelled: true,
            }),
        }
        while let Some(ask) = self.progress.take_ask(session) {
            self.answer_ask(&ask, PermissionChoice::Cancelled).await;
        }
        let dismissed = |held: &HeldRequest| {
            held.method == "elicitation/create" && held.session.as_deref() == Some(session)
        };
        for held in self.take_held(dismissed) {
            let reply = Reply::Result(json!({"action": "cancel"}));
            self.reply(&held.id, reply, None).await;
        }
    }

    /// Answers a permission request that was held open.
    pub async fn answer_ask(&mut self, ask: &Ask, choice: PermissionChoice) {
        let (reply, asking) = Answers::to_permission(choice, &ask.options);
        if let Asking::NotOffered(kind) = asking {
            self.not_offered.push(kind);
        }
        self.reply(&ask.id, reply, choice.probe()).await;
    }

    /// Closes the agent's stdin.
    pub fn close_stdin(&mut self) {
        self.record(Instant::now(), Party::Client, Body::Eof, None);
        if let Some(agent) = &mut self.agent {
            agent.close_stdin();
        }
    }

    /// Sends a signal to the agent.
    pub fn signal(&mut self, signal: i32) {
        // Written down here and now: the agent's answer to it may overtake what goes through the outbox.
        self.record(Instant::now(), Party::Harness, Body::Signal(signal), None);
        // An agent that has ended meanwhile needs none.
        if let Some(agent) = &mut self.agent {
            let _ = agent.signal_untold(signal);
        }
    }

    /// Writes down that a request of ours was given up.
    pub fn give_up(&mut self, sent: &Sent, seconds: f64) {
        let body = Body::Unanswered {
            id: sent.json_id.clone(),
            seconds,
        };
        self.record(Instant::now(), Party::Harness, body, None);
    }

    /// Takes what comes and answers it, until `until` gives something, the time is up, or the agent is gone.
    ///
    /// # Errors
    /// Why it did not come to that.
    pub async fn pump<T>(
        &mut self,
        limits: Limits,
        mut until: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<T, PumpEnd> {
        let began = Instant::now();
        let mut last_sign = began;
        loop {
            self.wake = None;
            if let Some(found) = until(self) {
                return Ok(found);
            }
            let deadline = (began + limits.total).min(last_sign + limits.silence);
            let look = self.wake.map_or(deadline, |wake| wake.min(deadline));
            match self.next(look).await {
                Next::Sign => last_sign = Instant::now(),
                Next::Model => {}
                Next::TimeUp if look < deadline => {}
                Next::TimeUp => return Err(PumpEnd::TimedOut(began.elapsed().as_secs_f64())),
                Next::Gone => {
                    return match until(self) {
                        Some(found) => Ok(found),
                        None => Err(PumpEnd::AgentGone),
                    };
                }
            }
        }
    }

    /// Takes what comes for a certain time, whatever it is. Ends early only if the agent is gone.
    pub async fn listen(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        loop {
            match self.next(deadline).await {
                Next::Sign | Next::Model => {}
                Next::TimeUp | Next::Gone => return,
            }
        }
    }

    /// Ends the agent in steps and starts it again. The trace goes on with `header` and the next process; what was open is
    /// over.
    ///
    /// # Errors
    /// Why it could not be started.
    pub async fn restart(
        &mut self,
        patience: Patience,
        header: &Header,
        start: impl FnOnce() -> Result<AgentProcess, StartError>,
    ) -> Result<(), StartError> {
        self.end_process(patience).await;
        self.progress.begin_process();
        self.held.clear();
        self.unsent = Unsent::default();
        self.agent = Some(start()?);
        (self.stdout_closed, self.exited) = (false, false);
        self.log.begins_anew(header);
        Ok(())
    }

    /// How many events the trace has so far.
    pub fn recorded(&self) -> u64 {
        self.log.len()
    }

    /// Ends the agent in steps and gives what was judged.
    pub async fn finish(mut self, patience: Patience) -> Finished {
        let ending = self.end_process(patience).await;
        let (judgement, talk, fault) = self.log.finish();
        Finished {
            judgement,
            talk,
            ending,
            fault,
        }
    }

    /// Ends the process of the agent, while what it still says is written down.
    async fn end_process(&mut self, patience: Patience) -> Option<Ending> {
        if self.talk().end.stdin_closed.is_none() && !self.exited {
            self.record(Instant::now(), Party::Client, Body::Eof, None);
        }
        let agent = self.agent.take()?;
        let log = &mut self.log;
        let ending = agent
            .end_draining(patience, &mut self.seen, |observed| {
                log.write(observed.at, observed.from, observed.body, None);
            })
            .await;
        self.terminals.end().await;
        (self.stdout_closed, self.exited) = (true, true);
        Some(ending)
    }

    /// Hands bytes to the agent's stdin without waiting: an agent that does not read must not keep the harness from
    /// reading.
    fn write(&mut self, bytes: Vec<u8>) {
        self.unsent.push(bytes);
        self.hand_over();
    }

    fn hand_over(&mut self) {
        let Some(agent) = &mut self.agent else {
            return;
        };
        while let Some(bytes) = self.unsent.pop() {
            if let Err(bytes) = agent.try_write(bytes) {
                self.unsent.put_back(bytes);
                return;
            }
        }
    }

    async fn next(&mut self, deadline: Instant) -> Next {
        self.hand_over();
        let over = self.stdout_closed && self.exited;
        if !self.unsent.is_empty() && !over {
            let again = Instant::now() + HAND_OVER_AGAIN;
            if again < deadline {
                return match self.next_until(again, over).await {
                    Next::TimeUp => Next::Model,
                    next => next,
                };
            }
        }
        self.next_until(deadline, over).await
    }

    async fn next_until(&mut self, deadline: Instant, over: bool) -> Next {
        let time_up = tokio::time::sleep_until(deadline.into());
        let model = self.model.as_mut();
        let observed = tokio::select! {
            biased;
            observed = self.seen.recv() => observed,
            late = self.terminals.ended() => {
                self.answer_late(late).await;
                return Next::Sign;
            }
            () = changed(model) => return Next::Model,
            () = std::future::ready(()), if over => return Next::Gone,
            () = time_up => return Next::TimeUp,
        };
        match observed {
            Some(observed) => {
                let sign = observed.from != Party::Harness;
                if sign {
                    self.last_sign = Instant::now();
                }
                self.take(observed).await;
                if sign { Next::Sign } else { Next::Model }
            }
            None => Next::Gone,
        }
    }

    async fn take(&mut self, observed: Observed) {
        match &observed.body {
            Body::Eof if observed.from == Party::Agent => self.stdout_closed = true,
            Body::Exit(_) => self.exited = true,
            _ => {}
        }
        let reading = observed.body.reading();
        let Observed { at, from, body } = observed;
        let event = self.log.write_read(at, from, body, None, reading.as_ref());
        if let Some(Reading::Message(message)) = reading.filter(|_| from == Party::Agent) {
            self.progress.note(event, &message);
            if message.is_request() {
                self.answer(event, &message).await;
            } else if message.method() == Some("$/cancel_request") {
                self.given_up(&message).await;
            }
        }
    }

    async fn answer(&mut self, event: u64, request: &Message) {
        if self.unsent.is_full() {
            // An agent that asks without end and reads nothing gets no further answers.
            return;
        }
        let Some(id) = request.members().get("id").cloned() else {
            return;
        };
        if request.method() != Some("session/request_permission") || self.answers.refuse_all {
            return self.serve(&id, request).await;
        }
        let session = request.session().unwrap_or_default().to_owned();
        let ask = Ask {
            event,
            id,
            options: options(request),
            session,
        };
        match self.choose(&ask.session) {
            PermissionChoice::Hold => self.progress.hold(ask),
            choice => self.answer_ask(&ask, choice).await,
        }
    }

    /// Answers a request other than for permission: as it was planned, else as the client can.
    async fn serve(&mut self, id: &Value, request: &Message) {
        let method = request.method().unwrap_or_default();
        let params = request.params().unwrap_or(&Value::Null);
        let planned = if self.answers.refuse_all {
            Planned::Serve
        } else {
            self.replies.next(method)
        };
        if let Some((reply, probe)) = planned.reply(method, params) {
            return self.reply(id, reply, probe).await;
        }
        let (instead, probe) = match planned {
            Planned::Hold => {
                self.held.push(HeldRequest {
                    id: id.clone(),
                    method: method.to_owned(),
                    session: request.session().map(str::to_owned),
                });
                return;
            }
            Planned::Result { result, probe, .. } => (Some(result), probe),
            _ => (None, None),
        };
        let in_terminal = method.starts_with("terminal/")
            && self.talk().client_can(&["terminal"])
            && !self.answers.refuse_all;
        if in_terminal {
            let talk = self.log.talk();
            let (reply, late) = self.terminals.answer(request, talk, instead);
            self.reply(id, reply, probe.as_deref()).await;
            return self.answer_late(late).await;
        }
        let reply = match (self.answers.to(request, self.log.talk()), instead) {
            (Reply::Result(_), Some(result)) => Reply::Result(result),
            (reply, _) => reply,
        };
        self.reply(id, reply, probe.as_deref()).await;
    }

    /// Answers requests that waited for the end of a command.
    async fn answer_late(&mut self, late: Vec<Late>) {
        for (id, result) in late {
            self.reply(&id, Reply::Result(result), None).await;
        }
    }

    /// The agent has given up a request: one that is held open is answered so.
    async fn given_up(&mut self, message: &Message) {
        let id = message.params().and_then(|params| params.get("requestId"));
        for held in self.take_held(|held| Some(&held.id) == id) {
            let reply = Reply::Error(-32800, "request cancelled".into());
            self.reply(&held.id, reply, None).await;
        }
    }

    fn take_held(&mut self, which: impl Fn(&HeldRequest) -> bool) -> Vec<HeldRequest> {
        let all = std::mem::take(&mut self.held);
        let (taken, kept) = all.into_iter().partition(which);
        self.held = kept;
        taken
    }

    fn choose(&mut self, session: &str) -> PermissionChoice {
        let Some(plan) = self
            .permissions
            .iter_mut()
            .find(|plan| plan.session == session)
        else {
            return PermissionChoice::Kind("allow_once");
        };
        if plan.cancelled {
            return PermissionChoice::Cancelled;
        }
        let choice = plan.choices.get(plan.used).or(plan.choices.last()).copied();
        plan.used += 1;
        choice.unwrap_or(PermissionChoice::Kind("allow_once"))
    }

    async fn reply(&mut self, id: &Value, reply: Reply, probe: Option<&str>) {
        let message = match reply {
            Reply::Result(result) => Outgoing::result(id, &result),
            Reply::Error(code, message) => Outgoing::error(id, code, &message),
            Reply::Nothing => return,
        };
        self.send_line(message.text().as_bytes().to_vec(), probe)
            .await;
    }

    fn record_line(&mut self, line: Vec<u8>, partial: bool, probe: Option<&str>) -> u64 {
        let body = Body::of_line(line, partial);
        self.record(
            Instant::now(),
            Party::Client,
            body,
            probe.map(str::to_owned),
        )
    }

    fn record(&mut self, at: Instant, from: Party, body: Body, probe: Option<String>) -> u64 {
        self.log.write(at, from, body, probe)
    }
}

/// What a finished conversation leaves.
#[derive(Debug)]
pub struct Finished {
    /// What the rules found.
    pub judgement: Judgement,
    /// The conversation at its end.
    pub talk: Conversation,
    /// How the last process ended and what it left behind; `None` where the agent could not be started again.
    pub ending: Option<Ending>,
    /// What is a fault of the harness: a trace that is not whole, a message of its own that breaks the schema.
    pub fault: Option<String>,
}

enum Next {
    Sign,
    Model,
    TimeUp,
    Gone,
}

/// The options of a permission request that have an id and a kind.
fn options(request: &Message) -> Vec<(String, String)> {
    let list = request
        .params()
        .and_then(|params| params.get("options"))
        .and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|option| {
            let text = |name: &str| option.get(name).and_then(Value::as_str).map(str::to_owned);
            Some((text("optionId")?, text("kind")?))
        })
        .collect()
}

/// Waits for the scripted model to change its state; for ever where there is none.
async fn changed(model: Option<&mut watch::Receiver<ModelState>>) {
    match model {
        Some(model) => {
            if model.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        None => std::future::pending().await,
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}
