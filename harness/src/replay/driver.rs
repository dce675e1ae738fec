//! Runs an agent and plays the client of a recording to it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc;

use super::bindings::Bindings;
use super::engine::{Engine, Output, Waiting};
use super::incident::Incident;
use super::plan::{Folder, FolderPlace, Plan, Unplayable};
use crate::agent::{AgentProcess, Needed, Patience, Place, RunFolder, StartError};
use crate::client::{Answers, Log, Outgoing, PermissionChoice, Reply, SessionFiles, Unsent};
use crate::model::{Cassette, ModelServer, prompt};
use crate::rules::{Conversation, Judge, Judgement};
use crate::scenario::{self, Setup};
use crate::spec::Side;
use crate::trace::{Body, Event, Exit, Observed, Party, Recording};
use crate::wire::{Message, Reading};

/// How many events may wait between the edges and the driver.
const INBOX: usize = 1024;
/// How soon it is tried again to hand over what the agent did not take.
const HAND_OVER_AGAIN: Duration = Duration::from_millis(10);
/// What the recording shows without being waited for is given so long without a sign.
const QUIET: Duration = Duration::from_millis(300);
/// What is said of an agent that did not end by itself.
const ENDED_BY: &str = "the agent did not end when its stdin was closed: _ ended it";
/// An agent that closed its stdout has so long to exit before it is taken for gone.
const CLOSED: Duration = Duration::from_millis(500);
/// The shortest patience with an agent that has been given up before and was silent since.
const LEAST_PATIENCE: Duration = Duration::from_millis(200);
/// An answer that no rule demands is waited for no longer than this.
const STRAY: Duration = Duration::from_secs(2);
/// Whatever an agent does meanwhile: one thing is waited for at most so many times the patience.
const MOST_PATIENCE: u32 = 10;

/// What a replay left.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// The live trace.
    pub(crate) trace: PathBuf,
    /// Its events from the other side and ours, in order; empty where it could not be read again.
    pub(crate) live: Recording,
    /// What the rules found.
    pub(crate) judgement: Judgement,
    /// The conversation at its end.
    pub(crate) talk: Conversation,
    /// The plan that was played.
    pub(crate) plan: Plan,
    /// What went otherwise in ways that no comparison tells.
    pub(crate) incidents: Vec<Incident>,
    /// What is to be known, a sentence each.
    pub(crate) notes: Vec<String>,
    /// Live folders and the recorded ones that they stand for.
    pub(crate) folders: Vec<(String, String)>,
    /// Live events that the recording could not hold, as the harness put them in.
    pub(crate) put_in: Vec<u64>,
    /// Whether the agent owed the answer to `initialize` to the end.
    pub(crate) silent: bool,
    /// What the recorded model has to say, a sentence each.
    pub(crate) told: Vec<String>,
    /// A fault of the harness.
    pub(crate) fault: Option<String>,
}

/// Why nothing was replayed.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The recording cannot be played.
    Unplayable(Unplayable),
    /// The agent could not be started.
    Start(StartError),
    /// A fault of the harness.
    Harness(String),
}

/// What is to be known where the model is derived.
const DERIVED: &str = "the model is an approximation: it says and calls what the agent told its client in the recording";

/// The model that an agent talks to while a recording is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// The exchanges of the recording, if it holds any.
    Recorded,
    /// What can be told from what the agent said and called.
    Derived,
    /// None of the harness's.
    None,
}

/// Whether anything of an exchange with a model was recorded.
fn has_exchanges(recording: &Recording) -> bool {
    let mut events = recording.events.iter();
    events.any(|event| event.from == Party::Model)
}

