//! The errors of the messages interface.

use serde_json::json;

use crate::model::interface::error::{ErrorReply, Headers, Row, Trouble, row};

/// What goes with a rate limit, beside the advice that all interfaces give.
const SPENT: Headers = &[
    ("anthropic-ratelimit-requests-limit", "1"),
    ("anthropic-ratelimit-requests-remaining", "0"),
];

const fn line(trouble: Trouble, status: u16, kind: &'static str, message: &'static str) -> Row {
    Row {
        trouble,
        status,
        kind,
        code: None,
        message,
    }
}

/// Errors, by what goes wrong.
const ERRORS: &[Row] = &[
    line(
        Trouble::RateLimit,
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit. Please try again later.",
    ),
    line(Trouble::Overloaded, 529, "overloaded_error", "Overloaded"),
    line(
        Trouble::Context,
        400,
        "invalid_request_error",
        "prompt is too long: 250000 tokens > 200000 maximum",
    ),
    line(
        Trouble::Status(400),
        400,
        "invalid_request_error",
        "The request is not valid.",
    ),
    line(
        Trouble::Status(401),
        401,
        "authentication_error",
        "invalid x-api-key",
    ),
    line(
        Trouble::Status(402),
        402,
        "billing_error",
        "There is a problem with the billing of this account.",
    ),
    line(
        Trouble::Status(403),
        403,
        "permission_error",
        "This key has no permission to use the model.",
    ),
    line(
        Trouble::Status(404),
        404,
        "not_found_error",
        "The model does not exist.",
    ),
    line(
        Trouble::Status(413),
        413,
        "request_too_large",
        "Request exceeds the maximum size",
    ),
    line(
        Trouble::Status(500),
        500,
        "api_error",
        "Internal server error",
    ),
    line(
        Trouble::Status(504),
        504,
        "timeout_error",
        "The request timed out.",
    ),
    line(Trouble::Status(0), 500, "api_error", "The request failed."),
];

/// An error of the interface.
pub(super) fn error(trouble: Trouble, message: Option<&str>) -> ErrorReply {
    let row = row(ERRORS, trouble);
    let body = json!({
        "type": "error",
        "error": {"type": row.kind, "message": message.unwrap_or(row.message)},
        "request_id": null,
    });
    ErrorReply {
        status: row.status,
        body: body.to_string(),
        headers: if row.status == 429 { SPENT } else { &[] },
    }
}
