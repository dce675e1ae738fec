//! `harness explain`: one requirement, scenario or profile in full.

use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::output::{error, print};
use super::tables;
use crate::profile::{Profile, Profiles};
use crate::report::{plain, wrapped};
use crate::rules::Judge;
use crate::scenario::file::{Scenario, Set};
use crate::source::nearest;
use crate::spec::{Basis, Catalogue, Level, Requirement};

/// Columns of prose.
const WIDTH: usize = 96;

/// What `harness explain` is told.
#[derive(Debug, Args)]
pub(super) struct ExplainArguments {
    /// Requirements (`CANCEL-01`), scenarios (`cancel/while-streaming`) or profiles (`opencode`)
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Add the scenarios of a folder to those that are built in
    #[arg(long, value_name = "DIR")]
    scenarios: Vec<PathBuf>,
}

/// Runs the command.
pub(super) fn main(arguments: &ExplainArguments) -> Exit {
    let text = match text(arguments) {
        Ok(text) => text,
        Err(why) => {
            error(why);
            return Exit::Usage;
        }
    };
    match print(&text) {
        Ok(()) => Exit::Fine,
        Err(why) => {
            error(format_args!("the explanation could not be written: {why}"));
            Exit::Fault
        }
    }
}

fn text(arguments: &ExplainArguments) -> Result<String, String> {
    let set = tables::scenarios(&arguments.scenarios).map_err(|error| error.to_string())?;
    let profiles = tables::profiles().map_err(|error| error.to_string())?;
    let mut parts = Vec::new();
    for name in &arguments.names {
        parts.push(explain(name, &set, &profiles)?);
    }
    Ok(parts.join("\n"))
}

fn explain(name: &str, set: &Set, profiles: &Profiles) -> Result<String, String> {
    if let Some(requirement) = Catalogue::v1().get(&name.to_uppercase()) {
        return Ok(of_requirement(requirement, set));
    }
    let runs: Vec<&Scenario> = set
        .iter()
        .filter(|scenario| scenario.id == name || scenario.file == name)
        .collect();
    if !runs.is_empty() {
        return Ok(of_scenario(&runs));
    }
    if let Some(profile) = profiles.iter().find(|profile| profile.name == name) {
        return Ok(of_profile(profile));
    }
    let upper = name.to_uppercase();
    let ids = Catalogue::v1()
        .iter()
        .map(|requirement| requirement.id.as_str());
    let files = set.iter().map(|scenario| scenario.file.as_str());
    let names = profiles.iter().map(|profile| profile.name.as_str());
    let mut near: Vec<&str> = [
        nearest(&upper, ids),
        nearest(name, files),
        nearest(name, names),
    ]
    .into_iter()
    .flatten()
    .collect();
    near.dedup();
    let guess = if near.is_empty() {
        "; `harness list` shows the requirements, `harness list scenarios` the scenarios".to_owned()
    } else {
        format!("; did you mean `{}`?", near.join("` or `"))
    };
    Err(format!(
        "`{name}` is no requirement, no scenario and no profile{guess}"
    ))
}

/// Lines under a title, the text beginning at one column.
fn entry(out: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    for (number, line) in lines.into_iter().enumerate() {
        let title = if number == 0 { title } else { "" };
        out.push_str(format!("  {title:10}  {line}").trim_end());
        out.push('\n');
    }
}

fn prose(text: &str) -> Vec<String> {
    wrapped(&plain(text), WIDTH - 14)
}

fn of_requirement(requirement: &Requirement, set: &Set) -> String {
    let mut out = format!("{}  {}\n\n", requirement.id, requirement.level.as_str());
    for line in wrapped(&requirement.statement, WIDTH - 2) {
        out.push_str(&format!("  {line}\n"));
    }
    out.push('\n');
    entry(&mut out, "level", prose(level(requirement.level)));
    if requirement.basis != Basis::None {
        entry(&mut out, "basis", prose(basis(requirement.basis)));
    }
    if !requirement.when.is_always() {
        entry(&mut out, "applies if", prose(&requirement.when.to_string()));
    }
    entry(&mut out, "check", prose(&requirement.check));
    let passive = if Judge::judged_ids().contains(&requirement.id.as_str()) {
        "a rule judges it in all traffic"
    } else {
        "no rule judges it in passing; it takes a scenario"
    };
    entry(&mut out, "rule", prose(passive));
    let covering: Vec<String> = set
        .iter()
        .filter(|scenario| scenario.covers.contains(&requirement.id))
        .map(|scenario| plain(&scenario.id))
        .collect();
    if covering.is_empty() {
        entry(&mut out, "scenarios", ["none".to_owned()]);
    } else {
        entry(&mut out, "scenarios", covering);
    }
    entry(
        &mut out,
        "text",
        requirement.cite.iter().map(|citation| citation.url.clone()),
    );
    if let Some(sharpens) = &requirement.sharpens {
        entry(&mut out, "sharpens", [sharpens.clone()]);
    }
    entry(&mut out, "reports", requirement.reports.clone());
    out
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "must: an agent in which it fails does not conform",
        Level::Should => "should: a failure is advice; it counts with --strict",
        Level::May => "may: a permission, written down and never failed",
        Level::Interop => {
            "interop: no text demands it, but clients are known to break on it; it counts with --strict"
        }
        Level::Observe => "observe: the text leaves it open; what was seen is written down",
    }
}

