//! Tool calls: how they are announced, updated and shown.

use serde_json::Value;

use super::calls::unclear;
use super::part;
use super::path::is_absolute;
use super::quote::quote;
use super::{Call, CallStep, Consent, Moment, Origin, Out, Rule, Session, Status, Turn};
use crate::hash::{HashMap, HashSet};

/// So many beginnings of texts are kept.
const KEPT_TEXTS: usize = 10_000;

/// The beginning of a text that is kept to tell whether the next one goes on from it, in characters.
const KEPT: usize = 32;

/// So many terminals are kept; beyond them those that were released are forgotten.
const KEPT_TERMINALS: usize = 10_000;

/// A terminal that the client made for the agent.
struct Terminal {
    session: Option<String>,
    released: Option<u64>,
    embedded: bool,
}

/// What a turn has done so far.
#[derive(Default)]
struct Deeds {
    /// The first request that shows the use of a tool, and what it was.
    used: Option<(u64, &'static str)>,
    /// Whether any tool call was reported.
    reported: bool,
    /// Calls that were set to failed after the client's cancel.
    failed_after_cancel: u64,
}

/// TOOLCALL-01 (schema ToolCallUpdate): an update names a call that a `tool_call` of the session announced. Judged at
/// the first update of an unannounced id only. In a session that began elsewhere (resumed, forked, or before the
/// recording) the announcement may have been there, so nothing is proved.
///
/// TOOLCALL-02 (docs/protocol/v1/tool-calls.mdx#creating): an id is announced once, outside of the replay of a load.
///
/// TOOLCALL-03 (schema ToolCall), TOOLCALL-10 (schema ToolCallContent): title, status and kind, and the items of content,
/// fit the schema, in permission requests too. The blocks inside of items are CONTENT-01's.
///
/// TOOLCALL-04 (#status): completed and failed stay. A second `tool_call` is judged by TOOLCALL-02, and a replay
/// begins anew.
///
/// TOOLCALL-05 (prompt-turn.mdx#5-tool-invocation-and-status-reporting): a call that was allowed shows `in_progress`
/// before its end. An `in_progress` inside the permission request counts. Calls without permission are noted.
///
/// TOOLCALL-06 (the same section): when a turn ends by a stop reason of its own, no call is left `in_progress`; one that
/// ended without having been so holds too. A turn
/// that the client cancelled or that failed is not judged, nor one behind which another prompt waits (its calls may
/// go on there).
///
/// TOOLCALL-07 (tool-calls.mdx#creating): a turn that wrote a file, ran a terminal or asked permission has a
/// `tool_call`. Updates of unannounced calls are TOOLCALL-01's, so they count as a report here.
///
/// TOOLCALL-08, TOOLCALL-09 (overview.mdx#argument-requirements): paths of diffs and locations are absolute (POSIX,
/// drive or UNC: a recording may come from any platform), lines count from 1.
///
/// TOOLCALL-11 (tool-calls.mdx#terminals), TOOLCALL-12 (schema Terminal): a shown terminal came from `terminal/create`
/// of the session and is shown before its release. What a replay shows may stem from an earlier connection; clients
/// and agents that agree on terminals by `_meta` (`terminal_output`, `terminal_info`) do not use `terminal/create`.
///
/// TOOLCALL-14, TOOLCALL-15: oddities, and calls of cancelled turns, are noted.
#[derive(Default)]
pub(super) struct ToolCalls {
    terminals: HashMap<String, Terminal>,
    forgot_terminals: bool,
    /// Terminal ids that were reported as unknown, by session and id.
    unknown_terminals: HashSet<(String, String)>,
    /// By session.
    deeds: HashMap<String, Deeds>,
    /// The beginning of the last text of calls that have not ended, by session and id.
    texts: HashMap<(String, String), String>,
}

impl Rule for ToolCalls {
    fn judges(&self) -> &'static [&'static str] {
        &[
            "TOOLCALL-01",
            "TOOLCALL-02",
            "TOOLCALL-03",
            "TOOLCALL-04",
            "TOOLCALL-05",
            "TOOLCALL-06",
            "TOOLCALL-07",
            "TOOLCALL-08",
            "TOOLCALL-09",
            "TOOLCALL-10",
            "TOOLCALL-11",
            "TOOLCALL-12",
            "TOOLCALL-14",
            "TOOLCALL-15",
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        if let Some(turn) = moment.ended_turn {
            self.turn_ended(moment, turn, out);
        } else if let Some((open, message)) = moment.client_answer_to("terminal/create") {
            if let Some(id) = message
                .result()
                .and_then(|result| result.get("terminalId"))
                .and_then(Value::as_str)
            {
                let terminal = Terminal {
                    session: open.session.clone(),
                    released: None,
                    embedded: false,
                };
                if self.terminals.len() >= KEPT_TERMINALS {
                    self.terminals.retain(|_, it| it.released.is_none());
                    self.forgot_terminals = true;
                }
                self.terminals.insert(id.to_owned(), terminal);
            }
        } else if let Some(message) = moment.agent_message() {
            match message.method() {
                Some("session/update") => self.updated(moment, out),
                Some("session/request_permission") => {
                    part::faults(moment, "TOOLCALL-03", out);
                    part::faults(moment, "TOOLCALL-10", out);
                    if let (Some(session), Some(call)) = (
                        message.session(),
                        message.params().and_then(|params| params.get("toolCall")),
                    ) {
                        let known = call
                            .get("toolCallId")
                            .and_then(Value::as_str)
                            .and_then(|id| moment.talk.session(session)?.calls.get(id))
                            .is_some_and(|call| call.announced.is_some());
                        self.used(moment, session, "asked permission", known);
                        self.parts(moment, session, call, "/params/toolCall", out);
                    }
                }
                Some("fs/write_text_file") => {
                    if let Some(session) = message.session() {
                        self.used(moment, session, "wrote a file", false);
                    }
                }
                Some("terminal/create") => {
                    if let Some(session) = message.session() {
                        self.used(moment, session, "ran a command", false);
                    }
                }
                Some("terminal/release") => {
                    if let Some(terminal) = message
                        .params()
                        .and_then(|params| params.get("terminalId"))
                        .and_then(Value::as_str)
                        .and_then(|id| self.terminals.get_mut(id))
                    {
                        terminal.released.get_or_insert(moment.index);
                    }
                }
                _ => {}
            }
        }
    }
}

impl ToolCalls {
    fn used(&mut self, moment: &Moment<'_>, session: &str, what: &'static str, known: bool) {
        if moment.talk.turn(session).is_none() {
            return;
        }
        let deeds = self.deeds.entry(session.to_owned()).or_default();
        deeds.used.get_or_insert((moment.index, what));
        deeds.reported |= known;
    }

