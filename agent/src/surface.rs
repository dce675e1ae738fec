//! The generations of the agent, as they look on the wire.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::slash::{self, Command};
use crate::tools::{self, Tool};

/// A wire behaviour that `bob` can show. Chosen with `--surface`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Surface {
    /// The first public generation.
    #[default]
    V0_11_0,
    /// The later generation of the same agent.
    V1_0_3,
    /// The first generation with the optional parts of the protocol.
    Everything,
}

/// What a surface has. Whatever differs between surfaces stands here, and nowhere else.
#[derive(Debug)]
pub(crate) struct Parts {
    surface: Surface,
    /// What `--surface` takes.
    name: &'static str,
    /// What `agentInfo` states. It belongs to the surface, not to this crate.
    pub(crate) version: &'static str,
    /// The slash commands, in the order in which they are announced.
    pub(crate) commands: &'static [&'static Command],
    /// Whether each skill of the folder is a command too.
    pub(crate) skill_commands: bool,
    pub(crate) tools: &'static [&'static Tool],
    /// Whether a permission request has the option `never`.
    pub(crate) never: bool,
    pub(crate) usage: Usage,
    /// How many answers of one turn may call tools.
    pub(crate) iterations: Option<u64>,
    /// The requests that are understood.
    pub(crate) methods: &'static [&'static str],
    /// Whether sessions are stored, and opened again.
    pub(crate) stored: bool,
    /// Whether the user may have to log in.
    pub(crate) logins: bool,
    /// Whether prompts may hold images, audio and resources.
    pub(crate) rich_prompts: bool,
    /// Whether sessions have modes and options.
    pub(crate) options: bool,
    /// Whether the client hears more of a turn: thoughts, titles, ids of messages, and the
    /// commands again when they change.
    pub(crate) tells_more: bool,
    /// Whether files and commands go through the client where it offers that.
    pub(crate) client_tools: bool,
    /// Whether `ask_user` asks by `elicitation/create` where the client takes that.
    pub(crate) questions: bool,
    /// Whether the MCP servers of a session are connected, and not just counted.
    pub(crate) mcp: bool,
    /// Whether the embedded model knows the directives of this surface's own tools.
    pub(crate) more_directives: bool,
}

/// How the client learns of the tokens that were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    Untold,
    /// By `usage_update`, and `usage` in the prompt's result.
    InResult,
    /// By `usage_update` with the cost of the session.
    WithCost,
}

/// The requests of the historic surfaces.
const BASIC: [&str; 4] = [
    "initialize",
    "authenticate",
    "session/new",
    "session/prompt",
];

static SURFACES: [Parts; 3] = [
    Parts {
        surface: Surface::V0_11_0,
        name: "0.11.0",
        version: "0.11.0",
        commands: &[&slash::NEW, &slash::COMPACT],
        skill_commands: false,
        tools: &tools::BASIC,
        never: false,
        usage: Usage::Untold,
        iterations: None,
        methods: &BASIC,
        stored: false,
        logins: false,
        rich_prompts: false,
        options: false,
        tells_more: false,
        client_tools: false,
        questions: false,
        mcp: false,
        more_directives: false,
    },
    Parts {
        surface: Surface::V1_0_3,
        name: "1.0.3",
        version: "1.0.3",
        commands: &[&slash::COMPACT, &slash::NEW, &slash::UNLOAD],
        skill_commands: true,
        tools: &tools::ASKING,
        never: true,
        usage: Usage::InResult,
        iterations: Some(40),
        methods: &BASIC,
        stored: false,
        logins: false,
        rich_prompts: false,
        options: false,
        tells_more: false,
        client_tools: false,
        questions: false,
        mcp: false,
        more_directives: false,
    },
    Parts {
        surface: Surface::Everything,
        name: "everything",
        version: "0.11.0+everything",
        commands: &[&slash::NEW, &slash::COMPACT, &slash::PLAN],
        skill_commands: true,
        tools: &tools::EVERY,
        never: false,
        usage: Usage::WithCost,
        iterations: None,
        methods: &[
            "initialize",
            "authenticate",
            "logout",
            "session/new",
            "session/prompt",
            "session/set_mode",
            "session/set_config_option",
            "session/load",
            "session/resume",
            "session/list",
            "session/close",
            "session/delete",
        ],
        stored: true,
        logins: true,
        rich_prompts: true,
        options: true,
        tells_more: true,
        client_tools: true,
        questions: true,
        mcp: true,
        more_directives: true,
    },
];

impl Surface {
    /// What the surface has.
    pub(crate) fn parts(self) -> &'static Parts {
        let [first, others @ ..] = &SURFACES;
        others
            .iter()
            .find(|parts| parts.surface == self)
            .unwrap_or(first)
    }

    /// The version that `agentInfo` states.
    #[must_use]
    pub fn version(self) -> &'static str {
        self.parts().version
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.parts().name)
    }
}

impl FromStr for Surface {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        SURFACES
            .iter()
            .find(|parts| parts.name == name)
            .map(|parts| parts.surface)
            .ok_or_else(|| {
                let known: Vec<&str> = SURFACES.iter().map(|parts| parts.name).collect();
                format!("there is no surface `{name}`; known: {}", known.join(", "))
            })
    }
}

impl TryFrom<String> for Surface {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_surface_is_found_by_the_name_that_it_shows() {
        for parts in &SURFACES {
            assert_eq!(parts.name.parse(), Ok(parts.surface));
            assert_eq!(parts.surface.to_string(), parts.name);
            assert_eq!(parts.surface.parts().version, parts.version);
        }
    }
}
