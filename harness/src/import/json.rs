//! JSON as text: what of it is a message, and the text without white space between its tokens.

use serde_json::value::RawValue;

use crate::wire::{Message, Reading};

/// The members of an object, as text and in order; `None` where it is no object.
pub(super) fn members(text: &str) -> Option<Vec<(String, Box<RawValue>)>> {
    let object: indexmap::IndexMap<String, Box<RawValue>> = serde_json::from_str(text).ok()?;
    Some(object.into_iter().collect())
}

/// The string that a JSON value is.
pub(super) fn string(raw: &RawValue) -> Option<String> {
    raw.get()
        .starts_with('"')
        .then(|| serde_json::from_str(raw.get()).ok())
        .flatten()
}

/// The message of the protocol that a text is, if it is one.
pub(super) fn message(text: &str) -> Option<Message> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    match Reading::of_text(text) {
        Reading::Message(message) => Some(message),
        Reading::Odd(_) => None,
    }
}

/// The same JSON on one line: white space between tokens is left out where there are line breaks, and nothing else changes.
pub(super) fn on_one_line(text: &str) -> String {
    if !text.contains(['\n', '\r']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for character in text.chars() {
        if in_string {
            out.push(character);
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
        } else if !matches!(character, ' ' | '\t' | '\r' | '\n') {
            in_string = character == '"';
            out.push(character);
        }
    }
    out
}

/// Follows a value over the lines that it is spread on.
#[derive(Debug, Default)]
pub(super) struct Balance {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Balance {
    /// Takes more text, and says whether all brackets are closed behind it.
    pub(super) fn take(&mut self, text: &str) -> bool {
        for byte in text.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
        self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_between_tokens_goes() {
        let text = "{\n  \"a\": \"x \\\" y\",\r\n\t\"b\": [1.0, 1e2]\n}";
        assert_eq!(on_one_line(text), r#"{"a":"x \" y","b":[1.0,1e2]}"#);
        assert_eq!(on_one_line(r#"{ "a": 1 }"#), r#"{ "a": 1 }"#);
    }

    #[test]
    fn a_value_is_closed_where_its_last_bracket_is() {
        let mut balance = Balance::default();
        assert!(!balance.take("{"));
        assert!(!balance.take("\"a\": \"}\","));
        assert!(!balance.take("\"b\": [{}]"));
        assert!(balance.take("}"));
    }
}
