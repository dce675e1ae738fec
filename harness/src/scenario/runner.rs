//! Runs one scenario: one agent process, one fresh folder, one scripted model, one trace.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc;

use super::drive::{Again, Drive, Judged, Stop, Verdict};
use super::expectation::missed;
use super::file::{Action, Placeholder, Scenario, StartFolder, Step, fill_reply};
use super::params::unknown;
use super::setup::{Setup, header_of, launch, open_trace};
use super::{Outcome, Reached, Status, check};
use crate::agent::{AgentProcess, Needed, Patience, Place, RunFolder, StartError};
use crate::client::{Answers, Connection, Finished, SessionFiles, Terminals};
use crate::mcp::Servers;
use crate::model::script::Script;
use crate::model::{ModelProxy, ModelServer, Reach};
use crate::rules::{Finding, Judgement};
use crate::spec::{Catalogue, Level};
use crate::trace::{Body, Event, Header, TraceReader};

/// How many events may wait between the edges and the driver.
const INBOX: usize = 1024;
/// How many of the agent's last lines on stderr are told.
const STDERR_LINES: usize = 12;

/// Runs one scenario against the agent of `setup`.
pub async fn run(scenario: &Scenario, setup: &Setup) -> Outcome {
    let began = Instant::now();
    let mut outcome = Outcome {
        id: scenario.id.clone(),
        status: Status::Inconclusive,
        why: Vec::new(),
        seconds: 0.0,
        trace: None,
        judgement: Judgement::new(),
        handshake: None,
        reached: Reached::Conversation,
        stderr: Vec::new(),
        upstream: Reach::default(),
        ending: None,
        fault: None,
    };
    match play(scenario, setup, &mut outcome, began).await {
        Ok(()) => {}
        Err(Trouble::Start(error)) => {
            let why = format!("the agent could not be started: {error}");
            leave_covers_open(scenario, &mut outcome, &why);
            outcome.reached = Reached::NotStarted(error);
        }
        Err(Trouble::Harness(fault)) => {
            leave_covers_open(scenario, &mut outcome, &fault);
            outcome.fault = Some(fault);
        }
    }
    outcome.seconds = began.elapsed().as_secs_f64();
    outcome
}

/// What keeps a scenario from being run at all.
enum Trouble {
    Start(StartError),
    Harness(String),
}

