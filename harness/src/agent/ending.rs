//! How an agent is ended, step by step, and what each step needed.

use std::time::Duration;

use crate::trace::Exit;

use super::Leftover;

/// How long each step of an ending is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// After stdin was closed, before SIGTERM.
    pub stdin: Duration,
    /// After SIGTERM, before SIGKILL.
    pub term: Duration,
    /// After the agent's exit, before what it left behind is named and killed.
    pub left: Duration,
    /// After all that, before the last events are given up because nobody takes them.
    pub told: Duration,
}

impl Default for Patience {
    /// Three seconds, two seconds, half a second, five seconds.
    fn default() -> Self {
        Self {
            stdin: Duration::from_secs(3),
            term: Duration::from_secs(2),
            left: Duration::from_millis(500),
            told: Duration::from_secs(5),
        }
    }
}

/// What an agent needed to end; a later one needed the earlier ones too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needed {
    /// Nothing: it had ended before.
    Nothing,
    /// That its stdin was closed.
    StdinClosed,
    /// SIGTERM to its process group.
    Term,
    /// SIGKILL to its process group.
    Kill,
}

/// How an agent ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// Its exit; `None` where the system did not tell, or where it did not even end by SIGKILL.
    pub exit: Option<Exit>,
    /// What it needed.
    pub needed: Needed,
    /// How long it took to exit from the first step on, in seconds.
    pub seconds: f64,
    /// What outlived it by more than the patience; killed by now.
    pub left: Vec<Leftover>,
    /// Whether all that it wrote has been handed on; `false` where nobody took it in time.
    pub complete: bool,
}
