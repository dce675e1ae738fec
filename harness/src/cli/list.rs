//! `harness list`: requirements, scenarios, profiles.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::Exit;
use super::output::{error, print};
use super::tables;
use crate::profile::Profile;
use crate::report::{plain, table};
use crate::scenario::file::{Scenario, Selection, Set};
use crate::spec::{Catalogue, Requirement};

/// What `harness list` is told.
#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// What to list
    #[arg(value_enum, default_value_t = What::Requirements)]
    what: What,
    /// Only these: requirements, areas, scenarios, as for `harness run`
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave these out
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    skip: Vec<String>,
    /// Add the scenarios of a folder to those that are built in
    #[arg(long, value_name = "DIR")]
    scenarios: Vec<PathBuf>,
    /// As JSON: an array of objects
    #[arg(long)]
    json: bool,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// The requirements of the catalogue.
    Requirements,
    /// The scenarios, one line for each run.
    Scenarios,
    /// The profiles of known agents.
    Profiles,
}

/// Runs the command.
pub(super) fn main(arguments: &ListArguments) -> Exit {
    match text(arguments) {
        Ok(text) => match print(&text) {
            Ok(()) => Exit::Fine,
            Err(why) => {
                error(format_args!("the list could not be written: {why}"));
                Exit::Fault
            }
        },
        Err(why) => {
            error(why);
            Exit::Usage
        }
    }
}

fn text(arguments: &ListArguments) -> Result<String, String> {
    let set = tables::scenarios(&arguments.scenarios).map_err(|error| error.to_string())?;
    let selection = tables::selection(&arguments.only, &arguments.skip, &set)
        .map_err(|error| error.to_string())?;
    let (rows, objects): (Vec<Vec<String>>, Vec<Value>) = match arguments.what {
        What::Requirements => Catalogue::v1()
            .iter()
            .filter(|requirement| wanted(requirement, &selection, &set))
            .map(|requirement| (requirement_row(requirement), requirement_json(requirement)))
            .unzip(),
        What::Scenarios => set
            .iter()
            .filter(|scenario| selection.runs(scenario))
            .map(|scenario| (scenario_row(scenario), scenario_json(scenario)))
            .unzip(),
        What::Profiles => {
            if !selection.is_everything() {
                return Err(
                    "--only and --skip choose requirements and scenarios; profiles are few"
                        .to_owned(),
                );
            }
            let profiles = tables::profiles().map_err(|error| error.to_string())?;
            let each = profiles.iter();
            each.map(|profile| (profile_row(profile), profile_json(profile)))
                .unzip()
        }
    };
    if arguments.json {
        let mut text = serde_json::to_string_pretty(&objects).map_err(|error| error.to_string())?;
        text.push('\n');
        return Ok(text);
    }
    let mut text = table(&rows, |_| false).join("\n");
    text.push('\n');
    Ok(text)
}

/// A pattern for scenarios chooses the requirements that they cover.
fn wanted(requirement: &Requirement, selection: &Selection, set: &Set) -> bool {
    let id = &requirement.id;
    let covered = |set: &Set| {
        let mut all = set.iter();
        all.any(|scenario| selection.runs(scenario) && scenario.covers.contains(id))
    };
    selection.judges(id) && (!selection.by_scenario() || covered(set))
}

fn requirement_row(requirement: &Requirement) -> Vec<String> {
    vec![
        requirement.id.clone(),
        requirement.level.as_str().to_owned(),
        requirement.statement.clone(),
    ]
}

fn requirement_json(requirement: &Requirement) -> Value {
    json!({
        "id": requirement.id,
        "level": requirement.level.as_str(),
        "basis": requirement.basis.as_str(),
        "when": requirement.when.to_string(),
        "statement": requirement.statement,
        "check": requirement.check,
        "passive": requirement.passive,
        "cite": requirement.cite.iter().map(|citation| &citation.url).collect::<Vec<_>>(),
        "reports": requirement.reports,
    })
}

fn scenario_row(scenario: &Scenario) -> Vec<String> {
    vec![
        plain(&scenario.id),
        plain(&scenario.title),
        scenario.covers.join(" "),
    ]
}

fn scenario_json(scenario: &Scenario) -> Value {
    json!({
        "id": scenario.id,
        "title": scenario.title,
        "about": scenario.about,
        "covers": scenario.covers,
    })
}

fn profile_row(profile: &Profile) -> Vec<String> {
    vec![
        profile.name.clone(),
        profile.command.join(" "),
        profile.about.clone(),
    ]
}

fn profile_json(profile: &Profile) -> Value {
    json!({
        "name": profile.name,
        "about": profile.about,
        "command": profile.command,
        "install": profile.install,
        "versions": profile.versions,
        "known": profile.known.iter().map(|known| &known.id).collect::<Vec<_>>(),
    })
}