async fn play(
    scenario: &Scenario,
    setup: &Setup,
    outcome: &mut Outcome,
    began: Instant,
) -> Result<(), Trouble> {
    let broken =
        |what: &str, error: &dyn std::fmt::Display| Trouble::Harness(format!("{what}: {error}"));
    let folder = RunFolder::new().map_err(|error| broken("no fresh folder for the run", &error))?;
    let (inbox, seen) = mpsc::channel(INBOX);
    let model = if setup.scripted_model {
        let script = script(scenario, &folder).map_err(Trouble::Harness)?;
        let model = ModelServer::start(script, inbox.clone())
            .map_err(|error| broken("no port for the scripted model", &error))?;
        // A prompt that a step sends as a request of its own or as bytes is not noted.
        let untold = |step: &Step| matches!(step.action, Action::Request { .. } | Action::Send(_));
        if !scenario.steps.iter().any(untold) {
            model.tell_prompts();
        }
        model.set_folder(folder.workspace());
        model.set_tools(setup.profile.tools.clone());
        Some(model)
    } else {
        None
    };
    for (path, text) in &scenario.workspace {
        folder
            .write(Place::Workspace, path, text.as_bytes())
            .map_err(|error| broken("the session's folder", &error))?;
    }
    let servers = Servers::start(&scenario.servers, &folder.root().join("mcp"))
        .map_err(|error| broken("no MCP server for the scenario", &error))?;
    let proxy = match setup.upstreams.clone() {
        Some(upstreams) => Some(
            ModelProxy::start(upstreams, None, inbox.clone())
                .await
                .map_err(|error| broken("no proxy for the model", &error))?,
        ),
        None => None,
    };
    let scripted = model.as_ref().map(ModelServer::access);
    let access = scripted.or_else(|| proxy.as_ref().map(ModelProxy::access));
    let mut launch = launch(setup, &folder, access).map_err(Trouble::Harness)?;
    if scenario.start_folder == StartFolder::Elsewhere {
        launch.cwd = folder.tmp().to_owned();
    }
    let trace_path = setup.trace_path(&scenario.id);
    let header = header(scenario, setup);
    let trace = open_trace(&trace_path, &header)
        .map_err(|error| broken(&format!("the trace {}", trace_path.display()), &error))?;
    outcome.trace = Some(trace_path.clone());
    let files = SessionFiles::open([folder.workspace().to_owned()])
        .map_err(|error| broken("the session's folder", &error))?;
    let agent = AgentProcess::start(&launch, inbox.clone()).map_err(Trouble::Start)?;
    // INTEROP-05: what is left after five seconds. Where nothing is left, this ends at once.
    let patience = Patience {
        left: Duration::from_secs(5).mul_f64(setup.slow.max(1.0)),
        ..Patience::default()
    };
    let terminals = Terminals::new([folder.workspace().to_owned()], launch.env.clone());
    let again = Again {
        launch,
        inbox,
        header,
        patience,
    };
    let answers = (Answers::new(files), terminals);
    let watch = model.as_ref().map(ModelServer::watch);
    let connection = Connection::new(agent, seen, watch, trace, answers, began);
    let mut drive = Drive::new(
        scenario,
        connection,
        (model.as_ref(), &servers),
        (folder.workspace(), folder.home()),
        &again,
        setup,
    );
    let stopped = drive.run().await.err();
    let unmet = drive.unmet();
    let unasked = drive.unasked();
    let judged = std::mem::take(&mut drive.judged);
    let first_own = drive.first_own.unwrap_or(0);
    let finished = drive.connection.finish(patience).await;
    drop(model);
    if let Some(proxy) = proxy {
        outcome.upstream = proxy.reach();
    }
    keep_logs(&servers, &trace_path).map_err(|error| broken("the log of an MCP server", &error))?;
    let missing = Missing { unmet, unasked };
    conclude(
        scenario, outcome, stopped, missing, judged, finished, first_own,
    );
    if !matches!(outcome.reached, Reached::Conversation) || outcome.status == Status::Fail {
        outcome.stderr = last_stderr(&trace_path);
    }
    let ended = outcome.ending.as_ref();
    if ended.is_some_and(|ending| ending.needed == Needed::Nothing)
        && outcome.status != Status::Pass
        && let Some(last) = last_stderr(&trace_path).last()
    {
        outcome.why.push(format!(
            "the agent ended by itself; its last words on stderr: {last}"
        ));
    }
    if let Err(error) = folder.remove() {
        outcome.fault.get_or_insert(format!(
            "the folder of the run could not be removed: {error}"
        ));
    }
    Ok(())
}

/// What did not come about.
struct Missing {
    /// What the scenario needs, a sentence each.
    unmet: Vec<String>,
    /// The request of the agent that it is about.
    unasked: Option<String>,
}

