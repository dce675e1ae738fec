//! CONFIG-11: modes and the option of the category `mode` are kept in step.

use serde_json::Value;

use super::offers::{Offer, Offers, Told};
use super::overlap::Overlap;
use super::quote::quote;
use super::{Conversation, Moment, Out, Place, Rule};
use crate::hash::HashMap;

const IN_STEP: &str = "CONFIG-11";

/// CONFIG-11 (docs/protocol/v1/session-config-options.mdx#relationship-to-session-modes): the current mode and the value of
/// the option of the category `mode` are one and the same when a session is opened, and after the client has changed either.
///
/// After a change, what the agent tells of the other side last before the next change counts, so that it has time for it;
/// once it has told that both are in step, what it tells is a change of its own.
/// What it told between the request and its answer may be older than the change: it shows something only if it fits. A side
/// that is never told of again is inconclusive, as are values that are no modes. Of changes that were under way together
/// nobody can tell which of them the agent made last.
#[derive(Default)]
pub(super) struct InStep {
    offers: Offers,
    overlap: Overlap,
    changes: HashMap<String, Change>,
}

/// A change of one side, and what was told of the other side since.
struct Change {
    /// The value that was set.
    value: String,
    side: Side,
    /// The event of the answer, once it has been accepted.
    accepted: Option<u64>,
    /// What was told of the other side last, and where.
    told: Option<(String, Place)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Mode,
    Option,
}

impl Rule for InStep {
    fn judges(&self) -> &'static [&'static str] {
        &[IN_STEP]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        self.asked(moment, out);
        if self.overlap.see(moment)
            && let Some(session) = moment.answers.and_then(|open| open.session.as_ref())
        {
            self.changes.remove(session);
        }
        let told = self.offers.see(moment);
        self.answered(moment);
        if let Some(told) = told {
            self.told(moment, &told, out);
        }
    }

    fn end(&mut self, _talk: &Conversation, out: &mut Out<'_>) {
        for (_, change) in std::mem::take(&mut self.changes) {
            change.settle(out);
        }
    }
}

impl InStep {
    /// The client asks for a change: what came of the one before is settled.
    fn asked(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let Some(message) = moment.client_message() else {
            return;
        };
        let (Some(session), Some(params)) = (message.session(), message.params()) else {
            return;
        };
        let Some(offer) = self.offers.of(session) else {
            return;
        };
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let (value, side) = match message.method() {
            Some("session/set_mode") => (text("modeId"), Side::Mode),
            Some("session/set_config_option") => {
                let option = offer.mode_option().map(|option| option.id.as_str());
                if option.is_none() || text("configId") != option {
                    return;
                }
                (text("value"), Side::Option)
            }
            _ => return,
        };
        if let Some(before) = self.changes.remove(session) {
            before.settle(out);
        }
        if let Some(value) = value.filter(|value| speaks_of_one(offer, value)) {
            let change = Change {
                value: value.to_owned(),
                side,
                accepted: None,
                told: None,
            };
            self.changes.insert(session.to_owned(), change);
        }
    }

    fn answered(&mut self, moment: &Moment<'_>) {
        let (Some(open), Some(message)) = (moment.answers, moment.agent_message()) else {
            return;
        };
        let side = match open.method.as_str() {
            "session/set_mode" => Side::Mode,
            "session/set_config_option" => Side::Option,
            _ => return,
        };
        let session = open.session.as_deref().unwrap_or_default();
        let asked = open.params.get("modeId").or(open.params.get("value"));
        let own = |change: &&mut Change| {
            change.side == side
                && change.accepted.is_none()
                && asked.and_then(Value::as_str) == Some(change.value.as_str())
        };
        let Some(change) = self.changes.get_mut(session).filter(own) else {
            return;
        };
        if message.error().is_some() {
            self.changes.remove(session);
            return;
        }
        change.accepted = Some(moment.index);
        if change
            .told
            .as_ref()
            .is_some_and(|(told, _)| *told != change.value)
        {
            // It may be older than the change.
            change.told = None;
        }
    }

    fn told(&mut self, moment: &Moment<'_>, told: &Told, out: &mut Out<'_>) {
        let Some(offer) = self.offers.of(&told.session) else {
            return;
        };
        let option = offer
            .mode_option()
            .filter(|_| told.options)
            .and_then(|option| option.current.as_str());
        let setup = moment
            .answers
            .is_some_and(|open| open.method != "session/set_config_option");
        if setup && let (Some(mode), Some(option)) = (told.mode.as_deref(), option) {
            if !speaks_of_one(offer, mode) {
                out.inconclusive(
                    IN_STEP,
                    "the modes and the values of the option of the category `mode` are not the same",
                );
            } else {
                out.check(IN_STEP, mode == option, moment.at("/result/modes"), || {
                    format!(
                        "the session is in the mode {}, and its option of the category `mode` has the value {}",
                        quote(mode),
                        quote(option)
                    )
                });
            }
        }
        let Some(change) = self.changes.get_mut(&told.session) else {
            return;
        };
        let (own, other, path) = match change.side {
            Side::Mode => (told.mode.as_deref(), option, "configOptions"),
            Side::Option => (option, told.mode.as_deref(), "currentModeId"),
        };
        if change.accepted.is_some() && own.is_some_and(|own| own != change.value) {
            // The agent has changed the same side since, so the client's change is over.
            if let Some(mut change) = self.changes.remove(&told.session) {
                change.told = change.told.filter(|(told, _)| *told == change.value);
                change.settle(out);
            }
            return;
        }
        // Once both are in step, what comes is a change of the agent's own.
        let in_step = |(told, _): &(String, Place)| *told == change.value;
        if let Some(other) = other
            && !(change.accepted.is_some() && change.told.as_ref().is_some_and(in_step))
        {
            let path = match moment.update() {
                Some(_) => format!("/params/update/{path}"),
                None if path == "currentModeId" => "/result/modes/currentModeId".to_owned(),
                None => format!("/result/{path}"),
            };
            change.told = Some((other.to_owned(), moment.at(path)));
        }
    }
}

