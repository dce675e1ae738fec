//! Lines of JSON-RPC as people have them: bare, marked, wrapped, in a log, or as one array.

use std::io::{BufRead, Read as _};

use serde_json::value::RawValue;

use super::json::{Balance, on_one_line};
use super::line::{Piece, What, piece};
use super::mark::Mark;
use super::recognise::{self, Look};
use super::sides::Sides;
use super::time::{Clock, rfc3339};
use super::{Format, ImportError, Outcome, Sink, header};
use crate::trace::{Body, Event, Party};

/// The longest line that is read.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;
/// So many lines, and bytes of them, are looked at before the first event is written, to learn what marks mean.
const HELD_LINES: usize = 2_000;
const HELD_BYTES: usize = 16 << 20;
/// A message that is spread over lines is followed for so many bytes.
const SPREAD: usize = 16 << 20;

pub(super) fn import(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<Outcome, ImportError> {
    let mut lines = Lines::new(input);
    let mut held: Vec<Piece> = Vec::new();
    let mut bytes = 0;
    let mut work = Work::default();
    let mut seen = 0u64;
    while held.len() < HELD_LINES && bytes < HELD_BYTES {
        let Some(next) = lines.next()? else { break };
        if seen == 0 {
            refuse_others(&next.text)?;
        }
        seen += 1;
        bytes += next.text.len();
        let pieces = pieces(&next);
        for piece in &pieces {
            work.sides.vote(piece);
        }
        held.extend(pieces);
    }
    if !held
        .iter()
        .any(|piece| matches!(piece.what, What::Message(..)))
    {
        return Err(ImportError::Unfit(if seen == 0 {
            "it is empty".to_owned()
        } else {
            format!(
                "no message of the protocol was found in its first {seen} lines: expected lines with JSON-RPC objects, \
                 alone, behind marks such as `> ` or `client:`, or in wrappers such as {{\"direction\":…,\"message\":…}}"
            )
        }));
    }
    work.begin(&held, sink)?;
    for piece in held {
        work.put(piece, sink)?;
    }
    while let Some(next) = lines.next()? {
        for piece in pieces(&next) {
            work.put(piece, sink)?;
        }
    }
    work.outcome.timeless = !work.clock.ran();
    work.outcome.reversed = work.sides.reversed();
    Ok(work.outcome)
}

/// Refuses what another importer is for.
fn refuse_others(first: &str) -> Result<(), ImportError> {
    let why = match recognise::line(first) {
        Some(Look::Trace) => "this is a trace already: `harness check` judges it as it is",
        Some(Look::Other(Format::Conductor)) => {
            "this looks like a trace of the conductor: use --from conductor"
        }
        Some(Look::Other(Format::AcpDevtools)) => {
            "this looks like an export of acp-devtools: use --from acp-devtools"
        }
        Some(Look::Other(Format::Raw)) | None => return Ok(()),
    };
    Err(ImportError::Unfit(why.to_owned()))
}

/// The pieces of a line: one, but for an array over several lines.
fn pieces(next: &Next) -> Vec<Piece> {
    let text = next.text.trim();
    // On the first line an array is the whole of the file; further down it is a batch of the wire.
    if (next.lines > 1 || next.line == 1)
        && text.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<Box<RawValue>>>(text)
    {
        let number = |index: usize| next.line + index as u64;
        return items
            .iter()
            .enumerate()
            .map(|(index, item)| piece(number(index), &on_one_line(item.get())))
            .collect();
    }
    vec![piece(next.line, &next.text)]
}

#[derive(Default)]
struct Work {
    sides: Sides,
    clock: Clock,
    outcome: Outcome,
}

impl Work {
    fn begin(&mut self, held: &[Piece], sink: &mut dyn Sink) -> Result<(), ImportError> {
        let mut header = header(Format::Raw);
        header.recorded = held.iter().find_map(|piece| piece.time).and_then(rfc3339);
        let first = held.iter().find_map(|piece| match &piece.what {
            What::Message(_, message) => Some(message),
            _ => None,
        });
        self.outcome.start = first.is_some_and(|message| message.method() == Some("initialize"));
        header.start = (!self.outcome.start).then_some(false);
        sink.header(&header).map_err(ImportError::Write)
    }

    fn put(&mut self, piece: Piece, sink: &mut dyn Sink) -> Result<(), ImportError> {
        let at = self.clock.at(piece.time);
        let (from, body) = match piece.what {
            What::Message(text, message) => {
                let sender = self.sides.sender(piece.mark, &message);
                if !sender.sure {
                    self.outcome.guessed.add(piece.line);
                }
                match sender.party {
                    Party::Client => self.outcome.client += 1,
                    _ => self.outcome.agent += 1,
                }
                (sender.party, Body::of_line(text.into_bytes(), false))
            }
            What::Wire(text) => match piece.mark.and_then(|mark| self.sides.marked(mark)) {
                Some(party) => (party, Body::of_line(text.into_bytes(), false)),
                None => self.other(piece.line, text),
            },
            What::Other(text) if text.trim().is_empty() => return Ok(()),
            What::Other(text) if piece.mark == Some(Mark::Stderr) => {
                (Party::Agent, Body::Stderr(text.into_bytes()))
            }
            What::Other(text) => self.other(piece.line, text),
        };
        sink.event(Event::new(at, from, body))
            .map_err(ImportError::Write)
    }

    fn other(&mut self, line: u64, text: String) -> (Party, Body) {
        self.outcome.other.add(line);
        (Party::Agent, Body::Stderr(text.into_bytes()))
    }
}

/// A line, or the lines that one JSON value is spread over.
struct Next {
    /// The number of the first line.
    line: u64,
    lines: u64,
    text: String,
}

struct Lines<'a> {
    input: &'a mut dyn BufRead,
    line: u64,
    waiting: Vec<(u64, String)>,
}

