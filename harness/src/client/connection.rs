//! One live conversation: the agent process, the trace that grows, the judge that reads along, and the answers to the agent.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::log::{Log, TraceFile};
use super::unsent::Unsent;
use super::{Answers, Ask, Asking, Outgoing, PermissionChoice, Progress, Reply};
use crate::agent::{AgentProcess, Ending, Patience};
use crate::model::ModelState;
use crate::rules::{Conversation, Judgement};
use crate::trace::{Body, Observed, Party};
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

/// A live conversation with an agent.
pub struct Connection {
    agent: AgentProcess,
    seen: mpsc::Receiver<Observed>,
    model: Option<watch::Receiver<ModelState>>,
    log: Log,
    progress: Progress,
    answers: Answers,
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
        answers: Answers,
        began: Instant,
    ) -> Self {
        Self {
            agent,
            seen,
            model,
            log: Log::new(began, trace),
            progress: Progress::default(),
            answers,
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
        if method == "session/prompt"
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
        self.agent.write_split(bytes).await;
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

    /// Makes the pump that is under way look again at this moment, even if nothing comes.
    pub fn wake_at(&mut self, moment: Instant) {
        self.wake = Some(moment);
    }

    /// The client has cancelled the turn of a session: permission requests that are open or still come are answered
    /// `cancelled`, as every client must.
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
        self.agent.close_stdin();
    }

    /// Sends a signal to the agent.
    pub fn signal(&mut self, signal: i32) {
        // Written down here and now: the agent's answer to it may overtake what goes through the outbox.
        self.record(Instant::now(), Party::Harness, Body::Signal(signal), None);
        // An agent that has ended meanwhile needs none.
        let _ = self.agent.signal_untold(signal);
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

    /// How many events the trace has so far.
    pub fn recorded(&self) -> u64 {
        self.log.len()
    }

    /// Ends the agent in steps and gives what was judged.
    pub async fn finish(mut self, patience: Patience) -> Finished {
        if self.talk().end.stdin_closed.is_none() && !self.exited {
            self.record(Instant::now(), Party::Client, Body::Eof, None);
        }
        let Self {
            agent,
            mut seen,
            mut log,
            ..
        } = self;
        let ending = agent
            .end_draining(patience, &mut seen, |observed| {
                log.write(observed.at, observed.from, observed.body, None);
            })
            .await;
        let (judgement, talk, fault) = log.finish();
        Finished {
            judgement,
            talk,
            ending,
            fault,
        }
    }

    /// Hands bytes to the agent's stdin without waiting: an agent that does not read must not keep the harness from
    /// reading.
    fn write(&mut self, bytes: Vec<u8>) {
        self.unsent.push(bytes);
        self.hand_over();
    }

    fn hand_over(&mut self) {
        while let Some(bytes) = self.unsent.pop() {
            if let Err(bytes) = self.agent.try_write(bytes) {
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
        let reading = (observed.from == Party::Agent)
            .then(|| observed.body.reading())
            .flatten();
        let event = self.record(observed.at, observed.from, observed.body, None);
        if let Some(Reading::Message(message)) = reading {
            self.progress.note(event, &message);
            if message.is_request() {
                self.answer(event, &message).await;
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
            let reply = self.answers.to(request, self.log.talk());
            return self.reply(&id, reply, None).await;
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
    /// How the process ended and what it left behind.
    pub ending: Ending,
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
