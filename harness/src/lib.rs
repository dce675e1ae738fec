//! Judges agents that speak the Agent Client Protocol (ACP) by the protocol's own requirements.
//!
//! Everything that judges takes a trace and returns findings; only the edges touch processes, sockets and files.

pub mod agent;
pub mod canon;
pub mod cargo_test;
pub mod check;
pub mod cli;
pub mod client;
pub mod diff;
pub mod hash;
pub mod import;
pub mod mcp;
pub mod model;
pub mod profile;
pub mod record;
pub mod redact;
pub mod replay;
pub mod report;
pub mod rules;
pub mod scenario;
pub mod source;
pub mod spec;
pub mod trace;
pub mod verdict;
pub mod wire;
