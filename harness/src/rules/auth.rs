//! AUTH-01 to -03, -07, -09 and -11: the methods of authentication that the agent offers, and what logins and logouts bring.

use serde_json::Value;

use super::quote::{quote, quote_json};
use super::schema::faults_in;
use super::{Moment, Out, Rule};
use crate::hash::HashSet;
use crate::spec::Schema;

const ENTRIES: &str = "AUTH-01";
const NO_TERMINAL: &str = "AUTH-02";
const TERMINAL: &str = "AUTH-03";
const OPENS: &str = "AUTH-07";
const DEAD_END: &str = "AUTH-09";
const LOGOUT: &str = "AUTH-11";

const LIST: &str = "/result/authMethods";

/// AUTH-01 (schema/v1/schema.json#/$defs/AuthMethodAgent): entries have id and name, and ids are unique. An unknown `type`
/// is noted: the schema reads it as an agent method.
///
/// AUTH-02 (schema/v1/schema.json#/$defs/AuthMethodTerminal): no `terminal` entry for a client without `auth.terminal`.
///
/// AUTH-03 (same definition): types of `args` and `env` of a terminal entry. A `command` in it is EXT-05's.
///
/// AUTH-07 (docs/protocol/v1/authentication.mdx#protocol-driven-authentication): the first session/new after a successful
/// authenticate is not answered with -32000. A login may end later, so those that follow are not judged.
///
/// AUTH-09 (#advertising-authentication): -32000 without a method on offer is noted.
///
/// AUTH-11 (#logging-out): an advertised logout is answered with an object, and its method is there. A null is INTEROP-25's.
#[derive(Default)]
pub(super) struct Logins {
    /// The event of the answer to the last authenticate, until a session was asked for or a logout was sent.
    logged_in: Option<u64>,
}

impl Rule for Logins {
    fn judges(&self) -> &'static [&'static str] {
        &[ENTRIES, NO_TERMINAL, TERMINAL, OPENS, DEAD_END, LOGOUT]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.logins(moment, out);
        if let Some((_, message)) = moment.answer_to("initialize") {
            if moment.payload().is_some()
                && let Some(result) = message.result()
            {
                offered(moment, result, out);
            }
        } else if let Some((_, message)) = moment.answer_to("session/new")
            && message.error_code() == Some(-32000)
            && moment.talk.handshake.is_some()
        {
            let none = moment
                .talk
                .auth_methods()
                .and_then(Value::as_array)
                .is_none_or(Vec::is_empty);
            if none {
                out.note(
                    DEAD_END,
                    moment.at("/error"),
                    "session/new asks to authenticate (-32000) though no method is on offer: the client has no way forward",
                );
            }
        }
    }
}

impl Logins {
    fn logins(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        let left = |method| moment.client_call(method).is_some();
        if left("logout") || left("authenticate") {
            self.logged_in = None;
        } else if let Some((open, message)) = moment.answer_to("authenticate") {
            let holds = message.error().is_none() && message.result().is_some() && !open.probe;
            self.logged_in = holds.then_some(moment.index);
        } else if let Some((open, message)) = moment.answer_to("session/new") {
            let Some(login) = self.logged_in.filter(|login| open.event > *login) else {
                return;
            };
            self.logged_in = None;
            out.check(
                OPENS,
                message.error_code() != Some(-32000),
                moment.at("/error"),
                || {
                    format!(
                        "session/new asks to authenticate (-32000), though authenticate succeeded before (event {login})"
                    )
                },
            );
        } else if let Some((open, message)) = moment.answer_to("logout") {
            if open.probe {
                return;
            }
            let no_method = message.error_code() == Some(-32601);
            let result = message.result().filter(|_| message.error().is_none());
            match result {
                Some(result) if result.is_object() => out.pass(LOGOUT),
                Some(result) if !result.is_null() => out.fail(
                    LOGOUT,
                    moment.at("/result"),
                    format!(
                        "logout is answered with {}, expected an object",
                        quote_json(result)
                    ),
                ),
                None if no_method => out.fail(
                    LOGOUT,
                    moment.at("/error"),
                    "logout is advertised and answered with -32601 (method not found)",
                ),
                _ => {}
            }
        }
    }
}

