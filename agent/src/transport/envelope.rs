//! What one line of input is: a message for the SDK, something to answer here, or nothing.

use agent_client_protocol::{
    Error, RawJsonRpcError, RawJsonRpcId, RawJsonRpcMessage, RawJsonRpcResponse, TransportFrame,
};
use serde_json::{Map, Value, json};

/// What to do with one line of input.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A well-formed message, for the SDK.
    Message(TransportFrame),
    /// No well-formed message: this error goes back. It never repeats the input, which may hold
    /// secrets.
    Answer(TransportFrame),
    /// A blank line, or something that must not be answered.
    Nothing,
}

/// Reads one line, without its line feed.
pub(crate) fn read(line: &[u8]) -> Incoming {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Incoming::Nothing;
    }
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let place = reason(format!("invalid UTF-8 at byte {}", error.valid_up_to()));
            return answer(RawJsonRpcId::Null, Error::parse_error().data(place));
        }
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => message(object),
        Ok(Value::Array(_)) => answer(
            RawJsonRpcId::Null,
            Error::invalid_request().data(reason("batches are not supported")),
        ),
        Ok(_) => answer(RawJsonRpcId::Null, Error::invalid_request()),
        Err(error) => {
            let place = reason(format!("invalid JSON at column {}", error.column()));
            answer(RawJsonRpcId::Null, Error::parse_error().data(place))
        }
    }
}

/// Too long a line, of which nothing was kept.
pub(crate) fn too_long(limit: usize) -> Incoming {
    let reason = reason(format!("the line is longer than {limit} bytes"));
    answer(RawJsonRpcId::Null, Error::parse_error().data(reason))
}

fn message(mut object: Map<String, Value>) -> Incoming {
    if object.contains_key("method") {
        return call(object);
    }
    let id = object.get("id").and_then(readable_id);
    let (result, error) = (object.remove("result"), object.remove("error"));
    let outcome = match (id, result, error) {
        (_, None, None) => return answer(RawJsonRpcId::Null, Error::invalid_request()),
        // A response that answers nothing is not answered either.
        (None, _, _) => return Incoming::Nothing,
        (Some(id), Some(result), None) => (id, Ok(result)),
        // A response with both members, or with a faulty error, is taken as a refusal: to drop it
        // would leave the request open for ever.
        (Some(id), _, Some(error)) => (id, Err(Box::new(response_error(error)))),
    };
    let response = RawJsonRpcResponse::new(outcome.0, outcome.1);
    Incoming::Message(TransportFrame::Single(RawJsonRpcMessage::Response(
        response,
    )))
}

fn response_error(error: Value) -> RawJsonRpcError {
    serde_json::from_value(error)
        .unwrap_or_else(|_| RawJsonRpcError::new(-32603, "malformed error response"))
}

/// A request or a notification.
fn call(mut object: Map<String, Value>) -> Incoming {
    let is_request = object.contains_key("id");
    let id = object.get("id").and_then(readable_id);
    let versioned = object.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
    let answers = object.contains_key("result") || object.contains_key("error");
    let params = object.remove("params").unwrap_or(Value::Null);
    let structured = params.is_object() || params.is_array() || params.is_null();
    let method = match object.remove("method") {
        Some(Value::String(method)) if versioned && !answers => method,
        _ => return refuse(id),
    };
    if !is_request {
        // A notification is never answered, not even one with faulty parameters.
        return RawJsonRpcMessage::notification(method, params)
            .map_or(Incoming::Nothing, |message| {
                Incoming::Message(TransportFrame::Single(message))
            });
    }
    let Some(id) = id else {
        return refuse(None);
    };
    if !structured {
        return refuse(Some(id));
    }
    let params = if method == "initialize" {
        negotiated(params)
    } else {
        params
    };
    match RawJsonRpcMessage::request(method, params, id.clone()) {
        Ok(message) => Incoming::Message(TransportFrame::Single(message)),
        Err(_) => refuse(Some(id)),
    }
}

/// `initialize` asks for a version, and 1 is the only one that `bob` speaks, so every legal number
/// leads to 1 (INIT-02 to INIT-04). It is set here because for a higher number the SDK would drop
/// the members of version 1, `clientInfo` among them.
fn negotiated(mut params: Value) -> Value {
    if let Some(version) = params.get_mut("protocolVersion")
        && version
            .as_u64()
            .is_some_and(|asked| asked <= u64::from(u16::MAX))
    {
        *version = Value::from(1);
    }
    params
}

