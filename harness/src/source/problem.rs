//! What is wrong at one place of a file.

use std::fmt;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A place in a file, both counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// One error in a file. Shown, it is several lines: place and message, the line with a caret, and the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(Box<Details>);

/// The parts of a [`Problem`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// The file's name.
    pub file: String,
    /// Where it is.
    pub position: Position,
    /// The line (or the part of a long one around the place), without control characters.
    pub line: String,
    /// Characters of `line` before the marked part.
    pub caret: usize,
    /// Characters that are marked, at least 1.
    pub width: usize,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What is allowed there or what to do, a line each.
    pub help: Vec<String>,
}

impl Problem {
    /// A problem of these parts.
    #[must_use]
    pub fn new(details: Details) -> Self {
        Self(Box::new(details))
    }

    /// Its parts.
    #[must_use]
    pub fn details(&self) -> &Details {
        &self.0
    }

    /// The same problem with one more line of help.
    #[must_use]
    pub fn help(mut self, line: impl Into<String>) -> Self {
        self.0.help.push(line.into());
        self
    }

    /// The same problem, with a guess at what was meant if one of `allowed` is near.
    #[must_use]
    pub fn guess<'a>(self, written: &str, allowed: impl IntoIterator<Item = &'a str>) -> Self {
        match super::nearest(written, allowed) {
            Some(name) => {
                let line = format!("did you mean `{name}`?");
                self.help(line)
            }
            None => self,
        }
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = self.details();
        let number = details.position.line.to_string();
        let margin = " ".repeat(number.len());
        // A tab stays a tab before the caret, so that the two lines keep in step whatever the terminal makes of it.
        let indent: String = details
            .line
            .chars()
            .take(details.caret)
            .map(|c| {
                if c == '\t' {
                    "\t".to_owned()
                } else {
                    " ".repeat(c.width().unwrap_or(1))
                }
            })
            .collect();
        let marked: String = details
            .line
            .chars()
            .skip(details.caret)
            .take(details.width)
            .collect();
        let carets = "^".repeat(marked.width().max(1));
        writeln!(
            f,
            "{}:{}:{}: {}",
            details.file, details.position.line, details.position.column, details.message
        )?;
        writeln!(f, " {margin} |")?;
        writeln!(f, " {number} | {}", details.line)?;
        write!(f, " {margin} | {indent}{carets}")?;
        for line in &details.help {
            write!(f, "\n {margin} = {line}")?;
        }
        Ok(())
    }
}
