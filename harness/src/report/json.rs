//! The JSON report, format 1: `--report json=FILE`. A contract with programs; the README describes it.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::{AgentIdentity, Recording, Run, Surroundings};
use crate::diff::{Comparison, Difference};
use crate::spec::{Catalogue, Level};
use crate::verdict::{Assessment, Sighting, Standing, State};

/// The number of the format. A member that is added does not change it; one that goes or changes its meaning does.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    harness: &'static str,
    spec: Spec<'a>,
    agent: Agent<'a>,
    /// What was around the agent; absent where nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    surroundings: Option<Around<'a>>,
    verdict: &'static str,
    /// What stood in the way of judging the agent; null in most reports.
    blocked: Option<&'a str>,
    /// What the verdict on the agent as a whole lacks.
    missing: Vec<Missing>,
    stale: Vec<StaleEntry<'a>>,
    totals: IndexMap<&'static str, IndexMap<&'static str, usize>>,
    requirements: Vec<Requirement<'a>>,
    scenarios: Vec<Scenario<'a>>,
    /// The recordings that were judged; absent in a run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recordings: Vec<Recorded<'a>>,
    faults: Vec<Fault<'a>>,
    /// What differs; only where two traces were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<&'a [Difference]>,
    /// How many further differences there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences_omitted: Option<usize>,
}

#[derive(Serialize)]
struct Recorded<'a> {
    trace: String,
    status: &'static str,
    agent: Agent<'a>,
    events: u64,
    seconds: f64,
    /// Whether it begins with the start of the conversation.
    start: bool,
    /// Whether the agent's end is in it.
    ended: bool,
    /// How many of its lines could not be read.
    damaged: u64,
    /// The first of these lines.
    damage: Vec<Damaged<'a>>,
    /// What could not be judged and why, a sentence each.
    missing: Vec<String>,
}

#[derive(Serialize)]
struct Damaged<'a> {
    line: u64,
    reason: &'a str,
}

#[derive(Serialize)]
struct Spec<'a> {
    version: u16,
    revision: &'a str,
    schema: &'a str,
}

#[derive(Serialize)]
struct Agent<'a> {
    command: &'a [String],
    name: Option<&'a str>,
    version: Option<&'a str>,
    capabilities: Option<&'a Value>,
}

#[derive(Serialize)]
struct Around<'a> {
    /// `fresh` or `keep`.
    home: &'static str,
    /// `scripted` or `none`.
    model: &'static str,
    /// Whether the user's own variables passed.
    env_all: bool,
    /// The user's variables of real models that the agent got.
    handed_over: Vec<HandedOver<'a>>,
}

#[derive(Serialize)]
struct HandedOver<'a> {
    name: &'a str,
    /// The flag.
    by: &'static str,
}

#[derive(Serialize)]
struct Missing {
    id: &'static str,
    status: &'static str,
}

#[derive(Serialize)]
struct StaleEntry<'a> {
    id: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct Requirement<'a> {
    id: &'a str,
    level: &'static str,
    basis: &'static str,
    status: &'static str,
    known: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "no_reasons")]
    why: &'a [String],
    /// The first trace that shows the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<Shown<'a>>,
    findings: Vec<Finding<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Shown<'a> {
    scenario: Option<&'a str>,
    trace: Option<String>,
}

#[derive(Serialize)]
struct Finding<'a> {
    message: &'a str,
    scenario: Option<&'a str>,
    trace: Option<String>,
    event: Option<u64>,
    /// The line of the trace, from 1; in reports on recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    path: Option<&'a str>,
}

#[derive(Serialize)]
struct Scenario<'a> {
    id: &'a str,
    status: &'static str,
    seconds: f64,
    trace: Option<String>,
    #[serde(skip_serializing_if = "no_reasons")]
    why: &'a [String],
}

#[derive(Serialize)]
struct Fault<'a> {
    scenario: Option<&'a str>,
    message: &'a str,
}

fn no_reasons(why: &&[String]) -> bool {
    why.is_empty()
}

/// The report of a run, indented, with a newline at its end.
///
/// # Errors
/// What writing JSON gave; nothing in a report is known to make it fail.
pub fn to_json(run: &Run) -> serde_json::Result<String> {
    written(run, None)
}

/// The same with what differs from another trace.
///
/// # Errors
/// As [`to_json`].
pub fn to_json_with(run: &Run, comparison: &Comparison) -> serde_json::Result<String> {
    written(run, Some(comparison))
}

