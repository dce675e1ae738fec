//! Two traces compared by their canonical forms: what differs, where, and how much it matters.

mod align;
mod alone;
mod binding;
mod breaking;
mod calls;
mod class;
mod compare;
mod delay;
mod difference;
mod found;
mod likeness;
mod members;
mod pairing;
mod place;
mod sessions;
#[cfg(test)]
mod tests;

pub use compare::{diff, diff_looking_at};
pub use delay::delays;
pub use difference::{Change, Class, Comparison, Difference, Sides};
