//! What all scenarios of a run have in common: the agent, how it is started, and what is around it.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Answered;
use super::drive::Times;
use crate::agent::{
    Command, Environment, Folders, Home, Launch, Marker, ModelAccess, Named, Place, RunFolder,
    User, Variables,
};
use crate::client::TraceFile;
use crate::model::Upstreams;
use crate::profile::Profile;
use crate::trace::{Header, TraceWriter};

/// What all scenarios of a run have in common.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The agent's command.
    pub command: Command,
    /// How it is started and steered.
    pub profile: Profile,
    /// The user's own variables.
    pub user: Variables,
    /// Whether the user's variables pass to the agent (`--env-all`).
    pub env_all: bool,
    /// Which home the agent gets.
    pub home: Home,
    /// What `--env` names.
    pub named: Vec<Named>,
    /// Whether there is a scripted model.
    pub scripted_model: bool,
    /// The real model servers whose exchanges are kept in the traces, in place of a scripted model (`--record-model`).
    pub upstreams: Option<Upstreams>,
    /// A request's limit without progress.
    pub timeout: Duration,
    /// The limit for the answer to `initialize`.
    pub startup_timeout: Duration,
    /// What quiet periods and deliberate delays are multiplied with.
    pub slow: f64,
    /// Where traces are kept.
    pub keep: PathBuf,
    /// When the run began, in RFC 3339.
    pub recorded: String,
    /// Which methods the agent has answered so far in the run.
    pub answered: Arc<Answered>,
}

impl Setup {
    pub(super) fn times(&self) -> Times {
        let slow = self.slow * self.profile.slow;
        Times {
            request: self.timeout.mul_f64(self.profile.slow.max(1.0)),
            startup: self.startup_timeout.mul_f64(self.profile.slow.max(1.0)),
            cancel: Duration::from_secs(5).mul_f64(slow.max(1.0)),
            quiet: Duration::from_millis(300).mul_f64(slow),
            slow,
        }
    }

    /// Where the trace of a scenario is kept.
    pub(super) fn trace_path(&self, id: &str) -> PathBuf {
        let name: String = id
            .chars()
            .filter_map(|character| match character {
                '[' => Some('.'),
                ']' => None,
                character if character.is_alphanumeric() || "/-_.".contains(character) => {
                    Some(character)
                }
                _ => Some('_'),
            })
            .collect();
        self.keep.join(format!("{name}.jsonl"))
    }

    /// What the agent is to find in its environment.
    pub(crate) fn environment(&self, model: Option<ModelAccess>) -> Environment {
        Environment {
            all: self.env_all,
            home: self.home,
            model,
            profile: self.profile.env.iter().cloned().collect(),
            named: self.named.clone(),
        }
    }
}

/// How the agent of `setup` is started in the session's folder of a run, with the files of its profile written.
///
/// # Errors
/// A sentence on a file of the profile that cannot be written.
pub(crate) fn launch(
    setup: &Setup,
    folder: &RunFolder,
    model: Option<ModelAccess>,
) -> Result<Launch, String> {
    let environment = setup.environment(model);
    let user = User {
        variables: &setup.user,
        has_folder: &|path: &Path| path.is_dir(),
    };
    let folders = Folders {
        home: folder.home(),
        workspace: folder.workspace(),
        tmp: folder.tmp(),
    };
    let placeholders = environment.placeholders(user, folders);
    for file in &setup.profile.files {
        let place = match file.path.split_once("}/") {
            // The user's own home is never written to.
            Some(("{home", _)) if setup.home == Home::Keep => continue,
            Some(("{home", rest)) => (Place::Home, rest),
            Some(("{cwd", rest)) => (Place::Workspace, rest),
            _ => {
                return Err(format!(
                    "the profile's file {:?} begins with neither `{{home}}/` nor `{{cwd}}/`",
                    file.path
                ));
            }
        };
        // A file that needs the scripted model's address is of no use without one.
        if let Some(text) = placeholders.fill(&file.text) {
            folder
                .write(place.0, place.1, text.as_bytes())
                .map_err(|error| format!("the profile's file {:?}: {error}", file.path))?;
        }
    }
    Ok(Launch {
        command: setup.command.clone(),
        cwd: folder.workspace().to_owned(),
        env: environment.build(user, folders),
        marker: Marker::fresh(),
    })
}

/// The first line of a trace that an agent of `setup` is recorded in.
pub(crate) fn header_of(setup: &Setup) -> Header {
    Header {
        recorded: Some(setup.recorded.clone()),
        by: Some(concat!("harness ", env!("CARGO_PKG_VERSION")).to_owned()),
        command: setup
            .command
            .words()
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        platform: Some(format!(
            "{}-{}",
            std::env::consts::OS,
            std::env::consts::ARCH
        )),
        ..Header::new()
    }
}

/// Begins a trace file, with the folders on its way.
///
/// # Errors
/// What the system says.
pub(crate) fn open_trace(path: &Path, header: &Header) -> std::io::Result<TraceFile> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    TraceWriter::begin(BufWriter::new(File::create(path)?), header)
}
