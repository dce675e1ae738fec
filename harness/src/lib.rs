//! Judges agents that speak the Agent Client Protocol (ACP) by the protocol's own requirements.
//!
//! Everything that judges takes a trace and returns findings; only the edges touch processes, sockets and files.

pub mod model;
pub mod rules;
pub mod spec;
pub mod trace;
pub mod wire;
