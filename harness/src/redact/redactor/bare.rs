//! Events that are no messages: pieces of a model's reply, lines of another kind, stderr.

use serde_json::value::RawValue;

use super::stream::{Stream, hash, owner_of_exchange};
use super::{DEPTH, Redactor};
use crate::redact::found::Mode;
use crate::redact::joined::Source;
use crate::redact::slots::{Edit, With};
use crate::redact::walk::{Names, leaves};
use crate::trace::{Body, Event, Exchange, ExchangePart, Party};

impl Redactor {
    /// A piece of a model's reply: events of a stream with JSON in them, or whatever else.
    pub(super) fn chunk(&mut self, event: Event, out: &mut Vec<Event>) {
        let Body::Model(Exchange {
            exchange,
            part: ExchangePart::Chunk(text),
        }) = &event.body
        else {
            return self.give(event, Vec::new(), out);
        };
        let exchange = *exchange;
        let suspect = self.suspects(text.as_bytes());
        let mut edits = Vec::new();
        let mut pieces = Vec::new();
        match payloads(text) {
            Some(payloads) => {
                let mut found = std::mem::take(&mut self.leaves);
                for (at, json) in payloads {
                    leaves(json.as_bytes(), Names::Heeded, &mut found);
                    let from = edits.len();
                    if suspect {
                        let stream = Stream {
                            flows: Some(exchange),
                            ..Stream::default()
                        };
                        self.places(json.as_bytes(), &found, &stream, DEPTH, &mut edits);
                    }
                    for edit in edits.iter_mut().skip(from) {
                        edit.raw = edit.raw.start + at..edit.raw.end + at;
                    }
                    pieces.extend(
                        found
                            .iter()
                            .filter(|leaf| leaf.flows && (!leaf.secret || leaf.perhaps))
                            .map(|leaf| {
                                let raw = leaf.raw.start + at..leaf.raw.end + at;
                                (
                                    hash(&[&exchange.to_le_bytes(), &leaf.path.to_le_bytes()]),
                                    raw,
                                    true,
                                )
                            }),
                    );
                }
                self.leaves = found;
            }
            None => pieces.push((
                hash(&[&exchange.to_le_bytes(), b"raw"]),
                0..text.len(),
                false,
            )),
        }
        let number = self.slots.push(event, edits);
        for (key, raw, is_escaped) in pieces {
            let source = Source {
                event: number,
                raw,
                is_escaped,
            };
            self.piece(key, owner_of_exchange(exchange), source, suspect, false);
        }
        self.drain(out);
    }

    /// An event whose text stands for itself: JSON where it is JSON, and text as it is otherwise.
    pub(super) fn whole(&mut self, event: Event, out: &mut Vec<Event>) {
        let bytes = match &event.body {
            Body::Line { bytes, .. }
            | Body::Stderr(bytes)
            | Body::Model(Exchange {
                part: ExchangePart::Bytes(bytes),
                ..
            }) => bytes.as_slice(),
            Body::Model(Exchange {
                part: ExchangePart::Request { body, .. },
                ..
            }) => body.as_bytes(),
            _ => b"",
        };
        let mut edits = Vec::new();
        let key = match (&event.body, event.from) {
            (Body::Stderr(_), _) => 0,
            (_, Party::Agent) => 1,
            _ => 2,
        };
        let is_line = matches!(event.body, Body::Line { .. } | Body::Stderr(_));
        let within = self
            .keys
            .get_mut(key)
            .filter(|_| is_line)
            .and_then(|key| key.take(bytes));
        if let Some(range) = within {
            edits.push(Edit {
                raw: range.clone(),
                with: With::Secret(bytes.get(range).unwrap_or_default().to_vec()),
            });
        } else if self.suspects(bytes) {
            self.text(bytes, DEPTH, Mode::Cut, &mut edits);
        }
        self.give(event, edits, out);
    }
}

/// The JSON object or array that a text consists of.
pub(super) fn json_within(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let is_one = matches!(text, [b'{', .., b'}'] | [b'[', .., b']']);
    (is_one && serde_json::from_slice::<&RawValue>(text).is_ok()).then_some(text)
}

/// The JSON texts in the events of a stream, with their places; `None` where the text is not all of such events.
fn payloads(text: &str) -> Option<Vec<(usize, &str)>> {
    if let Some(json) = json_within(text.as_bytes()) {
        let at = text.len() - text.trim_ascii_start().len();
        return Some(vec![(at, text.get(at..at + json.len())?)]);
    }
    if !text.ends_with('\n') {
        return None;
    }
    let mut payloads = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let own = line.trim_end();
        if let Some(data) = own.strip_prefix("data:") {
            let json = data.trim_start();
            if json_within(json.as_bytes()).is_some() {
                payloads.push((at + own.len() - json.len(), json));
            } else if json != "[DONE]" {
                return None;
            }
        } else if !own.is_empty() && !own.starts_with("event:") && !own.starts_with(':') {
            return None;
        }
        at += line.len();
    }
    Some(payloads)
}
