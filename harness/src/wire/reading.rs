//! What one line of the wire holds: a message, or what is odd about it.

use serde_json::Value;
use serde_json::value::RawValue;

use super::Message;

/// What one line (without its newline) turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A JSON-RPC message.
    Message(Message),
    /// Anything else.
    Odd(Oddity),
}

/// Why a line is no single JSON-RPC message that can be looked into.
#[derive(Clone, Debug, PartialEq)]
pub enum Oddity {
    /// Nothing, or white space alone.
    Blank,
    /// Not UTF-8; `at` is the offset of the first wrong byte.
    NotUtf8 {
        /// Offset of the first byte that is no UTF-8.
        at: usize,
    },
    /// Not JSON; `column` counts bytes from 1.
    NotJson {
        /// What the parser says.
        reason: String,
        /// Where it says so, in bytes from 1.
        column: usize,
    },
    /// JSON that ends too early: a message that was cut or spread over lines.
    Incomplete,
    /// Two or more JSON values on the line.
    Several,
    /// A JSON value that is neither object nor array, by the name of its type.
    Scalar(&'static str),
    /// An array, which version 1 does not allow and version 2 does.
    Batch(Vec<Value>),
    /// An object without the members of a request, notification or response.
    NoMessage(Value),
    /// Legal JSON that many parsers, this one too, do not take (deep nesting, a number out of range).
    Unreadable {
        /// What the parser says.
        reason: String,
    },
}

impl Oddity {
    /// Whether a message may be in it that a more lenient reader would find.
    pub fn may_hold_messages(&self) -> bool {
        match self {
            Self::NotUtf8 { .. }
            | Self::Incomplete
            | Self::Several
            | Self::Batch(_)
            | Self::Unreadable { .. } => true,
            Self::NoMessage(value) => value.get("id").is_some(),
            Self::Blank | Self::NotJson { .. } | Self::Scalar(_) => false,
        }
    }
}

impl Reading {
    /// Reads one line.
    pub fn of(line: &[u8]) -> Self {
        match std::str::from_utf8(line) {
            Ok(text) => Self::of_text(text),
            Err(error) => Self::Odd(Oddity::NotUtf8 {
                at: error.valid_up_to(),
            }),
        }
    }

    /// Reads one line that is known to be UTF-8.
    pub fn of_text(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Odd(Oddity::Blank);
        }
        let value = match serde_json::from_str::<Value>(text) {
            Ok(value) => value,
            Err(error) => match second_try(text, &error) {
                Ok(value) => value,
                Err(oddity) => return Self::Odd(oddity),
            },
        };
        match value {
            Value::Object(members) => match Message::from_members(members) {
                Ok(message) => Self::Message(message),
                Err(members) => Self::Odd(Oddity::NoMessage(Value::Object(members))),
            },
            Value::Array(items) => Self::Odd(Oddity::Batch(items)),
            Value::Null => Self::Odd(Oddity::Scalar("null")),
            Value::Bool(_) => Self::Odd(Oddity::Scalar("a boolean")),
            Value::Number(_) => Self::Odd(Oddity::Scalar("a number")),
            Value::String(_) => Self::Odd(Oddity::Scalar("a string")),
        }
    }

    /// The message, if it is one.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::Message(message) => Some(message),
            Self::Odd(_) => None,
        }
    }
}

