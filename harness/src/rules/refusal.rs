//! Why an agent refuses what it offers, as far as its error tells.

use super::Open;
use super::prompt::blames_account;
use crate::wire::Message;

/// Words of a reason that lies outside of the agent: who may choose what, and where.
const POLICY: [&str; 20] = [
    "policy",
    "policies",
    "trust",
    "trusted",
    "untrusted",
    "privileged",
    "allowed",
    "disabled",
    "admin",
    "administrator",
    "organization",
    "subscription",
    "account",
    "login",
    "credentials",
    "root",
    "sudo",
    "sandbox",
    "unavailable",
    "licence",
];

/// Words of a reason that lies in a turn that runs.
const BUSY: [&str; 7] = [
    "turn", "prompt", "running", "busy", "progress", "active", "idle",
];

/// Words that every error of its code has.
const USUAL: [&str; 9] = [
    "internal", "error", "invalid", "params", "request", "method", "not", "found", "failed",
];

/// So many other words are a reason.
const WORDS: usize = 3;

/// Why what is offered was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The method is not there.
    NoMethod,
    /// By a reason outside of the agent, such as a login, a policy, or a folder that is not trusted.
    Outside,
    /// With words that may be a reason.
    Worded,
    /// Because a turn runs, or for no reason that is told.
    Bare,
}

/// The error code of a request that needs a login first.
const LOGIN: i64 = -32000;

/// The error code of a request that was cancelled.
const CANCELLED: i64 = -32800;

/// Why an error that answers this request says nothing about what was asked for, if so: the agent wants a login first, or
/// the request was cancelled, which either side may want.
pub(super) fn excuse(open: &Open, message: &Message) -> Option<&'static str> {
    message.error()?;
    match message.error_code() {
        Some(LOGIN) => Some("the agent asks to authenticate first (-32000)"),
        Some(CANCELLED) => Some("the request was answered as cancelled"),
        _ if open.cancel_requested.is_some() => Some("the client asked to cancel the request"),
        _ => None,
    }
}

/// Why the request that `message` answers with an error was refused.
pub(super) fn refusal(message: &Message) -> Refusal {
    if message.error_code() == Some(-32601) {
        return Refusal::NoMethod;
    }
    if blames_account(message) {
        return Refusal::Outside;
    }
    let error = message.error().map(ToString::to_string).unwrap_or_default();
    let error = error.to_lowercase();
    let words: Vec<&str> = error
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| word.len() > 1 && !matches!(*word, "code" | "message" | "data"))
        .collect();
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    if any(&BUSY) {
        Refusal::Bare
    } else if any(&POLICY) {
        Refusal::Outside
    } else if message.error_code() != Some(-32602)
        && words.iter().filter(|word| !USUAL.contains(word)).count() >= WORDS
    {
        Refusal::Worded
    } else {
        Refusal::Bare
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Reading;

    #[test]
    fn a_reason_outside_of_the_agent_is_told_from_none() {
        for (error, expected) in [
            (
                r#"{"code":-32601,"message":"Method not found"}"#,
                Refusal::NoMethod,
            ),
            (
                r#"{"code":-32603,"message":"Internal error","data":{"details":"Cannot enable privileged approval modes in an untrusted folder."}}"#,
                Refusal::Outside,
            ),
            (
                r#"{"code":-32602,"message":"Invalid params","data":{"modeId":"code"}}"#,
                Refusal::Bare,
            ),
            (
                r#"{"code":-32602,"message":"`modeId` is `code`, expected one of ask, plan"}"#,
                Refusal::Bare,
            ),
            (
                r#"{"code":-32603,"message":"Internal error"}"#,
                Refusal::Bare,
            ),
            (
                r#"{"code":-32000,"message":"not allowed while a turn is running"}"#,
                Refusal::Outside,
            ),
            (
                r#"{"code":-32603,"message":"not allowed while a turn is running"}"#,
                Refusal::Bare,
            ),
            (
                r#"{"code":-32603,"message":"the architect mode needs a second model"}"#,
                Refusal::Worded,
            ),
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
            let reading = Reading::of_text(&line);
            assert_eq!(refusal(reading.message().unwrap()), expected, "{error}");
        }
    }
}
