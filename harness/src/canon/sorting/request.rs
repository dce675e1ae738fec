//! Requests and notifications: what they are about, and where they belong.

use std::borrow::Cow;

use super::envelope::{Envelope, key};
use super::{Sent, Sorter};
use crate::canon::item::{CHUNKS, FLOATING, ItemId, Request, What};
use crate::canon::minted::Scope;
use crate::canon::node::Node;
use crate::canon::prepare::{self, Binder, Context, MessageKind};
use crate::spec::Identifier;
use crate::trace::Party;
impl<'a> Sorter<'a> {
    pub(super) fn call(
        &mut self,
        index: u32,
        from: Party,
        mut node: Node<'a>,
        method: &str,
        envelope: &Envelope,
        raw: &'a str,
    ) {
        let update = envelope.update.as_deref();
        let name = update.map_or_else(|| method.to_owned(), |update| format!("{method} {update}"));
        let kind = self.kind(from, &name, |volatility| {
            MessageKind::call(method, update, from, volatility)
        });
        let target = self.target(from, &node, method);
        let mut session = self.bind_session(node.at(&["params", "sessionId"]));
        if session.is_none() {
            session = match target {
                Some(request) => self
                    .form
                    .requests
                    .get(request as usize)
                    .and_then(|request| request.session),
                None => self.elicitation(&node),
            };
        }
        let folder = self.form.folders.opened(&node);
        if let (Some(group), Some(session)) = (
            folder,
            session.and_then(|session| self.form.sessions.get(session as usize)),
        ) {
            self.form.folders.belongs(session.id, group);
        }
        let request = envelope
            .id
            .as_ref()
            .map(|id| self.begin(from, id, method, session));
        let sent = Sent {
            event: index,
            from,
            kind,
            request,
        };
        let mut context = self.context(session, request);
        if let Some(target) = target.and_then(|target| self.form.requests.get(target as usize)) {
            context.target = Some(target.reference);
            self.form.targets.insert(index, target.reference);
        }
        if method == "session/new" {
            context.folder = folder;
        }
        if let Some(kind) = self.form.kinds.get(kind as usize) {
            prepare::without_defaults(&mut node, kind);
        }
        if let (Some(session), Some(update)) = (session, update)
            && CHUNKS.contains(&update)
            && let Some(text) = prepare::take_text(&mut node)
        {
            self.name(&mut node, context);
            self.chunk(sent, session, node, &text);
            if let Cow::Borrowed(text) = text
                && from == Party::Agent
            {
                self.learn_template(session, raw, text);
            }
            return;
        }
        self.name(&mut node, context);
        self.replace(kind, &mut node);
        self.learn_elicitation(&node, session);

        let tool = Self::tool_of(&node, method);
        if let (Some(session), Some((tool, is_update))) = (session, tool) {
            self.step(sent, session, node, tool, is_update);
            return;
        }
        let Some(session) = session else {
            let id = self.push(sent, What::Message(kind), None, &node);
            self.set_request_item(request, id);
            self.form.connection.push(id);
            if method == "session/new" {
                self.await_session(sent, id, context.folder);
            }
            return;
        };
        let opened = self.is_opened(session, from);
        if let Some(place) = update
            .and_then(|update| FLOATING.iter().position(|kind| *kind == update))
            .filter(|_| opened)
        {
            let id = self.push(sent, What::Message(kind), Some(session), &node);
            if let Some(stream) = self
                .form
                .sessions
                .get_mut(session as usize)
                .and_then(|session| session.floating.get_mut(place))
            {
                stream.push(id);
            }
            return;
        }
        let cancels = from == Party::Client
            && (method == "session/cancel" || self.is_open_turn(session, target));
        if cancels && self.cancel(sent, session, &node) {
            return;
        }
        self.close_text(session);
        if method == "session/prompt" && from == Party::Client {
            self.begin_turn(session, request);
        }
        let id = self.push(sent, What::Message(kind), Some(session), &node);
        self.set_request_item(request, id);
        if method == "terminal/output" {
            self.poll(session, id, &node);
        } else if let Some(Node::Id(terminal)) = node.at(&["params", "terminalId"])
            && let Some(live) = self.live.get_mut(session as usize)
        {
            live.polls.remove(terminal);
        }
        self.append(session, id);
    }

