//! Rules: streaming state machines that judge a trace event by event, one file per area.
//!
//! A rule sees events and the state of the conversation so far; it never sees a process, a file or a clock.

mod advertised;
mod areas;
mod auth;
mod calls;
mod cancel;
mod changes;
mod close;
mod commands;
mod config;
mod config_set;
mod content;
mod conversation;
mod delete;
mod effects;
mod elicit;
mod elicit_form;
mod elicit_url;
mod error;
mod ext;
mod form;
mod fs;
mod gap;
mod in_step;
mod init;
mod jsonrpc;
mod judge;
mod judgement;
mod list;
mod load;
mod mode;
mod mode_set;
mod moment;
mod offers;
mod overlap;
mod own;
mod part;
mod path;
mod perm;
mod plan;
mod prompt;
mod quote;
mod reach;
mod refusal;
mod reqcancel;
mod schema;
mod session;
mod slots;
#[cfg(test)]
pub(crate) mod talking;
mod terminal;
mod terminal_cancel;
#[cfg(test)]
mod tests;
mod timestamp;
mod toolcall;
mod transport;
mod update;
mod usage;

pub use calls::{Call, CallStep, Calls, Consent, Status};
pub use conversation::{
    Conversation, End, Handshake, Missing, Open, Origin, Past, Session, Start, Transcript, Turn,
};
pub use gap::Gap;
pub use judge::{Judge, Out, Rule, judge_all, judge_recording};
pub use judgement::{Finding, Judgement, Place, Tally};
pub use moment::{Moment, Payload, Update};
pub use own::OwnMessages;
pub(crate) use quote::quote;
