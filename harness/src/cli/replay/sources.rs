//! The recordings that are to be replayed, and whether they are trusted.

use std::path::PathBuf;

use super::super::check::files;
use super::super::output::say;
use crate::canon::Volatility;
use crate::replay::{commands, playable};
use crate::report::plain;
use crate::spec::Side;
use crate::trace::Recording;

/// The project's own traces: id, path in the repository, text.
const GOLDEN: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/traces.rs"));

/// How many commands of a recording are listed.
const LISTED: usize = 40;
/// How much of a command is shown, in characters.
const SHOWN: usize = 200;

/// A recording that can be replayed.
pub(in crate::cli) struct Source {
    /// The file.
    pub(super) path: PathBuf,
    /// What is in it.
    pub(in crate::cli) recording: Recording,
    /// What may differ in it.
    pub(in crate::cli) volatile: Volatility,
}

/// Reads the recordings that the words of the command line mean.
///
/// # Errors
/// A sentence on each that cannot be replayed.
pub(super) fn read(words: &[PathBuf], side: Side) -> Result<Vec<Source>, Vec<String>> {
    let mut sources = Vec::new();
    let mut wrong = Vec::new();
    for path in files::paths(words)? {
        match source(path, side) {
            Ok(source) => sources.push(source),
            Err(why) => wrong.push(why),
        }
    }
    if wrong.is_empty() {
        Ok(sources)
    } else {
        Err(wrong)
    }
}

/// Reads one recording.
///
/// # Errors
/// A sentence on why it cannot be played.
pub(in crate::cli) fn source(path: PathBuf, side: Side) -> Result<Source, String> {
    let recording = files::whole(&path)?;
    for damage in &recording.damage {
        say(format_args!(
            "note: {}: line {} cannot be read and is left out: {}",
            path.display(),
            damage.line,
            plain(&damage.reason)
        ));
    }
    playable(&recording, side).map_err(|error| format!("{}: {error}", path.display()))?;
    let volatile = Volatility::built_in()
        .with_sidecar(&path)
        .map_err(|error| error.to_string())?;
    Ok(Source {
        path,
        recording,
        volatile,
    })
}

impl Source {
    /// Whether it is one of the project's own traces, by what is in it.
    pub(super) fn is_golden(&self) -> bool {
        std::fs::read(&self.path)
            .is_ok_and(|bytes| GOLDEN.iter().any(|(_, _, text)| text.as_bytes() == bytes))
    }

    /// Says which commands are in it.
    pub(super) fn list_commands(&self) {
        let commands = commands(&self.recording);
        let path = plain(&self.path.display().to_string());
        if commands.is_empty() {
            say(format_args!("{path}: no command is recorded."));
        } else {
            say(format_args!("{path}: these commands are recorded:"));
        }
        for recorded in commands.iter().take(LISTED) {
            let command: String = recorded.command.chars().take(SHOWN).collect();
            say(format_args!("  {:<10}  {}", recorded.by, plain(&command)));
        }
        if commands.len() > LISTED {
            say(format_args!("  and {} more", commands.len() - LISTED));
        }
    }
}
