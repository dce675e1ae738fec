//! A part of a run that is spread over machines: what has to be known of it to put all parts together as one run.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Reach;
use crate::profile::Known;
use crate::rules::{Judgement, Tally};
use crate::scenario::{Outcome, Reached};
use crate::spec::Catalogue;

/// Which part of a run a report is of, and what was found in each of its scenarios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The part, from 1.
    pub number: usize,
    /// How many parts there are.
    pub of: usize,
    /// Whether all parts together are a whole run, without `--only` and `--skip`.
    pub whole: bool,
    /// The day of the run, as `YYYY-MM-DD`: known failures may count up to a day.
    pub day: String,
    /// The scenarios of all parts, in the order of the run.
    pub scenarios: Vec<String>,
    /// The known failures of the agent, as they were then.
    pub known: Vec<Known>,
    /// What was found in the scenarios of this part.
    pub judged: Vec<Judged>,
}

/// What was found in one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The scenario.
    pub scenario: String,
    /// The agent's answer to `initialize`; only of the first scenario of the part that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake: Option<Value>,
    /// What stood in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<Hindrance>,
    /// What came of the requests to real models, where the model is recorded.
    #[serde(default, skip_serializing_if = "Reach::is_none")]
    pub(crate) upstream: Reach,
    /// What is known of each requirement.
    pub requirements: IndexMap<String, Tally>,
}

/// What stood in the way of a scenario, and may stand in the way of a whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hindrance {
    /// The agent speaks this version of the protocol.
    Version(u64),
    /// It wants a login first: its words.
    Login(String),
}

impl Part {
    /// Where a scenario is run: each part takes its turn, so that each has some of every area.
    pub fn of_scenario(place: usize, of: usize) -> usize {
        place % of.max(1) + 1
    }
}

impl Judged {
    /// What was found in each of these scenarios.
    pub(crate) fn all(outcomes: &[Outcome]) -> Vec<Self> {
        let mut told = false;
        let each = outcomes.iter().map(|outcome| {
            let handshake = outcome.handshake.clone().filter(|_| !told);
            told |= handshake.is_some();
            let found = outcome.judgement.iter();
            Self {
                scenario: outcome.id.clone(),
                handshake,
                hindrance: match &outcome.reached {
                    Reached::OtherVersion(version) => Some(Hindrance::Version(*version)),
                    Reached::Unauthenticated(why) => Some(Hindrance::Login(why.clone())),
                    _ => None,
                },
                upstream: outcome.upstream.clone(),
                requirements: found
                    .map(|(id, tally)| (id.to_owned(), tally.clone()))
                    .collect(),
            }
        });
        each.collect()
    }

    /// The same as the judges gave it.
    ///
    /// # Errors
    /// The id of a requirement that this harness does not have.
    pub(crate) fn judgement(&self) -> Result<Judgement, String> {
        let known = self.requirements.iter().map(|(id, tally)| {
            let requirement = Catalogue::v1().get(id).ok_or_else(|| id.clone())?;
            Ok((requirement.id.as_str(), tally.clone()))
        });
        known.collect()
    }
}
