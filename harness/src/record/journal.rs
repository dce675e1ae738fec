//! The thread that makes events of what passed and writes them down.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use super::place::Place;
use super::queue::{Batch, Entry, Queue, Seen, Stream, Taken};
use super::shape::Shape;
use crate::agent::{CUT_LINE, LINE_BOUND, STDERR_BOUND};
use crate::redact::{Options, Redactor};
use crate::trace::{Body, Event, Header, Party};
use crate::wire::{LineSplitter, Piece};

/// How much is written at once.
const WRITE: usize = 256 << 10;

/// What is recorded, and where.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) place: Place,
    /// The name of the agent's program, as part of a file's name.
    pub(super) agent: String,
    /// When the recording began, as part of a file's name.
    pub(super) time: String,
    pub(super) header: Header,
    /// How secrets are replaced; `None`: they are not.
    pub(super) redaction: Option<Options>,
    /// When the recording began.
    pub(super) began: Instant,
    /// Tells where the recording is kept.
    pub(super) verbose: bool,
}

impl Journal {
    /// Writes what comes through the queue until it ends or cannot be written, and says on stderr why it could not.
    pub(super) fn keep(self, queue: &Queue) {
        if let Err(why) = self.write(queue)
            && queue.is_first_to_say()
        {
            say(&why);
        }
        queue.end();
    }

    fn write(mut self, queue: &Queue) -> Result<(), String> {
        let mut redactor = match self.redaction.take().map(Redactor::new).transpose() {
            Ok(redactor) => redactor,
            Err(error) => return Err(format!("{error}: nothing is recorded")),
        };
        if let Some(redactor) = &mut redactor {
            redactor.header(&mut self.header);
        }
        let header = serde_json::to_string(&self.header).map_err(|error| error.to_string())?;
        let opened = self
            .place
            .open(&self.agent, &self.time, &format!("{header}\n"))
            .map_err(|(path, error)| {
                format!(
                    "`{}` cannot be written ({error}): nothing is recorded",
                    path.display()
                )
            })?;
        if self.verbose {
            note(&format!("recording into `{}`", opened.path.display()));
        }
        let mut out = Out {
            file: opened.file,
            path: opened.path,
            buffer: Vec::with_capacity(WRITE),
            whole: header.len() as u64 + 1,
            began: self.began,
            redactor,
            events: Vec::new(),
        };
        let mut lines = Lines::new(self.began);
        let mut batch = Batch::default();
        loop {
            match queue.take(&mut batch, out.patience()) {
                Taken::Batch => {}
                Taken::Nothing => {
                    out.release()?;
                    continue;
                }
                Taken::End => break,
            }
            let mut bytes = batch.bytes.as_slice();
            for entry in batch.entries.drain(..) {
                let length = match entry.seen {
                    Seen::Bytes(_, length) => length,
                    _ => 0,
                };
                let (own, rest) = bytes.split_at_checked(length).unwrap_or((bytes, b""));
                bytes = rest;
                lines.take(entry, own, |event| out.append(event))?;
                queue.gets_on();
            }
            out.flush()?;
        }
        lines.finish(|event| out.append(event))?;
        out.finish()?;
        if queue.has_refused() {
            let why = "the disk does not keep up with the traffic";
            ended(self.began, why).write_line(&mut out.buffer);
            out.flush()?;
            return Err(format!(
                "{why}: the recording in `{}` ends here",
                out.path.display()
            ));
        }
        Ok(())
    }
}

/// Says that a recording ends before the agent does.
fn ended(began: Instant, why: &str) -> Event {
    let at = began.elapsed().as_secs_f64();
    Event::new(at, Party::Harness, Body::Other(json!({ "ended": why })))
}

/// What goes to the file.
struct Out {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    /// How far the file is whole: header and lines that were written to their end.
    whole: u64,
    began: Instant,
    redactor: Option<Redactor>,
    /// What came out of the redactor; empty between calls.
    events: Vec<Event>,
}

