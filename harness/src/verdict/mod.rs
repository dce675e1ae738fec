//! From judgements to the state of each requirement and one verdict. Pure: no files, no clock.

mod assessment;
mod known;
mod state;

pub use assessment::{
    Assessment, BASELINE, Piece, Scope, Sighting, Standing, Totals, Verdict, assess,
};
pub use known::{Known, Stale};
pub use state::State;
