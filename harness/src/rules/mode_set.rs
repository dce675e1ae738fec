//! MODE-02, MODE-04 and, for modes, INTEROP-20: what comes of `session/set_mode`.

use super::offers::Offers;
use super::quote::{quote, quote_json};
use super::refusal::{Refusal, excuse, refusal};
use super::{Moment, Open, Out};
use crate::hash::HashMap;
use crate::wire::Message;
use serde_json::Value;

const ACCEPTED: &str = "MODE-02";
const MID_TURN: &str = "MODE-04";
const NOT_OFFERED: &str = "INTEROP-20";

const SET: &str = "session/set_mode";

/// So many requests that were sent in a turn are remembered.
const REMEMBERED: usize = 1_000;

/// MODE-02 (docs/protocol/v1/session-modes.mdx#from-the-client): a mode that the session lists is accepted, with an object.
/// A refusal with a reason is inconclusive.
///
/// MODE-04 (#setting-the-current-mode): so it is while a turn of the session runs, of which it is judged instead; there only
/// a reason outside of the agent excuses a refusal.
///
/// INTEROP-20: a mode that the session does not list is refused.
///
/// Of a session that lists no modes nothing is said (MODE-06 observes).
#[derive(Default)]
pub(super) struct ModeChanges {
    offers: Offers,
    /// By the event of a request: the event of the prompt of the turn in which it was sent.
    in_turn: HashMap<u64, u64>,
}

impl ModeChanges {
    /// Sees the next event.
    pub(super) fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if let Some(message) = moment.client_call(SET) {
            note_turn(&mut self.in_turn, moment, message);
        } else if let Some((open, message)) = moment.answer_to(SET) {
            let turn = self.in_turn.remove(&open.event);
            self.answered(moment, open, message, turn, out);
        }
        self.offers.see(moment);
    }
}

/// Remembers in which turn a request was sent, if it was sent in one that is not being cancelled.
pub(super) fn note_turn(in_turn: &mut HashMap<u64, u64>, moment: &Moment<'_>, message: &Message) {
    let turn = message
        .session()
        .and_then(|session| moment.talk.turn(session));
    if let Some(turn) = turn.filter(|turn| turn.cancelled.is_none())
        && in_turn.len() < REMEMBERED
    {
        in_turn.insert(moment.index, turn.event);
    }
}

/// Notes that an answer came only after the turn in which it was asked for, as no time is stated.
pub(super) fn note_late(
    id: &'static str,
    moment: &Moment<'_>,
    open: &Open,
    turn: u64,
    out: &mut Out<'_>,
) {
    let running = open
        .session
        .as_deref()
        .and_then(|session| moment.talk.turn(session));
    if running.is_none_or(|running| running.event != turn) {
        out.note(
            id,
            moment.place(),
            "it was answered only after the turn had ended",
        );
    }
}