impl<'a> Lines<'a> {
    fn new(input: &'a mut dyn BufRead) -> Self {
        Self {
            input,
            line: 0,
            waiting: Vec::new(),
        }
    }

    fn read(&mut self) -> Result<Option<(u64, String)>, ImportError> {
        if let Some(waiting) = self.waiting.pop() {
            return Ok(Some(waiting));
        }
        let mut bytes = Vec::new();
        let read = self
            .input
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
            .map_err(ImportError::Read)?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end_matches(['\n', '\r']);
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ok(Some((self.line, text.to_owned())))
    }

    /// The next line; where it only opens a JSON value, with the lines up to its end.
    fn next(&mut self) -> Result<Option<Next>, ImportError> {
        let Some((line, text)) = self.read()? else {
            return Ok(None);
        };
        if !opens(&text) {
            return Ok(Some(Next {
                line,
                lines: 1,
                text,
            }));
        }
        let mut balance = Balance::default();
        let mut whole = text.clone();
        let mut more = Vec::new();
        let start = text.find(['{', '[']).unwrap_or(0);
        let mut closed = balance.take(text.get(start..).unwrap_or_default());
        while !closed && whole.len() < SPREAD {
            let Some((number, next)) = self.read()? else {
                break;
            };
            closed = balance.take(&next);
            whole.push('\n');
            whole.push_str(&next);
            more.push((number, next));
        }
        let end = whole.get(start..).unwrap_or_default();
        if closed && serde_json::from_str::<&RawValue>(end.trim()).is_ok() {
            let joined = format!("{}{}", whole.get(..start).unwrap_or_default(), end);
            let is_array = end.trim_start().starts_with('[');
            return Ok(Some(Next {
                line,
                lines: more.len() as u64 + 1,
                text: if is_array {
                    joined
                } else {
                    on_one_line(&joined)
                },
            }));
        }
        // It was no JSON: the lines are taken one by one after all.
        more.reverse();
        self.waiting.extend(more);
        Ok(Some(Next {
            line,
            lines: 1,
            text,
        }))
    }
}

/// Whether a line ends with the bracket that opens a JSON value, as indented JSON begins.
fn opens(text: &str) -> bool {
    let text = text.trim_end();
    (text.ends_with('{') || text == "[") && text.matches(['{', '[']).count() == 1
}
