//! A request that waits for its answer.

use std::collections::VecDeque;

use serde_json::Value;

use crate::hash::HashMap;
use crate::trace::Event;
use crate::wire::{Id, Message};

/// A request that waits for its answer.
#[derive(Clone, Debug)]
pub struct Open {
    /// The event of the request.
    pub event: u64,
    /// When it was sent, in seconds.
    pub at: f64,
    /// Its id.
    pub id: Id,
    /// Its method.
    pub method: String,
    /// Its params; of a prompt without the content.
    pub params: Value,
    /// The session it names.
    pub session: Option<String>,
    /// Whether it was sent to provoke.
    pub probe: bool,
    /// The event at which its sender asked to cancel it by `$/cancel_request`.
    pub cancel_requested: Option<u64>,
}

impl Open {
    pub(super) fn new(index: u64, event: &Event, id: &Id, method: &str, message: &Message) -> Self {
        let mut params = message.params().cloned().unwrap_or(Value::Null);
        if let (Some(members), "session/prompt") = (params.as_object_mut(), method) {
            members.shift_remove("prompt");
        }
        Self {
            event: index,
            at: event.at,
            id: id.clone(),
            method: method.to_owned(),
            session: message.session().map(str::to_owned),
            params,
            probe: event.probe.is_some(),
            cancel_requested: None,
        }
    }
}

/// Adds a request. One with the same id from before the last hole was probably answered in it.
pub(super) fn push(open: &mut HashMap<Id, VecDeque<Open>>, request: Open, hole: u64) {
    let queue = open.entry(request.id.clone()).or_default();
    queue.retain(|before| before.event >= hole);
    queue.push_back(request);
}

pub(super) fn take(open: &mut HashMap<Id, VecDeque<Open>>, id: &Id) -> Option<Open> {
    let queue = open.get_mut(id)?;
    let first = queue.pop_front();
    if queue.is_empty() {
        open.remove(id);
    }
    first
}

/// The open id beyond 2^53 that a reader of numbers as doubles makes this id from; such ids are only recorded
/// (JSONRPC-16).
pub(super) fn rounded(open: &HashMap<Id, VecDeque<Open>>, id: &Id) -> Option<Id> {
    const EXACT: u64 = 1 << 53;
    #[expect(
        clippy::cast_precision_loss,
        reason = "that loss is what is looked for"
    )]
    let double = match id {
        Id::Integer(integer) if integer.unsigned_abs() >= EXACT => *integer as f64,
        Id::Illegal(text) => text.parse::<f64>().ok()?,
        _ => return None,
    };
    #[expect(
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "that loss is what is looked for"
    )]
    let is_it = |other: &&Id| matches!(other, Id::Integer(integer) if integer.unsigned_abs() > EXACT && *integer as f64 == double);
    open.keys().find(is_it).cloned()
}

/// The open request whose id reads the same as this one but is of another type.
pub(super) fn under_another_type<'a>(
    open: &'a HashMap<Id, VecDeque<Open>>,
    id: &Id,
) -> Option<&'a Open> {
    open.get(&id.twin()?)?.front()
}
