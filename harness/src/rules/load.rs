//! LOAD-01 to -06, -08, -11, RESUME-01 and -02: sessions that come back, and what is sent while they do.

use std::collections::hash_map::Entry;

use serde_json::Value;

use super::conversation::squeezed;
use super::path::is_absolute;
use super::prompt::said;
use super::quote::quote;
use super::refusal::excuse;
use super::{Conversation, Moment, Open, Out, Place, Rule, Transcript, Update};
use crate::hash::{HashMap, HashSet};
use crate::wire::Message;
use replay::Replay;

mod replay;

/// How long nothing must come after the answer to a load to show that nothing comes, in seconds.
const QUIET: f64 = 0.3;

/// So many ids of listed sessions are remembered.
const REMEMBERED: usize = 10_000;

/// Requests of the agent that make the client do something.
const ASKING: [&str; 5] = [
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "elicitation/create",
];

/// LOAD-01, RESUME-01 (docs/protocol/v1/session-setup.mdx#loading-a-session, #resuming-a-session): a load and a resume
/// succeed. An error fails where the method is not there, and where this process lists the session, which had a turn in an
/// earlier process, and is asked for it in its own folder. Any other error proves nothing: the agent may not know the
/// session, or have it open.
///
/// LOAD-08: a session that had a turn in an earlier process can be loaded.
///
/// LOAD-02, LOAD-04, LOAD-05: the replay holds each turn that ended by itself, the user's text as the user's and the agent's
/// as the agent's, in their order, and its tool calls. Compared with what was seen of the session when it was live, on this
/// connection or in an earlier process of the same recording, without white space. Text that an agent did not keep word
/// for word (a note of its own, such as that it tries again) only has to have something in its place.
///
/// LOAD-03: no content comes between the answer to a load and the next request of the client that may bring some. New words
/// of the agent, where all that was said before had come back, are no part of the replay and only noted.
///
/// RESUME-02: no content comes between a resume and its answer, where no turn is open. Content after it is noted.
#[derive(Default)]
pub(super) struct Loads {
    replays: HashMap<String, Replay>,
    /// Sessions that were loaded or resumed, until the client's next request that may bring content.
    back: HashMap<String, Back>,
    /// Sessions in which a resume was seen to bring content, by the event of the request.
    replayed: HashMap<String, u64>,
    listed: HashSet<String>,
    now: f64,
}

/// A session that has come back.
struct Back {
    resumed: bool,
    /// Whether all that was said before is known to have come back.
    whole: bool,
    answer: u64,
    at: f64,
    late: u64,
}

