//! What judging has found so far, requirement by requirement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How many findings, notes and reasons of one requirement are kept; further ones are only counted.
const KEPT: usize = 20;

/// Where in a trace something is: an event, and a member of its message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The number of the event in the trace, from 0 (the header does not count).
    pub event: u64,
    /// JSON Pointer into the message, such as `/result/stopReason`; empty for the whole of it.
    pub path: String,
}

impl Place {
    /// A member of the message of an event.
    pub fn new(event: u64, path: impl Into<String>) -> Self {
        Self {
            event,
            path: path.into(),
        }
    }

    /// An event as a whole.
    pub fn event(event: u64) -> Self {
        Self::new(event, "")
    }
}

/// One thing that was found, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What was seen and what was expected.
    pub message: String,
    /// Where it was seen, if at a certain event.
    pub place: Option<Place>,
}

/// All that is known of one requirement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// How often it was seen to hold.
    #[serde(skip_serializing_if = "is_zero")]
    pub passes: u64,
    /// How often it was seen not to hold.
    #[serde(skip_serializing_if = "is_zero")]
    pub fails: u64,
    /// The first failures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What was written down without judging.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Finding>,
    /// Why it could not be told whether it holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inconclusive: Vec<String>,
    /// Which condition did not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<String>,
}

/// What judging has found so far, by requirement id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    tallies: BTreeMap<&'static str, Tally>,
}

impl Judgement {
    /// A judgement of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The requirement was seen to hold.
    pub fn pass(&mut self, id: &'static str) {
        self.tally(id).passes += 1;
    }

    /// The requirement was seen to hold so many times.
    pub(super) fn pass_times(&mut self, id: &'static str, times: u64) {
        self.tally(id).passes += times;
    }

    /// The requirement was seen not to hold.
    pub fn fail(&mut self, id: &'static str, place: Option<Place>, message: String) {
        let tally = self.tally(id);
        tally.fails += 1;
        keep(&mut tally.findings, Finding { message, place });
    }

    /// Something worth writing down, whatever it means for the requirement.
    pub fn note(&mut self, id: &'static str, place: Option<Place>, message: String) {
        keep(&mut self.tally(id).notes, Finding { message, place });
    }

    /// It could not be told whether the requirement holds.
    pub fn inconclusive(&mut self, id: &'static str, why: String) {
        let reasons = &mut self.tally(id).inconclusive;
        if !reasons.contains(&why) {
            keep(reasons, why);
        }
    }

    /// The requirement does not apply.
    pub fn not_applicable(&mut self, id: &'static str, condition: String) {
        let reasons = &mut self.tally(id).not_applicable;
        if !reasons.contains(&condition) {
            keep(reasons, condition);
        }
    }

    /// What is known of one requirement; `None` where nothing of the kind occurred.
    pub fn get(&self, id: &str) -> Option<&Tally> {
        self.tallies.get(id)
    }

    /// Every requirement of which something is known, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Tally)> {
        self.tallies.iter().map(|(id, tally)| (*id, tally))
    }

    fn tally(&mut self, id: &'static str) -> &mut Tally {
        self.tallies.entry(id).or_default()
    }
}

impl FromIterator<(&'static str, Tally)> for Judgement {
    fn from_iter<T: IntoIterator<Item = (&'static str, Tally)>>(tallies: T) -> Self {
        Self {
            tallies: tallies.into_iter().collect(),
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn keep<T>(list: &mut Vec<T>, item: T) {
    if list.len() < KEPT {
        list.push(item);
    }
}