    fn updated(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let Some(update) = moment.update() else {
            return;
        };
        let announces = update.kind == "tool_call";
        if !announces && update.kind != "tool_call_update" {
            return;
        }
        part::judge(moment, "TOOLCALL-03", out);
        if part::faults(moment, "TOOLCALL-10", out)
            && update.body.get("content").is_some_and(has_items)
        {
            out.pass("TOOLCALL-10");
        }
        if moment.talk.turn(update.session).is_some() {
            match self.deeds.get_mut(update.session) {
                Some(deeds) => deeds.reported = true,
                None => {
                    let deeds = Deeds {
                        reported: true,
                        ..Deeds::default()
                    };
                    self.deeds.insert(update.session.to_owned(), deeds);
                }
            }
        }
        let (Some(session), Some(step), Some(id)) = (
            moment.talk.session(update.session),
            moment.call,
            update.body.get("toolCallId").and_then(Value::as_str),
        ) else {
            return;
        };
        if announces {
            announced(moment, session, step, id, update.body, out);
        } else {
            named(moment, session, step, id, out);
            if session.loading.is_none() {
                self.moved(moment, update.session, step, id, update.body, out);
            }
        }
        self.parts(moment, update.session, update.body, "/params/update", out);
        oddities(moment, id, update.body, announces, out);
    }

