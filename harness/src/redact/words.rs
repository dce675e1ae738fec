//! Words that are looked for at once.

use aho_corasick::automaton::OverlappingState;
use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, Input, MatchKind};

use super::context::Sign;
use super::form::Form;

/// How much of a known value is looked for at once; the rest is compared.
pub(super) const ANCHOR: usize = 256;

/// What a pattern of the automaton is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Form(&'static Form),
    Sign(Sign),
    /// A value of `Known`, by index.
    Value(usize),
    /// A run of a value that no way of writing changes. For [`Finder::suspects`] only.
    Run,
    /// `{secret-`. For [`Finder::suspects`] only.
    Placeholder,
    /// What makes names of members count. For [`Finder::suspects`] only.
    Place,
}

/// Words that are looked for at once.
#[derive(Clone, Debug)]
pub(super) struct Words {
    pub(super) automaton: AhoCorasick,
    /// Tells many times faster than the automaton that none of them is there, where they are few and their case counts.
    pub(super) quick: Option<Searcher>,
    pub(super) anchors: Vec<Anchor>,
    /// How many values are behind them.
    pub(super) values: usize,
}

impl Words {
    /// Whether one of them stands in a text.
    pub(super) fn are_in(&self, text: &[u8]) -> bool {
        match &self.quick {
            Some(quick) => quick.find(text).is_some(),
            None => self.automaton.is_match(text),
        }
    }

    /// All that stand in a text.
    pub(super) fn each(&self, text: &[u8], mut give: impl FnMut(Anchor, usize, usize)) {
        if self.quick.is_some() && !self.are_in(text) {
            return;
        }
        let mut state = OverlappingState::start();
        let input = Input::new(text);
        loop {
            self.automaton.find_overlapping(input.clone(), &mut state);
            let Some(hit) = state.get_match() else { break };
            if let Some(anchor) = self.anchors.get(hit.pattern().as_usize()) {
                give(*anchor, hit.start(), hit.end());
            }
        }
    }
}

/// The longest run of a value that stays the same in every way of writing, if it is worth looking for.
pub(super) fn plain_run(value: &[u8]) -> Option<&[u8]> {
    value
        .split(|byte| !byte.is_ascii_alphanumeric())
        .max_by_key(|run| run.len())
        .filter(|run| run.len() >= 4 && run.len() < value.len())
        .map(|run| run.get(..ANCHOR).unwrap_or(run))
}

pub(super) fn automaton<W: AsRef<[u8]>>(
    words: impl IntoIterator<Item = W>,
    any_case: bool,
) -> Result<AhoCorasick, BuildError> {
    let words: Vec<W> = words.into_iter().collect();
    let size: usize = words.iter().map(|word| word.as_ref().len()).sum();
    let kind = if size < 8 << 10 && any_case || size < 1 << 10 {
        AhoCorasickKind::DFA
    } else {
        AhoCorasickKind::ContiguousNFA
    };
    AhoCorasick::builder()
        .ascii_case_insensitive(any_case)
        .match_kind(MatchKind::Standard)
        .kind(Some(kind))
        // With so many words, some byte of one is everywhere.
        .prefilter(false)
        .build(words)
}
