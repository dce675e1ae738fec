//! CANCEL-10: what a cancelled turn had the client run is ended.

use serde_json::Value;

use super::{Conversation, Moment, Open, Out, Place, Rule};
use crate::hash::HashMap;
use crate::wire::Message;

const ENDED: &str = "CANCEL-10";

/// An end may follow the answer to the turn so closely, in seconds.
const QUIET: f64 = 0.2;

/// A turn that does not end is given so long, in seconds.
const LIMIT: f64 = 5.0;

/// So many terminals are followed at once.
const FOLLOWED: usize = 1_000;

/// CANCEL-10 (docs/protocol/v1/prompt-turn.mdx#cancellation): once the client has sent `session/cancel`, the agent kills or
/// releases each terminal that it made in that turn and whose command has not ended. The text wants it as soon as possible,
/// and the answer to the turn only after it; so it fails where the turn was answered and no kill or release followed closely,
/// or where five seconds went by without either.
///
/// A command that ends by itself meanwhile shows nothing.
#[derive(Default)]
pub(super) struct TerminalsOfCancelledTurns {
    /// By session and terminal: the event of the request that made it, for commands that run.
    running: HashMap<(String, String), u64>,
    cancels: Vec<Cancel>,
    /// When the last event was.
    now: f64,
}

/// A cancel of a turn that had commands running.
struct Cancel {
    session: String,
    /// The event of the prompt.
    prompt: u64,
    at: f64,
    /// When the turn was answered.
    answered: Option<f64>,
    /// The terminals that still run, each with the event that made it.
    left: Vec<(String, u64)>,
    /// Whether one of them was ended by the agent.
    obeyed: bool,
}

impl Rule for TerminalsOfCancelledTurns {
    fn judges(&self) -> &'static [&'static str] {
        &[ENDED]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.now = moment.event.at;
        self.overdue(out);
        if !moment.talk.is_version_one() {
            return;
        }
        if let Some(turn) = moment.ended_turn {
            let now = self.now;
            for cancel in &mut self.cancels {
                if cancel.prompt == turn.event {
                    cancel.answered = Some(now);
                }
            }
        } else if let (Some(open), Some(message)) = (moment.answers, moment.client_message()) {
            self.client_answered(open, message, out);
        } else if let Some(message) = moment.client_call("session/cancel") {
            self.cancelled(moment, message);
        } else if let Some(message) = moment.agent_message()
            && let Some("terminal/kill" | "terminal/release") = message.method()
            && let (Some(session), Some(id)) = (message.session(), message.params().and_then(named))
        {
            self.over(session, &id, true, out);
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        self.overdue(out);
        if !self.cancels.is_empty() {
            let why = match talk.end.is_over() {
                true => "the connection ended right after the cancel",
                false => "the recording ends right after the cancel",
            };
            out.inconclusive(ENDED, why);
        }
    }
}

fn named(value: &Value) -> Option<String> {
    Some(value.get("terminalId")?.as_str()?.to_owned())
}

impl TerminalsOfCancelledTurns {
    fn client_answered(&mut self, open: &Open, message: &Message, out: &mut Out<'_>) {
        let (Some(session), Some(result)) = (&open.session, message.result()) else {
            return;
        };
        let over = match open.method.as_str() {
            "terminal/create" => {
                if let Some(id) = named(result)
                    && self.running.len() < FOLLOWED
                {
                    self.running.insert((session.clone(), id), open.event);
                }
                return;
            }
            "terminal/wait_for_exit" => true,
            "terminal/output" => result.get("exitStatus").is_some_and(|it| !it.is_null()),
            _ => false,
        };
        if over && let Some(id) = named(&open.params) {
            self.over(session, &id, false, out);
        }
    }

