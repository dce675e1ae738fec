//! Cancellation: how a turn ends that the client cancelled, and what may still come after it.

use super::prompt::{blames_account, said};
use super::quote::quote;
use super::{Conversation, Moment, Out, Rule};
use crate::hash::HashMap;
use crate::trace::Body;
use crate::wire::Id;

/// How long after a `session/cancel` an answer may already have been under way, in seconds.
const UNDER_WAY: f64 = 0.2;

/// A `session/cancel` for a turn.
#[derive(Clone, Copy)]
struct Cancel {
    event: u64,
    at: f64,
    probe: bool,
}

/// CANCEL-01, CANCEL-02 (docs/protocol/v1/prompt-turn.mdx#cancellation): a turn for which the client sent
/// `session/cancel` is answered `cancelled`, and not with an error.
///
/// Only the oldest open turn of the session is judged: whether a prompt that waits behind it is cancelled too, no text
/// says. A turn that was also cancelled by `$/cancel_request` may be answered with an error, for the text on that
/// method says so. An error that names a credential or a quota, or that follows a failure of the model before the
/// cancel, proves nothing. Nor does silence while a request of the agent waits for the client.
///
/// CANCEL-03 (the same section): after the answer to a cancelled turn no content (chunk, tool call, plan) comes for
/// the session until its next prompt. A load, a resume or a custom request of the client that names the session ends
/// the wait too, for content may answer it. An error on a turn that the client cancelled counts as its end, so what
/// follows it is late as well.
#[derive(Default)]
pub(super) struct Cancellation {
    /// The first `session/cancel` of a turn, by the event of its prompt.
    cancels: HashMap<u64, Cancel>,
    /// When the last event was.
    now: f64,
}

impl Rule for Cancellation {
    fn judges(&self) -> &'static [&'static str] {
        &["CANCEL-01", "CANCEL-02", "CANCEL-03"]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.now = moment.event.at;
        if !moment.talk.is_version_one() {
            return;
        }
        if let Body::Unanswered { id, .. } = &moment.event.body {
            self.gave_up(moment, &Id::from_value(id), out);
            return;
        }
        if let Some(message) = moment.client_call("session/cancel") {
            if let Some(turn) = message.session().and_then(|id| moment.talk.turn(id)) {
                self.cancels.entry(turn.event).or_insert(Cancel {
                    event: moment.index,
                    at: moment.event.at,
                    probe: moment.is_probe(),
                });
            }
            return;
        }
        self.answered(moment, out);
        late(moment, out);
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        let over = talk.end.is_over();
        for (_, session) in talk.sessions() {
            let Some(gap) = session.gap.filter(|gap| gap.cancelled && gap.late == 0) else {
                continue;
            };
            if over || gap.was_quiet(self.now) {
                out.pass("CANCEL-03");
            } else {
                out.inconclusive(
                    "CANCEL-03",
                    "the recording ends right after a cancelled turn was answered",
                );
            }
        }
    }
}

impl Cancellation {
    fn answered(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let (Some(turn), Some((open, message))) =
            (moment.ended_turn, moment.answer_to("session/prompt"))
        else {
            return;
        };
        let Some(cancel) = self.cancels.remove(&turn.event) else {
            return;
        };
        if message.error().is_some() {
            let text = said(message);
            let model_failed = moment
                .talk
                .model_failed
                .is_some_and(|event| turn.event < event && event < cancel.event);
            if open.probe || cancel.probe || open.cancel_requested.is_some() {
                return;
            }
            if blames_account(message) || model_failed {
                out.inconclusive(
                    "CANCEL-02",
                    format!(
                        "the turn may have failed before the cancel: {}",
                        quote(text)
                    ),
                );
                return;
            }
            out.fail(
                "CANCEL-02",
                moment.at("/error"),
                format!(
                    "the cancelled turn was answered with the error {} {}, expected a result with stopReason \
                     \"cancelled\"",
                    message.error_code().unwrap_or_default(),
                    quote(text)
                ),
            );
            return;
        }
        let Some(reason) = message
            .result()
            .and_then(|result| result.get("stopReason"))
            .and_then(serde_json::Value::as_str)
        else {
            return;
        };
        if reason == "cancelled" {
            out.pass("CANCEL-01");
            out.pass("CANCEL-02");
            return;
        }
        let after = moment.event.at - cancel.at;
        // A turn that waited for a permission ends by what the client answered to it after the cancel: nothing else can
        // have been under way.
        let waited = turn
            .permission_cancelled
            .is_some_and(|answered| answered > cancel.event);
        if (after <= UNDER_WAY && !waited) || cancel.probe {
            out.inconclusive(
                "CANCEL-01",
                format!(
                    "the answer {} came {:.0} ms after the cancel and may have been under way",
                    quote(reason),
                    after * 1000.0
                ),
            );
        } else {
            out.fail(
                "CANCEL-01",
                moment.at("/result/stopReason"),
                format!(
                    "stopReason is {} {:.0} ms after the cancel, expected \"cancelled\"",
                    quote(reason),
                    after * 1000.0
                ),
            );
        }
    }