impl Change {
    fn settle(self, out: &mut Out<'_>) {
        if self.accepted.is_none() {
            return;
        }
        let (changed, other) = match self.side {
            Side::Mode => ("mode", "option of the category `mode`"),
            Side::Option => ("option of the category `mode`", "mode"),
        };
        match self.told {
            Some((told, place)) => out.check(IN_STEP, told == self.value, place, || {
                format!(
                    "the {changed} was set to {}, and the {other} is told to be {} after it",
                    quote(&self.value),
                    quote(&told)
                )
            }),
            None => out.inconclusive(
                IN_STEP,
                format!("the {changed} was changed, and the {other} was not told again"),
            ),
        }
    }
}

/// Whether a value is a mode and a value of the option too, so that the two sides speak of one thing.
fn speaks_of_one(offer: &Offer, value: &str) -> bool {
    let listed = |list: &[String]| list.iter().any(|own| own == value);
    offer.modes.as_deref().is_some_and(listed)
        && offer
            .mode_option()
            .is_some_and(|option| listed(&option.values))
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, holds, is_inconclusive, judged};
    use super::*;

    fn options(mode: &str) -> String {
        format!(
            r#"[{{"id":"mode","category":"mode","name":"Mode","type":"select","currentValue":"{mode}","options":[{{"value":"ask","name":"Ask"}},{{"value":"code","name":"Code"}}]}}]"#
        )
    }

    fn session(option: &str, lines: &str) -> Judgement {
        let options = options(option);
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1","modes":{{"currentModeId":"ask","availableModes":[{{"id":"ask","name":"Ask"}},{{"id":"code","name":"Code"}}]}},"configOptions":{options}}}}}
            {lines}"#
        ))
    }

    const SET_MODE: &str = r#"
        > {"id":7,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"code"}}
    "#;
    const DONE: &str = r#"< {"id":7,"result":{}}"#;

    fn list(mode: &str) -> String {
        format!(
            r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"config_option_update","configOptions":{}}}}}}}"#,
            options(mode)
        )
    }

    fn set_option(lines: &str) -> Judgement {
        session(
            "ask",
            &format!(
                "> {{\"id\":7,\"method\":\"session/set_config_option\",\"params\":{{\"sessionId\":\"s1\",\"configId\":\"mode\",\"value\":\"code\"}}}}\n< {{\"id\":7,\"result\":{{\"configOptions\":{}}}}}\n{lines}",
                options("code")
            ),
        )
    }

    fn mode(mode: &str) -> String {
        format!(
            r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"current_mode_update","currentModeId":"{mode}"}}}}}}"#
        )
    }

    fn failures(judgement: &Judgement) -> Vec<(u64, String)> {
        let own = failed(judgement).into_iter().filter(|it| it.0 == IN_STEP);
        own.map(|(_, event, path)| (event, path)).collect()
    }

    #[test]
    fn a_change_of_the_agents_own_that_is_told_of_both_sides_is_in_step() {
        for lines in [[mode("ask"), list("ask")], [list("ask"), mode("ask")]] {
            assert_eq!(failures(&set_option(&lines.join("\n"))), []);
            let set = [SET_MODE, DONE, &lines[0], &lines[1]].join("\n");
            assert_eq!(failures(&session("ask", &set)), []);
        }
    }

    #[test]
    fn two_changes_at_once_leave_open_which_was_the_last() {
        let second =
            r#"> {"id":8,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"ask"}}"#;
        let done = DONE.replace(":7,", ":8,");
        for answers in [[&done, DONE], [DONE, &done]] {
            let lines = format!(
                "{SET_MODE}{second}\n{}\n{}",
                answers.join("\n"),
                list("code")
            );
            assert_eq!(failures(&session("ask", &lines)), [], "{answers:?}");
        }
    }

    #[test]
    fn both_sides_are_the_same_when_a_session_is_opened() {
        assert!(holds(&session("ask", ""), IN_STEP));
        let place = "/result/modes".to_owned();
        assert_eq!(failures(&session("code", "")), [(3, place)]);
    }

    #[test]
    fn a_changed_mode_is_shown_by_the_option() {
        let after = |told: &str| session("ask", &format!("{SET_MODE}{DONE}\n{}", list(told)));
        assert!(failures(&after("code")).is_empty());
        let path = "/params/update/configOptions".to_owned();
        assert_eq!(failures(&after("ask")), [(6, path)]);
        // What came before the answer may be older than the change, and what comes last counts.
        for lines in [
            format!("{SET_MODE}{}\n{DONE}", list("ask")),
            format!("{SET_MODE}{DONE}\n{}\n{}", list("ask"), list("code")),
        ] {
            assert!(failures(&session("ask", &lines)).is_empty(), "{lines}");
        }
        let untold = session("ask", &format!("{SET_MODE}{DONE}"));
        assert!(is_inconclusive(&untold, IN_STEP));
    }

    #[test]
    fn a_changed_option_is_shown_by_the_mode() {
        assert!(failures(&set_option(&mode("code"))).is_empty());
        let path = "/params/update/currentModeId".to_owned();
        assert_eq!(failures(&set_option(&mode("ask"))), [(6, path)]);
        assert!(is_inconclusive(&set_option(""), IN_STEP));
    }
}
