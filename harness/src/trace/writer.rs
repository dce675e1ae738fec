//! Writes a trace while it happens.

use std::io::{self, Write};

use super::{Event, Header};

/// Appends events to a trace and flushes each, so that a killed writer leaves a file that is whole up to its last line.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    out: W,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace with its header.
    ///
    /// # Errors
    /// What writing to `out` gave.
    pub fn begin(out: W, header: &Header) -> io::Result<Self> {
        let mut writer = Self { out };
        writer.begin_another(header)?;
        Ok(writer)
    }

    /// Begins another trace behind this one, that of the next process of the same agent.
    ///
    /// # Errors
    /// What writing gave.
    pub fn begin_another(&mut self, header: &Header) -> io::Result<()> {
        let mut line = serde_json::to_string(header).map_err(io::Error::other)?;
        line.push('\n');
        self.out.write_all(line.as_bytes())?;
        self.out.flush()
    }

    /// Appends one event.
    ///
    /// # Errors
    /// What writing gave; the file may then end in the middle of a line.
    pub fn append(&mut self, event: &Event) -> io::Result<()> {
        let mut line = Vec::new();
        event.write_line(&mut line);
        self.out.write_all(&line)?;
        self.out.flush()
    }

    /// Gives back what was written to.
    pub fn into_inner(self) -> W {
        self.out
    }
}
