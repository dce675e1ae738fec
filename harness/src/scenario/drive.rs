//! Takes the steps of one scenario over a live conversation.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc;

use super::action::choice_of;
use super::check::{Marks, Miss, error_of};
use super::file::{Action, Count, Expect, Requests, Scenario, Step};
use super::params::unknown;
use super::{Answered, Setup};
use crate::agent::{Launch, Patience};
use crate::client::{Connection, PumpEnd, Sent};
use crate::mcp::Servers;
use crate::model::{ModelServer, Unmapped};
use crate::profile::Profile;
use crate::rules::quote;
use crate::spec::{Catalogue, Condition as When, Truth};
use crate::trace::{Header, Observed};
use crate::wire::Message;

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
    Left(Count),
}

/// One expectation and what it came to.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) expect: Expect,
    pub(super) verdict: Verdict,
    /// For what is only noted: what was seen, in words.
    pub(super) noted: Option<String>,
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
    pub(super) servers: &'a Servers,
    pub(super) workspace: PathBuf,
    pub(super) home: PathBuf,
    pub(super) profile: &'a Profile,
    pub(super) times: Times,
    pub(super) answered: &'a Answered,
    pub(super) judged: Vec<Judged>,
    pub(super) held: bool,
    pub(super) sessions: HashMap<String, String>,
    pub(super) pending: HashMap<String, Pending>,
    pub(super) results: HashMap<String, Value>,
    pub(super) gone: bool,
    pub(super) logged_in: bool,
    /// How the agent is started again.
    pub(super) again: &'a Again,
    pub(super) restarted: bool,
    /// The modes of the sessions that had no prompt yet.
    pub(super) modes: Vec<(String, Value)>,
    /// What came of the prompts of named steps.
    pub(super) turns: HashMap<String, Vec<String>>,
    /// The number of events before the first step that the file itself has.
    pub(super) first_own: Option<u64>,
    considered: bool,
}

/// What another start of the agent takes.
pub(super) struct Again {
    pub(super) launch: Launch,
    /// Where the edges of the process report to.
    pub(super) inbox: mpsc::Sender<Observed>,
    /// The first line of the trace of each process.
    pub(super) header: Header,
    pub(super) patience: Patience,
}

/// A request whose answer is still to be awaited.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) sent: Option<Sent>,
    pub(super) session: Option<String>,
    pub(super) opens: Option<String>,
    pub(super) before: Marks,
    pub(super) began: Instant,
}

/// What a step left to be judged.
pub(super) struct Done {
    pub(super) answer: Option<(u64, Message)>,
    pub(super) missing: Option<PumpEnd>,
    pub(super) event: Option<u64>,
    pub(super) seconds: Option<f64>,
    pub(super) session: Option<String>,
    pub(super) before: Marks,
}

impl Done {
    /// How the step's message was answered, in words.
    pub(super) fn in_words(&self) -> String {
        match &self.answer {
            Some((_, message)) if message.error().is_some() => {
                format!("answered with the error {}", error_of(message))
            }
            Some((_, message)) => {
                let reason = message.result().and_then(|result| result.get("stopReason"));
                match reason.and_then(Value::as_str) {
                    Some(reason) => format!("answered with the stop reason {}", quote(reason)),
                    None => "answered with a result".to_owned(),
                }
            }
            None if self.missing == Some(PumpEnd::AgentGone) => {
                "not answered: the agent ended".to_owned()
            }
            None if self.missing.is_some() => "not answered".to_owned(),
            None => "as the scenario says".to_owned(),
        }
    }
}

