//! Prompt turns.

use serde_json::Value;

use crate::wire::Message;

/// Words in an error message by which an agent says that an account, a key or a quota is missing.
const ACCOUNT: [&str; 24] = [
    "api key",
    "api_key",
    "apikey",
    "credential",
    "unauthorized",
    "unauthorised",
    "unauthenticated",
    "authenticat",
    "not logged in",
    "log in",
    "login",
    "sign in",
    "quota",
    "rate limit",
    "rate_limit",
    "usage limit",
    "billing",
    "credit",
    "payment",
    "subscription",
    " 401",
    " 402",
    " 403",
    " 429",
];

/// The error code for a missing authentication.
const AUTH_REQUIRED: i64 = -32000;

/// Whether an error says that a credential or a quota is missing, which is not the agent's fault.
pub(super) fn blames_account(message: &Message) -> bool {
    let said = |text: Option<&Value>| {
        text.and_then(Value::as_str).is_some_and(|text| {
            let text = text.to_lowercase();
            ACCOUNT.iter().any(|word| text.contains(word))
        })
    };
    let error = message.error();
    message.error_code() == Some(AUTH_REQUIRED)
        || said(error.and_then(|error| error.get("message")))
        || said(error.and_then(|error| error.get("data")))
        || said(error.and_then(|error| error.pointer("/data/message")))
        || said(error.and_then(|error| error.pointer("/data/details")))
}
