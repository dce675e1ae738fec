//! A small MCP server with deterministic tools, which writes down all that it gets (`harness mcp-echo`), and what a scenario
//! makes of that.
//!
//! `tools` has the tools, `dialogue` answers messages, `stdio` and `http` serve them, `log` writes and `seen` reads what
//! happened. `wanted` says which servers a scenario has, `servers` starts them.

mod dialogue;
mod http;
mod log;
mod seen;
mod servers;
mod stdio;
mod tools;
mod wanted;

pub(crate) use http::{Form, serve as serve_http};
pub(crate) use log::Log;
pub(crate) use seen::Seen;
pub(crate) use servers::Servers;
pub(crate) use stdio::serve as serve_stdio;
pub(crate) use tools::Started;
pub use wanted::{State, Transport, Wanted};
