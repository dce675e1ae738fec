//! A call by its meaning becomes a call of a tool that the agent offers, by the tool's name and schema.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::asked::Tool;
use super::known::{self, Kind, Part};
use super::script::Call;

/// How deep a schema is filled: a schema that holds itself several times would grow without end.
const DEEPEST: usize = 4;
/// How many references are followed to get to a schema.
const REFERENCES: usize = 8;
/// What a required text says where nothing else is known about it.
const SENTENCE: &str = "A step of the task.";

/// A call of one of the agent's tools.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mapped {
    /// The tool.
    pub(crate) name: String,
    /// Its arguments, as JSON.
    pub(crate) arguments: String,
}

/// Maps a call to a tool that is offered.
///
/// A call with `tool` is sent as it is, offered or not, with `{cwd}` in its strings replaced. A call with `kind` goes
/// to the first offered tool of the table of known tools whose parameters can carry it, then to one whose name shares
/// a word with the kind.
///
/// # Errors
/// One sentence that says what was wanted and why it could not be.
pub(crate) fn mapped(
    call: &Call,
    offered: &[Tool],
    folder: Option<&Path>,
) -> Result<Mapped, String> {
    if let Some(name) = &call.tool {
        let arguments = with_folder(&Value::Object(call.arguments.clone()), folder);
        return Ok(Mapped {
            name: name.clone(),
            arguments: arguments.to_string(),
        });
    }
    if let Some(problem) = call.problem() {
        return Err(problem);
    }
    let wanted = call.kind.as_deref().unwrap_or_default();
    let Some(kind) = known::KINDS.iter().find(|kind| kind.name == wanted) else {
        return Err(format!("a call of kind `{wanted}`, which is not known"));
    };
    let listed = kind
        .tools
        .iter()
        .flat_map(|name| offered.iter().filter(|tool| known::same(&tool.name, name)));
    let alike = offered.iter().filter(|tool| {
        let words = known::words(&tool.name);
        kind.words
            .iter()
            .any(|word| words.iter().any(|own| own == word))
    });
    for tool in listed.chain(alike) {
        if let Some(arguments) = arguments(call, kind, tool, folder) {
            return Ok(Mapped {
                name: tool.name.clone(),
                arguments: arguments.to_string(),
            });
        }
    }
    Err(match offered.is_empty() {
        true => format!("a call of kind `{wanted}`, but the agent offered no tools"),
        false => format!("a call of kind `{wanted}`, but no tool that was offered takes one"),
    })
}

/// The arguments that carry the call to this tool; `None` where its parameters cannot.
fn arguments(call: &Call, kind: &Kind, tool: &Tool, folder: Option<&Path>) -> Option<Value> {
    let schema = resolved(&tool.schema, &tool.schema);
    let none = Map::new();
    let properties = match schema.get("properties") {
        Some(Value::Object(properties)) => properties,
        _ => &none,
    };
    let operation = operation(kind, schema, properties, &tool.schema);
    kind.forms.iter().find_map(|form| {
        let mut arguments = Map::new();
        if let Some((name, value)) = &operation {
            arguments.insert(name.clone(), json!(value));
        }
        for part in *form {
            let name = parameter(*part, properties, &arguments)?;
            let own = properties.get(&name).unwrap_or(&Value::Null);
            let own = resolved(own, &tool.schema);
            let value = carried(*part, call, &name, own, tool, folder)?;
            arguments.insert(name, value);
        }
        fill(&mut arguments, schema, &tool.schema, 0);
        Some(Value::Object(arguments))
    })
}

/// The parameter for a part: by the table; without any schema, the usual name.
fn parameter(
    part: Part,
    properties: &Map<String, Value>,
    taken: &Map<String, Value>,
) -> Option<String> {
    let names = known::parameters(part);
    if properties.is_empty() {
        return names.first().map(|name| (*name).to_owned());
    }
    names.iter().find_map(|name| {
        properties
            .keys()
            .find(|own| known::same(own, name) && !taken.contains_key(*own))
            .cloned()
    })
}

