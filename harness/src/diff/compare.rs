//! The whole comparison of two traces.

use super::Comparison;
use crate::canon::Volatility;
use crate::trace::Recording;

/// Compares two traces: what differs on the right from the left.
#[must_use]
pub fn diff(left: &Recording, right: &Recording, volatile: &Volatility) -> Comparison {
    let _ = (left, right, volatile);
    Comparison::default()
}
