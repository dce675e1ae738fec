//! Tests of `tools`: agents that are known, and what they have in common.

mod unusual;

use super::schema::SENTENCE;
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
        ..Tool::default()
    }
}

fn call(toml: &str) -> Call {
    toml::from_str(toml).unwrap()
}

fn arguments_of(call_toml: &str, tools: &[Tool]) -> (String, Value) {
    let folder = Path::new("/work space/s");
    let mapped = mapped(&call(call_toml), tools, &ToolMap::default(), Some(folder)).unwrap();
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
    tool.schema["$defs"] = json!({"Command": {"type": "string"}, "Loop": {"$ref": "#/$defs/Loop"}});
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
        let _ = mapped(&call(EXECUTE), &[odd], &ToolMap::default(), None);
    }
}

#[test]
fn what_no_tool_takes_is_said() {
    let odd = tool("bash", json!({"number": {"type": "integer"}}));
    let none: [Tool; 0] = [];
    for (tools, part) in [(&none[..], "offered no tools"), (&[odd][..], "takes one")] {
        let error = mapped(&call(EXECUTE), tools, &ToolMap::default(), None).unwrap_err();
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
