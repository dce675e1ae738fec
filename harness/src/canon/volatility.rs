//! What may differ from run to run.

use std::path::Path;

use thiserror::Error;

use crate::source::{Position, Problem};

/// What may differ from run to run: selectors, each with a reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Volatility {}

/// An entry of a sidecar that matched nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The sidecar.
    pub file: String,
    /// Where in it.
    pub position: Position,
    /// The selector as it is written.
    pub selector: String,
}

/// Why a sidecar cannot be used.
#[derive(Debug, Error)]
pub enum SidecarError {
    /// It is there and cannot be read.
    #[error("`{file}` could not be read: {error}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// What is wrong in it.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Wrong(Vec<Problem>),
}

impl Volatility {
    /// The entries that are built in (`harness/spec/acp-v1/volatile.toml`).
    #[must_use]
    pub fn built_in() -> Self {
        Self::default()
    }

    /// The same with the entries of the sidecar of a trace: `NAME.volatile.toml` beside `NAME.jsonl`. Where there is no such
    /// file, nothing changes. May be called once for each of two traces.
    ///
    /// # Errors
    /// Where the sidecar cannot be read, or holds what is not allowed there.
    pub fn with_sidecar(self, trace: &Path) -> Result<Self, SidecarError> {
        let _ = trace;
        Ok(self)
    }
}
