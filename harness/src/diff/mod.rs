//! Two traces compared by their canonical forms: what differs, where, and how much it matters.

mod compare;
mod difference;

pub use compare::diff;
pub use difference::{Change, Class, Comparison, Difference};
