//! Takes events, and gives them back without secrets.

mod bare;
mod replacing;
mod stream;
mod template;

use std::collections::VecDeque;

use regex::bytes::Regex;
use serde_json::Value;
use thiserror::Error;

use self::stream::{
    BEGINS_A_TURN, ENDS_A_TURN, HAS_ESCAPES, HAS_PLACEHOLDERS, Stream, Turn, may_be_in_pieces,
    owner_of_exchange, owner_of_session,
};
use self::template::Template;
use super::escape::{Places, decoded};
use super::find::Finder;
use super::found::Mode;
use super::joined::{Joined, Source, Tools};
use super::key::Key;
use super::known::Known;
use super::name::{is_common, is_word};
use super::slots::{Edit, Slots, With, edit_event};
use super::walk::{Leaf, Names, leaves};
use crate::trace::{Body, Event, Exchange, ExchangePart, Header, Party};

/// How long an event may wait, in seconds of the trace.
const PATIENCE: f64 = 1.0;

/// How many texts in pieces are looked at at once.
const MOST_TEXTS: usize = 256;

/// How many turns are known to go on.
const MOST_TURNS: usize = 64;

/// The least length of a value that is replaced elsewhere too.
const LEAST: usize = 8;
/// The same for one whose name says that it is a secret, and which is found as a word of its own alone.
const SHORT: usize = 5;

/// How many JSON texts within JSON texts are looked into.
const DEPTH: usize = 3;

/// What is secret beyond what is known by its form and its place.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The home folder, in each way in which it is known.
    pub home: Vec<String>,
    /// Values that are secret, such as those of variables. What is shorter than eight bytes is left out.
    pub secrets: Vec<String>,
    /// Patterns of the user. All that they match is replaced; over the ends of chunks up to 256 bytes.
    pub patterns: Vec<Regex>,
}

