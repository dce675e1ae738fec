//! One recording, judged from its first line to its last.

use std::io::{self, BufRead};

use serde_json::Value;

use super::ahead::{self, Item};
use crate::rules::{Judge, Judgement, Missing};
use crate::trace::{Body, Damage, Event, Header, Lines, Party, TraceReader};
use crate::wire::Reading;

/// How many damaged lines are kept; further ones are only counted.
pub const KEPT_DAMAGE: usize = 100;

/// What came of judging one recording. Bounded, however long the recording is.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its first line.
    pub header: Header,
    /// How many events could be read.
    pub events: u64,
    /// On which line each event stands.
    pub lines: Lines,
    /// The first lines that could not be read.
    pub damage: Vec<Damage>,
    /// How many lines could not be read.
    pub damaged: u64,
    /// The number of the last line, where it breaks off: the recorder was stopped while it wrote it.
    pub cut: Option<u64>,
    /// Why the recorder stopped before the agent did, where it says so.
    pub stopped: Option<String>,
    /// Whether the end of the agent, or of its stdout, is in it.
    pub ended: bool,
    /// The seconds that it spans.
    pub seconds: f64,
    /// The agent's last answer to `initialize`, if it is in it.
    pub handshake: Option<Value>,
    /// What is not in it, so that not everything could be judged.
    pub missing: Missing,
    /// What was found.
    pub judgement: Judgement,
}

/// Judges a recording from its first event to its last.
///
/// # Errors
/// What reading gave.
pub fn check(reader: TraceReader<impl BufRead + Send>) -> io::Result<Checked> {
    let header = reader.header().clone();
    let mut judge = Judge::of_recording(header.from_start());
    let mut lines = Lines::default();
    let (mut events, mut damaged) = (0, 0);
    let mut damage: Vec<Damage> = Vec::new();
    let mut cut = None;
    let mut ended = false;
    let mut stopped = None;
    let mut span = Span::default();
    let mut exited = false;
    ahead::read(reader, |item| match item {
        Item::Event {
            line,
            event,
            reading,
        } => {
            lines.event(events, *line);
            span.take(event);
            if exited && begins(event, reading.as_ref()) {
                judge.begins_anew(true);
                exited = false;
            }
            exited |= matches!(event.body, Body::Exit(_));
            ended |= is_end(event);
            if stopped.is_none() {
                stopped = why_stopped(event);
            }
            judge.see_read(event, reading.as_ref());
            events += 1;
        }
        Item::Header => {
            judge.begins_anew(true);
            exited = false;
        }
        Item::Damage {
            damage: found,
            cut: is_cut,
        } => {
            judge.skipped();
            damaged += 1;
            if *is_cut {
                cut = Some(found.line);
            }
            if damage.len() < KEPT_DAMAGE {
                damage.push(found.clone());
            }
        }
    })?;
    let (judgement, talk) = judge.finish();
    Ok(Checked {
        header,
        events,
        lines,
        damage,
        damaged,
        cut,
        stopped,
        ended,
        seconds: span.seconds(),
        missing: talk.missing(),
        handshake: talk.handshake.map(|handshake| handshake.result),
        judgement,
    })
}

fn is_end(event: &Event) -> bool {
    matches!(
        (&event.body, event.from),
        (Body::Exit(_), _) | (Body::Eof, Party::Agent)
    )
}

/// Whether a client begins a conversation here: after the agent's exit, that is one with another process.
fn begins(event: &Event, reading: Option<&Reading>) -> bool {
    let message = reading.and_then(Reading::message);
    event.from == Party::Client
        && message.and_then(|message| message.method()) == Some("initialize")
}

/// What a recorder says that could not go on.
fn why_stopped(event: &Event) -> Option<String> {
    match &event.body {
        Body::Other(value) if event.from == Party::Harness => {
            value.get("ended")?.as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// The first and the last time that events tell, in whatever order they come.
#[derive(Default)]
struct Span(Option<(f64, f64)>);

impl Span {
    fn take(&mut self, event: &Event) {
        let at = event.at;
        let (first, last) = self.0.unwrap_or((at, at));
        self.0 = Some((first.min(at), last.max(at)));
    }

    fn seconds(&self) -> f64 {
        self.0.map_or(0.0, |(first, last)| last - first)
    }
}