impl<'a> Drive<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        connection: Connection,
        (model, servers): (Option<&'a ModelServer>, &'a Servers),
        folders: (&Path, &Path),
        again: &'a Again,
        setup: &'a Setup,
    ) -> Self {
        let mut drive = Self {
            scenario,
            connection,
            model,
            servers,
            workspace: folders.0.to_owned(),
            home: folders.1.to_owned(),
            profile: &setup.profile,
            times: setup.times(),
            answered: &setup.answered,
            judged: Vec::new(),
            held: false,
            sessions: HashMap::new(),
            pending: HashMap::new(),
            results: HashMap::new(),
            gone: false,
            logged_in: false,
            again,
            restarted: false,
            modes: Vec::new(),
            turns: HashMap::new(),
            first_own: None,
            considered: false,
        };
        drive.logged_in = drive.logs_in_itself();
        drive
    }

    /// Whether the scenario is about the login, so that nothing else logs in.
    pub(super) fn logs_in_itself(&self) -> bool {
        let mut steps = self.scenario.steps.iter();
        steps.any(|step| matches!(step.action, Action::Authenticate(_)))
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
            if !step.implied && self.first_own.is_none() {
                self.first_own = Some(self.connection.recorded());
            }
            self.step(step).await?;
        }
        if self.connection.is_alive() {
            self.connection.listen(self.last_quiet()).await;
        }
        Ok(())
    }

    /// How long to listen for what comes late. What follows a turn or a notification may take its time; after answers
    /// alone a moment is enough, as every scenario with a turn listens for second answers to the same requests too.
    fn last_quiet(&self) -> Duration {
        let lasting = |step: &Step| {
            matches!(
                step.action,
                Action::Prompt(_)
                    | Action::Cancel(_)
                    | Action::Notify { .. }
                    | Action::CancelRequest(_)
                    | Action::Send(_)
            )
        };
        if self.scenario.steps.iter().any(lasting) {
            self.times.quiet
        } else {
            self.times.quiet / 6
        }
    }

    /// Once the handshake was made: is the scenario about this agent at all?
    fn consider(&mut self) -> Result<(), Stop> {
        let talk = self.connection.talk();
        if self.considered || talk.handshake.is_none() {
            return Ok(());
        }
        let opened = talk.sessions().next().is_some();
        self.considered = opened;
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
        let allow = &self.scenario.allow;
        match allow
            .iter()
            .find(|consent| !self.profile.allow.contains(consent))
        {
            Some(consent) => Err(Stop::Blocked(format!(
                "not run without consent: put `allow = [\"{}\"]` into a profile or into `harness.toml`",
                consent.as_str()
            ))),
            None => Ok(()),
        }
    }

    async fn step(&mut self, step: &Step) -> Result<(), Stop> {
        if self.gone
            && !matches!(
                step.action,
                Action::CloseStdin | Action::Restart | Action::Write { .. } | Action::Signal(_)
            )
        {
            // The first expectation that missed the agent has told so; what follows could not be tried.
            self.leave_open(step, "the agent had ended before this step");
            return Ok(());
        }
        if step.action.is_request() || matches!(step.action, Action::Send(_)) {
            // Both hold for the step's turn, so a step that only waits leaves them as they are.
            if let Some(session) = self.sessions.get(&step.session).cloned() {
                let choices = step.permission.iter().map(|choice| choice_of(*choice));
                self.connection
                    .plan_permissions(&session, choices.collect());
            }
            self.connection.answers_mut().refuse_all = step.requests == Requests::Refuse;
            let replies = self
                .replies(step)
                .map_err(|missing| Stop::Blocked(unknown(&missing)))?;
            self.connection.plan_replies(replies);
        }
        let done = match self.act(step).await {
            Ok(done) => done,
            // A state that was not reached leaves nothing to do, unless the scenario set a time after which it goes on.
            Err(stop @ Stop::Blocked(_))
                if matches!(step.action, Action::Until(_)) && step.within.is_none() =>
            {
                return Err(stop);
            }
            Err(Stop::NotApplicable(_)) if step.optional => return Ok(()),
            Err(Stop::Blocked(why)) if !step.implied => {
                self.leave_open(step, &why);
                return Ok(());
            }
            Err(stop) => return Err(stop),
        };
        if let Some(done) = done {
            self.judge(step, &done).await?;
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
                // The process before it was initialized, so the agent can be.
                None if self.restarted => Err(Stop::Blocked(format!(
                    "initialize {} once the agent was started again",
                    why()
                ))),
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

    /// The request of the agent that the scenario is about and that never came.
    ///
    /// An agent that offers its model no tool to ask the user with does without asking, too.
    pub(super) fn unasked(&self) -> Option<String> {
        let model = self.connection.model();
        if model.is_some_and(|model| model.unmapped.iter().any(|call| call.of_question)) {
            return Some("the agent offers its model no tool to ask the user with".to_owned());
        }
        let progress = self.connection.progress();
        let mut methods = self.scenario.needs.requests.iter();
        let method = methods.find(|method| progress.called(method) == 0)?;
        Some(format!("the agent sent no `{method}`"))
    }

    /// What the scenario needs and did not get, a sentence each.
    pub(super) fn unmet(&self) -> Vec<String> {
        let needs = &self.scenario.needs;
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
        // Where the agent sent what the scenario is about, it does not matter what made it do so.
        let provoked = !needs.requests.is_empty() && self.unasked().is_none();
        match &model {
            _ if provoked => {}
            None => need(needs.model, false, "there is no scripted model"),
            Some(model) => {
                let why = match &model.unserved {
                    Some(path) => format!(
                        "the agent asked the scripted model for {}, which is not served (chat completions, responses, messages and generateContent are)",
                        quote(path)
                    ),
                    None => "the agent never asked the scripted model".to_owned(),
                };
                need(needs.model, model.used > 0, &why);
                need(
                    model.by_arrival > 0,
                    false,
                    "nothing in a request to the model told which of the sessions it was made in",
                );
                let of_others = |call: &&Unmapped| !call.of_mcp && !call.of_question;
                for unmapped in model.unmapped.iter().filter(of_others) {
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
