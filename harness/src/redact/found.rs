//! What was found in a text: places to replace, and what is not decided yet.

use super::form::Body;
use super::known::StandsFor;

/// A known value that is shorter counts only where it stands alone.
const ALONE: usize = 8;

/// What stands at the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// More may come: what is not decided is left.
    Open,
    /// It ends, or was cut: a part of a secret at its end is hidden too.
    Cut,
    /// It ends.
    Ended,
}

/// What a sign turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No secret.
    Nothing,
    /// A secret, and what it consists of.
    Secret {
        start: usize,
        end: usize,
        body: Body,
    },
    /// It depends on what comes: the text from `keep` on is needed to tell, and that from `hold` on may be secret. As long as
    /// only bytes of `run` come, it stays undecided.
    Undecided {
        keep: usize,
        hold: usize,
        run: Option<Body>,
    },
}

impl Outcome {
    /// The text ended before anything that may be secret.
    pub(super) fn context(keep: usize, end: usize, mode: Mode) -> Self {
        match mode {
            Mode::Open => Self::Undecided {
                keep,
                hold: end,
                run: None,
            },
            Mode::Cut | Mode::Ended => Self::Nothing,
        }
    }
}

/// A place to replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// What it is, where that is not simply the secret that stands there.
    pub(super) stands_for: Option<StandsFor>,
    /// What goes on like this after the end belongs to it.
    pub(super) body: Option<Body>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// In order, without overlap; all before `hold`.
    pub(super) spans: Vec<Span>,
    /// From here on the text is needed to decide on what comes.
    pub(super) keep: usize,
    /// From here on it may be secret.
    pub(super) hold: usize,
    /// As long as only bytes of this come, nothing more is decided.
    pub(super) run: Option<Body>,
}

impl Found {
    pub(super) fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Nothing => {}
            Outcome::Secret { start, end, body } => self.spans.push(Span {
                start,
                end,
                stands_for: None,
                body: Some(body),
            }),
            Outcome::Undecided { keep, hold, run } => {
                self.keep = self.keep.min(keep);
                if hold < self.hold {
                    self.hold = hold;
                    self.run = run;
                }
            }
        }
    }

    pub(super) fn take_value(
        &mut self,
        text: &[u8],
        start: usize,
        value: &[u8],
        stands_for: &StandsFor,
        mode: Mode,
    ) {
        let rest = text.get(start..).unwrap_or_default();
        let is_there = rest.starts_with(value);
        let is_open = mode == Mode::Open;
        let undecided = match stands_for {
            StandsFor::Home if is_there => match rest.get(value.len()) {
                // Another folder whose name begins like this one.
                Some(next) if next.is_ascii_alphanumeric() || matches!(next, b'_' | b'-') => return,
                Some(_) => false,
                None => is_open,
            },
            // A short one is meant as a word of its own alone.
            _ if is_there && value.len() < ALONE => {
                if start
                    .checked_sub(1)
                    .and_then(|at| text.get(at))
                    .is_some_and(u8::is_ascii_alphanumeric)
                {
                    return;
                }
                match rest.get(value.len()) {
                    Some(next) if next.is_ascii_alphanumeric() => return,
                    Some(_) => false,
                    None => is_open,
                }
            }
            _ => !is_there && is_open && value.starts_with(rest),
        };
        if undecided {
            self.take(Outcome::Undecided {
                keep: start,
                hold: start,
                run: None,
            });
        } else if is_there {
            self.spans.push(Span {
                start,
                end: start + value.len(),
                stands_for: Some(stands_for.clone()),
                body: None,
            });
        }
    }

    /// Puts the spans in order, joins those that overlap, and leaves out what is not decided.
    pub(super) fn settle(&mut self) {
        self.spans
            .sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        let mut joined: Vec<Span> = Vec::with_capacity(self.spans.len());
        for span in self.spans.drain(..) {
            match joined.last_mut() {
                Some(last) if span.start < last.end => {
                    if span.end > last.end {
                        last.end = span.end;
                        last.body = span.body;
                        last.stands_for = None;
                    } else if (span.start, span.end) == (last.start, last.end) {
                        last.stands_for = last.stands_for.take().or(span.stands_for);
                    }
                }
                _ => joined.push(span),
            }
        }
        while let Some(last) = joined.pop_if(|last| last.end > self.hold) {
            self.hold = self.hold.min(last.start);
            self.run = None;
        }
        self.spans = joined;
        // What stands before decides on whether a word begins there.
        self.keep = self.keep.min(self.hold).saturating_sub(8);
    }
}
