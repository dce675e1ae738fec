//! Text of an agent as it is shown in a message: short, on one line, and without control characters.

use serde_json::Value;

use crate::wire::Id;

/// Quoted text is cut after so many characters.
const QUOTED_AT_MOST: usize = 80;

/// The text in quotation marks, escaped as in JSON (so are marks that change the direction of writing, and the byte order
/// mark) and cut where it is long.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(4 * QUOTED_AT_MOST) + 2);
    out.push('"');
    let mut characters = text.chars();
    for character in characters.by_ref().take(QUOTED_AT_MOST) {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            hidden if hides(hidden) => out.push_str(&format!("\\u{:04x}", u32::from(hidden))),
            other => out.push(other),
        }
    }
    out.push('"');
    if characters.next().is_some() {
        out.push('…');
    }
    out
}

/// An id as it stands in JSON, so that a number is told from a string; cut where it is long.
pub(super) fn quote_id(id: &Id) -> String {
    match id {
        Id::Text(text) => quote(text),
        Id::Null | Id::Integer(_) => id.to_string(),
        Id::Illegal(json) => json
            .chars()
            .take(QUOTED_AT_MOST)
            .filter(|it| !hides(*it))
            .collect(),
    }
}

/// A value as it stands in JSON, cut where it is long: what is a text is quoted once.
pub(crate) fn quote_json(value: &Value) -> String {
    if let Value::String(text) = value {
        return quote(text);
    }
    let json = value.to_string();
    let mut out = String::new();
    let mut characters = json.chars();
    for character in characters.by_ref().take(2 * QUOTED_AT_MOST) {
        if hides(character) {
            out.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            out.push(character);
        }
    }
    if characters.next().is_some() {
        out.push('…');
    }
    out
}

/// The bytes as text, with U+FFFD for what is no UTF-8.
pub(super) fn quote_bytes(bytes: &[u8]) -> String {
    // A character has at most four bytes; one more shows whether something was cut off.
    let start = bytes.get(..4 * (QUOTED_AT_MOST + 1)).unwrap_or(bytes);
    quote(&String::from_utf8_lossy(start))
}

fn hides(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_cut() {
        assert_eq!(quote("a\u{1b}[31m\"b\\\n"), r#""a\u001b[31m\"b\\\n""#);
        assert_eq!(quote("\u{feff}x\u{202e}"), r#""\ufeffx\u202e""#);
        let long = quote(&"é".repeat(81));
        assert_eq!(long.chars().count(), QUOTED_AT_MOST + 3);
        assert!(long.ends_with("é\"…"));
        assert!(!quote(&"é".repeat(80)).ends_with('…'));
    }

    #[test]
    fn a_value_is_quoted_once() {
        assert_eq!(quote_json(&"a\"b".into()), r#""a\"b""#);
        assert_eq!(
            quote_json(&serde_json::json!({"code":-32602,"message":"no\n\u{202e}"})),
            r#"{"code":-32602,"message":"no\n\u202e"}"#
        );
        assert!(quote_json(&vec![1; 100].into()).ends_with('…'));
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_far_as_they_are() {
        assert_eq!(quote_bytes(b"a\xffb"), "\"a\u{fffd}b\"");
        assert!(quote_bytes(&[b'x'; 1000]).ends_with("\"…"));
    }
}
