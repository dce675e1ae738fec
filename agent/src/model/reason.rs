//! The words of servers and libraries, as part of one sentence of ours.

use serde_json::Value;

/// How much of a server's own words goes into a reason.
const LIMIT: usize = 300;

/// The deepest reason of an error, which says what happened rather than where.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    shortened(&cause.to_string())
}

/// The message of an `error` member, in the forms that servers give it.
pub(super) fn error_message(error: &Value) -> Option<String> {
    let message = error.get("message").unwrap_or(error);
    message.as_str().map(shortened)
}

/// A server's words as part of one sentence.
pub(super) fn shortened(text: &str) -> String {
    let text = crate::log::one_line(text.trim());
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
