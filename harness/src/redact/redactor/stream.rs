//! What the pieces in a message belong to: a text, a session, a turn.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::redact::escape::decoded;
use crate::redact::walk::{Leaf, Place, What};

/// A word that a line must hold to be looked at closer. Each is made ready once, since it is looked for in every line.
pub(super) type Mark = LazyLock<Finder<'static>>;

pub(super) static ENDS_A_TURN: Mark = LazyLock::new(|| Finder::new("\"stopReason\""));
pub(super) static BEGINS_A_TURN: Mark = LazyLock::new(|| Finder::new("\"session/prompt\""));
pub(super) static IS_A_CHUNK: Mark = LazyLock::new(|| Finder::new("_chunk\""));
pub(super) static IS_A_CALL: Mark = LazyLock::new(|| Finder::new("\"tool_call"));
/// Letters can be written as escapes that no search in the raw line sees.
pub(super) static HAS_ESCAPES: Mark = LazyLock::new(|| Finder::new("\\u00"));

pub(super) static HAS_PLACEHOLDERS: Mark = LazyLock::new(|| Finder::new("{secret-"));

/// Whether a raw message may hold a piece of a text that goes on in others.
pub(super) fn may_be_in_pieces(raw: &[u8]) -> bool {
    IS_A_CHUNK.find(raw).is_some() || IS_A_CALL.find(raw).is_some()
}

/// What a message says about turns.
#[derive(Deserialize)]
pub(super) struct Turn<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<TurnParams<'a>>,
}

#[derive(Deserialize)]
pub(super) struct TurnParams<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub(super) session_id: Option<Cow<'a, str>>,
}

pub(super) fn owner_of_session(session: &[u8]) -> u64 {
    hash(&[b"session", session])
}

pub(super) fn owner_of_exchange(exchange: u64) -> u64 {
    hash(&[b"exchange", &exchange.to_le_bytes()])
}

/// Which texts the pieces in a message belong to.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The session.
    pub(super) owner: u64,
    /// A chunk of the text of a session.
    pub(super) chunk: Option<u64>,
    /// The content of a tool call.
    pub(super) call: Option<u64>,
    /// Any text that flows, in an exchange with the model.
    pub(super) flows: Option<u64>,
    /// Whether a piece may say all again that the one before it said.
    pub(super) repeats: bool,
}

impl Stream {
    pub(super) fn of(json: &[u8], found: &[Leaf]) -> Self {
        let at = |place| {
            found
                .iter()
                .find(|leaf| leaf.place == place && leaf.what == What::Text)
                .and_then(|leaf| json.get(leaf.raw.clone()))
                .unwrap_or_default()
        };
        let kind = at(Place::Kind);
        let owner = owner_of_session(&decoded(at(Place::Session)));
        if kind.ends_with(b"_chunk") {
            Self {
                owner,
                chunk: Some(hash(&[at(Place::Session), kind])),
                ..Self::default()
            }
        } else if kind.starts_with(b"tool_call") {
            Self {
                owner,
                call: Some(hash(&[at(Place::Session), at(Place::ToolCall)])),
                repeats: true,
                ..Self::default()
            }
        } else {
            Self::default()
        }
    }

    pub(super) fn is_none(&self) -> bool {
        self.chunk.is_none() && self.call.is_none()
    }

    /// The text that a leaf is a piece of.
    pub(super) fn key(&self, leaf: &Leaf) -> Option<u64> {
        if leaf.what != What::Text || leaf.secret && !leaf.perhaps {
            return None;
        }
        if self.flows.is_some() {
            return leaf.flows.then_some(0);
        }
        match leaf.place {
            Place::Text => self
                .chunk
                .or_else(|| Some(hash(&[&self.call?.to_le_bytes(), &leaf.item.to_le_bytes()]))),
            Place::TerminalData => Some(hash(&[&self.call?.to_le_bytes(), b"terminal"])),
            _ => None,
        }
    }
}

/// A number for a text, the same for the same parts.
pub(super) fn hash(parts: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.iter().chain(&[0]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
