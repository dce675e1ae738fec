//! The harness.
pub mod spec;
