//! A conversation as a picture of two lanes, the client at the left and the agent at the right: events become steps, runs of
//! chunks become one step, and each step is a line.

mod fold;
mod lanes;
mod narrator;
mod step;
mod summary;

pub(crate) use fold::Fold;
pub(crate) use lanes::Lanes;
pub(crate) use narrator::Narrator;
pub(crate) use step::{Step, Way};