/// Replays a recording against the agent of `setup`. The live trace goes to `trace`.
///
/// # Errors
/// Where it did not come to a conversation.
pub(crate) async fn replay(
    recording: &Recording,
    setup: &Setup,
    model: Model,
    trace: &Path,
) -> Result<Replayed, Trouble> {
    let broken =
        |what: &str, error: &dyn std::fmt::Display| Trouble::Harness(format!("{what}: {error}"));
    let began = Instant::now();
    let plan = Plan::of(recording, Side::Client).map_err(Trouble::Unplayable)?;
    let folder =
        RunFolder::new().map_err(|error| broken("no fresh folder for the replay", &error))?;
    let roots = folders(&plan.folders, &folder)
        .map_err(|error| broken("the folders of the sessions", &error))?;
    for (path, text) in &recording.header.workspace {
        folder
            .write(Place::Workspace, path, text.as_bytes())
            .map_err(|error| broken("the session's folder", &error))?;
    }
    let bindings = bound(&plan.folders, &folder);
    let (inbox, seen) = mpsc::channel(INBOX);
    let live = |text: &str| bindings.to_live(None, text);
    let derived = model == Model::Derived;
    let cassette = match model {
        Model::Recorded => Cassette::of(recording, live),
        Model::Derived => Cassette::derived(recording, live),
        Model::None => Cassette::default(),
    };
    let model = match cassette {
        // Where exchanges were recorded and none can be read, the agent must not find another model instead.
        cassette if cassette.is_empty() && (model == Model::None || !has_exchanges(recording)) => {
            None
        }
        cassette => {
            let model = ModelServer::replaying(cassette, inbox.clone())
                .map_err(|error| broken("no port for the recorded model", &error))?;
            model.set_folder(folder.workspace());
            model.set_tools(setup.profile.tools.clone());
            Some(model)
        }
    };
    let launch = scenario::launch(setup, &folder, model.as_ref().map(ModelServer::access))
        .map_err(Trouble::Harness)?;
    let mut header = scenario::header_of(setup);
    header.cwd = folder.workspace().to_str().map(str::to_owned);
    header.about = recording.header.about.clone();
    header.workspace = recording.header.workspace.clone();
    let file = scenario::open_trace(trace, &header)
        .map_err(|error| broken(&format!("the trace {}", trace.display()), &error))?;
    let files =
        SessionFiles::open(roots).map_err(|error| broken("the session's folder", &error))?;
    let agent = AgentProcess::start(&launch, inbox.clone()).map_err(Trouble::Start)?;
    drop(inbox);
    let mut driver = Driver {
        engine: Engine::new(plan, bindings),
        agent,
        seen,
        model,
        derived,
        log: Log::judged_by(Judge::of_recording(true), began, file),
        unsent: Unsent::default(),
        answers: Answers::new(files),
        put_in: Vec::new(),
        live: Recording {
            header,
            ..Recording::default()
        },
        patience: setup.timeout.mul_f64(setup.profile.slow.max(1.0)),
        startup: setup.startup_timeout.mul_f64(setup.profile.slow.max(1.0)),
        quiet: QUIET.mul_f64((setup.slow * setup.profile.slow).max(1.0)),
        stdin_closed: false,
        exited: None,
        stdout_closed: false,
        over: false,
        sent: HashMap::new(),
        last_sign: began,
        began,
    };
    let silent = driver.run().await.is_err();
    let mut replayed = driver.finish(trace.to_owned(), silent).await;
    replayed.folders = pairs(&replayed.plan.folders, &folder);
    if let Err(error) = folder.remove() {
        replayed.fault.get_or_insert(format!(
            "the folder of the replay could not be removed: {error}"
        ));
    }
    Ok(replayed)
}

/// The agent never answered `initialize`.
struct Silent;

struct Driver {
    engine: Engine,
    agent: AgentProcess,
    seen: mpsc::Receiver<Observed>,
    /// What serves the model's replies of the recording, if it holds any.
    model: Option<ModelServer>,
    /// Whether these are made up from what the agent said and called.
    derived: bool,
    log: Log,
    unsent: Unsent,
    answers: Answers,
    put_in: Vec<u64>,
    live: Recording,
    patience: Duration,
    startup: Duration,
    quiet: Duration,
    stdin_closed: bool,
    exited: Option<Exit>,
    stdout_closed: bool,
    /// Whether it is taken for gone though its process lives.
    over: bool,
    /// When each request was sent.
    sent: HashMap<usize, Instant>,
    last_sign: Instant,
    began: Instant,
}

