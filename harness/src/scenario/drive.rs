//! Takes the steps of one scenario over a live conversation.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::check::{Marks, Miss, Seen, error_of};
use super::file::{
    Action, Condition, Expect, Otherwise, Params, Permission, Placeholder, RawInput, Requests,
    Scenario, Split, Step, ToolState, Until, fill,
};
use super::params::{Known, laid_over, unknown};
use crate::client::{Connection, Limits, PermissionChoice, PumpEnd, Sent};
use crate::model::ModelServer;
use crate::profile::Profile;
use crate::rules::Place;
use crate::spec::{Catalogue, Condition as When, Truth};
use crate::wire::{Id, Message};

/// How long things are waited for in one scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// A request, without progress.
    pub(super) request: Duration,
    /// The first answer to `initialize`, in all.
    pub(super) startup: Duration,
    /// The answer to a prompt that was cancelled.
    pub(super) cancel: Duration,
    /// Silence after which nothing more is expected.
    pub(super) quiet: Duration,
    /// What deliberate delays and quiet periods are multiplied with.
    pub(super) slow: f64,
}

/// What one expectation came to.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    /// All of its conditions hold.
    Held,
    /// One does not.
    Missed(Miss),
    /// It could not be told.
    Open(String),
    /// Only the processes that are left after the end tell.
    Left(super::file::Count),
}

/// One expectation and what it came to.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) expect: Expect,
    pub(super) verdict: Verdict,
    pub(super) noted: bool,
}

/// Why the steps were not taken to the end.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// The scenario is not about this agent.
    NotApplicable(String),
    /// The agent never answered `initialize`.
    NotInitialized(String),
    /// The agent wants to be logged in.
    Unauthenticated(String),
    /// The agent speaks another version.
    OtherVersion(u64),
    /// No session could be opened.
    NoSession(String),
    /// Something that a step needs did not come.
    Blocked(String),
}

/// The steps of one scenario while they are taken.
pub(super) struct Drive<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) connection: Connection,
    pub(super) model: Option<&'a ModelServer>,
    pub(super) workspace: PathBuf,
    pub(super) home: PathBuf,
    pub(super) profile: &'a Profile,
    pub(super) times: Times,
    pub(super) judged: Vec<Judged>,
    pub(super) held: bool,
    sessions: HashMap<String, String>,
    pending: HashMap<String, Pending>,
    results: HashMap<String, Value>,
    gone: bool,
    considered: bool,
}

/// A request whose answer is still to be awaited.
#[derive(Clone, Debug)]
struct Pending {
    sent: Option<Sent>,
    session: Option<String>,
    opens: Option<String>,
    before: Marks,
    began: Instant,
}

/// What a step left to be judged.
struct Done {
    answer: Option<(u64, Message)>,
    missing: Option<PumpEnd>,
    event: Option<u64>,
    seconds: Option<f64>,
    session: Option<String>,
    before: Marks,
}

