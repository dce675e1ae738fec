//! FS-01 to -05: the files that the agent asks the client to read and write.

use serde_json::Value;

use super::path::is_absolute;
use super::quote::quote;
use super::session::{Standing, is_creating, standing};
use super::{Conversation, Moment, Out, Rule};
use crate::hash::HashMap;
use crate::wire::Message;

const READ_OFFERED: &str = "FS-01";
const WRITE_OFFERED: &str = "FS-02";
const ABSOLUTE: &str = "FS-03";
const LINE: &str = "FS-04";
const LIVE_SESSION: &str = "FS-05";

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";

/// A call may be under way so long when its session is closed, in seconds.
const QUIET: f64 = 0.3;

/// FS-01, FS-02 (docs/protocol/v1/file-system.mdx#checking-support): a call of a method that the client did not offer. They
/// pass when a turn went by without one.
///
/// FS-03 (docs/protocol/v1/overview.mdx#argument-requirements): the path is absolute, as Unix or Windows has it.
///
/// FS-04 (docs/protocol/v1/file-system.mdx#reading-files): line 0 fails; what is no such number at all is JSONRPC-11's.
///
/// FS-05 (same section): the session is known and was not deleted, nor closed longer than a quiet period ago.
#[derive(Default)]
pub(super) struct Files {
    read: bool,
    wrote: bool,
    ended: HashMap<String, Ended>,
}

/// How and when a session ended, in seconds.
enum Ended {
    Closed(f64),
    Deleted,
}

impl Rule for Files {
    fn judges(&self) -> &'static [&'static str] {
        &[READ_OFFERED, WRITE_OFFERED, ABSOLUTE, LINE, LIVE_SESSION]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.note_end(moment);
        let Some(message) = moment.agent_message() else {
            return;
        };
        let method = match message.method() {
            Some(READ) => READ,
            Some(WRITE) => WRITE,
            _ => return,
        };
        if !moment.talk.is_version_one() {
            return;
        }
        let id = if method == READ {
            self.read = true;
            READ_OFFERED
        } else {
            self.wrote = true;
            WRITE_OFFERED
        };
        out.fail(
            id,
            moment.at("/method"),
            format!("{method} was called though the client did not offer it"),
        );
        let params = message.params();
        if let Some(path) = params
            .and_then(|params| params.get("path"))
            .and_then(Value::as_str)
        {
            out.check(
                ABSOLUTE,
                is_absolute(path),
                moment.at("/params/path"),
                || format!("the path {} is not absolute, which it must be", quote(path)),
            );
        }
        if method == READ {
            lines(moment, params, out);
        }
        self.session(moment, message, out);
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        let ran = talk.sessions().any(|(_, session)| session.turns_ended > 0);
        for (id, called) in [(READ_OFFERED, self.read), (WRITE_OFFERED, self.wrote)] {
            if ran && !called {
                out.pass(id);
            }
        }
    }
}

impl Files {
    fn note_end(&mut self, moment: &Moment<'_>) {
        if let (Some(open), Some(message)) = (moment.answers, moment.agent_message()) {
            let ended = match open.method.as_str() {
                "session/close" => Ended::Closed(moment.event.at),
                "session/delete" => Ended::Deleted,
                _ => return,
            };
            if message.error().is_none()
                && let Some(session) = &open.session
            {
                self.ended.insert(session.clone(), ended);
            }
        } else if !self.ended.is_empty()
            && let Some(message) = moment.client_message()
            && let Some("session/load" | "session/resume") = message.method()
            && let Some(session) = message.session()
        {
            self.ended.remove(session);
        }
    }

    fn session(&self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        let Some(session) = message.session() else {
            return;
        };
        let fault = match (self.ended.get(session), standing(moment.talk, session)) {
            (Some(Ended::Deleted), _) => "was deleted",
            (Some(Ended::Closed(at)), _) if moment.event.at - at > QUIET => "was closed",
            (_, Standing::Known) => {
                out.pass(LIVE_SESSION);
                if moment.talk.turn(session).is_none() {
                    out.note(
                        LIVE_SESSION,
                        moment.place(),
                        "a file was asked for outside any turn",
                    );
                }
                return;
            }
            (_, Standing::Unclear(why)) => {
                out.inconclusive(LIVE_SESSION, why);
                return;
            }
            (_, Standing::Unknown) if is_creating(moment.talk) => {
                out.inconclusive(
                    LIVE_SESSION,
                    "a file was asked for while its session may have been under way",
                );
                return;
            }
            (_, Standing::Unknown) => "is not known on this connection",
        };
        out.fail(
            LIVE_SESSION,
            moment.at("/params/sessionId"),
            format!(
                "a file was asked for in the session {}, which {fault}",
                quote(session)
            ),
        );
    }
}

