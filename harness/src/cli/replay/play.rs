//! Replays each recording, as often as asked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::super::output::say;
use super::super::redaction::redact;
use super::super::run::arrival::Arrival;
use super::sources::Source;
use crate::agent;
use crate::canon::Unmatched;
use crate::diff::{Change, Class, Difference, Sides};
use crate::replay::{self, Incident, Live, Replayed, Trouble, compared};
use crate::report::plain;
use crate::rules::Judgement;
use crate::scenario::Setup;
use crate::trace::{Party, Recording};
use crate::wire::Reading;

/// A replay that is shorter shows no progress.
const MOMENT: Duration = Duration::from_secs(1);

/// How recordings are replayed.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    /// How often each.
    pub(super) repeat: usize,
    /// The model that the agent talks to.
    pub(super) model: replay::Model,
    /// Whether to say on stderr how far it is.
    pub(super) progress: bool,
}

/// A difference, and in how many of the replays it was seen.
pub(super) struct Seen {
    pub(super) difference: Difference,
    pub(super) runs: usize,
}

/// One replay of a recording.
pub(super) struct Replay {
    pub(super) trace: Option<PathBuf>,
    pub(super) judgement: Judgement,
    pub(super) handshake: Option<Value>,
    pub(super) no_agent: Option<String>,
    /// What the agent said where it opens no session without a login.
    pub(super) login: Option<String>,
    pub(super) fault: Option<String>,
    /// Whether the conversation came to its end, so that it can take the place of the recording.
    pub(super) whole: bool,
    /// The live trace.
    pub(super) live: Recording,
    /// Live folders and the recorded ones that they stand for.
    pub(super) folders: Vec<(String, String)>,
    /// Events of the live trace that the harness put in.
    pub(super) put_in: Vec<u64>,
}

/// All replays of a recording.
pub(super) struct Played {
    pub(super) runs: Vec<Replay>,
    /// The differences of all of them, each once, in the order of the recording.
    pub(super) differences: Vec<Seen>,
    /// How many further differences there are that are not listed.
    pub(super) omitted: usize,
    /// What is to be known, a sentence each.
    pub(super) notes: Vec<String>,
    /// Volatility entries that matched nothing in any of them.
    pub(super) unmatched: Vec<Unmatched>,
}

/// Replays all recordings; ends early where there is no agent to speak to.
///
/// # Errors
/// A sentence on a fault of the harness.
pub(super) fn all(sources: &[Source], setup: &Setup, how: How) -> Result<Vec<Played>, String> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| format!("the harness cannot run: {error}"))?;
    let played = runtime.block_on(async {
        agent::guard::install(|signal| std::process::exit(128 + signal))
            .map_err(|error| format!("the harness cannot listen to signals: {error}"))?;
        let names = names(sources);
        let mut all = Vec::new();
        for (source, name) in sources.iter().zip(&names) {
            let played = one(source, name, setup, how).await;
            let over = played.runs.iter().any(|run| run.no_agent.is_some());
            all.push(played);
            if over {
                break;
            }
        }
        Ok(all)
    });
    // What still blocks there is of no use any more.
    runtime.shutdown_background();
    played
}

/// The name of each recording's live trace, without its ending.
fn names(sources: &[Source]) -> Vec<String> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let stem = |path: &Path| {
        let stem = path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    };
    sources
        .iter()
        .map(|source| {
            let name = stem(&source.path);
            let number = taken.entry(name.clone()).or_default();
            *number += 1;
            match *number {
                1 => name,
                number => format!("{name}.{number}"),
            }
        })
        .collect()
}

async fn one(source: &Source, name: &str, setup: &Setup, how: How) -> Played {
    let mut played = Played {
        runs: Vec::new(),
        differences: Vec::new(),
        omitted: 0,
        notes: Vec::new(),
        unmatched: Vec::new(),
    };
    for number in 1..=how.repeat {
        let progress = Progress::begin(how, &source.path, number);
        let file = match how.repeat {
            1 => format!("{name}.replay.jsonl"),
            _ => format!("{name}.replay-{number}.jsonl"),
        };
        let (replay, differences) =
            match replay::replay(&source.recording, setup, how.model, &setup.keep.join(file)).await
            {
                Ok(replayed) => taken(source, replayed, &mut played, number == 1),
                Err(trouble) => (failed(trouble), Vec::new()),
            };
        drop(progress);
        for difference in differences {
            merge(&mut played.differences, difference);
        }
        let over = replay.no_agent.is_some() || replay.fault.is_some();
        played.runs.push(replay);
        if over {
            break;
        }
    }
    played
        .differences
        .sort_by_key(|seen| seen.difference.left_event.unwrap_or(u64::MAX));
    played
}

/// Says on stderr which recording is replayed, once that takes longer than a moment.
struct Progress(Option<tokio::task::JoinHandle<()>>);

