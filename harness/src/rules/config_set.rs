//! CONFIG-05, -08, -09 and, for options, INTEROP-20: what comes of `session/set_config_option`. Whether the answer is
//! complete (CONFIG-04) is judged with the other lists of options.

use serde_json::Value;

use super::mode_set::{note_late, note_turn};
use super::offers::{Choice, Offers};
use super::overlap::Overlap;
use super::quote::{quote, quote_json};
use super::refusal::{Refusal, excuse, refusal};
use super::{Moment, Open, Out};
use crate::hash::HashMap;
use crate::wire::Message;

const SHOWN: &str = "CONFIG-05";
const MID_TURN: &str = "CONFIG-08";
const BOOLEAN: &str = "CONFIG-09";
const NOT_OFFERED: &str = "INTEROP-20";

const SET: &str = "session/set_config_option";

/// So many requests without an answer are remembered.
const REMEMBERED: usize = 1_000;

/// Nothing is judged where another change was under way at the same time, whichever of them was answered first.
///
/// CONFIG-05 (docs/protocol/v1/session-config-options.mdx#from-the-client): the answer to a change that was accepted shows
/// the new value. Not judged where the answer lacks the option (CONFIG-04).
///
/// CONFIG-08 (#setting-a-config-option): a value that is offered is accepted while a turn runs; only a reason outside of the
/// agent excuses a refusal.
///
/// CONFIG-09 (#boolean-config-options): a switch is set by `type` `boolean` and a boolean, and shows it.
///
/// INTEROP-20: an option or a value that is not offered, neither when it was asked for nor when it was answered, is refused.
#[derive(Default)]
pub(super) struct ConfigChanges {
    offers: Offers,
    overlap: Overlap,
    /// By the event of a request: the event of the prompt of the turn in which it was sent.
    in_turn: HashMap<u64, u64>,
    /// By the event of a request: whether what it asks for was offered then.
    offered: HashMap<u64, bool>,
}

/// A change that the client asked for.
struct Change<'a> {
    open: &'a Open,
    option: &'a Choice,
    value: &'a Value,
    /// The event of the prompt of the turn in which it was asked for.
    turn: Option<u64>,
}

impl ConfigChanges {
    /// Sees the next event.
    pub(super) fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let shared = self.overlap.see(moment);
        if let Some(message) = moment.client_call(SET) {
            note_turn(&mut self.in_turn, moment, message);
            self.note_offered(moment, message);
        } else if let Some((open, message)) = moment.answer_to(SET) {
            let turn = self.in_turn.remove(&open.event);
            let offered = self.offered.remove(&open.event);
            if !shared {
                self.answered(moment, open, message, (turn, offered), out);
            }
        }
        self.offers.see(moment);
    }
}

impl ConfigChanges {
    fn note_offered(&mut self, moment: &Moment<'_>, message: &Message) {
        let (Some(session), Some(params)) = (message.session(), message.params()) else {
            return;
        };
        let Some(offer) = self.offers.of(session) else {
            return;
        };
        let id = params.get("configId").and_then(Value::as_str);
        let option = id.and_then(|id| offer.option(id));
        let value = params.get("value").unwrap_or(&Value::Null);
        if self.offered.len() < REMEMBERED {
            let offered = option.is_some_and(|option| offers(option, value, params));
            self.offered.insert(moment.index, offered);
        }
    }

