//! What the scripted model replies, turn by turn, as it stands under `[[model]]` in a scenario.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The replies of one scenario, in order. A request beyond the last one is answered with [`FALLBACK`].
pub type Script = Vec<Reply>;

/// What the model says when it is asked more often than the script foresees.
pub const FALLBACK: &str = "Done.";

/// One reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Reasoning text before anything else.
    #[serde(default)]
    pub think: Option<Text>,
    /// Text; a list is sent in exactly these chunks.
    #[serde(default)]
    pub say: Option<Text>,
    /// Tool calls after the text; several are sent as parallel calls of one reply.
    #[serde(default)]
    pub call: Option<Calls>,
    /// Keep the stream open after the text (before calls and end) until a step releases it or the agent hangs up.
    #[serde(default)]
    pub hold: bool,
    /// Milliseconds to wait before the first byte.
    #[serde(default)]
    pub wait: Option<u64>,
    /// Fail instead of replying, or after the text.
    #[serde(default)]
    pub fail: Option<Failure>,
    /// Token counts to report; small fixed ones if absent.
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// A text, whole or in given chunks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// One text, cut into a few chunks as the server likes.
    Whole(String),
    /// Exactly these chunks.
    Chunks(Vec<String>),
}

/// One call or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Calls {
    /// One call.
    One(Call),
    /// Several calls in one reply.
    Many(Vec<Call>),
}

/// A tool call, by its meaning or by the tool's own name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The ACP kind: `execute`, `read` or `edit`; mapped to a tool that the agent offers in its request.
    #[serde(default)]
    pub kind: Option<String>,
    /// For `execute`: the command line.
    #[serde(default)]
    pub command: Option<String>,
    /// For `read` and `edit`: the path, relative to the session's folder or absolute.
    #[serde(default)]
    pub path: Option<String>,
    /// For `edit`: the whole new content.
    #[serde(default)]
    pub content: Option<String>,
    /// The agent's own tool by name, instead of `kind`.
    #[serde(default)]
    pub tool: Option<String>,
    /// The arguments for `tool`.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// How a reply fails.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Failure {
    /// `cut` (the stream breaks off after the text) or `refused` (the connection is refused).
    Named(NamedFailure),
    /// An HTTP error status with the interface's own error body.
    Status {
        /// The status, such as 429.
        status: u16,
        /// The error's message; a usual one if absent.
        #[serde(default)]
        message: Option<String>,
    },
}

/// Failures without parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NamedFailure {
    /// The stream breaks off after the text.
    Cut,
    /// The connection is refused.
    Refused,
}

/// Token counts of one reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
}