impl ModeChanges {
    fn answered(
        &self,
        moment: &Moment<'_>,
        open: &Open,
        message: &Message,
        turn: Option<u64>,
        out: &mut Out<'_>,
    ) {
        let session = open.session.as_deref().unwrap_or_default();
        let mode = open.params.get("modeId").and_then(Value::as_str);
        let offer = self.offers.of(session).filter(|it| it.modes.is_some());
        let (Some(mode), Some(offer)) = (mode, offer) else {
            return;
        };
        let Some(listed) = offer.has_mode(mode) else {
            let why =
                "the option of the category `mode` has other values than when the modes were told";
            out.inconclusive(ACCEPTED, why);
            return;
        };
        let closed = moment
            .talk
            .session(session)
            .is_none_or(|session| session.closed.is_some());
        if closed {
            return;
        }
        if !listed {
            out.check(
                NOT_OFFERED,
                message.error().is_some(),
                moment.at("/result"),
                || {
                    format!(
                        "the mode {} was accepted, which the session does not offer",
                        quote(mode)
                    )
                },
            );
            return;
        }
        let id = if turn.is_some() { MID_TURN } else { ACCEPTED };
        if message.error().is_some() {
            let excused = excuse(open, message).is_some()
                || match refusal(message) {
                    Refusal::Outside => true,
                    Refusal::Worded => turn.is_none(),
                    Refusal::NoMethod | Refusal::Bare => false,
                };
            let error = message.error().map(quote_json).unwrap_or_default();
            if excused || open.probe {
                out.inconclusive(
                    id,
                    format!(
                        "the mode {} was refused with a reason: {}",
                        quote(mode),
                        error
                    ),
                );
            } else {
                let when = if turn.is_some() {
                    " while a turn was running"
                } else {
                    ""
                };
                out.fail(
                    id,
                    moment.at("/error"),
                    format!(
                        "the mode {}, which the session lists, was refused{when}: {}",
                        quote(mode),
                        error
                    ),
                );
            }
            return;
        }
        let result = message.result().unwrap_or(&Value::Null);
        if !(result.is_object() || result.is_null()) {
            out.fail(
                ACCEPTED,
                moment.at("/result"),
                format!(
                    "session/set_mode is answered with {}, expected an object",
                    quote_json(result)
                ),
            );
            return;
        }
        out.pass(id);
        if let Some(turn) = turn {
            note_late(MID_TURN, moment, open, turn, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, holds, is_inconclusive, judged, notes};
    use super::*;

    const MODES: &str = r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}"#;

    fn session(modes: &str, lines: &str) -> Judgement {
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1","modes":{modes}}}}}
            {lines}"#
        ))
    }

    fn set(mode: &str) -> String {
        format!(
            r#"> {{"id":7,"method":"session/set_mode","params":{{"sessionId":"s1","modeId":"{mode}"}}}}"#
        )
    }

    const DONE: &str = r#"< {"id":7,"result":{}}"#;
    const REFUSED: &str = r#"< {"id":7,"error":{"code":-32602,"message":"Invalid params"}}"#;
    const PROMPT: &str =
        r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}"#;
    const END: &str = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;

    fn of_area(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
        let own = |id: &str| id.starts_with("MODE") || id == NOT_OFFERED;
        failed(judgement)
            .into_iter()
            .filter(|it| own(it.0))
            .collect()
    }

    #[test]
    fn a_listed_mode_is_accepted_and_another_refused() {
        let good = session(MODES, &format!("{}\n{DONE}", set("code")));
        assert!(of_area(&good).is_empty() && holds(&good, ACCEPTED));
        let bad = session(MODES, &format!("{}\n{REFUSED}", set("code")));
        assert_eq!(of_area(&bad), [(ACCEPTED, 5, "/error".to_owned())]);
        let odd = session(
            MODES,
            &format!("{}\n{}", set("code"), r#"< {"id":7,"result":"ok"}"#),
        );
        assert_eq!(of_area(&odd), [(ACCEPTED, 5, "/result".to_owned())]);
        let good = session(MODES, &format!("{}\n{REFUSED}", set("yolo")));
        assert!(of_area(&good).is_empty() && holds(&good, NOT_OFFERED));
        let bad = session(MODES, &format!("{}\n{DONE}", set("yolo")));
        assert_eq!(of_area(&bad), [(NOT_OFFERED, 5, "/result".to_owned())]);
    }

    #[test]
    fn a_refusal_with_a_reason_is_inconclusive() {
        let reason = r#"< {"id":7,"error":{"code":-32603,"message":"the folder is not trusted"}}"#;
        let judgement = session(MODES, &format!("{}\n{reason}", set("code")));
        assert!(is_inconclusive(&judgement, ACCEPTED));
    }

    #[test]
    fn a_change_while_a_turn_runs_is_judged_on_its_own() {
        let within = |answer: &str| {
            session(
                MODES,
                &format!("{PROMPT}\n{}\n{answer}\n{END}", set("code")),
            )
        };
        assert!(holds(&within(DONE), MID_TURN));
        let busy = r#"< {"id":7,"error":{"code":-32603,"message":"not now, a turn is running"}}"#;
        assert_eq!(of_area(&within(busy)), [(MID_TURN, 6, "/error".to_owned())]);
        let late = session(MODES, &format!("{PROMPT}\n{}\n{END}\n{DONE}", set("code")));
        assert!(of_area(&late).is_empty());
        assert_eq!(notes(&late, MID_TURN), 1);
    }

    #[test]
    fn another_list_of_the_option_for_modes_leaves_open_which_modes_there_are() {
        let option = |values: &[&str]| {
            let values: Vec<String> = values
                .iter()
                .map(|value| format!(r#"{{"value":"{value}","name":"N"}}"#))
                .collect();
            format!(
                r#"[{{"id":"m","name":"M","category":"mode","type":"select","currentValue":"ask","options":[{}]}}]"#,
                values.join(",")
            )
        };
        let run = |lines: &str| {
            session(
                &format!(r#"{MODES},"configOptions":{}"#, option(&["ask", "code"])),
                &format!(
                    r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"config_option_update","configOptions":{}}}}}}}
                    {lines}"#,
                    option(&["ask", "plan"])
                ),
            )
        };
        // `code` is gone and `plan` is new; `ask` is there and `yolo` is not, as ever.
        for (mode, answer, faults) in [
            ("code", REFUSED, vec![]),
            ("code", DONE, vec![]),
            ("plan", REFUSED, vec![]),
            ("plan", DONE, vec![]),
            ("ask", REFUSED, vec![(ACCEPTED, 6, "/error".to_owned())]),
            ("yolo", DONE, vec![(NOT_OFFERED, 6, "/result".to_owned())]),
        ] {
            let it = run(&format!("{}\n{answer}", set(mode)));
            assert_eq!(of_area(&it), faults, "{mode} {answer}");
        }
        for (mode, fails) in [("plan", false), ("code", false), ("yolo", true)] {
            let it = run(&format!(
                r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"current_mode_update","currentModeId":"{mode}"}}}}}}"#
            ));
            let failed = of_area(&it).iter().any(|it| it.0 == "MODE-03");
            assert_eq!(failed, fails, "{mode}");
        }
    }

    #[test]
    fn of_a_session_without_modes_nothing_is_said() {
        let judgement = session("null", &format!("{}\n{DONE}", set("code")));
        assert!(of_area(&judgement).is_empty());
        assert!(judgement.get(NOT_OFFERED).is_none());
    }
}
