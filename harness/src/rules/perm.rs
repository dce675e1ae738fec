//! Permission: what a request offers, which call it is for, and whether the answer is heeded.

use std::collections::BTreeMap;

use serde_json::Value;

use super::calls::chosen_kind;
use super::effects::{Effect, Targets};
use super::part;
use super::quote::quote;
use super::{Consent, Conversation, Moment, Origin, Out, Place, Rule, Status};
use crate::hash::{HashMap, HashSet};

/// How long before the recorded answer an effect may be seen of an agent that waited for it, in seconds: a recorder
/// reads the two directions side by side.
const SIDE_BY_SIDE: f64 = 0.05;

/// The kinds of operation that PERM-10 counts.
const OPERATIONS: [&str; 6] = ["read", "edit", "delete", "move", "execute", "fetch"];

/// So many effects wait for the answer to a request.
const WAITING: usize = 1_000;

/// How many modes and kinds PERM-10 keeps apart.
const COUNTED: usize = 60;

/// An effect that was seen while permission for its call was open.
struct Early {
    call: String,
    event: u64,
    at: f64,
    what: String,
}

/// What is known of the permissions of a session.
#[derive(Default)]
struct Asking {
    /// What the calls since the last prompt are about.
    targets: Targets,
    /// Effects that came before the answer to a request that is open.
    early: Vec<Early>,
    /// Requests that named a call before it was announced, with the id of the call.
    unannounced: Vec<(u64, String)>,
    /// The event of the last allowance for a call of which it is not known what it is about.
    blind: Option<u64>,
    /// Whether an option of the kind `allow_always` was ever chosen.
    always: bool,
    /// The last event at which the client changed the mode or an option.
    steered: Option<u64>,
    /// The mode, where it is known.
    mode: Option<String>,
}

/// PERM-01 (docs/protocol/v1/tool-calls.mdx#permission-options): the request fits the schema, and no optionId occurs twice
/// in it. What its tool call shows belongs to the requirements on tool calls.
///
/// PERM-02, INTEROP-12 (the same section): options to allow and to refuse, with names. Where an option has a kind that
/// v1 does not know, PERM-01 fails and what the option means stays open.
///
/// PERM-03 (#requesting-permission): no `fs/write_text_file` to a path of the call and no `terminal/create` of its
/// command while the request is open. The paths are those of locations, diffs and well-known members of `rawInput`;
/// the command is compared as a whole. A call that reads, searches or thinks is not taken for a writer, and an effect
/// that another call of the turn accounts for proves nothing. An effect just before the recorded answer may have been
/// recorded out of order. It passes when an allowed effect is seen after its answer.
///
/// PERM-04 (#permission-options), PERM-06 (schema RequestPermissionOutcome): the same after a rejection, or after the
/// outcome `cancelled`, until the next prompt. What the agent does by itself, traffic does not show, so these two are
/// never passed here. After `allow_always`, a change of mode, or beside a call that needs no permission, nothing is
/// proved.
///
/// INTEROP-11: a request names a call that was announced, or shows title and kind and is announced within the turn.
///
/// INTEROP-17: a call whose requests were all rejected or cancelled does not become `completed`.
///
/// PERM-09, PERM-10: written down.
#[derive(Default)]
pub(super) struct Permission {
    sessions: HashMap<String, Asking>,
    /// By mode and kind: how often an operation was completed with and without asking, and the last time.
    operations: BTreeMap<(String, &'static str), (u64, u64, u64)>,
}

impl Rule for Permission {
    fn judges(&self) -> &'static [&'static str] {
        &[
            "PERM-01",
            "PERM-02",
            "PERM-03",
            "PERM-04",
            "PERM-06",
            "PERM-09",
            "PERM-10",
            "INTEROP-11",
            "INTEROP-12",
            "INTEROP-17",
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        if let Some(turn) = moment.ended_turn {
            let open = moment
                .talk
                .session(&turn.session)
                .is_some_and(|session| !session.turns.is_empty());
            if !open {
                self.turn_ended(moment, &turn.session, turn.cancelled.is_some(), out);
            }
        } else if let Some((open, message)) = moment.client_answer_to("session/request_permission")
        {
            if let Some(session) = &open.session {
                self.answered(moment, session, &open.params, message.result(), out);
            }
        } else if let Some(message) = moment.client_message() {
            self.client_sent(moment, message.method(), message.session());
        } else if let Some(message) = moment.agent_message() {
            let params = message.params();
            match message.method() {
                Some("session/update") => self.updated(moment, out),
                Some("session/request_permission") => {
                    let fits = part::faults(moment, "PERM-01", out);
                    if let Some(params) = params {
                        options(moment, params, fits, out);
                        self.asked(moment, params, out);
                    }
                }
                Some("fs/write_text_file" | "terminal/create") => {
                    if let (Some(session), Some(params)) = (message.session(), params)
                        && let Some(effect) =
                            Effect::of(message.method().unwrap_or_default(), params)
                    {
                        self.effected(moment, session, &effect, out);
                    }
                }
                None => self.mode_answered(moment),
                _ => {}
            }
        }
    }

    fn end(&mut self, _talk: &Conversation, out: &mut Out<'_>) {
        let mut early = Vec::new();
        for asking in self.sessions.values_mut() {
            early.append(&mut asking.early);
            if !asking.unannounced.is_empty() {
                out.inconclusive(
                    "INTEROP-11",
                    "the recording ends before the turn in which a call was to be announced",
                );
            }
        }
        early.sort_by_key(|early| early.event);
        for early in early {
            early.report(out);
        }
        for ((mode, kind), (asked, unasked, event)) in &self.operations {
            out.note(
                "PERM-10",
                Place::event(*event),
                format!(
                    "operations of kind {kind} in {}: {asked} after asking, {unasked} without",
                    if mode.is_empty() {
                        "a mode that is not known".to_owned()
                    } else {
                        format!("mode {}", quote(mode))
                    }
                ),
            );
        }
    }
}

impl Permission {
    fn client_sent(&mut self, moment: &Moment<'_>, method: Option<&str>, session: Option<&str>) {
        let Some(asking) = session.and_then(|session| self.sessions.get_mut(session)) else {
            return;
        };
        match method {
            Some("session/prompt") => {
                let waits = session
                    .and_then(|session| moment.talk.session(session))
                    .is_some_and(|session| session.turns.len() > 1);
                if !waits {
                    asking.targets = Targets::default();
                    asking.blind = None;
                }
            }
            Some("session/set_mode" | "session/set_config_option") => {
                asking.steered = Some(moment.index);
            }
            _ => {}
        }
    }

