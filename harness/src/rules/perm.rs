//! Permission: what a request offers, which call it is for, and whether the answer is heeded.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::calls::chosen_kind;
use super::effects::{Effect, Targets};
use super::part;
use super::quote::quote;
use super::{Consent, Conversation, Moment, Origin, Out, Place, Rule, Status};

/// How long before the recorded answer an effect may be seen of an agent that waited for it, in seconds: a recorder
/// reads the two directions side by side.
const SIDE_BY_SIDE: f64 = 0.05;

/// The kinds of operation that PERM-10 counts.
const OPERATIONS: [&str; 6] = ["read", "edit", "delete", "move", "execute", "fetch"];

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
        let (Some(step), Some(session), Some(id)) = (
            moment.call,
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
    let mut seen = HashSet::new();
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
mod tests {
    use super::super::Judgement;
    use super::super::talking::{OPENING, failures, holds, is_inconclusive, judged, notes};

    const PROMPT: &str = r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}"#;
    const END: &str = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;
    const CALL: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"write","kind":"edit","status":"in_progress","locations":[{"path":"/work/a"}]}}}"#;
    const RUN: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"run","kind":"execute","status":"in_progress","rawInput":{"command":"touch a"}}}}"#;
    const ASK: &str = r#"< {"id":7,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"e","name":"Ever","kind":"allow_always"},{"optionId":"n","name":"No","kind":"reject_once"}]}}"#;
    const YES: &str = r#"> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}"#;
    const EVER: &str = r#"> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"e"}}}"#;
    const NO: &str = r#"> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"n"}}}"#;
    const NEVER: &str = r#"> {"id":7,"result":{"outcome":{"outcome":"cancelled"}}}"#;
    const WRITE: &str = r#"< {"id":8,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/work/a","content":"x"}}
        > {"id":8,"result":{}}"#;
    const SHELL: &str = r#"< {"id":8,"method":"terminal/create","params":{"sessionId":"s1","command":"bash","args":["-lc","touch a"]}}
        > {"id":8,"result":{"terminalId":"t"}}"#;
    const DONE: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}}}"#;
    const FAILED: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}}}"#;

    /// The events of a turn, of which the first is number 5.
    fn turn(lines: &[&str]) -> Judgement {
        judged(&format!(
            "{}\n{PROMPT}\n{}\n{END}",
            OPENING.replace("\"fs\":", "\"terminal\":true,\"fs\":"),
            lines.join("\n")
        ))
    }

    #[test]
    fn a_write_after_it_was_allowed_holds() {
        let it = turn(&[CALL, ASK, YES, WRITE, DONE]);
        assert_eq!(failures(&it), [""; 0]);
        for id in ["PERM-01", "PERM-03", "INTEROP-11", "INTEROP-12"] {
            assert!(holds(&it, id), "{id}");
        }
        assert_eq!(notes(&it, "PERM-10"), 1);
    }

    #[test]
    fn a_write_before_the_answer_fails() {
        let it = turn(&[CALL, ASK, WRITE, "wait 0.5", YES, DONE]);
        assert_eq!(failures(&it), ["PERM-03@7"]);
        let it = turn(&[RUN, ASK, SHELL, "wait 0.5", YES, DONE]);
        assert_eq!(failures(&it), ["PERM-03@7"]);
    }

    #[test]
    fn a_write_recorded_just_before_its_answer_proves_nothing() {
        let it = turn(&[CALL, ASK, WRITE, YES, DONE]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(is_inconclusive(&it, "PERM-03"));
    }

    #[test]
    fn a_write_that_another_call_accounts_for_is_not_early() {
        let other = CALL.replace("\"a\",\"title\"", "\"b\",\"title\"");
        let other_done = DONE.replace("\"a\"", "\"b\"");
        let it = turn(&[CALL, ASK, &other, WRITE, &other_done, "wait 1", NO, FAILED]);
        assert_eq!(failures(&it), [""; 0]);
        let read = CALL.replace("\"edit\"", "\"read\"");
        let it = turn(&[&read, ASK, WRITE, "wait 1", YES, DONE]);
        assert_eq!(failures(&it), [""; 0]);
    }

    #[test]
    fn a_rejected_write_that_happens_fails() {
        let it = turn(&[CALL, ASK, NO, WRITE, FAILED]);
        assert_eq!(failures(&it), ["PERM-04@8"]);
        let it = turn(&[RUN, ASK, NO, SHELL, FAILED]);
        assert_eq!(failures(&it), ["PERM-04@8"]);
    }

    #[test]
    fn a_cancelled_permission_is_no_consent() {
        let it = turn(&[CALL, ASK, NEVER, WRITE, FAILED]);
        assert_eq!(failures(&it), ["PERM-06@8"]);
    }

    #[test]
    fn a_rejected_write_that_was_allowed_later_is_lawful() {
        let it = turn(&[CALL, ASK, NO, ASK, YES, WRITE, DONE]);
        assert_eq!(failures(&it), [""; 0]);
        let second = CALL.replace("\"a\",\"title\"", "\"b\",\"title\"");
        let ask = ASK.replace("\"toolCallId\":\"a\"", "\"toolCallId\":\"b\"");
        let done = DONE.replace("\"a\"", "\"b\"");
        let it = turn(&[CALL, ASK, NO, FAILED, &second, &ask, YES, WRITE, &done]);
        assert_eq!(failures(&it), [""; 0]);
    }

    #[test]
    fn a_rejected_write_after_a_standing_permission_proves_nothing() {
        let again = ASK.replace("\"id\":7", "\"id\":9");
        let no = NO.replace("\"id\":7", "\"id\":9");
        let it = turn(&[CALL, ASK, EVER, &again, &no, WRITE, DONE]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(is_inconclusive(&it, "PERM-04"));
    }

    #[test]
    fn a_rejected_write_of_the_turn_before_may_be_done_in_the_next() {
        let next = PROMPT.replace("\"id\":2", "\"id\":3");
        let it = judged(&format!(
            "{OPENING}\n{PROMPT}\n{CALL}\n{ASK}\n{NO}\n{FAILED}\n{END}\n{next}\n{}\n{WRITE}\n{}",
            CALL.replace("\"a\",\"title\"", "\"b\",\"title\""),
            DONE.replace("\"a\"", "\"b\""),
        ));
        assert_eq!(failures(&it), [""; 0]);
    }

    #[test]
    fn a_refused_call_that_is_completed_fails() {
        let it = turn(&[CALL, ASK, NO, DONE]);
        assert_eq!(failures(&it), ["INTEROP-17@8/params/update/status"]);
        let it = turn(&[CALL, ASK, NO, FAILED]);
        assert!(holds(&it, "INTEROP-17"));
    }

    #[test]
    fn an_option_id_that_occurs_twice_fails() {
        let it = turn(&[CALL, &ASK.replace("\"e\"", "\"y\""), YES, DONE]);
        assert_eq!(failures(&it), ["PERM-01@6/params/options/1/optionId"]);
    }

    #[test]
    fn an_option_of_an_unknown_kind_fails_once() {
        let it = turn(&[CALL, &ASK.replace("reject_once", "abort"), YES, DONE]);
        let failed: Vec<String> = failures(&it)
            .into_iter()
            .filter(|failure| !failure.starts_with("JSONRPC-11"))
            .collect();
        assert_eq!(failed, ["PERM-01@6/params/options/2/kind"]);
    }

    #[test]
    fn options_without_a_choice_or_a_name_fail() {
        let none = ASK.replace(ASK.split("\"options\":").nth(1).unwrap(), "[]}}");
        let it = turn(&[CALL, &none, NEVER, FAILED]);
        assert_eq!(failures(&it), ["INTEROP-12@6/params/options"]);
        assert_eq!(notes(&it, "PERM-02"), 1);
        let it = turn(&[CALL, &ASK.replace("reject_once", "allow_once"), YES, DONE]);
        assert_eq!(failures(&it), ["INTEROP-12@6/params/options"]);
        let it = turn(&[
            CALL,
            &ASK.replace("allow_once", "reject_once")
                .replace("allow_always", "reject_always"),
            NO,
            FAILED,
        ]);
        assert_eq!(failures(&it), ["INTEROP-12@6/params/options"]);
        let it = turn(&[CALL, &ASK.replace("\"Yes\"", "\" \""), YES, DONE]);
        assert_eq!(failures(&it), ["INTEROP-12@6/params/options/0/name"]);
    }

    #[test]
    fn a_request_for_a_call_that_is_never_announced_fails() {
        let it = turn(&[ASK, NO]);
        assert!(failures(&it).contains(&"INTEROP-11@5/params/toolCall/toolCallId".to_owned()));
        let shown = ASK.replace(
            "\"toolCallId\":\"a\"",
            "\"toolCallId\":\"a\",\"title\":\"t\",\"kind\":\"edit\"",
        );
        let it = turn(&[&shown, NO]);
        assert!(failures(&it).contains(&"INTEROP-11@5/params/toolCall/toolCallId".to_owned()));
    }

    #[test]
    fn a_request_that_shows_its_call_may_come_first() {
        let shown = ASK.replace(
            "\"toolCallId\":\"a\"",
            "\"toolCallId\":\"a\",\"title\":\"t\",\"kind\":\"edit\"",
        );
        let it = turn(&[&shown, YES, CALL, DONE]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(holds(&it, "INTEROP-11"));
        assert_eq!(notes(&it, "PERM-09"), 1);
    }

    #[test]
    fn requests_outside_of_a_running_turn_are_noted() {
        let it = judged(&format!(
            "{OPENING}\n{PROMPT}\n{CALL}\n{DONE}\n{END}\n{ASK}\n{NEVER}"
        ));
        assert_eq!(failures(&it), [""; 0]);
        assert_eq!(notes(&it, "PERM-09"), 1);
    }
}
