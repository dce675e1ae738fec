//! `harness init`: a first run, and a `harness.toml` that holds what it found.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use clap::Args;

use super::Exit;
use super::agent::AgentArguments;
use super::output::error;
use super::run::{self, RunArguments};
use crate::profile::SETTINGS_FILE;
use crate::report::Run;
use crate::verdict::Standing;

/// What `harness init` is told: the same as `harness run`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Runs the agent as `harness run` does, then writes harness.toml into this folder: the agent, and what \
    failed as known failures. A file that is there is not touched. Exit codes: 0 written, 2 usage, 3 no agent, 4 a fault \
    of the harness."
)]
pub(crate) struct InitArguments {
    #[command(flatten)]
    run: RunArguments,
}

/// Runs the command.
pub(super) fn main(arguments: &InitArguments) -> Exit {
    let path = Path::new(SETTINGS_FILE);
    if path.exists() {
        error(format_args!(
            "there is a {SETTINGS_FILE} in this folder already: `harness run` reads it, and `harness init` writes none over it"
        ));
        return Exit::Usage;
    }
    if arguments.run.is_part() {
        error("`harness init` needs the whole run: leave out `--partition`");
        return Exit::Usage;
    }
    let run = match run::judged(&arguments.run) {
        Ok(run) => run,
        Err(exit) => return exit,
    };
    match run::exit(&run, false) {
        Exit::Fine | Exit::Findings => {}
        other => return other,
    }
    let strict = arguments.run.is_strict();
    let failures: Vec<&Standing> = run.assessment.failures(strict).collect();
    let text = settings(arguments.run.agent(), &run, &failures);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    if let Err(why) = written {
        error(format_args!("{SETTINGS_FILE} cannot be written: {why}"));
        return Exit::Fault;
    }
    let _ = tell(&arguments.run, failures.len());
    Exit::Fine
}

/// Says what was written, and what to do next.
fn tell(arguments: &RunArguments, failures: usize) -> io::Result<()> {
    let mut out = anstream::stderr();
    writeln!(out)?;
    match failures {
        0 => writeln!(
            out,
            "{SETTINGS_FILE} names the agent; nothing failed that it would have to know"
        )?,
        1 => writeln!(
            out,
            "{SETTINGS_FILE} names the agent and 1 known failure; give it the reason why it is accepted, or mend it"
        )?,
        many => writeln!(
            out,
            "{SETTINGS_FILE} names the agent and {many} known failures; give each the reason why it is accepted, or mend it"
        )?,
    }
    if !arguments.variables().is_empty() {
        writeln!(
            out,
            "variables given by --env are not in it, as they may be secret: put what is none under [env]"
        )?;
    }
    writeln!(out, "next: harness run")
}

/// The text of the file.
fn settings(agent: &AgentArguments, run: &Run, failures: &[&Standing]) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let command = match (&agent.agent, agent.words.as_slice()) {
        (Some(command), _) => Some(command.clone()),
        (None, []) => None,
        (None, words) => Some(shell_words::join(
            words.iter().map(|word| word.to_string_lossy()),
        )),
    };
    if let Some(command) = command {
        line(&format!("agent = {}", quoted(&command)));
    }
    if let Some(profile) = &agent.profile {
        line(&format!("profile = {}", quoted(profile)));
    }
    for failure in failures {
        line("");
        line(&format!(
            "# {}: {}",
            failure.requirement.level.as_str(),
            failure.requirement.statement
        ));
        line("[[known]]");
        line(&format!("id = {}", quoted(&failure.requirement.id)));
        if let Some(scenario) = only_scenario(failure) {
            line(&format!("scenario = {}", quoted(scenario)));
        }
        if let Some(version) = &run.agent.version {
            line(&format!("versions = [{}]", quoted(version)));
        }
        let message = failure
            .findings
            .first()
            .map_or("it fails", |sighting| sighting.finding.message.as_str());
        line(&format!(
            "reason = {}",
            quoted(&format!("not looked at yet: {message}"))
        ));
    }
    text
}

/// The scenario of a failure that was seen in one alone, so that the entry excuses nothing else.
fn only_scenario(failure: &Standing) -> Option<&str> {
    let mut scenarios = failure.findings.iter().map(|seen| seen.scenario.as_deref());
    let first = scenarios.next()??;
    let all_seen = failure.fails as usize == failure.findings.len();
    (all_seen && scenarios.all(|other| other == Some(first))).then_some(first)
}

/// A string of TOML on one line.
fn quoted(text: &str) -> String {
    let one_line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    toml::Value::String(one_line).to_string()
}