/// Puts together what the steps, the needs and the rules say.
fn conclude(
    scenario: &Scenario,
    outcome: &mut Outcome,
    stopped: Option<Stop>,
    missing: Missing,
    judged: Vec<Judged>,
    finished: Finished,
    first_own: u64,
) {
    outcome.judgement = finished.judgement;
    outcome.handshake = finished
        .talk
        .handshake
        .as_ref()
        .map(|handshake| handshake.result.clone());
    outcome.fault = finished.fault;
    let applies = |id: &str| {
        Catalogue::v1().get(id).is_some_and(|requirement| {
            requirement.when.is_always()
                || finished.talk.evaluate(&requirement.when) == crate::spec::Truth::Holds
        })
    };
    let blocked = match stopped {
        None => None,
        Some(Stop::NotApplicable(why)) => {
            for id in ids(scenario) {
                outcome.judgement.not_applicable(id, why.clone());
            }
            outcome.status = Status::NotApplicable;
            outcome.why.push(why);
            outcome.ending = finished.ending;
            return;
        }
        Some(Stop::NotInitialized(why)) => {
            outcome.reached = Reached::NotInitialized(why.clone());
            Some(why)
        }
        Some(Stop::Unauthenticated(why)) => {
            outcome.reached = Reached::Unauthenticated(why.clone());
            Some(format!("the agent wants to be logged in: {why}"))
        }
        Some(Stop::OtherVersion(version)) => {
            outcome.reached = Reached::OtherVersion(version);
            Some(format!(
                "the agent speaks version {version} of the protocol"
            ))
        }
        Some(Stop::NoSession(why) | Stop::Blocked(why)) => Some(why),
    };
    let Missing { unmet, unasked } = missing;
    let reached = matches!(outcome.reached, Reached::Conversation);
    if let Some(why) = unasked.filter(|_| reached && unmet.is_empty()) {
        // The agent does without: there is nothing to be judged, and what was expected rests on being asked.
        for id in ids(scenario) {
            outcome.judgement.not_applicable(id, why.clone());
        }
        outcome.status = match status(scenario, outcome, false, first_own) {
            Status::Fail => Status::Fail,
            _ => Status::NotApplicable,
        };
        outcome.why.push(why);
        outcome.ending = finished.ending;
        return;
    }
    // What was not reached says more than the step that waited for it in vain, unless the agent itself stood in the way.
    let open = match (blocked, unmet.is_empty()) {
        (Some(why), _) if !reached => Some(why),
        (_, false) => Some(unmet.join("; ")),
        (blocked, true) => blocked,
    };
    let undecided = judged
        .iter()
        .any(|judged| judged.noted.is_none() && matches!(judged.verdict, Verdict::Open(_)));
    let came_out_otherwise = judged.iter().find_map(|judged| match &judged.verdict {
        Verdict::Missed(miss) if judged.noted.is_none() => Some(miss.message.clone()),
        _ => None,
    });
    for judged in judged {
        let verdict = match judged.verdict {
            Verdict::Left(count) => {
                let left = finished
                    .ending
                    .as_ref()
                    .map_or(&[][..], |ending| &ending.left);
                if count.holds(left.len() as u64) {
                    Verdict::Held
                } else {
                    let names: Vec<String> = left.iter().map(ToString::to_string).collect();
                    let miss = check::Miss {
                        message: format!(
                            "expected {} processes to be left of the agent, there are {}: {}",
                            check::limits(count),
                            left.len(),
                            names.join(", ")
                        ),
                        place: None,
                        gone: false,
                    };
                    missed(&judged.expect, miss)
                }
            }
            verdict => verdict,
        };
        for id in judged
            .expect
            .covers
            .iter()
            .filter_map(|id| id_of(id))
            .filter(|id| applies(id))
        {
            settle(
                outcome,
                id,
                &verdict,
                judged.noted.as_deref(),
                open.as_deref(),
            );
        }
    }
    if let Some(why) = &open {
        for id in ids(scenario).filter(|id| applies(id)) {
            outcome.judgement.inconclusive(id, why.clone());
        }
        outcome.why.push(why.clone());
        // It proves nothing, as it may have the same cause, but it must not be hidden.
        if let Some(message) = came_out_otherwise {
            outcome.why.push(format!("besides, {message}"));
        }
    }
    outcome.ending = finished.ending;
    outcome.status = status(scenario, outcome, open.is_some() || undecided, first_own);
}

/// Keeps what the MCP servers saw beside the trace: `TRACE.NAME.log` for `TRACE.jsonl`.
fn keep_logs(servers: &Servers, trace: &Path) -> std::io::Result<()> {
    for (name, log) in servers.logs() {
        std::fs::copy(log, trace.with_extension(format!("{name}.log")))?;
    }
    Ok(())
}

