//! The JSON report, format 1, as data: what `--report json=FILE` writes, and what every other format is made from.
//!
//! docs/reports.md describes each member. A member that is added does not change the number of the format; one that goes
//! or changes its meaning does. A reader passes over members that it does not know.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::part::Part;
use crate::diff::{Class, Difference};
use crate::scenario::Status;
use crate::spec::{Basis, Level};
use crate::verdict::{Blocker, State, Verdict};

/// The number of the format that is written and read.
pub const FORMAT: u32 = 1;

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The number of the format.
    pub format: u32,
    /// The version of the harness that made it.
    pub harness: String,
    /// The revision of the specification that it judges by.
    pub spec: Spec,
    /// Who was judged.
    pub agent: Agent,
    /// What was around the agent; absent where nothing was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Around>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether `should` and `interop` count, as with `--strict`.
    #[serde(default)]
    pub strict: bool,
    /// What stood in the way of judging the agent; null in most reports.
    pub blocked: Option<String>,
    /// The kind of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<Blocker>,
    /// What may help then, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
    /// What the verdict on the agent as a whole lacks.
    pub missing: Vec<Missing>,
    /// Known failures that no longer hold.
    pub stale: Vec<StaleEntry>,
    /// How many requirements of each level are in each state.
    pub totals: IndexMap<Level, IndexMap<State, usize>>,
    /// Every requirement that was in scope, in the order of the catalogue.
    pub requirements: Vec<Requirement>,
    /// The scenarios of a run; the recordings, where these were judged.
    pub scenarios: Vec<Scenario>,
    /// The recordings that were judged; absent in a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Recorded>,
    /// Faults of the harness itself.
    pub faults: Vec<Fault>,
    /// The words that repeat it.
    #[serde(default, skip_serializing_if = "Repeat::is_empty")]
    pub repeat: Repeat,
    /// Which part of a run it is, and what `harness merge` needs of it; only with `--partition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// What differs; only where two traces were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<Vec<Differs>>,
    /// How many further differences there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences_omitted: Option<usize>,
    /// From which class on a difference counts for the exit code; only where traces were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Class>,
    /// The recordings that were replayed; only in a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replays: Option<Vec<Replayed>>,
}

/// The revision of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The version of the protocol.
    pub version: u16,
    /// The commit of the protocol's repository.
    pub revision: String,
    /// The crate and version that the schema is from.
    pub schema: String,
}

/// Who was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// The words that start it; empty where several were judged.
    pub command: Vec<String>,
    /// `agentInfo.name`, if it told one.
    pub name: Option<String>,
    /// `agentInfo.version`, if it told one.
    pub version: Option<String>,
    /// `agentCapabilities`, if it told them.
    pub capabilities: Option<Value>,
}

impl Agent {
    /// What a sentence calls it: name and version, or its command; empty where several were judged.
    pub fn called(&self) -> String {
        match (&self.name, &self.version) {
            (Some(name), Some(version)) => format!("{name} {version}"),
            (Some(name), None) => name.clone(),
            (None, _) => shell_words::join(&self.command),
        }
    }
}

/// What was around the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Around {
    /// `fresh` or `keep`.
    pub home: String,
    /// `scripted` or `none`.
    pub model: String,
    /// Whether the user's own variables passed.
    pub env_all: bool,
    /// The user's variables of real models that the agent got.
    pub handed_over: Vec<HandedOver>,
}

/// A variable of a real model that the agent got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedOver {
    /// Its name.
    pub name: String,
    /// The flag.
    pub by: String,
}

/// A requirement without which there is no verdict on the agent as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Its id.
    pub id: String,
    /// Its state.
    pub status: State,
}

/// A known failure that no longer holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleEntry {
    /// The requirement.
    pub id: String,
    /// Why it is stale, as a sentence.
    pub why: String,
}

/// A requirement, its state and what shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// Its id.
    pub id: String,
    /// Its level.
    pub level: Level,
    /// On what the level rests.
    pub basis: Basis,
    /// What is required, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub statement: String,
    /// Where it is written: links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cite: Vec<String>,
    /// Public reports of the harm, as `project#number`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
    /// Its state.
    pub status: State,
    /// Whether it fails, and all of its failures are known for this agent.
    pub known: bool,
    /// Why it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it is inconclusive or not applicable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// How often it was seen not to hold; absent where it did not fail.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fails: u64,
    /// The first trace that shows the state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// The failures, the first fifty.
    pub findings: Vec<Finding>,
    /// What was written down without judging.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Finding>,
}

