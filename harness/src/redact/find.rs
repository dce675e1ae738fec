//! Finds secrets in a text, of which more may come.

use aho_corasick::automaton::OverlappingState;
use aho_corasick::packed::Searcher;
use aho_corasick::{BuildError, Input};
use regex::bytes::Regex;

use super::context::{SIGNS, Sign};
use super::form::{FORMS, Form, Runs};
use super::found::{Found, Mode, Outcome, Span};
use super::known::{Known, StandsFor};
use super::words::{ANCHOR, Anchor, Words, automaton, plain_run};

/// The least part of a secret, at the end of a text that was cut there, that is worth hiding.
const PART: usize = 6;

/// How much of a text in chunks is held back for the user's own patterns, which say not how far they reach.
const REACH: usize = 256;

/// Finds secrets.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    fixed: Words,
    /// The known values, in groups of which each is smaller than the one before: so a new one has few built anew.
    levels: Vec<Words>,
    /// How many values these hold together.
    learnt: usize,
    /// All patterns in lower case and in order, to tell what the end of a text may begin.
    beginnings: Vec<(Vec<u8>, Anchor)>,
    /// The first two bytes of all of these, as bits.
    pairs: Vec<u64>,
    longest: usize,
    patterns: Vec<Regex>,
}

/// A group with fewer values is always built anew.
const SMALL: usize = 8;

impl Finder {
    /// A finder for the forms, the signs, the values that are known, and the user's patterns.
    ///
    /// # Errors
    /// Where there is no automaton for so many values.
    pub(super) fn new(known: &Known, patterns: Vec<Regex>) -> Result<Self, BuildError> {
        let mut words: Vec<(Vec<u8>, Anchor)> = Vec::new();
        let mut add = |word: &str, anchor| words.push((word.to_ascii_lowercase().into(), anchor));
        for form in FORMS {
            add(form.prefix, Anchor::Form(form));
        }
        for (word, sign) in SIGNS {
            add(word, Anchor::Sign(*sign));
        }
        add("{secret-", Anchor::Placeholder);
        add("mcpservers", Anchor::Place);
        add("\"tokens\"", Anchor::Place);
        let mut own = Self {
            fixed: Words {
                automaton: automaton(words.iter().map(|(word, _)| word), true)?,
                quick: None,
                anchors: words.iter().map(|(_, anchor)| *anchor).collect(),
                values: 0,
            },
            levels: Vec::new(),
            learnt: 0,
            beginnings: Vec::new(),
            pairs: vec![0; 1024],
            longest: 0,
            patterns,
        };
        for (word, anchor) in words {
            own.begin(word, anchor);
        }
        own.beginnings.sort_by(|left, right| left.0.cmp(&right.0));
        own.learn(known)?;
        Ok(own)
    }

    /// Takes in values that are known by now.
    ///
    /// # Errors
    /// Where there is no automaton for so many values; what was known before is still found.
    pub(super) fn learn(&mut self, known: &Known) -> Result<(), BuildError> {
        let values = known.values();
        let from = self.learnt;
        if values.len() == from {
            return Ok(());
        }
        self.learnt = values.len();
        let mut count = values.len() - from;
        // Each group has eight times the values of the one behind it, or more.
        while let Some(last) = self
            .levels
            .pop_if(|last| last.values < 8 * count || last.values < SMALL)
        {
            count += last.values;
        }
        let first = values.len() - count;
        let mut words: Vec<&[u8]> = Vec::new();
        let mut anchors = Vec::new();
        for (index, value) in values.iter().enumerate().skip(first) {
            words.push(value.bytes.get(..ANCHOR).unwrap_or(&value.bytes));
            anchors.push(Anchor::Value(index));
            if let Some(run) = plain_run(&value.bytes) {
                words.push(run);
                anchors.push(Anchor::Run);
            }
        }
        self.levels.push(Words {
            automaton: automaton(&words, false)?,
            quick: Searcher::new(&words),
            anchors,
            values: count,
        });
        for (index, value) in values.iter().enumerate().skip(from) {
            let anchor = value.bytes.get(..ANCHOR).unwrap_or(&value.bytes);
            let word = anchor.to_ascii_lowercase();
            self.begin(word, Anchor::Value(index));
        }
        self.beginnings.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(())
    }