/// The parameter and value that tell a tool of many operations which one is meant.
fn operation(
    kind: &Kind,
    schema: &Value,
    properties: &Map<String, Value>,
    root: &Value,
) -> Option<(String, &'static str)> {
    let (_, operations) = known::OPERATIONS.iter().find(|row| row.0 == kind.name)?;
    let required = required(schema);
    known::OPERATION_PARAMETERS.iter().find_map(|name| {
        let (own, property) = properties.iter().find(|(own, _)| known::same(own, name))?;
        let allowed = resolved(property, root).get("enum")?.as_array()?;
        let value = operations
            .iter()
            .find(|value| allowed.contains(&json!(value)))?;
        required
            .contains(&own.as_str())
            .then(|| (own.clone(), *value))
    })
}

/// What goes into the parameter of a part, in the type that it wants.
fn carried(
    part: Part,
    call: &Call,
    name: &str,
    property: &Value,
    tool: &Tool,
    folder: Option<&Path>,
) -> Option<Value> {
    let content = call.content.as_deref().unwrap_or_default();
    let path = || {
        let path = call.path.as_deref()?;
        Some(located(path, name, property, tool, folder))
    };
    let text = match part {
        Part::Command => in_folder(call.command.as_deref()?, folder),
        Part::Path => path()?,
        Part::Content | Part::New => content.to_owned(),
        Part::Old => String::new(),
        Part::Patch => added(&path()?, content),
    };
    match kind_of(property) {
        "string" | "" => Some(json!(text)),
        "array" => {
            let strings = property
                .get("items")
                .is_none_or(|items| matches!(kind_of(items), "string" | ""));
            match (strings, part) {
                // A list is the words of a program, or commands one by one.
                (true, Part::Command) if known::same(name, "commands") => Some(json!([text])),
                (true, Part::Command) => Some(json!(["bash", "-lc", text])),
                (true, Part::Path) => Some(json!([text])),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A patch in the usual form that makes a file of this content.
fn added(path: &str, content: &str) -> String {
    let mut patch = format!("*** Begin Patch\n*** Add File: {path}\n");
    for line in content.lines() {
        patch.push('+');
        patch.push_str(line);
        patch.push('\n');
    }
    patch.push_str("*** End Patch\n");
    patch
}

/// A path as the tool wants it: absolute under the session's folder where its parameter says so.
fn located(path: &str, name: &str, property: &Value, tool: &Tool, folder: Option<&Path>) -> String {
    let path = in_folder(path, folder);
    let described = property.get("description").and_then(Value::as_str);
    let says = |text: &str| text.to_lowercase().contains("absolute");
    let absolute = known::words(name)
        .iter()
        .any(|word| word.starts_with("abs"))
        || name == "filePath"
        || described.is_some_and(says)
        || (described.is_none() && says(&tool.description));
    match folder {
        // `join` leaves a path that is absolute already as it is.
        Some(folder) if absolute => folder.join(path).to_string_lossy().into_owned(),
        _ => path,
    }
}

fn in_folder(text: &str, folder: Option<&Path>) -> String {
    match folder {
        Some(folder) => text.replace("{cwd}", &folder.to_string_lossy()),
        None => text.to_owned(),
    }
}

/// The same value with `{cwd}` in its strings replaced.
fn with_folder(value: &Value, folder: Option<&Path>) -> Value {
    match value {
        Value::String(text) => Value::String(in_folder(text, folder)),
        Value::Array(items) => items.iter().map(|item| with_folder(item, folder)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), with_folder(value, folder)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Fills the required members that are still missing.
fn fill(members: &mut Map<String, Value>, schema: &Value, root: &Value, depth: usize) {
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
    let words = known::words(name);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    match kind_of(schema) {
        "boolean" => json!(known::TRUE_WHERE_NAMED.iter().any(|word| has(word))),
        "integer" | "number" => match schema.get("minimum") {
            Some(least) => least.clone(),
            None if has("timeout") => json!(timeout(schema, &words)),
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
fn kind_of(schema: &Value) -> &str {
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
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
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

#[cfg(test)]
mod tests;
