//! What both interfaces of OpenAI have in common: errors and lists of models.

use serde_json::{Value, json};

use super::error::{ErrorReply, Headers, Row, Trouble, row};

/// The header that carries the id of an exchange.
pub(super) const ID_HEADER: &str = "x-request-id";
/// What goes with a rate limit, beside the advice that all interfaces give.
const SPENT: Headers = &[
    ("x-ratelimit-limit-requests", "1"),
    ("x-ratelimit-remaining-requests", "0"),
    ("x-ratelimit-reset-requests", "1s"),
];
/// Errors, by what goes wrong.
const ERRORS: &[Row] = &[
    Row {
        trouble: Trouble::RateLimit,
        status: 429,
        kind: "requests",
        code: Some("rate_limit_exceeded"),
        message: "Rate limit reached for this model. Please try again in 1s.",
    },
    Row {
        trouble: Trouble::Overloaded,
        status: 503,
        kind: "service_unavailable_error",
        code: Some("server_is_overloaded"),
        message: "The model is overloaded. Try again later.",
    },
    Row {
        trouble: Trouble::Context,
        status: 400,
        kind: "invalid_request_error",
        code: Some("context_length_exceeded"),
        message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 200000 tokens. Please reduce the length of the messages.",
    },
    Row {
        trouble: Trouble::Status(400),
        status: 400,
        kind: "invalid_request_error",
        code: None,
        message: "The request is not valid.",
    },
    Row {
        trouble: Trouble::Status(401),
        status: 401,
        kind: "invalid_request_error",
        code: Some("invalid_api_key"),
        message: "The API key is not correct.",
    },
    Row {
        trouble: Trouble::Status(403),
        status: 403,
        kind: "invalid_request_error",
        code: Some("permission_denied"),
        message: "This project has no access to the model.",
    },
    Row {
        trouble: Trouble::Status(404),
        status: 404,
        kind: "invalid_request_error",
        code: Some("model_not_found"),
        message: "The model does not exist.",
    },
    Row {
        trouble: Trouble::Status(413),
        status: 413,
        kind: "invalid_request_error",
        code: Some("request_too_large"),
        message: "The request is too large.",
    },
    Row {
        trouble: Trouble::Status(500),
        status: 500,
        kind: "server_error",
        code: None,
        message: "The server had an error while it worked on the request.",
    },
    Row {
        trouble: Trouble::Status(0),
        status: 500,
        kind: "server_error",
        code: None,
        message: "The request failed.",
    },
];

/// An error, as both interfaces say it.
pub(super) fn error(trouble: Trouble, message: Option<&str>) -> ErrorReply {
    let row = row(ERRORS, trouble);
    let body = json!({"error": {
        "message": message.unwrap_or(row.message),
        "type": row.kind,
        "param": null,
        "code": row.code,
    }});
    ErrorReply {
        status: row.status,
        body: body.to_string(),
        headers: if row.status == 429 { SPENT } else { &[] },
    }
}

/// The list of models with these names.
pub(super) fn models(names: &[&str]) -> String {
    let data: Vec<Value> = names.iter().map(|name| entry(name)).collect();
    json!({"object": "list", "data": data}).to_string()
}

/// One model.
pub(super) fn model(name: &str) -> String {
    entry(name).to_string()
}

fn entry(name: &str) -> Value {
    json!({"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "acp-harness"})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(trouble: Trouble, message: Option<&str>) -> (u16, Value) {
        let error = error(trouble, message);
        (error.status, serde_json::from_str(&error.body).unwrap())
    }

    #[test]
    fn an_unknown_status_has_a_body_too() {
        let (status, error) = body(Trouble::Status(418), None);
        assert_eq!(status, 418);
        assert_eq!(error["error"]["type"], "server_error");
        let (_, error) = body(Trouble::Status(401), Some("No."));
        assert_eq!(error["error"]["message"], "No.");
        assert_eq!(error["error"]["code"], "invalid_api_key");
    }

    #[test]
    fn a_status_that_has_a_name_is_said_as_that() {
        let (_, error) = body(Trouble::Status(429), None);
        assert_eq!(error["error"]["code"], "rate_limit_exceeded");
        let (_, error) = body(Trouble::Status(400), None);
        assert_eq!(error["error"]["code"], Value::Null);
        let (status, error) = body(Trouble::Context, None);
        assert_eq!(status, 400);
        assert_eq!(error["error"]["code"], "context_length_exceeded");
    }
}
