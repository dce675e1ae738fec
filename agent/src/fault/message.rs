//! Changes to a message as JSON.

use serde_json::{Map, Value};

/// Gives the member at a JSON pointer a value; a list grows by one at its end, which is `-` too.
/// Nothing happens where the pointer leads nowhere.
pub(super) fn set(message: &mut Value, pointer: &str, value: Value) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return;
    };
    match message.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.insert(name.to_owned(), value);
        }
        Some(Value::Array(items)) if name == "-" => items.push(value),
        Some(Value::Array(items)) => match name.parse::<usize>() {
            Ok(at) if at == items.len() => items.push(value),
            Ok(at) => {
                if let Some(item) = items.get_mut(at) {
                    *item = value;
                }
            }
            Err(_) => {}
        },
        _ => {}
    }
}

/// Takes the member at a JSON pointer out.
pub(super) fn remove(message: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return;
    };
    match message.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.shift_remove(name);
        }
        Some(Value::Array(items)) => {
            if let Ok(at) = name.parse::<usize>()
                && at < items.len()
            {
                items.remove(at);
            }
        }
        _ => {}
    }
}

/// Turns the members of all objects round.
pub(super) fn reversed(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members.into_iter().collect();
            let turned = members.into_iter().rev();
            Value::Object(
                turned
                    .map(|(name, value)| (name, reversed(value)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(reversed).collect()),
        other => other,
    }
}

/// Puts one text in the place of another in every string.
pub(super) fn replace(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text.contains(from) => *text = text.replace(from, to),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, from, to)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| replace(member, from, to)),
        _ => {}
    }
}

/// JSON with an escape for each character outside ASCII.
pub(super) fn escaped(json: &str) -> String {
    let mut units = [0; 2];
    json.chars()
        .map(|c| match c {
            ' '..='~' => c.to_string(),
            _ => c
                .encode_utf16(&mut units)
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_are_set_and_taken_out() {
        let mut message = json!({"a": {"b": [1]}});
        set(&mut message, "/a/c", json!(null));
        set(&mut message, "/a/b/1", json!(2));
        set(&mut message, "/a/b/-", json!(3));
        set(&mut message, "/x/y", json!(4));
        assert_eq!(message, json!({"a": {"b": [1, 2, 3], "c": null}}));
        remove(&mut message, "/a/b/0");
        remove(&mut message, "/a/b/1");
        remove(&mut message, "/a/c");
        remove(&mut message, "/a/d/e");
        assert_eq!(message, json!({"a": {"b": [2]}}));
    }

    #[test]
    fn what_is_written_otherwise_means_the_same() {
        let message = json!({"a": 1, "b": [{"c": "é😀", "d": null}]});
        let turned = reversed(message.clone());
        assert_eq!(turned, message);
        assert_eq!(turned.to_string(), r#"{"b":[{"d":null,"c":"é😀"}],"a":1}"#);
        let escaped = escaped(&message.to_string());
        assert!(escaped.is_ascii());
        let read: Value = serde_json::from_str(&escaped).unwrap();
        assert_eq!(read, message);
    }
}
