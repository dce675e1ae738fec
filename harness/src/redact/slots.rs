//! Events in order, of which some wait until it is decided what is secret in them.

use std::collections::VecDeque;
use std::ops::Range;

use super::known::Known;
use crate::trace::{Body, Event, Exchange, ExchangePart};

/// How many events may wait.
const MOST_EVENTS: usize = 4_096;

/// How many bytes these may have.
const MOST_BYTES: usize = 1 << 20;

/// A part of an event's text, and what comes in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) raw: Range<usize>,
    pub(super) with: With,
}

/// What comes in the place of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum With {
    /// Nothing: what stands for it is in an event before.
    Nothing,
    /// The placeholder of the home folder.
    Home,
    /// The placeholder of this secret. It gets its number when the event goes out, so that numbers rise within a trace.
    Secret(Vec<u8>),
    /// The same as a JSON string.
    Quoted(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Slot {
    event: Event,
    edits: Vec<Edit>,
    /// How many texts may have the beginning of a secret in it.
    holds: u32,
}

/// Events that wait, oldest first. Each has a number that stays its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    slots: VecDeque<Slot>,
    /// The number of the oldest.
    first: u64,
    bytes: usize,
}

impl Slots {
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes an event in and gives its number.
    pub(super) fn push(&mut self, event: Event, edits: Vec<Edit>) -> u64 {
        self.bytes += text_of(&event.body).len();
        self.slots.push_back(Slot {
            event,
            edits,
            holds: 0,
        });
        self.first + self.slots.len() as u64 - 1
    }

    /// Counts an event that passes by: nothing waits, and it need not wait either.
    pub(super) fn pass(&mut self) {
        self.first += 1;
    }

    /// The text of an event in which secrets are replaced; `None` where the event has gone.
    pub(super) fn text(&self, number: u64) -> Option<&[u8]> {
        let slot = self.slots.get(self.index(number)?)?;
        Some(text_of(&slot.event.body))
    }

    pub(super) fn edit(&mut self, number: u64, edit: Edit) {
        if let Some(slot) = self
            .index(number)
            .and_then(|index| self.slots.get_mut(index))
        {
            slot.edits.push(edit);
        }
    }

    pub(super) fn hold(&mut self, number: u64) {
        if let Some(slot) = self
            .index(number)
            .and_then(|index| self.slots.get_mut(index))
        {
            slot.holds += 1;
        }
    }

    pub(super) fn let_go(&mut self, number: u64) {
        if let Some(slot) = self
            .index(number)
            .and_then(|index| self.slots.get_mut(index))
        {
            slot.holds = slot.holds.saturating_sub(1);
        }
    }

    /// When the oldest of them was seen.
    pub(super) fn since(&self) -> Option<f64> {
        self.slots.front().map(|slot| slot.event.at)
    }

    /// Whether more wait than should.
    pub(super) fn is_over_bound(&self) -> bool {
        self.slots.len() > MOST_EVENTS || self.bytes > MOST_BYTES
    }

    /// Gives all that wait for nothing any more, and for nothing before them.
    pub(super) fn drain(&mut self, known: &mut Known, out: &mut Vec<Event>) {
        while let Some(slot) = self.slots.pop_front_if(|slot| slot.holds == 0) {
            self.first += 1;
            self.bytes -= text_of(&slot.event.body).len();
            let mut event = slot.event;
            edit_event(&mut event, slot.edits, known);
            out.push(event);
        }
    }

    fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }
}

/// Replaces parts of an event's text.
pub(super) fn edit_event(event: &mut Event, edits: Vec<Edit>, known: &mut Known) {
    if edits.is_empty() {
        return;
    }
    let text = edited(text_of(&event.body), edits, known);
    set_text(&mut event.body, text);
    event.redacted = true;
}

/// A text with parts replaced.
pub(super) fn edited(text: &[u8], mut edits: Vec<Edit>, known: &mut Known) -> Vec<u8> {
    edits.sort_by_key(|edit| edit.raw.start);
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    for Edit { raw, with } in edits {
        if raw.start < done {
            continue;
        }
        out.extend_from_slice(text.get(done..raw.start).unwrap_or_default());
        match with {
            With::Nothing => {}
            With::Home => out.extend_from_slice(b"{home}"),
            With::Secret(secret) => out.extend_from_slice(known.placeholder(&secret).as_bytes()),
            With::Quoted(secret) => {
                out.extend_from_slice(format!("\"{}\"", known.placeholder(&secret)).as_bytes());
            }
        }
        done = raw.end;
    }
    out.extend_from_slice(text.get(done..).unwrap_or_default());
    out
}

/// The text of an event in which secrets are replaced.
fn text_of(body: &Body) -> &[u8] {
    match body {
        Body::Message { text, .. } => text.as_bytes(),
        Body::Line { bytes, .. } | Body::Stderr(bytes) => bytes,
        Body::Model(Exchange { part, .. }) => match part {
            ExchangePart::Request { body, .. } => body.as_bytes(),
            ExchangePart::Chunk(chunk) => chunk.as_bytes(),
            ExchangePart::Bytes(bytes) => bytes,
            ExchangePart::Status(_) | ExchangePart::Unreadable(_) | ExchangePart::End(_) => b"",
        },
        _ => b"",
    }
}

fn set_text(body: &mut Body, bytes: Vec<u8>) {
    // What was UTF-8 stays UTF-8, as characters are replaced whole.
    let as_text = |bytes: Vec<u8>| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    match body {
        Body::Message { text, .. } => *text = as_text(bytes),
        Body::Line { bytes: own, .. }
        | Body::Stderr(own)
        | Body::Model(Exchange {
            part: ExchangePart::Bytes(own),
            ..
        }) => *own = bytes,
        Body::Model(Exchange {
            part: ExchangePart::Request { body: own, .. } | ExchangePart::Chunk(own),
            ..
        }) => *own = as_text(bytes),
        _ => {}
    }
}
