//! Bytes to lines.

use std::io::{BufRead, BufReader, Read};
use std::thread;

use agent_client_protocol::TransportFrame;
use futures::channel::mpsc::UnboundedSender;

use super::envelope::{self, Incoming};
use crate::fault::{self, Filter, Hook};

/// The longest line that is taken.
const LONGEST_LINE: usize = 256 * 1024 * 1024;

/// A buffer that grew beyond this for one line is given back after it.
const KEPT_BUFFER: usize = 1024 * 1024;

/// Where lines go.
#[derive(Clone)]
pub(super) struct Inward {
    pub(super) to_sdk: UnboundedSender<TransportFrame>,
    /// Answers that are given here.
    pub(super) answers: UnboundedSender<TransportFrame>,
}

impl Inward {
    /// Passes on what a line is; whether there is still somebody to take it.
    pub(super) fn pass(&self, incoming: Incoming) -> bool {
        let sent = match incoming {
            Incoming::Message(frame) => self.to_sdk.unbounded_send(frame),
            Incoming::Answer(frame) => self.answers.unbounded_send(frame),
            Incoming::Nothing => Ok(()),
        };
        sent.is_ok()
    }

    /// Passes a line on, as a filter says; whether there is still somebody to take it.
    fn pass_filtered(&self, steps: Vec<fault::Inward>) -> bool {
        for step in steps {
            match step {
                fault::Inward::Line(line) if !self.pass(envelope::read(&line)) => return false,
                fault::Inward::Line(_) | fault::Inward::StayOpen => {}
                fault::Inward::Wait(time) => thread::sleep(time),
                fault::Inward::Exit(code) => std::process::exit(code.into()),
            }
        }
        true
    }
}

/// Reads until the input ends, or until one of the receivers is gone. Leaving closes the SDK's
/// channel, which is how it learns of the end.
pub(super) fn run(input: impl Read, inward: &Inward, filter: Option<&Filter>) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut line = Vec::new();
    loop {
        let found = match (next_line(&mut input, &mut line, LONGEST_LINE), filter) {
            (Found::Line, None) => envelope::read(&line),
            (Found::Line, Some(filter)) => {
                if inward.pass_filtered(filter.inward(&line)) {
                    continue;
                }
                break;
            }
            (Found::TooLong, _) => envelope::too_long(LONGEST_LINE),
            (Found::End, _) => break,
        };
        if !inward.pass(found) {
            break;
        }
    }
    if let Some(filter) = filter {
        let steps = filter.closed();
        let stay = steps.contains(&fault::Inward::StayOpen);
        inward.pass_filtered(steps);
        if stay {
            // Until the process is ended from outside.
            loop {
                thread::park();
            }
        }
    }
    inward.to_sdk.close_channel();
}

#[derive(Debug, PartialEq, Eq)]
enum Found {
    Line,
    TooLong,
    End,
}

/// Reads up to the next line feed, or to the end of the input, into `line`.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> Found {
    line.clear();
    if line.capacity() > KEPT_BUFFER {
        line.shrink_to(KEPT_BUFFER);
    }
    let mut too_long = false;
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // An input that cannot be read is an input that has ended.
            Err(_) => &[],
        };
        if bytes.is_empty() {
            return match (too_long, line.is_empty()) {
                (true, _) => Found::TooLong,
                (false, true) => Found::End,
                (false, false) => Found::Line,
            };
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (part, used) = match end {
            Some(at) => (bytes.get(..at).unwrap_or_default(), at + 1),
            None => (bytes, bytes.len()),
        };
        let used = if fault::is_on(Hook::OneLineARead) {
            bytes.len()
        } else {
            used
        };
        if line.len() + part.len() > limit {
            too_long = true;
            line.clear();
        } else if !too_long {
            line.extend_from_slice(part);
        }
        input.consume(used);
        if end.is_some() {
            return if too_long {
                Found::TooLong
            } else {
                Found::Line
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn lines(bytes: &[u8], capacity: usize, limit: usize) -> Vec<Option<Vec<u8>>> {
        let mut input = BufReader::with_capacity(capacity.max(1), Cursor::new(bytes));
        let (mut line, mut all) = (Vec::new(), Vec::new());
        loop {
            match next_line(&mut input, &mut line, limit) {
                Found::Line => all.push(Some(line.clone())),
                Found::TooLong => all.push(None),
                Found::End => return all,
            }
        }
    }

    #[test]
    fn a_last_line_without_line_feed_is_a_line() {
        let found = lines(b"a\n\nb", 2, 100);
        assert_eq!(
            found,
            [Some(b"a".to_vec()), Some(Vec::new()), Some(b"b".to_vec())]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_whole() {
        let found = lines(b"aaaa\nb\ncccc", 3, 3);
        assert_eq!(found, [None, Some(b"b".to_vec()), None]);
    }

    proptest! {
        #[test]
        fn lines_are_those_between_line_feeds(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            capacity in 1_usize..50,
        ) {
            let mut expected: Vec<_> = bytes.split(|byte| *byte == b'\n').map(|line| Some(line.to_vec())).collect();
            if bytes.is_empty() || bytes.ends_with(b"\n") {
                expected.pop();
            }
            prop_assert_eq!(lines(&bytes, capacity, 1000), expected);
        }
    }
}
