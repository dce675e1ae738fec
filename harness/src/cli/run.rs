//! `harness run`: drives an agent through scenarios and judges every message on the wire.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use futures::StreamExt;

use super::Exit;
use crate::agent::{self, Command, Home};
use crate::profile::Profiles;
use crate::scenario::file::{Scenario, Selection, Set};
use crate::scenario::{self, Outcome, Setup};
use crate::spec::Catalogue;
use crate::verdict::{KnownFailures, Piece, Scope, assess};

/// The arguments of `harness run`.
#[derive(Debug, Args)]
pub(super) struct RunArguments {
    /// The agent's command, split like a POSIX shell splits words; `bob` is the one built in.
    #[arg(long)]
    agent: Option<String>,
    /// Run and judge only these: requirement ids, areas, scenario globs.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Leave these out.
    #[arg(long, value_delimiter = ',')]
    skip: Vec<String>,
    /// Scenarios below this folder, in addition to the built-in ones.
    #[arg(long)]
    scenarios: Option<PathBuf>,
    /// How many scenarios run side by side.
    #[arg(long, default_value_t = 8)]
    jobs: usize,
    /// Seconds a request is waited for without progress.
    #[arg(long, default_value_t = 30.0)]
    timeout: f64,
    /// Seconds the agent has to answer `initialize`.
    #[arg(long, default_value_t = 30.0)]
    startup_timeout: f64,
    /// Keep the traces here.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// The agent's command, word by word.
    #[arg(last = true)]
    words: Vec<String>,
}

pub(super) fn main(arguments: RunArguments) -> Exit {
    let known_id = |id: &str| Catalogue::v1().get(id).is_some();
    let command = match &arguments.agent {
        Some(text) => Command::parse(text),
        None => Command::of_words(arguments.words.iter().cloned()),
    };
    let command = match command {
        Ok(command) => command,
        Err(error) => return usage(&error),
    };
    let words: Vec<String> = command
        .words()
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let profiles = match Profiles::built_in(&known_id) {
        Ok(profiles) => profiles,
        Err(error) => return usage(&error),
    };
    let profile = profiles.find(&words);
    let command = match Command::of_words(profile.command.iter().cloned()) {
        Ok(command) => command,
        Err(error) => return usage(&error),
    };
    let mut set = match Set::built_in(&known_id) {
        Ok(set) => set,
        Err(error) => return usage(&error),
    };
    if let Some(folder) = &arguments.scenarios
        && let Err(error) = set.add_folder(folder, &known_id)
    {
        return usage(&error);
    }
    let ids = Catalogue::v1()
        .iter()
        .map(|requirement| requirement.id.as_str());
    let ids: Vec<&str> = ids.collect();
    let selection = match Selection::new(&arguments.only, &arguments.skip, &set, &ids) {
        Ok(selection) => selection,
        Err(error) => return usage(&error),
    };
    let chosen: Vec<&Scenario> = set
        .iter()
        .filter(|scenario| selection.runs(scenario))
        .collect();
    let known = profile.known.clone();
    let setup = Setup {
        command,
        profile,
        user: std::env::vars_os().collect(),
        env_all: false,
        home: Home::Fresh,
        named: Vec::new(),
        scripted_model: true,
        timeout: Duration::from_secs_f64(arguments.timeout),
        startup_timeout: Duration::from_secs_f64(arguments.startup_timeout),
        slow: 1.0,
        keep: arguments
            .keep
            .clone()
            .unwrap_or_else(|| std::env::temp_dir().join("harness-traces")),
        recorded: jiff::Timestamp::now().to_string(),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return usage(&error),
    };
    let outcomes: Vec<Outcome> = runtime.block_on(async {
        let _ = agent::guard::install(|signal| std::process::exit(128 + signal));
        futures::stream::iter(chosen)
            .map(|scenario| scenario::run(scenario, &setup))
            .buffer_unordered(arguments.jobs)
            .inspect(|outcome| {
                eprintln!(
                    "{:14} {:6.2}s {} {}",
                    outcome.status,
                    outcome.seconds,
                    outcome.id,
                    outcome.why.join(" | ")
                )
            })
            .collect()
            .await
    });
    let pieces: Vec<Piece> = outcomes
        .iter()
        .map(|outcome| Piece {
            scenario: Some(outcome.id.clone()),
            trace: outcome.trace.clone(),
            judgement: outcome.judgement.clone(),
        })
        .collect();
    let version = outcomes.iter().find_map(|outcome| {
        outcome
            .handshake
            .as_ref()?
            .pointer("/agentInfo/version")?
            .as_str()
            .map(str::to_owned)
    });
    let today = jiff::Zoned::now().date().to_string();
    let known = KnownFailures {
        entries: &known,
        version: version.as_deref(),
        today: &today,
    };
    let scope = if selection.is_everything() {
        Scope::Whole
    } else {
        Scope::Part
    };
    let assessment = assess(
        &pieces,
        scope,
        |requirement| selection.judges(&requirement.id),
        &known,
    );
    for standing in &assessment.standings {
        if standing.state == crate::verdict::State::Fail {
            println!(
                "{} {} {}",
                standing.requirement.level.as_str(),
                standing.requirement.id,
                standing.requirement.statement
            );
            for sighting in standing.findings.iter().take(3) {
                println!(
                    "    {} ({:?} {:?})",
                    sighting.finding.message, sighting.scenario, sighting.finding.place
                );
            }
        }
    }
    for (level, states) in &assessment.totals {
        println!("{} {states:?}", level.as_str());
    }
    println!("{}", assessment.verdict);
    match assessment.verdict {
        crate::verdict::Verdict::Conformant | crate::verdict::Verdict::KnownFailures => Exit::Fine,
        _ => Exit::Findings,
    }
}

fn usage(error: &dyn std::fmt::Display) -> Exit {
    eprintln!("error: {error}");
    Exit::Usage
}