    /// Whether a session is known to the client: a state update does not float over the answer that opens its session.
    fn is_opened(&mut self, session: u32, from: Party) -> bool {
        let awaited = self.awaited > 0;
        self.live.get_mut(session as usize).is_some_and(|live| {
            live.opened |= from == Party::Client || !awaited;
            live.opened
        })
    }

    pub(super) fn name(&mut self, node: &mut Node<'a>, context: Context) {
        prepare::named(
            node,
            context,
            &self.form.folders,
            &mut Binder::Learning(&mut self.form.minted),
        );
    }

    /// The request that a `requestId` names: one of the sender's own in `$/cancel_request`, else one of the other side.
    pub(super) fn target(&self, from: Party, node: &Node<'_>, method: &str) -> Option<u32> {
        let id = node.at(&["params", "requestId"])?;
        let asker = match (from, method) {
            (from, "$/cancel_request") => from,
            (Party::Agent, _) => Party::Client,
            _ => Party::Agent,
        };
        self.last.get(&(asker, key(id))).copied()
    }

    pub(super) fn elicitation(&self, node: &Node<'_>) -> Option<u32> {
        let id = node.at(&["params", "elicitationId"])?.scalar()?;
        let reference = self
            .form
            .minted
            .known(Identifier::Elicitation, Scope::Connection, &id)?;
        self.elicitations.get(&reference).copied()
    }

    pub(super) fn learn_elicitation(&mut self, node: &Node<'_>, session: Option<u32>) {
        if let (Some(Node::Id(id)), Some(session)) =
            (node.at(&["params", "elicitationId"]), session)
        {
            self.elicitations.entry(*id).or_insert(session);
        }
    }

    pub(super) fn begin(
        &mut self,
        from: Party,
        id: &str,
        method: &str,
        session: Option<u32>,
    ) -> u32 {
        let number = u32::try_from(self.form.requests.len()).unwrap_or(u32::MAX);
        let other = if from == Party::Client {
            Party::Agent
        } else {
            Party::Client
        };
        let response = self.kind(other, &format!("{method} response"), |volatility| {
            MessageKind::response(method, other, volatility)
        });
        let reference = self.form.minted.request();
        self.form.requests.push(Request {
            reference,
            item: ItemId(u32::MAX),
            response,
            session,
            call: None,
            new_session: None,
            turn: None,
            answered: false,
        });
        self.open
            .entry((from, id.to_owned()))
            .or_default()
            .push_back(number);
        self.last.insert((from, id.to_owned()), number);
        number
    }

    pub(super) fn set_request_item(&mut self, request: Option<u32>, id: ItemId) {
        if let Some(request) =
            request.and_then(|request| self.form.requests.get_mut(request as usize))
        {
            request.item = id;
        }
    }

    /// Marks in the connection's stream that a session was asked for.
    pub(super) fn await_session(&mut self, sent: Sent, id: ItemId, folder: Option<usize>) {
        let Some(entry) = sent
            .request
            .and_then(|request| self.form.requests.get_mut(request as usize))
        else {
            return;
        };
        // Nothing is ever taken out of the connection's stream: the place stays.
        let place = self.form.connection.len().saturating_sub(1);
        entry.new_session = Some((id, place, folder));
        self.awaited += 1;
        let mark = self.push(sent.unasked(), What::NewSession, None, &Node::Null);
        // The mark waits outside of all streams until it is known whether a session comes of it.
        if let Some(owner) = self.form.owners.get_mut(sent.event as usize) {
            *owner = id.0;
        }
        debug_assert_eq!(mark.0, id.0 + 1);
    }
}