/// The id, if it has a form that the protocol allows: null, a 64-bit integer or a string.
fn readable_id(id: &Value) -> Option<RawJsonRpcId> {
    match id {
        Value::Null => Some(RawJsonRpcId::Null),
        Value::Number(number) => number.as_i64().map(RawJsonRpcId::Number),
        Value::String(text) => Some(RawJsonRpcId::Str(text.clone())),
        _ => None,
    }
}

/// Refuses a call with a faulty envelope, under its id where that can be read, so that the sender
/// does not wait for ever.
fn refuse(id: Option<RawJsonRpcId>) -> Incoming {
    answer(id.unwrap_or(RawJsonRpcId::Null), Error::invalid_request())
}

fn answer(id: RawJsonRpcId, error: Error) -> Incoming {
    Incoming::Answer(TransportFrame::Single(RawJsonRpcMessage::response(
        id,
        Err(error),
    )))
}

/// The data of an error: why, in words of our own.
fn reason(text: impl Into<String>) -> Value {
    json!({ "error": text.into() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use proptest::prelude::*;

    /// What a line leads to, in short.
    fn outcome(line: &str) -> String {
        match read(line.as_bytes()) {
            Incoming::Nothing => "nothing".to_owned(),
            Incoming::Message(frame) => format!("message {}", frame.to_json().unwrap()),
            Incoming::Answer(frame) => {
                let answer: Value = serde_json::from_str(&frame.to_json().unwrap()).unwrap();
                format!("{} for id {}", answer["error"]["code"], answer["id"])
            }
        }
    }

    #[test]
    fn lines_that_are_no_request_are_answered_without_an_id() {
        for (line, expected) in [
            ("{not json", "-32700 for id null"),
            ("\u{FEFF}{}", "-32700 for id null"),
            (r#"{"a":1} {"a":2}"#, "-32700 for id null"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
                "-32700 for id null",
            ),
            ("42", "-32600 for id null"),
            ("null", "-32600 for id null"),
            ("[]", "-32600 for id null"),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"x"}]"#,
                "-32600 for id null",
            ),
            ("{}", "-32600 for id null"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "-32600 for id null"),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#,
                "-32600 for id null",
            ),
            (
                r#"{"jsonrpc":"2.0","id":[],"method":"x"}"#,
                "-32600 for id null",
            ),
            (r#"{"jsonrpc":"2.0","method":5}"#, "-32600 for id null"),
        ] {
            assert_eq!(outcome(line), expected, "{line}");
        }
    }

    #[test]
    fn a_request_with_a_faulty_envelope_is_refused_under_its_id() {
        for line in [
            r#"{"jsonrpc":"1.0","id":7,"method":"x"}"#,
            r#"{"id":7,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"x","params":"text"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"x","result":{}}"#,
        ] {
            assert_eq!(outcome(line), "-32600 for id 7", "{line}");
        }
    }

    #[test]
    fn blank_lines_and_what_must_not_be_answered_lead_to_nothing() {
        for line in [
            "",
            "  \t",
            "\r",
            r#"{"jsonrpc":"2.0","method":"x","params":5}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":{},"error":{}}"#,
        ] {
            assert_eq!(outcome(line), "nothing", "{line}");
        }
    }

    #[test]
    fn a_carriage_return_belongs_to_the_line_end() {
        let line = r#"{"jsonrpc":"2.0","id":"é","method":"x"}"#;
        assert_eq!(outcome(&format!("{line}\r")), format!("message {line}"));
    }

    #[test]
    fn a_response_that_is_not_clear_is_an_error() {
        let both = outcome(r#"{"jsonrpc":"2.0","id":"a","result":{},"error":{"code":1}}"#);
        assert!(both.contains("malformed error response"), "{both}");
    }

    #[test]
    fn every_legal_version_leads_to_the_first() {
        for (asked, sent) in [
            ("0", "1"),
            ("1", "1"),
            ("65535", "1"),
            ("65536", "65536"),
            ("\"1\"", "\"1\""),
        ] {
            let line = |version: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":{version},"clientInfo":5}}}}"#
                )
            };
            assert_eq!(outcome(&line(asked)), format!("message {}", line(sent)));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_never_repeated(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let secret = b"s3cret-t0ken";
            let line = [&bytes[..], secret].concat();
            if let Incoming::Answer(frame) = read(&line) {
                prop_assert!(!frame.to_json().unwrap().contains("s3cret-t0ken"));
            }
        }
    }
}
