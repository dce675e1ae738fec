//! A value that may be a secret: where it begins, and how far it goes.

use super::form::{Body, Runs};
use super::found::{Mode, Outcome};
use super::name::is_no_secret;

/// Where a value begins and what it consists of.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) body: Body,
    pub(super) from: usize,
    /// Where the sign of it stands.
    pub(super) sign: usize,
    pub(super) mode: Mode,
}

impl Value {
    /// The value that begins there and is as long as its bytes fit.
    pub(super) fn find(self, runs: &mut Runs<'_>, accept: impl Fn(&[u8]) -> bool) -> Outcome {
        let (mut own, is_open) = runs.run(self.body, self.from);
        let mut is_open = is_open && self.mode == Mode::Open;
        if !is_in_quotes(self.body)
            && let Some(escape) = runs.escape(self.from)
            && let Some(shorter) = own.get(..escape.saturating_sub(self.from))
        {
            own = shorter;
            is_open = false;
        }
        if is_open {
            return self.undecided();
        }
        if !is_in_quotes(self.body) {
            // `${NAME}`, `<name>` and `call(x)` are told with their brackets.
            let start = own.get(..START).unwrap_or(own);
            if is_no_secret(start) || !accept(start) {
                return Outcome::Nothing;
            }
            own = without_end(own);
        }
        self.outcome(own, accept)
    }

    /// The value up to the quote that closes it, which has so many backslashes before it.
    pub(super) fn find_in_quotes(
        self,
        runs: &mut Runs<'_>,
        slashes: usize,
        accept: impl Fn(&[u8]) -> bool,
    ) -> Outcome {
        let mut end = self.from;
        for _ in 0..INNER_QUOTES {
            let (piece, is_open) = runs.run(self.body, end);
            end += piece.len();
            let own = runs.text.get(self.from..end).unwrap_or_default();
            if is_open {
                if self.mode == Mode::Open {
                    return self.undecided();
                }
                return self.outcome(own, accept);
            }
            let before = own.iter().rev().take_while(|byte| **byte == b'\\').count();
            let is_quote = !matches!(runs.text.get(end), Some(b'\n' | b'\r' | b'\x1b'));
            let is_inner = if slashes == 0 {
                before % 2 == 1
            } else {
                before > slashes
            };
            if !is_quote || !is_inner {
                // The backslashes belong to the quote, or to a text within this one.
                let own = own.get(..own.len() - before).unwrap_or(own);
                return self.outcome(own, accept);
            }
            end += 1;
        }
        let own = runs.text.get(self.from..end).unwrap_or_default();
        self.outcome(own, accept)
    }

    fn undecided(self) -> Outcome {
        Outcome::Undecided {
            keep: self.sign,
            hold: self.from,
            run: Some(self.body),
        }
    }

    fn outcome(self, own: &[u8], accept: impl Fn(&[u8]) -> bool) -> Outcome {
        let start = own.get(..START).unwrap_or(own);
        if is_no_secret(own.get(..START).unwrap_or(own)) || !accept(start) {
            return Outcome::Nothing;
        }
        Outcome::Secret {
            start: self.from,
            end: self.from + own.len(),
            body: self.body,
        }
    }
}

/// How much of a value is looked at to tell whether it is one.
const START: usize = 1024;

/// How many quotes inside a value are looked past.
pub(super) const INNER_QUOTES: usize = 64;

fn is_in_quotes(body: Body) -> bool {
    matches!(body, Body::Double | Body::Single | Body::Tick)
}

/// A value without what ends the sentence, the list or the text around it.
fn without_end(value: &[u8]) -> &[u8] {
    let count = value
        .iter()
        .rev()
        .take(8)
        .take_while(|byte| {
            matches!(
                byte,
                b'"' | b'\'' | b'`' | b',' | b';' | b')' | b']' | b'}' | b'>' | b'\\'
            )
        })
        .count();
    // A single bracket may well be part of a password, but so is `$(cat file)` of a program.
    value.get(..value.len() - count).unwrap_or(value)
}