impl<'a> Drive<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        connection: Connection,
        model: Option<&'a ModelServer>,
        folders: (&Path, &Path),
        profile: &'a Profile,
        times: Times,
    ) -> Self {
        Self {
            scenario,
            connection,
            model,
            workspace: folders.0.to_owned(),
            home: folders.1.to_owned(),
            profile,
            times,
            judged: Vec::new(),
            held: false,
            sessions: HashMap::new(),
            pending: HashMap::new(),
            results: HashMap::new(),
            gone: false,
            considered: false,
        }
    }

    /// Takes all steps.
    ///
    /// # Errors
    /// Why not all of them were taken.
    pub(super) async fn run(&mut self) -> Result<(), Stop> {
        let scenario = self.scenario;
        for step in &scenario.steps {
            if !step.implied && !matches!(step.action, Action::Initialize(_)) {
                self.consider()?;
            }
            self.step(step).await?;
        }
        if self.connection.is_alive() {
            self.connection.listen(self.times.quiet).await;
        }
        Ok(())
    }

    /// Once the handshake was made: is the scenario about this agent at all?
    fn consider(&mut self) -> Result<(), Stop> {
        let talk = self.connection.talk();
        if self.considered || talk.handshake.is_none() {
            return Ok(());
        }
        self.considered = true;
        let opened = talk.sessions().next().is_some();
        let fails = |when: &When| match talk.evaluate(when) {
            Truth::Fails(why) if opened || !when.to_string().contains("sessionResult") => Some(why),
            _ => None,
        };
        if let Some(when) = &self.scenario.when
            && let Some(why) = fails(when)
        {
            return Err(Stop::NotApplicable(why));
        }
        let covered = self
            .scenario
            .covers
            .iter()
            .filter_map(|id| Catalogue::v1().get(id));
        let mut reasons: Vec<Option<String>> = covered
            .map(|requirement| fails(&requirement.when))
            .collect();
        if !reasons.is_empty() && reasons.iter().all(Option::is_some) {
            return Err(Stop::NotApplicable(
                reasons.swap_remove(0).unwrap_or_default(),
            ));
        }
        if self.scenario.needs.auth_methods
            && talk
                .auth_methods()
                .and_then(Value::as_array)
                .is_none_or(Vec::is_empty)
        {
            return Err(Stop::NotApplicable(
                "the agent offers no authentication method".into(),
            ));
        }
        Ok(())
    }

    async fn step(&mut self, step: &Step) -> Result<(), Stop> {
        if self.gone
            && !matches!(
                step.action,
                Action::CloseStdin | Action::Write { .. } | Action::Signal(_)
            )
        {
            // The first expectation that missed the agent has told so; what follows could not be tried.
            self.leave_open(step, "the agent had ended before this step");
            return Ok(());
        }
        if !step.permission.is_empty()
            && let Some(session) = self.sessions.get(&step.session).cloned()
        {
            let choices = step
                .permission
                .iter()
                .map(|choice| choice_of(*choice))
                .collect();
            self.connection.plan_permissions(&session, choices);
        }
        self.connection.answers_mut().refuse_all = step.requests == Requests::Refuse;
        let done = match self.act(step).await {
            Ok(done) => done,
            Err(Stop::Blocked(why)) if !step.implied => {
                self.leave_open(step, &why);
                return Ok(());
            }
            Err(stop) => return Err(stop),
        };
        if let Some(done) = done {
            self.judge(step, &done).await;
            if step.implied {
                self.implied_step_held(step, &done)?;
            }
        }
        Ok(())
    }

    /// An implied step that failed leaves nothing to be judged, and says what stood in the way.
    fn implied_step_held(&self, step: &Step, done: &Done) -> Result<(), Stop> {
        let result = done
            .answer
            .as_ref()
            .and_then(|(_, message)| message.result());
        let why = || match (&done.answer, done.missing) {
            (Some((_, message)), _) => format!("was answered with an error: {}", error_of(message)),
            (None, Some(PumpEnd::TimedOut(seconds))) => {
                format!("was not answered within {seconds:.0} s")
            }
            (None, _) => "was not answered: the agent has ended".to_owned(),
        };
        match &step.action {
            Action::Initialize(_) => match result {
                Some(result) => match result.get("protocolVersion").and_then(Value::as_u64) {
                    Some(1) | None => Ok(()),
                    Some(other) => Err(Stop::OtherVersion(other)),
                },
                None => Err(Stop::NotInitialized(format!("initialize {}", why()))),
            },
            Action::New { .. } => {
                let code = done
                    .answer
                    .as_ref()
                    .and_then(|(_, message)| message.error_code());
                match result
                    .and_then(|result| result.get("sessionId"))
                    .and_then(Value::as_str)
                {
                    Some(_) => Ok(()),
                    None if code == Some(-32000) => {
                        Err(Stop::Unauthenticated(format!("session/new {}", why())))
                    }
                    None if result.is_some() => Err(Stop::NoSession(
                        "the answer to session/new has no `sessionId`".into(),
                    )),
                    None => Err(Stop::NoSession(format!("session/new {}", why()))),
                }
            }
            _ => Ok(()),
        }
    }

    async fn act(&mut self, step: &Step) -> Result<Option<Done>, Stop> {
        let before = self.marks(&step.session);
        let session = self.sessions.get(&step.session).cloned();
        let pending = |sent: Option<Sent>, opens: Option<String>| Pending {
            began: sent.as_ref().map_or_else(Instant::now, |sent| sent.at),
            sent,
            session: session.clone(),
            opens,
            before: before.clone(),
        };
        let at_once = |event: Option<u64>| Done {
            answer: None,
            missing: None,
            event,
            seconds: None,
            session: session.clone(),
            before: before.clone(),
        };
        match &step.action {
            action if action.is_request() => {
                if action.names_session() && session.is_none() && !names_it(action) {
                    return Err(Stop::Blocked(format!(
                        "the session `{}` was not opened",
                        step.session
                    )));
                }
                if step.implied
                    && matches!(action, Action::New { .. })
                    && self.profile.auth.is_some()
                {
                    self.log_in().await;
                }
                let (method, params) = self.call(step)?;
                if let (Action::Prompt(blocks), Some(model)) = (action, self.model) {
                    model.note_prompt(&text_of(blocks)).map_err(|error| {
                        Stop::Blocked(format!("the scripted model cannot listen: {error}"))
                    })?;
                }
                if let (Action::Prompt(_), Some(session), true) =
                    (action, &session, step.permission.is_empty())
                {
                    self.connection.renew_permissions(session);
                }
                let probe = step.probe.as_deref();
                let sent = self
                    .connection
                    .request(&method, params.as_ref(), step.id.clone(), probe)
                    .await;
                let opens = match action {
                    Action::New { opens, .. } => Some(opens.clone()),
                    _ => None,
                };
                let pending = pending(Some(sent), opens);
                if step.awaited {
                    return Ok(Some(self.finish(step, pending).await));
                }
                if let Some(name) = &step.name {
                    self.pending.insert(name.clone(), pending);
                }
                Ok(None)
            }
            Action::Finish(name) => {
                let Some(pending) = self.pending.remove(name) else {
                    return Err(Stop::Blocked(format!("the step `{name}` was not taken")));
                };
                Ok(Some(self.finish(step, pending).await))
            }
            Action::Cancel(params) => {
                let params = self.filled(step, params)?;
                // The whole turn may end before this is read; the permissions are answered after it, as a client does.
                let event = self
                    .connection
                    .notify("session/cancel", Some(&params), step.probe.as_deref())
                    .await;
                if let Some(id) = params.get("sessionId").and_then(Value::as_str) {
                    let id = id.to_owned();
                    self.connection.cancel_permissions(&id).await;
                }
                Ok(Some(at_once(Some(event))))
            }
            Action::Notify { method, params } => {
                let params = params
                    .as_ref()
                    .map(|params| self.filled(step, params))
                    .transpose()?;
                let event = self
                    .connection
                    .notify(method, params.as_ref(), step.probe.as_deref())
                    .await;
                Ok(Some(at_once(Some(event))))
            }
            Action::CancelRequest(name) => {
                let Some(sent) = self
                    .pending
                    .get(name)
                    .and_then(|pending| pending.sent.as_ref())
                else {
                    return Err(Stop::Blocked(format!("the step `{name}` was not taken")));
                };
                let params = serde_json::json!({"requestId": sent.json_id});
                let event = self
                    .connection
                    .notify("$/cancel_request", Some(&params), step.probe.as_deref())
                    .await;
                Ok(Some(at_once(Some(event))))
            }
            Action::Send(input) => {
                let event = self.send(step, input).await?;
                let pending = pending(
                    step.id.as_ref().map(|id| Sent {
                        id: Id::from_value(id),
                        json_id: id.clone(),
                        event,
                        at: Instant::now(),
                        method: String::new(),
                    }),
                    None,
                );
                if pending.sent.is_none() {
                    return Ok(Some(at_once(Some(event))));
                }
                if step.awaited {
                    return Ok(Some(self.finish(step, pending).await));
                }
                if let Some(name) = &step.name {
                    self.pending.insert(name.clone(), pending);
                }
                Ok(None)
            }
            Action::Wait(milliseconds) => {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a delay of that many milliseconds is never written"
                )]
                let time = Duration::from_secs_f64(*milliseconds as f64 / 1000.0 * self.times.slow);
                self.connection.listen(time).await;
                Ok(Some(at_once(None)))
            }
            Action::Until(until) => {
                self.wait_until(step, until, session.as_deref()).await?;
                Ok(Some(at_once(None)))
            }
            Action::Release => {
                if let Some(model) = self.model {
                    model.release().map_err(|error| {
                        Stop::Blocked(format!("the scripted model cannot listen: {error}"))
                    })?;
                }
                Ok(Some(at_once(None)))
            }
            Action::Answer(choice) => {
                let session = session.clone().unwrap_or_default();
                let Some(ask) = self.connection.progress_mut().take_ask(&session) else {
                    return Err(Stop::Blocked("no permission request is open".into()));
                };
                self.connection.answer_ask(&ask, choice_of(*choice)).await;
                Ok(Some(at_once(Some(ask.event))))
            }
            Action::CloseStdin => {
                self.connection.close_stdin();
                Ok(Some(at_once(None)))
            }
            Action::Signal(name) => {
                if let Some(signal) = signal_of(name) {
                    self.connection.signal(signal);
                }
                Ok(Some(at_once(None)))
            }
            Action::Write { path, text } => {
                let path = self.workspace.join(path);
                if let Some(parent) = path.parent() {
                    let _ = std::fs::create_dir_all(parent);
                }
                std::fs::write(&path, text)
                    .map_err(|error| Stop::Blocked(format!("{}: {error}", path.display())))?;
                Ok(Some(at_once(None)))
            }
            _ => Ok(None),
        }
    }

    /// The method and parameters of a step that sends a request.
    fn call(&self, step: &Step) -> Result<(String, Option<Value>), Stop> {
        let (method, params) = match &step.action {
            Action::Initialize(params) => ("initialize", params),
            Action::Authenticate(params) => ("authenticate", params),
            Action::Logout(params) => ("logout", params),
            Action::New { params, .. } => ("session/new", params),
            Action::Load(params) => ("session/load", params),
            Action::Resume(params) => ("session/resume", params),
            Action::List(params) => ("session/list", params),
            Action::Close(params) => ("session/close", params),
            Action::Delete(params) => ("session/delete", params),
            Action::SetMode(params) => ("session/set_mode", params),
            Action::SetConfigOption(params) => ("session/set_config_option", params),
            Action::Prompt(blocks) => {
                let filled = blocks
                    .iter()
                    .map(|block| {
                        super::file::fill_value(block, &mut |placeholder| {
                            self.value_of(step, placeholder)
                        })
                    })
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|missing| Stop::Blocked(unknown(&missing)))?;
                let mut params = self.known(step).implied(&step.action);
                params.insert("prompt".into(), Value::Array(filled));
                return Ok((
                    "session/prompt".into(),
                    Some(with_meta(step, Value::Object(params))),
                ));
            }
            Action::Request { method, params } => {
                let params = params
                    .as_ref()
                    .map(|params| self.filled(step, params))
                    .transpose()?;
                return Ok((method.clone(), params));
            }
            _ => return Err(Stop::Blocked("the step sends no request".into())),
        };
        Ok((method.to_owned(), Some(self.filled(step, params)?)))
    }

    fn filled(&self, step: &Step, params: &Params) -> Result<Value, Stop> {
        let implied = self.known(step).implied(&step.action);
        laid_over(implied, params, &mut |placeholder| {
            self.value_of(step, placeholder)
        })
        .map(|params| with_meta(step, params))
        .map_err(Stop::Blocked)
    }

    fn known(&self, step: &Step) -> Known<'_> {
        Known {
            client: &self.scenario.client,
            cwd: self.workspace.to_str().unwrap_or_default(),
            session: self.sessions.get(&step.session).map(String::as_str),
            auth: self.profile.auth.as_deref(),
            talk: self.connection.talk(),
        }
    }

    fn value_of(&self, step: &Step, placeholder: &Placeholder) -> Option<Value> {
        match placeholder {
            Placeholder::Session(name) => {
                let name = name.as_ref().unwrap_or(&step.session);
                self.sessions.get(name).map(|id| Value::from(id.as_str()))
            }
            Placeholder::Cwd => self.workspace.to_str().map(Value::from),
            Placeholder::Home => self.home.to_str().map(Value::from),
            Placeholder::Command => self.command(),
            Placeholder::Result { step, pointer } => {
                self.results.get(step)?.pointer(pointer).cloned()
            }
        }
    }

    /// The first slash command of the profile that the agent has announced.
    fn command(&self) -> Option<Value> {
        let announced = self.connection.progress().commands();
        let command = self
            .profile
            .commands
            .iter()
            .find(|command| announced.contains(command))?;
        Some(Value::from(command.as_str()))
    }

    async fn send(&mut self, step: &Step, input: &RawInput) -> Result<u64, Stop> {
        let mut lines = Vec::new();
        for line in &input.lines {
            lines.push(match std::str::from_utf8(line) {
                Ok(text) => fill(text, &mut |placeholder| self.value_of(step, placeholder))
                    .map_err(|missing| Stop::Blocked(unknown(&missing)))?
                    .into_bytes(),
                Err(_) => line.clone(),
            });
        }
        let probe = step.probe.as_deref().unwrap_or("raw input");
        let mut event = 0;
        match (input.split, input.newline) {
            (Split::OneWrite, true) => {
                event = self.connection.send_lines_at_once(lines, Some(probe)).await
            }
            (Split::Bytes, true) => {
                for line in lines {
                    event = self.connection.send_line_in_bytes(line, Some(probe)).await;
                }
            }
            (Split::Lines, true) => {
                for line in lines {
                    event = self.connection.send_line(line, Some(probe)).await;
                }
            }
            (_, false) => {
                event = self
                    .connection
                    .send_partial(lines.concat(), Some(probe))
                    .await
            }
        }
        Ok(event)
    }

    async fn log_in(&mut self) {
        let Some(method) = self.profile.auth.as_deref() else {
            return;
        };
        let params = serde_json::json!({"methodId": method});
        let sent = self
            .connection
            .request("authenticate", Some(&params), None, None)
            .await;
        let id = sent.id.clone();
        let limits = Limits::while_progress(self.times.request);
        let answered = self
            .connection
            .pump(limits, |connection| {
                connection.progress_mut().take_answer(&id)
            })
            .await;
        if let Err(PumpEnd::TimedOut(seconds)) = answered {
            self.connection.give_up(&sent, seconds);
        }
    }

    /// Awaits the answer of a request.
    async fn finish(&mut self, step: &Step, pending: Pending) -> Done {
        let mut done = Done {
            answer: None,
            missing: None,
            event: pending.sent.as_ref().map(|sent| sent.event),
            seconds: None,
            session: pending.session.clone(),
            before: pending.before,
        };
        let Some(sent) = pending.sent else {
            return done;
        };
        let expects_none = expects_none(step.expect.iter().chain(&step.note));
        let limits = self.limits(step, expects_none, &sent.method);
        let id = sent.id.clone();
        let session = pending.session.clone();
        let cancel = self.times.cancel;
        let mut cancelled_since: Option<Instant> = None;
        let answered = self
            .connection
            .pump(limits, |connection| {
                if let Some(answer) = connection.progress_mut().take_answer(&id) {
                    return Some(Some(answer));
                }
                // A cancelled turn has less time; the wait ends with nothing.
                let cancelled = session
                    .as_deref()
                    .and_then(|session| connection.talk().session(session))
                    .is_some_and(|session| {
                        session
                            .turns
                            .iter()
                            .any(|turn| turn.id == id && turn.cancelled.is_some())
                    });
                if cancelled {
                    let since = *cancelled_since.get_or_insert_with(Instant::now);
                    connection.wake_at(since + cancel);
                    return (since.elapsed() >= cancel).then_some(None);
                }
                None
            })
            .await;
        match answered {
            Ok(Some(answer)) => {
                done.seconds = Some(pending.began.elapsed().as_secs_f64());
                done.answer = Some(answer);
            }
            Ok(None) => done.missing = Some(PumpEnd::TimedOut(cancel.as_secs_f64())),
            Err(end) => done.missing = Some(end),
        }
        if let (Some(PumpEnd::TimedOut(seconds)), false) = (done.missing, expects_none)
            && self.connection.talk().client_request(&sent.id).is_some()
        {
            self.connection.give_up(&sent, seconds);
        }
        if let Some(result) = done
            .answer
            .as_ref()
            .and_then(|(_, message)| message.result())
        {
            if let (Some(opens), Some(session)) = (
                &pending.opens,
                result.get("sessionId").and_then(Value::as_str),
            ) {
                self.sessions.insert(opens.clone(), session.to_owned());
            }
            let name = match &step.action {
                Action::Finish(name) => Some(name),
                _ => step.name.as_ref(),
            };
            if let Some(name) = name {
                self.results.insert(name.clone(), result.clone());
            }
        }
        done
    }

    /// How long an answer is waited for.
    fn limits(&self, step: &Step, expects_none: bool, method: &str) -> Limits {
        match step.within {
            Some(seconds) => Limits::exactly(Duration::from_secs_f64(seconds * self.times.slow)),
            None if method == "initialize" => Limits::exactly(self.times.startup),
            None if expects_none => Limits::exactly(self.times.quiet),
            None => Limits::while_progress(self.times.request),
        }
    }

    async fn wait_until(
        &mut self,
        step: &Step,
        until: &Until,
        session: Option<&str>,
    ) -> Result<(), Stop> {
        let limits = self.limits(step, false, "");
        // The turn that is waited in may end first: then the state can no longer come.
        let turn_open = |connection: &Connection| {
            session.is_none_or(|session| connection.talk().turn(session).is_some())
        };
        let began_in_turn = turn_open(&self.connection);
        let met = self
            .connection
            .pump(limits, |connection| {
                if is_met(connection, until, session) {
                    return Some(true);
                }
                (began_in_turn && !turn_open(connection)).then_some(false)
            })
            .await;
        if *until == Until::Held && met == Ok(true) {
            self.held = true;
        }
        match met {
            Ok(true) => Ok(()),
            Ok(false) => Err(Stop::Blocked(format!(
                "the turn ended before {}",
                words_of(until)
            ))),
            Err(PumpEnd::TimedOut(seconds)) => Err(Stop::Blocked(format!(
                "after {seconds:.0} s there was not {}",
                words_of(until)
            ))),
            Err(PumpEnd::AgentGone) => Err(Stop::Blocked(format!(
                "the agent ended before {}",
                words_of(until)
            ))),
        }
    }

    async fn judge(&mut self, step: &Step, done: &Done) {
        for (expect, noted) in step
            .expect
            .iter()
            .map(|it| (it, false))
            .chain(step.note.iter().map(|it| (it, true)))
        {
            let verdict = self.judge_one(step, expect, done).await;
            if let Verdict::Missed(Miss { gone: true, .. }) = &verdict {
                self.gone = true;
            }
            self.judged.push(Judged {
                expect: expect.clone(),
                verdict,
                noted,
            });
        }
    }

    async fn judge_one(&mut self, step: &Step, expect: &Expect, done: &Done) -> Verdict {
        let other = match &expect.to {
            Some(id) => Some(self.await_other(step, id, expect).await),
            None => None,
        };
        for condition in &expect.conditions {
            match condition {
                Condition::Left(count) => return Verdict::Left(*count),
                Condition::Exit(wanted) => {
                    if let Err(miss) = self.exits(wanted.within, &wanted.codes).await {
                        return Verdict::Missed(miss);
                    }
                    continue;
                }
                _ => {}
            }
            let condition = match filled_condition(condition, &mut |placeholder| {
                self.value_of(step, placeholder)
            }) {
                Ok(condition) => condition,
                Err(missing) => return Verdict::Open(unknown(&missing)),
            };
            let model = self.connection.model();
            let (answer, missing) = match &other {
                Some(Ok(answer)) => (Some(answer), None),
                Some(Err(end)) => (None, Some(*end)),
                None => (done.answer.as_ref(), done.missing),
            };
            let seen = Seen {
                answer,
                missing,
                event: done.event,
                seconds: done.seconds,
                session: done
                    .session
                    .as_deref()
                    .and_then(|session| self.connection.progress().session(session)),
                before: &done.before,
                messages: self.connection.progress().messages(),
                workspace: &self.workspace,
                model: model.as_ref(),
                alive: self.connection.is_alive(),
            };
            if let Err(miss) = seen.check(&condition) {
                return match expect.otherwise {
                    Otherwise::Inconclusive => {
                        Verdict::Open(expect.why.clone().unwrap_or(miss.message))
                    }
                    Otherwise::Fail => Verdict::Missed(Miss {
                        message: match &expect.why {
                            Some(why) => format!("{why}: {}", miss.message),
                            None => miss.message,
                        },
                        ..miss
                    }),
                };
            }
        }
        Verdict::Held
    }

    async fn await_other(
        &mut self,
        step: &Step,
        id: &Value,
        expect: &Expect,
    ) -> Result<(u64, Message), PumpEnd> {
        let wanted = Id::from_value(id);
        let limits = self.limits(step, expects_none([expect]), "");
        let answered = self
            .connection
            .pump(limits, |connection| {
                connection.progress_mut().take_answer(&wanted)
            })
            .await;
        if let Err(PumpEnd::TimedOut(seconds)) = answered {
            let sent = Sent {
                id: wanted,
                json_id: id.clone(),
                event: 0,
                at: Instant::now(),
                method: String::new(),
            };
            if self.connection.talk().client_request(&sent.id).is_some() {
                self.connection.give_up(&sent, seconds);
            }
        }
        answered
    }

    async fn exits(&mut self, within: Option<f64>, codes: &[i64]) -> Result<(), Miss> {
        let within = within.unwrap_or(5.0);
        let limits = Limits::exactly(Duration::from_secs_f64(within * self.times.slow.max(1.0)));
        let miss = |message: String, place: Option<Place>| Miss {
            message,
            place,
            gone: false,
        };
        let ended = self
            .connection
            .pump(limits, |connection| connection.has_exited().then_some(()))
            .await;
        if ended.is_err() && !self.connection.has_exited() {
            return Err(miss(
                format!("the agent's process is still running after {within} s"),
                None,
            ));
        }
        let end = self.connection.talk().end;
        let fits = match end.exit {
            Some(crate::trace::Exit::Code(code)) => {
                codes.is_empty() || codes.contains(&i64::from(code))
            }
            _ => codes.is_empty(),
        };
        if fits {
            return Ok(());
        }
        let found = end
            .exit
            .map_or("an end of which nothing is known".to_owned(), |exit| {
                exit.to_string()
            });
        Err(miss(
            format!(
                "expected exit code {}, found {found}",
                codes
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(" or ")
            ),
            end.exited.map(Place::event),
        ))
    }

    fn leave_open(&mut self, step: &Step, why: &str) {
        for expect in &step.expect {
            self.judged.push(Judged {
                expect: expect.clone(),
                verdict: Verdict::Open(why.to_owned()),
                noted: false,
            });
        }
    }

    fn marks(&self, session: &str) -> Marks {
        let progress = self.connection.progress();
        let seen = self
            .sessions
            .get(session)
            .and_then(|id| progress.session(id));
        Marks {
            updates: seen.map(|seen| seen.updates.clone()).unwrap_or_default(),
            permissions: seen.map_or(0, |seen| seen.permissions),
            messages: progress.messages(),
            model_requests: self.connection.model().map_or(0, |model| model.requests),
        }
    }

    /// What the scenario needs and did not get, a sentence each.
    pub(super) fn unmet(&self) -> Vec<String> {
        let needs = self.scenario.needs;
        let progress = self.connection.progress();
        let model = self.connection.model();
        let mut unmet = Vec::new();
        let mut need = |wanted: bool, met: bool, why: &str| {
            if wanted && !met {
                unmet.push(why.to_owned());
            }
        };
        need(
            needs.permission,
            progress.has_asked(),
            "the agent asked for no permission",
        );
        need(
            needs.tool,
            progress.has_update("tool_call"),
            "the agent reported no tool call",
        );
        need(
            needs.text,
            progress.has_update("agent_message_chunk"),
            "the agent sent no text",
        );
        need(
            needs.held,
            self.held,
            "the model's held stream was not reached",
        );
        match &model {
            None => need(needs.model, false, "there is no scripted model"),
            Some(model) => {
                need(
                    needs.model,
                    model.used > 0,
                    "the agent never asked the scripted model",
                );
                for unmapped in &model.unmapped {
                    unmet.push(format!(
                        "{} (the agent offers {})",
                        unmapped.wanted,
                        unmapped.offered.join(", ")
                    ));
                }
            }
        }
        let kinds: BTreeSet<&str> = self.connection.not_offered().iter().copied().collect();
        unmet.extend(
            kinds
                .into_iter()
                .map(|kind| format!("the agent offered no option of kind {kind}")),
        );
        unmet
    }
}

