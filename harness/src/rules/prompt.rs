//! Prompt turns: how they are answered, and what comes within and between them.

use serde_json::Value;

use super::calls::unclear;
use super::quote::quote;
use super::{Conversation, Gap, Moment, Open, Origin, Out, Place, Rule, Session, Turn, Update};
use crate::hash::{HashMap, HashSet};
use crate::trace::Body;
use crate::wire::{Id, Message};

/// The stop reasons of version 1; the list is closed.
const STOP_REASONS: [&str; 5] = [
    "end_turn",
    "max_tokens",
    "max_turn_requests",
    "refusal",
    "cancelled",
];

/// What is known of a prompt that waits for its answer.
#[derive(Default)]
struct Prompt {
    /// Whether all of its blocks are text, and one holds more than white space.
    text: bool,
    /// Whether it asks for a reply: text that is no slash command.
    asks: bool,
    /// Whether another prompt of the session was open at the same time.
    shared: bool,
    /// Whether an agent message or a tool call was seen.
    output: bool,
}

/// PROMPT-01 (docs/protocol/v1/prompt-turn.mdx#4-check-for-completion): a prompt of text is answered with a stop reason.
/// An error proves nothing where it names a credential or quota, where the model failed, where the agent was being ended
/// or another prompt of the session was open, nor in a recording from elsewhere that does not show the model; on a turn that the client cancelled it is CANCEL-02's. Prompts with other
/// blocks are PROMPT-03's and CONTENT-04's. A stop reason of a wrong shape is PROMPT-02's.
///
/// PROMPT-02 (schema StopReason): the stop reason is one of five.
///
/// PROMPT-04 (schema SessionNotification): while a turn or a load is open, updates name a session of the connection. While
/// a session is being made, its id may not be known yet, which INTEROP-01 judges.
///
/// PROMPT-05 (#3-agent-reports-output): a turn that ends with end_turn showed a message or a tool call. Slash commands and
/// blank prompts ask for no reply, and where two prompts are open at once output cannot be told apart.
///
/// PROMPT-06 (#4-check-for-completion): no call of the turn is pending or in progress at end_turn. A call of which no
/// status was ever given is pending, as the schema says. Not judged where another prompt is still open.
///
/// PROMPT-07 (#stop-reasons): `cancelled` only where the client cancelled. A logout, a load or a resume of the session, and
/// an elicitation that the user cancelled, may be taken for that, so then nothing is said.
///
/// PROMPT-09, INTEROP-02 (#the-prompt-turn-lifecycle): content between turns. The first update of each time between two
/// turns fails INTEROP-02, further ones are counted. After a cancelled turn it is CANCEL-03's. A load, a resume or a
/// custom call of the client may bring content, so it ends the time.
///
/// PROMPT-13: ends by error, refusal or limit are noted, and how the next prompt was answered.
#[derive(Default)]
pub(super) struct Prompts {
    /// By the event of the prompt.
    prompts: HashMap<u64, Prompt>,
    /// Sessions whose last turn ended in a way that PROMPT-13 notes.
    troubled: HashSet<String>,
    /// Sessions that had content before any turn.
    early: HashSet<String>,
    /// The last event by session that an agent may take for a cancel.
    excused: HashMap<String, u64>,
    logout: Option<u64>,
    /// When the last event was.
    now: f64,
}

