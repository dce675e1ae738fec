//! A finished run, as all faces read it.

use serde_json::Value;

use crate::scenario::{Outcome, Status};
use crate::verdict::{Assessment, Blocked, Blocker};

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Who was judged.
    pub agent: AgentIdentity,
    /// What the verdict is, and on what it rests.
    pub assessment: Assessment,
    /// What stood in the way of judging it, if anything did.
    pub blocked: Option<Blocked>,
    /// The scenarios that were run, by id.
    pub scenarios: Vec<Scenario>,
    /// Faults of the harness itself.
    pub faults: Vec<Fault>,
    /// The words of the command line that repeat a run, before `--only`, and those after it.
    pub repeat: (Vec<String>, Vec<String>),
}

impl Run {
    /// Whether there was no agent to speak to.
    pub fn has_no_agent(&self) -> bool {
        let by = self.blocked.as_ref().map(|blocked| blocked.by);
        by == Some(Blocker::NoAgent)
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
    pub trace: Option<std::path::PathBuf>,
    /// Why it did not pass, a sentence each.
    pub why: Vec<String>,
}

impl Scenario {
    /// What the faces need of an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        Self {
            id: outcome.id.clone(),
            status: outcome.status,
            seconds: outcome.seconds,
            trace: outcome.trace.clone(),
            why: outcome.why.clone(),
        }
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
