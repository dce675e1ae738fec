//! One thing in canonical form, and where it stands.

use super::minted::Reference;
use crate::trace::Party;

/// The number of an item within its canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub(crate) u32);

impl ItemId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an item is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A message of this kind, by its number in the table of kinds.
    Message(u32),
    /// Consecutive text chunks of one message, joined.
    Text {
        /// The kind of update.
        kind: u32,
        /// The whole text, paths and volatile parts replaced.
        text: Box<str>,
    },
    /// A tool call, by its number.
    Call(u32),
    /// One state of a tool call, or a question about it.
    Step(u32),
    /// A question about a tool call was answered here; the answer stands with the call.
    Answered,
    /// A session was asked for here; what was said stands in the session's own stream.
    NewSession,
    /// A line that holds no message.
    Line,
    /// A line on stderr.
    Stderr,
}

impl What {
    /// Whether it only keeps a place for something that stands elsewhere.
    pub(crate) fn is_mark(&self) -> bool {
        matches!(self, Self::NewSession | Self::Answered)
    }
}

/// One thing in canonical form.
#[derive(Clone, Debug)]
pub struct Item {
    /// The event that shows it; the first of several.
    pub event: u32,
    /// Who did it.
    pub from: Party,
    /// The turn of its session, from 1; 0 outside of any.
    pub turn: u32,
    /// Whether it was in flight when its turn was cancelled, or came after that.
    pub late: bool,
    pub(crate) what: What,
    /// The number of its session.
    pub(crate) session: Option<u32>,
    /// The request that it is or that it answers, as the number of a request.
    pub(crate) request: Option<u32>,
    /// Hash of all of it, minted values by kind.
    pub(crate) full: u64,
    /// Hash without what someone worded.
    pub(crate) shape: u64,
    /// Hash of what kind of thing it is.
    pub(crate) kind: u64,
    /// Its minted values, as a range of the arena.
    pub(crate) references: (u32, u32),
}

/// A session.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its id.
    pub(crate) id: Reference,
    /// What was said in it, in order.
    pub items: Vec<ItemId>,
    /// State updates, in order per kind, see [`FLOATING`].
    pub floating: [Vec<ItemId>; FLOATING.len()],
    /// How many turns it had.
    pub turns: u32,
    /// The turns during which the agent was told to end.
    pub(crate) cut_off: Vec<u32>,
}

/// The kinds of updates that may stand anywhere in their session.
pub(crate) const FLOATING: [&str; 5] = [
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "usage_update",
    "session_info_update",
];

/// The kinds of updates whose consecutive texts are one message.
pub(crate) const CHUNKS: [&str; 3] = [
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message_chunk",
];

/// A tool call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its id.
    pub(crate) id: Reference,
    /// Its item in the session's stream.
    pub(crate) item: ItemId,
    /// Its states, and the questions about it, in order.
    pub steps: Vec<ItemId>,
    /// Whether it reached a last state.
    pub(crate) ended: bool,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// What it is known by.
    pub(crate) reference: Reference,
    /// Its item.
    pub(crate) item: ItemId,
    /// The kind of its response.
    pub(crate) response: u32,
    /// The number of its session.
    pub(crate) session: Option<u32>,
    /// The call that it asks about.
    pub(crate) call: Option<u32>,
    /// Where it asks for a session: its item, the place in the connection's stream, and the group of its folder.
    pub(crate) new_session: Option<(ItemId, usize, Option<usize>)>,
    /// The turn that it began.
    pub(crate) turn: Option<u32>,
    /// Whether it was answered.
    pub(crate) answered: bool,
}
