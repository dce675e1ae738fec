//! Agents that nobody knows, and what a profile says.

use super::*;

/// A tool as an agent describes it, with a schema of its own.
fn described(name: &str, description: &str, properties: Value, required: Value) -> Tool {
    Tool {
        name: name.into(),
        description: description.into(),
        schema: json!({"type": "object", "properties": properties, "required": required}),
        freeform: false,
    }
}

/// The tools of an agent that nobody knows.
fn unusual() -> Vec<Tool> {
    vec![
        described(
            "list_dir",
            "Lists the files in a directory",
            json!({"path": {"type": "string"}}),
            json!(["path"]),
        ),
        described(
            "kill_shell",
            "Stops a shell command that runs",
            json!({"shell_id": {"type": "string"}}),
            json!(["shell_id"]),
        ),
        described(
            "perform",
            "Runs a line in the user's shell and gives back its output.",
            json!({"line": {"type": "string", "description": "The shell command line"}, "seconds": {"type": "integer"}}),
            json!(["line"]),
        ),
        described(
            "put",
            "Writes a file.",
            json!({"target": {"type": "object", "required": ["location"],
                              "properties": {"location": {"type": "string"}}},
                   "body": {"type": "string"}}),
            json!(["target", "body"]),
        ),
        described(
            "peek",
            "Shows a part of a file",
            json!({"items": {"type": "array", "items": {"type": "object", "required": ["where"],
                   "properties": {"where": {"type": "string", "description": "Absolute path of the file"}}}}}),
            json!(["items"]),
        ),
        described(
            "hop",
            "Retrieves a web page",
            json!({"to": {"type": "string", "description": "URL of the page"}}),
            json!(["to"]),
        ),
    ]
}

#[test]
fn unusual_tools_are_found_by_what_they_say_and_by_the_shape_of_their_schemas() {
    let tools = unusual();
    for (call, name, wanted) in [
        (EXECUTE, "perform", json!({"line": "touch x"})),
        (
            EDIT,
            "put",
            json!({"body": "one\ntwo\n", "target": {"location": "b.txt"}}),
        ),
        (
            READ,
            "peek",
            json!({"items": [{"where": "/work space/s/a/b.txt"}]}),
        ),
        (
            "kind = \"fetch\"\nurl = \"http://127.0.0.1:9/\"",
            "hop",
            json!({"to": "http://127.0.0.1:9/"}),
        ),
    ] {
        assert_eq!(arguments_of(call, &tools), (name.into(), wanted));
    }
}

#[test]
fn a_tool_without_a_telling_name_or_word_is_found_by_its_parameters() {
    let string = json!({"type": "string"});
    let tools = [
        described("t1", "", json!({"path": string}), json!(["path"])),
        described(
            "t2",
            "",
            json!({"path": string, "content": string}),
            json!(["path", "content"]),
        ),
        described(
            "t3",
            "",
            json!({"cmd": {"type": "string"}, "args": {"type": "array", "items": {"type": "string"}}}),
            json!(["cmd"]),
        ),
        described("t4", "", json!({"url": string}), json!(["url"])),
    ];
    assert_eq!(arguments_of(READ, &tools).0, "t1");
    assert_eq!(arguments_of(EDIT, &tools).0, "t2");
    assert_eq!(
        arguments_of(EXECUTE, &tools),
        ("t3".into(), json!({"cmd": "sh", "args": ["-c", "touch x"]}))
    );
    assert_eq!(
        arguments_of("kind = \"fetch\"\nurl = \"http://x/\"", &tools).0,
        "t4"
    );
}

#[test]
fn one_tool_that_does_everything_is_told_what_to_do() {
    let string = json!({"type": "string"});
    let flat = described(
        "do",
        "Act in the workspace.",
        json!({"action": {"enum": ["list_dir", "shell", "read_file", "write_file"]},
               "line": string, "path": string, "text": string}),
        json!(["action"]),
    );
    let branch = |action: &str, members: Value| {
        let mut properties = json!({"action": {"const": action}});
        for (name, member) in members.as_object().unwrap() {
            properties[name.as_str()] = member.clone();
        }
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({"type": "object", "required": required, "properties": properties})
    };
    let union = Tool {
        schema: json!({"oneOf": [
            branch("list_dir", json!({"path": string})),
            branch("write_file", json!({"path": string, "text": string})),
            branch("read_file", json!({"path": string})),
            branch("shell", json!({"line": string})),
        ]}),
        ..flat.clone()
    };
    for tool in [flat, union] {
        for (call, wanted) in [
            (EXECUTE, json!({"action": "shell", "line": "touch x"})),
            (READ, json!({"action": "read_file", "path": "a/b.txt"})),
            (
                EDIT,
                json!({"action": "write_file", "path": "b.txt", "text": "one\ntwo\n"}),
            ),
        ] {
            let tools = std::slice::from_ref(&tool);
            assert_eq!(arguments_of(call, tools), ("do".into(), wanted));
        }
    }
    let without = described(
        "do",
        "Act in the workspace.",
        json!({"action": {"enum": ["list_dir", "remember"]}, "path": string}),
        json!(["action"]),
    );
    let found = mapped(&call(EXECUTE), &[without], &ToolMap::default(), None);
    assert!(found.is_err(), "{found:?}");
}

