//! Turns: where they begin and end, and what is in flight when one is cancelled.

use super::{Sent, Sorter};
use crate::canon::item::{ItemId, What};
use crate::canon::node::Node;
use crate::trace::Party;
/// So many things in flight are looked through when a turn is cancelled.
const IN_FLIGHT: usize = 1_000;

impl<'a> Sorter<'a> {
    pub(super) fn begin_turn(&mut self, session: u32, request: Option<u32>) {
        let (Some(known), Some(live)) = (
            self.form.sessions.get_mut(session as usize),
            self.live.get_mut(session as usize),
        ) else {
            return;
        };
        known.turns += 1;
        live.turns.push(known.turns);
        live.cancelled = false;
        live.unfinished.clear();
        if let Some(request) =
            request.and_then(|request| self.form.requests.get_mut(request as usize))
        {
            request.turn = Some(known.turns);
        }
    }

    pub(super) fn is_open_turn(&self, session: u32, target: Option<u32>) -> bool {
        let turn = target
            .and_then(|target| self.form.requests.get(target as usize))
            .and_then(|request| request.turn);
        let live = self.live.get(session as usize);
        turn.is_some() && live.and_then(|live| live.turns.last()) == turn.as_ref()
    }

    /// A cancel stands before what is in flight when it comes; false where no turn is open.
    pub(super) fn cancel(&mut self, sent: Sent, session: u32, node: &Node<'a>) -> bool {
        if self
            .live
            .get(session as usize)
            .is_none_or(|live| live.turns.is_empty())
        {
            return false;
        }
        let id = self.push(sent, What::Message(sent.kind), Some(session), node);
        self.set_request_item(sent.request, id);
        let place = self.mark_in_flight(session);
        if let Some(known) = self.form.sessions.get_mut(session as usize) {
            known.items.insert(place, id);
        }
        true
    }

    /// Closing the agent's stdin, or a signal to it, ends every turn that is open.
    pub(super) fn cut_off(&mut self) {
        for session in 0..self.live.len() {
            let turn = self
                .live
                .get(session)
                .and_then(|live| live.turns.last().copied());
            let Some(turn) = turn else {
                continue;
            };
            self.mark_in_flight(u32::try_from(session).unwrap_or(u32::MAX));
            if let Some(live) = self.live.get_mut(session) {
                live.cut_off = true;
            }
            if let Some(known) = self.form.sessions.get_mut(session)
                && known.cut_off.last() != Some(&turn)
            {
                known.cut_off.push(turn);
            }
        }
    }

    /// Marks what a turn that ends now has in flight, and all that is still to come in it. Gives the place in the session's
    /// stream where that begins.
    pub(super) fn mark_in_flight(&mut self, session: u32) -> usize {
        let items = self
            .form
            .sessions
            .get(session as usize)
            .map_or(&[][..], |session| &session.items);
        let in_flight = items
            .iter()
            .rev()
            .take(IN_FLIGHT)
            .take_while(|id| self.is_in_flight(**id))
            .count();
        let place = items.len() - in_flight;
        let calls = self
            .live
            .get_mut(session as usize)
            .map(|live| {
                live.cancelled = true;
                std::mem::take(&mut live.unfinished)
            })
            .unwrap_or_default();
        let open_calls = calls.into_iter().filter_map(|call| {
            let call = self.form.calls.get(call as usize)?;
            (!call.ended).then_some(call.item)
        });
        let late: Vec<ItemId> = items
            .get(place..)
            .unwrap_or(&[])
            .iter()
            .copied()
            .chain(open_calls)
            .collect();
        for id in late {
            if let Some(item) = self.form.items.get_mut(id.index()) {
                item.late = true;
            }
        }
        place
    }

    pub(super) fn is_in_flight(&self, id: ItemId) -> bool {
        let Some(item) = self.form.item(id).filter(|item| item.from == Party::Agent) else {
            return false;
        };
        match &item.what {
            // Nothing tells a text that was whole from one that would have gone on.
            What::Text { .. } => true,
            What::Call(call) => self
                .form
                .calls
                .get(*call as usize)
                .is_some_and(|call| !call.ended),
            What::Message(_) => item
                .request
                .and_then(|request| self.form.requests.get(request as usize))
                .is_some_and(|request| request.item == id && !request.answered),
            _ => false,
        }
    }
}