    /// The status of a call moved on, or back.
    fn moved(
        &mut self,
        moment: &Moment<'_>,
        session: &str,
        step: CallStep,
        id: &str,
        body: &Value,
        out: &mut Out<'_>,
    ) {
        let Some(before) = step.before else {
            return;
        };
        let given = body.get("status").and_then(Status::of);
        if before.status().is_final() {
            match given {
                Some(status) if status != before.status() => out.fail(
                    "TOOLCALL-04",
                    moment.at("/params/update/status"),
                    format!(
                        "call {} went from {} to {}, expected it to stay",
                        quote(id),
                        before.status().name(),
                        status.name()
                    ),
                ),
                _ => out.note(
                    "TOOLCALL-14",
                    moment.at("/params/update"),
                    format!(
                        "call {} was updated after it was {}",
                        quote(id),
                        before.status().name()
                    ),
                ),
            }
            return;
        }
        match given {
            Some(status) if status.is_final() => {
                out.pass("TOOLCALL-04");
                if status == Status::Failed
                    && moment
                        .talk
                        .turn(session)
                        .is_some_and(|turn| turn.cancelled.is_some())
                    && let Some(deeds) = self.deeds.get_mut(session)
                {
                    deeds.failed_after_cancel += 1;
                }
                shown_running(moment, &step.after, id, out);
                if !self.texts.is_empty() {
                    self.texts.remove(&(session.to_owned(), id.to_owned()));
                }
            }
            Some(Status::Pending) if before.status() == Status::InProgress => out.note(
                "TOOLCALL-14",
                moment.at("/params/update/status"),
                format!("call {} went from in_progress back to pending", quote(id)),
            ),
            _ => self.may_be_delta(moment, session, id, body, out),
        }
    }

    /// Content replaces the content before it; a text that does not go on from the last one may be meant as an addition.
    fn may_be_delta(
        &mut self,
        moment: &Moment<'_>,
        session: &str,
        id: &str,
        body: &Value,
        out: &mut Out<'_>,
    ) {
        let Some(text) = body
            .pointer("/content/0/content/text")
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
        else {
            return;
        };
        let start: String = text.chars().take(KEPT).collect();
        if self.texts.len() >= KEPT_TEXTS {
            self.texts.clear();
        }
        let last = self
            .texts
            .insert((session.to_owned(), id.to_owned()), start);
        if last.is_some_and(|last| !text.starts_with(&last)) {
            out.note(
                "TOOLCALL-14",
                moment.at("/params/update/content"),
                format!(
                    "the content of call {} does not go on from the content before, which it replaces",
                    quote(id)
                ),
            );
        }
    }

    fn turn_ended(&mut self, moment: &Moment<'_>, turn: &Turn, out: &mut Out<'_>) {
        let Some(session) = moment.talk.session(&turn.session) else {
            return;
        };
        if !session.turns.is_empty() {
            return;
        }
        let deeds = self.deeds.remove(&turn.session).unwrap_or_default();
        let Some(reason) = moment
            .message()
            .and_then(|message| message.result())
            .and_then(|result| result.get("stopReason"))
            .and_then(Value::as_str)
        else {
            return;
        };
        if reason == "cancelled" {
            let left = |status| {
                session
                    .calls
                    .of_turn()
                    .filter(|(_, call)| call.status() == status)
                    .count()
            };
            let (pending, running) = (left(Status::Pending), left(Status::InProgress));
            if pending + running > 0 || deeds.failed_after_cancel > 0 {
                out.note(
                    "TOOLCALL-15",
                    moment.place(),
                    format!(
                        "the cancelled turn left {pending} calls pending and {running} in_progress, and set {} to \
                         failed after the cancel",
                        deeds.failed_after_cancel
                    ),
                );
            }
            return;
        }
        if turn.cancelled.is_some() {
            return;
        }
        // A call that has ended shows it too, where it was never said to be running.
        let judged = |call: &Call| call.ran || call.status().is_final();
        for (id, call) in session.calls.of_turn().filter(|(_, call)| judged(call)) {
            if call.unclear {
                out.inconclusive("TOOLCALL-06", unclear(id));
                continue;
            }
            out.check(
                "TOOLCALL-06",
                call.status() != Status::InProgress,
                moment.at("/result/stopReason"),
                || {
                    format!(
                        "the turn ended {} while call {} was in_progress, expected completed or failed before",
                        quote(reason),
                        quote(id)
                    )
                },
            );
        }
        if let Some((event, what)) = deeds.used {
            out.check(
                "TOOLCALL-07",
                deeds.reported,
                super::Place::event(event),
                || format!("the agent {what} in a turn without any tool_call, expected one"),
            );
        }
    }