impl Progress {
    fn begin(how: How, path: &Path, number: usize) -> Self {
        let name = plain(&path.display().to_string());
        let line = match how.repeat {
            1 => format!("replaying {name} …"),
            repeat => format!("replaying {name} ({number} of {repeat}) …"),
        };
        Self(how.progress.then(|| {
            tokio::spawn(async move {
                tokio::time::sleep(MOMENT).await;
                say(line);
            })
        }))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
        }
    }
}

/// Compares a replay with its recording.
fn taken(
    source: &Source,
    replayed: Replayed,
    played: &mut Played,
    first: bool,
) -> (Replay, Vec<Difference>) {
    let mut fault = replayed.fault;
    // What was replaced in the recording is replaced in what the agent sent, before the two are compared.
    let mut compared_with = Cow::Borrowed(&replayed.live);
    if source.recording.header.redacted
        && let Err(why) = redact(compared_with.to_mut())
    {
        fault.get_or_insert(why);
    }
    let live = Live {
        plan: &replayed.plan,
        trace: &compared_with,
        put_in: &replayed.put_in,
        incidents: &replayed.incidents,
        sides: Sides::REPLAY,
    };
    let no_agent = replayed
        .silent
        .then(|| match Arrival::of_trace(&replayed.trace) {
            Arrival::Silent(why) => why,
            Arrival::Answered | Arrival::NotAsked => {
                "the agent never answered `initialize`".to_owned()
            }
        });
    let mut differences = Vec::new();
    if no_agent.is_none() {
        let compared = compared(&source.recording, &live, &source.volatile);
        differences = compared.differences;
        played.omitted = played.omitted.max(compared.omitted);
        if first {
            played.unmatched = compared.unmatched;
        } else {
            played
                .unmatched
                .retain(|entry| compared.unmatched.contains(entry));
        }
    }
    let gone = |incident: &Incident| {
        matches!(
            incident,
            Incident::Gone { .. } | Incident::NoSession { .. } | Incident::TimedOut { .. }
        )
    };
    let whole = no_agent.is_none() && !replayed.incidents.iter().any(gone);
    let answered = replayed
        .incidents
        .iter()
        .filter_map(|incident| match incident {
            Incident::Unknown {
                method,
                event,
                answer,
            } => Some(format!(
                "`{method}` (event {event} of the replay) is not in the recording: {answer}"
            )),
            _ => None,
        });
    for told in &replayed.told {
        if !played.notes.contains(told) {
            // Said at once: the report may go elsewhere.
            say(format_args!("replay: {}", plain(told)));
        }
    }
    let told = replayed.told.iter().cloned();
    for note in told.chain(replayed.notes.iter().cloned()).chain(answered) {
        if !played.notes.contains(&note) {
            played.notes.push(note);
        }
    }
    let replay = Replay {
        trace: Some(replayed.trace),
        judgement: replayed.judgement,
        handshake: replayed.talk.handshake.map(|handshake| handshake.result),
        no_agent,
        login: login(&replayed.live),
        fault,
        whole,
        live: replayed.live,
        folders: replayed.folders,
        put_in: replayed.put_in,
    };
    (replay, differences)
}

/// The words with which an agent refuses every session because it wants a login.
fn login(live: &Recording) -> Option<String> {
    const AUTH_REQUIRED: i64 = -32000;
    let mut wanted = None;
    for event in live.events.iter().filter(|it| it.from == Party::Agent) {
        let Some(Reading::Message(message)) = event.body.reading() else {
            continue;
        };
        if message
            .result()
            .is_some_and(|result| result.get("sessionId").is_some())
        {
            return None;
        }
        if message.error_code() == Some(AUTH_REQUIRED) {
            let words = message
                .error()
                .and_then(|error| error.get("message")?.as_str());
            wanted.get_or_insert_with(|| words.unwrap_or("error -32000").to_owned());
        }
    }
    wanted
}

fn failed(trouble: Trouble) -> Replay {
    let (no_agent, fault) = match trouble {
        Trouble::Start(error) => (
            Some(format!("the agent could not be started: {error}")),
            None,
        ),
        Trouble::Unplayable(error) => (None, Some(error.to_string())),
        Trouble::Harness(fault) => (None, Some(fault)),
    };
    Replay {
        trace: None,
        judgement: Judgement::new(),
        handshake: None,
        no_agent,
        login: None,
        fault,
        whole: false,
        live: Recording::default(),
        folders: Vec::new(),
        put_in: Vec::new(),
    }
}

/// Adds a difference to those of earlier replays. It is the same if it is of the same kind at the same place; what a model
/// wrote may be another text each time.
fn merge(all: &mut Vec<Seen>, difference: Difference) {
    let key = |it: &Difference| -> (Class, Change, String, Option<u64>) {
        (it.class, it.change, it.place.clone(), it.left_event)
    };
    match all
        .iter_mut()
        .find(|seen| key(&seen.difference) == key(&difference))
    {
        Some(seen) => seen.runs += 1,
        None => all.push(Seen {
            difference,
            runs: 1,
        }),
    }
}
