//! SESSION-01, -02, -09, -11, -12, INTEROP-01 and the updates of INTEROP-08: sessions, their ids and their folders.

use std::collections::BTreeMap;

use serde_json::Value;

use super::path::{is_absolute, is_within};
use super::quote::{quote, quote_json};
use super::refusal::excuse;
use super::{Conversation, Moment, Open, Out, Place, Rule};
use crate::hash::{HashMap, HashSet};
use crate::spec::Schema;
use crate::trace::Body;
use crate::wire::Id;

const CREATED: &str = "SESSION-01";
const OWN_ID: &str = "SESSION-02";
const ROOTS: &str = "SESSION-09";
const KNOWN: &str = "SESSION-11";
const EARLY: &str = "SESSION-12";
const NOT_EARLY: &str = "INTEROP-01";
const REFUSED: &str = "INTEROP-08";

/// Methods of the agent whose params name a session.
const NAMING: [&str; 11] = [
    "session/update",
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "elicitation/create",
    "elicitation/complete",
];

/// Requests of the client that make a session known when they are answered.
const CREATING: [&str; 2] = ["session/new", "session/fork"];

/// So many unknown ids, and so much of the prompts of a session, are remembered.
const REMEMBERED_IDS: usize = 1000;
const REMEMBERED_BYTES: usize = 16 * 1024;
/// So much of all prompts together.
const REMEMBERED_IN_ALL: usize = 16 * 1024 * 1024;

/// SESSION-01 (docs/protocol/v1/session-setup.mdx#creating-a-session): session/new gives a session id. Judged on requests
/// after the handshake that are valid and name an absolute folder; -32000 asks to authenticate and says nothing, nor does
/// an error where the request also asks for MCP servers or further folders, which may be what is refused.
///
/// SESSION-02 (same page): an id that session/new gives names no session that the client knows already.
///
/// SESSION-09 (#working-directory): files that tools touch lie in the folders of the session. What lies elsewhere is noted;
/// a write there (fs/write_text_file, or a completed edit) fails the advice unless a prompt of the session names the file
/// or its folder.
///
/// SESSION-11 (schema/v1/schema.json#/$defs/SessionNotification): ids in updates and requests are known. An id that no
/// answer has given yet waits while a session is being created: if the answer names it, that is SESSION-12 and INTEROP-01
/// (which only speaks of updates), else SESSION-11. An id that the client itself used breaks no `must`; an update for one
/// fails INTEROP-08.
#[derive(Default)]
pub(super) struct Sessions {
    /// Ids that the agent used before any answer gave them, with what it sent.
    early: HashMap<String, EarlyUse>,
    /// Ids that the client used though no answer gave them.
    named: HashSet<String>,
    /// What the prompts of each session said.
    prompts: HashMap<String, Said>,
    /// How many bytes of prompts are remembered.
    remembered: usize,
    given_up: HashSet<u64>,
}

struct EarlyUse {
    first: u64,
    first_update: Option<u64>,
    kinds: BTreeMap<String, u64>,
}

#[derive(Default)]
struct Said {
    text: String,
    /// Some of it was not kept.
    more: bool,
}

/// What is known of an id that the agent uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The client knows the session.
    Known,
    /// Nothing made it known.
    Unknown,
    /// It may be known, and why that cannot be told.
    Unclear(&'static str),
}

/// Whether the client knows the session.
pub(super) fn standing(talk: &Conversation, session: &str) -> Standing {
    if talk.session(session).is_some() {
        Standing::Known
    } else if !talk.whole {
        Standing::Unclear(
            "the recording begins late or lacks lines: a session may have been opened there",
        )
    } else if talk.nameless_session {
        Standing::Unclear("an answer opened a session and gave no id for it")
    } else if talk.unread.is_some() {
        Standing::Unclear(
            "the answer that gives a session id may stand in a line that holds no single message",
        )
    } else {
        Standing::Unknown
    }
}

/// Whether the client waits for a new session.
pub(super) fn is_creating(talk: &Conversation) -> bool {
    talk.client_requests()
        .any(|open| CREATING.contains(&open.method.as_str()))
}