impl Requirement {
    /// The part of the id before the number, such as `CANCEL`.
    pub fn area(&self) -> &str {
        self.id.rsplit_once('-').map_or(&self.id, |(area, _)| area)
    }
}

/// Where the state of a requirement is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The scenario.
    pub scenario: Option<String>,
    /// The trace.
    pub trace: Option<String>,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What was seen and what was expected.
    pub message: String,
    /// The scenario.
    pub scenario: Option<String>,
    /// The trace.
    pub trace: Option<String>,
    /// The event of the trace, from 0.
    pub event: Option<u64>,
    /// The line of the trace, from 1; in reports on recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The member of the event's message, as a JSON Pointer.
    pub path: Option<String>,
    /// Whether it is known for this agent; absent where it is not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub known: bool,
}

/// A scenario that was run, or a recording that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its id; the file, where it is a recording.
    pub id: String,
    /// How it came out.
    pub status: Status,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Where its trace is kept.
    pub trace: Option<String>,
    /// Why it did not pass, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// The requirements that failed in it and are not known to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// The requirements that failed in it as is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
}

/// A recording that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The file, `-` for stdin.
    pub trace: String,
    /// How it came out.
    pub status: Status,
    /// Whose it is.
    pub agent: Agent,
    /// How many events it holds.
    pub events: u64,
    /// How long the conversation took, in seconds.
    pub seconds: f64,
    /// Whether it begins with the start of the conversation.
    pub start: bool,
    /// Whether the agent's end is in it.
    pub ended: bool,
    /// How many of its lines could not be read.
    pub damaged: u64,
    /// The first of these lines.
    pub damage: Vec<Damaged>,
    /// What could not be judged and why, a sentence each.
    pub missing: Vec<String>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damaged {
    /// The line, from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
}

/// A fault of the harness itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// In which scenario.
    pub scenario: Option<String>,
    /// What went wrong.
    pub message: String,
}

/// The words of the command line that repeat a run for one scenario (or the judging of recordings for one requirement):
/// those before `--only ID` and those after it. Values of variables are left out of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// Before `--only ID`.
    pub before: Vec<String>,
    /// After it, and after the file, where recordings were judged.
    pub after: Vec<String>,
}

impl Repeat {
    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// A difference, and in a replay which recording it is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Differs {
    /// What differs.
    #[serde(flatten)]
    pub difference: Difference,
    /// The recording that was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// In how many replays it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
    /// How many replays there were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

impl From<Difference> for Differs {
    fn from(difference: Difference) -> Self {
        Self {
            difference,
            recording: None,
            runs: None,
            of: None,
        }
    }
}

/// A recording that was replayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// The file.
    pub recording: String,
    /// The traces of its replays.
    pub traces: Vec<String>,
    /// How many differences there are.
    pub differences: usize,
    /// What the replayer noted, a sentence each.
    pub notes: Vec<String>,
}

/// Why a text is no report that can be read.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// No JSON, or a member that is missing or of another kind.
    #[error("{0}; expected a report of `--report json=FILE`")]
    Shape(#[from] serde_json::Error),
    /// A later format.
    #[error(
        "it has format {0}; this harness reads format {FORMAT}: use the harness that wrote it, or a later one"
    )]
    Format(u64),
}

impl Document {
    /// Reads a report.
    ///
    /// # Errors
    /// Where it is none, with line and column, or is of another format.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        #[derive(Deserialize)]
        struct Head {
            format: u64,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.format != u64::from(FORMAT) {
            return Err(DocumentError::Format(head.format));
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The report as `--report json=FILE` writes it: indented, with a newline at its end.
    ///
    /// # Errors
    /// What writing JSON gave; nothing in a report is known to make it fail.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// How many requirements of a level are in a state.
    pub fn count(&self, level: Level, state: State) -> usize {
        let states = self.totals.get(&level);
        states
            .and_then(|states| states.get(&state))
            .copied()
            .unwrap_or(0)
    }

    /// The requirement with this id.
    pub fn requirement(&self, id: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|it| it.id == id)
    }

    /// Whether a failure of this level counts for the exit code.
    pub fn counts(&self, level: Level) -> bool {
        match level {
            Level::Must => true,
            Level::Should | Level::Interop => self.strict,
            Level::May | Level::Observe => false,
        }
    }

    /// What was judged, as a sentence calls it: the agent; else the recording, or how many there are.
    pub fn subject(&self) -> String {
        let called = self.agent.called();
        match self.recordings.as_slice() {
            [only] if called.is_empty() => only.trace.clone(),
            recordings if called.is_empty() => format!("{} recordings", recordings.len()),
            _ => called,
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(is: &bool) -> bool {
    !is
}
