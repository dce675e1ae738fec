//! Tools of coding agents and their parameters, by what they mean.

/// A kind of call: what tools that serve it are like, and the parts that it has.
pub(super) struct Kind {
    /// The ACP kind.
    pub(super) name: &'static str,
    /// Well-known tools by name, in the order in which they are preferred.
    pub(super) tools: &'static [&'static str],
    /// Words in the name of a tool that is not listed.
    pub(super) words: &'static [&'static str],
    /// Words by which a tool that is not listed says what it does: one of these,
    pub(super) does: &'static [&'static str],
    /// and one of these, in the first sentence about it.
    pub(super) with: &'static [&'static str],
    /// Words that speak against a tool that is not listed.
    pub(super) against: &'static [&'static str],
    /// The sets of parts, best first, one of which the tool's parameters must take.
    pub(super) forms: &'static [&'static [Part]],
}

/// What a parameter carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The command line.
    Command,
    /// The program that runs a command line, beside its arguments.
    Program,
    /// The arguments that make that program run the command line.
    Arguments,
    /// The path of a file.
    Path,
    /// The whole content of a file.
    Content,
    /// Text to be replaced; empty, which these tools take as "make the file", where the whole content is given.
    Old,
    /// The text that replaces it.
    New,
    /// A patch that adds, changes or deletes the file.
    Patch,
    /// An address on the web.
    Url,
    /// A request in words that names the address.
    Question,
    /// What is looked for.
    Pattern,
    /// What the user is asked.
    Ask,
}

/// The kinds that a script can call for: those of [`KINDS`](crate::model::script::KINDS).
pub(super) const TABLE: &[Kind] = &[
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
        words: &[
            "bash", "shell", "terminal", "command", "commands", "exec", "execute", "cmd", "sh",
            "cli", "console",
        ],
        does: &["run", "execute", "invoke", "launch", "start", "spawn"],
        with: &[
            "shell", "bash", "command", "commands", "terminal", "program", "process", "script",
        ],
        against: &[
            "output", "kill", "stop", "status", "agent", "task", "skill", "list", "history",
            "stdin", "slash",
        ],
        forms: &[&[Part::Program, Part::Arguments], &[Part::Command]],
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
        words: &["read", "view", "open", "cat", "show", "load"],
        does: &[
            "read", "view", "open", "show", "get", "return", "load", "display", "print", "retrieve",
        ],
        with: &["file", "files"],
        against: &[
            "directory",
            "directories",
            "dir",
            "folder",
            "list",
            "image",
            "media",
            "notebook",
            "url",
            "web",
            "resource",
            "memory",
            "output",
            "terminal",
            "todo",
            "skill",
            "plan",
        ],
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
            "multi_edit",
            "apply_patch",
            "patch",
        ],
        words: &[
            "write", "create", "edit", "save", "replace", "patch", "modify", "update", "put",
        ],
        does: &[
            "write",
            "create",
            "save",
            "edit",
            "modify",
            "overwrite",
            "replace",
            "change",
            "put",
            "store",
        ],
        with: &["file", "files"],
        against: &[
            "directory",
            "dir",
            "folder",
            "notebook",
            "memory",
            "todo",
            "plan",
            "image",
            "skill",
            "mode",
            "goal",
            "terminal",
        ],
        forms: &[
            &[Part::Path, Part::Content],
            &[Part::Path, Part::Old, Part::New],
            &[Part::Patch],
        ],
    },
    Kind {
        name: "delete",
        tools: &[
            "delete_file",
            "delete",
            "remove_file",
            "remove",
            "delete_files",
            "file_delete",
            "unlink",
            "apply_patch",
        ],
        words: &["delete", "remove", "unlink", "rm"],
        does: &["delete", "remove", "unlink"],
        with: &["file", "files"],
        against: &[
            "directory",
            "dir",
            "folder",
            "memory",
            "todo",
            "session",
            "cell",
        ],
        forms: &[&[Part::Path], &[Part::Patch]],
    },
    Kind {
        name: "search",
        tools: &[
            "grep",
            "grep_search",
            "search_file_content",
            "search_files",
            "ripgrep",
            "rg",
            "search",
            "search_text",
            "code_search",
            "file_search",
            "find_in_files",
        ],
        words: &["grep", "search", "find"],
        does: &["search", "find", "grep", "look"],
        with: &["content", "contents", "text", "pattern", "files", "code"],
        against: &[
            "web", "internet", "tool", "tools", "memory", "symbol", "skill",
        ],
        forms: &[&[Part::Pattern, Part::Path], &[Part::Pattern]],
    },
    Kind {
        name: "fetch",
        tools: &[
            "web_fetch",
            "fetch",
            "fetch_url",
            "fetch_webpage",
            "url_fetch",
            "read_url",
            "browse",
            "http_request",
            "fetch_web_content",
        ],
        words: &["fetch", "url", "http", "browse", "download", "webpage"],
        does: &[
            "fetch", "download", "get", "retrieve", "load", "open", "read",
        ],
        with: &["url", "urls", "web", "page", "http", "https", "website"],
        against: &["search", "image", "instructions"],
        forms: &[&[Part::Url], &[Part::Question]],
    },
    Kind {
        name: "ask",
        tools: &[
            "ask_user",
            "ask_user_question",
            "ask_followup_question",
            "ask_question",
            "ask_questions",
            "ask",
            "question",
            "request_user_input",
            "clarify",
        ],
        words: &["ask", "question", "clarify", "elicit"],
        does: &["ask", "prompt", "elicit"],
        with: &["user", "human"],
        against: &["file", "agent", "task", "web", "search", "permission"],
        forms: &[&[Part::Ask, Part::Url], &[Part::Ask]],
    },
];

