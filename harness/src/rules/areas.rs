//! The list of all rules, one per area. A new area is one line here.

use super::{Rule, auth, error, init, jsonrpc, schema, session, transport};

/// A fresh instance of every rule.
pub(super) fn all() -> Vec<Box<dyn Rule>> {
    vec![
        Box::new(transport::Transport::default()),
        Box::new(jsonrpc::Jsonrpc::default()),
        Box::new(schema::Shape),
        Box::new(init::Handshakes::default()),
        Box::new(auth::Methods),
        Box::new(session::Sessions::default()),
        Box::new(error::Errors),
        // Gathers what the others found, so it is the last.
        Box::new(init::LeftOut),
    ]
}