enum Next {
    Came,
    TimeUp,
    Gone,
}

impl Driver {
    async fn run(&mut self) -> Result<(), Silent> {
        let mut began = Instant::now();
        let mut progress = 0;
        let mut given_up = None;
        loop {
            while let Some(output) = self.engine.next() {
                self.put_out(output);
                began = Instant::now();
            }
            if self.engine.progress() > progress {
                progress = self.engine.progress();
                began = Instant::now();
            }
            let since = self.last_sign.max(began);
            let deadline = match self.engine.waiting() {
                Waiting::Nothing => return Ok(()),
                Waiting::Rest => since + self.quiet,
                Waiting::Stray => since + self.patience.min(STRAY),
                Waiting::Peer => {
                    let patience = if self.engine.awaits_initialize() {
                        self.startup
                    } else if given_up.is_some_and(|moment| self.last_sign < moment) {
                        (self.patience / 10).max(LEAST_PATIENCE).min(self.patience)
                    } else {
                        self.patience
                    };
                    (since + patience).min(began + patience * MOST_PATIENCE)
                }
            };
            // What closed its stdout says no more; its exit may follow.
            let deadline = match self.stdout_closed {
                true => deadline.min(self.last_sign + CLOSED),
                false => deadline,
            };
            match self.next(deadline).await {
                Next::Came => {}
                Next::Gone => {
                    let silent = self.engine.awaits_initialize();
                    self.engine.settle();
                    while let Some(output) = self.engine.next() {
                        self.put_out(output);
                    }
                    if self.engine.waiting() != Waiting::Nothing {
                        self.engine.gone(self.how_it_ended());
                    }
                    return if silent { Err(Silent) } else { Ok(()) };
                }
                Next::TimeUp if self.engine.waiting() == Waiting::Rest && !self.stdout_closed => {
                    self.engine.settle();
                }
                Next::TimeUp => {
                    if self.stdout_closed {
                        self.over = true;
                        continue;
                    }
                    let silent = self.engine.awaits_initialize();
                    let impatient = given_up.is_some_and(|moment| self.last_sign < moment);
                    self.give_up(began, impatient);
                    if silent {
                        return Err(Silent);
                    }
                    given_up = Some(Instant::now());
                }
            }
        }
    }

    /// Gives up what is waited for. An agent that had been given up and was silent since is not waited for so long again:
    /// then nothing is said about how long its requests took.
    fn give_up(&mut self, began: Instant, impatient: bool) {
        let overdue = self.engine.overdue();
        let since = overdue
            .iter()
            .filter_map(|step| self.sent.get(step).copied())
            .fold(began, Instant::min);
        let seconds = since.elapsed().as_secs_f64();
        let ids = self.engine.give_up((!impatient).then_some(seconds));
        for id in ids.into_iter().filter(|_| !impatient) {
            let id = serde_json::from_str(&id.to_string()).unwrap_or(Value::Null);
            let body = Body::Unanswered { id, seconds };
            self.record(Instant::now(), Party::Harness, body, None);
        }
    }

    fn how_it_ended(&self) -> String {
        match self.exited {
            Some(exit) => format!("the agent ended with {exit}"),
            None => "the agent closed its stdout".to_owned(),
        }
    }

    fn put_out(&mut self, output: Output) {
        match output {
            Output::Send {
                bytes,
                partial,
                probe,
                step,
            } => {
                self.tell_model(&bytes);
                let body = Body::of_line(bytes.clone(), partial);
                let event = self.record(Instant::now(), Party::Client, body, probe);
                self.engine.became(step, event);
                self.sent.insert(step, Instant::now());
                if self
                    .engine
                    .plan()
                    .steps
                    .get(step)
                    .is_some_and(|step| step.event.is_none())
                {
                    self.put_in.push(event);
                }
                self.write(bytes, partial);
            }
            Output::Close => {
                self.stdin_closed = true;
                self.record(Instant::now(), Party::Client, Body::Eof, None);
                self.hand_over();
                self.agent.close_stdin();
            }
            Output::Signal(signal) => {
                self.record(Instant::now(), Party::Harness, Body::Signal(signal), None);
                // An agent that has ended meanwhile needs none.
                let _ = self.agent.signal_untold(signal);
            }
            Output::Unknown { message, event } => self.answer_by_policy(&message, event),
        }
    }