    /// Paths, lines and terminals of a tool call or of what updates one.
    fn parts(
        &mut self,
        moment: &Moment<'_>,
        session: &str,
        body: &Value,
        at: &str,
        out: &mut Out<'_>,
    ) {
        let locations = body.get("locations").and_then(Value::as_array);
        for (number, location) in locations.into_iter().flatten().enumerate() {
            if let Some(path) = location.get("path").and_then(Value::as_str) {
                out.check(
                    "TOOLCALL-08",
                    is_absolute(path),
                    moment.at(format!("{at}/locations/{number}/path")),
                    || format!("the location {} is no absolute path", quote(path)),
                );
            }
            let first = location.get("line").and_then(Value::as_f64) == Some(0.0);
            out.check(
                "TOOLCALL-09",
                !first,
                moment.at(format!("{at}/locations/{number}/line")),
                || "the line is 0, expected lines to count from 1".to_owned(),
            );
        }
        let content = body.get("content").and_then(Value::as_array);
        for (number, item) in content.into_iter().flatten().enumerate() {
            match item.get("type").and_then(Value::as_str) {
                Some("diff") => {
                    if let Some(path) = item.get("path").and_then(Value::as_str) {
                        out.check(
                            "TOOLCALL-08",
                            is_absolute(path),
                            moment.at(format!("{at}/content/{number}/path")),
                            || format!("the diff is of {}, expected an absolute path", quote(path)),
                        );
                    }
                }
                Some("terminal") => {
                    if let Some(id) = item.get("terminalId").and_then(Value::as_str) {
                        let at = format!("{at}/content/{number}/terminalId");
                        self.terminal_shown(moment, session, id, body, at, out);
                    }
                }
                _ => {}
            }
        }
    }