fn settle(
    outcome: &mut Outcome,
    id: &'static str,
    verdict: &Verdict,
    noted: Option<&str>,
    open: Option<&str>,
) {
    let judgement = &mut outcome.judgement;
    match (verdict, noted, open) {
        (_, _, Some(_)) => {}
        (Verdict::Held, Some(seen), None) => judgement.note(id, None, seen.to_owned()),
        (Verdict::Missed(miss), Some(_), None) => {
            judgement.note(id, miss.place.clone(), miss.message.clone());
        }
        (Verdict::Open(_) | Verdict::Left(_), Some(_), None) => {}
        (Verdict::Held, None, None) => judgement.pass(id),
        (Verdict::Missed(miss), None, None) => {
            if !outcome.why.contains(&miss.message) {
                outcome.why.push(miss.message.clone());
            }
            judgement.fail(id, miss.place.clone(), miss.message.clone());
        }
        (Verdict::Open(why), None, None) => {
            judgement.inconclusive(id, why.clone());
            if !outcome.why.contains(why) {
                outcome.why.push(why.clone());
            }
        }
        (Verdict::Left(_), None, None) => {}
    }
}

/// A scenario fails by what it covers, and by any `must` that its traffic breaks from its own first step on. What is wrong
/// with the handshake or the opening of a session fails the scenarios that are about these, not every one.
fn status(scenario: &Scenario, outcome: &Outcome, open: bool, first_own: u64) -> Status {
    let fails = |id: &str| {
        outcome
            .judgement
            .get(id)
            .is_some_and(|tally| tally.fails > 0)
    };
    let level = |id: &str| Catalogue::v1().get(id).map(|requirement| requirement.level);
    let judged = |id: &str| !matches!(level(id), Some(Level::May | Level::Observe) | None);
    let covered = scenario.covers.iter().any(|id| judged(id) && fails(id));
    let own = |finding: &Finding| {
        finding
            .place
            .as_ref()
            .is_none_or(|place| place.event >= first_own)
    };
    let broken = outcome
        .judgement
        .iter()
        .any(|(id, tally)| tally.findings.iter().any(own) && level(id) == Some(Level::Must));
    let told = |id: &str| {
        outcome
            .judgement
            .get(id)
            .is_some_and(|tally| tally.passes > 0 || !tally.notes.is_empty())
    };
    if covered || broken {
        Status::Fail
    } else if open || !scenario.covers.iter().any(|id| told(id)) {
        Status::Inconclusive
    } else {
        Status::Pass
    }
}

fn leave_covers_open(scenario: &Scenario, outcome: &mut Outcome, why: &str) {
    for id in ids(scenario) {
        outcome.judgement.inconclusive(id, why.to_owned());
    }
    outcome.why.push(why.to_owned());
}

fn ids(scenario: &Scenario) -> impl Iterator<Item = &'static str> {
    scenario.covers.iter().filter_map(|id| id_of(id))
}

fn id_of(id: &str) -> Option<&'static str> {
    Catalogue::v1()
        .get(id)
        .map(|requirement| requirement.id.as_str())
}

/// What the model is to reply, with the folders of this run in it.
fn script(scenario: &Scenario, folder: &RunFolder) -> Result<Script, String> {
    let mut value = |placeholder: &Placeholder| match placeholder {
        Placeholder::Cwd => folder.workspace().to_str().map(Value::from),
        Placeholder::Home => folder.home().to_str().map(Value::from),
        _ => None,
    };
    let replies = scenario
        .model
        .iter()
        .map(|reply| fill_reply(reply, &mut value));
    replies.collect::<Result<_, _>>().map_err(|missing| {
        format!(
            "the scripted model of {}: {}",
            scenario.id,
            unknown(&missing)
        )
    })
}

fn header(scenario: &Scenario, setup: &Setup) -> Header {
    Header {
        about: Some(scenario.title.clone()),
        workspace: scenario.workspace.iter().cloned().collect(),
        ..header_of(setup)
    }
}

/// The last lines that the agent wrote to stderr, from its trace.
fn last_stderr(trace: &Path) -> Vec<String> {
    let mut lines = std::collections::VecDeque::new();
    let read = File::open(trace)
        .ok()
        .and_then(|file| TraceReader::open(std::io::BufReader::new(file)).ok());
    if let Some(mut reader) = read {
        while let Ok(Some(next)) = reader.next_event() {
            if let Ok(Event {
                body: Body::Stderr(line),
                ..
            }) = next
            {
                lines.push_back(String::from_utf8_lossy(&line).into_owned());
                if lines.len() > STDERR_LINES {
                    lines.pop_front();
                }
            }
        }
    }
    lines.into()
}
