//! Reads a trace, past what is damaged in it.

use std::io::{self, BufRead, Read as _};

use thiserror::Error;

use super::{Event, FORMAT, Header};

/// The longest line that is read; a longer one is reported as damage and skipped.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;

/// Why a file is no trace that can be read at all.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Reading failed.
    #[error("the trace could not be read: {0}")]
    Read(#[from] io::Error),
    /// There is nothing in it.
    #[error("it is empty: expected a trace, whose first line is an object with `\"acptrace\":1`")]
    Empty,
    /// The first line is no header.
    #[error(
        "line 1 is no header of a trace: expected an object with `\"acptrace\":1`, found `{found}` ({reason})"
    )]
    NoHeader {
        /// The start of the line.
        found: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A later version of the format.
    #[error("the trace has format {0}, this version reads up to {FORMAT}: use a newer harness")]
    TooNew(u32),
}

/// A line of a trace that could not be read and was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The number of the line in the file, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// Gives the events of a trace one by one.
#[derive(Debug)]
pub struct TraceReader<R> {
    input: R,
    header: Header,
    line: u64,
    cut: bool,
    again: bool,
    next: Option<Header>,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Where there is none, where it is of a later format, and what reading gave.
    pub fn open(mut input: R) -> Result<Self, OpenError> {
        let mut first = Vec::new();
        input
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut first)?;
        if first.is_empty() {
            return Err(OpenError::Empty);
        }
        let text = String::from_utf8_lossy(&first);
        // Some editors put a mark of the byte order in front.
        let text = text.trim_start_matches('\u{feff}').trim();
        #[derive(serde::Deserialize)]
        struct Format {
            acptrace: u32,
        }
        let no_header = |error: serde_json::Error| OpenError::NoHeader {
            found: text.chars().take(60).collect(),
            reason: error.to_string(),
        };
        // The number comes first: a later header may hold what this version cannot read.
        let Format { acptrace } = serde_json::from_str(text).map_err(no_header)?;
        if acptrace > FORMAT {
            return Err(OpenError::TooNew(acptrace));
        }
        let header = serde_json::from_str(text).map_err(no_header)?;
        Ok(Self {
            input,
            header,
            line: 1,
            cut: false,
            again: false,
            next: None,
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number in the file of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Whether the line that was read last had no newline: whoever wrote it was stopped there.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether the line that was read last, which holds no event, is a header: another recording was put behind the first.
    pub fn is_header(&self) -> bool {
        self.again
    }

    /// That header, where this version can read it.
    pub fn next_header(&self) -> Option<&Header> {
        self.next.as_ref()
    }

    /// The next event, or what is wrong with the next line; `None` at the end.
    ///
    /// # Errors
    /// What reading gave.
    pub fn next_event(&mut self) -> io::Result<Option<Result<Event, Damage>>> {
        loop {
            let mut bytes = Vec::new();
            let read = self
                .input
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            let whole = bytes.last() == Some(&b'\n');
            self.cut = !whole;
            self.again = bytes.starts_with(b"{\"acptrace\":");
            self.next = None;
            if !whole && read as u64 == LONGEST_LINE {
                self.skip_line()?;
                return Ok(Some(Err(self.damage("longer than 256 MiB".into()))));
            }
            let text = match std::str::from_utf8(&bytes) {
                Ok(text) => text.trim_matches(['\r', '\n', ' ', '\t']),
                Err(_) => return Ok(Some(Err(self.damage("not UTF-8".into())))),
            };
            if text.is_empty() {
                continue;
            }
            if self.again {
                self.next = serde_json::from_str(text).ok();
            }
            if self.next.is_some() {
                let reason = "another recording begins here, of another process";
                return Ok(Some(Err(self.damage(reason.into()))));
            }
            return Ok(Some(Event::from_line(text).map_err(|reason| {
                self.damage(if whole {
                    reason
                } else {
                    format!("cut off, the recorder was probably stopped here ({reason})")
                })
            })));
        }
    }

    fn damage(&self, reason: String) -> Damage {
        Damage {
            line: self.line,
            reason,
        }
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(());
            }
            let (used, done) = match buffer.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end + 1, true),
                None => (buffer.len(), false),
            };
            self.input.consume(used);
            if done {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Body, Party, TraceWriter};
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Vec<u8> {
        let mut writer = TraceWriter::begin(Vec::new(), &Header::new()).unwrap();
        for number in 0..3 {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#);
            let body = Body::of_line(text.into_bytes(), false);
            writer
                .append(&Event::new(f64::from(number), Party::Agent, body))
                .unwrap();
        }
        writer.into_inner()
    }

    fn read(bytes: &[u8]) -> (usize, Vec<Damage>) {
        let mut reader = TraceReader::open(bytes).unwrap();
        let (mut events, mut damages) = (0, Vec::new());
        while let Some(next) = reader.next_event().unwrap() {
            match next {
                Ok(_) => events += 1,
                Err(damage) => damages.push(damage),
            }
        }
        (events, damages)
    }

    #[test]
    fn a_damaged_line_is_named_and_the_rest_is_read() {
        let mut bytes = sample();
        let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        bytes[second] = b'#';
        let (events, damages) = read(&bytes);
        assert_eq!(events, 2);
        assert_eq!(damages.len(), 1);
        assert_eq!(damages[0].line, 2);
    }

    #[test]
    fn a_trace_whose_recorder_was_killed_is_read_up_to_its_last_whole_line() {
        let bytes = sample();
        let (events, damages) = read(&bytes[..bytes.len() - 5]);
        assert_eq!(events, 2);
        assert!(damages[0].reason.starts_with("cut off"), "{damages:?}");
    }

    #[test]
    fn a_higher_format_number_is_refused_whatever_else_the_header_holds() {
        let error = TraceReader::open(&br#"{"acptrace":2,"command":7}"#[..]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the trace has format 2, this version reads up to 1: use a newer harness"
        );
    }

    #[test]
    fn unknown_members_of_the_header_and_of_an_event_are_ignored() {
        let text =
            "{\"acptrace\":1,\"mood\":1}\n{\"at\":0,\"from\":\"agent\",\"eof\":true,\"mood\":1}\n";
        assert_eq!(read(text.as_bytes()), (1, Vec::new()));
    }

    #[test]
    fn a_file_that_is_no_trace_says_what_was_found() {
        let error = TraceReader::open(&b"hello"[..]).unwrap_err();
        assert!(error.to_string().contains("`hello`"), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut file = b"{\"acptrace\":1}\n".to_vec();
            file.extend(bytes);
            let _ = read(&file);
        }
    }
}
