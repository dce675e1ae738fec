//! ERROR-01 and -02: words and codes of errors.

use serde_json::Value;

use super::quote::quote;
use super::{Moment, Out, Rule};

const SENTENCE: &str = "ERROR-01";
const CODE: &str = "ERROR-02";

/// A message of more characters is no short sentence.
const SHORT: usize = 300;

/// ERROR-01 (schema/v1/schema.json#/$defs/Error): the message is one short sentence: not empty, one line, no more than 300
/// characters.
///
/// ERROR-02 (schema/v1/schema.json#/$defs/ErrorCode): codes from -32768 to -32000 have their meaning: those that JSON-RPC
/// defines, and the range for servers (-32099 to -32000), which holds the codes of ACP. What an error is about is not
/// judged by its code.
///
/// Missing members and wrong types are JSONRPC-06's.
pub(super) struct Errors;

impl Rule for Errors {
    fn judges(&self) -> &'static [&'static str] {
        &[SENTENCE, CODE]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let Some(message) = moment
            .agent_message()
            .filter(|message| message.is_response())
        else {
            return;
        };
        let Some(error) = message.error() else {
            return;
        };
        if let Some(text) = error.get("message").and_then(Value::as_str) {
            let fault = if text.trim().is_empty() {
                Some("is empty")
            } else if text.trim().contains(['\n', '\r']) {
                Some("has several lines")
            } else if text.chars().count() > SHORT {
                Some("has over 300 characters")
            } else {
                None
            };
            out.check(SENTENCE, fault.is_none(), moment.at("/error/message"), || {
                format!(
                    "the error message {} {}, where one short sentence is expected and details belong in `data`",
                    quote(text),
                    fault.unwrap_or_default()
                )
            });
        }
        if let Some(code) = message.error_code() {
            let reserved = (-32768..=-32000).contains(&code);
            let defined = code == -32700
                || (-32603..=-32600).contains(&code)
                || (-32099..=-32000).contains(&code);
            out.check(CODE, !reserved || defined, moment.at("/error/code"), || {
                format!("the error code {code} lies in the range that JSON-RPC reserves and has no meaning there")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{OPENING, failed, judged};
    use super::*;

    fn error(code: i64, message: &str) -> Judgement {
        judged(&format!(
            "{OPENING}\n> {{\"id\":2,\"method\":\"_x\"}}\n< {{\"id\":2,\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}"
        ))
    }

    #[test]
    fn a_short_sentence_with_a_defined_code_passes() {
        for code in [
            -32700, -32600, -32603, -32000, -32002, -32050, -32800, 1, 401,
        ] {
            let judgement = error(code, "not found");
            assert!(failed(&judgement).is_empty(), "{code}");
            assert_eq!(judgement.get(SENTENCE).unwrap().passes, 1);
            assert_eq!(judgement.get(CODE).unwrap().passes, 1);
        }
    }

    #[test]
    fn an_empty_long_or_broken_message_fails() {
        for message in ["", "one\\ntwo", &"x".repeat(301)] {
            assert_eq!(
                failed(&error(-32603, message)),
                [(SENTENCE, 5, "/error/message".to_owned())]
            );
        }
    }

    #[test]
    fn a_reserved_code_without_meaning_fails() {
        for code in [-32604, -32599, -32500, -32768] {
            assert_eq!(
                failed(&error(code, "no")),
                [(CODE, 5, "/error/code".to_owned())],
                "{code}"
            );
        }
    }
}
