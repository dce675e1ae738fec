//! What is to be played from a recording: each line of the side that is played, and what must have happened before it goes.
//!
//! Driven by cause, not by clock: each session is a queue, requests that concern the whole connection wait for all queues,
//! and a cancel waits for the place of its turn.

mod builder;
mod folders;
mod missing;

use serde_json::Value;

use super::calls::CallList;
use super::turn::Point;
use crate::spec::Side;
use crate::wire::Id;

pub(crate) use builder::{cancelled_id, kind_of};
pub(crate) use folders::{Folder, FolderPlace};
pub(crate) use missing::{Unplayable, playable};

/// Something that must have happened before a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// This step has gone.
    Gone(usize),
    /// The request of this step has its answer.
    Replied(usize),
    /// The other side has asked this.
    Asked(usize),
    /// The turn of [`Plan::points`] has come this far.
    Reached(usize),
    /// So many answers to nothing have come: to a line that is no message, or a second one.
    Strayed(usize),
    /// The other side has cancelled as in [`Plan::notices`].
    Noticed(usize),
    /// What the recording shows before this step without being waited for has come.
    Settled(usize),
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// Sends a line.
    Send {
        /// As it was recorded, without the newline.
        bytes: Vec<u8>,
        /// Whether no newline follows.
        partial: bool,
        /// What is wrong with it on purpose.
        probe: Option<String>,
    },
    /// Closes the stream.
    Close,
    /// Sends a signal to the agent.
    Signal(i32),
}

/// A request among the steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// Its id.
    pub(crate) id: Id,
    /// Its method.
    pub(crate) method: String,
    /// What the other side answered in the recording: the whole message.
    pub(crate) reply: Option<Value>,
    /// Where that stands.
    pub(crate) reply_event: Option<usize>,
}

/// One thing that the played side did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// Where it stands in the recording; `None` for what the recording lacks and cannot be done without.
    pub(crate) event: Option<usize>,
    /// Its session, as recorded.
    pub(crate) session: Option<String>,
    /// What it does.
    pub(crate) act: Act,
    /// The request that it is, if it is one.
    pub(crate) request: Option<Request>,
    /// The request of the other side that it answers, by its number in [`Plan::asks`].
    pub(crate) answers: Option<usize>,
    /// What must have happened before.
    pub(crate) after: Vec<Cause>,
    /// The turns that it was to stop, each with its place.
    pub(crate) stops: Vec<(usize, Point)>,
    /// What it is, in a few words.
    pub(crate) what: String,
}

/// A request of the other side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    /// Where it stands in the recording.
    pub(crate) event: usize,
    /// Its method.
    pub(crate) method: String,
    /// Its parameters, with what is known of its tool call put in.
    pub(crate) params: Value,
    /// Its session, as recorded.
    pub(crate) session: Option<String>,
    /// The step of the played side that was open when it came.
    pub(crate) during: Option<usize>,
    /// The steps that had gone from the same queue before it.
    pub(crate) behind: Option<usize>,
    /// The step that answers it.
    pub(crate) answer: Option<usize>,
}

/// A place in a turn that a step waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnPoint {
    /// The step that began the turn.
    pub(crate) turn: usize,
    /// The place.
    pub(crate) point: Point,
}

/// A cancel of the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// Its method.
    pub(crate) method: String,
    /// Its session, as recorded.
    pub(crate) session: Option<String>,
    /// Where it stands in the recording.
    pub(crate) event: usize,
    /// The request that was open then.
    pub(crate) during: Option<usize>,
}

/// What the other side sent before a step, after the last thing that is waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    /// How often each kind of line came.
    pub(crate) lines: Vec<(String, usize)>,
    /// Whether its stream ended.
    pub(crate) ended: bool,
}

/// A whole plan.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The side that is played.
    pub(crate) side: Side,
    /// What it did, in order.
    pub(crate) steps: Vec<Step>,
    /// What the other side asked, in order.
    pub(crate) asks: Vec<Ask>,
    /// Places of turns.
    pub(crate) points: Vec<TurnPoint>,
    /// Where answers to nothing stand in the recording.
    pub(crate) strays: Vec<usize>,
    /// Cancels of the other side.
    pub(crate) notices: Vec<Notice>,
    /// What is let come before a step, by [`Cause::Settled`].
    pub(crate) rests: Vec<Rest>,
    /// What must have happened before the conversation is over.
    pub(crate) end: Vec<Cause>,
    /// The tool calls of each turn, by its step.
    pub(crate) calls: CallList,
    /// The sessions that come to be in the recording.
    pub(crate) sessions: Vec<String>,
    /// The folders of its sessions.
    pub(crate) folders: Vec<Folder>,
    /// What is to be known about the plan, a sentence each.
    pub(crate) notes: Vec<String>,
}
