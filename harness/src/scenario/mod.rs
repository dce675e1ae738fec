//! A scenario: a stimulus with expectations, written as a file, and how it is run against an agent.

mod check;
mod drive;
pub mod file;
mod outcome;
mod params;
mod runner;

pub use outcome::{Outcome, Reached, Status};
pub use runner::{Setup, run};
