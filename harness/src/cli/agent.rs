//! Arguments that commands which start an agent have in common, and what they come to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::keep;
use super::tables;
use super::value::{self, Target};
use crate::agent::{Command, Home, Named};
use crate::profile::{Profile, Settings};
use crate::scenario::Setup;

pub(super) const AGENT: &str = "Agent";
pub(super) const PACE: &str = "Pace";
pub(super) const SURROUNDINGS: &str = "Surroundings of the agent";
pub(super) const OUTPUT: &str = "Output";

/// Which agent is started.
#[derive(Clone, Debug, Args)]
pub(crate) struct AgentArguments {
    /// The agent's command, or the name of a profile
    ///
    /// It is split like a POSIX shell splits words; no shell runs it. `bob` as its first word means the reference agent
    /// that is built in. `harness list profiles` shows the other names.
    #[arg(long, value_name = "COMMAND", help_heading = AGENT, conflicts_with = "words")]
    pub(in crate::cli) agent: Option<String>,

    /// How the agent is started and steered: a name, or a file
    ///
    /// Without this the profile is found by the name of the program. With a profile alone, its own command is run.
    #[arg(long, value_name = "NAME|FILE", help_heading = AGENT)]
    pub(in crate::cli) profile: Option<String>,

    /// The agent's command, word by word
    #[arg(last = true, value_name = "COMMAND", help_heading = AGENT)]
    pub(in crate::cli) words: Vec<OsString>,
}

/// How long it is waited for.
#[derive(Clone, Debug, Args)]
pub(crate) struct LimitArguments {
    /// How long a request is waited for without any progress
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = value::seconds, allow_negative_numbers = true, help_heading = PACE)]
    pub(in crate::cli) timeout: f64,

    /// How long the agent has to answer `initialize`
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = value::seconds, allow_negative_numbers = true, help_heading = PACE)]
    pub(in crate::cli) startup_timeout: f64,
}

/// What is around it.
#[derive(Clone, Debug, Args)]
pub(crate) struct SurroundingsArguments {
    /// Give the agent a variable, or pass on your own
    ///
    /// `--env NAME=VALUE` sets it, `--env NAME` passes your own value. May be repeated; the last of a name counts.
    #[arg(long, value_name = "NAME[=VALUE]", help_heading = SURROUNDINGS)]
    pub(in crate::cli) env: Vec<Named>,

    /// Pass on all of your variables
    ///
    /// Without this an agent gets PATH, language and the like. Those of OpenAI, Anthropic and Gemini do not pass where the
    /// scripted model takes their place; the report says which keys passed.
    #[arg(long, help_heading = SURROUNDINGS)]
    pub(in crate::cli) env_all: bool,

    /// The agent's home folder: a fresh one, or your own
    ///
    /// A fresh home keeps your settings and history out of the run. `keep` is for agents that do not come up without them.
    #[arg(long, value_name = "HOME", value_enum, default_value_t = HomeChoice::Fresh, help_heading = SURROUNDINGS)]
    pub(in crate::cli) home: HomeChoice,
}

/// Where results go.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArguments {
    /// Write a report: `json=FILE`, or `json=-` for stdout
    ///
    /// The formats are `html` (a page for a browser), `json`, `junit`, `markdown` and `badge`. May be repeated. With `-` as the
    /// file the text goes to stderr.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = value::target, help_heading = OUTPUT)]
    pub(in crate::cli) report: Vec<Target>,

    /// Keep the traces in this folder
    ///
    /// By default in the user's state folder under the agent's name, where the last ten runs are kept.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(in crate::cli) keep: Option<PathBuf>,
}

/// Which home folder the agent gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum HomeChoice {
    /// A fresh one for each scenario.
    Fresh,
    /// The user's own.
    Keep,
}

/// Which model the agent talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum ModelChoice {
    /// The scripted model of each scenario.
    Scripted,
    /// None of the harness's.
    None,
}

/// An agent that can be started, and the folder for its traces.
pub(super) struct Prepared {
    pub(super) profile: Profile,
    pub(super) command: Command,
    pub(super) words: Vec<String>,
    pub(super) keep: PathBuf,
    pub(super) recorded: String,
}