    fn answered(
        &self,
        moment: &Moment<'_>,
        open: &Open,
        message: &Message,
        (turn, offered): (Option<u64>, Option<bool>),
        out: &mut Out<'_>,
    ) {
        let session = open.session.as_deref().unwrap_or_default();
        let id = open.params.get("configId").and_then(Value::as_str);
        let offer = self.offers.of(session);
        let (Some(id), Some(value), Some(offer)) = (id, open.params.get("value"), offer) else {
            return;
        };
        let closed = moment
            .talk
            .session(session)
            .is_none_or(|session| session.closed.is_some());
        if closed || offer.options.is_empty() {
            return;
        }
        let option = offer.option(id);
        let is_offered = option.is_some_and(|option| offers(option, value, &open.params));
        if offered.is_some_and(|offered| offered != is_offered) {
            // The agent told another list while the request was on its way: which of the two it went by nobody can tell.
            return;
        }
        match option.filter(|option| offers(option, value, &open.params)) {
            Some(option) => {
                let change = Change {
                    open,
                    option,
                    value,
                    turn,
                };
                change.judge(moment, message, out);
            }
            // A switch that is set otherwise than the text says may be understood all the same.
            None if option.is_some_and(|option| option.boolean) => {}
            None => out.check(
                NOT_OFFERED,
                message.error().is_some(),
                moment.at("/result"),
                || match option {
                    Some(_) => format!(
                        "the value {} of the option {} was accepted, which the option does not offer",
                        quote_json(value),
                        quote(id)
                    ),
                    None => format!(
                        "the option {} was accepted, which the session does not have",
                        quote(id)
                    ),
                },
            ),
        }
    }
}

fn offers(option: &Choice, value: &Value, params: &Value) -> bool {
    if option.boolean {
        let kind = params.get("type").and_then(Value::as_str);
        return value.is_boolean() && kind == Some("boolean");
    }
    value
        .as_str()
        .is_some_and(|value| option.values.iter().any(|offered| offered == value))
}