    fn mode_answered(&mut self, moment: &Moment<'_>) {
        let (Some(open), Some(result)) = (
            moment.answers,
            moment.message().and_then(|message| message.result()),
        ) else {
            return;
        };
        let (session, mode) = match open.method.as_str() {
            "session/new" => (
                result.get("sessionId").and_then(Value::as_str),
                result.pointer("/modes/currentModeId"),
            ),
            "session/load" | "session/resume" => (
                open.session.as_deref(),
                result.pointer("/modes/currentModeId"),
            ),
            "session/set_mode" => (open.session.as_deref(), open.params.get("modeId")),
            _ => return,
        };
        if let (Some(session), Some(mode)) = (session, mode.and_then(Value::as_str)) {
            self.of(session).mode = Some(mode.to_owned());
        }
    }

    fn of(&mut self, session: &str) -> &mut Asking {
        if !self.sessions.contains_key(session) {
            self.sessions.insert(session.to_owned(), Asking::default());
        }
        self.sessions.entry(session.to_owned()).or_default()
    }

    fn updated(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let Some(update) = moment.update() else {
            return;
        };
        if update.kind == "current_mode_update" {
            if let Some(mode) = update.body.get("currentModeId").and_then(Value::as_str) {
                self.of(update.session).mode = Some(mode.to_owned());
            }
            return;
        }
        let Some(step) = moment.call else {
            return;
        };
        let (Some(session), Some(id)) = (
            moment.talk.session(update.session),
            update.body.get("toolCallId").and_then(Value::as_str),
        ) else {
            return;
        };
        if session.loading.is_some() {
            return;
        }
        self.of(update.session).targets.add(id, update.body);
        let given = update.body.get("status").and_then(Status::of);
        let ended_before = step.before.is_some_and(|call| call.status().is_final());
        let Some(status) = given.filter(|_| !ended_before) else {
            return;
        };
        if step.after.asked > 0 && matches!(status, Status::InProgress | Status::Completed) {
            out.note(
                "PERM-03",
                moment.at("/params/update/status"),
                format!(
                    "call {} is {} while permission is asked",
                    quote(id),
                    status.name()
                ),
            );
        }
        if !status.is_final() {
            return;
        }
        self.count(update.session, moment.index, &step.after);
        let refused = matches!(
            step.after.consent,
            Consent::Rejected(_) | Consent::Cancelled(_)
        );
        if refused && !step.after.allowed && step.after.asked == 0 {
            out.check(
                "INTEROP-17",
                status == Status::Failed,
                moment.at("/params/update/status"),
                || {
                    format!(
                        "call {} is completed although its permission was refused, expected failed",
                        quote(id)
                    )
                },
            );
        }
    }