impl Prepared {
    /// Reads what the arguments name, makes the folder for the traces and finds out whether all can be written.
    ///
    /// # Errors
    /// A sentence on what is wrong with the arguments or the files that they name.
    pub(super) fn new(
        arguments: &AgentArguments,
        keep: Option<&Path>,
        name: &str,
    ) -> Result<Self, String> {
        let (profile, command) = agent(arguments, name)?;
        let now = jiff::Timestamp::now();
        let keep = match keep {
            Some(folder) => std::fs::create_dir_all(folder)
                .map(|()| folder.to_owned())
                .map_err(|error| (folder.to_owned(), error)),
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
        // Found out before the run rather than in the middle of it: whether the folders can be written to.
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
        let words = command.words().iter();
        Ok(Self {
            words: words
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            profile,
            command,
            keep: std::path::absolute(&keep).unwrap_or(keep),
            recorded: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        })
    }

    /// What all conversations with the agent have in common.
    pub(super) fn setup(
        self,
        limits: &LimitArguments,
        surroundings: &SurroundingsArguments,
        slow: f64,
        scripted_model: bool,
    ) -> Setup {
        Setup {
            command: self.command,
            profile: self.profile,
            user: std::env::vars_os().collect(),
            env_all: surroundings.env_all,
            home: match surroundings.home {
                HomeChoice::Fresh => Home::Fresh,
                HomeChoice::Keep => Home::Keep,
            },
            named: surroundings.env.clone(),
            scripted_model,
            upstreams: None,
            timeout: Duration::from_secs_f64(limits.timeout),
            startup_timeout: Duration::from_secs_f64(limits.startup_timeout),
            slow,
            keep: self.keep,
            answered: Arc::default(),
            recorded: self.recorded,
        }
    }
}

/// The agent's profile and the command that starts it.
///
/// `name` is the command of the harness, for the sentence on what is missing.
///
/// # Errors
/// A sentence on what is wrong with the arguments.
fn agent(arguments: &AgentArguments, name: &str) -> Result<(Profile, Command), String> {
    let given = match (&arguments.agent, arguments.words.is_empty()) {
        (Some(text), _) => Some(Command::parse(text)),
        (None, false) => Some(Command::of_words(arguments.words.iter().cloned())),
        (None, true) => None,
    };
    let given = given.transpose().map_err(|error| error.to_string())?;
    let profiles = tables::profiles().map_err(|error| error.to_string())?;
    let own = tables::settings(&profiles).map_err(|error| error.to_string())?;
    let told = arguments
        .profile
        .as_ref()
        .map(|name| tables::profile(name, profiles.clone()))
        .transpose()
        .map_err(|error| error.to_string())?;
    // The agent of `harness.toml` is meant where the command line names none.
    let (given, by_own) = match (given, &told) {
        (None, None) => (own.as_ref().and_then(|own| own.agent.clone()), true),
        (given, _) => (given, false),
    };
    let words: Vec<String> = given
        .iter()
        .flat_map(|command| command.words())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let own_profile = own.as_ref().and_then(|own| own.profile.clone());
    // A name alone means the command of its profile.
    let mut by_name = false;
    let mut profile = match (told, own_profile, &given) {
        (Some(told), ..) => told,
        (None, Some(profile), None) => profile,
        (None, own_profile, Some(_)) => {
            let found = profiles.find(&words);
            match own_profile {
                Some(profile) if by_own || found.name == Profile::default().name => profile,
                _ => {
                    by_name = found.command != words;
                    found
                }
            }
        }
        (None, None, None) => {
            return Err(format!(
                "no agent is given: write `harness {name} --agent \"my-agent --acp\"`, or `harness {name} -- my-agent --acp`; \
                 `--agent bob` is the reference agent that is built in"
            ));
        }
    };
    // What the file says is about its own agent, in whatever build: not about another one that is tried beside it.
    let program = |command: &Command| {
        let first = command.words().first()?;
        Some(Path::new(first).file_name().unwrap_or(first).to_owned())
    };
    let is_another = |own: &Settings| match (&own.agent, &given) {
        (Some(own), Some(given)) => program(own) != program(given),
        _ => false,
    };
    if let Some(own) = own.as_ref().filter(|own| !is_another(own)) {
        own.lay_over(&mut profile);
    }
    let command = match given {
        Some(command) if !by_name => command,
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
