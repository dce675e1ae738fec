//! Every tool, as the model and the client see it.

use serde_json::{Map, Value, json};

/// A tool as the model and the client see it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// The ACP kind.
    pub(crate) kind: &'static str,
    /// Whether the user is asked first.
    pub(crate) asks: bool,
    pub(crate) class: Class,
    pub(crate) description: &'static str,
    /// The arguments, all strings and all needed, with what each is. The first one is the subject
    /// that the title shows.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
    /// Strings that may be left out.
    pub(crate) optional: &'static [(&'static str, &'static str)],
}

/// How a tool is counted in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Command,
    FileOperation,
    Skill,
    /// Not at all: what it works on is the session.
    Own,
}

pub(super) const PATH: (&str, &str) = ("path", "the file, relative to the folder or absolute");

static BASH: Tool = Tool {
    name: "bash",
    kind: "execute",
    asks: true,
    class: Class::Command,
    description: "Run a command with the shell in the folder and get its output.",
    arguments: &[("command", "the command line")],
    optional: &[],
};

static READ_FILE: Tool = Tool {
    name: "read_file",
    kind: "read",
    asks: true,
    class: Class::FileOperation,
    description: "Get the text of a file.",
    arguments: &[PATH],
    optional: &[],
};

static WRITE_FILE: Tool = Tool {
    name: "write_file",
    kind: "edit",
    asks: true,
    class: Class::FileOperation,
    description: "Make a file, or replace all of its text.",
    arguments: &[PATH, ("content", "the whole new text")],
    optional: &[],
};

static EDIT_FILE: Tool = Tool {
    name: "edit_file",
    kind: "edit",
    asks: true,
    class: Class::FileOperation,
    description: "Replace a text that occurs exactly once in a file.",
    arguments: &[
        PATH,
        ("old", "the text to replace, exactly as it stands"),
        ("new", "the text to put there"),
    ],
    optional: &[],
};

pub(crate) static READ_SKILL: Tool = Tool {
    name: "read_skill",
    kind: "read",
    asks: false,
    class: Class::Skill,
    description: "Get the instructions of a skill by its name.",
    arguments: &[("name", "the name of the skill")],
    optional: &[],
};

static SWITCH_MODE: Tool = Tool {
    name: "switch_mode",
    kind: "switch_mode",
    asks: true,
    class: Class::Own,
    description: "Change the mode of the session: ask, code or plan.",
    arguments: &[("mode", "the mode")],
    optional: &[],
};

static UPDATE_PLAN: Tool = Tool {
    name: "update_plan",
    kind: "think",
    asks: false,
    class: Class::Own,
    description: "Show the user the plan for the task, whole, and again as it goes on.",
    arguments: &[(
        "steps",
        "one step a line: `[ ] text` to do, `[>] text` in progress, `[x] text` done",
    )],
    optional: &[],
};

static ASK_USER: Tool = Tool {
    name: "ask_user",
    kind: "execute",
    asks: false,
    class: Class::Own,
    description: "Ask the user a question.",
    arguments: &[("question", "the question, as the user will read it")],
    optional: &[],
};

/// The same where the client can show a question, and a page.
static ASK_USER_BY_CLIENT: Tool = Tool {
    optional: &[(
        "url",
        "a page where the user does what the question says, in place of an answer",
    )],
    ..ASK_USER
};

/// What stands for each tool of a server.
pub(super) static SERVER_TOOL: Tool = Tool {
    name: "mcp",
    kind: "other",
    asks: true,
    class: Class::Own,
    description: "",
    arguments: &[],
    optional: &[],
};

/// The tools of the first generation.
pub(crate) static BASIC: [&Tool; 5] = [&BASH, &READ_FILE, &WRITE_FILE, &EDIT_FILE, &READ_SKILL];

/// Those, and one to ask the user.
pub(crate) static ASKING: [&Tool; 6] = [
    &BASH,
    &READ_FILE,
    &WRITE_FILE,
    &EDIT_FILE,
    &READ_SKILL,
    &ASK_USER,
];

/// Those of the surface with everything.
pub(crate) static EVERY: [&Tool; 8] = [
    &BASH,
    &READ_FILE,
    &WRITE_FILE,
    &EDIT_FILE,
    &READ_SKILL,
    &ASK_USER_BY_CLIENT,
    &SWITCH_MODE,
    &UPDATE_PLAN,
];

impl Tool {
    /// The JSON Schema of the arguments.
    pub(crate) fn parameters(&self) -> Value {
        let properties: Map<String, Value> = self
            .arguments
            .iter()
            .chain(self.optional)
            .map(|(name, description)| {
                let property = json!({ "type": "string", "description": description });
                ((*name).to_owned(), property)
            })
            .collect();
        let required: Vec<&str> = self.arguments.iter().map(|(name, _)| *name).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    }
}
