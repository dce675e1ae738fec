//! Well-known tools of coding agents and their parameters, by what they mean.
//!
//! Names are compared without case, `_` and `-`, so that `read_file`, `readFile` and `ReadFile` are one name here.

/// A kind of call: the tools that serve it, best first, and the parts that it has.
pub(crate) struct Kind {
    /// The ACP kind.
    pub(crate) name: &'static str,
    /// Tools by name, in the order in which they are preferred.
    pub(crate) tools: &'static [&'static str],
    /// Words in the name of a tool that is not listed.
    pub(crate) words: &'static [&'static str],
    /// The sets of parts, best first, one of which the tool's parameters must take.
    pub(crate) forms: &'static [&'static [Part]],
}

/// What a parameter carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The command line.
    Command,
    /// The path of a file.
    Path,
    /// The whole content of a file.
    Content,
    /// Text to be replaced; empty, which these tools take as "make the file".
    Old,
    /// The text that replaces it.
    New,
    /// A patch that adds the file.
    Patch,
}

/// The kinds that a script can call for.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        name: "execute",
        tools: &[
            "bash",
            "shell",
            "run_shell_command",
            "execute_command",
            "run_command",
            "run_commands",
            "run_terminal_cmd",
            "run_terminal_command",
            "run_in_terminal",
            "terminal",
            "exec_command",
            "local_shell",
            "shell_command",
            "container_exec",
            "exec",
            "execute_bash",
            "bash_command",
            "run_bash",
            "execute",
            "run",
            "powershell",
            "developer_shell",
        ],
        words: &["bash", "shell", "terminal", "command", "exec", "cmd"],
        forms: &[&[Part::Command]],
    },
    Kind {
        name: "read",
        tools: &[
            "read_file",
            "read",
            "view",
            "view_file",
            "open_file",
            "cat",
            "read_text_file",
            "file_read",
            "get_file_contents",
            "read_files",
            "read_many_files",
            "str_replace_editor",
            "str_replace_based_edit_tool",
            "editor",
            "text_editor",
            "developer_text_editor",
        ],
        words: &["read", "view", "open", "cat"],
        forms: &[&[Part::Path]],
    },
    Kind {
        name: "edit",
        tools: &[
            "write_file",
            "write",
            "write_to_file",
            "create_file",
            "create",
            "file_write",
            "save_file",
            "write_text_file",
            "edit_file",
            "edit",
            "str_replace_editor",
            "str_replace_based_edit_tool",
            "editor",
            "text_editor",
            "developer_text_editor",
            "replace",
            "search_replace",
            "str_replace",
            "replace_in_file",
            "apply_patch",
            "patch",
        ],
        words: &["write", "create", "edit", "save", "replace", "patch"],
        forms: &[
            &[Part::Path, Part::Content],
            &[Part::Path, Part::Old, Part::New],
            &[Part::Patch],
        ],
    },
];

/// The parameters that carry a part, best first.
pub(crate) const fn parameters(part: Part) -> &'static [&'static str] {
    match part {
        Part::Command => &[
            "command",
            "cmd",
            "script",
            "command_line",
            "bash_command",
            "shell_command",
            "commands",
            "code",
            "input",
        ],
        Part::Path => &[
            "path",
            "file_path",
            "absolute_path",
            "filename",
            "file_name",
            "file",
            "abs_path",
            "target_file",
            "relative_path",
            "file_absolute_path",
            "uri",
            "paths",
            "files",
        ],
        Part::Content => &[
            "content",
            "contents",
            "text",
            "file_text",
            "file_content",
            "new_content",
            "data",
            "body",
        ],
        Part::Old => &["old_string", "old_str", "old_text", "search", "old"],
        Part::New => &[
            "new_string",
            "new_str",
            "new_text",
            "replace",
            "replacement",
            "new",
        ],
        Part::Patch => &["patch", "patch_text", "input", "diff"],
    }
}

/// How a parameter that no part goes to is filled if it is required, by words in its name. Only where the schema
/// allows it: the type is looked at first.
pub(crate) const TRUE_WHERE_NAMED: &[&str] = &["approval", "confirm"];

/// Operations of tools that do several things under one parameter, by the kind that wants them.
pub(crate) const OPERATIONS: &[(&str, &[&str])] = &[
    ("read", &["view", "read", "open", "cat"]),
    ("edit", &["create", "write", "overwrite"]),
    ("execute", &["run", "exec", "execute"]),
];

/// Parameters that name the operation.
pub(crate) const OPERATION_PARAMETERS: &[&str] =
    &["command", "operation", "action", "mode", "op", "type"];

/// Whether two names are one, as this module compares them.
pub(crate) fn same(left: &str, right: &str) -> bool {
    plain(left).eq(plain(right))
}

fn plain(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

/// The words of a name, in lower case: `runShell_command` is `run`, `shell`, `command`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small_before = false;
    for character in name.chars() {
        let begins = !character.is_alphanumeric() || (character.is_uppercase() && small_before);
        if begins {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
        small_before = character.is_lowercase() || character.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_and_separators() {
        assert!(same("readFile", "read_file"));
        assert!(same("File-Path", "filePath"));
        assert!(!same("read", "read_file"));
    }

    #[test]
    fn a_name_falls_into_words() {
        assert_eq!(words("runShell_command"), ["run", "shell", "command"]);
        assert_eq!(words("mcp__dev__Bash"), ["mcp", "dev", "bash"]);
    }
}
