//! Responses: the request that each answers, and the session that comes of it.

use std::collections::VecDeque;

use super::envelope::Envelope;
use super::{Sent, Sorter};
use crate::canon::item::{ItemId, What};
use crate::canon::minted::Scope;
use crate::canon::node::Node;
use crate::canon::prepare::{self, MessageKind};
use crate::spec::Identifier;
use crate::trace::Party;
impl<'a> Sorter<'a> {
    pub(super) fn response(
        &mut self,
        index: u32,
        from: Party,
        mut node: Node<'a>,
        envelope: &Envelope,
    ) {
        let asker = if from == Party::Client {
            Party::Agent
        } else {
            Party::Client
        };
        let id = (asker, envelope.id.clone().unwrap_or_default());
        let open = self.open.get_mut(&id).and_then(VecDeque::pop_front);
        if self.open.get(&id).is_some_and(VecDeque::is_empty) {
            self.open.remove(&id);
        }
        let again = open.is_none();
        let request = open.or_else(|| self.last.get(&id).copied());
        let entry = request
            .and_then(|request| self.form.requests.get(request as usize))
            .copied();
        let kind = match entry {
            Some(entry) if !again => entry.response,
            Some(_) => self.kind(from, "second response", |volatility| {
                MessageKind::other("second response", from, volatility)
            }),
            None => self.kind(from, "response to nothing", |volatility| {
                MessageKind::other("response to nothing", from, volatility)
            }),
        };
        let mut session = entry.and_then(|entry| entry.session);
        let asked = entry.filter(|entry| !again && entry.new_session.is_some());
        if asked.is_some() {
            self.awaited = self.awaited.saturating_sub(1);
        }
        let created = asked.and_then(|_| self.bind_session(node.at(&["result", "sessionId"])));
        if let Some(created) = created {
            session = Some(created);
            self.settle(request, created);
        }
        if let Some(kind) = self.form.kinds.get(kind as usize) {
            prepare::without_defaults(&mut node, kind);
        }
        let mut context = self.context(session, request);
        if request.is_none() {
            // Nobody asked: what it claims to answer is a value like others.
            let (_, spelled) = &id;
            let unknown = self
                .form
                .minted
                .bind(Identifier::Request, Scope::Connection, spelled);
            context.target = Some(unknown);
            self.form.targets.insert(index, unknown);
        }
        self.name(&mut node, context);
        self.replace(kind, &mut node);
        if let Some(request) =
            request.and_then(|request| self.form.requests.get_mut(request as usize))
        {
            request.answered = true;
        }
        let sent = Sent {
            event: index,
            from,
            kind,
            request,
        };
        let Some(session) = session else {
            let id = self.push(sent, What::Message(kind), None, &node);
            self.form.connection.push(id);
            return;
        };
        if let Some(call) = entry.filter(|_| !again).and_then(|entry| entry.call) {
            let id = self.push(sent, What::Step(call), Some(session), &node);
            if let Some(call) = self.form.calls.get_mut(call as usize) {
                call.steps.push(id);
            }
            // What the agent does next must not come before the answer: it has its place in the session, too.
            let what = What::Answered;
            let mark = self.push(sent, what, Some(session), &Node::Null);
            if let Some(owner) = self.form.owners.get_mut(index as usize) {
                *owner = id.0;
            }
            self.append(session, mark);
            return;
        }
        self.close_text(session);
        let ends = entry.filter(|_| !again).and_then(|entry| entry.turn);
        if let (Some(turn), Some(live)) = (ends, self.live.get_mut(session as usize)) {
            live.cancelled = live.cut_off;
            // The response belongs to its own turn, also where another one began meanwhile.
            live.turns.retain(|open| *open != turn);
            live.turns.push(turn);
        }
        let id = self.push(sent, What::Message(kind), Some(session), &node);
        if let (Some(_), Some(live)) = (ends, self.live.get_mut(session as usize)) {
            live.turns.pop();
        }
        if let Some(request) = entry.filter(|_| !again) {
            self.polled(session, request.item, id, &node);
            if from == Party::Client && self.is_let_go(request.item) {
                self.put_behind(session, request.item, id);
                return;
            }
        }
        self.append(session, id);
    }

    /// Moves what asked for a session into the session's own stream, and leaves a mark in its place.
    pub(super) fn settle(&mut self, request: Option<u32>, created: u32) {
        let Some(entry) = request.and_then(|request| self.form.requests.get_mut(request as usize))
        else {
            return;
        };
        let Some((asked, place, folder)) = entry.new_session else {
            return;
        };
        entry.session = Some(created);
        if let Some(live) = self.live.get_mut(created as usize) {
            live.opened = true;
        }
        let mark = ItemId(asked.0 + 1);
        if let Some(place) = self.form.connection.get_mut(place) {
            *place = mark;
        }
        if let Some(item) = self.form.items.get_mut(asked.index()) {
            item.session = Some(created);
        }
        if let Some(session) = self.form.sessions.get_mut(created as usize) {
            if let Some(folder) = folder {
                self.form.folders.belongs(session.id, folder);
            }
            let first = session.items.first().copied();
            let before = first.is_some_and(|first| first > asked);
            session
                .items
                .insert(if before { 0 } else { session.items.len() }, asked);
        }
        if let Some(item) = self.form.items.get_mut(mark.index()) {
            item.session = Some(created);
        }
    }
}