    fn count(&mut self, session: &str, event: u64, call: &super::Call) {
        let Some(kind) = call.kind.filter(|kind| OPERATIONS.contains(kind)) else {
            return;
        };
        if call.status() != Status::Completed {
            return;
        }
        let mode = self
            .sessions
            .get(session)
            .and_then(|asking| asking.mode.clone())
            .unwrap_or_default();
        if self.operations.len() >= COUNTED && !self.operations.contains_key(&(mode.clone(), kind))
        {
            return;
        }
        let counts = self.operations.entry((mode, kind)).or_default();
        if call.consent == Consent::None && call.asked == 0 {
            counts.1 += 1;
        } else {
            counts.0 += 1;
        }
        counts.2 = event;
    }

    fn asked(&mut self, moment: &Moment<'_>, params: &Value, out: &mut Out<'_>) {
        let (Some(name), Some(call), Some(step)) = (
            params.get("sessionId").and_then(Value::as_str),
            params.get("toolCall"),
            moment.call,
        ) else {
            return;
        };
        let (Some(session), Some(id)) = (
            moment.talk.session(name),
            call.get("toolCallId").and_then(Value::as_str),
        ) else {
            return;
        };
        self.of(name).targets.add(id, call);
        let mut note = |what: &str| {
            out.note(
                "PERM-09",
                moment.place(),
                format!("permission for call {} was asked {what}", quote(id)),
            );
        };
        match session.turns.front() {
            Some(turn) if turn.cancelled.is_some() => note("after the turn was cancelled"),
            Some(_) => {}
            None if session.gap.is_some() => note("after the answer to the turn"),
            None => note("outside of a turn"),
        }
        if step.after.announced.is_some() {
            out.pass("INTEROP-11");
            return;
        }
        note("before a tool_call announced it");
        if let Some(why) = session.calls.unclear() {
            out.inconclusive("INTEROP-11", why);
            return;
        }
        if session.origin != Origin::New && session.origin != Origin::Load {
            out.inconclusive(
                "INTEROP-11",
                "a request names a call that may be older than what was seen of the session",
            );
            return;
        }
        let shown = ["title", "kind"]
            .iter()
            .all(|member| call.get(member).is_some_and(Value::is_string));
        if shown && !session.turns.is_empty() {
            self.of(name)
                .unannounced
                .push((moment.index, id.to_owned()));
        } else {
            out.check(
                "INTEROP-11",
                shown,
                moment.at("/params/toolCall/toolCallId"),
                || {
                    format!(
                        "permission was asked for call {}, which no tool_call announced, without title and kind",
                        quote(id)
                    )
                },
            );
        }
    }

    fn turn_ended(&mut self, moment: &Moment<'_>, name: &str, cancelled: bool, out: &mut Out<'_>) {
        let (Some(asking), Some(session)) =
            (self.sessions.get_mut(name), moment.talk.session(name))
        else {
            return;
        };
        for (event, id) in asking.unannounced.drain(..) {
            let announced = session
                .calls
                .get(&id)
                .is_some_and(|call| call.announced.is_some());
            if announced {
                out.pass("INTEROP-11");
                out.note(
                    "INTEROP-11",
                    Place::event(event),
                    format!(
                        "call {} was announced only after its permission was asked",
                        quote(&id)
                    ),
                );
            } else if cancelled {
                out.inconclusive(
                    "INTEROP-11",
                    "the turn was cancelled before a call was announced whose permission was asked",
                );
            } else {
                out.fail(
                    "INTEROP-11",
                    Place::new(event, "/params/toolCall/toolCallId"),
                    format!(
                        "permission was asked for call {}, which no tool_call announced before the turn ended",
                        quote(&id)
                    ),
                );
            }
        }
    }

    fn answered(
        &mut self,
        moment: &Moment<'_>,
        session: &str,
        request: &Value,
        result: Option<&Value>,
        out: &mut Out<'_>,
    ) {
        let (Some(step), Some(id)) = (
            moment.call,
            request
                .pointer("/toolCall/toolCallId")
                .and_then(Value::as_str),
        ) else {
            return;
        };
        let asking = self.of(session);
        let allowed = matches!(step.after.consent, Consent::Allowed(_));
        if allowed {
            if !asking.targets.knows(id) {
                asking.blind = Some(moment.index);
            }
            asking.always |= result
                .and_then(|result| result.get("outcome"))
                .and_then(|outcome| chosen_kind(request, outcome))
                == Some("allow_always");
        }
        asking.early.retain(|early| {
            if early.call != id {
                return true;
            }
            if allowed && moment.event.at - early.at <= SIDE_BY_SIDE {
                out.inconclusive(
                    "PERM-03",
                    "an effect was recorded just before the answer that allowed it",
                );
            } else {
                early.report(out);
            }
            false
        });
    }