    /// Tells the model of a prompt that is about to be sent.
    fn tell_model(&self, line: &[u8]) {
        let Some(model) = &self.model else { return };
        let Reading::Message(message) = Reading::of(line) else {
            return;
        };
        if message.method() == Some("session/prompt") {
            let session = message.session().unwrap_or_default();
            let text = prompt::text_in(&message).unwrap_or_default();
            // Where the port cannot be opened or closed, the replies that follow show it.
            let _ = model.note_prompt(session, &text);
        }
    }

    /// Answers a request that the recording does not have: a permission is refused, files are those of the session's folder,
    /// anything else is not found.
    fn answer_by_policy(&mut self, message: &Message, event: u64) {
        let Some(id) = message.members().get("id").cloned() else {
            return;
        };
        let method = message.method().unwrap_or_default().to_owned();
        let reply = if method == "session/request_permission" {
            let cancelled = message
                .session()
                .and_then(|session| self.log.talk().turn(session))
                .is_some_and(|turn| turn.cancelled.is_some());
            let choice = if cancelled {
                PermissionChoice::Cancelled
            } else {
                PermissionChoice::Kind("reject_once")
            };
            let nothing = Value::Null;
            let params = message.params().unwrap_or(&nothing);
            Answers::to_permission(choice, &super::answer::options(params)).0
        } else {
            self.answers.to(message, self.log.talk())
        };
        let answer = match &reply {
            Reply::Result(result) => match result.pointer("/outcome/optionId") {
                Some(option) => format!("rejected with option {option}"),
                None if method == "session/request_permission" => "cancelled".to_owned(),
                None => "answered from the session's folder".to_owned(),
            },
            Reply::Error(code, _) => format!("answered with error {code}"),
            Reply::Nothing => return,
        };
        let line = match reply {
            Reply::Result(result) => Outgoing::result(&id, &result),
            Reply::Error(code, message) => Outgoing::error(&id, code, &message),
            Reply::Nothing => return,
        };
        self.engine.incidents.push(Incident::Unknown {
            method,
            event,
            answer,
        });
        let bytes = line.text().as_bytes().to_vec();
        let body = Body::of_line(bytes.clone(), false);
        self.record(Instant::now(), Party::Client, body, None);
        self.write(bytes, false);
    }

    fn record(&mut self, at: Instant, from: Party, body: Body, probe: Option<String>) -> u64 {
        let seconds = at.saturating_duration_since(self.began).as_secs_f64();
        let mut event = Event::new(seconds, from, body.clone());
        event.probe.clone_from(&probe);
        self.live.events.push(event);
        self.log.write(at, from, body, probe)
    }

    /// Hands bytes to the agent without waiting: one that does not read must not keep the harness from reading.
    fn write(&mut self, mut bytes: Vec<u8>, partial: bool) {
        if !partial {
            bytes.push(b'\n');
        }
        if !self.unsent.is_full() {
            self.unsent.push(bytes);
        }
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
        loop {
            self.hand_over();
            let over = self.over || (self.stdout_closed && self.exited.is_some());
            let look = if self.unsent.is_empty() || over {
                deadline
            } else {
                deadline.min(Instant::now() + HAND_OVER_AGAIN)
            };
            let observed = tokio::select! {
                biased;
                observed = self.seen.recv() => observed,
                () = std::future::ready(()), if over => return Next::Gone,
                () = tokio::time::sleep_until(look.into()) => {
                    if look < deadline {
                        continue;
                    }
                    return Next::TimeUp;
                }
            };
            let Some(observed) = observed else {
                return Next::Gone;
            };
            self.take(observed);
            return Next::Came;
        }
    }