/// What a parameter for a part is like.
pub(super) struct Parameter {
    /// The part.
    pub(super) part: Part,
    /// Usual names, best first.
    pub(super) names: &'static [&'static str],
    /// Words in its name.
    pub(super) words: &'static [&'static str],
    /// Words in what is said about it.
    pub(super) says: &'static [&'static str],
}

/// The parameters of all parts.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        part: Part::Command,
        names: &[
            "command",
            "cmd",
            "script",
            "command_line",
            "cmdline",
            "bash_command",
            "shell_command",
            "commands",
            "cmds",
            "argv",
            "code",
            "input",
        ],
        words: &[
            "command", "commands", "cmd", "cmdline", "shell", "bash", "line",
        ],
        says: &["command", "commands", "shell", "bash"],
    },
    Parameter {
        part: Part::Program,
        names: &["command", "program", "cmd", "executable", "binary", "file"],
        words: &["program", "executable"],
        says: &["program", "executable"],
    },
    Parameter {
        part: Part::Arguments,
        names: &["args", "arguments", "argv"],
        words: &["args", "arguments"],
        says: &[],
    },
    Parameter {
        part: Part::Path,
        names: &[
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
            "file_paths",
        ],
        words: &[
            "path", "paths", "file", "filename", "filepath", "location", "uri",
        ],
        says: &["path", "paths", "file", "filename", "location"],
    },
    Parameter {
        part: Part::Content,
        names: &[
            "content",
            "contents",
            "text",
            "file_text",
            "file_content",
            "new_content",
            "data",
            "body",
        ],
        words: &["content", "contents", "text", "data", "body", "source"],
        says: &["content", "contents", "text", "written", "write"],
    },
    Parameter {
        part: Part::Old,
        names: &[
            "old_string",
            "old_str",
            "old_text",
            "search",
            "old",
            "find",
            "before",
        ],
        words: &["old", "search", "find", "before", "original"],
        says: &["existing", "replaced", "find", "old"],
    },
    Parameter {
        part: Part::New,
        names: &[
            "new_string",
            "new_str",
            "new_text",
            "replace",
            "replacement",
            "new",
            "after",
        ],
        words: &["new", "replace", "replacement", "after"],
        says: &["replacement", "new"],
    },
    Parameter {
        part: Part::Patch,
        names: &["patch", "patch_text", "input", "diff"],
        words: &["patch", "diff"],
        says: &["patch"],
    },
    Parameter {
        part: Part::Url,
        names: &["url", "urls", "uri", "address", "link"],
        words: &["url", "urls", "link", "address"],
        says: &["url", "urls", "address"],
    },
    Parameter {
        part: Part::Question,
        names: &["prompt", "query", "question"],
        words: &[],
        says: &["url", "urls"],
    },
    Parameter {
        part: Part::Pattern,
        names: &[
            "pattern",
            "query",
            "regex",
            "regexp",
            "search",
            "text",
            "search_term",
        ],
        words: &["pattern", "query", "regex", "term"],
        says: &["pattern", "regex", "regular", "query", "search"],
    },
    Parameter {
        part: Part::Ask,
        names: &[
            "question",
            "questions",
            "prompt",
            "message",
            "text",
            "query",
        ],
        words: &["question", "message", "prompt"],
        says: &["question", "ask"],
    },
];

