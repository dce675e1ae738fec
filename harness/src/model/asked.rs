//! What a request asks of the model, in a form that no interface owns.

use serde_json::Value;

/// A request for a reply, read from the body of any interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    /// The model's name as the agent wrote it.
    pub(crate) model: String,
    /// Whether the reply is to be streamed.
    pub(crate) stream: bool,
    /// Whether a streamed reply is to tell its token counts.
    pub(crate) usage: bool,
    /// The tools that the agent offers.
    pub(crate) tools: Vec<Tool>,
    /// All system text.
    pub(crate) system: String,
    /// The text of the first message of the user.
    pub(crate) first_user: String,
    /// The text of what the user said since the model's last reply; empty where results of tools stand there.
    pub(crate) last_user: String,
    /// What a retry of this request has in common with it.
    pub(crate) conversation: Conversation,
    /// What the text of the reply must be.
    pub(crate) answer: Answer,
    /// The bound on the reply's length.
    pub(crate) max_tokens: Option<u64>,
}

/// A tool that the agent offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: String,
    /// What the agent says about it.
    pub(crate) description: String,
    /// The JSON Schema of its arguments; null where there is none.
    pub(crate) schema: Value,
    /// Whether it takes plain text in place of JSON arguments.
    pub(crate) freeform: bool,
}

/// The place in a conversation that a request is made from: a retry has the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// How many messages there are.
    pub(crate) messages: usize,
    /// The last of them, as JSON.
    pub(crate) last: String,
}

/// What the text of a reply must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Answer {
    /// Any text.
    #[default]
    Text,
    /// A JSON object, of this schema where one is given.
    Json(Option<Value>),
}
