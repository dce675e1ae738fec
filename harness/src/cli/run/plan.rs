//! From arguments to what is to be done, with a sentence for what cannot be.

use super::super::agent::{HomeChoice, ModelChoice, Prepared};
use super::super::reports;
use super::super::tables;
use super::super::value::Partition;
use super::arguments::RunArguments;
use super::jobs;
use crate::agent::Named;
use crate::model::Upstreams;
use crate::report::part::Part;
use crate::scenario::Setup;
use crate::scenario::file::{Scenario, Selection};

/// A run that can begin.
pub(super) struct Plan {
    pub(super) setup: Setup,
    pub(super) words: Vec<String>,
    pub(super) scenarios: Vec<Scenario>,
    /// The ids of the scenarios of all parts.
    pub(super) all: Vec<String>,
    pub(super) partition: Option<Partition>,
    pub(super) selection: Selection,
    pub(super) jobs: usize,
    pub(super) repeat: (Vec<String>, Vec<String>),
}

/// Reads everything that the arguments name and makes the folder for the traces.
///
/// # Errors
/// One or more sentences on what is wrong with the arguments or the files that they name.
pub(super) fn plan(arguments: &RunArguments) -> Result<Plan, String> {
    let sentence = |error: &dyn std::fmt::Display| error.to_string();
    let set = tables::scenarios(&arguments.scenarios).map_err(|error| sentence(&error))?;
    let selection = tables::selection(&arguments.only, &arguments.skip, &set)
        .map_err(|error| sentence(&error))?;
    let mut scenarios: Vec<Scenario> = set
        .iter()
        .filter(|scenario| selection.runs(scenario))
        .cloned()
        .collect();
    if scenarios.is_empty() {
        return Err(
            "no scenario is left to run: --only and --skip leave none out of the other's choice; \
             `harness list scenarios` shows which there are"
                .to_owned(),
        );
    }
    let all: Vec<String> = scenarios
        .iter()
        .map(|scenario| scenario.id.clone())
        .collect();
    if let Some(partition) = arguments.partition {
        let mut places = 0..;
        scenarios.retain(|_| {
            let place = places.next().unwrap_or_default();
            Part::of_scenario(place, partition.of) == partition.number
        });
        if scenarios.is_empty() {
            return Err(format!(
                "part {} of {} holds no scenario: there are {} to run",
                partition.number,
                partition.of,
                all.len()
            ));
        }
    }
    let prepared = Prepared::new(&arguments.agent, arguments.output.keep.as_deref(), "run")?;
    reports::prepare(&arguments.output.report)?;
    let upstreams = Upstreams::new(arguments.record_model.clone())?;
    let scripted = arguments.model == ModelChoice::Scripted && upstreams.is_none();
    Ok(Plan {
        jobs: arguments
            .jobs
            .unwrap_or_else(|| jobs::default_jobs(prepared.profile.memory_mb)),
        repeat: repeat(arguments),
        words: prepared.words.clone(),
        scenarios,
        all,
        partition: arguments.partition,
        selection,
        setup: Setup {
            upstreams,
            ..prepared.setup(
                &arguments.limits,
                &arguments.surroundings,
                arguments.slow,
                scripted,
            )
        },
    })
}

/// The words that repeat this run for one scenario: those before `--only` and those after. Values of variables are left
/// out: they may be secret.
fn repeat(arguments: &RunArguments) -> (Vec<String>, Vec<String>) {
    let mut words: Vec<String> = ["harness", "run"].map(str::to_owned).to_vec();
    let mut put = |flag: &str, value: &str| {
        words.push(flag.to_owned());
        words.push(value.to_owned());
    };
    if let Some(agent) = &arguments.agent.agent {
        put("--agent", agent);
    }
    if let Some(profile) = &arguments.agent.profile {
        put("--profile", profile);
    }
    for folder in &arguments.scenarios {
        put("--scenarios", &folder.display().to_string());
    }
    for named in &arguments.surroundings.env {
        match named {
            Named::Set(name, _) => put("--env", &format!("{name}=…")),
            Named::Pass(name) => put("--env", name),
        }
    }
    if arguments.surroundings.home == HomeChoice::Keep {
        put("--home", "keep");
    }
    if arguments.model == ModelChoice::None {
        put("--model", "none");
    }
    if arguments.surroundings.env_all {
        words.push("--env-all".to_owned());
    }
    let mut after = Vec::new();
    if !arguments.agent.words.is_empty() {
        after.push("--".to_owned());
        let given = arguments.agent.words.iter();
        after.extend(given.map(|word| word.to_string_lossy().into_owned()));
    }
    (words, after)
}
