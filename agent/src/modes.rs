//! The modes of a session: which tools may run, and which are asked about.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tools::Tool;

/// A mode. Its name in lower case is its id on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    #[default]
    Ask,
    Code,
    Plan,
}

/// What a mode says of a tool that works on files or runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Ask,
    Run,
    Refuse,
}

/// A mode as the client shows it.
struct Entry {
    mode: Mode,
    id: &'static str,
    name: &'static str,
    description: &'static str,
    /// For tools that look.
    reading: Rule,
    /// For tools that change files or run commands.
    changing: Rule,
}

static MODES: [Entry; 3] = [
    Entry {
        mode: Mode::Ask,
        id: "ask",
        name: "Ask",
        description: "Ask before a command runs or a file is read or changed",
        reading: Rule::Ask,
        changing: Rule::Ask,
    },
    Entry {
        mode: Mode::Code,
        id: "code",
        name: "Code",
        description: "Run commands and change files without asking",
        reading: Rule::Run,
        changing: Rule::Run,
    },
    Entry {
        mode: Mode::Plan,
        id: "plan",
        name: "Plan",
        description: "Look and plan: no commands, no changes to files",
        reading: Rule::Ask,
        changing: Rule::Refuse,
    },
];

impl Mode {
    fn entry(self) -> &'static Entry {
        let [first, others @ ..] = &MODES;
        others
            .iter()
            .find(|entry| entry.mode == self)
            .unwrap_or(first)
    }

    pub(crate) fn id(self) -> &'static str {
        self.entry().id
    }

    pub(crate) fn find(id: &str) -> Option<Self> {
        MODES
            .iter()
            .find(|entry| entry.id == id)
            .map(|entry| entry.mode)
    }

    /// What the mode says of a tool that would ask.
    pub(crate) fn rule(self, tool: &Tool) -> Rule {
        match tool.kind {
            "read" => self.entry().reading,
            "edit" | "execute" => self.entry().changing,
            _ => Rule::Ask,
        }
    }

    /// Why a tool is refused in this mode.
    pub(crate) fn refusal(self) -> String {
        format!(
            "[refused: the mode `{}` allows no commands and no changes to files]",
            self.id()
        )
    }
}

/// Every id, for a message.
pub(crate) fn known() -> String {
    let ids: Vec<&str> = MODES.iter().map(|entry| entry.id).collect();
    ids.join(", ")
}

/// The `modes` of a session's result.
pub(crate) fn state(current: Mode) -> Value {
    let modes: Vec<Value> = MODES
        .iter()
        .map(
            |entry| json!({ "id": entry.id, "name": entry.name, "description": entry.description }),
        )
        .collect();
    json!({ "currentModeId": current.id(), "availableModes": modes })
}

/// The modes as values of a select.
pub(crate) fn values() -> Vec<Value> {
    MODES
        .iter()
        .map(|entry| {
            json!({ "value": entry.id, "name": entry.name, "description": entry.description })
        })
        .collect()
}
