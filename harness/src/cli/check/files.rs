//! Which recordings are meant, and opening them.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::super::output::say;
use crate::import::{Look, recognise};
use crate::report::plain;
use crate::trace::{OpenError, Recording, TraceReader};

/// The deepest folder that is looked into, so that a link in a circle comes to an end.
const DEEPEST: usize = 16;

/// A recording that can be read.
pub(in crate::cli) struct Source {
    /// The file as it was named, `-` for stdin.
    pub(in crate::cli) path: PathBuf,
    /// Its events.
    pub(in crate::cli) reader: TraceReader<Box<dyn BufRead + Send>>,
}

/// A file that was named, or that is in a folder that was named.
struct Candidate {
    path: PathBuf,
    by_folder: bool,
}

/// Every recording that the words of the command line mean, in their order; those of a folder by name.
///
/// # Errors
/// A sentence on each file or folder that cannot be used.
pub(in crate::cli) fn paths(words: &[PathBuf]) -> Result<Vec<PathBuf>, Vec<String>> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut wrong = Vec::new();
    for word in words {
        if !word.is_dir() {
            candidates.push(Candidate {
                path: word.clone(),
                by_folder: false,
            });
            continue;
        }
        let mut found = Vec::new();
        if let Err(why) = collect(word, &mut found, DEEPEST) {
            wrong.push(why);
        } else if found.is_empty() {
            wrong.push(format!(
                "there is no recording in `{}`: expected files that end in `.jsonl`",
                word.display()
            ));
        }
        candidates.extend(found.into_iter().map(|path| Candidate {
            path,
            by_folder: true,
        }));
    }
    let mut paths: Vec<PathBuf> = Vec::new();
    for Candidate { path, by_folder } in candidates {
        if paths.contains(&path) {
            continue;
        }
        if path.as_os_str() == "-" {
            paths.push(path);
            continue;
        }
        // The headers are read before anything is judged, so that a wrong name is told at once.
        match open(&path) {
            Ok(_) => paths.push(path),
            Err(why) if by_folder => say(format_args!("note: left out: {}", why)),
            Err(why) => wrong.push(why),
        }
    }
    if paths.is_empty() && wrong.is_empty() {
        wrong.push("none of the files is a recording".to_owned());
    }
    if wrong.is_empty() {
        Ok(paths)
    } else {
        Err(wrong)
    }
}

/// Opens a recording.
///
/// # Errors
/// A sentence on why it is none.
pub(in crate::cli) fn open(path: &Path) -> Result<Source, String> {
    let input: Box<dyn BufRead + Send> = if path.as_os_str() == "-" {
        Box::new(BufReader::with_capacity(1 << 16, io::stdin()))
    } else {
        let file = File::open(path)
            .map_err(|error| format!("`{}` could not be opened: {error}", path.display()))?;
        Box::new(BufReader::with_capacity(1 << 16, file))
    };
    let reader = TraceReader::open(input).map_err(|error| no_recording(path, &error))?;
    Ok(Source {
        path: path.to_owned(),
        reader,
    })
}

/// Reads a recording to its end.
///
/// # Errors
/// A sentence on why it is none.
pub(in crate::cli) fn whole(path: &Path) -> Result<Recording, String> {
    let source = open(path)?;
    Recording::rest_of(source.reader).map_err(|error| no_recording(path, &error))
}

fn no_recording(path: &Path, error: &OpenError) -> String {
    let looks = || {
        let mut file = BufReader::new(File::open(path).ok()?);
        recognise(&mut file).ok()?
    };
    let name = path.display().to_string();
    let hint = match error {
        OpenError::NoHeader { .. } => match looks() {
            Some(Look::Other(format)) => format!(
                "; it looks like a recording of another kind: `harness import --from {} {} -o OUT` makes a trace of it",
                format.as_str(),
                shell_words::quote(&name)
            ),
            Some(Look::Trace) => {
                "; further down it looks like a trace: are lines missing at its start?".to_owned()
            }
            None => "; `harness import` makes traces of the recordings of other tools".to_owned(),
        },
        OpenError::Empty | OpenError::Read(_) | OpenError::TooNew(_) => String::new(),
    };
    plain(&format!(
        "`{}` is no recording: {error}{hint}",
        path.display()
    ))
}

/// The files below a folder that end in `.jsonl`, by name.
fn collect(folder: &Path, found: &mut Vec<PathBuf>, depth: usize) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("cannot read `{}`: {error}", folder.display());
    let mut entries = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<Result<Vec<_>, _>>()
        })
        .map_err(unreadable)?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if depth > 1 {
                collect(&path, found, depth - 1)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    Ok(())
}
