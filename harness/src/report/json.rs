//! From a finished run to its report as data.

use std::path::Path;

use super::document::{
    Agent, Around, Damaged, Document, FORMAT, Fault, Finding, HandedOver, Missing, Recorded,
    Repeat, Requirement, Scenario, Shown, Spec, StaleEntry,
};
use super::{AgentIdentity, Recording, Run, Surroundings};
use crate::spec::{Catalogue, Level};
use crate::verdict::{Assessment, Sighting, Standing, State};

impl Document {
    /// The report of a run; `strict` says whether `should` and `interop` count.
    pub fn of(run: &Run, strict: bool) -> Self {
        let catalogue = Catalogue::v1();
        let assessment = &run.assessment;
        let blocked = run.blocked.as_ref();
        Self {
            format: FORMAT,
            harness: env!("CARGO_PKG_VERSION").to_owned(),
            spec: Spec {
                version: catalogue.protocol_version(),
                revision: catalogue.revision().to_owned(),
                schema: catalogue.schema_revision().to_owned(),
            },
            agent: agent(&run.agent),
            surroundings: run.surroundings.as_ref().map(around),
            verdict: assessment.verdict,
            strict,
            blocked: blocked.map(|blocked| blocked.why.clone()),
            blocked_by: blocked.map(|blocked| blocked.by),
            advice: blocked.map_or_else(Vec::new, |blocked| blocked.advice.clone()),
            missing: assessment
                .missing
                .iter()
                .map(|(id, state)| Missing {
                    id: (*id).to_owned(),
                    status: *state,
                })
                .collect(),
            stale: assessment
                .stale
                .iter()
                .map(|stale| StaleEntry {
                    id: stale.id.clone(),
                    why: stale.why.clone(),
                })
                .collect(),
            totals: totals(assessment),
            requirements: assessment.standings.iter().map(requirement).collect(),
            scenarios: run.scenarios.iter().map(scenario).collect(),
            recordings: run.recordings.iter().map(recorded).collect(),
            faults: run
                .faults
                .iter()
                .map(|fault| Fault {
                    scenario: fault.scenario.clone(),
                    message: fault.message.clone(),
                })
                .collect(),
            repeat: Repeat {
                before: run.repeat.0.clone(),
                after: run.repeat.1.clone(),
            },
            part: run.part.clone(),
            differences: None,
            differences_omitted: None,
            level: None,
            replays: None,
        }
    }
}

/// Every level and every state, also where there is none.
fn totals(assessment: &Assessment) -> indexmap::IndexMap<Level, indexmap::IndexMap<State, usize>> {
    Level::ALL
        .into_iter()
        .map(|level| {
            let states = State::ALL
                .into_iter()
                .map(|state| (state, assessment.count(level, state)));
            (level, states.collect())
        })
        .collect()
}

fn agent(identity: &AgentIdentity) -> Agent {
    Agent {
        command: identity.command.clone(),
        name: identity.name.clone(),
        version: identity.version.clone(),
        capabilities: identity.capabilities.clone(),
    }
}

fn around(surroundings: &Surroundings) -> Around {
    let model = match surroundings.scripted_model {
        true => "scripted",
        false => "none",
    };
    Around {
        home: surroundings.home_word().to_owned(),
        model: model.to_owned(),
        env_all: surroundings.all,
        handed_over: surroundings
            .handed_over
            .iter()
            .map(|(name, by)| HandedOver {
                name: name.clone(),
                by: (*by).to_owned(),
            })
            .collect(),
    }
}

fn scenario(scenario: &super::Scenario) -> Scenario {
    let ids = |known: bool| {
        let all = scenario.failed.iter();
        all.filter(|failed| failed.known == known)
            .map(|failed| failed.id.to_owned())
            .collect()
    };
    Scenario {
        id: scenario.id.clone(),
        status: scenario.status,
        seconds: (scenario.seconds * 1000.0).round() / 1000.0,
        trace: shown(scenario.trace.as_deref()),
        why: scenario.why.clone(),
        failed: ids(false),
        known: ids(true),
    }
}

fn recorded(recording: &Recording) -> Recorded {
    let checked = &recording.checked;
    Recorded {
        trace: recording.trace.display().to_string(),
        status: recording.status,
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
                reason: damage.reason.clone(),
            })
            .collect(),
        missing: recording.missing(),
    }
}

fn requirement(standing: &Standing) -> Requirement {
    let requirement = standing.requirement;
    let fails = standing.state == State::Fail;
    let all = |list: &[Sighting]| list.iter().map(finding).collect::<Vec<_>>();
    let (findings, notes) = match fails {
        true => (all(&standing.findings), all(&standing.notes)),
        // What would be a failure at another level is written down.
        false => (
            Vec::new(),
            [all(&standing.findings), all(&standing.notes)].concat(),
        ),
    };
    Requirement {
        id: requirement.id.clone(),
        level: requirement.level,
        basis: requirement.basis,
        statement: requirement.statement.clone(),
        cite: requirement
            .cite
            .iter()
            .map(|citation| citation.url.clone())
            .collect(),
        reports: requirement.reports.clone(),
        status: standing.state,
        known: standing.known.is_some(),
        reason: standing.known.clone(),
        why: standing.why.clone(),
        fails: if fails { standing.fails } else { 0 },
        shown: standing.shown.as_ref().map(|evidence| Shown {
            scenario: evidence.scenario.clone(),
            trace: shown(evidence.trace.as_deref()),
        }),
        findings,
        notes,
    }
}

fn finding(sighting: &Sighting) -> Finding {
    let place = sighting.finding.place.as_ref();
    Finding {
        message: sighting.finding.message.clone(),
        scenario: sighting.scenario.clone(),
        trace: shown(sighting.trace.as_deref()),
        event: place.map(|place| place.event),
        line: sighting.line,
        path: place.map(|place| place.path.clone()),
        known: sighting.known,
    }
}

fn shown(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.display().to_string())
}
