//! TERMINAL-01 to -05: the commands that the agent has the client run.

use serde_json::Value;

use super::path::is_absolute;
use super::quote::quote;
use super::session::{Standing, standing};
use super::{Conversation, Moment, Open, Out, Place, Rule, Turn};
use crate::hash::HashMap;
use crate::wire::Message;

const OFFERED: &str = "TERMINAL-01";
const CWD: &str = "TERMINAL-02";
const RETURNED: &str = "TERMINAL-03";
const RELEASED: &str = "TERMINAL-04";
const NOT_REUSED: &str = "TERMINAL-05";

/// So many terminals of a session are kept; beyond them those that were released are forgotten.
const KEPT: usize = 1_000;

/// A release may follow the end of a turn so closely, in seconds.
const QUIET: f64 = 0.3;

/// A release may follow the answer to the close of the session so closely, in seconds.
const GRACE: f64 = 1.0;

/// TERMINAL-01 (docs/protocol/v1/terminals.mdx#checking-support): a terminal/* call though the client offers none. It
/// passes when a turn went by without one.
///
/// TERMINAL-02 (#executing-commands): `cwd` is absolute where it is given.
///
/// TERMINAL-03 (#getting-output): a terminal is one that the client returned to that session.
///
/// TERMINAL-04 (#executing-commands): terminals are released: one whose command has ended by the end of the turn (a release
/// that follows within a quiet period counts; one that is used after its turn was still needed), every one by a second after
/// the answer to the close of the session, and by the time the agent ends by itself after its stdin was closed. A command
/// that still runs after its turn, or while a turn is cut off by the end of the connection, may be meant to.
///
/// TERMINAL-05 (#releasing-terminals): no use after the release; a second release is noted.
#[derive(Default)]
pub(super) struct Terminals {
    called: bool,
    /// Whether terminals that were released were forgotten.
    forgot: bool,
    /// By session, then terminal.
    terminals: HashMap<String, HashMap<String, Terminal>>,
    /// When it is now, in seconds.
    now: f64,
}

struct Terminal {
    /// The event of the request that created it.
    created: u64,
    /// Whether the client said that its command has ended, or was asked to end it.
    ended: bool,
    released: bool,
    /// Since when it should be released, and why.
    due: Option<Due>,
}

/// What a terminal has outlived.
#[derive(Clone, Copy)]
struct Due {
    since: f64,
    /// Whether it was the session, and not a turn.
    session: bool,
}

impl Due {
    /// How long after that a release may come, in seconds.
    fn grace(self) -> f64 {
        if self.session { GRACE } else { QUIET }
    }

    fn when(self) -> &'static str {
        if self.session {
            "when its session was closed"
        } else {
            "at the end of the turn, though its command had ended"
        }
    }
}

impl Rule for Terminals {
    fn judges(&self) -> &'static [&'static str] {
        &[OFFERED, CWD, RETURNED, RELEASED, NOT_REUSED]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.now = moment.event.at;
        if let (Some(open), Some(message)) = (moment.answers, moment.client_message()) {
            self.client_answered(open, message);
            return;
        }
        let Some(message) = moment.agent_message() else {
            return;
        };
        if let Some(turn) = moment.ended_turn {
            self.turn_ended(moment.event.at, turn, out);
        } else if let Some(open) = moment.answers {
            if open.method == "session/close"
                && message.error().is_none()
                && let Some(session) = &open.session
            {
                let terminals = self.terminals.get_mut(session).into_iter().flatten();
                for (_, terminal) in terminals.filter(|(_, it)| !it.released) {
                    terminal.due.get_or_insert(Due {
                        since: self.now,
                        session: true,
                    });
                }
            }
        } else if let Some(call) = message
            .method()
            .and_then(|method| method.strip_prefix("terminal/"))
            && moment.talk.is_version_one()
        {
            self.called = true;
            out.fail(
                OFFERED,
                moment.at("/method"),
                format!(
                    "{} was called though the client offers no terminals",
                    quote(&format!("terminal/{call}"))
                ),
            );
            match call {
                "create" => cwd(moment, message, out),
                "output" | "wait_for_exit" | "kill" | "release" => {
                    self.used(moment, call, message, out);
                }
                _ => {}
            }
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        if !self.called && talk.sessions().any(|(_, session)| session.turns_ended > 0) {
            out.pass(OFFERED);
        }
        let orderly = talk.end.stdin_closed.is_some()
            && talk.end.exited.is_some()
            && talk.end.signalled.is_none();
        let mut held: Vec<(&str, &Terminal)> = self
            .terminals
            .iter()
            .flat_map(|(session, all)| all.values().map(|terminal| (session.as_str(), terminal)))
            .filter(|(_, terminal)| !terminal.released)
            .collect();
        held.sort_unstable_by_key(|(_, terminal)| terminal.created);
        for (session, terminal) in held {
            match terminal.due {
                Some(due) if !due.session || self.now - due.since >= GRACE => {
                    left(terminal, due.when(), out);
                }
                _ if orderly && talk.turn(session).is_none() => {
                    left(terminal, "when the connection ended", out);
                }
                Some(_) => out.inconclusive(
                    RELEASED,
                    "the recording ends soon after a session was closed that had a terminal",
                ),
                None => out.inconclusive(
                    RELEASED,
                    "a terminal was still open when the recording or a turn was cut off",
                ),
            }
        }
    }
}

