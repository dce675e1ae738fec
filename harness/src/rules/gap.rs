//! The time in a session after the answer to a prompt, in which no content is due.

use super::Update;

/// The update kinds that are content of a conversation; all others tell the state of a session.
const CONTENT: [&str; 6] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
];

/// Requests that name a session and bring no content with them.
const QUIET: [&str; 4] = [
    "session/set_mode",
    "session/set_config_option",
    "session/close",
    "session/delete",
];

/// How long nothing must come after a turn to show that nothing comes, in seconds.
const QUIET_PERIOD: f64 = 0.3;

/// The time from the answer to the last open prompt of a session to the next request that may bring content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The event of the answer.
    pub answer: u64,
    /// When it came, in seconds.
    pub at: f64,
    /// Whether a cancelled turn ended: answered `cancelled`, or with an error after the client had cancelled it.
    pub cancelled: bool,
    /// How many content updates have come since.
    pub late: u64,
    /// When the last of them came, in seconds.
    pub last: f64,
}

impl Gap {
    pub(super) fn new(answer: u64, at: f64, cancelled: bool) -> Self {
        Self {
            answer,
            at,
            cancelled,
            late: 0,
            last: at,
        }
    }

    /// Whether nothing has come for long enough at this moment to say that nothing comes.
    pub fn was_quiet(&self, now: f64) -> bool {
        self.late == 0 && now - self.at >= QUIET_PERIOD
    }

    /// Milliseconds from the answer to a moment.
    pub fn delay(&self, at: f64) -> String {
        format!("{:.0} ms", (at - self.at) * 1000.0)
    }
}

/// Whether a request of the client that names a session ends its gap.
pub(super) fn ends_at(method: &str) -> bool {
    !QUIET.contains(&method)
}

impl Update<'_> {
    /// Whether it is content of the conversation (a chunk, a tool call, a plan) and not a state of the session.
    pub fn is_content(&self) -> bool {
        CONTENT.contains(&self.kind)
    }
}