    fn gave_up(&self, moment: &Moment<'_>, id: &Id, out: &mut Out<'_>) {
        let Some(open) = moment.talk.client_request(id) else {
            return;
        };
        let Some(cancel) = self.cancels.get(&open.event) else {
            return;
        };
        if open.probe || cancel.probe {
            return;
        }
        if moment.talk.end.by_client() || moment.talk.end.is_over() {
            out.inconclusive("CANCEL-01", "the agent ended before the cancelled turn did");
        } else if moment
            .talk
            .agent_requests()
            .any(|request| request.session == open.session)
        {
            out.inconclusive(
                "CANCEL-01",
                "a request of the agent was still waiting for the client",
            );
        } else {
            out.fail(
                "CANCEL-01",
                moment.place(),
                "the cancelled turn was never answered, expected stopReason \"cancelled\"",
            );
        }
    }
}

fn late(moment: &Moment<'_>, out: &mut Out<'_>) {
    if let Some(gap) = moment.ended_gap.filter(|gap| gap.cancelled) {
        match gap.late {
            0 => out.pass("CANCEL-03"),
            1 => {}
            late => out.note(
                "CANCEL-03",
                moment.place(),
                format!(
                    "{late} updates came after the answer to the cancelled turn, the last {} after it",
                    gap.delay(gap.last)
                ),
            ),
        }
        return;
    }
    let Some(update) = moment.update() else {
        return;
    };
    let Some(gap) = moment
        .talk
        .session(update.session)
        .and_then(|session| session.gap)
        .filter(|gap| gap.cancelled && gap.late == 1)
    else {
        return;
    };
    if update.is_content() {
        out.fail(
            "CANCEL-03",
            moment.at("/params/update"),
            format!(
                "the update {} came {} after the answer to the cancelled turn (event {}), expected before it",
                update.kind,
                gap.delay(moment.event.at),
                gap.answer
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::talking::{OPENING, failures, holds, is_inconclusive, judged};

    const PROMPT: &str = r#"
        > {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}
        < {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}
    "#;
    const CANCEL: &str = r#"> {"method":"session/cancel","params":{"sessionId":"s1"}}"#;
    const CANCELLED: &str = r#"< {"id":2,"result":{"stopReason":"cancelled"}}"#;
    const CHUNK: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late"}}}}"#;

    fn after_prompt(lines: &[&str]) -> super::super::Judgement {
        judged(&format!("{OPENING}\n{PROMPT}\n{}", lines.join("\n")))
    }

    #[test]
    fn a_cancelled_turn_ends_as_cancelled_and_stays_quiet() {
        let it = after_prompt(&[CANCEL, CHUNK, CANCELLED, "wait 0.3", ">x"]);
        assert_eq!(failures(&it), [""; 0]);
        for id in ["CANCEL-01", "CANCEL-02", "CANCEL-03"] {
            assert!(holds(&it, id), "{id}");
        }
    }

    #[test]
    fn another_stop_reason_fails_unless_it_was_under_way() {
        let end = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;
        let it = after_prompt(&[CANCEL, "wait 0.3", end]);
        assert_eq!(failures(&it), ["CANCEL-01@7/result/stopReason"]);
        let it = after_prompt(&[CANCEL, end]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(is_inconclusive(&it, "CANCEL-01"));
    }

    #[test]
    fn an_error_on_a_cancelled_turn_fails_once() {
        let error = r#"< {"id":2,"error":{"code":-32800,"message":"cancelled"}}"#;
        assert_eq!(
            failures(&after_prompt(&[CANCEL, error])),
            ["CANCEL-02@7/error"]
        );
    }

    #[test]
    fn an_error_that_has_another_reason_proves_nothing() {
        let quota = r#"< {"id":2,"error":{"code":-32603,"message":"quota exceeded"}}"#;
        assert!(is_inconclusive(
            &after_prompt(&[CANCEL, quota]),
            "CANCEL-02"
        ));
        let error = r#"< {"id":2,"error":{"code":-32603,"message":"boom"}}"#;
        let it = after_prompt(&["model 500", CANCEL, error]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(is_inconclusive(&it, "CANCEL-02"));
    }

    #[test]
    fn a_prompt_cancelled_as_a_request_may_be_answered_with_an_error() {
        let request = r#"> {"method":"$/cancel_request","params":{"requestId":2}}"#;
        let error = r#"< {"id":2,"error":{"code":-32800,"message":"cancelled"}}"#;
        assert_eq!(failures(&after_prompt(&[request, error])), [""; 0]);
        assert_eq!(failures(&after_prompt(&[CANCEL, request, error])), [""; 0]);
    }

    #[test]
    fn a_cancelled_turn_that_never_ends_fails() {
        let it = after_prompt(&[CANCEL, "unanswered 2"]);
        assert!(failures(&it).contains(&"CANCEL-01@7".to_owned()));
        assert!(!failures(&it).iter().any(|id| id.starts_with("PROMPT")));
    }

    #[test]
    fn silence_while_the_client_owes_an_answer_proves_nothing() {
        let ask =
            r#"< {"id":9,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/a"}}"#;
        let it = after_prompt(&[ask, CANCEL, "unanswered 2"]);
        assert!(is_inconclusive(&it, "CANCEL-01"));
    }

    #[test]
    fn content_after_the_answer_fails_once_and_states_never() {
        let mode = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"current_mode_update","currentModeId":"ask"}}}"#;
        let it = after_prompt(&[CANCEL, CANCELLED, mode, CHUNK, CHUNK, "wait 1", ">x"]);
        assert_eq!(failures(&it), ["CANCEL-03@9/params/update"]);
        let it = after_prompt(&[CANCEL, CANCELLED, mode, "wait 1", ">x"]);
        assert!(holds(&it, "CANCEL-03"));
    }

    #[test]
    fn a_final_tool_status_after_the_answer_is_late_too() {
        let call = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"x"}}}"#;
        let failed = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"}}}"#;
        let it = after_prompt(&[call, CANCEL, CANCELLED, failed]);
        assert_eq!(failures(&it), ["CANCEL-03@9/params/update"]);
    }

    #[test]
    fn content_of_the_next_turn_or_of_a_prompt_that_waited_is_not_late() {
        let next = r#"> {"id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"again"}]}}"#;
        let end = r#"< {"id":3,"result":{"stopReason":"end_turn"}}"#;
        let it = after_prompt(&[CANCEL, CANCELLED, next, CHUNK, end]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(holds(&it, "CANCEL-03"));
        let it = after_prompt(&[next, CANCEL, CANCELLED, CHUNK, end]);
        assert_eq!(failures(&it), [""; 0]);
    }

    #[test]
    fn content_that_a_load_replays_after_a_cancelled_turn_is_not_late() {
        let load = r#"> {"id":3,"method":"session/load","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}"#;
        let loaded = r#"< {"id":3,"result":{}}"#;
        let it = after_prompt(&[CANCEL, CANCELLED, load, CHUNK, loaded]);
        assert!(!failures(&it).iter().any(|id| id.starts_with("CANCEL")));
    }

    #[test]
    fn a_recording_that_ends_with_the_answer_does_not_show_quiet() {
        let it = after_prompt(&[CANCEL, CANCELLED]);
        assert!(is_inconclusive(&it, "CANCEL-03"));
    }

    #[test]
    fn a_cancel_between_turns_belongs_to_no_turn() {
        let end = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;
        let it = after_prompt(&[end, CANCEL]);
        assert!(it.get("CANCEL-01").is_none());
    }
}
