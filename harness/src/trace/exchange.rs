//! A part of one exchange with the model, and how it stands on its line.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::event::{put, put_text};

/// A part of one exchange with the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The number of the exchange within the trace, from 1.
    pub exchange: u64,
    /// The part.
    pub part: ExchangePart,
}

impl Exchange {
    /// Puts another text in place of each text of the part.
    pub(crate) fn each_text(&mut self, new: impl Fn(&str) -> String) {
        match &mut self.part {
            ExchangePart::Request { body, .. } => *body = new(body),
            ExchangePart::Chunk(chunk) => *chunk = new(chunk),
            ExchangePart::Status(_)
            | ExchangePart::Bytes(_)
            | ExchangePart::Unreadable(_)
            | ExchangePart::End(_) => {}
        }
    }
}

/// The parts of an exchange with the model, in the order in which they occur.
#[derive(Clone, Debug, PartialEq)]
pub enum ExchangePart {
    /// The body of the request as JSON, with `path` saying where it was sent.
    Request {
        /// Path and query of the request.
        path: String,
        /// The exact text of the body (JSON), or a JSON string where it was none.
        body: String,
        /// What it was taken for where it does not count as a turn of the script.
        side: Option<String>,
    },
    /// The status line of the reply.
    Status(u16),
    /// A piece of the reply's body, as it was sent (what came compressed, decoded).
    Chunk(String),
    /// A piece of the reply's body that is not UTF-8.
    Bytes(Vec<u8>),
    /// The body of the reply was not kept: it came in an encoding that cannot be read, which is named.
    Unreadable(String),
    /// The reply ended.
    End(ExchangeEnd),
}

/// How a reply of the model ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExchangeEnd {
    /// All of it was sent.
    Complete,
    /// The model broke off, as the script wanted.
    Cut,
    /// The agent hung up.
    Cancelled,
    /// The connection is refused from now on, as the script wanted: who tries is not seen.
    Refused,
}

impl Exchange {
    /// Appends the members that tell it.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put(out, "exchange", &self.exchange.to_string());
        match &self.part {
            ExchangePart::Request { path, body, side } => {
                put_text(out, "path", path);
                match serde_json::from_str::<&RawValue>(body) {
                    Ok(_) if !body.contains(['\n', '\r']) => put(out, "request", body),
                    Ok(_) => put(out, "request", &on_one_line(body)),
                    Err(_) => put_text(out, "request", body),
                }
                if let Some(side) = side {
                    put_text(out, "side", side);
                }
            }
            ExchangePart::Status(status) => put(out, "status", &status.to_string()),
            ExchangePart::Chunk(chunk) => put_text(out, "chunk", chunk),
            ExchangePart::Bytes(bytes) => put_text(out, "base64", &BASE64.encode(bytes)),
            ExchangePart::Unreadable(encoding) => put_text(out, "unreadable", encoding),
            ExchangePart::End(end) => put(
                out,
                "end",
                match end {
                    ExchangeEnd::Complete => r#""complete""#,
                    ExchangeEnd::Cut => r#""cut""#,
                    ExchangeEnd::Cancelled => r#""cancelled""#,
                    ExchangeEnd::Refused => r#""refused""#,
                },
            ),
        }
    }
}

/// The same JSON with its line breaks, which can only be white space between tokens, as blanks.
fn on_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}