impl Rule for Sessions {
    fn judges(&self) -> &'static [&'static str] {
        &[CREATED, OWN_ID, ROOTS, KNOWN, EARLY, NOT_EARLY, REFUSED]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if let Some((open, message)) = moment.answer_to("session/new") {
            if moment.talk.is_version_one() {
                created(moment, open, out);
                let result = message.result().filter(|_| message.error().is_none());
                own_id(moment, result, out);
            }
            self.settle(moment, out);
        } else if moment.answer_to("session/fork").is_some() {
            self.settle(moment, out);
        } else if let Some(message) = moment.client_message() {
            if let Some(session) = message.session() {
                self.client_named(moment, session, message.method());
            }
        } else if let Body::Unanswered { id, seconds } = &moment.event.body {
            self.unanswered(moment, &Id::from_value(id), *seconds, out);
        } else if let Some(message) = moment.agent_message()
            && moment.talk.is_version_one()
            && let Some(method) = message.method().filter(|method| NAMING.contains(method))
            && let Some(session) = message.session()
        {
            self.agent_named(moment, session, method, out);
            self.paths(moment, session, method, message.params(), out);
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        for (session, early) in std::mem::take(&mut self.early) {
            if is_creating(talk) {
                out.inconclusive(
                    KNOWN,
                    "the recording ends before the answer that may give a session id",
                );
            } else {
                unknown(&session, early.first, out);
            }
        }
    }
}

impl Sessions {
    fn client_named(&mut self, moment: &Moment<'_>, session: &str, method: Option<&str>) {
        if moment.talk.session(session).is_none() && self.named.len() < REMEMBERED_IDS {
            self.named.insert(session.to_owned());
        }
        if method == Some("session/load") || method == Some("session/resume") {
            // Should it be refused, what the agent says of it meanwhile is not held against it.
            self.named.insert(session.to_owned());
        }
        if method == Some("session/prompt") && moment.talk.session(session).is_some() {
            let blocks = moment
                .client_message()
                .and_then(|message| message.params()?.get("prompt")?.as_array());
            let said = self.prompts.entry(session.to_owned()).or_default();
            for text in blocks.into_iter().flatten().filter_map(words) {
                let fits = said.text.len() + text.len() <= REMEMBERED_BYTES
                    && self.remembered + text.len() <= REMEMBERED_IN_ALL;
                if !fits {
                    said.more = true;
                } else {
                    self.remembered += text.len();
                    said.text.push_str(text);
                    said.text.push('\n');
                }
            }
        }
    }

    fn agent_named(&mut self, moment: &Moment<'_>, session: &str, method: &str, out: &mut Out<'_>) {
        let is_update = method == "session/update";
        match standing(moment.talk, session) {
            Standing::Known => {
                out.pass(KNOWN);
                if is_update {
                    out.pass(NOT_EARLY);
                }
            }
            Standing::Unclear(why) => out.inconclusive(KNOWN, why),
            Standing::Unknown if self.named.contains(session) => {
                out.inconclusive(
                    KNOWN,
                    "the client itself used a session id that no answer gave",
                );
                if method == "session/update" && !is_creating(moment.talk) {
                    out.fail(
                        REFUSED,
                        moment.at("/params/sessionId"),
                        format!(
                            "an update speaks of session {}, which no answer gave and only the client named",
                            quote(session)
                        ),
                    );
                }
            }
            Standing::Unknown if is_creating(moment.talk) => {
                if self.early.len() >= REMEMBERED_IDS && !self.early.contains_key(session) {
                    return;
                }
                let early = self
                    .early
                    .entry(session.to_owned())
                    .or_insert_with(|| EarlyUse {
                        first: moment.index,
                        first_update: None,
                        kinds: BTreeMap::new(),
                    });
                let kind = moment.update().map_or(method, |update| update.kind);
                if is_update {
                    early.first_update.get_or_insert(moment.index);
                }
                if let Some(count) = early.kinds.get_mut(kind) {
                    *count += 1;
                } else if early.kinds.len() < 20 {
                    early.kinds.insert(kind.to_owned(), 1);
                }
            }
            Standing::Unknown => unknown(session, moment.index, out),
        }
    }