/// Whether no answer at all is expected, so that waiting for one is a matter of a quiet period.
fn expects_none<'e>(expects: impl IntoIterator<Item = &'e Expect>) -> bool {
    let mut conditions = expects.into_iter().flat_map(|expect| &expect.conditions);
    conditions.any(|condition| matches!(condition, Condition::Answer(super::file::Answer::None)))
}

/// Whether a step's own parameters name the session, so that none need be open.
fn names_it(action: &Action) -> bool {
    let params = match action {
        Action::Load(params)
        | Action::Resume(params)
        | Action::Close(params)
        | Action::Delete(params)
        | Action::SetMode(params)
        | Action::SetConfigOption(params)
        | Action::Cancel(params) => params,
        _ => return false,
    };
    match params {
        Params::Over(members) => members.contains_key("sessionId"),
        Params::Exact(_) => true,
    }
}

fn with_meta(step: &Step, mut params: Value) -> Value {
    if let (Some(meta), Value::Object(members)) = (&step.meta, &mut params) {
        members.insert("_meta".into(), Value::Object(meta.clone()));
    }
    params
}

fn filled_condition(
    condition: &Condition,
    value: &mut dyn FnMut(&Placeholder) -> Option<Value>,
) -> Result<Condition, Placeholder> {
    let mut texts = |list: &[String]| {
        list.iter()
            .map(|text| fill(text, value))
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(match condition {
        Condition::Text(text) => {
            let mut text = text.clone();
            text.contains = texts(&text.contains)?;
            text.contains_once = texts(&text.contains_once)?;
            text.lacks = texts(&text.lacks)?;
            Condition::Text(text)
        }
        Condition::Model(model) => {
            let mut model = model.clone();
            model.saw = texts(&model.saw)?;
            model.lacks = texts(&model.lacks)?;
            Condition::Model(model)
        }
        Condition::Result(pattern) => Condition::Result(pattern.fill(value)?),
        Condition::Error(error) => {
            let mut error = error.clone();
            error.message = error
                .message
                .map(|pattern| pattern.fill(value))
                .transpose()?;
            error.data = error.data.map(|pattern| pattern.fill(value)).transpose()?;
            Condition::Error(error)
        }
        other => other.clone(),
    })
}

fn is_met(connection: &Connection, until: &Until, session: Option<&str>) -> bool {
    let progress = connection.progress();
    let seen = session.and_then(|session| progress.session(session));
    match until {
        Until::Text(length) => {
            seen.is_some_and(|seen| seen.turn.text.chars().count() as u64 >= *length)
        }
        Until::Update(kind) => seen.is_some_and(|seen| seen.turn.updates.contains_key(kind)),
        Until::Tool(state) => seen.is_some_and(|seen| {
            seen.turn.tools.values().any(|tool| match word_of(*state) {
                None => true,
                Some(word) => tool.status().unwrap_or("pending") == word,
            })
        }),
        Until::Permission => progress
            .asks()
            .iter()
            .any(|ask| session.is_none_or(|session| ask.session == session)),
        Until::Held => connection.model().is_some_and(|model| model.holding),
        Until::Request(method) => progress.called(method) > 0,
    }
}

fn word_of(state: ToolState) -> Option<&'static str> {
    match state {
        ToolState::Any => None,
        ToolState::Pending => Some("pending"),
        ToolState::InProgress => Some("in_progress"),
        ToolState::Completed => Some("completed"),
        ToolState::Failed => Some("failed"),
    }
}