impl Rule for Loads {
    fn judges(&self) -> &'static [&'static str] {
        &[
            "LOAD-01",
            "LOAD-02",
            "LOAD-03",
            "LOAD-04",
            "LOAD-05",
            "LOAD-06",
            "LOAD-08",
            "LOAD-11",
            "RESUME-01",
            "RESUME-02",
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.now = moment.event.at;
        if !moment.talk.is_version_one() {
            return;
        }
        if let Some(message) = moment.client_message() {
            self.client_sent(message, out);
        } else if let Some(update) = moment.update() {
            self.updated(moment, &update, out);
        } else if let Some((open, message)) = moment.answer_to("session/load") {
            self.loaded(moment, open, message, out);
        } else if let Some((open, message)) = moment.answer_to("session/resume") {
            self.resumed(moment, open, message, out);
        } else if let Some((_, message)) = moment.answer_to("session/list") {
            self.list(message);
        } else if let Some(message) = moment.agent_message() {
            asked_in_replay(moment, message, out);
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        for back in self.back.values().filter(|back| !back.resumed) {
            if back.late > 0 {
                continue;
            }
            if talk.end.is_over() || self.now - back.at >= QUIET {
                out.pass("LOAD-03");
            } else {
                out.inconclusive(
                    "LOAD-03",
                    "the recording ends right after the answer to a load",
                );
            }
        }
    }
}

impl Loads {
    fn client_sent(&mut self, message: &Message, out: &mut Out<'_>) {
        let (Some(session), Some(method)) = (message.session(), message.method()) else {
            return;
        };
        if super::gap::ends_at(method)
            && let Some(back) = self.back.remove(session)
            && !back.resumed
            && back.late == 0
        {
            out.pass("LOAD-03");
        }
        match method {
            "session/load" => self.replays.entry(session.to_owned()).or_default().load(),
            "session/resume" => {
                self.replayed.remove(session);
            }
            _ => {}
        }
    }

    fn updated(&mut self, moment: &Moment<'_>, update: &Update<'_>, out: &mut Out<'_>) {
        let Some(session) = moment.talk.session(update.session) else {
            return;
        };
        if !update.is_content() || !session.turns.is_empty() {
            return;
        }
        if session.loading.is_some() {
            if let Some(replay) = self.replays.get_mut(update.session) {
                replay.take(update, moment.event.redacted);
            }
            return;
        }
        let resuming = moment
            .talk
            .client_requests()
            .find(|open| {
                open.method == "session/resume" && open.session.as_deref() == Some(update.session)
            })
            .map(|open| open.event);
        if let Some(request) = resuming {
            if self.replayed.insert(update.session.to_owned(), request) != Some(request) {
                out.fail(
                    "RESUME-02",
                    moment.at("/params/update"),
                    format!(
                        "the update {} came before the answer to session/resume, which must not replay the conversation",
                        update.kind
                    ),
                );
            }
            return;
        }
        let Some(back) = self.back.get_mut(update.session) else {
            return;
        };
        if back.late > 1 {
            return;
        }
        let new = back.whole && is_new(moment, update);
        back.late += u64::from(!new);
        if back.late > 1 {
            return;
        }
        let message = |method: &str| {
            format!(
                "the update {} came {:.0} ms after the answer to {method} (event {})",
                update.kind,
                (moment.event.at - back.at) * 1000.0,
                back.answer
            )
        };
        if back.resumed {
            out.note(
                "RESUME-02",
                moment.at("/params/update"),
                message("session/resume"),
            );
        } else if new {
            out.note(
                "LOAD-03",
                moment.at("/params/update"),
                message("session/load"),
            );
        } else {
            out.fail(
                "LOAD-03",
                moment.at("/params/update"),
                format!(
                    "{}, expected before it: the answer says that all of the conversation was sent",
                    message("session/load")
                ),
            );
        }
    }

    fn loaded(&mut self, moment: &Moment<'_>, open: &Open, message: &Message, out: &mut Out<'_>) {
        let Some(session) = open.session.as_deref() else {
            return;
        };
        let replay = self.taken(session);
        let past = moment.talk.transcript(session);
        if message.error().is_some() {
            self.refused("LOAD-01", moment, open, past, message, out);
            return;
        }
        let Some(result) = message.result() else {
            return;
        };
        let shape = match result {
            Value::Object(_) => "an object",
            Value::Null => "null",
            _ => "neither an object nor null",
        };
        out.note(
            "LOAD-06",
            moment.at("/result"),
            format!("the result of session/load is {shape}"),
        );
        if open.probe {
            return;
        }
        out.pass("LOAD-01");
        let back = self.came_back(moment, session, false);
        let Some(past) = past.filter(|past| past.complete().next().is_some()) else {
            return;
        };
        if past.earlier {
            out.pass("LOAD-08");
        }
        let busy = moment
            .talk
            .session(session)
            .is_some_and(|session| !session.turns.is_empty());
        let doubt = past.doubt.or_else(|| replay.doubt());
        match doubt.or(busy.then_some("a turn of the session was open")) {
            Some(why) => {
                for id in ["LOAD-02", "LOAD-04", "LOAD-05"] {
                    out.inconclusive(id, why);
                }
            }
            None => back.whole = replay.compare(past, moment.place(), out),
        }
    }

    fn resumed(&mut self, moment: &Moment<'_>, open: &Open, message: &Message, out: &mut Out<'_>) {
        let Some(session) = open.session.as_deref() else {
            return;
        };
        let replayed = self.replayed.remove(session) == Some(open.event);
        if message.error().is_some() {
            let past = moment.talk.transcript(session);
            self.refused("RESUME-01", moment, open, past, message, out);
            return;
        }
        let Some(result) = message.result().filter(|_| !open.probe) else {
            return;
        };
        out.check(
            "RESUME-01",
            result.is_object() || result.is_null(),
            moment.at("/result"),
            || "the result of session/resume is no object".to_owned(),
        );
        if !replayed {
            out.pass("RESUME-02");
        }
        self.came_back(moment, session, true);
    }

    /// What came for the load that is answered. Of two that were under way at once nobody can tell which of them brought
    /// what, so what comes then is no replay of either.
    fn taken(&mut self, session: &str) -> Replay {
        let goes_on = self.replays.get_mut(session).is_some_and(Replay::answered);
        if goes_on {
            return Replay::of_several();
        }
        self.replays.remove(session).unwrap_or_default()
    }

    fn came_back(&mut self, moment: &Moment<'_>, session: &str, resumed: bool) -> &mut Back {
        let back = Back {
            resumed,
            whole: false,
            answer: moment.index,
            at: moment.event.at,
            late: 0,
        };
        match self.back.entry(session.to_owned()) {
            Entry::Occupied(mut known) => {
                known.insert(back);
                known.into_mut()
            }
            Entry::Vacant(free) => free.insert(back),
        }
    }

    fn refused(
        &self,
        id: &'static str,
        moment: &Moment<'_>,
        open: &Open,
        past: Option<&Transcript>,
        message: &Message,
        out: &mut Out<'_>,
    ) {
        if open.probe {
            return;
        }
        let code = message.error_code();
        let error = format!(
            "{} was refused with {} {}",
            open.method,
            code.unwrap_or_default(),
            quote(said(message))
        );
        if code == Some(-32601) {
            out.fail(
                id,
                moment.at("/error/code"),
                format!("{error}, though it is advertised"),
            );
            return;
        }
        if let Some(why) = excuse(open, message) {
            out.inconclusive(id, why);
            return;
        }
        if !is_plain(open) {
            out.inconclusive(
                id,
                format!(
                    "{error}; it had MCP servers or further folders in it, which may be the reason"
                ),
            );
            return;
        }
        let cwd = open.params.get("cwd").and_then(Value::as_str);
        let ours = past.filter(|past| {
            past.earlier
                && past.complete().next().is_some()
                && cwd.is_some_and(is_absolute)
                && past.cwd.as_deref() == cwd
        });
        let Some(_) = ours else {
            out.inconclusive(
                id,
                format!("{error}; the agent may not know the session, or have it open"),
            );
            return;
        };
        if id == "LOAD-01" {
            out.fail(
                "LOAD-08",
                moment.at("/error"),
                format!("{error}, though the session had a turn in the process before this one"),
            );
        }
        if open
            .session
            .as_ref()
            .is_some_and(|session| self.listed.contains(session))
        {
            out.fail(
                id,
                moment.at("/error"),
                format!("{error}, though session/list shows the session"),
            );
        } else {
            out.inconclusive(
                id,
                format!("{error} in a new process, which does not list the session"),
            );
        }
    }

    fn list(&mut self, message: &Message) {
        let sessions = message
            .result()
            .and_then(|result| result.get("sessions")?.as_array());
        for entry in sessions.into_iter().flatten() {
            if let Some(id) = entry.get("sessionId").and_then(Value::as_str)
                && self.listed.len() < REMEMBERED
            {
                self.listed.insert(id.to_owned());
            }
        }
    }
}

/// Whether an update holds words of the agent that it never said before in the session.
fn is_new(moment: &Moment<'_>, update: &Update<'_>) -> bool {
    if update.kind != "agent_message_chunk" {
        return false;
    }
    let text = update.body.pointer("/content/text").and_then(Value::as_str);
    let text = squeezed(text.unwrap_or_default());
    let past = moment.talk.transcript(update.session);
    !text.is_empty()
        && past.is_some_and(|past| past.turns.iter().all(|turn| !turn.said.contains(&text)))
}

/// LOAD-11.
fn asked_in_replay(moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
    let Some(method) = message.method().filter(|method| ASKING.contains(method)) else {
        return;
    };
    let loading = message
        .session()
        .and_then(|id| moment.talk.session(id))
        .is_some_and(|session| session.loading.is_some() && session.turns.is_empty());
    if loading {
        out.note(
            "LOAD-11",
            Place::new(moment.index, "/method"),
            format!("{method} came while the session was loaded"),
        );
    }
}

/// Whether a request asks for no more than the session in its folder.
fn is_plain(open: &Open) -> bool {
    let empty = |name: &str| match open.params.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::Array(list)) => list.is_empty(),
        Some(_) => false,
    };
    empty("mcpServers") && empty("additionalDirectories")
}

#[cfg(test)]
mod tests;
