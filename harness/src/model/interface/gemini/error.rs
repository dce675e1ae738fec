//! The errors of the Gemini interface.

use serde_json::{Value, json};

use crate::model::interface::error::{ErrorReply, Row, Trouble, row};

/// What stands before the names of the types of details.
const TYPES: &str = "type.googleapis.com/google.rpc";

/// Errors, by what goes wrong.
const ERRORS: &[Row] = &[
    Row::plain(
        Trouble::RateLimit,
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota. Please retry in 1s.",
    ),
    Row::plain(
        Trouble::Overloaded,
        503,
        "UNAVAILABLE",
        "The model is overloaded. Please try again later.",
    ),
    Row::plain(
        Trouble::Context,
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    Row::plain(
        Trouble::Status(400),
        400,
        "INVALID_ARGUMENT",
        "Request contains an invalid argument.",
    ),
    Row::plain(
        Trouble::Status(401),
        401,
        "UNAUTHENTICATED",
        "API key not valid. Please pass a valid API key.",
    ),
    Row::plain(
        Trouble::Status(403),
        403,
        "PERMISSION_DENIED",
        "The caller does not have permission.",
    ),
    Row::plain(
        Trouble::Status(404),
        404,
        "NOT_FOUND",
        "The model is not found.",
    ),
    Row::plain(
        Trouble::Status(499),
        499,
        "CANCELLED",
        "The operation was cancelled.",
    ),
    Row::plain(
        Trouble::Status(500),
        500,
        "INTERNAL",
        "An internal error has occurred.",
    ),
    Row::plain(
        Trouble::Status(504),
        504,
        "DEADLINE_EXCEEDED",
        "The request timed out.",
    ),
    Row::plain(Trouble::Status(0), 500, "UNKNOWN", "The request failed."),
];

/// An error of the interface. What clients look at before they try again stands in the body here.
pub(super) fn error(trouble: Trouble, message: Option<&str>) -> ErrorReply {
    let row = row(ERRORS, trouble);
    let message = message.unwrap_or(row.message);
    let mut body = json!({"error": {"code": row.status, "message": message, "status": row.kind}});
    if row.status == 429
        && let Some(Value::Object(error)) = body.get_mut("error")
    {
        error.insert("details".into(), spent());
    }
    ErrorReply {
        status: row.status,
        body: body.to_string(),
        headers: &[],
    }
}

/// Which limit is reached, and when to try again. A limit per minute: after one per day no client would.
fn spent() -> Value {
    json!([
        {
            "@type": format!("{TYPES}.QuotaFailure"),
            "violations": [{
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
                "quotaId": "GenerateRequestsPerMinutePerProjectPerModel",
                "quotaValue": "1",
            }],
        },
        {"@type": format!("{TYPES}.RetryInfo"), "retryDelay": "1s"},
    ])
}