/// Tells apart what a parser refuses though it is legal JSON, and names the rest.
fn second_try(text: &str, error: &serde_json::Error) -> Result<Value, Oddity> {
    if serde_json::from_str::<&RawValue>(text.trim()).is_ok() {
        // Legal by the grammar. A lone surrogate escape is looked into with U+FFFD in its place.
        return serde_json::from_str(&without_lone_surrogates(text)).map_err(|_| {
            Oddity::Unreadable {
                reason: reason(error),
            }
        });
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    if let Some(Ok(first)) = values.next()
        && (matches!(values.next(), Some(Ok(_))) && is_structure(first))
    {
        return Err(Oddity::Several);
    }
    if error.is_eof() {
        return Err(Oddity::Incomplete);
    }
    Err(Oddity::NotJson {
        reason: reason(error),
        column: error.column(),
    })
}

/// Whether a raw value is an object or an array.
fn is_structure(raw: &RawValue) -> bool {
    raw.get().starts_with(['{', '['])
}

/// The parser's words without its position, which is given apart.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.find(" at line ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}

/// Replaces each `\uD800`–`\uDFFF` escape that is no half of a pair by `\uFFFD`.
fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\\') {
        let (before, tail) = rest.split_at(start);
        out.push_str(before);
        match escape(tail) {
            Some(high @ 0xD800..=0xDBFF) => {
                let next = tail.get(6..).unwrap_or("");
                if let Some(0xDC00..=0xDFFF) = escape(next) {
                    out.push_str(tail.get(..12).unwrap_or(tail));
                    rest = tail.get(12..).unwrap_or("");
                } else {
                    debug_assert!(high >= 0xD800);
                    out.push_str("\\uFFFD");
                    rest = next;
                }
            }
            Some(0xDC00..=0xDFFF) => {
                out.push_str("\\uFFFD");
                rest = tail.get(6..).unwrap_or("");
            }
            _ => {
                // Any other escape is two characters long as far as this is concerned.
                let mut characters = tail.chars();
                out.extend(characters.by_ref().take(2));
                rest = characters.as_str();
            }
        }
    }
    out.push_str(rest);
    out
}

/// The code unit of a `\uXXXX` escape at the start of `text`.
fn escape(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn odd(text: &str) -> Oddity {
        match Reading::of_text(text) {
            Reading::Odd(oddity) => oddity,
            Reading::Message(message) => unreachable!("{message:?}"),
        }
    }

    #[test]
    fn each_kind_of_line_is_told_apart() {
        assert_eq!(odd(" \r"), Oddity::Blank);
        assert_eq!(odd("42"), Oddity::Scalar("a number"));
        assert_eq!(odd(r#"{"jsonrpc":"2.0","id":1"#), Oddity::Incomplete);
        assert_eq!(
            odd(r#"{"id":1,"result":1}{"id":2,"result":1}"#),
            Oddity::Several
        );
        assert!(matches!(
            odd("Starting agent…"),
            Oddity::NotJson { column: 1, .. }
        ));
        assert!(matches!(odd("[]"), Oddity::Batch(items) if items.is_empty()));
        assert!(matches!(odd("{}"), Oddity::NoMessage(_)));
        assert!(matches!(
            Reading::of(b"\xff{}"),
            Reading::Odd(Oddity::NotUtf8 { at: 0 })
        ));
    }

    #[test]
    fn a_number_followed_by_words_is_text_and_not_two_values() {
        assert!(matches!(odd("12 agents ready"), Oddity::NotJson { .. }));
    }

    #[test]
    fn a_lone_surrogate_is_legal_json_and_can_be_looked_into() {
        let reading = Reading::of_text(r#"{"id":1,"result":{"a":"x\ud800y\\ud800\ud83d\ude00"}}"#);
        let message = reading.message().unwrap();
        assert_eq!(message.result().unwrap()["a"], "x\u{fffd}y\\ud800😀");
    }

    #[test]
    fn deep_nesting_is_legal_json_that_cannot_be_looked_into() {
        let text = format!(
            r#"{{"id":1,"result":{}{}}}"#,
            "[".repeat(300),
            "]".repeat(300)
        );
        assert!(matches!(odd(&text), Oddity::Unreadable { .. }));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Reading::of(&bytes);
        }

        #[test]
        fn no_escapes_panic(text in r#"\{"a":"(\\u[dD][89a-fA-F][0-9a-f]{2}|\\\\|x|é){0,6}"\}"#) {
            prop_assert!(matches!(Reading::of_text(&text), Reading::Odd(Oddity::NoMessage(_))));
        }
    }
}
