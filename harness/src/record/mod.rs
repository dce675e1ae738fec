//! The recorder: stands between a client and an agent, passes on every byte, and writes down what went by.
//!
//! It is as a pipe would be. Bytes go out in the pieces in which they come, whether they are lines or not; ends of streams,
//! hang-ups, signals and the exit are passed on as well; the agent gets the recorder's folder and environment as they are.
//! One thread moves each stream. A copy of what passes goes into a bounded queue, from which a thread of its own makes
//! events and writes the file: whatever happens there, the traffic goes on.
//!
//! The agent's model can be recorded too: then the agent's base URLs lead to a proxy in this process, and what passes there
//! goes the same way into the file.
//!
//! When the agent exits, so does the recorder. What may still be under way then, because the client does not read it or because
//! a process that the agent left behind holds the stream, is served by a second process, and is not recorded. One thing
//! differs from a pipe: a signal that somebody sends to the whole process group reaches the agent twice (one from the
//! terminal does not).

mod forward;
mod journal;
mod models;
mod place;
mod proxy;
mod queue;
mod shape;
mod signals;
mod sink;

pub use models::Models;
pub use place::Place;
pub use proxy::{Agent, Ended, StartError, run};
pub use sink::pass_on;
