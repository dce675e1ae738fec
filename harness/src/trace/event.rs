//! One entry of a trace, and how it stands on its line.

use std::fmt;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::exchange::{Exchange, ExchangeEnd, ExchangePart};
use crate::wire::Reading;

/// Who did what an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Party {
    /// What was written to the agent's stdin, or that it was closed.
    Client,
    /// What came out of the agent process.
    Agent,
    /// An exchange with the model, as seen by the scripted model or a proxy.
    Model,
    /// What the harness itself did or saw.
    Harness,
}

impl Party {
    /// The word for it in a trace.
    const fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Harness => "harness",
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One entry of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Seconds on a monotonic clock since the trace began.
    pub at: f64,
    /// Who did it.
    pub from: Party,
    /// What it was.
    pub body: Body,
    /// Set where a scenario sent this to provoke: what is wrong with it on purpose.
    pub probe: Option<String>,
    /// Whether secrets were replaced, so that the text is not byte-exact.
    pub redacted: bool,
}

/// What an event tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// One JSON object alone on its line, as the exact text of the line.
    Message {
        /// The text, without the newline.
        text: String,
        /// Whether the stream ended before the newline.
        partial: bool,
    },
    /// Any other line: no JSON object, or with outer white space or a CR.
    Line {
        /// The bytes, without the newline.
        bytes: Vec<u8>,
        /// Whether the stream ended before the newline.
        partial: bool,
    },
    /// One line that the agent wrote to stderr, without its newline.
    Stderr(Vec<u8>),
    /// The stream from this party was closed.
    Eof,
    /// The signal that the harness sent.
    Signal(i32),
    /// How the agent process ended.
    Exit(Exit),
    /// One part of an exchange with the model.
    Model(Exchange),
    /// The harness gave up waiting for the answer to a request of its own.
    Unanswered {
        /// The id of the request, as JSON.
        id: Value,
        /// How long it waited without progress, in seconds.
        seconds: f64,
    },
    /// Processes of the agent that outlived it, each `pid command`.
    Left(Vec<String>),
    /// Something that a later version of the format writes: kept as it is and not judged.
    Other(Value),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// It ended by itself with this exit code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl Body {
    /// The body for one line of the wire (without its newline), by what it holds.
    pub fn of_line(bytes: Vec<u8>, partial: bool) -> Self {
        let alone = bytes.first() == Some(&b'{') && bytes.last() == Some(&b'}');
        if alone {
            match String::from_utf8(bytes) {
                Ok(text) if serde_json::from_str::<&RawValue>(&text).is_ok() => {
                    return Self::Message { text, partial };
                }
                Ok(text) => {
                    return Self::Line {
                        bytes: text.into_bytes(),
                        partial,
                    };
                }
                Err(error) => {
                    return Self::Line {
                        bytes: error.into_bytes(),
                        partial,
                    };
                }
            }
        }
        Self::Line { bytes, partial }
    }

    /// What a line of the wire holds; `None` where the event is no line of the wire.
    pub fn reading(&self) -> Option<Reading> {
        match self {
            Self::Message { text, .. } => Some(Reading::of_text(text)),
            Self::Line { bytes, .. } => Some(Reading::of(bytes)),
            _ => None,
        }
    }

    /// The bytes of a line of the wire, without the newline.
    pub fn wire_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Message { text, .. } => Some(text.as_bytes()),
            Self::Line { bytes, .. } => Some(bytes),
            _ => None,
        }
    }
}

