//! The agent under test as a process: how it is started, spoken to and ended, and that nothing outlives it.
//!
//! An agent runs in a session and a process group of its own, without a terminal. Everything that it writes, and how
//! it ends, goes as [`Observed`](crate::trace::Observed) into an [`Outbox`](crate::trace::Outbox). Its environment is
//! built by [`Environment`] and its folders are a [`RunFolder`].

#[cfg(not(unix))]
compile_error!(
    "the harness starts agents in process groups of their own, which it can do on Unix only"
);

mod beside;
mod command;
mod ending;
mod environment;
mod folder;
pub mod guard;
mod input;
mod leftovers;
mod marker;
mod named;
mod output;
mod placeholders;
mod process;
mod variables;

pub use beside::{Beside, BesideCommand, Started};
pub use command::{Command, CommandError};
pub use ending::{Ending, Needed, Patience};
pub use environment::{Environment, Folders, Home, ModelAccess, User, Variables};
pub(crate) use environment::{LOOPBACK, NO_PROXY};
pub use folder::{FolderError, Place, RunFolder};
pub use guard::kill_all;
pub use leftovers::Leftover;
pub use marker::Marker;
pub use named::{Named, NamedError};
pub(crate) use output::{CUT_LINE, LINE_BOUND, STDERR_BOUND};
pub use placeholders::Placeholders;
pub use process::{AgentProcess, Launch, StartError};
