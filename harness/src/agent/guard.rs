//! What must not outlive the harness, whichever way the harness ends: agents that run and folders that they used.
//!
//! Dropping an [`AgentProcess`](super::AgentProcess) or a [`RunFolder`](super::RunFolder) cleans up behind it. A signal
//! drops nothing, so both are also written down here while they live. If the harness itself is killed by SIGKILL, an
//! agent sees the end of its stdin and nothing more can be done for it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::sys::signal::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use super::folder;
use super::leftovers::Trail;

/// What lives now.
#[derive(Debug)]
struct Living {
    /// The trails of the agents that run.
    agents: Vec<Arc<Trail>>,
    /// The run folders.
    folders: BTreeSet<PathBuf>,
    /// Whether the harness is ending, so that nothing may be started any more.
    ending: bool,
}

static LIVING: Mutex<Living> = Mutex::new(Living {
    agents: Vec::new(),
    folders: BTreeSet::new(),
    ending: false,
});

fn living() -> MutexGuard<'static, Living> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process by `spawn`, which gives its trail with it, and writes the trail down. Nothing can slip in between;
/// `None` where the harness is ending.
pub(super) fn starting<T, E>(
    spawn: impl FnOnce() -> Result<(Arc<Trail>, T), E>,
) -> Option<Result<(Arc<Trail>, T), E>> {
    let mut living = living();
    if living.ending {
        return None;
    }
    Some(spawn().inspect(|(trail, _)| living.agents.push(Arc::clone(trail))))
}

/// Nothing is left of this agent.
pub(super) fn ended(trail: &Arc<Trail>) {
    living().agents.retain(|other| !Arc::ptr_eq(other, trail));
}

/// A run folder was made.
pub(super) fn made(folder: &Path) {
    living().folders.insert(folder.to_owned());
}

/// A run folder was removed.
pub(super) fn removed(folder: &Path) {
    living().folders.remove(folder);
}

/// Kills every agent that runs, with all that it started, removes the run folders, and lets no agent be started after.
///
/// For the moment in which the harness ends; it blocks for as long as that takes, two seconds at most for an agent.
pub fn kill_all() {
    let (agents, folders) = {
        let mut living = living();
        living.ending = true;
        (
            std::mem::take(&mut living.agents),
            std::mem::take(&mut living.folders),
        )
    };
    for agent in &agents {
        // All of them first, so that none runs on while another is waited for. An empty group is no error.
        let _ = agent.signal(Signal::SIGKILL);
    }
    for agent in &agents {
        agent.kill();
    }
    for folder in &folders {
        // Nobody is left who could do anything about a folder that stays.
        let _ = folder::remove(folder);
    }
}

/// Starts the task that, on SIGINT, SIGTERM or SIGHUP, calls [`kill_all`] and then `then` with the signal's number.
/// `then` is expected to end the harness.
///
/// Must be called within a tokio runtime.
///
/// # Errors
/// When the signals cannot be listened to.
pub fn install(then: impl FnOnce(i32) + Send + 'static) -> io::Result<JoinHandle<()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(tokio::spawn(async move {
        let kind = tokio::select! {
            _ = interrupt.recv() => SignalKind::interrupt(),
            _ = terminate.recv() => SignalKind::terminate(),
            _ = hangup.recv() => SignalKind::hangup(),
        };
        // A blocking call: what ends the harness must not wait for a free thread of a pool.
        kill_all();
        then(kind.as_raw_value());
    }))
}