impl Rule for Prompts {
    fn judges(&self) -> &'static [&'static str] {
        &[
            "PROMPT-01",
            "PROMPT-02",
            "PROMPT-04",
            "PROMPT-05",
            "PROMPT-06",
            "PROMPT-07",
            "PROMPT-09",
            "PROMPT-13",
            "INTEROP-02",
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.now = moment.event.at;
        if !moment.talk.is_version_one() {
            return;
        }
        if let Body::Unanswered { id, .. } = &moment.event.body {
            self.gave_up(moment, &Id::from_value(id), out);
        } else if let Some(update) = moment.update() {
            self.updated(moment, &update, out);
        } else if let Some(message) = moment.client_message() {
            if let Some(gap) = moment.ended_gap {
                gap_ended(moment, gap, out);
            }
            self.client_sent(moment, message);
        } else if let Some((open, message)) = moment.answer_to("session/prompt") {
            self.answered(moment, open, message, out);
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        for (_, session) in talk.sessions() {
            if let Some(gap) = session.gap.filter(|gap| !gap.cancelled)
                && gap.late == 0
                && (talk.end.is_over() || gap.was_quiet(self.now))
            {
                out.pass("INTEROP-02");
            }
        }
    }
}

impl Prompts {
    fn client_sent(&mut self, moment: &Moment<'_>, message: &Message) {
        match message.method() {
            Some("session/prompt") => {
                let Some(session) = message.session().and_then(|id| moment.talk.session(id)) else {
                    return;
                };
                let shared = session.turns.len() > 1;
                if shared {
                    for turn in &session.turns {
                        if let Some(prompt) = self.prompts.get_mut(&turn.event) {
                            prompt.shared = true;
                        }
                    }
                }
                let mut prompt = read(message);
                prompt.shared = shared;
                self.prompts.insert(moment.index, prompt);
            }
            Some("logout") => self.logout = Some(moment.index),
            Some("session/load" | "session/resume") => {
                if let Some(session) = message.session() {
                    self.excused.insert(session.to_owned(), moment.index);
                }
            }
            None => {
                if let Some((open, message)) = moment.client_answer_to("elicitation/create")
                    && let Some(session) = &open.session
                    && message
                        .result()
                        .and_then(|result| result.get("action"))
                        .and_then(Value::as_str)
                        == Some("cancel")
                {
                    self.excused.insert(session.clone(), moment.index);
                }
            }
            _ => {}
        }
    }

    fn updated(&mut self, moment: &Moment<'_>, update: &Update<'_>, out: &mut Out<'_>) {
        let Some(session) = moment.talk.session(update.session) else {
            unknown_session(moment, update.session, out);
            return;
        };
        if let Some(turn) = session.turns.front() {
            out.pass("PROMPT-04");
            if matches!(
                update.kind,
                "agent_message_chunk" | "tool_call" | "tool_call_update"
            ) && let Some(prompt) = self.prompts.get_mut(&turn.event)
            {
                prompt.output = true;
            }
            return;
        }
        if session.loading.is_some() {
            out.pass("PROMPT-04");
            return;
        }
        if !update.is_content() {
            return;
        }
        match &session.gap {
            Some(gap) if gap.late == 1 => {
                out.note(
                    "PROMPT-09",
                    moment.at("/params/update"),
                    format!(
                        "the update {} came {} after the answer to the last prompt",
                        update.kind,
                        gap.delay(moment.event.at)
                    ),
                );
                if !gap.cancelled {
                    out.fail(
                        "INTEROP-02",
                        moment.at("/params/update"),
                        format!(
                            "the update {} came {} after the answer to the turn (event {}), expected before it",
                            update.kind,
                            gap.delay(moment.event.at),
                            gap.answer
                        ),
                    );
                }
            }
            Some(_) => {}
            // In a recording that begins late or lacks lines a turn may be open of which the prompt was not seen.
            None if session.origin == Origin::Before => {}
            None => {
                if !self.early.contains(update.session) {
                    self.early.insert(update.session.to_owned());
                    out.note(
                        "PROMPT-09",
                        moment.at("/params/update"),
                        format!(
                            "the update {} came while no prompt and no load was open",
                            update.kind
                        ),
                    );
                }
            }
        }
    }

    fn answered(&mut self, moment: &Moment<'_>, open: &Open, message: &Message, out: &mut Out<'_>) {
        let prompt = self.prompts.remove(&open.event).unwrap_or_default();
        let result = message.result().filter(|_| message.error().is_none());
        let reason = result
            .and_then(|result| result.get("stopReason"))
            .and_then(Value::as_str);
        if let Some(result) = result {
            out.check(
                "PROMPT-02",
                reason.is_some_and(|reason| STOP_REASONS.contains(&reason)),
                moment.at(if result.get("stopReason").is_some() {
                    "/result/stopReason"
                } else {
                    "/result"
                }),
                || match reason {
                    Some(reason) => format!(
                        "stopReason is {}, expected one of {}",
                        quote(reason),
                        STOP_REASONS.join(", ")
                    ),
                    None => "the result has no stopReason that is a string".to_owned(),
                },
            );
        }
        let Some(turn) = moment.ended_turn else {
            return;
        };
        let Some(session) = moment.talk.session(&turn.session) else {
            return;
        };
        if open.probe {
            return;
        }
        match (message.error(), reason) {
            // Both outcomes at once: JSONRPC-02.
            (Some(_), _) if message.result().is_some() => {}
            (Some(_), _) => {
                failed(moment, turn, session, &prompt, message, out);
            }
            (None, Some(reason)) => {
                out.pass("PROMPT-01");
                self.ended(moment, turn, session, &prompt, reason, out);
            }
            (None, None) => {}
        }
        self.trouble(moment, &turn.session, message, reason, out);
    }

    fn ended(
        &self,
        moment: &Moment<'_>,
        turn: &Turn,
        session: &Session,
        prompt: &Prompt,
        reason: &str,
        out: &mut Out<'_>,
    ) {
        let at = || moment.at("/result/stopReason");
        if reason == "cancelled" {
            let by_client = turn.cancelled.is_some() || turn.permission_cancelled.is_some();
            let excused = prompt.shared
                || moment.talk.end.by_client()
                || self.logout.is_some_and(|event| event > turn.event)
                || self
                    .excused
                    .get(&turn.session)
                    .is_some_and(|event| *event > turn.event);
            if by_client {
                out.pass("PROMPT-07");
            } else if !excused {
                out.fail(
                    "PROMPT-07",
                    at(),
                    "stopReason is cancelled, but the client cancelled nothing in this turn",
                );
            }
            return;
        }
        out.pass("PROMPT-07");
        if reason != "end_turn" || turn.cancelled.is_some() {
            return;
        }
        if prompt.asks && !prompt.shared {
            if prompt.output {
                out.pass("PROMPT-05");
            } else if model_failed(moment, turn) {
                out.inconclusive("PROMPT-05", "the model failed during the turn");
            } else if moment.talk.model_is_out_of_sight() {
                out.inconclusive(
                    "PROMPT-05",
                    "whether the model said anything is not in the recording",
                );
            } else {
                out.fail(
                    "PROMPT-05",
                    at(),
                    "the turn ended without any agent_message_chunk or tool_call, expected the model's output before",
                );
            }
        }
        if !session.turns.is_empty() {
            return;
        }
        for (id, call) in session.calls.of_turn() {
            if call.unclear {
                out.inconclusive("PROMPT-06", unclear(id));
                continue;
            }
            let status = call.status();
            out.check("PROMPT-06", status.is_final(), at(), || {
                format!(
                    "the turn ended end_turn while call {} was {}, expected it to have finished",
                    quote(id),
                    status.name()
                )
            });
        }
    }

    /// Notes an end that is neither end_turn nor cancelled, and how the prompt after it was answered.
    fn trouble(
        &mut self,
        moment: &Moment<'_>,
        session: &str,
        message: &Message,
        reason: Option<&str>,
        out: &mut Out<'_>,
    ) {
        let error = message.error();
        let how = match (error, reason) {
            (Some(_), _) => format!(
                "with the error {} {}",
                message.error_code().unwrap_or_default(),
                quote(said(message))
            ),
            (None, Some(reason)) => quote(reason),
            (None, None) => return,
        };
        let troubled = error.is_some() || !matches!(reason, Some("end_turn" | "cancelled"));
        if self.troubled.remove(session) {
            out.note(
                "PROMPT-13",
                moment.place(),
                format!("the prompt after such an end was answered {how}"),
            );
        }
        if troubled {
            self.troubled.insert(session.to_owned());
            out.note("PROMPT-13", moment.place(), format!("the turn ended {how}"));
        }
    }

    fn gave_up(&mut self, moment: &Moment<'_>, id: &Id, out: &mut Out<'_>) {
        let Some(open) = moment
            .talk
            .client_request(id)
            .filter(|open| open.method == "session/prompt" && !open.probe)
        else {
            return;
        };
        let Some(session) = open
            .session
            .as_deref()
            .and_then(|id| moment.talk.session(id))
        else {
            return;
        };
        let Some(prompt) = self.prompts.get(&open.event).filter(|prompt| prompt.text) else {
            return;
        };
        let cancelled = session
            .turns
            .iter()
            .any(|turn| turn.event == open.event && turn.cancelled.is_some());
        if cancelled || session.closed.is_some() {
            return;
        }
        let why = if moment.talk.end.by_client() || moment.talk.end.is_over() {
            "the agent ended before it answered a prompt"
        } else if prompt.shared {
            "two prompts of one session were open at once"
        } else if moment
            .talk
            .agent_requests()
            .any(|request| request.session == open.session)
        {
            "a request of the agent was still waiting for the client"
        } else if moment.talk.unread.is_some_and(|event| event > open.event) {
            "the answer may be in a line that could not be read"
        } else {
            out.fail(
                "PROMPT-01",
                Place::event(open.event),
                "the prompt was never answered, expected a result with a stopReason",
            );
            return;
        };
        out.inconclusive("PROMPT-01", why);
    }
}

fn failed(
    moment: &Moment<'_>,
    turn: &Turn,
    session: &Session,
    prompt: &Prompt,
    message: &Message,
    out: &mut Out<'_>,
) {
    if turn.cancelled.is_some() || !prompt.text || prompt.shared || session.closed.is_some() {
        return;
    }
    let text = quote(said(message));
    let why = if blames_account(message) {
        "a credential or a quota seems to be missing"
    } else if model_failed(moment, turn) {
        "the model failed during the turn"
    } else if moment.talk.model_is_out_of_sight() {
        "whether the model failed is not in the recording"
    } else if moment.talk.end.by_client() {
        "the agent was being ended"
    } else if session.origin == Origin::Before {
        "the session is older than the recording"
    } else {
        out.fail(
            "PROMPT-01",
            moment.at("/error"),
            format!(
                "the prompt was answered with the error {} {text}, expected a result with a stopReason",
                message.error_code().unwrap_or_default()
            ),
        );
        return;
    };
    out.inconclusive(
        "PROMPT-01",
        format!("{why}: the prompt was answered {text}"),
    );
}

/// What a prompt holds.
fn read(message: &Message) -> Prompt {
    let blocks = message
        .params()
        .and_then(|params| params.get("prompt"))
        .and_then(Value::as_array);
    let mut prompt = Prompt::default();
    let mut first = None;
    let mut all_text = true;
    for block in blocks.into_iter().flatten() {
        let text = block.get("text").and_then(Value::as_str);
        match (block.get("type").and_then(Value::as_str), text) {
            (Some("text"), Some(text)) => {
                if first.is_none() && !text.trim().is_empty() {
                    first = Some(text.trim_start());
                }
            }
            _ => all_text = false,
        }
    }
    prompt.text = all_text && first.is_some();
    prompt.asks = first.is_some_and(|text| !text.starts_with('/'));
    prompt
}

fn model_failed(moment: &Moment<'_>, turn: &Turn) -> bool {
    moment
        .talk
        .model_failed
        .is_some_and(|event| event > turn.event)
}

fn unknown_session(moment: &Moment<'_>, session: &str, out: &mut Out<'_>) {
    let mut open_for = None;
    for open in moment.talk.client_requests() {
        match open.method.as_str() {
            "session/new" | "session/fork" => return,
            "session/prompt" | "session/load" | "session/resume" => {
                if open.session.as_deref() == Some(session) {
                    return;
                }
                let known = open
                    .session
                    .as_deref()
                    .is_some_and(|id| moment.talk.session(id).is_some());
                if known && open.method != "session/resume" && !open.probe {
                    open_for = Some(open.event);
                }
            }
            _ => {}
        }
    }
    let Some(event) = open_for else {
        return;
    };
    if moment.talk.nameless_session {
        out.inconclusive(
            "PROMPT-04",
            "an answer opened a session and gave no id for it",
        );
    } else if moment.talk.whole {
        out.fail(
            "PROMPT-04",
            moment.at("/params/sessionId"),
            format!(
                "an update names session {}, which is none of this connection, while the request of event {event} is open",
                quote(session)
            ),
        );
    } else {
        out.inconclusive(
            "PROMPT-04",
            "an update names a session that may be older than the recording",
        );
    }
}

fn gap_ended(moment: &Moment<'_>, gap: &Gap, out: &mut Out<'_>) {
    if gap.cancelled {
        return;
    }
    match gap.late {
        0 => out.pass("INTEROP-02"),
        1 => {}
        late => out.note(
            "INTEROP-02",
            moment.place(),
            format!(
                "{late} content updates came after the answer to the turn, the last {} after it",
                gap.delay(gap.last)
            ),
        ),
    }
}

/// Words in an error message by which an agent says that an account, a key or a quota is missing.
const ACCOUNT: [&str; 24] = [
    "api key",
    "api_key",
    "apikey",
    "credential",
    "unauthorized",
    "unauthorised",
    "unauthenticated",
    "authenticat",
    "not logged in",
    "log in",
    "login",
    "sign in",
    "quota",
    "rate limit",
    "rate_limit",
    "usage limit",
    "billing",
    "credit",
    "payment",
    "subscription",
    " 401",
    " 402",
    " 403",
    " 429",
];

/// The error code for a missing authentication.
const AUTH_REQUIRED: i64 = -32000;

/// The message of an error, empty where there is none.
pub(super) fn said(message: &Message) -> &str {
    message
        .error()
        .and_then(|error| error.get("message"))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Whether an error says that a credential or a quota is missing, which is not the agent's fault.
pub(super) fn blames_account(message: &Message) -> bool {
    let said = |text: Option<&Value>| {
        text.and_then(Value::as_str).is_some_and(|text| {
            let text = text.to_lowercase();
            ACCOUNT.iter().any(|word| text.contains(word))
        })
    };
    let error = message.error();
    message.error_code() == Some(AUTH_REQUIRED)
        || said(error.and_then(|error| error.get("message")))
        || said(error.and_then(|error| error.get("data")))
        || said(error.and_then(|error| error.pointer("/data/message")))
        || said(error.and_then(|error| error.pointer("/data/details")))
}

#[cfg(test)]
mod tests;