impl Out {
    fn append(&mut self, event: Event) -> Result<(), String> {
        match &mut self.redactor {
            Some(redactor) => redactor.push(event, &mut self.events),
            None => self.events.push(event),
        }
        self.put()
    }

    /// How long there is nothing to do if nothing comes; `None`: for ever.
    fn patience(&self) -> Option<Duration> {
        let since = self.redactor.as_ref()?.waits_since()?;
        let left = since + Redactor::patience() - self.began.elapsed().as_secs_f64();
        // A little more, so that the time has really come.
        Some(Duration::from_secs_f64(left.max(0.0)) + Duration::from_millis(1))
    }

    /// Writes what has waited for long enough.
    fn release(&mut self) -> Result<(), String> {
        let now = self.began.elapsed().as_secs_f64();
        if let Some(redactor) = &mut self.redactor {
            redactor.release(now, &mut self.events);
        }
        self.put()?;
        self.flush()
    }

    /// Writes all that waits.
    fn finish(&mut self) -> Result<(), String> {
        if let Some(redactor) = &mut self.redactor {
            redactor.finish(&mut self.events);
        }
        self.put()?;
        self.flush()
    }

    fn put(&mut self) -> Result<(), String> {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            event.write_line(&mut self.buffer);
            if self.buffer.len() >= WRITE {
                self.flush()?;
            }
        }
        self.events = events;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), String> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.file.write_all(&self.buffer) {
            self.give_up(&error.to_string());
            return Err(format!(
                "`{}` cannot be written any more ({error}): the recording ends here",
                self.path.display()
            ));
        }
        self.whole += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Takes back what was written in part, and says in the file that it ends, where there is room for that.
    fn give_up(&mut self, why: &str) {
        let mut line = Vec::new();
        ended(self.began, why).write_line(&mut line);
        let _ = self
            .file
            .set_len(self.whole)
            .and_then(|()| self.file.seek(SeekFrom::Start(self.whole)))
            .and_then(|_| self.file.write_all(&line));
    }
}

/// Makes events of what passed.
struct Lines {
    began: Instant,
    stdin: LineSplitter,
    stdout: LineSplitter,
    stderr: LineSplitter,
    pieces: Vec<Piece>,
    /// The last message of the agent.
    shape: Shape,
}

impl Lines {
    fn new(began: Instant) -> Self {
        Self {
            began,
            stdin: LineSplitter::new(LINE_BOUND),
            stdout: LineSplitter::new(LINE_BOUND),
            stderr: LineSplitter::new(STDERR_BOUND),
            pieces: Vec::new(),
            shape: Shape::default(),
        }
    }

    fn take(
        &mut self,
        entry: Entry,
        bytes: &[u8],
        mut give: impl FnMut(Event) -> Result<(), String>,
    ) -> Result<(), String> {
        let at = entry.at.saturating_duration_since(self.began);
        match entry.seen {
            Seen::Bytes(stream, _) => {
                let mut pieces = std::mem::take(&mut self.pieces);
                self.splitter(stream)
                    .push(bytes, |piece| pieces.push(piece));
                for piece in pieces.drain(..) {
                    give_piece(at, stream, piece, &mut self.shape, &mut give)?;
                }
                self.pieces = pieces;
                Ok(())
            }
            Seen::Closed(stream) => {
                self.end(at, stream, &mut give)?;
                match stream {
                    Stream::Stdin => give(event(at, Party::Client, Body::Eof)),
                    Stream::Stdout => give(event(at, Party::Agent, Body::Eof)),
                    Stream::Stderr => Ok(()),
                }
            }
            Seen::Unread(stream) => {
                self.end(at, stream, &mut give)?;
                match stream {
                    Stream::Stdout => give(event(
                        at,
                        Party::Harness,
                        Body::Other(json!({ "closed": "client" })),
                    )),
                    // It goes with the agent's exit.
                    Stream::Stdin | Stream::Stderr => Ok(()),
                }
            }
            Seen::Left(stream) => {
                self.end(at, stream, &mut give)?;
                let why = match stream {
                    Stream::Stdin => return Ok(()),
                    Stream::Stdout => "stdout: the agent has exited, and the rest is not recorded",
                    Stream::Stderr => "stderr: the agent has exited, and the rest is not recorded",
                };
                give(event(
                    at,
                    Party::Harness,
                    Body::Other(json!({ "ended": why })),
                ))
            }
            Seen::Signal(signal) => give(event(at, Party::Harness, Body::Signal(signal))),
            Seen::Model(body) => give(event(at, Party::Model, *body)),
            Seen::Exit(exit) => {
                for stream in [Stream::Stdin, Stream::Stdout, Stream::Stderr] {
                    self.end(at, stream, &mut give)?;
                }
                give(event(at, Party::Agent, Body::Exit(exit)))
            }
        }
    }

