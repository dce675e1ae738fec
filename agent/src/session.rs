//! A session: its folder, its conversation, and what the user allowed for its length.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::history::History;
use crate::model;
use crate::settings::Settings;
use crate::surface::Parts;

/// A session. Turns share it.
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) cwd: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) model: model::Slot,
    /// What the surface has.
    pub(crate) parts: &'static Parts,
    history: Mutex<History>,
    /// Whether the user wants a tool to run, where that is for the length of the session.
    remembered: Mutex<HashMap<String, bool>>,
    turns: Mutex<Turns>,
}

/// The turns of a session that are running or waiting.
#[derive(Default)]
struct Turns {
    next: u64,
    cancel: HashMap<u64, CancellationToken>,
}

impl Session {
    pub(crate) fn new(
        id: Arc<str>,
        cwd: PathBuf,
        system_prompt: String,
        settings: Settings,
        model: model::Slot,
        parts: &'static Parts,
    ) -> Self {
        Self {
            id,
            cwd,
            settings,
            model,
            parts,
            history: Mutex::new(History::new(system_prompt)),
            remembered: Mutex::default(),
            turns: Mutex::default(),
        }
    }

    /// Takes the history for the length of a turn. It comes back when the lease is dropped, after
    /// a panic too. Turns are serialised, so nobody else wants it meanwhile.
    pub(crate) fn lease_history(&self) -> HistoryLease<'_> {
        let history = std::mem::take(&mut *lock(&self.history));
        HistoryLease {
            session: self,
            history,
        }
    }

    /// Whether the user allowed (`true`) or forbade this tool for the length of the session.
    pub(crate) fn remembered(&self, tool: &str) -> Option<bool> {
        lock(&self.remembered).get(tool).copied()
    }

    pub(crate) fn remember(&self, tool: &str, allowed: bool) {
        lock(&self.remembered).insert(tool.to_owned(), allowed);
    }

    /// A turn begins, or begins to wait. It is known to [`Self::cancel`] until the ticket is
    /// dropped. `stop` ends all turns of the process.
    pub(crate) fn begin_turn(self: &Arc<Self>, stop: &CancellationToken) -> Ticket {
        let cancel = stop.child_token();
        let mut turns = lock(&self.turns);
        let number = turns.next;
        turns.next += 1;
        turns.cancel.insert(number, cancel.clone());
        Ticket {
            session: Arc::clone(self),
            number,
            cancel,
        }
    }

    /// Cancels the running turn and those that wait; later turns do not notice.
    pub(crate) fn cancel(&self) {
        for turn in lock(&self.turns).cancel.values() {
            turn.cancel();
        }
    }
}

/// The history of a session, in the hands of a turn.
pub(crate) struct HistoryLease<'a> {
    session: &'a Session,
    history: History,
}

impl Deref for HistoryLease<'_> {
    type Target = History;

    fn deref(&self) -> &History {
        &self.history
    }
}

impl DerefMut for HistoryLease<'_> {
    fn deref_mut(&mut self) -> &mut History {
        &mut self.history
    }
}

impl Drop for HistoryLease<'_> {
    fn drop(&mut self) {
        *lock(&self.session.history) = std::mem::take(&mut self.history);
    }
}

/// A turn's place among the turns of its session.
pub(crate) struct Ticket {
    pub(crate) session: Arc<Session>,
    number: u64,
    pub(crate) cancel: CancellationToken,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        lock(&self.session.turns).cancel.remove(&self.number);
    }
}

/// A panic of one turn does not spoil what the others need.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