impl Change<'_> {
    fn judge(&self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        // Whichever of them a refusal breaks is the one that says most.
        let id = match (self.turn, self.option.boolean) {
            (Some(_), _) => MID_TURN,
            (None, true) => BOOLEAN,
            (None, false) => SHOWN,
        };
        if message.error().is_some() {
            self.refused(id, moment, message, out);
            return;
        }
        if let Some(turn) = self.turn {
            out.pass(MID_TURN);
            note_late(MID_TURN, moment, self.open, turn, out);
        }
        self.shown(moment, message, out);
    }

    fn refused(&self, id: &'static str, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        let error = message.error().map(quote_json).unwrap_or_default();
        let excused = excuse(self.open, message).is_some()
            || match refusal(message) {
                Refusal::Outside => true,
                Refusal::Worded => self.turn.is_none(),
                Refusal::NoMethod | Refusal::Bare => false,
            };
        let what = format!(
            "the value {} that the option {} offers was refused",
            quote_json(self.value),
            quote(&self.option.id)
        );
        // An error is no successful change, which CONFIG-05 is about; that the method is there at all is CONFIG-04's.
        if excused || self.open.probe || id == SHOWN {
            out.inconclusive(id, format!("{what}: {}", error));
            return;
        }
        let when = if id == MID_TURN {
            " while a turn was running"
        } else {
            ""
        };
        out.fail(id, moment.at("/error"), format!("{what}{when}: {}", error));
    }

    fn shown(&self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        let listed = message
            .result()
            .and_then(|result| result.get("configOptions"))
            .and_then(Value::as_array);
        let id_of = |option: &Value| option.get("id").and_then(Value::as_str).map(str::to_owned);
        let place = listed
            .into_iter()
            .flatten()
            .position(|option| id_of(option).as_deref() == Some(self.option.id.as_str()));
        let (Some(listed), Some(place)) = (listed, place) else {
            return;
        };
        let shown = listed
            .get(place)
            .and_then(|option| option.get("currentValue"))
            .unwrap_or(&Value::Null);
        let id = if self.option.boolean { BOOLEAN } else { SHOWN };
        out.check(
            id,
            shown == self.value,
            moment.at(format!("/result/configOptions/{place}/currentValue")),
            || {
                format!(
                    "the option {} was set to {}, and the answer shows {}",
                    quote(&self.option.id),
                    quote_json(self.value),
                    quote_json(shown)
                )
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, holds, is_inconclusive, judged};
    use super::*;

    fn options(effort: &str, confirm: bool) -> String {
        format!(
            r#"[{{"id":"effort","name":"Effort","type":"select","currentValue":"{effort}","options":[{{"value":"low","name":"Low"}},{{"value":"high","name":"High"}}]}},{{"id":"confirm","name":"Confirm","type":"boolean","currentValue":{confirm}}}]"#
        )
    }

    fn session(lines: &str) -> Judgement {
        let options = options("low", true);
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{{"session":{{"configOptions":{{"boolean":{{}}}}}}}}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1","configOptions":{options}}}}}
            {lines}"#
        ))
    }

    fn set(id: &str, value: &str) -> String {
        format!(
            r#"> {{"id":7,"method":"session/set_config_option","params":{{"sessionId":"s1","configId":"{id}",{value}}}}}"#
        )
    }

    fn answer(effort: &str, confirm: bool) -> String {
        format!(
            r#"< {{"id":7,"result":{{"configOptions":{}}}}}"#,
            options(effort, confirm)
        )
    }

    const HIGH: &str = r#""value":"high""#;
    const OFF: &str = r#""type":"boolean","value":false"#;
    const REFUSED: &str = r#"< {"id":7,"error":{"code":-32602,"message":"Invalid params"}}"#;
    const PROMPT: &str =
        r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}"#;

    fn of_area(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
        let own = |id: &str| id.starts_with("CONFIG") || id == NOT_OFFERED;
        failed(judgement)
            .into_iter()
            .filter(|it| own(it.0))
            .collect()
    }

    #[test]
    fn the_answer_shows_the_new_value() {
        let good = session(&format!(
            "{}\n{}",
            set("effort", HIGH),
            answer("high", true)
        ));
        assert!(of_area(&good).is_empty() && holds(&good, SHOWN));
        let bad = session(&format!("{}\n{}", set("effort", HIGH), answer("low", true)));
        let place = "/result/configOptions/0/currentValue".to_owned();
        assert_eq!(of_area(&bad), [(SHOWN, 5, place)]);
    }

    #[test]
    fn two_changes_at_once_may_be_answered_in_either_order_and_show_either_value() {
        let low = set("effort", r#""value":"low""#).replace(":7,", ":8,");
        let second = answer("low", true).replace(":7,", ":8,");
        for answers in [
            [second.clone(), answer("low", true)],
            [second.clone(), answer("high", true)],
            [answer("low", true), second],
        ] {
            let it = session(&format!(
                "{}\n{low}\n{}",
                set("effort", HIGH),
                answers.join("\n")
            ));
            assert!(of_area(&it).is_empty(), "{answers:?} {:?}", of_area(&it));
        }
    }

    #[test]
    fn a_switch_is_set_and_shown() {
        let good = session(&format!(
            "{}\n{}",
            set("confirm", OFF),
            answer("low", false)
        ));
        assert!(of_area(&good).is_empty() && holds(&good, BOOLEAN));
        let bad = session(&format!("{}\n{}", set("confirm", OFF), answer("low", true)));
        let place = "/result/configOptions/1/currentValue".to_owned();
        assert_eq!(of_area(&bad), [(BOOLEAN, 5, place)]);
        let refused = session(&format!("{}\n{REFUSED}", set("confirm", OFF)));
        assert_eq!(of_area(&refused), [(BOOLEAN, 5, "/error".to_owned())]);
    }

    #[test]
    fn a_change_while_a_turn_runs_is_accepted() {
        let within =
            |answer: &str| session(&format!("{PROMPT}\n{}\n{answer}", set("effort", HIGH)));
        assert!(holds(&within(&answer("high", true)), MID_TURN));
        assert_eq!(
            of_area(&within(REFUSED)),
            [(MID_TURN, 6, "/error".to_owned())]
        );
        let policy = r#"< {"id":7,"error":{"code":-32603,"message":"disabled by your admin"}}"#;
        assert!(is_inconclusive(&within(policy), MID_TURN));
    }

    #[test]
    fn what_is_not_offered_is_refused() {
        for change in [set("colour", HIGH), set("effort", r#""value":"huge""#)] {
            let good = session(&format!("{change}\n{REFUSED}"));
            assert!(of_area(&good).is_empty() && holds(&good, NOT_OFFERED));
            let bad = session(&format!("{change}\n{}", answer("low", true)));
            assert_eq!(of_area(&bad), [(NOT_OFFERED, 5, "/result".to_owned())]);
        }
        // A string for a switch may be understood.
        let text = set("confirm", r#""value":"false""#);
        let judgement = session(&format!("{text}\n{}", answer("low", false)));
        assert!(of_area(&judgement).is_empty());
    }
}