    /// All streams end here.
    fn finish(&mut self, mut give: impl FnMut(Event) -> Result<(), String>) -> Result<(), String> {
        let at = self.began.elapsed();
        for stream in [Stream::Stdin, Stream::Stdout, Stream::Stderr] {
            self.end(at, stream, &mut give)?;
        }
        Ok(())
    }

    fn end(
        &mut self,
        at: Duration,
        stream: Stream,
        give: &mut impl FnMut(Event) -> Result<(), String>,
    ) -> Result<(), String> {
        match self.splitter(stream).finish() {
            Some(piece) => give_piece(at, stream, piece, &mut self.shape, give),
            None => Ok(()),
        }
    }

    fn splitter(&mut self, stream: Stream) -> &mut LineSplitter {
        match stream {
            Stream::Stdin => &mut self.stdin,
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

fn event(at: Duration, from: Party, body: Body) -> Event {
    Event::new(at.as_secs_f64(), from, body)
}

fn give_piece(
    at: Duration,
    stream: Stream,
    piece: Piece,
    shape: &mut Shape,
    give: &mut impl FnMut(Event) -> Result<(), String>,
) -> Result<(), String> {
    let from = match stream {
        Stream::Stdin => Party::Client,
        Stream::Stdout | Stream::Stderr => Party::Agent,
    };
    let body = match (stream, piece) {
        (Stream::Stderr, Piece::Line(bytes) | Piece::Partial(bytes) | Piece::TooLong(bytes)) => {
            Body::Stderr(bytes)
        }
        (Stream::Stdout, Piece::Line(bytes)) => shape.body(bytes),
        (Stream::Stdin, Piece::Line(bytes)) => Body::of_line(bytes, false),
        (_, Piece::Partial(bytes)) => Body::of_line(bytes, true),
        (_, Piece::TooLong(mut bytes)) => {
            let note = json!({ "cut": { "bound": LINE_BOUND, "kept": CUT_LINE } });
            give(event(at, Party::Harness, Body::Other(note)))?;
            bytes.truncate(CUT_LINE);
            bytes.shrink_to_fit();
            Body::Line {
                bytes,
                partial: false,
            }
        }
    };
    give(event(at, from, body))
}

/// Says on stderr that the recording failed.
pub(super) fn say(why: &str) {
    note(&format!("harness: {why}; the traffic goes on"));
}

/// Says a line on stderr; there is nobody to tell if that fails.
pub(super) fn note(line: &str) {
    let _ = std::io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}

/// Waits until the recording is written. Says so on stderr, once, if that does not get on.
pub(super) fn say_if_it_hangs(queue: &Queue) {
    if !queue.wait_until_done(processor_time) && queue.is_first_to_say() {
        say("the recording cannot be written: it ends here");
    }
}

/// The time that this process has had a processor for, in ticks of the system: once the agent has exited, only the writing side
/// still works. 0 where the system does not tell.
fn processor_time() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/stat") else {
        return 0;
    };
    // The name of the program, in brackets, may hold anything. The times are the 12th and 13th behind it.
    let behind = status.rsplit(')').next().unwrap_or_default();
    behind
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum()
}