#[test]
fn a_tool_that_edits_or_makes_a_file_is_told_to_replace_where_a_part_is_replaced() {
    let string = json!({"type": "string"});
    let editor = described(
        "str_replace_editor",
        "",
        json!({"command": {"enum": ["view", "create", "str_replace"]}, "path": string,
               "file_text": string, "old_str": string, "new_str": string}),
        json!(["command", "path"]),
    );
    let tools = std::slice::from_ref(&editor);
    let replaced = "kind = \"edit\"\npath = \"x\"\nold = \"a\"\nnew = \"b\"";
    assert_eq!(
        arguments_of(replaced, tools).1,
        json!({"command": "str_replace", "path": "x", "old_str": "a", "new_str": "b"})
    );
    assert_eq!(arguments_of(EDIT, tools).1["command"], "create");
    let found = mapped(&call(EXECUTE), tools, &ToolMap::default(), None);
    assert!(found.is_err(), "its command is no command line: {found:?}");
}

#[test]
fn a_schema_of_branches_that_holds_itself_comes_to_an_end() {
    let mut tool = described("shell", "", json!({}), json!([]));
    tool.schema = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
    let found = mapped(&call(EXECUTE), &[tool], &ToolMap::default(), None);
    assert!(found.is_err(), "{found:?}");
}

#[test]
fn a_program_is_waited_for_and_given_its_words_and_a_place_may_be_an_object() {
    let string = json!({"type": "string"});
    let launch = described(
        "launch_process",
        "Launches a process with a shell command.",
        json!({"cmd_line": string, "wait": {"type": "boolean"}, "max_wait_seconds": {"type": "number"}}),
        json!(["cmd_line", "wait", "max_wait_seconds"]),
    );
    assert_eq!(
        arguments_of(EXECUTE, &[launch]).1,
        json!({"cmd_line": "touch x", "wait": true, "max_wait_seconds": 60})
    );
    let exec = described(
        "computer_exec",
        "Starts a program.",
        json!({"argv": {"type": "array", "items": string}}),
        json!(["argv"]),
    );
    assert_eq!(
        arguments_of(EXECUTE, std::slice::from_ref(&exec)).1,
        json!({"argv": ["bash", "-lc", "touch x"]})
    );
    let get = described(
        "fs_get",
        "Gets the bytes of a place.",
        json!({"target": {"type": "object", "required": ["path"], "properties": {"path": string}}}),
        json!(["target"]),
    );
    assert_eq!(
        arguments_of(READ, &[exec, get]),
        ("fs_get".into(), json!({"target": {"path": "a/b.txt"}}))
    );
}

#[test]
fn tools_that_only_speak_of_files_or_commands_are_not_taken() {
    let string = json!({"type": "string"});
    for tool in [
        described(
            "list_dir",
            "Lists a directory",
            json!({"path": string}),
            json!(["path"]),
        ),
        described(
            "task",
            "Launch a new agent for a task",
            json!({"prompt": string, "command": string}),
            json!(["prompt"]),
        ),
        described(
            "skill",
            "Load a skill",
            json!({"name": string}),
            json!(["name"]),
        ),
        described(
            "ask",
            "Ask the user",
            json!({"question": string}),
            json!(["question"]),
        ),
    ] {
        for wanted in [EXECUTE, READ, EDIT] {
            let found = mapped(
                &call(wanted),
                std::slice::from_ref(&tool),
                &ToolMap::default(),
                None,
            );
            assert!(found.is_err(), "{wanted}: {found:?}");
        }
    }
}

#[test]
fn what_no_tool_does_is_done_by_a_command_with_its_parts_quoted() {
    let tools = [tool("sh", json!({"command": {"type": "string"}}))];
    for (call, line) in [
        (READ, "cat 'a/b.txt'"),
        (
            "kind = \"edit\"\npath = \"it's\"\ncontent = \"{path}\\n\"",
            "printf %s '{path}\n' > 'it'\\''s'",
        ),
        (
            "kind = \"delete\"\npath = \"{cwd}/x\"",
            "rm '/work space/s/x'",
        ),
        (
            "kind = \"search\"\npattern = \"a b\"",
            "grep -rn -e 'a b' .",
        ),
        (
            "kind = \"fetch\"\nurl = \"http://x/\"",
            "curl -sS 'http://x/'",
        ),
    ] {
        assert_eq!(arguments_of(call, &tools).1, json!({"command": line}));
    }
    let replaced = "kind = \"edit\"\npath = \"x\"\nold = \"a\"\nnew = \"b\"";
    assert!(mapped(&call(replaced), &tools, &ToolMap::default(), None).is_err());
}

