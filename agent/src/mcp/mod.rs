//! The MCP servers of a session: connected when it opens, ended with it.

mod config;
mod http;
mod result;
mod server;
mod servers;

pub(crate) use config::{Config, read};
pub(crate) use servers::{Servers, Tool};
