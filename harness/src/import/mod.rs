//! Makes traces of the recordings of other tools.

mod conductor;
mod devtools;
mod json;
mod line;
mod mark;
mod outcome;
mod raw;
mod recognise;
mod sides;
mod time;

use std::io::{self, BufRead};

use thiserror::Error;

pub use outcome::Outcome;
pub use recognise::{Look, recognise};

use crate::trace::{Event, Header};

/// What wrote a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines of JSON-RPC, with or without marks of direction and time, and other lines between them.
    Raw,
    /// `agent-client-protocol-conductor --trace FILE`: one event a line.
    Conductor,
    /// A session that acp-devtools has exported: one JSON document.
    AcpDevtools,
}

impl Format {
    /// Its name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Conductor => "conductor",
            Self::AcpDevtools => "acp-devtools",
        }
    }
}

/// Why a recording could not be imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// Reading failed.
    #[error("it could not be read: {0}")]
    Read(io::Error),
    /// Writing failed.
    #[error("the trace could not be written: {0}")]
    Write(io::Error),
    /// It is of another format, or holds no message at all.
    #[error("{0}")]
    Unfit(String),
}

/// Where an importer puts the trace that it makes.
pub trait Sink {
    /// Takes the header, before any event.
    ///
    /// # Errors
    /// What writing gave.
    fn header(&mut self, header: &Header) -> io::Result<()>;

    /// Takes the next event.
    ///
    /// # Errors
    /// What writing gave.
    fn event(&mut self, event: &Event) -> io::Result<()>;
}

/// Makes a trace of a recording. Nothing is put into the sink before the first message was found.
///
/// # Errors
/// Where reading or writing fails, or the recording is of another format.
pub fn import(
    format: Format,
    input: &mut dyn BufRead,
    sink: &mut dyn Sink,
) -> Result<Outcome, ImportError> {
    match format {
        Format::Raw => raw::import(input, sink),
        Format::Conductor => conductor::import(input, sink),
        Format::AcpDevtools => devtools::import(input, sink),
    }
}

/// A header of an imported trace.
fn header(from: Format) -> Header {
    Header {
        by: Some(format!(
            "harness {} import --from {}",
            env!("CARGO_PKG_VERSION"),
            from.as_str()
        )),
        ..Header::new()
    }
}
