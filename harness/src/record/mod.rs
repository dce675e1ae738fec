//! The recorder: stands between a client and an agent, passes on every byte, and writes down what went by.
//!
//! It is as a pipe would be. Bytes go out in the pieces in which they come, whether they are lines or not; ends of streams,
//! hang-ups, signals and the exit are passed on as well; the agent gets the recorder's folder and environment as they are.
//! One thread moves each stream. A copy of what passes goes into a bounded queue, from which a thread of its own makes
//! events and writes the file: whatever happens there, the traffic goes on.
//!
//! Two things differ from a pipe. A process that the agent leaves behind and that still holds one of its streams is served
//! on by a second process, as the recorder itself must exit when the agent does; what passes then is not recorded. And a
//! signal that somebody sends to the whole process group reaches the agent twice (one from the terminal does not).

mod forward;
mod journal;
mod place;
mod proxy;
mod queue;
mod signals;

pub use forward::pass_on;
pub use place::Place;
pub use proxy::{Agent, Ended, StartError, run};
