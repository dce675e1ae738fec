//! What a message is, before it is sorted.

use crate::canon::node::Node;
/// The members that tell what a message is.
pub(super) struct Envelope {
    pub(super) method: Option<String>,
    /// The id as it is looked up.
    pub(super) id: Option<String>,
    pub(super) update: Option<String>,
    pub(super) is_response: bool,
}

impl Envelope {
    pub(super) fn of(node: &Node<'_>) -> Option<Self> {
        let id = node.get("id").map(key);
        let method = match node.get("method") {
            Some(Node::Text(method)) => Some(method.clone().into_owned()),
            Some(_) => return None,
            None => None,
        };
        let answered = node.get("result").is_some() || node.get("error").is_some();
        let is_response = method.is_none() && id.is_some() && answered;
        if method.is_none() && !is_response {
            return None;
        }
        let update = (method.as_deref() == Some("session/update"))
            .then(|| node.at(&["params", "update", "sessionUpdate"])?.text())
            .flatten()
            .map(str::to_owned);
        Some(Self {
            method,
            id,
            update,
            is_response,
        })
    }
}

/// How an id is looked up: a number is never a string.
pub(super) fn key(id: &Node<'_>) -> String {
    match id {
        Node::Text(text) => format!("\"{text}"),
        Node::Number(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}
