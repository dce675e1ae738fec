//! A session: its folder, its conversation, and what the user allowed for its length.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::announced::Announced;
use crate::client::Update;
use crate::fault::{self, Hook};
use crate::history::History;
use crate::kept::Kept;
use crate::log;
use crate::mcp;
use crate::model;
use crate::options::Chosen;
use crate::settings::Settings;
use crate::store::Claim;
use crate::surface::Parts;
use crate::update;

/// A session. Turns share it.
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) cwd: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) model: model::Slot,
    /// What the surface has.
    pub(crate) parts: &'static Parts,
    /// What the client announced when the session began.
    pub(crate) announced: Announced,
    pub(crate) servers: Arc<mcp::Servers>,
    /// The place on disk, on a surface that stores sessions.
    claim: Option<Claim>,
    /// `None` while a turn has it.
    history: Mutex<Option<History>>,
    kept: Mutex<Kept>,
    /// The commands as the client knows them.
    commands: Mutex<Value>,
    /// Whether the user wants a tool to run, where that is for the length of the session.
    remembered: Mutex<HashMap<String, bool>>,
    turns: Mutex<Turns>,
    /// Told when a turn has ended.
    ended: Notify,
}

/// The turns of a session that are running or waiting.
#[derive(Default)]
struct Turns {
    next: u64,
    cancel: HashMap<u64, CancellationToken>,
    /// A cancel that had nothing to end and stays, which only a fault does.
    left: bool,
}

/// What a session begins with.
pub(crate) struct Beginning {
    pub(crate) id: Arc<str>,
    pub(crate) cwd: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) model: model::Slot,
    pub(crate) parts: &'static Parts,
    pub(crate) announced: Announced,
    pub(crate) servers: Arc<mcp::Servers>,
    pub(crate) claim: Option<Claim>,
    pub(crate) history: History,
    pub(crate) kept: Kept,
}

impl Session {
    pub(crate) fn new(beginning: Beginning) -> Self {
        Self {
            id: beginning.id,
            cwd: beginning.cwd,
            settings: beginning.settings,
            model: beginning.model,
            parts: beginning.parts,
            announced: beginning.announced,
            servers: beginning.servers,
            claim: beginning.claim,
            history: Mutex::new(Some(beginning.history)),
            kept: Mutex::new(beginning.kept),
            commands: Mutex::default(),
            remembered: Mutex::default(),
            turns: Mutex::default(),
            ended: Notify::new(),
        }
    }

    /// What is chosen now.
    pub(crate) fn chosen(&self) -> Chosen {
        lock(&self.kept).chosen
    }

    /// Looks at or changes what is kept.
    pub(crate) fn with_kept<T>(&self, look: impl FnOnce(&mut Kept) -> T) -> T {
        look(&mut lock(&self.kept))
    }

    /// An update was sent: it is part of what a replay shows.
    pub(crate) fn show(&self, update: &Update) {
        if self.parts.tells_more {
            lock(&self.kept).shown.record(&update.on_the_wire());
        }
    }

    /// An id for one more message, on a surface that names them.
    pub(crate) fn next_message(&self) -> Option<Arc<str>> {
        self.parts.tells_more.then(|| {
            let mut kept = lock(&self.kept);
            kept.messages += 1;
            format!("message_{}", kept.messages).into()
        })
    }

    /// The commands as they are now, if that is not what the client knows.
    pub(crate) fn changed_commands(&self) -> Option<Value> {
        let now = update::available_commands(self.parts, &self.cwd);
        let mut known = lock(&self.commands);
        (*known != now).then(|| {
            known.clone_from(&now);
            now
        })
    }

    /// Writes the session to disk, where it has a place there. While a turn runs this waits for its
    /// end, which saves too.
    pub(crate) fn save(&self) {
        let Some(claim) = &self.claim else {
            return;
        };
        let history = lock(&self.history);
        let Some(history) = &*history else {
            return;
        };
        if let Err(error) = claim.write(&self.id, &self.cwd, &lock(&self.kept), history) {
            log::line(format_args!(
                "warning: session {} was not stored: {error}",
                self.id
            ));
        }
    }

    /// The tokens of the history as it is now.
    pub(crate) fn used_tokens(&self) -> u64 {
        lock(&self.history).as_ref().map_or(0, |history| {
            let counted = history.input_tokens;
            counted.unwrap_or_else(|| history.estimated_tokens())
        })
    }

    /// Waits until no turn runs or waits.
    pub(crate) async fn ended_turns(&self) {
        loop {
            let ended = self.ended.notified();
            if lock(&self.turns).cancel.is_empty() {
                return;
            }
            ended.await;
        }
    }

    /// Takes the history for the length of a turn. It comes back when the lease is dropped, after
    /// a panic too. Turns are serialised, so nobody else wants it meanwhile.
    pub(crate) fn lease_history(&self) -> HistoryLease<'_> {
        let mut history = lock(&self.history).take().unwrap_or_default();
        if fault::is_on(Hook::Forgets) {
            history.messages.clear();
        }
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
        if std::mem::take(&mut turns.left) {
            cancel.cancel();
        }
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
        let mut turns = lock(&self.turns);
        for turn in turns.cancel.values() {
            turn.cancel();
        }
        turns.left = turns.cancel.is_empty() && fault::is_on(Hook::CancelStays);
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
        *lock(&self.session.history) = Some(std::mem::take(&mut self.history));
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
        self.session.ended.notify_waiters();
    }
}

/// A panic of one turn does not spoil what the others need.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
