//! Rules: streaming state machines that judge a trace event by event, one file per area.
//!
//! A rule sees events and the state of the conversation so far; it never sees a process, a file or a clock.

mod areas;
mod calls;
mod cancel;
mod content;
mod conversation;
mod effects;
mod gap;
mod judge;
mod judgement;
mod moment;
mod part;
mod path;
mod perm;
mod plan;
mod prompt;
mod quote;
#[cfg(test)]
pub(crate) mod talking;
#[cfg(test)]
mod tests;
mod toolcall;
mod transport;
mod update;
mod usage;

pub use calls::{Call, CallStep, Calls, Consent, Status};
pub use conversation::{Conversation, End, Handshake, Open, Origin, Session, Turn};
pub use gap::Gap;
pub use judge::{Judge, Out, Rule, judge_all};
pub use judgement::{Finding, Judgement, Place, Tally};
pub use moment::{Moment, Payload, Update};
