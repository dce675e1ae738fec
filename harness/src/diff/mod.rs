//! Two traces compared by their canonical forms: what differs, where, and how much it matters.

mod align;
mod binding;
mod breaking;
mod class;
mod compare;
mod difference;
mod members;
mod place;
mod sessions;
#[cfg(test)]
mod tests;

pub use compare::{diff, diff_looking_at};
pub use difference::{Change, Class, Comparison, Difference};