#[test]
fn a_part_of_a_file_is_replaced_by_the_tool_that_can() {
    let string = json!({"type": "string"});
    let replaced = "kind = \"edit\"\npath = \"x\"\nold = \"a\"\nnew = \"b\"";
    let write = tool("write_file", json!({"path": string, "content": string}));
    let edits = json!({"type": "array", "items": {"type": "object", "required": ["oldText", "newText"],
        "properties": {"oldText": string, "newText": string}}});
    let edit = tool("edit_file", json!({"path": string, "edits": edits}));
    assert_eq!(
        arguments_of(replaced, &[write, edit]),
        (
            "edit_file".into(),
            json!({"path": "x", "edits": [{"oldText": "a", "newText": "b"}]})
        )
    );
    let patch = Tool {
        name: "apply_patch".into(),
        freeform: true,
        ..Tool::default()
    };
    let mapped = mapped(&call(replaced), &[patch], &ToolMap::default(), None).unwrap();
    assert_eq!(
        mapped.arguments,
        "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch\n"
    );
}

#[test]
fn a_command_is_asked_about_where_its_tool_can_say_so() {
    let shell = described(
        "shell",
        "",
        json!({
            "command": {"type": "array", "items": {"type": "string"}},
            "with_escalated_permissions": {"type": "boolean"},
            "justification": {"type": "string"},
        }),
        json!(["command"]),
    );
    let exec = described(
        "exec_command",
        "",
        json!({
            "cmd": {"type": "string"},
            "sandbox_permissions": {"type": "string", "enum": ["use_default", "require_escalated"]},
            "justification": {"type": "string"},
        }),
        json!(["cmd"]),
    );
    let lax = described(
        "exec",
        "",
        json!({"cmd": {"type": "string"}, "justification": {"type": "string"},
               "sandbox_permissions": {"enum": ["use_default"]}}),
        json!(["cmd"]),
    );
    for (tool, wanted) in [
        (
            shell,
            json!({"command": ["bash", "-lc", "touch x"], "with_escalated_permissions": true, "justification": SENTENCE}),
        ),
        (
            exec,
            json!({"cmd": "touch x", "sandbox_permissions": "require_escalated", "justification": SENTENCE}),
        ),
        (lax, json!({"cmd": "touch x"})),
    ] {
        assert_eq!(arguments_of(EXECUTE, &[tool]).1, wanted);
    }
}

#[test]
fn a_profile_says_which_tool_and_how_and_what_it_does_not_fit_is_found_otherwise() {
    let string = json!({"type": "string"});
    let offered = [
        tool("bash", json!({"command": string})),
        tool("odd", json!({"a": string, "b": string})),
    ];
    let given = |kind: &str, json: Value| {
        let members = |name: &str| json.get(name).and_then(Value::as_object).cloned();
        let row = crate::model::tool_map::ToolUse {
            tool: json["tool"].as_str().unwrap().into(),
            arguments: members("arguments"),
            with: members("with").unwrap_or_default(),
            text: json["text"].as_str().map(str::to_owned),
        };
        ToolMap {
            rows: vec![(kind.to_owned(), row)],
        }
    };
    let folder = Some(Path::new("/s"));
    let arguments = json!({"a": "run {command} in {cwd}", "b": [7]});
    let map = given("execute", json!({"tool": "odd", "arguments": arguments}));
    let odd = mapped(&call(EXECUTE), &offered, &map, folder).unwrap();
    assert_eq!(odd.name, "odd");
    assert_eq!(odd.arguments, r#"{"a":"run touch x in /s","b":[7]}"#);
    let with = given("execute", json!({"tool": "bash", "with": {"ask": true}}));
    let bash = mapped(&call(EXECUTE), &offered, &with, folder).unwrap();
    assert_eq!(bash.arguments, r#"{"command":"touch x","ask":true}"#);
    let text = given(
        "edit",
        json!({"tool": "odd", "text": "{absolute_path}: {content}"}),
    );
    let odd = mapped(&call(EDIT), &offered, &text, folder).unwrap();
    assert_eq!(odd.arguments, "/s/b.txt: one\ntwo\n");
    // Not offered, and with a part that the call does not have.
    for map in [
        given("execute", json!({"tool": "none"})),
        given("execute", json!({"tool": "odd", "text": "{path}"})),
    ] {
        let found = mapped(&call(EXECUTE), &offered, &map, folder).unwrap();
        assert_eq!(found.name, "bash");
    }
}

#[test]
fn a_call_that_cannot_be_made_gives_way_to_the_one_behind_it() {
    let string = json!({"type": "string"});
    let write = [tool(
        "write_file",
        json!({"path": string, "content": string}),
    )];
    let either = "kind = \"execute\"\ncommand = \"touch x\"\n\
                  or = { kind = \"edit\", path = \"x\", content = \"\" }";
    assert_eq!(arguments_of(either, &write).0, "write_file");
    let error = mapped(&call(either), &[], &ToolMap::default(), None).unwrap_err();
    assert!(
        error.contains("execute") && error.contains("edit"),
        "{error}"
    );
}

#[test]
fn every_kind_of_a_script_is_in_the_table() {
    let kinds: Vec<_> = known::TABLE.iter().map(|kind| kind.name).collect();
    assert_eq!(kinds, crate::model::script::KINDS);
}
