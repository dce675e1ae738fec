//! What the bodies of all interfaces have in common.

use serde_json::Value;

use super::MODEL;

/// The JSON object of a request.
///
/// # Errors
/// A sentence that says what it is in place of one.
pub(super) fn object(body: &str) -> Result<Value, String> {
    let request: Value = serde_json::from_str(body)
        .map_err(|error| format!("The body of the request is no JSON: {error}."))?;
    match request.is_object() {
        true => Ok(request),
        false => Err("The body of the request is no JSON object.".to_owned()),
    }
}

/// The model that a request names, or a name for it where it names none.
pub(super) fn model(request: &Value) -> String {
    let model = request.get("model").and_then(Value::as_str);
    model.unwrap_or(MODEL).to_owned()
}

/// The elements of a member; none where it is no list.
pub(super) fn list<'a>(value: &'a Value, member: &str) -> impl Iterator<Item = &'a Value> {
    let list = value.get(member).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// The string in a member; empty where there is none.
pub(super) fn string(value: &Value, member: &str) -> String {
    let string = value.get(member).and_then(Value::as_str);
    string.unwrap_or_default().to_owned()
}

/// The text of a content: a string, or the text parts of a list.
pub(super) fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// The JSON values of a reply: one that is whole, each event of a stream, or each element of a list.
pub(in crate::model) fn parts(reply: &str) -> Vec<Value> {
    let trimmed = reply.trim_start();
    if trimmed.starts_with('{') {
        return serde_json::from_str(trimmed).into_iter().collect();
    }
    if let Some(mut rest) = trimmed.strip_prefix('[') {
        // A list that comes element by element, and perhaps not to its end.
        let mut values = Vec::new();
        loop {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter();
            let Some(Ok(value)) = stream.next() else {
                return values;
            };
            values.push(value);
            rest = rest.get(stream.byte_offset()..).unwrap_or_default();
            rest = rest.trim_start().strip_prefix(',').unwrap_or_default();
        }
    }
    let data = |line: &str| {
        let data = line.strip_prefix("data:")?;
        serde_json::from_str(data.trim()).ok()
    };
    reply.lines().filter_map(data).collect()
}

/// An event of a stream that has data alone.
pub(super) fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// An event of a stream that has a name too.
pub(super) fn named_event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// Spells JSON in both ways, by turns: every second text has escapes for all characters beyond ASCII. Both are the same
/// JSON, and real servers differ.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    written: usize,
}

impl Spelling {
    /// The next text of JSON.
    pub(super) fn of(&mut self, json: &Value) -> String {
        self.written += 1;
        let text = json.to_string();
        match self.written % 2 {
            0 => ascii(&text),
            _ => text,
        }
    }
}

/// The same JSON with every character beyond ASCII as an escape, as a surrogate pair where it needs one.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reply_has_parts_in_each_of_its_forms() {
        let numbers = |reply: &str| -> Vec<i64> {
            let parts = parts(reply).into_iter();
            parts.filter_map(|part| part["n"].as_i64()).collect()
        };
        assert_eq!(numbers(" {\"n\":1}"), [1]);
        assert_eq!(
            numbers("event: x\ndata: {\"n\":1}\n\ndata:{\"n\":2}\n\ndata: [DONE]\n\n"),
            [1, 2]
        );
        assert_eq!(numbers("[{\"n\":1}\n,\r\n{\"n\":2}]\n"), [1, 2]);
        assert_eq!(numbers("[{\"n\":1},{\"n\":"), [1]);
        assert!(numbers("{\"n\":").is_empty());
    }

    proptest! {
        #[test]
        fn escapes_spell_the_same_text(text: String) {
            let json = Value::String(text).to_string();
            let escaped = ascii(&json);
            prop_assert!(escaped.is_ascii());
            prop_assert_eq!(
                serde_json::from_str::<Value>(&escaped).unwrap(),
                serde_json::from_str::<Value>(&json).unwrap()
            );
        }
    }
}
