//! The generations of the agent, as they look on the wire.

use std::fmt;
use std::str::FromStr;

use crate::slash::{self, Command};
use crate::tools::{self, Tool};

/// A wire behaviour that `bob` can show. Chosen with `--surface`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Surface {
    /// The first public generation.
    #[default]
    V0_11_0,
    /// The later generation of the same agent.
    V1_0_3,
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
    /// Whether `usage_update` is sent, and `usage` stands in the prompt's result.
    pub(crate) usage: bool,
    /// How many answers of one turn may call tools.
    pub(crate) iterations: Option<u64>,
}

static SURFACES: [Parts; 2] = [
    Parts {
        surface: Surface::V0_11_0,
        name: "0.11.0",
        version: "0.11.0",
        commands: &[&slash::NEW, &slash::COMPACT],
        skill_commands: false,
        tools: &tools::BASIC,
        never: false,
        usage: false,
        iterations: None,
    },
    Parts {
        surface: Surface::V1_0_3,
        name: "1.0.3",
        version: "1.0.3",
        commands: &[&slash::COMPACT, &slash::NEW, &slash::UNLOAD],
        skill_commands: true,
        tools: &tools::ASKING,
        never: true,
        usage: true,
        iterations: Some(40),
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
