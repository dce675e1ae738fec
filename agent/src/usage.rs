//! Tokens, as models count them.

use serde_json::{Value, json};

/// What one answer took, where the model counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
}

/// The tokens of an answer, or of all answers of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

impl Tokens {
    pub(crate) fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
    }

    /// As it stands in the result of a prompt.
    pub(crate) fn on_the_wire(self) -> Value {
        json!({
            "inputTokens": self.input,
            "outputTokens": self.output,
            "totalTokens": self.total(),
        })
    }
}
