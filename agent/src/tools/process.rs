//! The process groups that a turn started. None outlives it.

use std::sync::{Mutex, PoisonError};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Process groups by their leader. Dropping this kills what is left of them.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    groups: Mutex<Vec<Pid>>,
}

impl Processes {
    /// A child that leads a group of its own was started.
    pub(crate) fn add(&self, leader: u32) {
        let Ok(leader) = i32::try_from(leader) else {
            return;
        };
        self.groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Pid::from_raw(leader));
    }

    /// The leader of a group ended. A group without any process is forgotten, as its number may
    /// come to mean another.
    pub(crate) fn forget_empty(&self) {
        self.groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|group| killpg(*group, None).is_ok());
    }

    /// Sends a signal to every process of these groups: of the one that `leader` leads, or of all.
    pub(crate) fn signal(&self, leader: Option<u32>, signal: Signal) {
        let wanted = leader.and_then(|leader| i32::try_from(leader).ok());
        for group in self
            .groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|group| wanted.is_none_or(|wanted| wanted == group.as_raw()))
        {
            // A group that is gone already needs no signal.
            let _ = killpg(*group, signal);
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.signal(None, Signal::SIGKILL);
    }
}
