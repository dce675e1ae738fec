//! Judges stored recordings: streams a trace through the rules, and keeps what a report needs to name its places.

mod ahead;
mod checked;

pub use checked::{Checked, KEPT_DAMAGE, check};