/// Arguments that a command gets wherever its tool has them, so that the agent asks for permission. The first of the
/// values that the parameter's schema allows is taken.
pub(super) const ASKING: &[(&str, &[&str])] = &[
    ("with_escalated_permissions", &[]),
    ("sandbox_permissions", &["require_escalated"]),
    ("requires_approval", &[]),
];
/// The parameter that tells why, beside one of those.
pub(super) const WHY: &str = "justification";

/// Command lines for kinds that no tool serves, of an agent that can run commands. What stands in braces is quoted.
pub(super) const SHELL: &[(&str, &[Part], &str)] = &[
    ("read", &[Part::Path], "cat {path}"),
    (
        "edit",
        &[Part::Path, Part::Content],
        "printf %s {content} > {path}",
    ),
    ("delete", &[Part::Path], "rm {path}"),
    (
        "search",
        &[Part::Pattern, Part::Path],
        "grep -rn -e {pattern} {path}",
    ),
    ("search", &[Part::Pattern], "grep -rn -e {pattern} ."),
    ("fetch", &[Part::Url], "curl -sS {url}"),
];

/// Parameters of a tool that reads a file: whoever has others does something else.
pub(super) const OF_READERS: &[&str] = &[
    "path", "file", "line", "lines", "offset", "limit", "start", "end", "range", "from", "to",
    "count", "encoding", "max",
];

/// How a parameter that no part goes to is filled if it is required, by words in its name. Only where the schema
/// allows it: the type is looked at first.
pub(super) const TRUE_WHERE_NAMED: &[&str] = &["approval", "confirm", "wait", "blocking"];
/// Words in the name of a required number that say how long something may take.
pub(super) const TIMEOUT_WHERE_NAMED: &[&str] = &["timeout", "wait", "seconds", "ms", "duration"];

/// Operations of tools that do several things under one parameter, by the kind that wants them, best first. The names
/// of the kind's well-known tools are operations too.
pub(super) const OPERATIONS: &[(&str, &[&str])] = &[
    ("read", &["view", "read", "open", "cat"]),
    ("edit", &["create", "write", "overwrite"]),
    ("execute", &["run", "exec", "execute"]),
    ("delete", &["delete", "remove"]),
    ("search", &["search", "grep", "find"]),
];

/// Operations that replace a part of a file.
pub(super) const REPLACING: &[&str] = &["str_replace", "replace", "edit", "update"];

/// Parameters that name the operation.
pub(super) const OPERATION_PARAMETERS: &[&str] = &[
    "command",
    "operation",
    "action",
    "mode",
    "op",
    "type",
    "verb",
    "method",
    "tool",
];
