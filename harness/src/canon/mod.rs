//! The canonical form of a trace: run-time values replaced by names, legal freedom removed.
//!
//! Two traces of the same behaviour have equal canonical forms. The form is kept as hashes and numbers of events; values
//! are made again from the trace where they are needed, so that memory stays in proportion to the number of events.

mod call;
mod canonical;
mod defaults;
mod folders;
mod item;
mod minted;
mod needles;
mod node;
mod prepare;
mod render;
mod sorting;
mod volatility;

pub use canonical::{Canonical, Ending, Scrutiny};
pub use item::{Call, Item, ItemId, Session};
pub(crate) use item::{FLOATING, What};
pub(crate) use minted::Segment;
pub use minted::{Minted, Reference};
pub use node::Node;
pub(crate) use node::{hasher, same_number};
pub use volatility::{Entry, SidecarError, Unmatched, Volatility};