fn written(run: &Run, comparison: Option<&Comparison>) -> serde_json::Result<String> {
    let catalogue = Catalogue::v1();
    let report = Report {
        format: FORMAT,
        harness: env!("CARGO_PKG_VERSION"),
        spec: Spec {
            version: catalogue.protocol_version(),
            revision: catalogue.revision(),
            schema: catalogue.schema_revision(),
        },
        agent: agent(&run.agent),
        surroundings: run.surroundings.as_ref().map(around),
        verdict: run.assessment.verdict.as_str(),
        blocked: run.blocked.as_ref().map(|blocked| blocked.why.as_str()),
        missing: run
            .assessment
            .missing
            .iter()
            .map(|(id, state)| Missing {
                id,
                status: state.as_str(),
            })
            .collect(),
        stale: run
            .assessment
            .stale
            .iter()
            .map(|stale| StaleEntry {
                id: &stale.id,
                why: &stale.why,
            })
            .collect(),
        totals: totals(&run.assessment),
        requirements: run.assessment.standings.iter().map(requirement).collect(),
        scenarios: run
            .scenarios
            .iter()
            .map(|scenario| Scenario {
                id: &scenario.id,
                status: scenario.status.as_str(),
                seconds: (scenario.seconds * 1000.0).round() / 1000.0,
                trace: shown(scenario.trace.as_deref()),
                why: &scenario.why,
            })
            .collect(),
        recordings: run.recordings.iter().map(recorded).collect(),
        faults: run
            .faults
            .iter()
            .map(|fault| Fault {
                scenario: fault.scenario.as_deref(),
                message: &fault.message,
            })
            .collect(),
        differences: comparison.map(|comparison| comparison.differences.as_slice()),
        differences_omitted: comparison.map(|comparison| comparison.omitted),
    };
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}

/// Every level and every state, also where there is none.
fn totals(assessment: &Assessment) -> IndexMap<&'static str, IndexMap<&'static str, usize>> {
    Level::ALL
        .into_iter()
        .map(|level| {
            let states = State::ALL
                .into_iter()
                .map(|state| (state.as_str(), assessment.count(level, state)));
            (level.as_str(), states.collect())
        })
        .collect()
}

fn agent(identity: &AgentIdentity) -> Agent<'_> {
    Agent {
        command: &identity.command,
        name: identity.name.as_deref(),
        version: identity.version.as_deref(),
        capabilities: identity.capabilities.as_ref(),
    }
}

fn around(surroundings: &Surroundings) -> Around<'_> {
    Around {
        home: surroundings.home_word(),
        model: match surroundings.scripted_model {
            true => "scripted",
            false => "none",
        },
        env_all: surroundings.all,
        handed_over: surroundings
            .handed_over
            .iter()
            .map(|(name, by)| HandedOver { name, by })
            .collect(),
    }
}

fn recorded(recording: &Recording) -> Recorded<'_> {
    let checked = &recording.checked;
    Recorded {
        trace: recording.trace.display().to_string(),
        status: recording.status.as_str(),
        agent: agent(&recording.agent),
        events: checked.events,
        seconds: checked.seconds,
        start: checked.missing.start.is_none() && !checked.missing.client,
        ended: checked.ended,
        damaged: checked.damaged,
        damage: checked
            .damage
            .iter()
            .map(|damage| Damaged {
                line: damage.line,
                reason: &damage.reason,
            })
            .collect(),
        missing: recording.missing(),
    }
}

fn requirement(standing: &Standing) -> Requirement<'_> {
    Requirement {
        id: &standing.requirement.id,
        level: standing.requirement.level.as_str(),
        basis: standing.requirement.basis.as_str(),
        status: standing.state.as_str(),
        known: standing.known.is_some(),
        reason: standing.known.as_deref(),
        why: &standing.why,
        shown: standing.shown.as_ref().map(|evidence| Shown {
            scenario: evidence.scenario.as_deref(),
            trace: shown(evidence.trace.as_deref()),
        }),
        findings: match standing.state {
            State::Fail => standing.findings.iter().map(finding).collect(),
            _ => Vec::new(),
        },
        notes: match standing.state {
            State::Fail => standing.notes.iter().map(finding).collect(),
            // What would be a failure at another level is written down.
            _ => standing
                .findings
                .iter()
                .chain(&standing.notes)
                .map(finding)
                .collect(),
        },
    }
}

fn finding(sighting: &Sighting) -> Finding<'_> {
    let place = sighting.finding.place.as_ref();
    Finding {
        message: &sighting.finding.message,
        scenario: sighting.scenario.as_deref(),
        trace: shown(sighting.trace.as_deref()),
        event: place.map(|place| place.event),
        line: sighting.line,
        path: place.map(|place| place.path.as_str()),
    }
}

fn shown(path: Option<&std::path::Path>) -> Option<String> {
    path.map(|path| path.display().to_string())
}
