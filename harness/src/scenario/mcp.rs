//! Holds what MCP servers have seen against what a step expects of them.

use std::time::{Duration, Instant};

use super::check::{Miss, limits};
use super::drive::{Done, Drive};
use super::file::{Condition, Count, Expect, McpCondition};
use crate::mcp::{Seen, Servers, Wanted};
use crate::model::{ModelState, is_mcp_offered};
use crate::rules::Place;

/// How long servers may take to be started, called or ended after the answer that is judged, unless the scenario says
/// otherwise: an agent may connect them beside a turn.
const PATIENCE: f64 = 2.0;

/// How often it is looked what they have seen.
const LOOK: Duration = Duration::from_millis(20);

impl Drive<'_> {
    /// Waits until a condition holds.
    ///
    /// # Errors
    /// What did not hold to the end.
    pub(super) async fn mcp(&mut self, wanted: &McpCondition, done: &Done) -> Result<(), Miss> {
        let seconds = wanted.within.unwrap_or(PATIENCE) * self.times.slow.max(1.0);
        let deadline = Instant::now() + Duration::from_secs_f64(seconds);
        loop {
            let Some(message) = miss(self.servers, wanted, self.connection.model().as_ref()) else {
                return Ok(());
            };
            // Nobody tells when a server writes something down.
            let pause = LOOK.min(deadline.saturating_duration_since(Instant::now()));
            if pause.is_zero() {
                let event = done.answer.as_ref().map(|(event, _)| *event);
                return Err(Miss {
                    message,
                    place: event.or(done.event).map(Place::event),
                    gone: false,
                });
            }
            if self.connection.is_alive() {
                self.connection.listen(pause).await;
            } else {
                // Its servers may take a moment longer than the agent to end.
                tokio::time::sleep(pause).await;
            }
        }
    }

    /// What is written down of an expectation that is not judged: what the servers saw, or how the step was answered.
    pub(super) fn noted(&self, expect: &Expect, done: &Done) -> String {
        let words: Vec<String> = expect
            .conditions
            .iter()
            .filter_map(|condition| match condition {
                Condition::Mcp(wanted) => self.servers.seen(&wanted.server),
                _ => None,
            })
            .map(|(server, seen)| in_words(server, &seen))
            .collect();
        if words.is_empty() {
            done.in_words()
        } else {
            words.join("; ")
        }
    }
}

/// What does not hold of a condition, if anything.
fn miss(servers: &Servers, wanted: &McpCondition, model: Option<&ModelState>) -> Option<String> {
    let (server, seen) = servers.seen(&wanted.server)?;
    counts(wanted, server, &seen)
        .or_else(|| as_given(wanted, server, &seen))
        .or_else(|| not_called(wanted, server, &seen))
        .or_else(|| not_offered(wanted, model))
        .or_else(|| {
            let ended = seen.ended(server);
            let message = match wanted.ended? {
                true if !ended => "to have ended, but it goes on",
                false if ended => "to go on, but it has ended",
                _ => return None,
            };
            Some(format!(
                "expected the MCP server `{}` {message}",
                server.name
            ))
        })
}

fn counts(wanted: &McpCondition, server: &Wanted, seen: &Seen) -> Option<String> {
    let checks = [
        ("be started", wanted.started, seen.started()),
        (
            "be initialized",
            wanted.initialized,
            seen.calls("initialize"),
        ),
        (
            "be asked for its tools",
            wanted.listed,
            seen.calls("tools/list"),
        ),
        ("be called", wanted.called, seen.calls("tools/call")),
    ];
    let (what, count, _) = checks
        .into_iter()
        .find(|(_, count, number)| !count.holds(*number))?;
    Some(format!(
        "expected the MCP server `{}` to {what}{}; it {}",
        server.name,
        times(count),
        seen.in_words(server)
    ))
}

fn in_words(server: &Wanted, seen: &Seen) -> String {
    format!("the MCP server `{}` {}", server.name, seen.in_words(server))
}

fn times(count: Count) -> String {
    match (count.min, count.max) {
        (Some(1), None) => String::new(),
        (None, Some(0)) => " not at all".to_owned(),
        _ => format!(" {} times", limits(count)),
    }
}

/// What a server was given otherwise than it was to be, in a sentence.
type Check = fn(&Seen, &Wanted) -> Option<String>;

fn as_given(wanted: &McpCondition, server: &Wanted, seen: &Seen) -> Option<String> {
    let nothing = match (wanted.args || wanted.env, wanted.headers) {
        (true, _) => seen.started() == 0,
        (_, true) => !seen.was_asked(),
        _ => false,
    };
    if nothing {
        // What was not there was not right either.
        return Some(in_words(server, seen));
    }
    let checks: [(bool, Check); 3] = [
        (wanted.args, Seen::other_args),
        (wanted.env, Seen::other_env),
        (wanted.headers, Seen::other_headers),
    ];
    let mut asked = checks.iter().filter(|(asked, _)| *asked);
    asked.find_map(|(_, check)| check(seen, server))
}

fn not_called(wanted: &McpCondition, server: &Wanted, seen: &Seen) -> Option<String> {
    let tool = wanted
        .tools
        .iter()
        .find(|tool| seen.tool_calls(tool) == 0)?;
    Some(format!(
        "expected the tool `{tool}` to be called; {}",
        in_words(server, seen)
    ))
}

fn not_offered(wanted: &McpCondition, model: Option<&ModelState>) -> Option<String> {
    let offered = model.map_or(&[][..], |model| &model.offered);
    let missing = wanted
        .offered
        .iter()
        .find(|tool| !is_mcp_offered(&format!("{}/{tool}", wanted.server), offered))?;
    let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
    Some(format!(
        "expected the tool `{missing}` of the MCP server `{}` to be offered to the model; offered {}",
        wanted.server,
        match names.is_empty() {
            true => "were none".to_owned(),
            false => format!("were {}", names.join(", ")),
        }
    ))
}
