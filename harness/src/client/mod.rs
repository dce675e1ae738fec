//! The client side of a live conversation: sends, answers the agent, and writes everything into the trace.

mod answers;
mod connection;
mod files;
mod log;
mod outgoing;
mod progress;
mod unsent;

pub use answers::{Answers, Asking, PermissionChoice, Reply};
pub use connection::{Connection, Finished, Limits, PumpEnd, Sent};
pub use files::{FileError, SessionFiles};
pub(crate) use log::Log;
pub use log::TraceFile;
pub use outgoing::Outgoing;
pub use progress::{Ask, Progress, SessionProgress, ToolProgress, TurnProgress};
pub(crate) use unsent::Unsent;
