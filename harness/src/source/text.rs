//! The text of a file, with places in it.

use std::ops::Range;

use super::{Details, Position, Problem};

/// The longest part of a line that an error shows, in characters.
const SHOWN: usize = 160;

/// A file's name, as messages call it, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path, as the user gave it or as it stands in the repository.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A source from its name and text.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }

    /// Line and column of a byte offset. An offset beyond the end means the end; one inside a character, that character.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let before = self.before(offset);
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        Position { line, column }
    }

    /// The problem `message` at a span of bytes, with the line it stands on.
    #[must_use]
    pub fn problem(&self, span: &Range<usize>, message: impl Into<String>) -> Problem {
        let position = self.position(span.start);
        let start = self
            .before(span.start)
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let rest = self.text.get(start..).unwrap_or_default();
        let line = rest
            .split('\n')
            .next()
            .unwrap_or_default()
            .trim_end_matches('\r');
        let marked = self.text.get(span.clone()).unwrap_or_default();
        let width = marked
            .split('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            .max(1);
        let skipped = position.column.saturating_sub(SHOWN / 2);
        let shown: String = line
            .chars()
            .skip(skipped)
            .take(SHOWN)
            .map(|c| {
                if c.is_control() && c != '\t' {
                    '\u{fffd}'
                } else {
                    c
                }
            })
            .collect();
        Problem::new(Details {
            file: self.name.clone(),
            position,
            line: shown,
            caret: position.column.saturating_sub(skipped + 1),
            width,
            message: message.into(),
            help: Vec::new(),
        })
    }

    fn before(&self, offset: usize) -> &str {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        self.text.get(..end).unwrap_or_default()
    }
}
