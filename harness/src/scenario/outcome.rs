//! What came of one scenario.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{Ending, StartError};
use crate::model::Reach;
use crate::rules::Judgement;

/// What came of one scenario.
#[derive(Debug)]
pub struct Outcome {
    /// The scenario's id.
    pub id: String,
    /// How it came out.
    pub status: Status,
    /// Why it is inconclusive or not applicable, or what failed, a sentence each.
    pub why: Vec<String>,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Where its trace is kept.
    pub trace: Option<PathBuf>,
    /// What rules and expectations found.
    pub judgement: Judgement,
    /// The agent's answer to `initialize`, if it gave one.
    pub handshake: Option<Value>,
    /// How far the agent came.
    pub reached: Reached,
    /// The last lines of its stderr.
    pub stderr: Vec<String>,
    /// What came of the requests to real model servers, where the model is recorded.
    pub(crate) upstream: Reach,
    /// How the process ended.
    pub ending: Option<Ending>,
    /// A fault of the harness itself: what could not be set up or written.
    pub fault: Option<String>,
}

/// How a scenario came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// What it is about was shown to hold.
    Pass,
    /// A requirement that it covers failed.
    Fail,
    /// It could not show what it is about.
    Inconclusive,
    /// It is about something that this agent does not have.
    NotApplicable,
}

impl Status {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::NotApplicable => "not-applicable",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How far an agent came.
#[derive(Debug)]
pub enum Reached {
    /// Its process could not be started.
    NotStarted(StartError),
    /// It never answered an `initialize`; why, as a sentence.
    NotInitialized(String),
    /// It wants to be logged in first.
    Unauthenticated(String),
    /// It speaks another version of the protocol.
    OtherVersion(u64),
    /// It answered `initialize`, and nothing stood in the way after that.
    Conversation,
}
