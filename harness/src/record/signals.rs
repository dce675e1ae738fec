//! Signals that reach the recorder are for the agent.

use std::fs;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid, getpgrp};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::queue::{Queue, Seen};

/// What is passed on.
const PASSED_ON: [i32; 6] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

/// Signals that are caught and wait for an agent to be passed on to.
#[derive(Debug)]
pub(super) struct Signals {
    caught: SignalsInfo<WithOrigin>,
}

/// The agent's process, as long as its number is its own.
#[derive(Clone, Debug)]
pub(super) struct Receiver(Arc<Mutex<Option<Pid>>>);

impl Signals {
    /// Catches signals from now on. What the recorder was told to ignore stays ignored, as the agent inherits that; what is
    /// caught is back at its default in the agent.
    pub(super) fn catch() -> io::Result<Self> {
        let ignored = ignored();
        let caught = PASSED_ON
            .iter()
            .filter(|signal| ignored >> (**signal - 1) & 1 == 0);
        Ok(Self {
            caught: SignalsInfo::new(caught)?,
        })
    }

    /// Passes on what was caught and what will be.
    pub(super) fn pass_on(mut self, agent: Pid, queue: Arc<Queue>) -> Receiver {
        let receiver = Receiver(Arc::new(Mutex::new(Some(agent))));
        let to = receiver.clone();
        thread::spawn(move || {
            for origin in &mut self.caught {
                to.send(&origin, &queue);
            }
        });
        receiver
    }
}

impl Receiver {
    /// Says that the agent has exited and that its number may soon be that of another process.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Sends the agent a signal, if there still is an agent. The entry comes first, so that no answer comes before it.
    fn send(&self, origin: &Origin, queue: &Queue) {
        let agent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(agent), Ok(signal)) = (*agent, Signal::try_from(origin.signal)) else {
            return;
        };
        queue.put_now(Instant::now(), Seen::Signal(origin.signal));
        // The terminal sends its signals to each process of the group.
        let has_it = origin.cause == Cause::Kernel && getpgid(Some(agent)) == Ok(getpgrp());
        if !has_it {
            let _ = kill(agent, signal);
        }
        queue.wake();
    }
}

/// The signals that this process ignores, as bits from that of signal 1 on.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .unwrap_or(0)
}
