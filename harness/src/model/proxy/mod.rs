//! A reverse proxy between an agent and real model servers, which tells the trace what passes.
//!
//! Bytes go on as they come, in both directions and at the pace of the side that reads; what is kept is a copy. Only the
//! base URLs that an agent sees lead here: keys and all other headers are the agent's own, and no header is kept.

mod decoding;
mod exchange;
mod headers;
mod keeping;
mod reach;
mod server;
mod upstream;

pub(crate) use reach::Reach;
pub(crate) use server::{ModelProxy, Witness};
pub use upstream::{Upstream, Upstreams};
