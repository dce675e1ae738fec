//! What would be started: program, command, variables, files, home, mode.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::sync::mpsc;

use super::Page;
use super::node::Node;
use crate::agent::{Environment, Folders, Home, ModelAccess, Named, StartError, User, Variables};
use crate::model::ModelServer;
use crate::profile::Profile;
use crate::scenario::Setup;

/// What stands for the address of the scripted model, which is another for each start.
const MODEL: &str = "{model}";

/// What would be started.
pub(super) struct Plan {
    /// Where the program was found.
    pub(super) program: Result<PathBuf, StartError>,
    /// The PATH that the agent gets.
    pub(super) path: OsString,
    environment: Environment,
    variables: Variables,
}

impl Plan {
    /// What `setup` would start. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// A sentence on what the system did not give the harness.
    pub(super) fn of(setup: &Setup) -> Result<Self, String> {
        let model = match setup.scripted_model {
            true => Some(access().map_err(|why| format!("no port for the scripted model: {why}"))?),
            false => None,
        };
        let environment = setup.environment(model);
        let user = User {
            variables: &setup.user,
            has_folder: &|path: &Path| path.is_dir(),
        };
        let folders = Folders {
            home: Path::new("{home}"),
            workspace: Path::new("{cwd}"),
            tmp: Path::new("{tmp}"),
        };
        let variables = environment.build(user, folders);
        let path = variables
            .get(OsStr::new("PATH"))
            .cloned()
            .unwrap_or_default();
        Ok(Self {
            program: setup.command.program(&path),
            path,
            environment,
            variables,
        })
    }

    /// Shows it.
    pub(super) fn show(&self, page: &mut Page, setup: &Setup, node: Option<&Node>) {
        let profile = &setup.profile;
        let versions = profile.versions.iter();
        let tried = versions.map(|versions| format!(" (tried with {versions})"));
        page.entry(
            "profile",
            [format!(
                "{}: {}{}",
                profile.name,
                profile.about,
                tried.collect::<String>()
            )]
            .into_iter()
            .chain(
                profile
                    .file
                    .iter()
                    .map(|file| format!("from {}", file.display())),
            ),
        );
        page.entry(
            "settings",
            profile
                .settings
                .iter()
                .map(|file| file.display().to_string()),
        );
        page.entry("command", [setup.command.to_string()]);
        page.entry(
            "program",
            [match &self.program {
                Ok(path) => path.display().to_string(),
                Err(_) => "not found".to_owned(),
            }],
        );
        page.entry("node", node.map(Node::in_words));
        page.entry(
            "home",
            [match setup.home {
                Home::Fresh => "a fresh one, {home}, for each start".to_owned(),
                Home::Keep => "your own".to_owned(),
            }],
        );
        page.entry("files", self.files(profile));
        page.entry(
            "model",
            [match setup.scripted_model {
                true => {
                    "the scripted one, at an address of its own, {model}, for each start".to_owned()
                }
                false => "none of the harness".to_owned(),
            }],
        );
        page.entry("variables", self.values(profile));
        page.entry("", self.names(profile));
        page.entry("keys", [self.keys(&setup.user)]);
        page.entry(
            "mode",
            [match &profile.set_mode {
                Some(mode) => format!("`{mode}`, set before the first prompt of each session"),
                None => "as the agent starts".to_owned(),
            }],
        );
        page.entry("tools", tools(profile));
        page.entry(
            "login",
            profile
                .auth
                .iter()
                .map(|method| format!("by the method `{method}`")),
        );
    }

    /// The files that are written: none into the user's own home, none that needs a model that is not there.
    fn files(&self, profile: &Profile) -> Vec<String> {
        let written = profile.files.iter().filter(|file| {
            let home = file.path.starts_with("{home}/");
            let needs_model = file.text.contains(MODEL);
            (self.environment.home == Home::Fresh || !home)
                && (self.environment.model.is_some() || !needs_model)
        });
        written.map(|file| file.path.clone()).collect()
    }

    /// The variables that the model and the profile set, and those that `--env` gives a value, which is not shown.
    fn set(&self, profile: &Profile) -> BTreeSet<String> {
        let model = self.environment.model.iter();
        model
            .flat_map(|model| model.variables.keys())
            .chain(profile.env.iter().map(|(name, _)| name))
            .cloned()
            .collect()
    }

    fn values(&self, profile: &Profile) -> Vec<String> {
        let yours = |name: &str| {
            self.environment.named.iter().any(|named| match named {
                Named::Set(own, _) | Named::Pass(own) => own == name,
            })
        };
        let shown = |name: &String| {
            let value = self.variables.get(OsStr::new(name))?;
            Some(match yours(name) {
                true => format!("{name}=… (yours)"),
                false => format!("{name}={}", value.to_string_lossy()),
            })
        };
        self.set(profile).iter().filter_map(shown).collect()
    }

    /// The names of all other variables.
    fn names(&self, profile: &Profile) -> Option<String> {
        let set = self.set(profile);
        let names: Vec<String> = self
            .variables
            .keys()
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| !set.contains(name))
            .collect();
        (!names.is_empty()).then(|| format!("and {}", names.join(", ")))
    }

    /// Which of the user's keys the agent gets.
    fn keys(&self, user: &Variables) -> String {
        let handed: Vec<String> = self
            .environment
            .handed_over(user)
            .into_iter()
            .map(|(name, by)| format!("{name} ({by})"))
            .collect();
        let kept = self.environment.kept_back(user);
        let mut words = match handed.is_empty() {
            true => "none of yours".to_owned(),
            false => format!("yours: {}", handed.join(", ")),
        };
        if !kept.is_empty() {
            words.push_str(&format!("; kept from it: {}", kept.join(", ")));
        }
        words
    }
}

/// Which of the agent's tools are called for which kinds, where the profile says so.
fn tools(profile: &Profile) -> Vec<String> {
    let rows = profile.tools.rows.iter();
    rows.map(|(kind, tool)| {
        let how = match (&tool.arguments, &tool.text) {
            (Some(arguments), _) => format!(" {}", Value::Object(arguments.clone())),
            (None, Some(text)) => format!(" with the text \"{text}\""),
            (None, None) if tool.with.is_empty() => String::new(),
            (None, None) => format!(" with {}", Value::Object(tool.with.clone())),
        };
        format!("{kind}: `{}`{how}", tool.tool)
    })
    .collect()
}

/// The scripted model as agents see it, with a placeholder for its address.
fn access() -> std::io::Result<ModelAccess> {
    let (out, _) = mpsc::channel(1);
    let server = ModelServer::start(Vec::new(), out)?;
    let address = server.base_url();
    let variables = server.environment().into_iter();
    Ok(ModelAccess {
        variables: variables
            .map(|(name, value)| (name, value.replace(&address, MODEL)))
            .collect(),
        address: MODEL.to_owned(),
    })
}
