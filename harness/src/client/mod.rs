//! The client side of a live conversation: sends, answers the agent, and writes everything into the trace.

mod answers;
mod choices;
mod connection;
mod files;
mod form;
mod kept_output;
mod log;
mod outgoing;
mod planned;
mod progress;
mod terminal;
mod terminals;
mod unsent;

pub use answers::{Answers, Asking, PermissionChoice, Reply};
pub use choices::Choices;
pub use connection::{Connection, Finished, Limits, PumpEnd, Sent};
pub use files::{FileError, SessionFiles};
pub(crate) use log::Log;
pub use log::TraceFile;
pub use outgoing::Outgoing;
pub use planned::{Content, Planned, PlannedReplies};
pub use progress::{Ask, Progress, SessionProgress, ToolProgress, TurnProgress};
pub use terminals::Terminals;
pub(crate) use unsent::Unsent;
