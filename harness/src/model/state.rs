//! What the scripted model has been asked and has done, for whoever drives a scenario.

use std::collections::VecDeque;
use std::sync::Arc;

use super::asked::Tool;

/// How many bodies of requests are remembered.
const REMEMBERED: usize = 16;
/// How many bytes of requests are remembered; the last request always is.
const REMEMBERED_BYTES: usize = 16 * 1024 * 1024;

/// A picture of the scripted model at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelState {
    /// Requests that count as turns of the script: retries and those beyond its end too, side requests not.
    pub requests: u64,
    /// Requests for something beside the conversation (titles, summaries, topic checks).
    pub side_requests: u64,
    /// Replies of the script that were used. A `refused` one counts when the port is closed for it, because a
    /// connection that is refused cannot be seen.
    pub used: usize,
    /// Requests that came after the last reply of the script and were answered with
    /// [`FALLBACK`](super::script::FALLBACK).
    pub beyond: u64,
    /// Requests of which nothing told which session they were made in, though the script has replies for several: they
    /// got the next reply in the order of arrival.
    pub by_arrival: u64,
    /// A held stream is open and all its text was sent.
    pub holding: bool,
    /// Replies of the script that the agent hung up on before their end.
    pub hung_up: u64,
    /// Calls that could not be mapped to a tool of the agent.
    pub unmapped: Vec<Unmapped>,
    /// The first method and path that an agent asked for and that is not served.
    pub unserved: Option<String>,
    /// What is to be known about requests to the model of a recording, a sentence each: what was not recorded, and where the
    /// agent's tools gave it something else.
    pub told: Vec<String>,
    /// The tools that the last turn's request offers.
    pub(crate) offered: Arc<[Tool]>,
    /// The exact bodies of the last turns asked (16 at most, 16 MiB at most but for the last one), oldest first.
    pub recent: VecDeque<Arc<str>>,
}

/// A call of the script for which the agent offered no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmapped {
    /// What the script wanted, and why it could not be: one sentence.
    pub wanted: String,
    /// Whether it is a tool of an MCP server, whose absence shows something of the agent.
    pub of_mcp: bool,
    /// Whether it is a tool that asks the user, which an agent need not have.
    pub of_question: bool,
    /// The names of the tools that the agent offered.
    pub offered: Vec<String>,
}

impl ModelState {
    /// Remembers the body of a turn's request and forgets old ones.
    pub(crate) fn remember(&mut self, body: &str) {
        self.recent.push_back(body.into());
        let mut bytes: usize = self.recent.iter().map(|body| body.len()).sum();
        while self.recent.len() > REMEMBERED || (bytes > REMEMBERED_BYTES && self.recent.len() > 1)
        {
            if let Some(old) = self.recent.pop_front() {
                bytes -= old.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_requests_are_forgotten_by_number_and_by_size() {
        let mut state = ModelState::default();
        for number in 0..40 {
            state.remember(&number.to_string());
        }
        assert_eq!(state.recent.len(), REMEMBERED);
        assert_eq!(state.recent.back().unwrap().as_ref(), "39");
        state.remember(&"x".repeat(REMEMBERED_BYTES + 1));
        assert_eq!(state.recent.len(), 1);
    }
}
