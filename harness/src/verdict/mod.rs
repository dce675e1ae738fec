//! From judgements to the state of each requirement and one verdict. Pure: no files, no clock.

mod assessment;
mod blocked;
mod stale;
mod standing;
mod state;

pub use assessment::{
    Assessment, BASELINE, KnownFailures, Piece, Scope, Totals, Verdict, assess, assess_recordings,
};
pub use blocked::{Blocked, Blocker};
pub use stale::Stale;
pub use standing::{Shown, Sighting, Standing};
pub use state::State;