fn lines(moment: &Moment<'_>, params: Option<&Value>, out: &mut Out<'_>) {
    let number = |name: &str| params?.get(name)?.as_u64();
    if let Some(line) = number("line") {
        out.check(LINE, line > 0, moment.at("/params/line"), || {
            "reading was to begin at line 0, where lines count from 1".to_owned()
        });
    }
    if number("limit") == Some(0) {
        out.note(LINE, moment.at("/params/limit"), "the limit is 0 lines");
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{OPENING, failed, judged};
    use super::*;

    fn call(method: &str, session: &str, members: &str) -> String {
        format!(
            r#"< {{"id":0,"method":"{method}","params":{{"sessionId":"{session}",{members}}}}}"#
        )
    }

    fn after_opening(lines: &str) -> Judgement {
        judged(&format!("{OPENING}\n{lines}"))
    }

    fn of_area(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
        failed(judgement)
            .into_iter()
            .filter(|(id, ..)| id.starts_with("FS"))
            .collect()
    }

    /// A session of a client that offers these files, and one turn in it.
    fn offered(fs: &str, call: &str) -> Judgement {
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{{"fs":{fs}}}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"mcpCapabilities":{{"http":true}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1"}}}}
            > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[]}}}}
            {call}
            < {{"id":2,"result":{{"stopReason":"end_turn"}}}}
            "#
        ))
    }

    #[test]
    fn what_was_offered_may_be_called() {
        let judgement = after_opening(&format!(
            "{}\n{}",
            call(READ, "s1", r#""path":"/project/a","line":1"#),
            call(WRITE, "s1", r#""path":"C:\\work\\a","content":"""#)
                .replace("\"id\":0", "\"id\":1")
        ));
        assert!(of_area(&judgement).is_empty());
        assert_eq!(judgement.get(ABSOLUTE).unwrap().passes, 2);
        assert_eq!(judgement.get(LINE).unwrap().passes, 1);
        assert_eq!(judgement.get(LIVE_SESSION).unwrap().passes, 2);
        assert_eq!(
            judgement.get(READ_OFFERED).map_or(0, |tally| tally.fails),
            0
        );
    }

    #[test]
    fn what_was_not_offered_may_not() {
        let read = call(READ, "s1", r#""path":"/project/a""#);
        let write = call(WRITE, "s1", r#""path":"/project/a","content":"""#);
        for fs in [
            "{}",
            "null",
            r#"{"readTextFile":false,"writeTextFile":true}"#,
        ] {
            assert_eq!(
                of_area(&offered(fs, &read)),
                [(READ_OFFERED, 5, "/method".to_owned())],
                "{fs}"
            );
        }
        let only_read = r#"{"readTextFile":true}"#;
        assert_eq!(
            failed(&offered(only_read, &write)),
            [
                (WRITE_OFFERED, 5, "/method".to_owned()),
                ("INIT-10", 5, "/method".to_owned()),
                ("TOOLCALL-07", 5, String::new())
            ]
        );
        assert!(of_area(&offered(only_read, &read)).is_empty());
        let none = offered("{}", "");
        assert!(of_area(&none).is_empty());
        assert_eq!(none.get(READ_OFFERED).unwrap().passes, 1);
        assert_eq!(none.get(WRITE_OFFERED).unwrap().passes, 1);
    }

    #[test]
    fn relative_paths_fail() {
        for path in ["a.txt", "~/a", "file:///project/a", ""] {
            let judgement = after_opening(&call(READ, "s1", &format!(r#""path":"{path}""#)));
            assert_eq!(
                of_area(&judgement),
                [(ABSOLUTE, 4, "/params/path".to_owned())],
                "{path}"
            );
        }
    }

    #[test]
    fn line_zero_fails_and_limit_zero_is_noted() {
        let zero = after_opening(&call(READ, "s1", r#""path":"/project/a","line":0"#));
        assert_eq!(of_area(&zero), [(LINE, 4, "/params/line".to_owned())]);
        let none = after_opening(&call(
            READ,
            "s1",
            r#""path":"/project/a","line":null,"limit":0"#,
        ));
        assert!(of_area(&none).is_empty());
        assert_eq!(none.get(LINE).unwrap().notes.len(), 1);
    }

    #[test]
    fn a_line_that_is_no_number_is_a_matter_of_shape() {
        let judgement = after_opening(&call(READ, "s1", r#""path":"/project/a","line":-1"#));
        assert!(of_area(&judgement).is_empty());
        assert!(
            failed(&judgement)
                .iter()
                .any(|(id, ..)| *id == "JSONRPC-11")
        );
    }

    #[test]
    fn the_session_must_be_alive() {
        let read = call(READ, "s1", r#""path":"/project/a""#);
        let ghost = call(READ, "ghost", r#""path":"/project/a""#);
        assert_eq!(
            failed(&after_opening(&ghost)),
            [
                (LIVE_SESSION, 4, "/params/sessionId".to_owned()),
                ("SESSION-11", 4, "/params/sessionId".to_owned())
            ]
        );
        let ended = |method: &str, wait: &str| {
            of_area(&after_opening(&format!(
                "> {{\"id\":2,\"method\":\"{method}\",\"params\":{{\"sessionId\":\"s1\"}}}}\n< {{\"id\":2,\"result\":{{}}}}\nwait {wait}\n{read}"
            )))
        };
        let place = [(LIVE_SESSION, 6, "/params/sessionId".to_owned())];
        assert_eq!(ended("session/delete", "0"), place);
        assert_eq!(ended("session/close", "1"), place);
        assert!(ended("session/close", "0.1").is_empty());
    }

    #[test]
    fn a_session_that_was_loaded_again_is_alive() {
        let judgement = after_opening(&format!(
            "> {{\"id\":2,\"method\":\"session/close\",\"params\":{{\"sessionId\":\"s1\"}}}}\n< {{\"id\":2,\"result\":{{}}}}\nwait 1\n> {{\"id\":3,\"method\":\"session/load\",\"params\":{{\"sessionId\":\"s1\",\"cwd\":\"/project\",\"mcpServers\":[]}}}}\n{}",
            call(READ, "s1", r#""path":"/project/a""#)
        ));
        assert!(of_area(&judgement).is_empty());
    }
}
