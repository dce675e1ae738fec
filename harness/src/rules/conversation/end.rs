//! What has ended of a connection, and by whose doing.

use crate::trace::Exit;

/// What has ended, and by whose doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The event at which the client closed the agent's stdin.
    pub stdin_closed: Option<u64>,
    /// The event at which the agent's stdout ended.
    pub stdout_closed: Option<u64>,
    /// The event at which the harness first sent a signal.
    pub signalled: Option<u64>,
    /// The event at which the process ended.
    pub exited: Option<u64>,
    /// How the process ended.
    pub exit: Option<Exit>,
}

impl End {
    /// Whether the client side has begun to end the agent, so that a missing answer proves nothing.
    pub fn by_client(&self) -> bool {
        self.stdin_closed.is_some() || self.signalled.is_some()
    }

    /// Whether the agent can still say something.
    pub fn is_over(&self) -> bool {
        self.stdout_closed.is_some() || self.exited.is_some()
    }

    /// The event at which the agent began to end by its own doing: it exited or crashed while its stdin was open. An end
    /// by a signal that others send to stop a program (HUP, INT, KILL, TERM) is not its own doing.
    pub fn by_itself(&self) -> Option<u64> {
        const STOPS: [i32; 4] = [1, 2, 9, 15];
        let exited = self.exited?;
        let stopped = match self.exit? {
            Exit::Signal(signal) => STOPS.contains(&signal),
            Exit::Code(code) => STOPS.contains(&(code - 128)),
        };
        let first = self.stdout_closed.map_or(exited, |eof| eof.min(exited));
        let before = |event: Option<u64>| event.is_some_and(|event| event < first);
        (!stopped && !before(self.stdin_closed) && !before(self.signalled)).then_some(first)
    }
}
