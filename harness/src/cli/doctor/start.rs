//! A start on trial: `initialize`, then `session/new`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde_json::Value;

use super::super::run::arrival::Arrival;
use super::super::tables;
use super::Page;
use crate::report::AgentIdentity;
use crate::scenario::file::read;
use crate::scenario::{self, Outcome, Reached, Setup};
use crate::source::Source;
use crate::spec::{Catalogue, Level};
use crate::trace::{Body, Party, TraceReader};
use crate::wire::Id;

/// What is done: as little as shows that a run can begin.
const STEPS: &str = include_str!("start.toml");

/// How a start went.
pub(super) struct Start {
    /// What came of it.
    pub(super) outcome: Outcome,
    /// The answers in the order of their requests: method, seconds it took, `result`, `error`.
    answers: Vec<Answer>,
    /// Whether an answer to `initialize` was no longer waited for.
    gave_up: bool,
}

struct Answer {
    method: String,
    id: Id,
    sent: f64,
    answered: Option<(f64, Result<Value, Value>)>,
    /// The event of the answer.
    event: Option<u64>,
}

/// Starts the agent, speaks to it, and ends it.
///
/// # Errors
/// A sentence on what is wrong with the harness.
pub(super) async fn start(setup: &Setup) -> Result<Start, String> {
    let source = Source::new("start.toml", STEPS);
    let scenarios =
        read("doctor/start", &source, &tables::known_id).map_err(|problem| problem.to_string())?;
    let scenario = scenarios.first().ok_or("nothing to start with")?;
    let outcome = scenario::run(scenario, setup).await;
    let (answers, gave_up) = match &outcome.trace {
        Some(trace) => answers(trace),
        None => (Vec::new(), false),
    };
    Ok(Start {
        outcome,
        answers,
        gave_up,
    })
}

/// The client's requests with their answers, from a trace, and whether one to `initialize` was given up.
fn answers(trace: &Path) -> (Vec<Answer>, bool) {
    let mut all: Vec<Answer> = Vec::new();
    let mut gave_up = false;
    let file = File::open(trace).ok();
    let Some(mut reader) = file.and_then(|file| TraceReader::open(BufReader::new(file)).ok())
    else {
        return (all, gave_up);
    };
    let mut index = 0;
    while let Ok(Some(next)) = reader.next_event() {
        let Ok(event) = next else { continue };
        index += 1;
        if let Body::Unanswered { id, .. } = &event.body {
            let id = Id::from_value(id);
            gave_up |= all
                .iter()
                .any(|own| own.id == id && own.method == "initialize");
        }
        let Some(reading) = event.body.reading() else {
            continue;
        };
        let Some(message) = reading.message() else {
            continue;
        };
        let Some(id) = message.id() else { continue };
        match (event.from, message.method()) {
            (Party::Client, Some(method)) => all.push(Answer {
                method: method.to_owned(),
                id: id.clone(),
                sent: event.at,
                answered: None,
                event: None,
            }),
            (Party::Agent, None) => {
                let open = all
                    .iter_mut()
                    .find(|own| own.id == *id && own.answered.is_none());
                if let Some(open) = open {
                    let said = match message.error() {
                        Some(error) => Err(error.clone()),
                        None => Ok(message.result().cloned().unwrap_or_default()),
                    };
                    open.answered = Some((event.at, said));
                    open.event = Some(index - 1);
                }
            }
            _ => {}
        }
    }
    (all, gave_up)
}

