//! What is built in and what the user adds: scenarios, profiles, requirements.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::profile::{self, Profile, ProfileError, Profiles};
use crate::scenario::file::{Selection, SelectionError, Set, SetError};
use crate::source::{Problem, Source, nearest};
use crate::spec::Catalogue;

/// The file in which an agent's own repository steers the harness.
const OWN_FILE: &str = "harness.toml";

/// Why something that the user named cannot be used.
#[derive(Debug, Error)]
pub(super) enum TableError {
    /// Scenarios.
    #[error(transparent)]
    Scenarios(#[from] SetError),
    /// A profile's file.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The agent's own file.
    #[error("{0}")]
    Own(Box<Problem>),
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

/// Lays the `harness.toml` of the folder in which the harness was started over the profile, if there is one.
pub(super) fn own_file(profile: &mut Profile) -> Result<(), TableError> {
    let path = Path::new(OWN_FILE);
    if !path.is_file() {
        return Ok(());
    }
    let text = std::fs::read_to_string(path).map_err(|error| ProfileError::Unreadable {
        path: path.to_owned(),
        error,
    })?;
    profile::steer(profile, &Source::new(OWN_FILE, text), &known_id)
        .map_err(|problem| TableError::Own(Box::new(problem)))
}