impl Terminals {
    fn client_answered(&mut self, open: &Open, message: &Message) {
        let (Some(session), Some(result)) = (&open.session, message.result()) else {
            return;
        };
        let named = |value: &Value| {
            value
                .get("terminalId")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        match open.method.as_str() {
            "terminal/create" => {
                if let Some(id) = named(result) {
                    let terminal = Terminal {
                        created: open.event,
                        ended: false,
                        released: false,
                        due: None,
                    };
                    let of_session = self.terminals.entry(session.clone()).or_default();
                    if of_session.len() >= KEPT {
                        let before = of_session.len();
                        of_session.retain(|_, it| !it.released);
                        self.forgot |= of_session.len() < before;
                    }
                    of_session.insert(id, terminal);
                }
            }
            "terminal/wait_for_exit" | "terminal/kill" => {
                self.command_ended(session, named(&open.params));
            }
            "terminal/output"
                if result
                    .get("exitStatus")
                    .is_some_and(|status| !status.is_null()) =>
            {
                self.command_ended(session, named(&open.params));
            }
            _ => {}
        }
    }

    fn command_ended(&mut self, session: &str, id: Option<String>) {
        let terminals = self.terminals.get_mut(session);
        if let Some(terminal) = id.and_then(|id| terminals?.get_mut(&id)) {
            terminal.ended = true;
        }
    }

    fn used(&mut self, moment: &Moment<'_>, call: &str, message: &Message, out: &mut Out<'_>) {
        let id = message
            .params()
            .and_then(|params| params.get("terminalId"))
            .and_then(Value::as_str);
        let (Some(session), Some(id)) = (message.session(), id) else {
            return;
        };
        let terminals = self.terminals.get_mut(session);
        let Some(terminal) = terminals.and_then(|terminals| terminals.get_mut(id)) else {
            match standing(moment.talk, session) {
                Standing::Unclear(why) => out.inconclusive(RETURNED, why),
                _ if self.forgot => {
                    out.inconclusive(RETURNED, "there are so many terminals that those that were released were forgotten");
                }
                _ if !moment.talk.whole => {
                    out.inconclusive(RETURNED, "the recording begins late or lacks lines: a terminal may have been made there");
                }
                _ => out.fail(
                    RETURNED,
                    moment.at("/params/terminalId"),
                    format!(
                        "terminal/{call} names the terminal {}, which the client did not return to this session",
                        quote(id)
                    ),
                ),
            }
            return;
        };
        out.pass(RETURNED);
        if call == "release" {
            if terminal.released {
                out.note(NOT_REUSED, moment.place(), "a terminal was released twice");
            } else {
                terminal.released = true;
                match terminal
                    .due
                    .filter(|due| self.now - due.since > due.grace())
                {
                    Some(due) => left(terminal, due.when(), out),
                    None => out.pass(RELEASED),
                }
            }
        } else {
            if terminal.due.is_some_and(|due| !due.session) {
                terminal.due = None;
                out.inconclusive(RELEASED, "a terminal was used after its turn");
            }
            out.check(
                NOT_REUSED,
                !terminal.released,
                moment.at("/params/terminalId"),
                || {
                    format!(
                        "terminal/{call} names the terminal {}, which was released before",
                        quote(id)
                    )
                },
            );
        }
    }

    fn turn_ended(&mut self, at: f64, turn: &Turn, out: &mut Out<'_>) {
        let terminals = self.terminals.get_mut(&turn.session);
        for (_, terminal) in terminals.into_iter().flatten() {
            if terminal.released {
                continue;
            }
            if terminal.ended {
                terminal.due.get_or_insert(Due {
                    since: at,
                    session: false,
                });
            } else {
                out.inconclusive(
                    RELEASED,
                    "a command still runs after its turn, which may be meant",
                );
            }
        }
    }
}

fn left(terminal: &Terminal, when: &str, out: &mut Out<'_>) {
    out.fail(
        RELEASED,
        Place::event(terminal.created),
        format!("the terminal that was created here was not released {when}"),
    );
}

fn cwd(moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
    match message.params().and_then(|params| params.get("cwd")) {
        None | Some(Value::Null) => out.pass(CWD),
        Some(Value::String(cwd)) => {
            out.check(CWD, is_absolute(cwd), moment.at("/params/cwd"), || {
                format!(
                    "the working directory {} is not absolute, which it must be",
                    quote(cwd)
                )
            });
        }
        // Another type is JSONRPC-11's.
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, judged};
    use super::*;

    fn session(capabilities: &str, lines: &str) -> Judgement {
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{capabilities}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"mcpCapabilities":{{"http":true}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1"}}}}
            > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[]}}}}
            {lines}
            "#
        ))
    }

    fn with(lines: &str) -> Judgement {
        session(r#"{"terminal":true}"#, lines)
    }

    fn of_area(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
        failed(judgement)
            .into_iter()
            .filter(|(id, ..)| id.starts_with("TERMINAL"))
            .collect()
    }

    const CREATE: &str = r#"
        < {"id":5,"method":"terminal/create","params":{"sessionId":"s1","command":"ls","cwd":"/project"}}
        > {"id":5,"result":{"terminalId":"t1"}}
    "#;
    const WAIT: &str = r#"
        < {"id":6,"method":"terminal/wait_for_exit","params":{"sessionId":"s1","terminalId":"t1"}}
        > {"id":6,"result":{"exitCode":0}}
    "#;
    const RELEASE: &str = r#"
        < {"id":7,"method":"terminal/release","params":{"sessionId":"s1","terminalId":"t1"}}
        > {"id":7,"result":{}}
    "#;
    const DONE: &str = r#"< {"id":2,"result":{"stopReason":"end_turn"}}"#;

    #[test]
    fn create_wait_release_passes() {
        let judgement = with(&format!("{CREATE}{WAIT}{RELEASE}{DONE}"));
        assert!(of_area(&judgement).is_empty());
        for id in [CWD, RETURNED, RELEASED, NOT_REUSED] {
            assert!(judgement.get(id).unwrap().passes > 0, "{id}");
        }
        assert_eq!(judgement.get(OFFERED).map_or(0, |tally| tally.fails), 0);
    }

    #[test]
    fn a_client_without_terminals_is_not_asked_for_one() {
        for capabilities in ["{}", r#"{"terminal":false}"#] {
            let judgement = session(capabilities, CREATE);
            assert_eq!(of_area(&judgement), [(OFFERED, 5, "/method".to_owned())]);
        }
        assert_eq!(session("{}", DONE).get(OFFERED).unwrap().passes, 1);
    }

    #[test]
    fn a_relative_working_directory_fails() {
        for cwd in ["src", ""] {
            let judgement = with(&format!(
                r#"< {{"id":5,"method":"terminal/create","params":{{"sessionId":"s1","command":"ls","cwd":"{cwd}"}}}}"#
            ));
            assert_eq!(of_area(&judgement), [(CWD, 5, "/params/cwd".to_owned())]);
        }
        let none = with(
            r#"< {"id":5,"method":"terminal/create","params":{"sessionId":"s1","command":"ls","cwd":null}}"#,
        );
        assert!(of_area(&none).is_empty());
    }

    #[test]
    fn a_terminal_that_was_not_returned_fails() {
        assert_eq!(
            of_area(&with(WAIT)),
            [(RETURNED, 5, "/params/terminalId".to_owned())]
        );
    }

    #[test]
    fn a_terminal_left_open_at_the_end_of_the_turn_fails() {
        assert_eq!(
            of_area(&with(&format!("{CREATE}{WAIT}{DONE}"))),
            [(RELEASED, 5, String::new())]
        );
        let kill = WAIT.replace("wait_for_exit", "kill");
        assert_eq!(
            of_area(&with(&format!("{CREATE}{kill}{DONE}"))),
            [(RELEASED, 5, String::new())]
        );
    }

    #[test]
    fn a_release_right_after_the_turn_is_in_time() {
        assert!(of_area(&with(&format!("{CREATE}{WAIT}{DONE}\n{RELEASE}"))).is_empty());
        assert_eq!(
            of_area(&with(&format!("{CREATE}{WAIT}{DONE}\nwait 2\n{RELEASE}"))),
            [(RELEASED, 5, String::new())]
        );
    }

    #[test]
    fn a_command_that_still_runs_is_inconclusive() {
        let judgement = with(&format!("{CREATE}{DONE}"));
        assert!(of_area(&judgement).is_empty());
        assert!(!judgement.get(RELEASED).unwrap().inconclusive.is_empty());
    }

    #[test]
    fn all_are_released_by_close_and_by_the_end() {
        let close = r#"
            > {"id":3,"method":"session/close","params":{"sessionId":"s1"}}
            < {"id":3,"result":{}}
        "#;
        let closed = format!("{close}wait 2\n> {{\"method\":\"_x\"}}");
        for end in [closed.as_str(), ">x\n<x\nexit 0"] {
            assert_eq!(
                of_area(&with(&format!("{CREATE}{DONE}\n{end}"))),
                [(RELEASED, 5, String::new())],
                "{end}"
            );
        }
        for end in [">x\n! 9\n<x\nexit 137", "", ">x"] {
            assert!(
                of_area(&with(&format!("{CREATE}{DONE}\n{end}"))).is_empty(),
                "{end}"
            );
        }
    }

    #[test]
    fn a_release_right_after_the_close_is_in_time_and_the_terminal_can_be_used_till_then() {
        let close = r#"
            > {"id":3,"method":"session/close","params":{"sessionId":"s1"}}
            < {"id":3,"result":{}}
        "#;
        for (lines, faults) in [
            (format!("{RELEASE}wait 2\n> {{\"method\":\"_x\"}}"), vec![]),
            (format!("{WAIT}{RELEASE}"), vec![]),
            (
                format!("wait 2\n{RELEASE}"),
                vec![(RELEASED, 5, String::new())],
            ),
            (String::new(), vec![]),
        ] {
            let it = with(&format!("{CREATE}{DONE}\n{close}{lines}"));
            assert_eq!(of_area(&it), faults, "{lines}");
        }
    }

    #[test]
    fn a_terminal_that_is_used_after_its_turn_was_needed_still() {
        let next =
            r#"> {"id":9,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}"#;
        let output = r#"
            < {"id":10,"method":"terminal/output","params":{"sessionId":"s1","terminalId":"t1"}}
            > {"id":10,"result":{"output":"x","truncated":false,"exitStatus":{"exitCode":0}}}
        "#;
        let done = DONE.replace("\"id\":2", "\"id\":9");
        let it = with(&format!(
            "{CREATE}{WAIT}{DONE}\nwait 2\n{next}{output}{RELEASE}{done}"
        ));
        assert!(of_area(&it).is_empty());
        let it = with(&format!(
            "{CREATE}{WAIT}{DONE}\nwait 2\n{next}{output}{done}\nwait 1\n>x"
        ));
        assert_eq!(of_area(&it), [(RELEASED, 5, String::new())]);
    }

    #[test]
    fn a_released_terminal_is_not_used_again() {
        let again = WAIT.replace("\"id\":6", "\"id\":8");
        assert_eq!(
            of_area(&with(&format!("{CREATE}{RELEASE}{again}"))),
            [(NOT_REUSED, 9, "/params/terminalId".to_owned())]
        );
        let twice = with(&format!("{CREATE}{RELEASE}{RELEASE}"));
        assert!(of_area(&twice).is_empty());
        assert_eq!(twice.get(NOT_REUSED).unwrap().notes.len(), 1);
    }
}
