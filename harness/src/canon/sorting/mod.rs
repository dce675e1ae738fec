//! Sorts the events of a trace into streams, and finds what belongs together: chunks, calls, requests and responses.

mod envelope;
mod request;
mod response;
mod terminal;
mod text;
mod tool;
mod turn;

use std::collections::VecDeque;
use std::hash::{Hash as _, Hasher as _};

use self::envelope::Envelope;
use self::terminal::Poll;
use self::text::{OpenText, Template};
use self::tool::weigh_call;
use super::call::State;
use super::canonical::{Canonical, Ending, Scrutiny, line_node, parse};
use super::folders::Folders;
use super::item::{Item, ItemId, Session, What};
use super::minted::{Minted, Reference, Scope};
use super::node::{Node, hasher};
use super::prepare::{self, Context, MessageKind};
use super::volatility::Volatility;
use crate::hash::HashMap;
use crate::spec::Identifier;
use crate::trace::{Body, Party, Recording};

/// What is known of an event before its place is.
#[derive(Clone, Copy)]
struct Sent {
    /// Its number in the trace.
    event: u32,
    from: Party,
    /// The number of its kind.
    kind: u32,
    /// The number of the request that it makes or answers.
    request: Option<u32>,
}

impl Sent {
    /// The same, of no request.
    fn unasked(self) -> Self {
        Self {
            request: None,
            ..self
        }
    }
}

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
            targets: HashMap::default(),
            connection: Vec::new(),
            sessions: Vec::new(),
            calls: Vec::new(),
            owners: vec![u32::MAX; recording.events.len()],
            ending: None,
            closed: false,
            hits: vec![false; volatility.entries().len()],
        },
        kinds: HashMap::default(),
        session_numbers: HashMap::default(),
        live: Vec::new(),
        open: HashMap::default(),
        last: HashMap::default(),
        elicitations: HashMap::default(),
        dropped: Vec::new(),
        forced: false,
        templates: VecDeque::new(),
        awaited: 0,
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
    /// Whether the client knows it, so that state updates may come at any moment.
    opened: bool,
    /// Whether the turn that is open was cancelled.
    cancelled: bool,
    /// Whether it was cut off, so that its answer may be missing too.
    cut_off: bool,
    calls: HashMap<Reference, (u32, State)>,
    /// Calls of this turn that have not ended, as far as known.
    unfinished: Vec<u32>,
    polls: HashMap<Reference, Poll>,
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
    /// What the last chunks looked like around their texts.
    templates: VecDeque<Template<'a>>,
    /// How many sessions were asked for and not given yet.
    awaited: u32,
}

impl<'a> Sorter<'a> {
    pub(super) fn event(&mut self, index: u32, from: Party, body: &'a Body, scrutiny: Scrutiny) {
        match body {
            Body::Message { text, .. } if from == Party::Agent && self.goes_on(index, text) => {}
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

    pub(super) fn line(&mut self, index: u32, from: Party, bytes: &'a [u8]) {
        let node = line_node(bytes, &self.form.folders);
        self.other(index, from, "line", What::Line, node);
    }

    pub(super) fn other(
        &mut self,
        index: u32,
        from: Party,
        name: &str,
        what: What,
        mut node: Node<'a>,
    ) {
        let kind = self.kind(from, name, |volatility| {
            MessageKind::other(name, from, volatility)
        });
        if let Node::Text(text) = &node {
            self.form.minted.learn_secrets(text);
        }
        self.replace(kind, &mut node);
        let id = self.push(
            Sent {
                event: index,
                from,
                kind,
                request: None,
            },
            what,
            None,
            &node,
        );
        self.form.connection.push(id);
    }

    pub(super) fn kind(
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

    pub(super) fn replace(&mut self, kind: u32, node: &mut Node<'a>) {
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
    pub(super) fn push(
        &mut self,
        sent: Sent,
        what: What,
        session: Option<u32>,
        node: &Node<'_>,
    ) -> ItemId {
        let Sent {
            event,
            from,
            kind,
            request,
        } = sent;
        let id = ItemId(u32::try_from(self.form.items.len()).unwrap_or(u32::MAX));
        let mut hasher = hasher();
        let name = self
            .form
            .kinds
            .get(kind as usize)
            .map_or("", |kind| kind.name.as_str());
        let name = match what {
            What::Call(_) => "tool call",
            What::NewSession => "mark of a session",
            What::Answered => "mark of an answer",
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
    pub(super) fn weigh(&mut self, id: ItemId, node: &Node<'_>) {
        let start = self.form.references.len();
        let hashes = node.weighed(&self.form.minted, &mut self.form.references);
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

    pub(super) fn session(&mut self, reference: Reference) -> u32 {
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

    pub(super) fn bind_session(&mut self, value: Option<&Node<'_>>) -> Option<u32> {
        let value = value?.scalar()?;
        let reference = self
            .form
            .minted
            .bind(Identifier::Session, Scope::Connection, &value);
        Some(self.session(reference))
    }

    pub(super) fn context(&self, session: Option<u32>, request: Option<u32>) -> Context {
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

    pub(super) fn message(&mut self, index: u32, from: Party, mut node: Node<'a>, text: &'a str) {
        let Some(envelope) = Envelope::of(&node) else {
            self.line(index, from, text.as_bytes());
            return;
        };
        prepare::in_order(&mut node);
        if envelope.is_response {
            self.response(index, from, node, &envelope);
        } else if let Some(method) = &envelope.method {
            self.call(index, from, node, method, &envelope, text);
        }
    }

    pub(super) fn append(&mut self, session: u32, id: ItemId) {
        if let Some(session) = self.form.sessions.get_mut(session as usize) {
            session.items.push(id);
        }
    }

    pub(super) fn finish(mut self) -> Canonical<'a> {
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

pub(super) fn mix(kind: u64, value: u64) -> u64 {
    let mut hasher = hasher();
    (kind, value).hash(&mut hasher);
    hasher.finish()
}
