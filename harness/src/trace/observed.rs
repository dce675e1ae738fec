//! What an edge saw, on its way to whoever writes the trace.

use std::time::Instant;

use tokio::sync::mpsc;

use super::{Body, Party};

/// Something an edge saw happen, before it has a place in a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// When it was seen.
    pub at: Instant,
    /// Who did it.
    pub from: Party,
    /// What it was.
    pub body: Body,
}

impl Observed {
    /// Something that is seen right now.
    pub fn now(from: Party, body: Body) -> Self {
        Self {
            at: Instant::now(),
            from,
            body,
        }
    }
}

/// Where edges send what they see; bounded, so that a flood slows its source down.
pub type Outbox = mpsc::Sender<Observed>;
