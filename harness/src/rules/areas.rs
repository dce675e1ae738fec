//! The list of all rules, one per area. A new area is one line here.

use super::{Rule, cancel, perm, toolcall, transport};

/// A fresh instance of every rule.
pub(super) fn all() -> Vec<Box<dyn Rule>> {
    vec![
        Box::new(transport::Transport::default()),
        Box::new(cancel::Cancellation::default()),
        Box::new(perm::Permission::default()),
        Box::new(toolcall::ToolCalls::default()),
    ]
}
