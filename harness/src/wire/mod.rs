//! Bytes to messages without loss: one line of newline-delimited JSON-RPC 2.0 and what it holds.
//!
//! Nothing here knows a protocol version, a method or a turn.

mod id;
mod lines;
mod message;
mod reading;

pub use id::Id;
pub use lines::{LineSplitter, Piece};
pub use message::{Kind, Message};
pub use reading::{Oddity, Reading};
