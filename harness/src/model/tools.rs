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
mod tests {
    use super::*;

    fn tool(name: &str, parameters: Value) -> Tool {
        let names = parameters.as_object().unwrap().keys().cloned();
        Tool {
            name: name.into(),
            description: String::new(),
            schema: json!({
                "type": "object",
                "required": names.collect::<Vec<_>>(),
                "properties": parameters,
            }),
        }
    }

    fn call(toml: &str) -> Call {
        toml::from_str(toml).unwrap()
    }

    fn arguments_of(call_toml: &str, tools: &[Tool]) -> (String, Value) {
        let folder = Path::new("/work space/s");
        let mapped = mapped(&call(call_toml), tools, Some(folder)).unwrap();
        (
            mapped.name,
            serde_json::from_str(&mapped.arguments).unwrap(),
        )
    }

    const EXECUTE: &str = "kind = \"execute\"\ncommand = \"touch x\"";
    const READ: &str = "kind = \"read\"\npath = \"a/b.txt\"";
    const EDIT: &str = "kind = \"edit\"\npath = \"b.txt\"\ncontent = \"one\\ntwo\\n\"";

    #[test]
    fn commands_find_their_tool_and_required_parameters_are_filled() {
        let cases = [
            (
                tool(
                    "bash",
                    json!({"command": {"type": "string"}, "description": {"type": "string"},
                    "timeout": {"type": "integer", "description": "in milliseconds"}}),
                ),
                json!({"command": "touch x", "description": SENTENCE, "timeout": 60000}),
            ),
            (
                tool(
                    "run_shell_command",
                    json!({"command": {"type": "string"}, "is_background": {"type": "boolean"}}),
                ),
                json!({"command": "touch x", "is_background": false}),
            ),
            (
                tool(
                    "execute_command",
                    json!({"command": {"type": "string"}, "requires_approval": {"type": "boolean"}}),
                ),
                json!({"command": "touch x", "requires_approval": true}),
            ),
            (
                tool(
                    "shell",
                    json!({"command": {"type": "array", "items": {"type": "string"}},
                    "workdir": {"type": ["string", "null"]}}),
                ),
                json!({"command": ["bash", "-lc", "touch x"], "workdir": null}),
            ),
            (
                tool(
                    "mcp__dev__Terminal",
                    json!({"cmd": {"anyOf": [{"type": "string"}, {"type": "null"}]}}),
                ),
                json!({"cmd": "touch x"}),
            ),
            (
                tool(
                    "run_commands",
                    json!({"commands": {"type": "array", "items": {"type": "string"}}}),
                ),
                json!({"commands": ["touch x"]}),
            ),
        ];
        for (tool, wanted) in cases {
            let name = tool.name.clone();
            let other = super::tests::tool("read_file", json!({"path": {"type": "string"}}));
            assert_eq!(arguments_of(EXECUTE, &[other, tool]), (name, wanted));
        }
    }

    #[test]
    fn a_path_is_absolute_where_the_parameter_says_so() {
        let described = json!({"path": {"type": "string", "description": "The absolute path"}});
        for (parameters, wanted) in [
            (
                json!({"path": {"type": "string"}}),
                json!({"path": "a/b.txt"}),
            ),
            (
                json!({"filePath": {"type": "string"}}),
                json!({"filePath": "/work space/s/a/b.txt"}),
            ),
            (
                json!({"absolute_path": {"type": "string"}}),
                json!({"absolute_path": "/work space/s/a/b.txt"}),
            ),
            (described, json!({"path": "/work space/s/a/b.txt"})),
        ] {
            assert_eq!(arguments_of(READ, &[tool("Read", parameters)]).1, wanted);
        }
        let absolute = "kind = \"read\"\npath = \"/etc/hosts\"";
        let (_, arguments) = arguments_of(
            absolute,
            &[tool("view", json!({"filePath": {"type": "string"}}))],
        );
        assert_eq!(arguments["filePath"], "/etc/hosts");
    }