impl Start {
    fn answer(&self, method: &str) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.method == method)
    }

    fn result(&self, method: &str) -> Option<&Value> {
        let (_, said) = self.answer(method)?.answered.as_ref()?;
        said.as_ref().ok()
    }

    /// Why there was no answer to `initialize`, as a sentence.
    pub(super) fn silence(&self) -> Option<String> {
        match Arrival::of(&self.outcome) {
            Arrival::Silent(why) => Some(why),
            Arrival::Answered => None,
            Arrival::NotAsked => Some("the agent was not asked".to_owned()),
        }
    }

    /// Where `initialize` was answered when nobody waited for it any more: how long that took, in seconds.
    pub(super) fn late(&self) -> Option<f64> {
        let answer = self.answer("initialize")?;
        let (at, _) = answer.answered.as_ref()?;
        self.gave_up.then_some(at - answer.sent)
    }

    /// The requirements that its answers break, with what is wrong, but for those that are known to fail.
    pub(super) fn broken(&self, setup: &Setup) -> Vec<String> {
        let version = AgentIdentity::new(Vec::new(), self.outcome.handshake.as_ref()).version;
        let today = jiff::Zoned::now().date().to_string();
        let known = |id: &str| {
            let mut entries = setup.profile.known.iter();
            entries.any(|entry| entry.covers(id, None) && entry.counts(version.as_deref(), &today))
        };
        let answers: Vec<u64> = self.answers.iter().filter_map(|it| it.event).collect();
        let mut broken = Vec::new();
        for (id, tally) in self.outcome.judgement.iter() {
            let level = Catalogue::v1().get(id).map(|requirement| requirement.level);
            if level != Some(Level::Must) || known(id) {
                continue;
            }
            let findings = tally.findings.iter().filter(|finding| {
                let place = finding.place.as_ref();
                place.is_some_and(|place| answers.contains(&place.event))
            });
            broken.extend(findings.map(|finding| format!("{id}: {}", finding.message)));
        }
        broken
    }

    /// The version of the protocol that it answered, where that is not 1.
    pub(super) fn other_version(&self) -> Option<u64> {
        match self.outcome.reached {
            Reached::OtherVersion(version) => Some(version),
            _ => None,
        }
    }

    /// The error by which it asks for a login.
    pub(super) fn wants_login(&self) -> Option<String> {
        let error = self.refused()?;
        let code = error.get("code").and_then(Value::as_i64);
        (code == Some(-32000)).then(|| in_words(error))
    }

    /// Why there is no session.
    pub(super) fn no_session(&self) -> Option<String> {
        if let Some(result) = self.result("session/new") {
            let id = result.get("sessionId").and_then(Value::as_str);
            return match id {
                Some(_) => None,
                None => Some("the answer to session/new has no `sessionId`".to_owned()),
            };
        }
        Some(match self.refused() {
            Some(error) => in_words(error),
            None => match self.outcome.why.first() {
                Some(why) => why.clone(),
                None => "session/new was not answered".to_owned(),
            },
        })
    }

    fn refused(&self) -> Option<&Value> {
        let (_, said) = self.answer("session/new")?.answered.as_ref()?;
        said.as_ref().err()
    }

    /// The ids of the modes that the session offers.
    pub(super) fn modes(&self) -> Vec<String> {
        let result = self.result("session/new");
        let modes = result.and_then(|result| result.pointer("/modes/availableModes")?.as_array());
        let ids = modes.into_iter().flatten();
        ids.filter_map(|mode| Some(mode.get("id")?.as_str()?.to_owned()))
            .collect()
    }

    /// Shows how it went.
    pub(super) fn show(&self, page: &mut Page, setup: &Setup) {
        let told = |method: &str| {
            let answer = self.answer(method)?;
            let (at, said) = answer.answered.as_ref()?;
            let seconds = at - answer.sent;
            Some(match said {
                Ok(_) => format!("answered after {seconds:.1} s"),
                Err(error) => format!("refused after {seconds:.1} s: {}", in_words(error)),
            })
        };
        let names = |method: &str| told(method).unwrap_or_else(|| "no answer".to_owned());
        let agent = AgentIdentity::new(Vec::new(), self.outcome.handshake.as_ref()).called();
        let agent = match agent.as_str() {
            "" => String::new(),
            name => format!(", as {name}"),
        };
        let late = match self.late() {
            Some(_) => ", too late",
            None => "",
        };
        page.entry("initialize", [names("initialize") + &agent + late]);
        if self.answer("session/new").is_some() {
            let modes = match self.modes().as_slice() {
                [] => String::new(),
                modes => format!(", with the modes {}", modes.join(", ")),
            };
            page.entry("session/new", [names("session/new") + &modes]);
        }
        if setup.profile.auth.is_some() && self.answer("authenticate").is_some() {
            page.entry("login", [names("authenticate")]);
        }
    }
}

/// An error of JSON-RPC, in words.
fn in_words(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str);
    match (error.get("code"), message) {
        (Some(code), Some(message)) => format!("error {code}, \"{message}\""),
        _ => error.to_string(),
    }
}
