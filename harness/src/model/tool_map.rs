//! Which of an agent's tools serve the kinds of calls, as its profile says.

use serde_json::{Map, Value};

/// The tools that a profile names for kinds of calls. Kinds that it leaves out are mapped by what the agent offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolMap {
    /// A kind (one of [`KINDS`](super::script::KINDS)) and a tool that serves it. Of several rows of one kind the first
    /// one counts whose tool is offered and takes the call.
    pub rows: Vec<(String, ToolUse)>,
}

/// How a tool is called.
///
/// Texts in `arguments`, `with` and `text` may hold what the call carries: `{command}`, `{path}`, `{absolute_path}`,
/// `{content}`, `{old}`, `{new}`, `{url}`, `{pattern}`; and `{cwd}`, the session's folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolUse {
    /// The tool's name, as the agent offers it.
    pub tool: String,
    /// All of its arguments; if absent they are found by the tool's schema.
    pub arguments: Option<Map<String, Value>>,
    /// Arguments beside those that are found by the schema.
    pub with: Map<String, Value>,
    /// The text for a tool that takes text in place of arguments.
    pub text: Option<String>,
}

impl ToolUse {
    /// The use of a tool by its name, its arguments found by its schema.
    pub fn of(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            ..Self::default()
        }
    }
}

impl ToolMap {
    /// The uses for a kind, in their order.
    pub(crate) fn uses<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a ToolUse> {
        let rows = self.rows.iter().filter(move |(own, _)| own == kind);
        rows.map(|(_, tool)| tool)
    }
}