    /// An answer came that may have given the ids that were used early.
    fn settle(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if self.early.is_empty() {
            return;
        }
        let creating = is_creating(moment.talk);
        let waiting = std::mem::take(&mut self.early);
        for (session, early) in waiting {
            if moment.talk.session(&session).is_some() {
                let kinds: Vec<String> = early
                    .kinds
                    .iter()
                    .map(|(kind, count)| format!("{count} {}", quote(kind)))
                    .collect();
                let message = format!(
                    "session {} was named before the answer that announces it: {}",
                    quote(&session),
                    kinds.join(", ")
                );
                if let Some(update) = early.first_update {
                    out.fail(
                        NOT_EARLY,
                        Place::new(update, "/params/sessionId"),
                        message.clone(),
                    );
                }
                out.note(EARLY, Place::new(early.first, "/params/sessionId"), message);
            } else if creating {
                self.early.insert(session, early);
            } else {
                unknown(&session, early.first, out);
            }
        }
    }

    fn unanswered(&mut self, moment: &Moment<'_>, id: &Id, seconds: f64, out: &mut Out<'_>) {
        let talk = moment.talk;
        let Some(open) = talk
            .client_request(id)
            .filter(|open| open.method == "session/new")
        else {
            return;
        };
        if !talk.is_version_one() || !is_judged(open) || !self.given_up.insert(open.event) {
            return;
        }
        match super::jsonrpc::excuse(talk, open) {
            Some(why) => out.inconclusive(CREATED, why),
            None => out.fail(
                CREATED,
                Place::event(open.event),
                format!(
                    "session/new was not answered within {seconds:.1} s, where a session id is expected"
                ),
            ),
        }
    }

    /// SESSION-09.
    fn paths(
        &self,
        moment: &Moment<'_>,
        session: &str,
        method: &str,
        params: Option<&Value>,
        out: &mut Out<'_>,
    ) {
        let Some(params) = params else {
            return;
        };
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        match method {
            "fs/read_text_file" => {
                self.path(moment, session, text("path"), "/params/path", false, out);
            }
            "fs/write_text_file" => {
                self.path(moment, session, text("path"), "/params/path", true, out);
            }
            "terminal/create" => {
                self.path(moment, session, text("cwd"), "/params/cwd", false, out);
            }
            "session/update" => {
                let Some(update) = moment
                    .update()
                    .filter(|update| update.kind.starts_with("tool_call"))
                else {
                    return;
                };
                let items = |name: &str| {
                    let list = update.body.get(name).and_then(Value::as_array);
                    list.into_iter().flatten().enumerate()
                };
                for (index, location) in items("locations") {
                    let place = format!("/params/update/locations/{index}/path");
                    let path = location.get("path").and_then(Value::as_str);
                    self.path(moment, session, path, &place, false, out);
                }
                let done = update.body.get("status").and_then(Value::as_str) == Some("completed");
                for (index, item) in items("content") {
                    if item.get("type").and_then(Value::as_str) == Some("diff") {
                        let place = format!("/params/update/content/{index}/path");
                        let path = item.get("path").and_then(Value::as_str);
                        self.path(moment, session, path, &place, done, out);
                    }
                }
            }
            _ => {}
        }
    }

    fn path(
        &self,
        moment: &Moment<'_>,
        session: &str,
        path: Option<&str>,
        place: &str,
        writes: bool,
        out: &mut Out<'_>,
    ) {
        let (Some(path), Some(known)) = (path, moment.talk.session(session)) else {
            return;
        };
        let Some(cwd) = known.cwd.as_deref().filter(|cwd| is_absolute(cwd)) else {
            return;
        };
        if !is_absolute(path) {
            return;
        }
        let inside = std::iter::once(cwd)
            .chain(known.additional.iter().map(String::as_str))
            .any(|root| is_within(path, root));
        if inside {
            out.pass(ROOTS);
            return;
        }
        let message = format!(
            "{} lies outside the folders of the session ({})",
            quote(path),
            quote(cwd)
        );
        if writes && !self.asked_for(session, path) {
            out.fail(
                ROOTS,
                moment.at(place),
                format!("{message}, and no prompt asked to write there"),
            );
        } else {
            out.note(ROOTS, moment.at(place), message);
        }
    }

