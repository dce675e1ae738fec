//! A scenario: a stimulus with expectations, written as a file, and how it is run against an agent.

pub mod file;
