//! Deviations on demand: faults, each of which breaks certain requirements and no others, and
//! quirks, which are odd but right.
//!
//! The tables are data, in `agent/faults/`: a deviation is a few edits of what passes on the wire,
//! outwards or inwards, or the name of a [`Hook`] where it takes a change inside.

mod edit;
mod filter;
mod hook;
mod known;
mod list;
mod message;
mod selector;
mod table;
mod template;

pub(crate) use filter::{Filter, Inward, Outward};
pub(crate) use hook::{Hook, is_on, switch_on};
pub(crate) use list::{Form, print};
pub(crate) use table::{Deviation, FAULTS, QUIRKS, Table};
