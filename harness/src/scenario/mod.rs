//! A scenario: a stimulus with expectations, written as a file, and how it is run against an agent.

mod action;
mod answered;
mod check;
mod choosing;
mod drive;
mod expectation;
pub mod file;
mod mcp;
mod outcome;
mod params;
mod runner;
mod setup;
mod steering;
mod waiting;

pub use answered::Answered;
pub use outcome::{Outcome, Reached, Status};
pub use runner::run;
pub use setup::Setup;
pub(crate) use setup::{header_of, launch, open_trace};
