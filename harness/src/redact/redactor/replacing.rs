//! Finds what is secret in a text, or at a place of a JSON text, and says what stands there instead.

use super::bare::json_within;
use super::stream::Stream;
use super::{DEPTH, LEAST, Redactor, SHORT};
use crate::redact::escape::{Places, decoded};
use crate::redact::form::is_random;
use crate::redact::found::Mode;
use crate::redact::joined::replacement;
use crate::redact::key::Key;
use crate::redact::known::StandsFor;
use crate::redact::name::{is_common, is_no_secret, is_secret, is_word, looks_secret};
use crate::redact::slots::{Edit, With, edited};
use crate::redact::walk::{Leaf, Names, Place, What, leaves};

impl Redactor {
    /// A text that stands alone. Returns whether it was changed.
    pub(super) fn plain_text(&mut self, text: &mut String) -> bool {
        if !self.suspects(text.as_bytes()) {
            return false;
        }
        let mut edits = Vec::new();
        self.text(text.as_bytes(), DEPTH, Mode::Ended, &mut edits);
        if edits.is_empty() {
            return false;
        }
        let changed = edited(text.as_bytes(), edits, &mut self.known);
        *text = String::from_utf8_lossy(&changed).into_owned();
        true
    }

    /// A JSON text that stands alone; `None` where nothing is to be replaced.
    pub(super) fn json_text(&mut self, json: &[u8]) -> Option<Vec<u8>> {
        let mut edits = Vec::new();
        self.text(json, DEPTH, Mode::Ended, &mut edits);
        (!edits.is_empty()).then(|| edited(json, edits, &mut self.known))
    }

    /// The edits for a text that may be JSON.
    pub(super) fn text(&mut self, text: &[u8], depth: usize, mode: Mode, edits: &mut Vec<Edit>) {
        if let Some(json) = json_within(text).filter(|_| depth > 0) {
            let mut found = Vec::new();
            leaves(json, Names::Heeded, &mut found);
            self.places(json, &found, &Stream::default(), depth - 1, edits);
            let at = text.len() - text.trim_ascii_start().len();
            for edit in edits {
                edit.raw = edit.raw.start + at..edit.raw.end + at;
            }
            return;
        }
        let mut found = self.finder.find(text, mode, &self.known);
        let mut has_learnt = false;
        for span in found.spans.iter().filter(|span| span.body.is_some()) {
            let own = text.get(span.start..span.end).unwrap_or_default();
            if own.len() >= LEAST && is_random(own) && !is_word(own) {
                has_learnt |= self.known.add_secret(&decoded(own));
            }
        }
        if has_learnt {
            self.take_in();
            // It may stand here once more, in other surroundings.
            found = self.finder.find(text, mode, &self.known);
        }
        edits.extend(found.spans.iter().map(|span| Edit {
            raw: span.start..span.end,
            with: replacement(span, text),
        }));
    }

    /// The edits for the leaves of a JSON text, but for those that are pieces of a longer text.
    pub(super) fn places(
        &mut self,
        json: &[u8],
        found: &[Leaf],
        stream: &Stream,
        depth: usize,
        edits: &mut Vec<Edit>,
    ) {
        // A private key may have each line in a string of its own.
        let mut key = Key::default();
        for leaf in found {
            let raw = json.get(leaf.raw.clone()).unwrap_or_default();
            match leaf.what {
                What::Number if leaf.secret => edits.push(Edit {
                    raw: leaf.raw.clone(),
                    with: With::Quoted(raw.to_vec()),
                }),
                What::Number => {
                    let found = self.finder.find(raw, Mode::Ended, &self.known);
                    if let Some(StandsFor::Secret(secret)) =
                        found.spans.first().and_then(|span| span.stands_for.clone())
                    {
                        edits.push(Edit {
                            raw: leaf.raw.clone(),
                            with: With::Quoted(secret),
                        });
                    }
                }
                What::Text
                    if leaf.secret && (!leaf.perhaps || looks_secret(&decoded(raw), LEAST)) =>
                {
                    self.secret(raw, leaf, edits);
                }
                What::Text if stream.key(leaf).is_some() => {}
                What::Text | What::Name => {
                    let said = decoded(raw);
                    if leaf.what == What::Text
                        && let Some(range) = key.take(&said)
                    {
                        let (start, end) = Places::of(raw).range(range.start, range.end);
                        edits.push(Edit {
                            raw: leaf.raw.start + start..leaf.raw.start + end,
                            with: With::Secret(said.get(range).unwrap_or_default().to_vec()),
                        });
                        continue;
                    }
                    let mut own = Vec::new();
                    let mode = if stream.repeats || leaf.place == Place::Output {
                        Mode::Cut
                    } else {
                        Mode::Ended
                    };
                    let depth = if leaf.what == What::Text { depth } else { 0 };
                    self.text(&said, depth, mode, &mut own);
                    own.sort_by_key(|edit| edit.raw.start);
                    let mut places = Places::of(raw);
                    edits.extend(own.into_iter().map(|edit| {
                        let (start, end) = places.range(edit.raw.start, edit.raw.end);
                        Edit {
                            raw: leaf.raw.start + start..leaf.raw.start + end,
                            with: edit.with,
                        }
                    }));
                }
            }
        }
    }

    /// A value that is a secret by its place.
    pub(super) fn secret(&mut self, raw: &[u8], leaf: &Leaf, edits: &mut Vec<Edit>) {
        let said = decoded(raw);
        if is_no_secret(&said) {
            return;
        }
        // `Bearer` and the like are no secret, and what follows is the secret that turns up elsewhere.
        let scheme = scheme(&said);
        let own = said.get(scheme..).unwrap_or_default();
        let (start, end) = Places::of(raw).range(scheme, said.len());
        edits.push(Edit {
            raw: leaf.raw.start + start..leaf.raw.start + end,
            with: With::Secret(own.to_vec()),
        });
        let is_a_word = is_secret(own) || is_word(own) || is_common(own) && !leaf.named;
        let is_short = leaf.named && own.len() >= SHORT && is_mixed(own);
        if (own.len() >= LEAST || is_short) && !is_a_word {
            self.learn(own);
        }
    }

    /// A secret that is replaced elsewhere too from now on.
    pub(super) fn learn(&mut self, secret: &[u8]) {
        if self.known.add_secret(secret) {
            self.take_in();
        }
    }

    pub(super) fn take_in(&mut self) {
        // It may stand in what the template has around the piece.
        self.template = None;
        // If that were to fail, what was known before is still found.
        let _ = self.finder.learn(&self.known);
    }
}

/// Whether there are letters and digits in it.
fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// How long the word for the scheme of an authorization is, with the space after it.
fn scheme(value: &[u8]) -> usize {
    ["bearer ", "basic ", "token ", "digest ", "bot "]
        .iter()
        .find(|word| {
            value
                .get(..word.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        })
        .map_or(0, |word| word.len())
}
