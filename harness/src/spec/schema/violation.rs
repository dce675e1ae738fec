//! A fault of a payload, and the words it is told in.

use serde_json::Value;

/// Quoted text is cut after so many characters.
const QUOTED_AT_MOST: usize = 60;

/// One way in which a payload breaks its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the payload; a missing member points at the object that lacks it.
    pub path: String,
    /// What was expected and what was found, as one lowercase sentence without a full stop.
    pub message: String,
    /// The schema keyword that is broken; `discriminator` for an unknown form of a union.
    pub keyword: String,
    /// Whether readers of the protocol drop the faulty part in silence instead of refusing the
    /// message: it stands below a mark `x-deserialize-default-on-error` or
    /// `x-deserialize-skip-invalid-items`, or is a null below `x-deserialize-default-on-null`.
    pub silent: bool,
    /// Where the form is known from, if the fault is only that the stable schema does not have it yet.
    pub later: Option<String>,
}

/// `the string "abc"`, `the number 5`, `null`, `an object`.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// The text in quotation marks, escaped as in JSON and cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_AT_MOST) {
        Some((end, _)) => format!("{}…", Value::from(text.get(..end).unwrap_or_default())),
        None => Value::from(text).to_string(),
    }
}

/// The name of a schema type with its article.
pub(super) fn with_article(name: &str) -> &str {
    match name {
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "a boolean",
        "array" => "an array",
        "object" => "an object",
        other => other,
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn alternatives<Item: AsRef<str>>(items: &[Item]) -> String {
    match items {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", first.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_text_is_cut_and_control_characters_are_escaped() {
        assert_eq!(quoted("a\u{1b}[0m\"b"), r#""a\u001b[0m\"b""#);
        let long = quoted(&"é".repeat(61));
        assert_eq!(long.chars().count(), QUOTED_AT_MOST + 3);
        assert!(long.ends_with("\"…"));
        assert_eq!(found(&json!({"secret": "x"})), "an object");
    }

    #[test]
    fn alternatives_read_as_a_list() {
        assert_eq!(alternatives(&["a"]), "a");
        assert_eq!(alternatives(&["a", "b"]), "a or b");
        assert_eq!(alternatives(&["a", "b", "c"]), "a, b or c");
    }
}