    fn cancelled(&mut self, moment: &Moment<'_>, message: &Message) {
        let Some(session) = message.session() else {
            return;
        };
        let Some(turn) = moment.talk.turn(session).filter(|_| !moment.is_probe()) else {
            return;
        };
        if self.cancels.iter().any(|it| it.prompt == turn.event) {
            return;
        }
        let of_turn = self
            .running
            .iter()
            .filter(|((own, _), made)| own == session && **made > turn.event);
        let left: Vec<(String, u64)> = of_turn.map(|((_, id), made)| (id.clone(), *made)).collect();
        if !left.is_empty() && self.cancels.len() < FOLLOWED {
            self.cancels.push(Cancel {
                session: session.to_owned(),
                prompt: turn.event,
                at: moment.event.at,
                answered: None,
                left,
                obeyed: false,
            });
        }
    }

    /// The command of a terminal is over, by the agent's will or by itself.
    fn over(&mut self, session: &str, id: &str, by_agent: bool, out: &mut Out<'_>) {
        self.running.remove(&(session.to_owned(), id.to_owned()));
        self.cancels.retain_mut(|cancel| {
            if cancel.session != session {
                return true;
            }
            let before = cancel.left.len();
            cancel.left.retain(|(own, _)| own != id);
            cancel.obeyed |= by_agent && cancel.left.len() < before;
            if cancel.left.is_empty() && cancel.obeyed {
                out.pass(ENDED);
            }
            !cancel.left.is_empty()
        });
    }

    fn overdue(&mut self, out: &mut Out<'_>) {
        let now = self.now;
        self.cancels.retain(|cancel| {
            let (late, when) = match cancel.answered {
                Some(at) => (now - at > QUIET, "though the turn has been answered"),
                None => (now - cancel.at > LIMIT, "five seconds after it"),
            };
            if let Some((_, made)) = cancel.left.first().filter(|_| late) {
                out.fail(
                    ENDED,
                    Place::event(*made),
                    format!(
                        "the turn was cancelled, and its terminal was neither killed nor released {when}"
                    ),
                );
            }
            !late
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, holds, is_inconclusive, judged};
    use super::*;

    fn cancelled(lines: &str) -> Judgement {
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{{"terminal":true}}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1"}}}}
            > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[]}}}}
            < {{"id":5,"method":"terminal/create","params":{{"sessionId":"s1","command":"sleep"}}}}
            > {{"id":5,"result":{{"terminalId":"t1"}}}}
            < {{"id":6,"method":"terminal/wait_for_exit","params":{{"sessionId":"s1","terminalId":"t1"}}}}
            > {{"method":"session/cancel","params":{{"sessionId":"s1"}}}}
            {lines}"#
        ))
    }

    const KILL: &str =
        r#"< {"id":7,"method":"terminal/kill","params":{"sessionId":"s1","terminalId":"t1"}}"#;
    const END: &str = r#"< {"id":2,"result":{"stopReason":"cancelled"}}"#;
    const EXIT: &str = r#"> {"id":6,"result":{"exitCode":0}}"#;
    const LATER: &str = "wait 1\n< {\"method\":\"_x\"}";

    fn fails(judgement: &Judgement) -> bool {
        failed(judgement)
            .iter()
            .any(|(id, event, _)| *id == ENDED && *event == 5)
    }

    #[test]
    fn a_kill_or_a_release_passes() {
        let release = KILL.replace("kill", "release");
        for lines in [
            format!("{KILL}\n{END}\n{LATER}"),
            format!("{release}\n{END}\n{LATER}"),
            format!("{END}\n{KILL}\n{LATER}"),
        ] {
            let judgement = cancelled(&lines);
            assert!(holds(&judgement, ENDED) && !fails(&judgement), "{lines}");
        }
    }

    #[test]
    fn neither_fails_once_the_turn_is_answered_or_after_five_seconds() {
        assert!(fails(&cancelled(&format!("{END}\n{LATER}"))));
        assert!(fails(&cancelled("wait 6\n< {\"method\":\"_x\"}")));
        let late = cancelled(&format!("{END}\nwait 1\n{KILL}"));
        assert!(fails(&late));
    }

    #[test]
    fn a_command_that_ends_by_itself_and_a_recording_that_ends_show_nothing() {
        let by_itself = cancelled(&format!("{EXIT}\n{END}\n{LATER}"));
        assert!(by_itself.get(ENDED).is_none());
        assert!(is_inconclusive(&cancelled(END), ENDED));
    }
}
