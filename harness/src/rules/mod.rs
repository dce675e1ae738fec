//! Rules: streaming state machines that judge a trace event by event, one file per area.
//!
//! A rule sees events and the state of the conversation so far; it never sees a process, a file or a clock.

mod areas;
mod auth;
mod calls;
mod cancel;
mod commands;
mod config;
mod content;
mod conversation;
mod effects;
mod elicit;
mod elicit_form;
mod elicit_url;
mod error;
mod ext;
mod form;
mod fs;
mod gap;
mod init;
mod jsonrpc;
mod judge;
mod judgement;
mod mode;
mod moment;
mod own;
mod part;
mod path;
mod perm;
mod plan;
mod prompt;
mod quote;
mod reach;
mod schema;
mod session;
mod slots;
#[cfg(test)]
pub(crate) mod talking;
mod terminal;
#[cfg(test)]
mod tests;
mod toolcall;
mod transport;
mod update;
mod usage;

pub use calls::{Call, CallStep, Calls, Consent, Status};
pub use conversation::{Conversation, End, Handshake, Missing, Open, Origin, Session, Start, Turn};
pub use gap::Gap;
pub use judge::{Judge, Out, Rule, judge_all, judge_recording};
pub use judgement::{Finding, Judgement, Place, Tally};
pub use moment::{Moment, Payload, Update};
pub use own::OwnMessages;
pub(crate) use quote::quote;