/// Why there is no redaction.
#[derive(Debug, Error)]
#[error("the search for secrets cannot be set up: {0}")]
pub struct SetupError(#[from] aho_corasick::BuildError);

/// Replaces secrets in the events of one trace.
///
/// Events come out in the order in which they went in. Where an agent sends text in chunks, those that may hold the beginning
/// of a secret wait, and all that came after them: until the text goes on and decides it, until the turn ends, for a second
/// ([`release`](Self::release)), or until 4,096 events or 1 MiB wait. A secret that must be decided on before its end was seen is
/// replaced as far as it goes, and what goes on in the same way after it is taken out.
///
/// In a secret that was split, the placeholder stands in the chunk in which it begins, and the rest is taken out of the others.
#[derive(Clone, Debug)]
pub struct Redactor {
    known: Known,
    finder: Finder,
    slots: Slots,
    texts: Vec<Text>,
    /// The turns that go on: the number of the request, as it is written, and the session.
    turns: VecDeque<(Box<str>, u64)>,
    leaves: Vec<Leaf>,
    /// What the last message with a piece of text in it looks like, if nothing in it was suspicious.
    template: Option<Template>,
    /// The private keys that go on from event to event.
    keys: [Key; 3],
}

/// A text in pieces.
#[derive(Clone, Debug)]
struct Text {
    key: u64,
    /// The session, or the exchange with the model, that it belongs to.
    owner: u64,
    joined: Joined,
}

impl Redactor {
    /// A redactor for a trace that begins.
    ///
    /// # Errors
    /// Where the search cannot be set up, which happens with absurd amounts of values only.
    pub fn new(options: Options) -> Result<Self, SetupError> {
        let mut known = Known::default();
        for home in &options.home {
            let home = home.trim_end_matches('/');
            if home.len() > 2 {
                known.add_home(home.as_bytes());
            }
        }
        for secret in &options.secrets {
            let is_path = secret.starts_with('/') && is_common(secret.as_bytes());
            if secret.len() >= LEAST && !is_path && !is_word(secret.as_bytes()) {
                known.add_secret(secret.as_bytes());
            }
        }
        Ok(Self {
            finder: Finder::new(&known, options.patterns)?,
            known,
            slots: Slots::default(),
            texts: Vec::new(),
            turns: VecDeque::new(),
            leaves: Vec::new(),
            template: None,
            keys: [Key::default(); 3],
        })
    }

    /// Takes note that `{secret-NUMBER}` is in the trace already: new placeholders get higher numbers.
    pub fn note(&mut self, number: u64) {
        self.known.note(number);
    }

    /// Redacts the header: command, folder, and the texts of the workspace.
    pub fn header(&mut self, header: &mut Header) {
        let words = Value::from(header.command.clone()).to_string();
        if let Some(Value::Array(words)) = self
            .json_text(words.as_bytes())
            .and_then(|json| serde_json::from_slice(&json).ok())
        {
            header.command = words
                .iter()
                .filter_map(|word| word.as_str().map(ToOwned::to_owned))
                .collect();
        }
        for text in [&mut header.cwd, &mut header.about].into_iter().flatten() {
            self.plain_text(text);
        }
        for text in header.workspace.values_mut() {
            self.plain_text(text);
        }
        header.redacted = true;
    }

    /// Takes an event, and gives what waits no longer.
    pub fn push(&mut self, mut event: Event, out: &mut Vec<Event>) {
        self.release(event.at, out);
        match &mut event.body {
            Body::Message { .. } => return self.message(event, out),
            Body::Model(Exchange {
                part: ExchangePart::Chunk(_),
                ..
            }) => return self.chunk(event, out),
            Body::Model(Exchange {
                part: ExchangePart::Request { path, .. },
                ..
            }) => {
                let changed = self.plain_text(path);
                event.redacted |= changed;
                return self.whole(event, out);
            }
            Body::Line { .. }
            | Body::Stderr(_)
            | Body::Model(Exchange {
                part: ExchangePart::Bytes(_),
                ..
            }) => return self.whole(event, out),
            Body::Left(processes) => {
                for process in processes {
                    event.redacted |= self.plain_text(process);
                }
            }
            Body::Other(value) => {
                if let Some(json) = self.json_text(value.to_string().as_bytes())
                    && let Ok(changed) = serde_json::from_slice(&json)
                {
                    *value = changed;
                    event.redacted = true;
                }
            }
            Body::Model(Exchange {
                exchange,
                part: ExchangePart::End(_),
            }) => {
                let owner = owner_of_exchange(*exchange);
                self.decide(Mode::Ended, Some(owner));
            }
            Body::Eof | Body::Exit(_) => self.decide(Mode::Ended, None),
            Body::Model(_) | Body::Signal(_) | Body::Unanswered { .. } => {}
        }
        self.give(event, Vec::new(), out);
    }

    /// Since when the oldest event waits, in seconds of the trace; `None` where none does.
    pub fn waits_since(&self) -> Option<f64> {
        self.slots.since()
    }

    /// How long an event may wait, in seconds.
    pub const fn patience() -> f64 {
        PATIENCE
    }

    /// Gives the events that have waited for long enough at this time of the trace, and those behind them.
    pub fn release(&mut self, now: f64, out: &mut Vec<Event>) {
        if self
            .slots
            .since()
            .is_some_and(|since| now - since >= PATIENCE)
        {
            self.decide(Mode::Cut, None);
            self.slots.drain(&mut self.known, out);
        }
    }

    /// The trace ends: gives all that waits.
    pub fn finish(&mut self, out: &mut Vec<Event>) {
        self.decide(Mode::Ended, None);
        self.slots.drain(&mut self.known, out);
    }

    /// An event that need not wait itself.
    fn give(&mut self, mut event: Event, edits: Vec<Edit>, out: &mut Vec<Event>) {
        if self.slots.is_empty() {
            self.slots.pass();
            edit_event(&mut event, edits, &mut self.known);
            out.push(event);
        } else {
            self.slots.push(event, edits);
            self.drain(out);
        }
    }

    fn drain(&mut self, out: &mut Vec<Event>) {
        if self.slots.is_over_bound() {
            self.decide(Mode::Cut, None);
        }
        self.slots.drain(&mut self.known, out);
    }

    /// Decides on the texts of a session or an exchange, or on all.
    fn decide(&mut self, mode: Mode, owner: Option<u64>) {
        let is_meant = |text: &Text| owner.is_none_or(|owner| owner == text.owner);
        for text in self.texts.iter_mut().filter(|text| is_meant(text)) {
            text.joined.decide(
                mode,
                &mut Tools {
                    finder: &self.finder,
                    known: &self.known,
                    slots: &mut self.slots,
                },
            );
        }
        if mode == Mode::Ended {
            self.texts.retain(|text| !is_meant(text));
        }
    }

    /// Takes note of turns that begin and end, and ends the texts of a turn. Only what belongs to its session is ended by it:
    /// what another says meanwhile goes on.
    fn turn(&mut self, from: Party, raw: &[u8]) {
        let mark = match from {
            Party::Agent => &ENDS_A_TURN,
            Party::Client => &BEGINS_A_TURN,
            Party::Model | Party::Harness => return,
        };
        if mark.find(raw).is_none() {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Turn>(raw) else {
            return;
        };
        let Some(id) = message.id else {
            return;
        };
        let session = match (from, message.method.as_deref(), message.params) {
            (Party::Client, Some("session/prompt"), Some(params)) => params.session_id,
            (Party::Agent, None, _) => None,
            _ => return,
        };
        match session {
            Some(session) => {
                let owner = owner_of_session(session.as_bytes());
                let is_going_on = self.turns.iter().any(|(_, own)| *own == owner);
                if self.turns.len() >= MOST_TURNS {
                    self.turns.pop_front();
                }
                self.turns.push_back((id.get().into(), owner));
                if !is_going_on {
                    self.decide(Mode::Ended, Some(owner));
                }
            }
            None => {
                let at = self.turns.iter().position(|(own, _)| **own == *id.get());
                if let Some((_, owner)) = at.and_then(|at| self.turns.remove(at)) {
                    self.decide(Mode::Ended, Some(owner));
                }
            }
        }
    }

    /// A message: its strings by form and by place, and chunks of text as parts of what they make up.
    fn message(&mut self, event: Event, out: &mut Vec<Event>) {
        let Body::Message { text, .. } = &event.body else {
            return self.give(event, Vec::new(), out);
        };
        let is_agent = event.from == Party::Agent;
        if is_agent && let Some(template) = self.template.take() {
            let (key, owner) = (template.key, template.owner);
            let piece = template.piece(text).filter(|_| {
                let open = template.open(text);
                // A piece of a text that is not decided yet is looked through with it.
                match self.is_open(key) {
                    true => HAS_PLACEHOLDERS.find(open).is_none(),
                    false => !self.suspects(open),
                }
            });
            self.template = Some(template);
            if let Some(raw) = piece {
                let source = Source {
                    event: self.slots.push(event, Vec::new()),
                    raw,
                    is_escaped: true,
                };
                self.piece(key, owner, source, false, false);
                return self.drain(out);
            }
        }
        let suspect = self.suspects(text.as_bytes());
        let in_pieces = is_agent && may_be_in_pieces(text.as_bytes());
        self.turn(event.from, text.as_bytes());
        if !suspect && !in_pieces {
            return self.give(event, Vec::new(), out);
        }
        let mut found = std::mem::take(&mut self.leaves);
        let names = if suspect {
            Names::Heeded
        } else {
            Names::Ignored
        };
        leaves(text.as_bytes(), names, &mut found);
        let stream = if in_pieces {
            Stream::of(text.as_bytes(), &found)
        } else {
            Stream::default()
        };
        let mut edits = Vec::new();
        if suspect {
            self.places(text.as_bytes(), &found, &stream, DEPTH, &mut edits);
        }
        if stream.is_none() {
            self.leaves = found;
            return self.give(event, edits, out);
        }
        let mut pieces: Vec<_> = found
            .iter()
            .filter_map(|leaf| Some((stream.key(leaf)?, leaf.raw.clone())))
            .collect();
        if suspect && stream.call.is_some() {
            // A private key may have each line in an item of its own.
            let mut key = Key::default();
            pieces.retain(|(_, raw)| {
                let own = text.as_bytes().get(raw.clone()).unwrap_or_default();
                let said = decoded(own);
                let Some(range) = key.take(&said) else {
                    return true;
                };
                let (start, end) = Places::of(own).range(range.start, range.end);
                edits.push(Edit {
                    raw: raw.start + start..raw.start + end,
                    with: With::Secret(said.get(range).unwrap_or_default().to_vec()),
                });
                false
            });
        }
        self.leaves = found;
        if let ([(key, raw)], false, true) = (&pieces[..], suspect, stream.chunk.is_some()) {
            self.template = Template::of(text, raw, *key, stream.owner);
        }
        let number = self.slots.push(event, edits);
        for (key, raw) in pieces {
            let source = Source {
                event: number,
                raw,
                is_escaped: true,
            };
            self.piece(key, stream.owner, source, suspect, stream.repeats);
        }
        self.drain(out);
    }

    /// Whether something of a text is undecided.
    fn is_open(&self, key: u64) -> bool {
        let text = self.texts.iter().find(|text| text.key == key);
        text.is_some_and(|text| text.joined.is_undecided())
    }

    /// Adds a piece to the text that it belongs to.
    fn piece(&mut self, key: u64, owner: u64, source: Source, suspect: bool, repeats: bool) {
        let index = match self.texts.iter().position(|text| text.key == key) {
            Some(index) => index,
            None => {
                if self.texts.len() >= MOST_TEXTS {
                    self.texts.remove(0).joined.decide(
                        Mode::Cut,
                        &mut Tools {
                            finder: &self.finder,
                            known: &self.known,
                            slots: &mut self.slots,
                        },
                    );
                }
                self.texts.push(Text {
                    key,
                    owner,
                    joined: Joined::default(),
                });
                self.texts.len() - 1
            }
        };
        let Some(Text { joined: text, .. }) = self.texts.get_mut(index) else {
            return;
        };
        let Some(raw) = self
            .slots
            .text(source.event)
            .and_then(|text| text.get(source.raw.clone()))
        else {
            return;
        };
        let said = if source.is_escaped {
            decoded(raw).into_owned()
        } else {
            raw.to_vec()
        };
        let mut tools = Tools {
            finder: &self.finder,
            known: &self.known,
            slots: &mut self.slots,
        };
        if repeats && text.is_again(&said) {
            text.decide(Mode::Cut, &mut tools);
            *text = Joined::default();
        }
        text.add(&said, source, suspect, repeats, &mut tools);
        if repeats && !text.is_open() {
            self.texts.remove(index);
        }
    }

    /// Whether there is reason to look at what a raw line holds.
    fn suspects(&mut self, raw: &[u8]) -> bool {
        let known = &mut self.known;
        let found = self.finder.suspects(raw, |number| known.note(number));
        found || self.finder.has_patterns() || HAS_ESCAPES.find(raw).is_some()
    }
}

#[cfg(test)]
mod tests;
