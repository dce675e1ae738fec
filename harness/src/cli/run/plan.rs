//! From arguments to what is to be done, with a sentence for what cannot be.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::super::tables;
use super::arguments::{HomeChoice, ModelChoice, RunArguments};
use super::{jobs, keep};
use crate::agent::{Command, Home, Named};
use crate::profile::Profile;
use crate::scenario::Setup;
use crate::scenario::file::{Scenario, Selection};

/// A run that can begin.
pub(super) struct Plan {
    pub(super) setup: Setup,
    pub(super) words: Vec<String>,
    pub(super) scenarios: Vec<Scenario>,
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
    let (profile, command) = agent(arguments)?;
    let set = tables::scenarios(&arguments.scenarios).map_err(|error| sentence(&error))?;
    let selection = tables::selection(&arguments.only, &arguments.skip, &set)
        .map_err(|error| sentence(&error))?;
    let scenarios: Vec<Scenario> = set
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
    let now = jiff::Timestamp::now();
    let keep = match &arguments.keep {
        Some(folder) => std::fs::create_dir_all(folder)
            .map(|()| folder.clone())
            .map_err(|error| (folder.clone(), error)),
        None => keep::state_folder(
            &agent_name(&profile, &command),
            &now.strftime("%Y-%m-%dT%H-%M-%SZ").to_string(),
        ),
    };
    let keep = keep.map_err(|(folder, error)| {
        format!(
            "the traces cannot be kept in `{}`: {error}; choose another folder with `--keep DIR`",
            folder.display()
        )
    })?;
    // Found out before the run rather than in each scenario: whether the folders can be written to.
    tempfile::tempfile_in(&keep).map_err(|error| {
        format!(
            "nothing can be written in `{}`: {error}; choose another folder with `--keep DIR`",
            keep.display()
        )
    })?;
    tempfile::tempdir().map_err(|error| {
        format!(
            "no fresh folder can be made in `{}`: {error}; set TMPDIR to a folder that can be written to",
            std::env::temp_dir().display()
        )
    })?;
    let keep = std::path::absolute(&keep).unwrap_or(keep);
    arguments.output().prepare()?;
    let words = command
        .words()
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    Ok(Plan {
        jobs: arguments
            .jobs
            .unwrap_or_else(|| jobs::default_jobs(profile.memory_mb)),
        repeat: repeat(arguments),
        words,
        scenarios,
        selection,
        setup: Setup {
            command,
            profile,
            user: std::env::vars_os().collect(),
            env_all: arguments.env_all,
            home: match arguments.home {
                HomeChoice::Fresh => Home::Fresh,
                HomeChoice::Keep => Home::Keep,
            },
            named: arguments.env.clone(),
            scripted_model: arguments.model == ModelChoice::Scripted,
            timeout: Duration::from_secs_f64(arguments.timeout),
            startup_timeout: Duration::from_secs_f64(arguments.startup_timeout),
            slow: arguments.slow,
            keep,
            answered: Arc::default(),
            recorded: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        },
    })
}

/// The agent's profile and the command that starts it.
fn agent(arguments: &RunArguments) -> Result<(Profile, Command), String> {
    let given = match (&arguments.agent, arguments.words.is_empty()) {
        (Some(text), _) => Some(Command::parse(text)),
        (None, false) => Some(Command::of_words(arguments.words.iter().cloned())),
        (None, true) => None,
    };
    let given = given.transpose().map_err(|error| error.to_string())?;
    let words: Vec<String> = given
        .iter()
        .flat_map(|command| command.words())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let profiles = tables::profiles().map_err(|error| error.to_string())?;
    let mut profile = match (&arguments.profile, &given) {
        (Some(name), _) => tables::profile(name, profiles).map_err(|error| error.to_string())?,
        (None, Some(_)) => profiles.find(&words),
        (None, None) => {
            return Err(
                "no agent is given: write `harness run --agent \"my-agent --acp\"`, or `harness run -- my-agent --acp`; \
                 `--agent bob` is the reference agent that is built in"
                    .to_owned(),
            );
        }
    };
    tables::own_file(&mut profile).map_err(|error| error.to_string())?;
    let by_profile = arguments.profile.is_none() && profile.command != words;
    let command = match given {
        Some(command) if !by_profile => command,
        _ => {
            Command::of_words(profile.command.iter().cloned()).map_err(|error| error.to_string())?
        }
    };
    Ok((profile, command))
}

/// The name under which the traces of an agent are kept.
fn agent_name(profile: &Profile, command: &Command) -> String {
    if profile.name != Profile::default().name {
        return profile.name.clone();
    }
    let first = command.words().first().map(PathBuf::from);
    first
        .as_deref()
        .and_then(|path| path.file_name())
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The words that repeat this run for one scenario: those before `--only` and those after. Values of variables are left
/// out: they may be secret.
fn repeat(arguments: &RunArguments) -> (Vec<String>, Vec<String>) {
    let mut words: Vec<String> = ["harness", "run"].map(str::to_owned).to_vec();
    let mut put = |flag: &str, value: &str| {
        words.push(flag.to_owned());
        words.push(value.to_owned());
    };
    if let Some(agent) = &arguments.agent {
        put("--agent", agent);
    }
    if let Some(profile) = &arguments.profile {
        put("--profile", profile);
    }
    for folder in &arguments.scenarios {
        put("--scenarios", &folder.display().to_string());
    }
    for named in &arguments.env {
        match named {
            Named::Set(name, _) => put("--env", &format!("{name}=…")),
            Named::Pass(name) => put("--env", name),
        }
    }
    if arguments.home == HomeChoice::Keep {
        put("--home", "keep");
    }
    if arguments.model == ModelChoice::None {
        put("--model", "none");
    }
    if arguments.env_all {
        words.push("--env-all".to_owned());
    }
    let mut after = Vec::new();
    if !arguments.words.is_empty() {
        after.push("--".to_owned());
        let given = arguments.words.iter();
        after.extend(given.map(|word| word.to_string_lossy().into_owned()));
    }
    (words, after)
}
