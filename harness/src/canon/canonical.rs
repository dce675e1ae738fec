//! A trace in canonical form: what was said, sorted into streams, each thing with the hashes that it is compared by.

use std::borrow::Cow;

use super::call;
use super::folders::Folders;
use super::item::{Call, Item, ItemId, Request, Session, What};
use super::minted::{Minted, Reference};
use super::node::Node;
use super::prepare::{self, Binder, Context, MessageKind};
use super::volatility::Volatility;
use crate::hash::HashMap;
use crate::trace::{Body, Exit, Recording};
use crate::wire::Reading;

/// What is looked at beside the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scrutiny {
    /// What the agent wrote to stderr.
    pub stderr: bool,
}

/// How a process ended, as far as it says something about the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The event.
    pub event: u32,
    /// Exit code or signal.
    pub exit: Exit,
    /// Whether the harness sent a signal before.
    pub forced: bool,
}

/// A trace in canonical form. Values are made from the trace when they are asked for.
#[derive(Debug)]
pub struct Canonical<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) volatility: &'a Volatility,
    pub(crate) minted: Minted,
    pub(crate) folders: Folders,
    pub(crate) kinds: Vec<MessageKind>,
    pub(crate) items: Vec<Item>,
    pub(crate) references: Vec<Reference>,
    pub(crate) requests: Vec<Request>,
    /// The request that a `requestId` in the message of an event names.
    pub(crate) targets: HashMap<u32, Reference>,
    /// What concerns no session, in order.
    pub(crate) connection: Vec<ItemId>,
    /// The sessions, in the order in which they were first spoken of.
    pub(crate) sessions: Vec<Session>,
    pub(crate) calls: Vec<Call>,
    /// The item that each event belongs to; `u32::MAX` where to none.
    pub(crate) owners: Vec<u32>,
    /// How the process ended.
    pub(crate) ending: Option<Ending>,
    /// Whether a stream was seen to end, so that an exit could be expected.
    pub(crate) closed: bool,
    /// Which volatility entries matched something.
    pub(crate) hits: Vec<bool>,
}

impl<'a> Canonical<'a> {
    /// The canonical form of a trace.
    #[must_use]
    pub fn of(recording: &'a Recording, volatility: &'a Volatility) -> Self {
        Self::looking_at(recording, volatility, Scrutiny::default())
    }

    /// The canonical form of a trace, of more than its messages.
    #[must_use]
    pub fn looking_at(
        recording: &'a Recording,
        volatility: &'a Volatility,
        scrutiny: Scrutiny,
    ) -> Self {
        super::sorting::sort(recording, volatility, scrutiny)
    }

    /// An item.
    pub(crate) fn item(&self, id: ItemId) -> Option<&Item> {
        self.items.get(id.index())
    }

    /// The call that an item is.
    pub(crate) fn call_of(&self, item: &Item) -> Option<&Call> {
        match item.what {
            What::Call(call) | What::Step(call) => self.calls.get(call as usize),
            _ => None,
        }
    }

    /// Whether the agent was told to end during the turn of an item.
    pub(crate) fn was_cut_off(&self, item: &Item) -> bool {
        item.session
            .and_then(|session| self.sessions.get(session as usize))
            .is_some_and(|session| session.cut_off.binary_search(&item.turn).is_ok())
    }

    /// The name of an item's kind of message.
    pub(crate) fn kind_name(&self, item: &Item) -> &str {
        match &item.what {
            What::Message(kind) | What::Text { kind, .. } => self
                .kinds
                .get(*kind as usize)
                .map_or("", |kind| kind.name.as_str()),
            What::Call(_) => "tool call",
            What::Step(_) => "tool call state",
            What::NewSession => "session/new",
            What::Answered => "session/request_permission response",
            What::Line => "line",
            What::Stderr => "stderr",
        }
    }

    /// The minted values of an item, in the order of hashing.
    pub(crate) fn references_of(&self, item: &Item) -> &[Reference] {
        let (start, length) = item.references;
        self.references
            .get(start as usize..(start + length) as usize)
            .unwrap_or(&[])
    }

    fn context(&self, item: &Item) -> Context {
        let session = item
            .session
            .and_then(|session| self.sessions.get(session as usize))
            .map(|session| session.id);
        Context {
            session,
            folder: session.and_then(|session| self.folders.group_of(session)),
            request: item
                .request
                .and_then(|request| self.requests.get(request as usize))
                .map(|request| request.reference),
            target: self.targets.get(&item.event).copied(),
        }
    }

