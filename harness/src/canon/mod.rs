//! The canonical form of a trace: run-time values replaced by names, legal freedom removed.

mod volatility;

pub use volatility::{SidecarError, Unmatched, Volatility};
