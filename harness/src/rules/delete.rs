//! DELETE-02 and -03: sessions that were deleted.

use serde_json::Value;

use super::prompt::said;
use super::quote::quote;
use super::refusal::excuse;
use super::{Moment, Out, Rule};
use crate::hash::{HashMap, HashSet};

/// So many ids are remembered.
const REMEMBERED: usize = 10_000;

/// DELETE-02 (docs/protocol/v1/session-delete.mdx#semantics): a session whose delete was answered is in no list that is
/// asked for after that. That it is in none proves something only if one had it before.
///
/// DELETE-03: to delete it once more succeeds, and so does to delete one that never existed: one that neither the client
/// opened nor a list had, and of which the error says that there is none.
#[derive(Default)]
pub(super) struct Deleted {
    listed: HashSet<String>,
    /// By session: the event of the answer to its delete.
    deleted: HashMap<String, u64>,
}

impl Rule for Deleted {
    fn judges(&self) -> &'static [&'static str] {
        &["DELETE-02", "DELETE-03"]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        if let Some((open, message)) = moment.answer_to("session/delete") {
            let Some(session) = &open.session else {
                return;
            };
            let before = self
                .deleted
                .get(session)
                .filter(|event| **event < open.event);
            match (message.error(), before) {
                (None, None) if self.deleted.len() < REMEMBERED => {
                    self.deleted.insert(session.clone(), moment.index);
                }
                (None, Some(_)) => out.pass("DELETE-03"),
                (Some(_), _) if excuse(open, message).is_some() => {}
                (Some(_), Some(before)) => out.fail(
                    "DELETE-03",
                    moment.at("/error"),
                    format!(
                        "to delete session {} again was refused with {} {}, expected a result: it was deleted before (event {before})",
                        quote(session),
                        message.error_code().unwrap_or_default(),
                        quote(said(message))
                    ),
                ),
                (Some(error), None)
                    if says_that_there_is_none(error)
                        && moment.talk.session(session).is_none()
                        && !self.listed.contains(session) =>
                {
                    out.fail(
                        "DELETE-03",
                        moment.at("/error"),
                        format!(
                            "to delete session {}, which does not exist, was refused with {} {}, expected a result",
                            quote(session),
                            message.error_code().unwrap_or_default(),
                            quote(said(message))
                        ),
                    );
                }
                _ => {}
            }
        } else if let Some((open, message)) = moment.answer_to("session/list") {
            let result = message.result().filter(|_| message.error().is_none());
            if let Some(sessions) = result.and_then(|result| result.get("sessions")?.as_array()) {
                let text = |value: Option<&Value>| value.and_then(Value::as_str).is_some();
                let whole = !text(open.params.get("cursor"))
                    && !text(result.and_then(|result| result.get("nextCursor")));
                self.listed(moment, open.event, whole, sessions, out);
            }
        } else if let Some((_, message)) = moment.answer_to("session/new") {
            // An agent may give an id once more.
            let id = message.result().and_then(|result| result.get("sessionId"));
            if let Some(id) = id.and_then(Value::as_str) {
                self.deleted.remove(id);
            }
        } else if let Some(message) = moment
            .client_call("session/load")
            .or_else(|| moment.client_call("session/resume"))
            .or_else(|| moment.client_call("session/prompt"))
            && let Some(session) = message.session()
        {
            // What these do with a deleted session is the agent's business; they may bring it back.
            self.deleted.remove(session);
        }
    }
}

/// Whether an error says that there is no such session.
fn says_that_there_is_none(error: &Value) -> bool {
    const NOT_FOUND: i64 = -32002;
    const WORDS: [&str; 5] = [
        "not found",
        "no such",
        "unknown session",
        "not exist",
        "no session",
    ];
    let code = error.get("code").and_then(Value::as_i64);
    let text = error.to_string().to_lowercase();
    code != Some(-32601) && (code == Some(NOT_FOUND) || WORDS.iter().any(|it| text.contains(it)))
}

impl Deleted {
    fn listed(
        &mut self,
        moment: &Moment<'_>,
        asked: u64,
        whole: bool,
        sessions: &[Value],
        out: &mut Out<'_>,
    ) {
        let mut seen: HashSet<&str> = HashSet::default();
        for (index, entry) in sessions.iter().enumerate() {
            let Some(id) = entry.get("sessionId").and_then(Value::as_str) else {
                continue;
            };
            seen.insert(id);
            if let Some(deleted) = self.deleted.get(id).filter(|event| **event < asked) {
                out.fail(
                    "DELETE-02",
                    moment.at(format!("/result/sessions/{index}/sessionId")),
                    format!(
                        "session {} is listed, though it was deleted before (event {deleted})",
                        quote(id)
                    ),
                );
            }
            if self.listed.len() < REMEMBERED {
                self.listed.insert(id.to_owned());
            }
        }
        let gone = |(id, event): (&String, &u64)| {
            *event < asked && self.listed.contains(id) && !seen.contains(id.as_str())
        };
        if whole && self.deleted.iter().any(gone) {
            out.pass("DELETE-02");
        }
    }
}

#[cfg(test)]
mod tests;
