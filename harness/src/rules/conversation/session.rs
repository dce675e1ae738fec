//! A session that the client knows, and its turns.

use std::collections::VecDeque;

use serde_json::Value;

use crate::rules::calls::Calls;
use crate::rules::gap::Gap;
use crate::wire::Id;

/// How a session came to be known on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Created by `session/new`.
    New,
    /// Named in a `session/load`.
    Load,
    /// Named in a `session/resume`.
    Resume,
    /// Created by `session/fork`, which is a draft.
    Fork,
    /// Named by the client, in a recording that begins later or lacks lines.
    Before,
}

/// A session that the client knows.
#[derive(Clone, Debug)]
pub struct Session {
    /// How it came to be known.
    pub origin: Origin,
    /// The event that made it known: the answer to `session/new`, or the load or resume request.
    pub known: u64,
    /// `cwd` of the request that opened it.
    pub cwd: Option<String>,
    /// `additionalDirectories` of that request.
    pub additional: Vec<String>,
    /// The event at which a close or delete of it was answered.
    pub closed: Option<u64>,
    /// The event of the oldest load request whose answer is due: what comes is replay.
    pub loading: Option<u64>,
    /// The requests that bring it back and have no answer yet, the oldest first.
    pub(super) coming: VecDeque<Coming>,
    /// The turns that are open, the oldest first (a second prompt may wait in the agent).
    pub turns: VecDeque<Turn>,
    /// How many turns have ended.
    pub turns_ended: u64,
    /// Whether the last turn that ended was answered `cancelled`.
    pub last_cancelled: bool,
    /// The event of the last answer to a prompt.
    pub last_answer: Option<u64>,
    /// The event of the prompt that was answered last.
    pub last_prompt: Option<u64>,
    /// Since the last answer to a prompt, as long as no content is due.
    pub gap: Option<Gap>,
    /// Its tool calls.
    pub calls: Calls,
}

/// A load or a resume that has no answer yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    /// The event of the request.
    pub(super) event: u64,
    /// Whether it is a load.
    pub(super) load: bool,
}

/// The interval from a `session/prompt` to its answer.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Its session.
    pub session: String,
    /// The event of the prompt.
    pub event: u64,
    /// When the prompt was sent, in seconds.
    pub at: f64,
    /// The id of the prompt.
    pub id: Id,
    /// The event at which the client cancelled it: `session/cancel`, `$/cancel_request`, close or delete.
    pub cancelled: Option<u64>,
    /// When that was, in seconds.
    pub cancelled_at: Option<f64>,
    /// The event at which a permission of the turn was answered with the outcome `cancelled`.
    pub permission_cancelled: Option<u64>,
}

impl Session {
    pub(super) fn new(origin: Origin, known: u64, params: &Value) -> Self {
        let additional = params
            .get("additionalDirectories")
            .and_then(Value::as_array)
            .map(|list| {
                list.iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default();
        Self {
            origin,
            known,
            cwd: params.get("cwd").and_then(Value::as_str).map(str::to_owned),
            additional,
            closed: None,
            loading: None,
            coming: VecDeque::new(),
            turns: VecDeque::new(),
            turns_ended: 0,
            last_cancelled: false,
            last_answer: None,
            last_prompt: None,
            gap: None,
            calls: Calls::default(),
        }
    }

    /// A load or a resume was sent.
    pub(super) fn comes_back(&mut self, event: u64, load: bool) {
        self.closed = None;
        self.coming.push_back(Coming { event, load });
        self.loading = self.loading.or(load.then_some(event));
    }

    /// A load or a resume was answered, or those before an event are given up.
    pub(super) fn keep_coming(&mut self, keep: impl Fn(&Coming) -> bool) {
        self.coming.retain(keep);
        self.loading = self.coming.iter().find(|it| it.load).map(|it| it.event);
    }

    pub(super) fn cancel_turns(&mut self, index: u64, at: f64) {
        for turn in &mut self.turns {
            turn.cancel(index, at);
        }
    }
}

impl Turn {
    pub(super) fn cancel(&mut self, index: u64, at: f64) {
        self.cancelled.get_or_insert(index);
        self.cancelled_at.get_or_insert(at);
    }
}
