//! Sorts the events of a trace into streams, and finds what belongs together: chunks, calls, requests and responses.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::call::{self, State};
use super::canonical::{Canonical, Ending, Scrutiny, line_node, parse};
use super::folders::Folders;
use super::item::{CHUNKS, Call, FLOATING, Item, ItemId, Request, Session, What};
use super::minted::{Minted, Reference, Scope};
use super::node::Node;
use super::prepare::{self, Binder, Context, MessageKind};
use super::volatility::Volatility;
use crate::spec::Identifier;
use crate::trace::{Body, Party, Recording};

/// So many things in flight are looked through when a turn is cancelled.
const IN_FLIGHT: usize = 1_000;

/// Sorts a trace.
pub(super) fn sort<'a>(
    recording: &'a Recording,
    volatility: &'a Volatility,
    scrutiny: Scrutiny,
) -> Canonical<'a> {
    let mut sorter = Sorter {
        form: Canonical {
            recording,
            volatility,
            minted: Minted::new(),
            folders: Folders::of_agent(recording.header.cwd.as_deref()),
            kinds: Vec::new(),
            items: Vec::new(),
            references: Vec::new(),
            requests: Vec::new(),
            targets: HashMap::new(),
            connection: Vec::new(),
            sessions: Vec::new(),
            calls: Vec::new(),
            owners: vec![u32::MAX; recording.events.len()],
            ending: None,
            closed: false,
            hits: vec![false; volatility.entries().len()],
        },
        kinds: HashMap::new(),
        session_numbers: HashMap::new(),
        live: Vec::new(),
        open: HashMap::new(),
        last: HashMap::new(),
        elicitations: HashMap::new(),
        dropped: Vec::new(),
        forced: false,
    };
    // A text may name the folder of a session that is opened later.
    for event in &recording.events {
        if let (Party::Client, Body::Message { text, .. }) = (event.from, &event.body)
            && text.contains("\"cwd\"")
            && let Some(node) = parse(text)
        {
            sorter.form.folders.opened(&node);
        }
    }
    for (index, event) in recording.events.iter().enumerate() {
        let Ok(index) = u32::try_from(index) else {
            break;
        };
        sorter.event(index, event.from, &event.body, scrutiny);
    }
    sorter.finish()
}

/// What is going on in a session while its events are sorted.
#[derive(Debug, Default)]
struct Live<'a> {
    text: Option<OpenText<'a>>,
    /// The turns that are open, the latest last.
    turns: Vec<u32>,
    /// Whether the turn that is open was cancelled.
    cancelled: bool,
    /// Whether it was cut off, so that its answer may be missing too.
    cut_off: bool,
    calls: HashMap<Reference, (u32, State)>,
    /// Calls of this turn that have not ended, as far as known.
    unfinished: Vec<u32>,
    polls: HashMap<Reference, Poll>,
}

/// A message of which chunks are still coming.
#[derive(Debug)]
struct OpenText<'a> {
    item: ItemId,
    kind: u32,
    /// What all its chunks have in common.
    rest: u64,
    message: Option<Reference>,
    node: Node<'a>,
    text: String,
}

/// The last question for a terminal's output.
#[derive(Debug)]
struct Poll {
    request: ItemId,
    response: Option<ItemId>,
    output: String,
    exit: u64,
}

struct Sorter<'a> {
    form: Canonical<'a>,
    kinds: HashMap<Party, HashMap<String, u32>>,
    session_numbers: HashMap<Reference, u32>,
    live: Vec<Live<'a>>,
    /// Requests without an answer, by who asked and the id.
    open: HashMap<(Party, String), VecDeque<u32>>,
    /// The last request with an id.
    last: HashMap<(Party, String), u32>,
    /// The sessions of elicitations.
    elicitations: HashMap<Reference, u32>,
    /// Items that were merged into others.
    dropped: Vec<ItemId>,
    forced: bool,
}

/// What a message is, before it is sorted.
struct Envelope {
    method: Option<String>,
    /// The id as it is looked up.
    id: Option<String>,
    update: Option<String>,
    is_response: bool,
}