fn offered(moment: &Moment<'_>, result: &Value, out: &mut Out<'_>) {
    let methods = match result.get("authMethods") {
        Some(Value::Array(methods)) => methods.as_slice(),
        _ => &[],
    };
    let is_terminal = |entry: &Value| entry.get("type").and_then(Value::as_str) == Some("terminal");
    let mut sound = true;
    for violation in faults_in(moment, LIST).filter(|it| it.path != LIST) {
        sound = false;
        out.fail(
            ENTRIES,
            moment.at(violation.path.as_str()),
            format!("an entry of `authMethods`: {}", violation.message),
        );
    }
    let mut ids = HashSet::default();
    for (index, entry) in methods.iter().enumerate() {
        if let Some(id) = entry.get("id").and_then(Value::as_str)
            && !ids.insert(id)
        {
            sound = false;
            out.fail(
                ENTRIES,
                moment.at(format!("{LIST}/{index}/id")),
                format!(
                    "two entries of `authMethods` have the id {}, where ids must be unique",
                    quote(id)
                ),
            );
        }
        let kind = entry.get("type").filter(|kind| !kind.is_null());
        if let Some(kind) = kind.filter(|kind| **kind != "agent" && **kind != "terminal") {
            out.note(
                ENTRIES,
                moment.at(format!("{LIST}/{index}/type")),
                format!(
                    "an entry of `authMethods` is of the type {}, which version 1 reads as an agent method",
                    quote_json(kind)
                ),
            );
        }
    }
    if sound && !methods.is_empty() {
        out.pass(ENTRIES);
    }
    match methods.iter().position(is_terminal) {
        Some(index) => {
            out.fail(
                NO_TERMINAL,
                moment.at(format!("{LIST}/{index}")),
                "a method of type `terminal` is offered to a client that did not switch on `auth.terminal`",
            );
            for (index, entry) in methods.iter().enumerate().filter(|(_, it)| is_terminal(it)) {
                terminal(moment, index, entry, out);
            }
        }
        None => {
            out.pass(NO_TERMINAL);
            if moment.talk.client_can(&["auth", "terminal"]) {
                out.not_applicable(TERMINAL, "no method of type `terminal` is offered");
            }
        }
    }
}