impl Body {
    /// Appends the members that tell it.
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Message { text, partial } => {
                put(out, "message", text);
                if *partial {
                    put(out, "partial", "true");
                }
            }
            Self::Line { bytes, partial } => {
                match std::str::from_utf8(bytes) {
                    Ok(text) => put_text(out, "line", text),
                    Err(_) => put_text(out, "base64", &BASE64.encode(bytes)),
                }
                if *partial {
                    put(out, "partial", "true");
                }
            }
            Self::Stderr(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => put_text(out, "stderr", text),
                Err(_) => {
                    put_text(out, "stderr", &String::from_utf8_lossy(bytes));
                    put_text(out, "base64", &BASE64.encode(bytes));
                }
            },
            Self::Eof => put(out, "eof", "true"),
            Self::Signal(signal) => put(out, "signal", &signal.to_string()),
            Self::Exit(Exit::Code(code)) => put(out, "exit", &format!(r#"{{"code":{code}}}"#)),
            Self::Exit(Exit::Signal(signal)) => {
                put(out, "exit", &format!(r#"{{"signal":{signal}}}"#));
            }
            Self::Model(exchange) => exchange.put(out),
            Self::Unanswered { id, seconds } => {
                put(out, "unanswered", &id.to_string());
                put(out, "seconds", &format!("{seconds:.3}"));
            }
            Self::Left(processes) => put(out, "left", &Value::from(processes.clone()).to_string()),
            Self::Other(value) => {
                if let Value::Object(members) = value {
                    for (name, value) in members {
                        put(out, name, &value.to_string());
                    }
                }
            }
        }
    }
}

/// The members of an event's line, as they are read.
#[derive(Deserialize)]
struct Members {
    at: f64,
    from: Party,
    message: Option<Box<RawValue>>,
    line: Option<String>,
    stderr: Option<String>,
    base64: Option<String>,
    eof: Option<bool>,
    signal: Option<i32>,
    exit: Option<Exit>,
    exchange: Option<u64>,
    path: Option<String>,
    request: Option<Box<RawValue>>,
    side: Option<String>,
    status: Option<u16>,
    chunk: Option<String>,
    unreadable: Option<String>,
    end: Option<ExchangeEnd>,
    unanswered: Option<Value>,
    seconds: Option<f64>,
    left: Option<Vec<String>>,
    #[serde(default)]
    partial: bool,
    probe: Option<String>,
    #[serde(default)]
    redacted: bool,
}

impl Event {
    /// An event with neither probe mark nor redaction.
    pub fn new(at: f64, from: Party, body: Body) -> Self {
        Self {
            at,
            from,
            body,
            probe: None,
            redacted: false,
        }
    }

    /// The line of the trace file for this event, without its newline.
    pub fn to_line(&self) -> String {
        let mut line = Vec::new();
        self.write_line(&mut line);
        line.pop();
        // All that goes into a line is UTF-8.
        String::from_utf8(line).unwrap_or_default()
    }

    /// Appends the line of the trace file for this event, with its newline.
    pub fn write_line(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"at\":");
        put_seconds(out, self.at);
        out.extend_from_slice(b",\"from\":\"");
        out.extend_from_slice(self.from.word().as_bytes());
        out.push(b'"');
        self.body.put(out);
        if let Some(probe) = &self.probe {
            put_text(out, "probe", probe);
        }
        if self.redacted {
            put(out, "redacted", "true");
        }
        out.extend_from_slice(b"}\n");
    }

    /// Reads an event from its line.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the line.
    pub fn from_line(line: &str) -> Result<Self, String> {
        if let Some(event) = plain_message(line) {
            return Ok(event);
        }
        let members: Members =
            serde_json::from_str(line).map_err(|error| format!("no event of a trace: {error}"))?;
        let (at, from, redacted) = (members.at, members.from, members.redacted);
        let probe = members.probe.clone();
        let body = members.into_body(line)?;
        Ok(Self {
            at,
            from,
            body,
            probe,
            redacted,
        })
    }
}

/// The event of a line that tells of a message and nothing else, in the spelling of [`Event::to_line`]: by far the most.
fn plain_message(line: &str) -> Option<Event> {
    let (at, rest) = line.strip_prefix(r#"{"at":"#)?.split_once(',')?;
    let is_plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    if !at.bytes().all(is_plain) || !at.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let (from, rest) = if let Some(rest) = rest.strip_prefix(r#""from":"agent","message":"#) {
        (Party::Agent, rest)
    } else {
        let rest = rest.strip_prefix(r#""from":"client","message":"#)?;
        (Party::Client, rest)
    };
    let text = rest.strip_suffix('}')?;
    let is_message = text.starts_with('{')
        && text.ends_with('}')
        && serde_json::from_str::<&RawValue>(text).is_ok();
    if !is_message {
        return None;
    }
    let body = Body::Message {
        text: text.to_owned(),
        partial: false,
    };
    Some(Event::new(serde_json::from_str(at).ok()?, from, body))
}

impl Members {
    fn into_body(self, line: &str) -> Result<Body, String> {
        let partial = self.partial;
        let decoded = |text: &str| {
            BASE64
                .decode(text)
                .map_err(|error| format!("`base64` does not decode: {error}"))
        };
        Ok(match self {
            Self {
                message: Some(raw), ..
            } => Body::Message {
                text: Box::<str>::from(raw).into(),
                partial,
            },
            Self {
                line: Some(text), ..
            } => Body::Line {
                bytes: text.into_bytes(),
                partial,
            },
            Self {
                stderr: Some(text),
                base64,
                ..
            } => match base64 {
                Some(base64) => Body::Stderr(decoded(&base64)?),
                None => Body::Stderr(text.into_bytes()),
            },
            Self {
                exchange: Some(exchange),
                ..
            } => {
                let part = match self {
                    Self {
                        request: Some(raw),
                        path,
                        side,
                        ..
                    } => ExchangePart::Request {
                        path: path.unwrap_or_default(),
                        body: Box::<str>::from(raw).into(),
                        side,
                    },
                    Self {
                        status: Some(status),
                        ..
                    } => ExchangePart::Status(status),
                    Self {
                        chunk: Some(chunk), ..
                    } => ExchangePart::Chunk(chunk),
                    Self {
                        base64: Some(base64),
                        ..
                    } => ExchangePart::Bytes(decoded(&base64)?),
                    Self {
                        unreadable: Some(encoding),
                        ..
                    } => ExchangePart::Unreadable(encoding),
                    Self { end: Some(end), .. } => ExchangePart::End(end),
                    _ => return other(line),
                };
                Body::Model(Exchange { exchange, part })
            }
            Self {
                base64: Some(base64),
                ..
            } => Body::Line {
                bytes: decoded(&base64)?,
                partial,
            },
            Self {
                eof: Some(true), ..
            } => Body::Eof,
            Self {
                exit: Some(exit), ..
            } => Body::Exit(exit),
            Self {
                signal: Some(signal),
                ..
            } => Body::Signal(signal),
            Self {
                left: Some(left), ..
            } => Body::Left(left),
            Self {
                unanswered: Some(id),
                seconds,
                ..
            } => Body::Unanswered {
                id,
                seconds: seconds.unwrap_or(0.0),
            },
            _ => return other(line),
        })
    }
}

/// Keeps what this version of the format does not know.
fn other(line: &str) -> Result<Body, String> {
    let mut value: Value =
        serde_json::from_str(line).map_err(|error| format!("no event of a trace: {error}"))?;
    if let Value::Object(members) = &mut value {
        for known in ["at", "from", "probe", "redacted"] {
            members.shift_remove(known);
        }
    }
    Ok(Body::Other(value))
}

/// Appends a member with its value as JSON.
pub(super) fn put(out: &mut Vec<u8>, name: &str, json: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    out.extend_from_slice(json.as_bytes());
}

/// Appends a member whose value is this text.
pub(super) fn put_text(out: &mut Vec<u8>, name: &str, text: &str) {
    put(out, name, "");
    // Neither a text nor a vector gives an error.
    let _ = serde_json::to_writer(out, text);
}

/// Appends seconds with six decimals.
fn put_seconds(out: &mut Vec<u8>, seconds: f64) {
    const MICROS: f64 = 1e6;
    let micros = (seconds * MICROS).round();
    if !(0.0..1e15).contains(&micros) {
        let _ = write!(out, "{seconds:.6}");
        return;
    }
    let micros = micros as u64;
    let mut digits = [b'0'; 24];
    let mut rest = micros;
    let mut used = 0;
    for digit in digits.iter_mut().rev() {
        if used == 6 {
            *digit = b'.';
        } else {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        used += 1;
        if rest == 0 && used > 7 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len() - used..).unwrap_or_default());
}

#[cfg(test)]
mod tests;
