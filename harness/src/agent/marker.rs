//! The mark that all processes of one run bear in their environment.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The variable whose value marks all processes of one run.
pub(super) const MARKER_VARIABLE: &str = "ACP_HARNESS_RUN";

/// What marks the processes of one run: the value of the variable `ACP_HARNESS_RUN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker(String);

impl Marker {
    /// A marker that no other run has.
    pub fn fresh() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Self(format!(
            "{}-{:x}-{count}",
            std::process::id(),
            now.as_nanos()
        ))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