const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Keyword => "keyword: the text says MUST, SHOULD or the like",
        Basis::Schema => "schema: the shape that the protocol's JSON Schema gives",
        Basis::Prose => "prose: the text says so plainly, without a keyword",
        Basis::Jsonrpc => "jsonrpc: JSON-RPC 2.0, on which the protocol rests",
        Basis::Rfd => "rfd: a completed design document of the protocol, and no other text",
        Basis::None => "none",
    }
}

fn of_scenario(runs: &[&Scenario]) -> String {
    let Some(first) = runs.first() else {
        return String::new();
    };
    let mut out = format!("{}\n\n", plain(&first.file));
    for line in prose(&first.title) {
        out.push_str(&format!("  {line}\n"));
    }
    out.push('\n');
    entry(
        &mut out,
        "about",
        first.about.as_deref().map(prose).unwrap_or_default(),
    );
    entry(&mut out, "covers", covered(first));
    if let Some(when) = &first.when {
        entry(&mut out, "applies if", prose(&when.to_string()));
    }
    if runs.len() > 1 || first.id != first.file {
        entry(&mut out, "runs", runs.iter().map(|run| plain(&run.id)));
    }
    let command = shell_words::join(["harness", "run", "--agent", "AGENT", "--only", &first.file]);
    entry(&mut out, "run it", [plain(&command)]);
    out
}

fn covered(scenario: &Scenario) -> Vec<String> {
    scenario
        .covers
        .iter()
        .flat_map(|id| {
            let statement = Catalogue::v1()
                .get(id)
                .map_or("", |requirement| requirement.statement.as_str());
            prose(&format!("{id}: {statement}"))
        })
        .collect()
}

fn of_profile(profile: &Profile) -> String {
    let mut out = format!("{}\n\n  {}\n\n", profile.name, profile.about);
    entry(
        &mut out,
        "command",
        [plain(&shell_words::join(&profile.command))],
    );
    entry(&mut out, "install", profile.install.clone());
    entry(&mut out, "versions", profile.versions.clone());
    entry(
        &mut out,
        "variables",
        profile
            .env
            .iter()
            .map(|(name, value)| plain(&format!("{name}={value}"))),
    );
    entry(
        &mut out,
        "files",
        profile.files.iter().map(|file| file.path.clone()),
    );
    entry(
        &mut out,
        "node",
        profile.node.iter().map(|node| node.as_str().to_owned()),
    );
    entry(
        &mut out,
        "login",
        profile
            .auth
            .iter()
            .map(|method| format!("by the method `{method}`")),
    );
    entry(
        &mut out,
        "mode",
        profile
            .set_mode
            .iter()
            .map(|mode| format!("`{mode}`, set before the first prompt of each session")),
    );
    entry(
        &mut out,
        "tools",
        profile
            .tools
            .rows
            .iter()
            .map(|(kind, tool)| plain(&format!("{kind}: `{}`", tool.tool))),
    );
    entry(
        &mut out,
        "commands",
        profile
            .commands
            .iter()
            .map(|name| plain(&format!("/{name}"))),
    );
    entry(
        &mut out,
        "memory",
        profile
            .memory_mb
            .iter()
            .map(|mb| format!("{mb} MB for one process")),
    );
    if profile.slow > 1.0 {
        let slow = format!(
            "quiet periods and delays are {} times as long",
            profile.slow
        );
        entry(&mut out, "slow", [slow]);
    }
    for known in &profile.known {
        let versions = if known.versions.is_empty() {
            String::new()
        } else {
            format!(" ({})", known.versions.join(", "))
        };
        entry(
            &mut out,
            "known",
            prose(&format!("{}{versions}: {}", known.id, known.reason)),
        );
    }
    out
}
