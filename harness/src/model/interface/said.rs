//! What a recorded reply said, in a form that no interface owns.

use crate::model::script::Usage;

/// The parts of a reply that was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Reasoning, chunk by chunk.
    pub(crate) thoughts: Vec<String>,
    /// Text, chunk by chunk.
    pub(crate) texts: Vec<String>,
    /// Calls of tools, in order.
    pub(crate) calls: Vec<SaidCall>,
    /// Token counts.
    pub(crate) usage: Option<Usage>,
    /// What the model said when it refused.
    pub(crate) refusal: Option<String>,
    /// Whether the reply ended because it became too long.
    pub(crate) length: bool,
    /// The message of an error, in place of a reply or in the middle of a stream.
    pub(crate) error: Option<String>,
}

/// A call in a recorded reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SaidCall {
    /// The tool.
    pub(crate) name: String,
    /// The arguments: JSON, or plain text for a tool that takes that.
    pub(crate) arguments: String,
    /// Whether the arguments are plain text.
    pub(crate) freeform: bool,
}

impl Said {
    /// The call at this place; a new one right behind the last.
    pub(crate) fn call(&mut self, place: usize) -> Option<&mut SaidCall> {
        let place = place.min(self.calls.len());
        if place == self.calls.len() {
            self.calls.push(SaidCall::default());
        }
        self.calls.get_mut(place)
    }
}
