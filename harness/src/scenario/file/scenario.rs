//! One scenario, as it is run in one agent process.

use serde_json::{Map, Value};

use super::Step;
use crate::mcp::Wanted;
use crate::model::script::Script;
use crate::profile::Consent;
use crate::spec::Condition;

/// A scenario; where the file has `[[each]]` tables, one run of it with the variables filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The path below `scenarios/` without `.toml`, such as `cancel/while-streaming`; a run of `[[each]]` has its name
    /// behind it, such as `init/versions[1]`.
    pub id: String,
    /// The id without a run's name: that of the file.
    pub file: String,
    /// One line that says what is shown.
    pub title: String,
    /// More about it, for `explain`.
    pub about: Option<String>,
    /// The requirements that it exercises, in catalogue spelling. Never empty.
    pub covers: Vec<String>,
    /// Where it does not hold the scenario is not applicable.
    pub when: Option<Condition>,
    /// What the operator must allow; without that the scenario is not run.
    pub allow: Vec<Consent>,
    /// What must have taken place, otherwise the scenario is inconclusive.
    pub needs: Needs,
    /// What the client says of itself.
    pub client: ClientSettings,
    /// The folder in which the agent is started.
    pub start_folder: StartFolder,
    /// Files of the session's folder before the start: path relative to it, and text.
    pub workspace: Vec<(String, String)>,
    /// The MCP servers that there are, which sessions get unless a step says otherwise.
    pub servers: Vec<Wanted>,
    /// What the scripted model replies, in order.
    pub model: Script,
    /// What is done, in order, with the implied `initialize` and `session/new` in their places.
    pub steps: Vec<Step>,
}

/// What must have been seen in the run for its expectations to say anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// A permission request.
    pub permission: bool,
    /// The scripted model was asked and its scripted replies were used. True where the file has a `[[model]]` and does not
    /// say otherwise.
    pub model: bool,
    /// A tool call was reported.
    pub tool: bool,
    /// The model's held stream was reached.
    pub held: bool,
    /// Agent text was seen.
    pub text: bool,
    /// The agent offers a method to authenticate.
    pub auth_methods: bool,
    /// A request of the agent of each of these methods. Where one was not sent though all else went well, the scenario is
    /// not applicable: the agent does without.
    pub requests: Vec<String>,
}

/// What the client sends in `initialize` unless the step says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientSettings {
    /// `clientCapabilities`, in place of the default ones (`fs` with reading and writing).
    pub capabilities: Option<Map<String, Value>>,
    /// `clientInfo`, in place of the harness's own.
    pub info: Option<Map<String, Value>>,
}

/// The folder in which the agent's process is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartFolder {
    /// The session's folder.
    #[default]
    Session,
    /// Another fresh folder, so that an agent that takes its own folder for the session's is found out.
    Elsewhere,
}
