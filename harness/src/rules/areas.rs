//! The list of all rules, one per area. A new area is one line here.

use super::{Rule, jsonrpc, schema, session, transport};

/// A fresh instance of every rule.
pub(super) fn all() -> Vec<Box<dyn Rule>> {
    vec![
        Box::new(transport::Transport::default()),
        Box::new(jsonrpc::Jsonrpc::default()),
        Box::new(schema::Shape),
        Box::new(session::Sessions::default()),
    ]
}
