//! The list of all rules, one per area. A new area is one line here.

use super::Rule;
use super::cancel::Cancellation;
use super::perm::Permission;
use super::toolcall::ToolCalls;

/// A fresh instance of every rule.
pub(super) fn all() -> Vec<Box<dyn Rule>> {
    vec![
        Box::<Cancellation>::default(),
        Box::<Permission>::default(),
        Box::<ToolCalls>::default(),
    ]
}