    fn terminal_shown(
        &mut self,
        moment: &Moment<'_>,
        session: &str,
        id: &str,
        body: &Value,
        at: String,
        out: &mut Out<'_>,
    ) {
        let Some(known) = moment.talk.session(session) else {
            return;
        };
        let of_session = self
            .terminals
            .get_mut(id)
            .filter(|terminal| terminal.session.as_deref().is_none_or(|its| its == session));
        if let Some(terminal) = of_session {
            out.pass("TOOLCALL-11");
            if !terminal.embedded && known.loading.is_none() {
                let released = terminal.released;
                out.check("TOOLCALL-12", released.is_none(), moment.at(at), || {
                    format!(
                        "terminal {} is shown for the first time after its release (event {}), expected before",
                        quote(id),
                        released.unwrap_or_default()
                    )
                });
            }
            terminal.embedded = true;
            return;
        }
        if known.loading.is_some() {
            return;
        }
        let agreed = moment.talk.client_can(&["_meta", "terminal_output"])
            || body.pointer("/_meta/terminal_info").is_some();
        if agreed {
            out.inconclusive(
                "TOOLCALL-11",
                "client and agent agreed by _meta on terminals without terminal/create",
            );
        } else if self.forgot_terminals || known.origin != Origin::New {
            out.inconclusive(
                "TOOLCALL-11",
                "the terminal may be older than what was seen of the session",
            );
        } else if self
            .unknown_terminals
            .insert((session.to_owned(), id.to_owned()))
        {
            let why = if moment.talk.client_can(&["terminal"]) {
                "which no terminal/create of the session made"
            } else {
                "though the client offers no terminals"
            };
            out.fail(
                "TOOLCALL-11",
                moment.at(at),
                format!("the call shows terminal {}, {why}", quote(id)),
            );
        }
    }
}

fn announced(
    moment: &Moment<'_>,
    session: &Session,
    step: CallStep,
    id: &str,
    body: &Value,
    out: &mut Out<'_>,
) {
    if session.loading.is_some() {
        return;
    }
    let Some(first) = step.before.and_then(|call| call.announced) else {
        out.pass("TOOLCALL-02");
        let status = body.get("status").and_then(Status::of);
        if status.is_some_and(Status::is_final) {
            out.pass("TOOLCALL-04");
        }
        return;
    };
    let same = step
        .before
        .is_some_and(|call| call.title == step.after.title);
    out.fail(
        "TOOLCALL-02",
        moment.at("/params/update/toolCallId"),
        format!(
            "call {} was already announced at event {first} with {} title, expected a new id",
            quote(id),
            if same { "the same" } else { "another" }
        ),
    );
}

fn named(moment: &Moment<'_>, session: &Session, step: CallStep, id: &str, out: &mut Out<'_>) {
    if step.after.announced.is_some() {
        out.pass("TOOLCALL-01");
        return;
    }
    let first = step.before.is_none_or(|call| !call.loose);
    if let Some(why) = session.calls.unclear() {
        out.inconclusive("TOOLCALL-01", why);
        return;
    }
    match session.origin {
        Origin::New | Origin::Load if first => out.fail(
            "TOOLCALL-01",
            moment.at("/params/update/toolCallId"),
            format!("no tool_call of the session announced {}", quote(id)),
        ),
        Origin::New | Origin::Load => {}
        Origin::Resume | Origin::Fork | Origin::Before => out.inconclusive(
            "TOOLCALL-01",
            "an update names a call that may be older than what was seen of the session",
        ),
    }
}

fn shown_running(moment: &Moment<'_>, call: &Call, id: &str, out: &mut Out<'_>) {
    match call.consent {
        Consent::Allowed(_) if !call.ran && call.was_unclear => {
            out.inconclusive("TOOLCALL-05", unclear(id));
        }
        Consent::Allowed(_) => out.check(
            "TOOLCALL-05",
            call.ran,
            moment.at("/params/update/status"),
            || {
                format!(
                    "call {} was allowed and ended without ever being in_progress",
                    quote(id)
                )
            },
        ),
        Consent::None if call.asked == 0 && !call.ran => out.note(
            "TOOLCALL-05",
            moment.at("/params/update/status"),
            format!("call {} ended without ever being in_progress", quote(id)),
        ),
        _ => {}
    }
}

fn has_items(content: &Value) -> bool {
    content.as_array().is_some_and(|items| !items.is_empty())
}

fn oddities(moment: &Moment<'_>, id: &str, body: &Value, announces: bool, out: &mut Out<'_>) {
    const ID: &str = "TOOLCALL-14";
    if !announces && body.as_object().is_some_and(|members| members.len() == 2) {
        out.note(
            ID,
            moment.at("/params/update"),
            format!("the update of call {} holds its id only", quote(id)),
        );
    }
    if body
        .get("title")
        .and_then(Value::as_str)
        .is_some_and(|title| title.trim().is_empty())
    {
        out.note(
            ID,
            moment.at("/params/update/title"),
            format!("the title of call {} is blank", quote(id)),
        );
    }
    for (name, at) in [
        ("rawInput", "/params/update/rawInput"),
        ("rawOutput", "/params/update/rawOutput"),
    ] {
        if body
            .get(name)
            .is_some_and(|value| !value.is_object() && !value.is_null())
        {
            out.note(
                ID,
                moment.at(at),
                format!("{name} of call {} is no object", quote(id)),
            );
        }
    }
}

#[cfg(test)]
mod tests;