    /// Takes note of what the end of a text may begin.
    fn begin(&mut self, word: Vec<u8>, anchor: Anchor) {
        if !matches!(anchor, Anchor::Form(_) | Anchor::Sign(_) | Anchor::Value(_)) {
            return;
        }
        if let [first, second, ..] = word.as_slice() {
            let pair = usize::from(*first) << 8 | usize::from(*second);
            if let Some(bits) = self.pairs.get_mut(pair >> 6) {
                *bits |= 1 << (pair & 63);
            }
        }
        self.longest = self.longest.max(word.len());
        self.beginnings.push((word, anchor));
    }

    /// Whether the user gave patterns, so that every text must be looked at.
    pub(super) fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Whether anything in a raw line gives reason to look at what is in it. Placeholders are noted on the way.
    pub(super) fn suspects(&self, raw: &[u8], mut note: impl FnMut(u64)) -> bool {
        let mut found = self.levels.iter().any(|words| words.are_in(raw));
        // In most lines there is nothing, and that is told several times faster than what there is.
        if !self.fixed.automaton.is_match(raw) {
            return found;
        }
        let mut state = OverlappingState::start();
        let input = Input::new(raw);
        loop {
            self.fixed
                .automaton
                .find_overlapping(input.clone(), &mut state);
            let Some(hit) = state.get_match() else {
                return found;
            };
            match self.fixed.anchors.get(hit.pattern().as_usize()) {
                Some(Anchor::Placeholder) => {
                    let digits = raw.get(hit.end()..).unwrap_or_default();
                    let count = digits
                        .iter()
                        .take(12)
                        .take_while(|byte| byte.is_ascii_digit())
                        .count();
                    let digits = digits
                        .get(..count)
                        .and_then(|digits| std::str::from_utf8(digits).ok());
                    if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
                        note(number);
                    }
                }
                // Counts of tokens are in many messages.
                Some(Anchor::Sign(Sign::Name))
                    if matches!(raw.get(hit.end()), Some(b's' | b'S'))
                        && raw
                            .get(hit.end() - 1)
                            .is_some_and(|last| last.eq_ignore_ascii_case(&b'n')) => {}
                // The words are found in any case, and forms have one: `ske` of a key is in `basket` too.
                Some(Anchor::Form(form))
                    if raw.get(hit.start()..hit.end()) != Some(form.prefix.as_bytes()) => {}
                _ => found = true,
            }
        }
    }

    /// What [`find`](Self::find) gives in the open mode for a text in which nothing is whole.
    pub(super) fn end(&self, text: &[u8]) -> Found {
        let (keep, hold) = self.end_of(text);
        let mut found = Found {
            keep,
            hold,
            ..Found::default()
        };
        found.settle();
        found
    }

    /// What the end of a text may begin, where nothing whole is in it.
    fn end_of(&self, text: &[u8]) -> (usize, usize) {
        let (mut keep, mut hold) = (text.len(), text.len());
        let from = text.len().saturating_sub(self.longest.saturating_sub(1));
        for start in from..text.len() {
            let Some(rest) = text.get(start..) else { break };
            if let [first, second, ..] = rest {
                let pair = usize::from(first.to_ascii_lowercase()) << 8
                    | usize::from(second.to_ascii_lowercase());
                if self
                    .pairs
                    .get(pair >> 6)
                    .is_none_or(|bits| bits >> (pair & 63) & 1 == 0)
                {
                    continue;
                }
            }
            let (begins, holds) = self.begins(text, start, rest);
            if begins {
                keep = keep.min(start);
            }
            if holds {
                hold = hold.min(start);
                break;
            }
        }
        (keep, hold)
    }

    /// Whether the rest of a text begins a pattern without being all of it, and whether that must be held back.
    fn begins(&self, text: &[u8], start: usize, rest: &[u8]) -> (bool, bool) {
        let low = rest.to_ascii_lowercase();
        let first = self.beginnings.partition_point(|(word, _)| *word < low);
        let (mut begins, mut holds) = (false, false);
        for (word, anchor) in self.beginnings.get(first..).unwrap_or_default() {
            if !word.starts_with(&low) {
                break;
            }
            if word.len() == low.len() {
                continue;
            }
            match anchor {
                Anchor::Form(form) => {
                    let fits = form.prefix.as_bytes().starts_with(rest) && stands_free(text, start);
                    begins |= fits;
                    holds |= fits;
                }
                // The word is no secret, only what comes after it.
                Anchor::Sign(_) => begins = true,
                _ => {
                    begins = true;
                    holds = true;
                }
            }
        }
        (begins, holds)
    }

    /// Finds the secrets in a text.
    pub(super) fn find(&self, text: &[u8], mode: Mode, known: &Known) -> Found {
        let mut found = Found {
            spans: Vec::new(),
            keep: text.len(),
            hold: text.len(),
            run: None,
        };
        if mode == Mode::Open {
            (found.keep, found.hold) = self.end_of(text);
        }
        let mut runs = Runs::of(text);
        for words in std::iter::once(&self.fixed).chain(&self.levels) {
            words.each(text, |anchor, start, end| match anchor {
                Anchor::Form(form) => found.take(look(form, &mut runs, start, end, mode)),
                Anchor::Sign(sign) => found.take(sign.look(&mut runs, start, end, mode)),
                Anchor::Value(index) => {
                    if let Some(value) = known.values().get(index) {
                        found.take_value(text, start, &value.bytes, &value.stands_for, mode);
                    }
                }
                Anchor::Run | Anchor::Placeholder | Anchor::Place => {}
            });
        }
        if mode == Mode::Cut {
            self.find_part(text, known, &mut found);
        }
        for pattern in &self.patterns {
            found.spans.extend(
                pattern
                    .find_iter(text)
                    .filter(|hit| !hit.is_empty())
                    .map(|hit| Span {
                        start: hit.start(),
                        end: hit.end(),
                        stands_for: None,
                        body: None,
                    }),
            );
        }
        if mode == Mode::Open && self.has_patterns() {
            let reach = text.len().saturating_sub(REACH);
            found.keep = found.keep.min(reach);
            found.hold = found.hold.min(reach);
            found.run = None;
        }
        found.settle();
        found
    }

    /// The first part of a known value at the end of a text that was cut.
    fn find_part(&self, text: &[u8], known: &Known, found: &mut Found) {
        let (_, hold) = self.end_of(text);
        let rest = text.get(hold..).unwrap_or_default();
        if rest.len() < PART {
            return;
        }
        let value = known
            .values()
            .iter()
            .find(|value| value.bytes.starts_with(rest));
        if let Some(value) = value.filter(|value| value.stands_for != StandsFor::Home) {
            found.spans.push(Span {
                start: hold,
                end: text.len(),
                stands_for: Some(value.stands_for.clone()),
                body: None,
            });
        }
    }
}