    /// Whether a prompt of the session may have named the file or its folder.
    fn asked_for(&self, session: &str, path: &str) -> bool {
        let Some(said) = self.prompts.get(session) else {
            return false;
        };
        let mut parts = path.rsplit(['/', '\\']).filter(|part| !part.is_empty());
        let named = |part: Option<&str>| part.is_some_and(|part| said.text.contains(part));
        said.more || said.text.contains(path) || named(parts.next()) || named(parts.next())
    }
}

/// The text of a block of a prompt, or the address of what it links to.
fn words(block: &Value) -> Option<&str> {
    block
        .get("text")
        .or_else(|| block.get("uri"))
        .or_else(|| block.get("resource")?.get("uri"))?
        .as_str()
}

/// Whether a session/new is one that must succeed.
fn is_judged(open: &Open) -> bool {
    let absolute = open
        .params
        .get("cwd")
        .and_then(Value::as_str)
        .is_some_and(is_absolute);
    !open.probe
        && absolute
        && Schema::v1()
            .violations("NewSessionRequest", &open.params)
            .is_empty()
}

/// Whether a session/new asks for no more than a folder.
fn is_plain(open: &Open) -> bool {
    open.params.as_object().is_some_and(|members| {
        members.iter().all(|(name, value)| match name.as_str() {
            "cwd" => true,
            "mcpServers" | "additionalDirectories" => {
                value.is_null() || value.as_array().is_some_and(Vec::is_empty)
            }
            name => name == "_meta",
        })
    })
}

fn created(moment: &Moment<'_>, open: &Open, out: &mut Out<'_>) {
    let Some(message) = moment.agent_message().filter(|_| is_judged(open)) else {
        return;
    };
    match (message.result(), message.error()) {
        (Some(result), None) => {
            let id = result.get("sessionId").and_then(Value::as_str);
            out.check(
                CREATED,
                id.is_some_and(|id| !id.is_empty()),
                moment.at("/result"),
                || {
                    "the result of session/new has no `sessionId`, where a string that is not empty is expected"
                        .to_owned()
                },
            );
        }
        (None, Some(_)) if excuse(open, message).is_some() => {
            out.inconclusive(CREATED, excuse(open, message).unwrap_or_default());
        }
        (None, Some(_)) if !is_plain(open) => {
            out.inconclusive(
                CREATED,
                "session/new was refused with MCP servers or further folders in it, which may be the reason",
            );
        }
        (None, Some(error)) => out.fail(
            CREATED,
            moment.at("/error"),
            format!(
                "session/new was refused with {}, where a session id is expected",
                quote_json(error)
            ),
        ),
        // Both outcomes at once: JSONRPC-02.
        _ => {}
    }
}

fn own_id(moment: &Moment<'_>, result: Option<&Value>, out: &mut Out<'_>) {
    let Some(id) = result
        .and_then(|result| result.get("sessionId"))
        .and_then(Value::as_str)
    else {
        return;
    };
    let Some(session) = moment.talk.session(id) else {
        return;
    };
    if session.known != moment.index {
        out.fail(
            OWN_ID,
            moment.at("/result/sessionId"),
            format!(
                "session/new gave the id {}, which names a session already",
                quote(id)
            ),
        );
    } else if moment.talk.sessions().nth(1).is_some() {
        out.pass(OWN_ID);
    }
}

fn unknown(session: &str, event: u64, out: &mut Out<'_>) {
    out.fail(
        KNOWN,
        Place::new(event, "/params/sessionId"),
        format!(
            "the session id {} is none that was created, loaded or resumed on this connection",
            quote(session)
        ),
    );
}

#[cfg(test)]
mod tests;
