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
    fn event(&mut self, event: Event) -> io::Result<()>;
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Kept(Vec<String>);

    impl Sink for Kept {
        fn header(&mut self, _: &Header) -> io::Result<()> {
            Ok(())
        }

        fn event(&mut self, event: Event) -> io::Result<()> {
            self.0.push(event.to_line());
            Ok(())
        }
    }

    /// Imports in every format; each event that comes of it can be read again.
    fn all(bytes: &[u8]) {
        let _ = recognise(&mut &*bytes);
        for format in [Format::Raw, Format::Conductor, Format::AcpDevtools] {
            let mut kept = Kept::default();
            let _ = import(format, &mut &*bytes, &mut kept);
            for line in kept.0 {
                assert!(!line.contains('\n'), "{line}");
                assert!(Event::from_line(&line).is_ok(), "{line}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            all(&bytes);
        }

        #[test]
        fn no_text_like_a_recording_panics(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("\n"), Just("{"), Just("}"), Just("["), Just("]"), Just("\""), Just("> "), Just("<- "), Just(" é "),
                    Just(r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}"#),
                    Just(r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#),
                    Just(r#"{"direction":"in","ts":1e9,"message":"#), Just(r#""{\"id\":1,\"result\":{}}""#),
                    Just(r#"{"type":"request","ts":0.1,"from":"Client","to":"Agent","id":1,"method":"x","params":null}"#),
                    Just("2026-01-02T03:04:05Z "), Just("agent: "), Just("\r"), Just("\u{feff}"),
                ],
                0..20,
            )
        ) {
            all(parts.concat().as_bytes());
        }
    }
}