/// Looks at the prefix of a form that stands at `start..end`.
fn look(form: &Form, runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let text = runs.text;
    if text.get(start..end) != Some(form.prefix.as_bytes()) || !stands_free(text, start) {
        return Outcome::Nothing;
    }
    let (own, is_cut) = runs.run(form.body, end);
    if is_cut && mode == Mode::Open {
        return Outcome::Undecided {
            keep: start,
            hold: start,
            run: Some(form.body),
        };
    }
    let hides = is_cut && mode == Mode::Cut && own.len() >= PART && form.may_begin(own);
    // A full stop, a dash or the like at the end belongs to the sentence.
    let own = match own.iter().rposition(u8::is_ascii_alphanumeric) {
        Some(last) => own.get(..=last).unwrap_or(own),
        None => return Outcome::Nothing,
    };
    if !hides && !form.fits(own) {
        return Outcome::Nothing;
    }
    Outcome::Secret {
        start,
        end: end + own.len(),
        body: form.body,
    }
}

/// Whether a prefix stands at the beginning of a word. A line break within a text within a text ends in a letter, and so does
/// a change of colour.
fn stands_free(text: &[u8], start: usize) -> bool {
    let before = text.get(start.saturating_sub(8)..start).unwrap_or_default();
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [rest @ .., b'm'] => {
            let digits = rest
                .iter()
                .rev()
                .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
                .count();
            rest.len()
                .checked_sub(digits + 1)
                .and_then(|at| rest.get(at))
                == Some(&b'[')
        }
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}