    /// The value of an item in canonical form: a whole message, or the text of a line. A call's own value is its first state.
    pub(crate) fn node(&self, item: &Item) -> Node<'a> {
        match &item.what {
            What::Message(kind) => self.message_node(item, *kind, None),
            What::Text { kind, text } => {
                self.message_node(item, *kind, Some(Cow::Owned(text.clone().into_string())))
            }
            What::Step(_) | What::Answered => self.step_message(item),
            What::Call(call) => self
                .calls
                .get(*call as usize)
                .and_then(|call| self.steps(call, 1).into_iter().next())
                .map_or(Node::Null, |(_, node)| node),
            What::NewSession => Node::Text("session/new".into()),
            What::Line | What::Stderr => self.line_node(item),
        }
    }

    fn message_node(&self, item: &Item, kind: u32, text: Option<Cow<'a, str>>) -> Node<'a> {
        let Some(kind) = self.kinds.get(kind as usize) else {
            return Node::Null;
        };
        let Some(mut node) = self.raw(item.event) else {
            return Node::Null;
        };
        let joined = text.is_some();
        if joined {
            prepare::take_text(&mut node);
        }
        self.prepare(&mut node, kind, self.context(item));
        if let Some(text) = text {
            prepare::put_text(&mut node, text);
        }
        node
    }

    fn prepare(&self, node: &mut Node<'a>, kind: &MessageKind, context: Context) {
        prepare::in_order(node);
        prepare::without_defaults(node, kind);
        prepare::named(
            node,
            context,
            &self.folders,
            &mut Binder::Known(&self.minted),
        );
        self.volatility.replace(&kind.about, node, &mut |_| {});
    }

    fn step_message(&self, item: &Item) -> Node<'a> {
        let Some(mut node) = self.raw(item.event) else {
            return Node::Null;
        };
        let method = node.get("method").and_then(Node::text).map(str::to_owned);
        let kind = match method.as_deref() {
            Some("session/update") => {
                let update = node
                    .at(&["params", "update", "sessionUpdate"])
                    .and_then(Node::text);
                MessageKind::call("session/update", update, item.from, self.volatility)
            }
            Some(method) => MessageKind::call(method, None, item.from, self.volatility),
            None => MessageKind::response("session/request_permission", item.from, self.volatility),
        };
        self.prepare(&mut node, &kind, self.context(item));
        node
    }

    /// The states of a call: for each step its item and what it changed.
    pub(crate) fn states(&self, call: &Call) -> Vec<(ItemId, Node<'a>)> {
        self.steps(call, usize::MAX)
    }

    fn steps(&self, call: &Call, most: usize) -> Vec<(ItemId, Node<'a>)> {
        let mut state = call::State::default();
        call.steps
            .iter()
            .take(most)
            .filter_map(|id| {
                let item = self.item(*id)?;
                let message = self.step_message(item);
                let node = match call::update_of(&message) {
                    Some(_) => state.advance(call::into_update(message)?, &self.minted)?,
                    None => message,
                };
                Some((*id, node))
            })
            .collect()
    }

    fn line_node(&self, item: &Item) -> Node<'a> {
        let event = self.recording.events.get(item.event as usize);
        let bytes = match event.map(|event| &event.body) {
            Some(Body::Line { bytes, .. } | Body::Stderr(bytes)) => bytes.as_slice(),
            Some(Body::Message { text, .. }) => text.as_bytes(),
            _ => &[],
        };
        line_node(bytes, &self.folders)
    }

    /// The message of an event as it was said.
    pub(crate) fn raw(&self, event: u32) -> Option<Node<'a>> {
        match &self.recording.events.get(event as usize)?.body {
            Body::Message { text, .. } => parse(text),
            _ => None,
        }
    }

    /// The item that an event belongs to.
    pub(crate) fn owner(&self, event: u64) -> Option<ItemId> {
        let owner = self.owners.get(usize::try_from(event).ok()?)?;
        (*owner != u32::MAX).then_some(ItemId(*owner))
    }

    /// The volatility entries of a sidecar that matched nothing here.
    pub(crate) fn hit(&self, entry: usize) -> bool {
        self.hits.get(entry).copied().unwrap_or(false)
    }
}

/// A line that holds no message, as text with its folders named.
pub(crate) fn line_node<'a>(bytes: &'a [u8], folders: &Folders) -> Node<'a> {
    Node::Text(folders.named(String::from_utf8_lossy(bytes), None))
}

/// Reads a message's text, also where it holds what the strict reader refuses.
pub(crate) fn parse(text: &str) -> Option<Node<'_>> {
    match Node::parse(text) {
        Ok(node) => Some(node),
        Err(_) => {
            let reading = Reading::of_text(text);
            let members = reading.message()?.members().clone();
            Some(Node::from(serde_json::Value::Object(members)))
        }
    }
}
