//! What is built in and what the user adds: scenarios, profiles, requirements.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::profile::{Profile, ProfileError, Profiles, Settings};
use crate::scenario::file::{Selection, SelectionError, Set, SetError};
use crate::source::nearest;
use crate::spec::Catalogue;

/// Why something that the user named cannot be used.
#[derive(Debug, Error)]
pub(super) enum TableError {
    /// Scenarios.
    #[error(transparent)]
    Scenarios(#[from] SetError),
    /// A profile's file.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A pattern of `--only` or `--skip`.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A profile that is not there.
    #[error(
        "there is no profile `{name}`{near}; `harness list profiles` shows all, and a file is given by its path, such as `./my-agent.toml`"
    )]
    NoProfile {
        /// As it was given.
        name: String,
        /// The guess.
        near: String,
    },
}

pub(super) fn known_id(id: &str) -> bool {
    Catalogue::v1().get(id).is_some()
}

/// The scenarios that are built in and those of these folders.
pub(super) fn scenarios(folders: &[PathBuf]) -> Result<Set, TableError> {
    let mut set = Set::built_in(&known_id)?;
    for folder in folders {
        set.add_folder(folder, &known_id)?;
    }
    Ok(set)
}

pub(super) fn profiles() -> Result<Profiles, TableError> {
    Ok(Profiles::built_in(&known_id)?)
}

/// What `--only` and `--skip` choose.
pub(super) fn selection(
    only: &[String],
    skip: &[String],
    set: &Set,
) -> Result<Selection, TableError> {
    let ids: Vec<&str> = Catalogue::v1()
        .iter()
        .map(|requirement| requirement.id.as_str())
        .collect();
    Ok(Selection::new(only, skip, set, &ids)?)
}

/// The profile of that name, or in that file.
pub(super) fn profile(name: &str, mut profiles: Profiles) -> Result<Profile, TableError> {
    let named = |profiles: &Profiles| {
        let mut all = profiles.iter();
        all.find(|profile| profile.name == name).cloned()
    };
    if let Some(profile) = named(&profiles) {
        return Ok(profile);
    }
    let path = Path::new(name);
    if name.contains('/') || name.ends_with(".toml") || path.is_file() {
        profiles.add(path, &known_id)?;
        if let Some(profile) = profiles.iter().last() {
            return Ok(profile.clone());
        }
    }
    let near = nearest(name, profiles.iter().map(|profile| profile.name.as_str()));
    Err(TableError::NoProfile {
        name: name.to_owned(),
        near: near.map_or(String::new(), |near| format!("; did you mean `{near}`?")),
    })
}

/// What the `harness.toml` of the folder in which the harness was started says, or that of the nearest folder above which
/// has one.
pub(super) fn settings(profiles: &Profiles) -> Result<Option<Settings>, TableError> {
    let here = std::env::current_dir().unwrap_or_default();
    let Some(path) = Settings::find(&here) else {
        return Ok(None);
    };
    // In this folder it is called by its name alone.
    let path = path.strip_prefix(&here).unwrap_or(&path);
    let find = |name: &str, folder: &Path| {
        let from_folder = folder.join(name);
        let name = match from_folder.is_file() {
            true => from_folder.to_string_lossy().into_owned(),
            false => name.to_owned(),
        };
        profile(&name, profiles.clone()).map_err(|error| error.to_string())
    };
    Ok(Some(Settings::open(path, &known_id, &find)?))
}
