//! Values that were minted while a conversation ran: each is known once, and found again in texts.

use foldhash::HashMap;

use super::needles::{Edges, Needles};
use crate::spec::Identifier;

/// From so many characters on a minted value is found inside longer text.
const FOUND_FROM: usize = 8;

/// What marks a secret that was redacted, before its number.
const SECRET: &str = "{secret-";

/// A minted value of one trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference(u32);

impl Reference {
    /// Its place in tables with an entry for each.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Within what a minted value is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// The whole connection.
    Connection,
    /// A session.
    Session(Reference),
}

/// What a minted value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Of(Identifier),
    /// A secret that was redacted.
    Secret,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Of(identifier) => identifier.word(),
            Self::Secret => "secret",
        }
    }
}

#[derive(Clone, Debug)]
struct Entry {
    kind: Kind,
    scope: Scope,
    number: u32,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment<'a> {
    /// Text that is no minted value.
    Text(&'a str),
    /// A minted value.
    Id(Reference),
}

/// All minted values of one trace.
#[derive(Clone, Debug, Default)]
pub struct Minted {
    entries: Vec<Entry>,
    by_value: HashMap<(Kind, Scope), HashMap<Box<str>, Reference>>,
    /// Values of any kind and scope, the first of its spelling.
    whole: HashMap<Box<str>, Reference>,
    long: Needles<Reference>,
    numbers: HashMap<(Kind, Scope), u32>,
}

impl Minted {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The value of this spelling, which is new or known.
    pub(crate) fn bind(&mut self, identifier: Identifier, scope: Scope, value: &str) -> Reference {
        let kind = Kind::Of(identifier);
        if let Some(known) = self.find(kind, scope, value) {
            return known;
        }
        let reference = self.push(kind, scope);
        self.by_value
            .entry((kind, scope))
            .or_default()
            .insert(value.into(), reference);
        if !self.whole.contains_key(value) {
            self.whole.insert(value.into(), reference);
            if value.chars().nth(FOUND_FROM - 1).is_some() && !value.starts_with('\0') {
                self.long.add(value, reference);
            }
        }
        reference
    }

    /// The value of this spelling, if it is known.
    pub(crate) fn known(
        &self,
        identifier: Identifier,
        scope: Scope,
        value: &str,
    ) -> Option<Reference> {
        self.find(Kind::Of(identifier), scope, value)
    }

    /// A value that is known by its place and not by its spelling: a request.
    pub(crate) fn request(&mut self) -> Reference {
        self.push(Kind::Of(Identifier::Request), Scope::Connection)
    }

    fn find(&self, kind: Kind, scope: Scope, value: &str) -> Option<Reference> {
        self.by_value.get(&(kind, scope))?.get(value).copied()
    }

    fn push(&mut self, kind: Kind, scope: Scope) -> Reference {
        let number = self.numbers.entry((kind, scope)).or_default();
        *number += 1;
        let reference = Reference(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.entries.push(Entry {
            kind,
            scope,
            number: *number,
        });
        reference
    }

    /// Makes the secrets that a text mentions known.
    pub(crate) fn learn_secrets(&mut self, text: &str) {
        for (start, _) in text.match_indices(SECRET) {
            let Some(rest) = text.get(start..) else {
                continue;
            };
            let digits = rest.get(SECRET.len()..).unwrap_or("");
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            if end == 0 || !digits.get(end..).is_some_and(|rest| rest.starts_with('}')) {
                continue;
            }
            let Some(spelled) = rest.get(..SECRET.len() + end + 1) else {
                continue;
            };
            if self
                .find(Kind::Secret, Scope::Connection, spelled)
                .is_none()
            {
                let reference = self.push(Kind::Secret, Scope::Connection);
                self.by_value
                    .entry((Kind::Secret, Scope::Connection))
                    .or_default()
                    .insert(spelled.into(), reference);
                self.long.add(spelled, reference);
            }
        }
    }

    /// What kind of value it is, as canonical form calls it.
    pub(crate) fn word(&self, reference: Reference) -> &'static str {
        self.entries
            .get(reference.index())
            .map_or("", |entry| entry.kind.word())
    }

