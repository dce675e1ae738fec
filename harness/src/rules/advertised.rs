//! INIT-14: what the agent advertises is really there.

use super::{Moment, Out, Rule};
use crate::spec::{Methods, Truth};

const EXISTS: &str = "INIT-14";

const NO_METHOD: i64 = -32601;

/// The methods that a capability of the agent announces.
const OPTIONAL: [&str; 6] = [
    "session/load",
    "session/list",
    "session/delete",
    "session/resume",
    "session/close",
    "logout",
];

/// INIT-14 (docs/protocol/v1/initialization.mdx#agent-capabilities): an advertised method is not answered with -32601. What
/// else it is answered with is judged in its own area.
pub(super) struct Advertised;

impl Rule for Advertised {
    fn judges(&self) -> &'static [&'static str] {
        &[EXISTS]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let talk = moment.talk;
        let (Some(open), Some(message)) = (moment.answers, moment.agent_message()) else {
            return;
        };
        if open.probe || !talk.is_version_one() || !OPTIONAL.contains(&open.method.as_str()) {
            return;
        }
        let gate = Methods::v1().get(&open.method).map(|method| &method.gate);
        if !gate.is_some_and(|gate| talk.evaluate(gate) == Truth::Holds) {
            return;
        }
        out.check(
            EXISTS,
            message.error_code() != Some(NO_METHOD),
            moment.at("/error/code"),
            || {
                format!(
                    "{} was answered with -32601 (method not found), though it is advertised",
                    open.method
                )
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::talking::{failures, holds, judged};

    #[test]
    fn an_advertised_method_is_there() {
        let close = |capabilities: &str, answer: &str| {
            judged(&format!(
                r#"
                > {{"id":0,"method":"initialize","params":{{"protocolVersion":1}}}}
                < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"sessionCapabilities":{capabilities}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
                > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
                < {{"id":1,"result":{{"sessionId":"s1"}}}}
                > {{"id":2,"method":"session/close","params":{{"sessionId":"s1"}}}}
                < {{"id":2,{answer}}}"#
            ))
        };
        let gone = r#""error":{"code":-32601,"message":"Method not found"}"#;
        let with = r#"{"close":{}}"#;
        assert_eq!(
            failures(&close(with, gone)),
            ["CLOSE-01@5/error", "INIT-14@5/error/code"]
        );
        assert!(holds(&close(with, r#""result":{}"#), "INIT-14"));
        assert_eq!(failures(&close("{}", gone)), [""; 0]);
    }
}
