//! The form of a message: all that its validity depends on. Most messages have the form of one before.

use std::hash::{BuildHasher as _, Hash, Hasher};
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::Payload;
use crate::hash::HashSet;
use crate::spec::Schema;

/// So many valid forms are remembered.
const REMEMBERED: usize = 10_000;

/// Members whose content may be anything, as far as the schema goes.
const FREE: [&str; 3] = ["_meta", "rawInput", "rawOutput"];

/// Keywords of a schema that look at the text of a string, beyond whether it is empty.
const OF_TEXT: [&str; 5] = ["const", "enum", "format", "pattern", "maxLength"];

/// The forms that were found to be valid.
#[derive(Debug, Default)]
pub(super) struct Forms {
    valid: HashSet<u64>,
}

impl Forms {
    pub(super) fn is_valid(&self, form: u64) -> bool {
        self.valid.contains(&form)
    }

    pub(super) fn remember(&mut self, form: u64) {
        if self.valid.len() < REMEMBERED {
            self.valid.insert(form);
        }
    }
}

/// A number for the form of a payload: names, types and numbers, and those texts that the schema looks at.
pub(super) fn form(payload: &Payload<'_>) -> u64 {
    // Equal forms are one within this process; the numbers mean nothing outside of it.
    static STATE: LazyLock<foldhash::quality::RandomState> = LazyLock::new(Default::default);
    let mut hasher = STATE.build_hasher();
    payload.definition.hash(&mut hasher);
    if let Some(value) = payload.value {
        hash(value, "", &mut hasher);
    }
    hasher.finish()
}

/// `name` is that of the member that the value is in.
fn hash(value: &Value, name: &str, hasher: &mut impl Hasher) {
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(_) => hasher.write_u8(1),
        Value::Number(number) => {
            hasher.write_u8(2);
            number.hash(hasher);
        }
        Value::String(text) => {
            hasher.write_u8(if text.is_empty() { 6 } else { 3 });
            if is_looked_at(name) {
                text.hash(hasher);
            }
        }
        Value::Array(items) => {
            hasher.write_u8(4);
            hasher.write_usize(items.len());
            for item in items {
                hash(item, name, hasher);
            }
        }
        Value::Object(members) => {
            hasher.write_u8(5);
            hasher.write_usize(members.len());
            for (name, value) in members {
                name.hash(hasher);
                if FREE.contains(&name.as_str()) {
                    hasher.write_u8(kind(value));
                } else {
                    hash(value, name, hasher);
                }
            }
        }
    }
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// Whether the schema looks at the text of members with this name, in any type.
fn is_looked_at(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let schema = Schema::v1();
        let mut names = HashSet::default();
        for (_, content) in schema.definitions() {
            gather(schema, content, &mut names);
        }
        names
    });
    NAMES.contains(name)
}

/// Gathers the names of members whose text is looked at.
fn gather(schema: &Schema, content: &Value, names: &mut HashSet<String>) {
    match content {
        Value::Object(members) => {
            if let Some(properties) = members.get("properties").and_then(Value::as_object) {
                for (name, content) in properties {
                    if looks(schema, content, &mut Vec::new()) {
                        names.insert(name.clone());
                    }
                }
            }
            members
                .values()
                .for_each(|inner| gather(schema, inner, names));
        }
        Value::Array(items) => items.iter().for_each(|item| gather(schema, item, names)),
        _ => {}
    }
}

/// Whether a schema looks at the text of a string that it is applied to, itself or through what it refers to, or at that
/// of the items of an array.
fn looks<'a>(schema: &'a Schema, content: &'a Value, on_the_way: &mut Vec<&'a str>) -> bool {
    let Some(members) = content.as_object() else {
        return false;
    };
    let length = members.get("minLength").and_then(Value::as_u64);
    let at_text = OF_TEXT.iter().any(|keyword| members.contains_key(*keyword));
    if (at_text || length.is_some_and(|least| least > 1)) && !is_of_numbers(members) {
        return true;
    }
    if let Some(name) = members
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.rsplit('/').next())
        && !on_the_way.contains(&name)
        && let Some(definition) = schema.definition(name)
    {
        on_the_way.push(name);
        if looks(schema, definition, on_the_way) {
            return true;
        }
    }
    ["anyOf", "oneOf", "allOf", "items", "additionalProperties"]
        .iter()
        .filter_map(|keyword| members.get(*keyword))
        .any(|inner| match inner {
            Value::Array(list) => list.iter().any(|inner| looks(schema, inner, on_the_way)),
            inner => looks(schema, inner, on_the_way),
        })
}

/// Whether a schema with a `format` is one of numbers, where the format is a range.
fn is_of_numbers(members: &Map<String, Value>) -> bool {
    let is = |kind: &str| matches!(kind, "integer" | "number" | "null");
    match members.get("type") {
        Some(Value::String(kind)) => is(kind),
        Some(Value::Array(kinds)) => kinds.iter().all(|kind| kind.as_str().is_some_and(is)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_schema_looks_at_tags_and_closed_lists_and_not_at_what_people_read() {
        for name in [
            "sessionUpdate",
            "type",
            "status",
            "kind",
            "stopReason",
            "audience",
            "priority",
        ] {
            assert!(is_looked_at(name), "{name}");
        }
        for name in [
            "text",
            "title",
            "sessionId",
            "toolCallId",
            "path",
            "messageId",
            "content",
        ] {
            assert!(!is_looked_at(name), "{name}");
        }
    }

    #[test]
    fn a_form_changes_with_all_that_validity_depends_on() {
        let form = |value: Value| {
            form(&Payload {
                method: "session/update",
                member: "/params",
                definition: "SessionNotification",
                value: Some(&value),
            })
        };
        let one = |text: &str, status: &str, line: Value, extra: Value| {
            form(
                json!({"sessionId": text, "update": {"sessionUpdate": "tool_call_update", "toolCallId": text,
                "status": status, "locations": [{"path": text, "line": line}], "_meta": extra}}),
            )
        };
        let same = one("a", "failed", json!(1), json!({}));
        assert_eq!(same, one("b", "failed", json!(1), json!({"x": 1})));
        assert_ne!(same, one("a", "done", json!(1), json!({})));
        assert_ne!(same, one("a", "failed", json!(-1), json!({})));
        assert_ne!(same, one("a", "failed", json!("1"), json!({})));
        assert_ne!(same, one("a", "failed", json!(1), json!(1)));
    }
}
