//! JSON Schemas of tools: following references, and filling what is required.

use serde_json::{Map, Value, json};

use super::{known, names};

/// How deep a schema is filled: a schema that holds itself several times would grow without end.
const DEEPEST: usize = 4;
/// How many references are followed to get to a schema.
const REFERENCES: usize = 8;
/// What a required text says where nothing else is known about it.
pub(super) const SENTENCE: &str = "A step of the task.";

/// The names of the members that must be there.
pub(super) fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Fills the required members that are still missing.
pub(super) fn fill(members: &mut Map<String, Value>, schema: &Value, root: &Value, depth: usize) {
    for name in required(schema) {
        if !members.contains_key(name) {
            let property = schema.get("properties").and_then(|all| all.get(name));
            let value = filled(property.unwrap_or(&Value::Null), root, name, depth + 1);
            members.insert(name.to_owned(), value);
        }
    }
}

/// A value that fits a schema, for a member of this name: what the schema gives (`const`, `default`, the first of
/// `enum`), null where it may be, else something harmless of its type.
pub(crate) fn filled(schema: &Value, root: &Value, name: &str, depth: usize) -> Value {
    let schema = resolved(schema, root);
    if depth > DEEPEST {
        return Value::Null;
    }
    if let Some(given) = ["const", "default"].iter().find_map(|key| schema.get(key)) {
        return given.clone();
    }
    if nullable(schema) {
        return Value::Null;
    }
    let first = |key: &str| schema.get(key).and_then(Value::as_array)?.first();
    if let Some(value) = first("enum") {
        return value.clone();
    }
    if let Some(branch) = ["anyOf", "oneOf", "allOf"]
        .iter()
        .find_map(|key| first(key))
    {
        return filled(branch, root, name, depth + 1);
    }
    let words = names::words(name);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    match kind_of(schema) {
        "boolean" => json!(known::TRUE_WHERE_NAMED.iter().any(|word| has(word))),
        "integer" | "number" => match schema.get("minimum") {
            Some(least) => least.clone(),
            None if known::TIMEOUT_WHERE_NAMED.iter().any(|word| has(word)) => {
                json!(timeout(schema, &words))
            }
            None if has("limit") || has("end") => json!(1000),
            None if has("line") || has("count") => json!(1),
            None => json!(0),
        },
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let item = schema.get("items").unwrap_or(&Value::Null);
            (0..least.min(8))
                .map(|_| filled(item, root, name, depth + 1))
                .collect()
        }
        "object" => {
            let mut members = Map::new();
            fill(&mut members, schema, root, depth);
            Value::Object(members)
        }
        "null" => Value::Null,
        _ => json!(SENTENCE),
    }
}

/// A minute, in the unit that the parameter speaks of.
fn timeout(schema: &Value, words: &[String]) -> u64 {
    let described = schema.get("description").and_then(Value::as_str);
    let milliseconds = words
        .iter()
        .any(|word| word == "ms" || word == "milliseconds")
        || described.is_some_and(|text| text.to_lowercase().contains("millisecond"));
    if milliseconds { 60_000 } else { 60 }
}

/// The type of a schema; the first that is not null where there are several, empty where there is none.
pub(super) fn kind_of(schema: &Value) -> &str {
    let branches = || {
        let branches = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key))?;
        let branches = branches.as_array()?.iter();
        branches
            .map(kind_of)
            .find(|kind| !matches!(*kind, "null" | ""))
    };
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ => branches().unwrap_or(""),
    }
}

fn nullable(schema: &Value) -> bool {
    let null = json!("null");
    let branches = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key));
    let in_branches = branches
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().any(|branch| branch.get("type") == Some(&null)));
    in_branches
        || match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.contains(&null),
            kind => kind == Some(&null),
        }
}

/// The schema that a local reference leads to, or the schema itself.
pub(super) fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..REFERENCES {
        let target = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| root.pointer(pointer));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// The members that a schema names; of one with branches, those of the first that names some.
pub(super) fn properties<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Map<String, Value>> {
    let own = resolved(schema, root);
    if let Some(properties) = own.get("properties").and_then(Value::as_object) {
        return Some(properties);
    }
    let branches = ["anyOf", "oneOf", "allOf"]
        .iter()
        .find_map(|key| own.get(key))?;
    branches.as_array()?.iter().find_map(|branch| {
        let branch = resolved(branch, root);
        branch.get("properties").and_then(Value::as_object)
    })
}

/// The branches of a schema that has no members of its own, where they are objects.
pub(super) fn branches(schema: &Value) -> Option<&Vec<Value>> {
    if schema.get("properties").is_some() {
        return None;
    }
    let branches = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key))?;
    let branches = branches.as_array()?;
    let object =
        |branch: &Value| branch.get("properties").is_some() || branch.get("$ref").is_some();
    branches.iter().any(object).then_some(branches)
}

/// The texts that a schema allows; empty where it does not list any.
pub(super) fn allowed(schema: &Value) -> Vec<&str> {
    let listed = schema.get("enum").and_then(Value::as_array);
    let listed = listed.into_iter().flatten();
    listed
        .chain(schema.get("const"))
        .filter_map(Value::as_str)
        .collect()
}

/// Whether a schema that lists its texts has this one, if it is a text.
pub(super) fn allows(schema: &Value, value: &Value) -> bool {
    let allowed = allowed(schema);
    allowed.is_empty() || value.as_str().is_none_or(|text| allowed.contains(&text))
}

/// What a schema says about itself, in lower case.
pub(super) fn description(schema: &Value) -> String {
    let said = schema.get("description").and_then(Value::as_str);
    said.unwrap_or_default().to_lowercase()
}
