//! The errors of the messages interface.

use serde_json::json;

use crate::model::interface::error::{ErrorReply, Headers, Row, Trouble, row};

/// What goes with a rate limit, beside the advice that all interfaces give.
const SPENT: Headers = &[
    ("anthropic-ratelimit-requests-limit", "1"),
    ("anthropic-ratelimit-requests-remaining", "0"),
];

/// Errors, by what goes wrong.
const ERRORS: &[Row] = &[
    Row::plain(
        Trouble::RateLimit,
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit. Please try again later.",
    ),
    Row::plain(Trouble::Overloaded, 529, "overloaded_error", "Overloaded"),
    Row::plain(
        Trouble::Context,
        400,
        "invalid_request_error",
        "prompt is too long: 250000 tokens > 200000 maximum",
    ),
    Row::plain(
        Trouble::Status(400),
        400,
        "invalid_request_error",
        "The request is not valid.",
    ),
    Row::plain(
        Trouble::Status(401),
        401,
        "authentication_error",
        "invalid x-api-key",
    ),
    Row::plain(
        Trouble::Status(402),
        402,
        "billing_error",
        "There is a problem with the billing of this account.",
    ),
    Row::plain(
        Trouble::Status(403),
        403,
        "permission_error",
        "This key has no permission to use the model.",
    ),
    Row::plain(
        Trouble::Status(404),
        404,
        "not_found_error",
        "The model does not exist.",
    ),
    Row::plain(
        Trouble::Status(413),
        413,
        "request_too_large",
        "Request exceeds the maximum size",
    ),
    Row::plain(
        Trouble::Status(500),
        500,
        "api_error",
        "Internal server error",
    ),
    Row::plain(
        Trouble::Status(504),
        504,
        "timeout_error",
        "The request timed out.",
    ),
    Row::plain(Trouble::Status(0), 500, "api_error", "The request failed."),
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