impl Envelope {
    fn of(node: &Node<'_>) -> Option<Self> {
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
fn key(id: &Node<'_>) -> String {
    match id {
        Node::Text(text) => format!("\"{text}"),
        Node::Number(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

impl<'a> Sorter<'a> {
    fn event(&mut self, index: u32, from: Party, body: &'a Body, scrutiny: Scrutiny) {
        match body {
            Body::Message { text, .. } => match parse(text) {
                Some(node) => self.message(index, from, node, text),
                None => self.line(index, from, text.as_bytes()),
            },
            Body::Line { bytes, .. } => self.line(index, from, bytes),
            Body::Stderr(bytes) if scrutiny.stderr => {
                let node = line_node(bytes, &self.form.folders);
                self.other(index, from, "stderr", What::Stderr, node);
            }
            Body::Signal(_) => {
                self.forced = true;
                self.cut_off();
            }
            Body::Exit(exit) => {
                self.form.ending = Some(Ending {
                    event: index,
                    exit: *exit,
                    forced: self.forced,
                });
            }
            Body::Eof => {
                self.form.closed = true;
                if from == Party::Client {
                    self.cut_off();
                }
            }
            _ => {}
        }
    }

    fn line(&mut self, index: u32, from: Party, bytes: &'a [u8]) {
        let node = line_node(bytes, &self.form.folders);
        self.other(index, from, "line", What::Line, node);
    }

    fn other(&mut self, index: u32, from: Party, name: &str, what: What, mut node: Node<'a>) {
        let kind = self.kind(from, name, |volatility| {
            MessageKind::other(name, from, volatility)
        });
        if let Node::Text(text) = &node {
            self.form.minted.learn_secrets(text);
        }
        self.replace(kind, &mut node);
        let id = self.push(index, from, what, None, None, kind, &node);
        self.form.connection.push(id);
    }

    fn kind(
        &mut self,
        from: Party,
        name: &str,
        make: impl FnOnce(&'a Volatility) -> MessageKind,
    ) -> u32 {
        if let Some(known) = self.kinds.get(&from).and_then(|kinds| kinds.get(name)) {
            return *known;
        }
        let number = u32::try_from(self.form.kinds.len()).unwrap_or(u32::MAX);
        self.form.kinds.push(make(self.form.volatility));
        self.kinds
            .entry(from)
            .or_default()
            .insert(name.to_owned(), number);
        number
    }

    fn replace(&mut self, kind: u32, node: &mut Node<'a>) {
        if let Some(kind) = self.form.kinds.get(kind as usize) {
            let hits = &mut self.form.hits;
            self.form
                .volatility
                .replace(&kind.about, node, &mut |entry| {
                    if let Some(hit) = hits.get_mut(entry) {
                        *hit = true;
                    }
                });
        }
    }

    /// Makes an item of a value and gives its number.
    #[expect(clippy::too_many_arguments, reason = "an item has as many sides")]
    fn push(
        &mut self,
        event: u32,
        from: Party,
        what: What,
        session: Option<u32>,
        request: Option<u32>,
        kind: u32,
        node: &Node<'_>,
    ) -> ItemId {
        let id = ItemId(u32::try_from(self.form.items.len()).unwrap_or(u32::MAX));
        let mut hasher = DefaultHasher::new();
        let name = self
            .form
            .kinds
            .get(kind as usize)
            .map_or("", |kind| kind.name.as_str());
        let name = match what {
            What::Call(_) => "tool call",
            What::NewSession => "mark of a session",
            What::Step(_) if name.starts_with("session/update") => "tool call state",
            _ => name,
        };
        (from, name).hash(&mut hasher);
        let kind_hash = hasher.finish();
        let (turn, late) = session
            .and_then(|session| self.live.get(session as usize))
            .map_or((0, false), |live| {
                (
                    live.turns.last().copied().unwrap_or(0),
                    live.cancelled && from == Party::Agent,
                )
            });
        self.form.items.push(Item {
            event,
            from,
            turn,
            late,
            what,
            session,
            request,
            full: 0,
            shape: 0,
            kind: kind_hash,
            references: (0, 0),
        });
        self.weigh(id, node);
        if let Some(owner) = self.form.owners.get_mut(event as usize) {
            *owner = id.0;
        }
        id
    }

    /// Sets hashes and minted values of an item from its value.
    fn weigh(&mut self, id: ItemId, node: &Node<'_>) {
        let hashes = node.hashes(&self.form.minted);
        let start = self.form.references.len();
        node.references(&self.form.minted, &mut self.form.references);
        let count = self.form.references.len() - start;
        if let Some(item) = self.form.items.get_mut(id.index()) {
            item.full = mix(item.kind, hashes.full);
            item.shape = mix(item.kind, hashes.shape);
            item.references = (
                u32::try_from(start).unwrap_or(u32::MAX),
                u32::try_from(count).unwrap_or(0),
            );
        }
    }

    fn session(&mut self, reference: Reference) -> u32 {
        if let Some(known) = self.session_numbers.get(&reference) {
            return *known;
        }
        let number = u32::try_from(self.form.sessions.len()).unwrap_or(u32::MAX);
        self.form.sessions.push(Session {
            id: reference,
            items: Vec::new(),
            floating: Default::default(),
            turns: 0,
            cut_off: Vec::new(),
        });
        self.live.push(Live::default());
        self.session_numbers.insert(reference, number);
        number
    }

    fn bind_session(&mut self, value: Option<&Node<'_>>) -> Option<u32> {
        let value = value?.scalar()?;
        let reference = self
            .form
            .minted
            .bind(Identifier::Session, Scope::Connection, &value);
        Some(self.session(reference))
    }

    fn context(&self, session: Option<u32>, request: Option<u32>) -> Context {
        let session = session
            .and_then(|session| self.form.sessions.get(session as usize))
            .map(|session| session.id);
        Context {
            session,
            folder: session.and_then(|session| self.form.folders.group_of(session)),
            request: request
                .and_then(|request| self.form.requests.get(request as usize))
                .map(|request| request.reference),
            target: None,
        }
    }

    fn message(&mut self, index: u32, from: Party, mut node: Node<'a>, text: &'a str) {
        let Some(envelope) = Envelope::of(&node) else {
            self.line(index, from, text.as_bytes());
            return;
        };
        prepare::in_order(&mut node);
        if envelope.is_response {
            self.response(index, from, node, &envelope);
        } else if let Some(method) = &envelope.method {
            self.call(index, from, node, method, &envelope);
        }
    }

    // ---- requests and notifications

    fn call(
        &mut self,
        index: u32,
        from: Party,
        mut node: Node<'a>,
        method: &str,
        envelope: &Envelope,
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
            self.chunk(index, from, session, kind, node, &text);
            return;
        }
        self.name(&mut node, context);
        self.replace(kind, &mut node);
        self.learn_elicitation(&node, session);

        let tool = Self::tool_of(&node, method);
        if let (Some(session), Some((tool, is_update))) = (session, tool) {
            self.step(index, from, session, request, kind, node, tool, is_update);
            return;
        }
        let Some(session) = session else {
            let id = self.push(index, from, What::Message(kind), None, request, kind, &node);
            self.set_request_item(request, id);
            self.form.connection.push(id);
            if method == "session/new" {
                self.await_session(index, from, request, id, kind, context.folder);
            }
            return;
        };
        if let Some(place) =
            update.and_then(|update| FLOATING.iter().position(|kind| *kind == update))
        {
            let id = self.push(
                index,
                from,
                What::Message(kind),
                Some(session),
                request,
                kind,
                &node,
            );
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
        if cancels && self.cancel(index, from, session, request, kind, &node) {
            return;
        }
        self.close_text(session);
        if method == "session/prompt" && from == Party::Client {
            self.begin_turn(session, request);
        }
        let id = self.push(
            index,
            from,
            What::Message(kind),
            Some(session),
            request,
            kind,
            &node,
        );
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

    fn name(&mut self, node: &mut Node<'a>, context: Context) {
        prepare::named(
            node,
            context,
            &self.form.folders,
            &mut Binder::Learning(&mut self.form.minted),
        );
    }

    /// The request that a `requestId` names: one of the sender's own in `$/cancel_request`, else one of the other side.
    fn target(&self, from: Party, node: &Node<'_>, method: &str) -> Option<u32> {
        let id = node.at(&["params", "requestId"])?;
        let asker = match (from, method) {
            (from, "$/cancel_request") => from,
            (Party::Agent, _) => Party::Client,
            _ => Party::Agent,
        };
        self.last.get(&(asker, key(id))).copied()
    }

    fn elicitation(&self, node: &Node<'_>) -> Option<u32> {
        let id = node.at(&["params", "elicitationId"])?.scalar()?;
        let reference = self
            .form
            .minted
            .known(Identifier::Elicitation, Scope::Connection, &id)?;
        self.elicitations.get(&reference).copied()
    }

    fn learn_elicitation(&mut self, node: &Node<'_>, session: Option<u32>) {
        if let (Some(Node::Id(id)), Some(session)) =
            (node.at(&["params", "elicitationId"]), session)
        {
            self.elicitations.entry(*id).or_insert(session);
        }
    }

    fn begin(&mut self, from: Party, id: &str, method: &str, session: Option<u32>) -> u32 {
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

    fn set_request_item(&mut self, request: Option<u32>, id: ItemId) {
        if let Some(request) =
            request.and_then(|request| self.form.requests.get_mut(request as usize))
        {
            request.item = id;
        }
    }

    /// Marks in the connection's stream that a session was asked for.
    fn await_session(
        &mut self,
        index: u32,
        from: Party,
        request: Option<u32>,
        id: ItemId,
        kind: u32,
        folder: Option<usize>,
    ) {
        let Some(entry) = request.and_then(|request| self.form.requests.get_mut(request as usize))
        else {
            return;
        };
        entry.new_session = Some((id, folder));
        let mark = self.push(index, from, What::NewSession, None, None, kind, &Node::Null);
        // The mark waits outside of all streams until it is known whether a session comes of it.
        if let Some(owner) = self.form.owners.get_mut(index as usize) {
            *owner = id.0;
        }
        debug_assert_eq!(mark.0, id.0 + 1);
    }

    // ---- responses

    fn response(&mut self, index: u32, from: Party, mut node: Node<'a>, envelope: &Envelope) {
        let asker = if from == Party::Client {
            Party::Agent
        } else {
            Party::Client
        };
        let id = (asker, envelope.id.clone().unwrap_or_default());
        let open = self.open.get_mut(&id).and_then(VecDeque::pop_front);
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
        let created = entry
            .filter(|entry| !again && entry.new_session.is_some())
            .and_then(|_| self.bind_session(node.at(&["result", "sessionId"])));
        if let Some(created) = created {
            session = Some(created);
            self.settle(request, created);
        }
        if let Some(kind) = self.form.kinds.get(kind as usize) {
            prepare::without_defaults(&mut node, kind);
        }
        let context = self.context(session, request);
        self.name(&mut node, context);
        self.replace(kind, &mut node);
        if let Some(request) =
            request.and_then(|request| self.form.requests.get_mut(request as usize))
        {
            request.answered = true;
        }
        let Some(session) = session else {
            let id = self.push(index, from, What::Message(kind), None, request, kind, &node);
            self.form.connection.push(id);
            return;
        };
        if let Some(call) = entry.filter(|_| !again).and_then(|entry| entry.call) {
            let id = self.push(
                index,
                from,
                What::Step(call),
                Some(session),
                request,
                kind,
                &node,
            );
            if let Some(call) = self.form.calls.get_mut(call as usize) {
                call.steps.push(id);
            }
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
        let id = self.push(
            index,
            from,
            What::Message(kind),
            Some(session),
            request,
            kind,
            &node,
        );
        if let (Some(_), Some(live)) = (ends, self.live.get_mut(session as usize)) {
            live.turns.pop();
        }
        if let Some(request) = entry.filter(|_| !again) {
            self.polled(session, request.item, id, &node);
        }
        self.append(session, id);
    }

    /// Moves what asked for a session into the session's own stream, and leaves a mark in its place.
    fn settle(&mut self, request: Option<u32>, created: u32) {
        let Some(entry) = request.and_then(|request| self.form.requests.get_mut(request as usize))
        else {
            return;
        };
        let Some((asked, folder)) = entry.new_session else {
            return;
        };
        entry.session = Some(created);
        let mark = ItemId(asked.0 + 1);
        // The place is near the end: few connection-level messages come between a request and its response.
        if let Some(place) = self
            .form
            .connection
            .iter_mut()
            .rev()
            .find(|id| **id == asked)
        {
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

    // ---- turns

    fn begin_turn(&mut self, session: u32, request: Option<u32>) {
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

    fn is_open_turn(&self, session: u32, target: Option<u32>) -> bool {
        let turn = target
            .and_then(|target| self.form.requests.get(target as usize))
            .and_then(|request| request.turn);
        let live = self.live.get(session as usize);
        turn.is_some() && live.and_then(|live| live.turns.last()) == turn.as_ref()
    }

    /// A cancel stands before what is in flight when it comes; false where no turn is open.
    fn cancel(
        &mut self,
        index: u32,
        from: Party,
        session: u32,
        request: Option<u32>,
        kind: u32,
        node: &Node<'a>,
    ) -> bool {
        if self
            .live
            .get(session as usize)
            .is_none_or(|live| live.turns.is_empty())
        {
            return false;
        }
        let id = self.push(
            index,
            from,
            What::Message(kind),
            Some(session),
            request,
            kind,
            node,
        );
        self.set_request_item(request, id);
        let place = self.mark_in_flight(session);
        if let Some(known) = self.form.sessions.get_mut(session as usize) {
            known.items.insert(place, id);
        }
        true
    }

    /// Closing the agent's stdin, or a signal to it, ends every turn that is open.
    fn cut_off(&mut self) {
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
    fn mark_in_flight(&mut self, session: u32) -> usize {
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

    fn is_in_flight(&self, id: ItemId) -> bool {
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

    // ---- texts

    fn chunk(
        &mut self,
        index: u32,
        from: Party,
        session: u32,
        kind: u32,
        node: Node<'a>,
        text: &str,
    ) {
        let message = match node.at(&["params", "update", "messageId"]) {
            Some(Node::Id(id)) => Some(*id),
            _ => None,
        };
        let rest = node.hashes(&self.form.minted).full;
        if let Some(live) = self.live.get_mut(session as usize)
            && let Some(open) = &mut live.text
            && open.kind == kind
            && open.rest == rest
            && open.message == message
        {
            open.text.push_str(text);
            if let Some(owner) = self.form.owners.get_mut(index as usize) {
                *owner = open.item.0;
            }
            return;
        }
        if text.is_empty() && message.is_none() {
            // It says nothing, and parts nothing.
            return;
        }
        self.close_text(session);
        let what = What::Text {
            kind,
            text: "".into(),
        };
        let item = self.push(index, from, what, Some(session), None, kind, &Node::Null);
        self.append(session, item);
        if let Some(live) = self.live.get_mut(session as usize) {
            live.text = Some(OpenText {
                item,
                kind,
                rest,
                message,
                node,
                text: text.to_owned(),
            });
        }
    }

    /// Ends the message whose chunks were coming.
    fn close_text(&mut self, session: u32) {
        let Some(open) = self
            .live
            .get_mut(session as usize)
            .and_then(|live| live.text.take())
        else {
            return;
        };
        let OpenText {
            item,
            kind,
            mut node,
            text,
            ..
        } = open;
        let folder = self.context(Some(session), None).folder;
        if text.contains("{secret-") {
            self.form.minted.learn_secrets(&text);
        }
        let text = self.form.folders.named(text.into(), folder);
        prepare::put_text(&mut node, text);
        self.replace(kind, &mut node);
        self.weigh(item, &node);
        let text = prepare::take_text(&mut node).unwrap_or_default();
        if let Some(item) = self.form.items.get_mut(item.index()) {
            item.what = What::Text {
                kind,
                text: text.into(),
            };
        }
    }

    // ---- tool calls

    /// The tool call that a message is about, and whether it is an update.
    fn tool_of(node: &Node<'_>, method: &str) -> Option<(Reference, bool)> {
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

    #[expect(clippy::too_many_arguments, reason = "a step has as many sides")]
    fn step(
        &mut self,
        index: u32,
        from: Party,
        session: u32,
        request: Option<u32>,
        kind: u32,
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
                        return self.owned_by_call(index, session, tool);
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
            self.start_call(index, from, session, kind, tool);
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
        let id = self.push(
            index,
            from,
            What::Step(call),
            Some(session),
            request,
            kind,
            &node,
        );
        self.set_request_item(request, id);
        if let Some(request) =
            request.and_then(|request| self.form.requests.get_mut(request as usize))
        {
            request.call = Some(call);
        }
        if let Some(call) = self.form.calls.get_mut(call as usize) {
            call.steps.push(id);
            call.ended = ended;
        }
    }

    fn owned_by_call(&mut self, index: u32, session: u32, tool: Reference) {
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

    fn start_call(&mut self, index: u32, from: Party, session: u32, kind: u32, tool: Reference) {
        let call = u32::try_from(self.form.calls.len()).unwrap_or(u32::MAX);
        let item = self.push(
            index,
            from,
            What::Call(call),
            Some(session),
            None,
            kind,
            &Node::Null,
        );
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

    // ---- terminals

    fn poll(&mut self, session: u32, id: ItemId, node: &Node<'_>) {
        let (Some(Node::Id(terminal)), Some(live)) = (
            node.at(&["params", "terminalId"]),
            self.live.get_mut(session as usize),
        ) else {
            return;
        };
        match live.polls.get_mut(terminal) {
            // Kept until the answer tells whether it only says more of the same.
            Some(poll) if poll.response.is_some() => {}
            _ => {
                live.polls.insert(
                    *terminal,
                    Poll {
                        request: id,
                        response: None,
                        output: String::new(),
                        exit: 0,
                    },
                );
            }
        }
    }

    /// An answer to a question for a terminal's output: merged with the one before if it goes on from there.
    fn polled(&mut self, session: u32, request: ItemId, response: ItemId, node: &Node<'_>) {
        let Some(terminal) = self.terminal_of(request) else {
            return;
        };
        let output = node.at(&["result", "output"]).and_then(Node::text);
        let Some(output) = output.map(str::to_owned) else {
            return;
        };
        let exit = node
            .at(&["result", "exitStatus"])
            .map_or(0, |exit| exit.hashes(&self.form.minted).full);
        let Some(live) = self.live.get_mut(session as usize) else {
            return;
        };
        let goes_on = live.polls.get(&terminal).filter(|poll| {
            poll.response.is_some()
                && poll.request != request
                && (poll.exit == 0 || poll.exit == exit)
                && output.starts_with(&poll.output)
        });
        match goes_on.and_then(|poll| Some((poll.request, poll.response?))) {
            Some((first, answer)) => {
                self.take_over(first, request);
                self.take_over(answer, response);
                let poll = Poll {
                    request: first,
                    response: Some(answer),
                    output,
                    exit,
                };
                if let Some(live) = self.live.get_mut(session as usize) {
                    live.polls.insert(terminal, poll);
                }
            }
            None => {
                live.polls.insert(
                    terminal,
                    Poll {
                        request,
                        response: Some(response),
                        output,
                        exit,
                    },
                );
            }
        }
    }

    fn terminal_of(&self, request: ItemId) -> Option<Reference> {
        let item = self.form.item(request)?;
        let kind = self.form.kind_name(item);
        if kind != "terminal/output" {
            return None;
        }
        let terminal = |reference: &&Reference| {
            self.form.minted.word(**reference) == Identifier::Terminal.word()
        };
        self.form.references_of(item).iter().find(terminal).copied()
    }

    /// An item takes the place of an earlier one, which goes.
    fn take_over(&mut self, place: ItemId, by: ItemId) {
        let Some(new) = self.form.items.get(by.index()).cloned() else {
            return;
        };
        if let Some(owner) = self.form.owners.get_mut(new.event as usize) {
            *owner = place.0;
        }
        if let Some(request) = new
            .request
            .and_then(|request| self.form.requests.get_mut(request as usize))
            && request.item == by
        {
            request.item = place;
        }
        if let Some(old) = self.form.items.get_mut(place.index()) {
            let turn = old.turn;
            *old = Item { turn, ..new };
        }
        self.dropped.push(by);
    }

    fn append(&mut self, session: u32, id: ItemId) {
        if let Some(session) = self.form.sessions.get_mut(session as usize) {
            session.items.push(id);
        }
    }

    // ---- the end

    fn finish(mut self) -> Canonical<'a> {
        for session in 0..u32::try_from(self.form.sessions.len()).unwrap_or(u32::MAX) {
            self.close_text(session);
        }
        let mut gone = vec![false; self.form.items.len()];
        for id in &self.dropped {
            if let Some(gone) = gone.get_mut(id.index()) {
                *gone = true;
            }
        }
        for session in &mut self.form.sessions {
            session
                .items
                .retain(|id| !gone.get(id.index()).copied().unwrap_or(false));
        }
        for call in &self.form.calls {
            weigh_call(&mut self.form.items, call);
        }
        self.form
    }
}

/// A call counts by all its steps.
fn weigh_call(items: &mut [Item], call: &Call) {
    let (mut full, mut shape) = (DefaultHasher::new(), DefaultHasher::new());
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

fn mix(kind: u64, value: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (kind, value).hash(&mut hasher);
    hasher.finish()
}
