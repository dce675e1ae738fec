//! The reference agent: a small, bash-first coding agent that speaks the Agent Client Protocol.
//!
//! `bob` serves ACP version 1 over stdin and stdout. Its behaviour on the wire is fixed to the
//! letter, so that a recording of it can be compared with a later one.
//!
//! Where to look:
//!
//! * [`cli`]: arguments, and the entry that another binary can embed;
//! * `transport`: lines to messages and back, with back-pressure;
//! * `server`: one function per ACP method;
//! * `session`, `turn`, `history`, `compact`: what a prompt does;
//! * `tools`, `permission`: what the model can do, and who is asked first;
//! * `login`: whether the user has to log in, and how;
//! * `mcp`: servers with tools, which the client names for a session;
//! * `surface`: what each `--surface` has;
//! * `model`: the two models;
//! * `fault`: deviations on demand.

mod address;
mod announced;
mod attachments;
pub mod cli;
mod client;
mod compact;
mod fault;
mod history;
mod kept;
mod log;
mod login;
mod mcp;
mod model;
mod modes;
mod options;
mod permission;
mod plan;
mod prompt;
mod server;
mod session;
mod settings;
mod shown;
mod skills;
mod slash;
mod store;
mod surface;
mod system_prompt;
mod tools;
mod transport;
mod turn;
mod update;
mod usage;

pub use surface::Surface;