    #[test]
    fn an_edit_writes_the_whole_file_in_each_of_three_ways() {
        let string = json!({"type": "string"});
        let write = tool("write_file", json!({"path": string, "content": string}));
        let edit = tool(
            "Edit",
            json!({"file_path": string, "old_string": string, "new_string": string}),
        );
        let patch = tool("apply_patch", json!({"input": string}));
        assert_eq!(
            arguments_of(EDIT, &[patch.clone(), edit.clone(), write]),
            (
                "write_file".into(),
                json!({"path": "b.txt", "content": "one\ntwo\n"})
            )
        );
        assert_eq!(
            arguments_of(EDIT, &[patch.clone(), edit]),
            (
                "Edit".into(),
                json!({"file_path": "b.txt", "old_string": "", "new_string": "one\ntwo\n"})
            )
        );
        assert_eq!(
            arguments_of(EDIT, &[patch]).1,
            json!({"input": "*** Begin Patch\n*** Add File: b.txt\n+one\n+two\n*** End Patch\n"})
        );
    }

    #[test]
    fn a_tool_of_many_operations_is_told_which_one() {
        let mut editor = tool(
            "str_replace_editor",
            json!({
                "command": {"type": "string", "enum": ["view", "create", "str_replace"]},
                "path": {"type": "string"},
            }),
        );
        editor.schema["properties"]["file_text"] = json!({"type": "string"});
        let tools = [editor];
        assert_eq!(
            arguments_of(READ, &tools).1,
            json!({"command": "view", "path": "a/b.txt"})
        );
        assert_eq!(
            arguments_of(EDIT, &tools).1,
            json!({"command": "create", "path": "b.txt", "file_text": "one\ntwo\n"})
        );
    }

    #[test]
    fn references_and_nested_objects_are_filled() {
        let mut tool = tool(
            "bash",
            json!({
                "command": {"$ref": "#/$defs/Command"},
                "options": {"type": "object", "required": ["level"], "properties": {"level": {"enum": ["low", "high"]}}},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            }),
        );
        tool.schema["$defs"] =
            json!({"Command": {"type": "string"}, "Loop": {"$ref": "#/$defs/Loop"}});
        tool.schema["properties"]["loop"] = json!({"$ref": "#/$defs/Loop"});
        assert_eq!(
            arguments_of(EXECUTE, &[tool]).1,
            json!({"command": "touch x", "options": {"level": "low"}, "tags": [SENTENCE]})
        );
    }

    #[test]
    fn odd_schemas_are_filled_without_a_panic_and_to_an_end() {
        let own = json!({"$ref": "#"});
        let mut itself = tool(
            "bash",
            json!({"command": {"type": "string"}, "a": own, "b": own, "c": own}),
        );
        itself.schema["properties"]["d"] =
            json!({"type": "array", "minItems": 1_000_000, "items": own});
        for schema in [
            itself.schema,
            json!(7),
            json!({"properties": [], "required": {}}),
            json!({"properties": {"command": 1, "x": null}, "required": [1, "x", "y"]}),
            json!({"properties": {"command": {"type": [], "anyOf": {}, "enum": 5}}, "required": ["command"]}),
            json!({"$ref": "#/none", "properties": {"command": {"$ref": 5}}}),
        ] {
            let odd = Tool {
                name: "bash".into(),
                schema,
                ..Tool::default()
            };
            let _ = mapped(&call(EXECUTE), &[odd], None);
        }
    }

    #[test]
    fn what_no_tool_takes_is_said() {
        let odd = tool("bash", json!({"number": {"type": "integer"}}));
        let none: [Tool; 0] = [];
        for (tools, part) in [(&none[..], "offered no tools"), (&[odd][..], "takes one")] {
            let error = mapped(&call(EXECUTE), tools, None).unwrap_err();
            assert!(error.contains(part) && error.contains("execute"), "{error}");
        }
    }

    #[test]
    fn a_tool_by_name_is_sent_as_it_is() {
        let toml = "tool = \"grep\"\narguments = { in = [\"{cwd}/x\"], n = 1 }";
        assert_eq!(
            arguments_of(toml, &[]),
            ("grep".into(), json!({"in": ["/work space/s/x"], "n": 1}))
        );
    }

    #[test]
    fn a_schema_without_properties_gets_the_usual_names() {
        let bare = Tool {
            name: "bash".into(),
            ..Tool::default()
        };
        assert_eq!(
            arguments_of(EXECUTE, &[bare]).1,
            json!({"command": "touch x"})
        );
    }
}
