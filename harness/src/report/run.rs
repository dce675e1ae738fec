//! A finished run, as all faces read it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::Surroundings;
use super::part::Part;
use crate::check::Checked;
use crate::rules::{Judgement, Start};
use crate::scenario::{Outcome, Status};
use crate::spec::{Catalogue, Requirement};
use crate::verdict::{Assessment, Blocked, Blocker, KnownFailures, State};

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Who was judged.
    pub agent: AgentIdentity,
    /// What was around it; `None` where nothing was run.
    pub surroundings: Option<Surroundings>,
    /// What the verdict is, and on what it rests.
    pub assessment: Assessment,
    /// What stood in the way of judging it, if anything did.
    pub blocked: Option<Blocked>,
    /// The scenarios that were run, by id.
    pub scenarios: Vec<Scenario>,
    /// The recordings that were judged, where it is not a run.
    pub recordings: Vec<Recording>,
    /// Faults of the harness itself.
    pub faults: Vec<Fault>,
    /// The words of the command line that repeat a run, before `--only`, and those after it.
    pub repeat: (Vec<String>, Vec<String>),
    /// Which part of a run it is, where it is one.
    pub part: Option<Part>,
}

impl Run {
    /// Whether there was no agent to speak to.
    pub fn has_no_agent(&self) -> bool {
        let by = self.blocked.as_ref().map(|blocked| blocked.by);
        by == Some(Blocker::NoAgent)
    }

    /// Whether stored recordings were judged, and nothing was run.
    pub fn is_of_recordings(&self) -> bool {
        !self.recordings.is_empty()
    }

    /// What a sentence calls that which was judged: the agent; else the recording, or how many there are.
    pub fn subject(&self) -> String {
        let called = self.agent.called();
        match self.recordings.as_slice() {
            [only] if called.is_empty() => only.trace.display().to_string(),
            recordings if called.is_empty() => {
                let agents: BTreeSet<String> = recordings
                    .iter()
                    .map(|recording| recording.agent.called())
                    .collect();
                format!("{} recordings of {} agents", recordings.len(), agents.len())
            }
            _ => called,
        }
    }
}

/// A recording that was judged.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The file, `-` for stdin.
    pub trace: PathBuf,
    /// Whose it is.
    pub agent: AgentIdentity,
    /// How it came out.
    pub status: Status,
    /// What came of judging it.
    pub checked: Checked,
    /// The requirements that failed in it.
    pub failed: Vec<Failed>,
}

impl Recording {
    /// The recording as an entry of the list of scenarios, so that a program that reads that list sees each file.
    pub fn as_scenario(&self) -> Scenario {
        Scenario {
            id: self.trace.display().to_string(),
            status: self.status,
            seconds: self.checked.seconds,
            trace: Some(self.trace.clone()),
            why: self.missing(),
            failed: self.failed.clone(),
        }
    }

    /// What of it could not be judged and why, a sentence each.
    pub fn missing(&self) -> Vec<String> {
        let checked = &self.checked;
        let missing = &checked.missing;
        let mut all: Vec<String> = Vec::new();
        let mut say = |sentence: &str| all.push(sentence.to_owned());
        if checked.events == 0 {
            say("it holds no events");
        }
        if missing.client {
            say(
                "no message of the client is in it, so each message of the agent was judged by itself alone",
            );
        } else {
            match missing.start {
                Some(Start::Said) => {
                    say("it begins after the start of the conversation, as its header says")
                }
                Some(Start::ClientGoesOn) => say(
                    "it seems to begin after the start: the first message of the client is no `initialize`",
                ),
                Some(Start::AgentGoesOn) => say(
                    "it seems to begin after the start: the agent speaks before any message of the client",
                ),
                None => {}
            }
            if missing.handshake && missing.version.is_none() && !missing.agent {
                say(
                    "the answer to `initialize` is not in it: version 1 was taken for granted, and what depends on capabilities was not judged",
                );
            }
        }
        if missing.agent {
            say("no message of the agent is in it");
        }
        if let Some(version) = missing.version {
            all.push(format!(
                "it speaks version {version} of the protocol; the harness judges version 1, so only what all versions share was judged"
            ));
        }
        match checked.damaged {
            0 => {}
            1 => all.push("1 line of it could not be read".to_owned()),
            many => all.push(format!("{many} lines of it could not be read")),
        }
        if let Some(why) = &checked.stopped {
            all.push(format!("its recorder stopped before the agent did: {why}"));
        } else if let Some(line) = checked.cut {
            all.push(format!(
                "it breaks off in line {line}: whoever recorded it was stopped there"
            ));
        } else if !checked.ended && checked.events > 0 {
            all.push(
                "it ends while the agent runs, so what was open then was not judged".to_owned(),
            );
        }
        all
    }
}

/// Who was judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentIdentity {
    /// The words that start it.
    pub command: Vec<String>,
    /// `agentInfo.name`, if it told one.
    pub name: Option<String>,
    /// `agentInfo.version`, if it told one.
    pub version: Option<String>,
    /// `agentCapabilities`, if it told them.
    pub capabilities: Option<Value>,
}

impl AgentIdentity {
    /// Reads what the answer to `initialize` tells of the agent.
    pub fn new(command: Vec<String>, handshake: Option<&Value>) -> Self {
        let text = |pointer: &str| {
            let value = handshake?.pointer(pointer)?;
            value.as_str().map(str::to_owned)
        };
        Self {
            command,
            name: text("/agentInfo/name"),
            version: text("/agentInfo/version"),
            capabilities: handshake
                .and_then(|answer| answer.get("agentCapabilities"))
                .cloned(),
        }
    }

    /// What a sentence calls it: name and version, or its command.
    pub fn called(&self) -> String {
        match (&self.name, &self.version) {
            (Some(name), Some(version)) => format!("{name} {version}"),
            (Some(name), None) => name.clone(),
            (None, _) => shell_words::join(&self.command),
        }
    }
}

/// A scenario that was run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its id.
    pub id: String,
    /// How it came out.
    pub status: Status,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Where its trace is kept.
    pub trace: Option<PathBuf>,
    /// Why it did not pass, a sentence each.
    pub why: Vec<String>,
    /// The requirements that failed in it.
    pub failed: Vec<Failed>,
}

impl Scenario {
    /// What the faces need of an outcome of an agent with these known failures.
    pub fn of(outcome: &Outcome, known: &KnownFailures<'_>) -> Self {
        Self {
            id: outcome.id.clone(),
            status: outcome.status,
            seconds: outcome.seconds,
            trace: outcome.trace.clone(),
            why: outcome.why.clone(),
            failed: Failed::all(&outcome.judgement, Some(&outcome.id), known),
        }
    }
}

/// A requirement that failed in one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its id.
    pub id: &'static str,
    /// Whether that is known for the agent.
    pub known: bool,
}

impl Failed {
    /// All that failed by a judgement, in the order of the catalogue.
    pub fn all(
        judgement: &Judgement,
        scenario: Option<&str>,
        known: &KnownFailures<'_>,
    ) -> Vec<Self> {
        let fails = |requirement: &&Requirement| {
            let tally = judgement.get(&requirement.id);
            tally.is_some_and(|tally| State::of(tally, requirement.level) == State::Fail)
        };
        Catalogue::v1()
            .iter()
            .filter(fails)
            .map(|requirement| Self {
                id: &requirement.id,
                known: known.find(&requirement.id, scenario).is_some(),
            })
            .collect()
    }
}

/// A fault of the harness itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In which scenario.
    pub scenario: Option<String>,
    /// What went wrong.
    pub message: String,
}