/// The union of the schema takes a faulty terminal method for an agent method, so it is judged by its own definition.
fn terminal(moment: &Moment<'_>, index: usize, entry: &Value, out: &mut Out<'_>) {
    let mut sound = true;
    for violation in Schema::v1().violations("AuthMethodTerminal", entry) {
        if violation.path.starts_with("/args") || violation.path.starts_with("/env") {
            sound = false;
            out.fail(
                TERMINAL,
                moment.at(format!("{LIST}/{index}{}", violation.path)),
                format!("a method of type `terminal`: {}", violation.message),
            );
        }
    }
    if sound {
        out.pass(TERMINAL);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, judged};
    use super::*;

    fn offer(capabilities: &str, methods: &str) -> Judgement {
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{capabilities}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"mcpCapabilities":{{"http":true}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":{methods}}}}}
            "#
        ))
    }

    fn failures(capabilities: &str, methods: &str) -> Vec<(&'static str, String)> {
        failed(&offer(capabilities, methods))
            .into_iter()
            .filter(|(id, ..)| id.starts_with("AUTH"))
            .map(|(id, _, path)| (id, path))
            .collect()
    }

    const WITH_TERMINAL: &str = r#"{"auth":{"terminal":true}}"#;

    #[test]
    fn entries_with_id_and_name_pass() {
        let judgement = offer(
            "{}",
            r#"[{"id":"a","name":"A"},{"id":"b","name":"B","type":"agent"}]"#,
        );
        assert!(failed(&judgement).is_empty());
        assert_eq!(judgement.get(ENTRIES).unwrap().passes, 1);
        assert_eq!(judgement.get(NO_TERMINAL).unwrap().passes, 1);
        assert!(offer("{}", "[]").get(ENTRIES).is_none());
    }

    #[test]
    fn entries_without_id_or_name_or_with_one_twice_fail() {
        for (methods, path) in [
            (r#"[{"name":"A"}]"#, "/result/authMethods/0"),
            (r#"[{"id":"a","name":5}]"#, "/result/authMethods/0/name"),
            (
                r#"[{"id":"a","name":"A"},{"id":"a","name":"B"}]"#,
                "/result/authMethods/1/id",
            ),
        ] {
            assert_eq!(failures("{}", methods), [(ENTRIES, path.to_owned())]);
        }
    }

    #[test]
    fn an_unknown_type_is_noted() {
        let judgement = offer("{}", r#"[{"id":"a","name":"A","type":"env_var"}]"#);
        assert!(failed(&judgement).iter().all(|(id, ..)| *id != ENTRIES));
        assert_eq!(judgement.get(ENTRIES).unwrap().notes.len(), 1);
    }

    #[test]
    fn terminal_methods_need_a_client_that_wants_them() {
        let methods =
            r#"[{"id":"t","name":"T","type":"terminal","args":["login"],"env":{"A":"b"}}]"#;
        assert_eq!(
            failures("{}", methods),
            [(NO_TERMINAL, "/result/authMethods/0".to_owned())]
        );
        assert_eq!(failures(WITH_TERMINAL, methods), []);
        assert_eq!(
            offer(WITH_TERMINAL, methods).get(TERMINAL).unwrap().passes,
            1
        );
        let none = offer(WITH_TERMINAL, "[]");
        assert_eq!(none.get(TERMINAL).unwrap().not_applicable.len(), 1);
    }

    #[test]
    fn args_are_a_list_of_strings_and_env_a_map_of_strings() {
        for (member, path) in [
            (r#""args":"login""#, "/result/authMethods/0/args"),
            (r#""args":[1]"#, "/result/authMethods/0/args/0"),
            (r#""env":{"A":1}"#, "/result/authMethods/0/env/A"),
        ] {
            let methods = format!(r#"[{{"id":"t","name":"T","type":"terminal",{member}}}]"#);
            assert_eq!(
                failures(WITH_TERMINAL, &methods),
                [(TERMINAL, path.to_owned())]
            );
        }
    }

    fn with_logout(lines: &str) -> Vec<(&'static str, u64, String)> {
        let it = judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"auth":{{"logout":{{}}}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[{{"id":"m","name":"M"}}]}}}}
            > {{"id":1,"method":"authenticate","params":{{"methodId":"m"}}}}
            < {{"id":1,"result":{{}}}}
            {lines}"#
        ));
        let own = failed(&it).into_iter();
        own.filter(|(id, ..)| id.starts_with("AUTH")).collect()
    }

    #[test]
    fn after_a_login_a_session_is_opened() {
        let new =
            r#"> {"id":2,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}"#;
        let refused = r#"< {"id":2,"error":{"code":-32000,"message":"log in"}}"#;
        let bad = with_logout(&format!("{new}\n{refused}"));
        assert_eq!(bad, [(OPENS, 5, "/error".to_owned())]);
        let opened = r#"< {"id":2,"result":{"sessionId":"s1"}}"#;
        assert_eq!(with_logout(&format!("{new}\n{opened}")), []);
        // A login that has ended meanwhile, and a logout.
        let again = format!("{new}\n{refused}").replace(":2,", ":3,");
        assert_eq!(with_logout(&format!("{new}\n{opened}\n{again}")), []);
        let logout = r#"> {"id":4,"method":"logout","params":{}}
            < {"id":4,"result":{}}"#;
        assert_eq!(with_logout(&format!("{logout}\n{again}")), []);
    }

    #[test]
    fn a_logout_is_answered_with_an_object() {
        for (answer, path) in [
            (r#""result":{}"#, None),
            (r#""result":null"#, None),
            (r#""error":{"code":-32603,"message":"disk full"}"#, None),
            (r#""result":true"#, Some("/result")),
            (r#""error":{"code":-32601,"message":"no"}"#, Some("/error")),
        ] {
            let found = with_logout(&format!(
                "> {{\"id\":4,\"method\":\"logout\",\"params\":{{}}}}\n< {{\"id\":4,{answer}}}"
            ));
            let expected = path.map(|path| (LOGOUT, 5, path.to_owned()));
            assert_eq!(found, Vec::from_iter(expected), "{answer}");
        }
    }

    #[test]
    fn a_dead_end_is_noted() {
        let judgement = judged(
            r#"
            > {"id":0,"method":"initialize","params":{"protocolVersion":1}}
            < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":"1"}}}
            > {"id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
            < {"id":1,"error":{"code":-32000,"message":"log in"}}
            "#,
        );
        assert!(failed(&judgement).is_empty());
        assert_eq!(judgement.get(DEAD_END).unwrap().notes.len(), 1);
    }
}
