//! The generations of the agent, as they look on the wire.

use std::fmt;
use std::str::FromStr;

/// A wire behaviour that `bob` can show. Chosen with `--surface`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Surface {
    /// The first public generation.
    #[default]
    V0_11_0,
}

/// Every surface with the name that `--surface` takes.
const NAMES: [(&str, Surface); 1] = [("0.11.0", Surface::V0_11_0)];

impl Surface {
    /// The version that `agentInfo` states. It belongs to the surface, not to this crate.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::V0_11_0 => "0.11.0",
        }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.version())
    }
}

impl FromStr for Surface {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, surface)| *surface)
            .ok_or_else(|| {
                let known: Vec<&str> = NAMES.iter().map(|(known, _)| *known).collect();
                format!("there is no surface `{name}`; known: {}", known.join(", "))
            })
    }
}
