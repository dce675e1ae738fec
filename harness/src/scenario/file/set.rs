//! All scenarios of a run: those that are built in, and those of folders.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Scenario, read};
use crate::source::{Problem, Source};

/// The files in `scenarios/`: id, path in the repository, text.
const BUILT_IN: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// The deepest folder that is looked into, so that a link in a circle comes to an end.
const DEEPEST: usize = 16;

/// Scenarios in the order of their ids; the runs of one file in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    files: BTreeMap<String, Vec<Scenario>>,
}

/// Why a folder's scenarios were not added.
#[derive(Debug, Error)]
pub enum SetError {
    /// A folder or file cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Files are not right: the first problem of each.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))]
    Wrong(Vec<Problem>),
    /// The folder has no scenario.
    #[error("there is no scenario in `{}`: expected files that end in `.toml`", .0.display())]
    Empty(PathBuf),
}

impl Set {
    /// The built-in scenarios.
    ///
    /// # Errors
    /// The first problem of each file that is not right. A test of this project holds that there is none.
    pub fn built_in(known_id: &dyn Fn(&str) -> bool) -> Result<Self, SetError> {
        let sources: Vec<_> = BUILT_IN
            .iter()
            .map(|(id, path, text)| ((*id).to_owned(), Source::new(*path, *text)))
            .collect();
        let mut set = Self::default();
        set.add(&sources, known_id)?;
        Ok(set)
    }

    /// Adds the scenarios below a folder; ids are paths below it. One with the id of another takes its place.
    ///
    /// # Errors
    /// The folder cannot be read, holds no scenario, or one that is not right; then nothing is added.
    pub fn add_folder(
        &mut self,
        folder: &Path,
        known_id: &dyn Fn(&str) -> bool,
    ) -> Result<(), SetError> {
        let mut sources = Vec::new();
        collect(folder, "", &mut sources, DEEPEST)?;
        if sources.is_empty() {
            return Err(SetError::Empty(folder.to_owned()));
        }
        self.add(&sources, known_id)
    }

    /// All scenarios.
    pub fn iter(&self) -> impl Iterator<Item = &Scenario> {
        self.files.values().flatten()
    }

    fn add(
        &mut self,
        sources: &[(String, Source)],
        known_id: &dyn Fn(&str) -> bool,
    ) -> Result<(), SetError> {
        let mut wrong = Vec::new();
        let mut added = BTreeMap::new();
        for (id, source) in sources {
            match read(id, source, known_id) {
                Ok(scenarios) => {
                    added.insert(id.clone(), scenarios);
                }
                Err(problem) => wrong.push(problem),
            }
        }
        if !wrong.is_empty() {
            return Err(SetError::Wrong(wrong));
        }
        self.files.extend(added);
        Ok(())
    }
}

fn collect(
    folder: &Path,
    prefix: &str,
    sources: &mut Vec<(String, Source)>,
    depth: usize,
) -> Result<(), SetError> {
    let unreadable = |error| SetError::Unreadable {
        path: folder.to_owned(),
        error,
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if depth > 0 {
                collect(&path, &format!("{prefix}{name}/"), sources, depth - 1)?;
            }
        } else if let Some(stem) = name.strip_suffix(".toml") {
            let text = fs::read_to_string(&path).map_err(|error| SetError::Unreadable {
                path: path.clone(),
                error,
            })?;
            sources.push((
                format!("{prefix}{stem}"),
                Source::new(path.display().to_string(), text),
            ));
        }
    }
    Ok(())
}
