//! A whole trace in memory, for what must look at it from more than one side.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Damage, Event, Header, OpenError, TraceReader};

/// A trace that was read to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The first line.
    pub header: Header,
    /// The events that could be read, in order.
    pub events: Vec<Event>,
    /// The lines that could not be read, in order.
    pub damage: Vec<Damage>,
}

/// Why a file is no recording that can be used.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// It could not be opened.
    #[error("`{}` could not be opened: {error}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It could not be read, or is no trace.
    #[error("`{}`: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: OpenError,
    },
}

impl Recording {
    /// Reads a file to its end, past what is damaged in it.
    ///
    /// # Errors
    /// Where the file cannot be read, or is no trace that this version reads.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(|error| RecordingError::Open {
            path: path.to_owned(),
            error,
        })?;
        Self::from_reader(BufReader::new(file)).map_err(|error| RecordingError::Read {
            path: path.to_owned(),
            error,
        })
    }

    /// Reads a trace to its end, past what is damaged in it.
    ///
    /// # Errors
    /// Where reading fails, or the input is no trace that this version reads.
    pub fn from_reader(input: impl BufRead) -> Result<Self, OpenError> {
        Self::rest_of(TraceReader::open(input)?)
    }

    /// Reads what a reader has not given yet.
    ///
    /// # Errors
    /// Where reading fails.
    pub fn rest_of(mut reader: TraceReader<impl BufRead>) -> Result<Self, OpenError> {
        let mut recording = Self {
            header: reader.header().clone(),
            ..Self::default()
        };
        while let Some(next) = reader.next_event()? {
            match next {
                Ok(event) => recording.events.push(event),
                Err(damage) => recording.damage.push(damage),
            }
        }
        Ok(recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_damage_are_kept_apart_and_in_order() {
        let text = "{\"acptrace\":1,\"about\":\"x\"}\n{\"at\":0,\"from\":\"agent\",\"eof\":true}\n#\n{\"at\":1,\"from\":\"agent\",\"exit\":{\"code\":0}}\n";
        let recording = Recording::from_reader(text.as_bytes()).unwrap();
        assert_eq!(recording.header.about.as_deref(), Some("x"));
        assert_eq!(recording.events.len(), 2);
        assert_eq!(recording.damage.len(), 1);
        assert_eq!(recording.damage[0].line, 3);
    }

    #[test]
    fn a_file_that_is_missing_is_named() {
        let error = Recording::read(Path::new("nowhere/at-all.jsonl")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("`nowhere/at-all.jsonl` could not be opened"),
            "{error}"
        );
    }
}