fn words_of(until: &Until) -> String {
    match until {
        Until::Text(length) => format!("{length} characters of text"),
        Until::Update(kind) => format!("an update `{kind}`"),
        Until::Tool(state) => format!(
            "a tool call that is {}",
            word_of(*state).unwrap_or("reported")
        ),
        Until::Permission => "a permission request".to_owned(),
        Until::Held => "a request to the model".to_owned(),
        Until::Request(method) => format!("a request `{method}`"),
    }
}

fn choice_of(permission: Permission) -> PermissionChoice {
    match permission {
        Permission::AllowOnce => PermissionChoice::Kind("allow_once"),
        Permission::AllowAlways => PermissionChoice::Kind("allow_always"),
        Permission::RejectOnce => PermissionChoice::Kind("reject_once"),
        Permission::RejectAlways => PermissionChoice::Kind("reject_always"),
        Permission::Cancelled => PermissionChoice::Cancelled,
        Permission::Error => PermissionChoice::Error,
        Permission::Unoffered => PermissionChoice::Unoffered,
        Permission::UnknownOutcome => PermissionChoice::UnknownOutcome,
        Permission::Hold => PermissionChoice::Hold,
    }
}

fn signal_of(name: &str) -> Option<i32> {
    match name {
        "HUP" => Some(1),
        "INT" => Some(2),
        "KILL" => Some(9),
        "TERM" => Some(15),
        _ => None,
    }
}

fn text_of(blocks: &[Value]) -> String {
    blocks
        .iter()
        .filter_map(|block| block.get("text")?.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}
