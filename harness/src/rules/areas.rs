//! The list of all rules, one per area. A new area is one line here.

use super::{Rule, cancel, content, perm, plan, prompt, toolcall, transport, update, usage};

/// A fresh instance of every rule.
pub(super) fn all() -> Vec<Box<dyn Rule>> {
    vec![
        Box::new(transport::Transport::default()),
        Box::new(prompt::Prompts::default()),
        Box::new(update::Updates::default()),
        Box::new(content::Content),
        Box::new(toolcall::ToolCalls::default()),
        Box::new(perm::Permission::default()),
        Box::new(cancel::Cancellation::default()),
        Box::new(plan::Planning::default()),
        Box::new(usage::Usage::default()),
    ]
}