    /// Its name in canonical form, such as `tool-1`.
    pub(crate) fn name(&self, reference: Reference) -> String {
        let number = self
            .entries
            .get(reference.index())
            .map_or(0, |entry| entry.number);
        self.numbered(reference, number)
    }

    /// The value that a whole string is, whatever its length.
    pub(crate) fn whole(&self, text: &str) -> Option<Reference> {
        self.whole.get(text).copied()
    }

    /// The text with the names of the values that it mentions.
    pub(crate) fn named(&self, text: &str) -> String {
        self.named_with(text, &mut |reference| self.name(reference))
    }

    /// The text with the names that are given to the values that it mentions.
    pub(crate) fn named_with(
        &self,
        text: &str,
        name: &mut dyn FnMut(Reference) -> String,
    ) -> String {
        let mut out = String::with_capacity(text.len());
        for segment in self.segments(text) {
            match segment {
                Segment::Text(text) => out.push_str(text),
                Segment::Id(reference) => out.push_str(&name(reference)),
            }
        }
        out
    }

    /// The name of a value that is the `number`th of its kind.
    pub(crate) fn numbered(&self, reference: Reference, number: u32) -> String {
        let kind = self.entries.get(reference.index()).map(|entry| entry.kind);
        match kind {
            Some(Kind::Secret) => format!("{SECRET}{number}}}"),
            Some(kind) => format!("{}-{number}", kind.word()),
            None => String::new(),
        }
    }

    /// Within what a value is numbered: its kind and scope.
    pub(crate) fn series(&self, reference: Reference) -> Option<(&'static str, Scope)> {
        let entry = self.entries.get(reference.index())?;
        Some((entry.kind.word(), entry.scope))
    }

    /// The text in parts.
    pub(crate) fn segments<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Segment<'t>> + 't {
        let mut rest = text;
        let mut found: Option<(usize, Reference)> = None;
        std::iter::from_fn(move || {
            if let Some((length, reference)) = found.take() {
                rest = rest.get(length..).unwrap_or("");
                return Some(Segment::Id(reference));
            }
            if rest.is_empty() {
                return None;
            }
            match self.long.find(text, text.len() - rest.len(), Edges::Word) {
                Some((start, length, reference)) => {
                    let start = start - (text.len() - rest.len());
                    if start == 0 {
                        rest = rest.get(length..).unwrap_or("");
                        return Some(Segment::Id(reference));
                    }
                    let before = rest.get(..start).unwrap_or("");
                    rest = rest.get(start..).unwrap_or("");
                    found = Some((length, reference));
                    Some(Segment::Text(before))
                }
                None => Some(Segment::Text(std::mem::take(&mut rest))),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_found_inside_text_and_a_short_one_is_not() {
        let mut minted = Minted::new();
        minted.bind(Identifier::Session, Scope::Connection, "bob-123-1");
        minted.bind(Identifier::ToolCall, Scope::Connection, "call");
        assert_eq!(
            minted.named("call bob-123-1, not bob-123-12 nor abob-123-1: bob-123-1"),
            "call session-1, not bob-123-12 nor abob-123-1: session-1"
        );
        assert!(minted.whole("call").is_some());
    }

    #[test]
    fn values_are_numbered_in_their_scope() {
        let mut minted = Minted::new();
        let session = |minted: &mut Minted, value| {
            Scope::Session(minted.bind(Identifier::Session, Scope::Connection, value))
        };
        let (one, two) = (session(&mut minted, "a"), session(&mut minted, "b"));
        for (scope, value, name) in [
            (one, "x", "tool-1"),
            (two, "x", "tool-1"),
            (one, "y", "tool-2"),
            (one, "x", "tool-1"),
        ] {
            let reference = minted.bind(Identifier::ToolCall, scope, value);
            assert_eq!(minted.name(reference), name);
        }
    }

    #[test]
    fn secrets_are_known_by_their_placeholder() {
        let mut minted = Minted::new();
        let text = "a {secret-7} b {secret-2} {secret-x} {secret-7}";
        minted.learn_secrets(text);
        assert_eq!(
            minted.named(text),
            "a {secret-1} b {secret-2} {secret-x} {secret-1}"
        );
    }
}