    fn take(&mut self, observed: Observed) {
        let reading = (observed.from == Party::Agent)
            .then(|| observed.body.reading())
            .flatten();
        if observed.from != Party::Harness {
            self.last_sign = Instant::now();
        }
        match &observed.body {
            Body::Eof if observed.from == Party::Agent => self.stdout_closed = true,
            Body::Exit(exit) => self.exited = Some(*exit),
            _ => {}
        }
        let ended = matches!(observed.body, Body::Eof | Body::Exit(_));
        let event = self.record(observed.at, observed.from, observed.body, None);
        if let Some(reading) = reading {
            if self.engine.answers_put_in(&reading) {
                self.put_in.push(event);
            }
            self.engine.see(&reading, event);
        }
        if ended {
            self.engine.stream_ended();
        }
    }

    async fn finish(mut self, trace: PathBuf, silent: bool) -> Replayed {
        if !self.stdin_closed && self.exited.is_none() {
            self.record(Instant::now(), Party::Client, Body::Eof, None);
        }
        self.engine.finish();
        let Self {
            engine,
            agent,
            model,
            derived,
            mut seen,
            mut log,
            mut live,
            put_in,
            began,
            ..
        } = self;
        let ending = agent
            .end_draining(Patience::default(), &mut seen, |observed| {
                let at = observed.at.saturating_duration_since(began).as_secs_f64();
                live.events
                    .push(Event::new(at, observed.from, observed.body.clone()));
                log.write(observed.at, observed.from, observed.body, None);
            })
            .await;
        let told = model.map(|model| model.watch().borrow().told.clone());
        let (judgement, talk, fault) = log.finish();
        let (plan, incidents, mut notes) = engine.into_parts();
        if derived {
            notes.push(DERIVED.to_owned());
        }
        match ending.needed {
            Needed::Nothing | Needed::StdinClosed => {}
            Needed::Term => notes.push(ENDED_BY.replace('_', "SIGTERM")),
            Needed::Kill => notes.push(ENDED_BY.replace('_', "SIGKILL")),
        }
        Replayed {
            trace,
            told: told.unwrap_or_default(),
            live,
            judgement,
            talk,
            plan,
            incidents,
            notes,
            folders: Vec::new(),
            put_in,
            silent,
            fault,
        }
    }
}

/// Makes the folders of the sessions and gives those that files may be served from.
fn folders(planned: &[Folder], folder: &RunFolder) -> std::io::Result<Vec<PathBuf>> {
    let mut roots = vec![folder.workspace().to_owned()];
    for one in planned {
        let path = place(&one.place, folder);
        match one.place {
            FolderPlace::Inside(_) => fs::create_dir_all(&path)?,
            FolderPlace::Beside(_) => {
                fs::create_dir_all(&path)?;
                roots.push(path);
            }
            FolderPlace::Workspace | FolderPlace::Home | FolderPlace::Root => {}
        }
    }
    Ok(roots)
}

/// The live folders and the recorded ones. A home that the recording does not name is `{home}`.
fn pairs(planned: &[Folder], folder: &RunFolder) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = planned
        .iter()
        .filter_map(|one| {
            let live = place(&one.place, folder).to_str()?.to_owned();
            Some((live, one.recorded.clone()))
        })
        .collect();
    let named = planned
        .iter()
        .any(|one| matches!(one.place, FolderPlace::Home | FolderPlace::Root));
    if !named && let Some(home) = folder.home().to_str() {
        pairs.push((home.to_owned(), "{home}".to_owned()));
    }
    pairs
}

fn bound(planned: &[Folder], folder: &RunFolder) -> Bindings {
    let mut bindings = Bindings::default();
    for one in planned {
        if let Some(live) = place(&one.place, folder).to_str() {
            bindings.bind_folder(&one.recorded, live);
        }
    }
    bindings
}

fn place(place: &FolderPlace, folder: &RunFolder) -> PathBuf {
    match place {
        FolderPlace::Workspace => folder.workspace().to_owned(),
        FolderPlace::Inside(rest) => folder.workspace().join(rest),
        FolderPlace::Beside(number) => folder.root().join(format!("workspace-{number}")),
        FolderPlace::Home => folder.home().to_owned(),
        FolderPlace::Root => folder.root().to_owned(),
    }
}
