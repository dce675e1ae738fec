//! Which changes that the client asked for were under way together, so that nothing tells which of them came first.

use super::Moment;
use crate::hash::{HashMap, HashSet};

/// What changes the options or the mode of a session.
const CHANGES: [&str; 2] = ["session/set_config_option", "session/set_mode"];

/// So many changes without an answer are remembered.
const REMEMBERED: usize = 10_000;

/// The changes of all sessions that have no answer yet.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// By session: the events of the requests.
    open: HashMap<String, HashSet<u64>>,
    /// Those beside which another one was under way.
    shared: HashSet<u64>,
    count: usize,
}

impl Overlap {
    /// Sees the next event. For the answer to a change: whether another change of the session was under way at any time
    /// between the two. An agent may work on both side by side, and answer them in either order.
    pub(super) fn see(&mut self, moment: &Moment<'_>) -> bool {
        if let Some(message) = moment.client_message()
            && let (Some(method), Some(session)) = (message.method(), message.session())
            && CHANGES.contains(&method)
        {
            if self.count < REMEMBERED {
                self.asked(moment.index, session);
            }
            return false;
        }
        let Some(open) = moment
            .answers
            .filter(|open| CHANGES.contains(&open.method.as_str()))
        else {
            return false;
        };
        let Some(session) = &open.session else {
            return false;
        };
        if let Some(others) = self.open.get_mut(session) {
            self.count -= usize::from(others.remove(&open.event));
            if others.is_empty() {
                self.open.remove(session);
            }
        }
        self.shared.remove(&open.event)
    }

    fn asked(&mut self, event: u64, session: &str) {
        let others = self.open.entry(session.to_owned()).or_default();
        if !others.is_empty() {
            self.shared.insert(event);
        }
        // Of three or more, all but the newest are marked already.
        if others.len() == 1 {
            self.shared.extend(others.iter());
        }
        others.insert(event);
        self.count += 1;
    }
}
