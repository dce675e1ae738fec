//! Tool calls: their states, and the questions about them.

use std::hash::{Hash as _, Hasher as _};

use super::{Sent, Sorter, mix};
use crate::canon::call::{self, State};
use crate::canon::item::{Call, Item, What};
use crate::canon::minted::Reference;
use crate::canon::node::{Node, hasher};
impl<'a> Sorter<'a> {
    /// The tool call that a message is about, and whether it is an update.
    pub(super) fn tool_of(node: &Node<'_>, method: &str) -> Option<(Reference, bool)> {
        let (holder, is_update) = match method {
            "session/update" => (call::update_of(node)?, true),
            "session/request_permission" => (node.at(&["params", "toolCall"])?, false),
            _ => return None,
        };
        match holder.get("toolCallId")? {
            Node::Id(tool) => Some((*tool, is_update)),
            _ => None,
        }
    }

    pub(super) fn step(
        &mut self,
        sent: Sent,
        session: u32,
        node: Node<'a>,
        tool: Reference,
        is_update: bool,
    ) {
        let starts = is_update
            && node
                .at(&["params", "update", "sessionUpdate"])
                .and_then(Node::text)
                == Some("tool_call");
        let minted = &self.form.minted;
        let Some(live) = self.live.get_mut(session as usize) else {
            return;
        };
        let known = live.calls.get_mut(&tool);
        let mut value = Some(node);
        let mut delta = None;
        let fresh = match known {
            Some((_, state)) => {
                if is_update {
                    let ended = state.ended();
                    let Some(update) = value.take().and_then(call::into_update) else {
                        return;
                    };
                    let restart = starts && ended;
                    let repeated = restart.then(|| update.clone());
                    delta = state.advance(update, minted);
                    if delta.is_none() {
                        return self.owned_by_call(sent.event, session, tool);
                    }
                    match repeated {
                        // Another call under an id that has been used.
                        Some(update) => {
                            value = Some(update);
                            true
                        }
                        None => false,
                    }
                } else {
                    false
                }
            }
            None => {
                if is_update {
                    value = value.take().and_then(call::into_update);
                }
                true
            }
        };
        if fresh {
            self.close_text(session);
            self.start_call(sent.unasked(), session, tool);
            if is_update
                && let (Some(update), Some(live)) =
                    (value.take(), self.live.get_mut(session as usize))
                && let Some((_, state)) = live.calls.get_mut(&tool)
            {
                delta = state.advance(update, &self.form.minted);
            }
        }
        let Some((call, ended)) = self
            .live
            .get(session as usize)
            .and_then(|live| live.calls.get(&tool))
            .map(|(call, state)| (*call, state.ended()))
        else {
            return;
        };
        let node = delta.or(value).unwrap_or(Node::Null);
        let id = self.push(sent, What::Step(call), Some(session), &node);
        self.set_request_item(sent.request, id);
        if let Some(request) = sent
            .request
            .and_then(|request| self.form.requests.get_mut(request as usize))
        {
            request.call = Some(call);
        }
        if let Some(call) = self.form.calls.get_mut(call as usize) {
            call.steps.push(id);
            call.ended = ended;
        }
    }

    pub(super) fn owned_by_call(&mut self, index: u32, session: u32, tool: Reference) {
        let call = self
            .live
            .get(session as usize)
            .and_then(|live| live.calls.get(&tool));
        let step = call
            .and_then(|(call, _)| self.form.calls.get(*call as usize))
            .and_then(|call| call.steps.last());
        if let (Some(step), Some(owner)) = (step, self.form.owners.get_mut(index as usize)) {
            *owner = step.0;
        }
    }

    pub(super) fn start_call(&mut self, sent: Sent, session: u32, tool: Reference) {
        let call = u32::try_from(self.form.calls.len()).unwrap_or(u32::MAX);
        let item = self.push(sent, What::Call(call), Some(session), &Node::Null);
        self.form.calls.push(Call {
            id: tool,
            item,
            steps: Vec::new(),
            ended: false,
        });
        self.append(session, item);
        if let Some(live) = self.live.get_mut(session as usize) {
            live.calls.insert(tool, (call, State::default()));
            live.unfinished.push(call);
        }
    }
}

/// A call counts by all its steps.
pub(super) fn weigh_call(items: &mut [Item], call: &Call) {
    let (mut full, mut shape) = (hasher(), hasher());
    for (index, step) in call.steps.iter().enumerate() {
        if let Some(step) = items.get(step.index()) {
            step.full.hash(&mut full);
            // What kind of call it is shows in its first state.
            if index == 0 {
                step.shape.hash(&mut shape);
            }
        }
    }
    let references = call
        .steps
        .first()
        .and_then(|step| items.get(step.index()))
        .map_or((0, 0), |step| step.references);
    if let Some(item) = items.get_mut(call.item.index()) {
        item.full = mix(item.kind, full.finish());
        item.shape = mix(item.kind, shape.finish());
        item.references = references;
    }
}