    fn effected(&mut self, moment: &Moment<'_>, name: &str, effect: &Effect, out: &mut Out<'_>) {
        let (Some(asking), Some(session)) =
            (self.sessions.get_mut(name), moment.talk.session(name))
        else {
            return;
        };
        let calls: Vec<_> = asking
            .targets
            .of(effect)
            .filter_map(|id| Some((id, session.calls.get(id)?)))
            .filter(|(_, call)| effect.may_be_of(call.kind))
            .collect();
        if calls
            .iter()
            .any(|(_, call)| matches!(call.consent, Consent::Allowed(_)))
        {
            out.pass("PERM-03");
            return;
        }
        let unasked = |since: u64| {
            calls.iter().any(|(_, call)| {
                call.consent == Consent::None && call.asked == 0 && call.known < since
            })
        };
        if let Some((id, _)) = calls.iter().find(|(_, call)| call.asked > 0) {
            if asking.blind.is_some() || unasked(u64::MAX) {
                out.inconclusive(
                    "PERM-03",
                    "another call of the turn may account for an effect",
                );
            } else {
                if asking.early.len() >= WAITING {
                    return;
                }
                asking.early.push(Early {
                    call: (*id).to_owned(),
                    event: moment.index,
                    at: moment.event.at,
                    what: effect.to_string(),
                });
            }
            return;
        }
        for (id, call) in &calls {
            let (requirement, since, answer) = match call.consent {
                Consent::Rejected(since) => ("PERM-04", since, "rejected"),
                Consent::Cancelled(since) => ("PERM-06", since, "answered cancelled"),
                _ => continue,
            };
            let steered = asking.steered.is_some_and(|event| event > since);
            if asking.always || steered || asking.blind.is_some() || unasked(since) {
                out.inconclusive(
                    requirement,
                    "what was refused was done, but something else may have allowed it",
                );
            } else {
                out.fail(
                    requirement,
                    moment.place(),
                    format!(
                        "the agent {effect} although permission for call {} was {answer} at event {since}",
                        quote(id)
                    ),
                );
            }
            return;
        }
    }
}

impl Early {
    fn report(&self, out: &mut Out<'_>) {
        out.fail(
            "PERM-03",
            Place::event(self.event),
            format!(
                "the agent {} while permission for call {} was open, expected it to wait for the answer",
                self.what,
                quote(&self.call)
            ),
        );
    }
}

fn options(moment: &Moment<'_>, params: &Value, fits: bool, out: &mut Out<'_>) {
    let Some(options) = params.get("options").and_then(Value::as_array) else {
        return;
    };
    if options.is_empty() {
        let what = "the request offers no option, so it can only be cancelled";
        out.note("PERM-02", moment.at("/params/options"), what);
        out.fail("INTEROP-12", moment.at("/params/options"), what);
        return;
    }
    let mut seen = HashSet::default();
    let mut unique = true;
    let (mut allows, mut refuses, mut known) = (false, false, true);
    let mut blank = None;
    for (number, option) in options.iter().enumerate() {
        if let Some(id) = option.get("optionId").and_then(Value::as_str)
            && !seen.insert(id)
        {
            unique = false;
            out.fail(
                "PERM-01",
                moment.at(format!("/params/options/{number}/optionId")),
                format!("the optionId {} occurs twice in one request", quote(id)),
            );
        }
        match option.get("kind").and_then(Value::as_str) {
            Some("allow_once" | "allow_always") => allows = true,
            Some("reject_once" | "reject_always") => refuses = true,
            _ => known = false,
        }
        if option
            .get("name")
            .and_then(Value::as_str)
            .is_some_and(|name| name.trim().is_empty())
        {
            blank.get_or_insert(number);
        }
    }
    if unique && fits {
        out.pass("PERM-01");
    }
    let mut odd = |path: String, what: &str| {
        out.note("PERM-02", moment.at(path.clone()), what);
        out.fail("INTEROP-12", moment.at(path), what);
    };
    if let Some(number) = blank {
        odd(
            format!("/params/options/{number}/name"),
            "the name of an option is blank, expected words that a person can read",
        );
    }
    if known && !allows {
        odd(
            "/params/options".to_owned(),
            "no option allows, expected one at least",
        );
    }
    if known && !refuses {
        odd(
            "/params/options".to_owned(),
            "no option refuses, expected one at least",
        );
    }
    if blank.is_none() && allows && refuses {
        out.pass("INTEROP-12");
    }
}

#[cfg(test)]
mod tests;
