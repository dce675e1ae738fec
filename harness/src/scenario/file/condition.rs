//! What must hold after a step.

use serde_json::Value;

use super::Pattern;
use crate::source::Position;

/// Conditions that hold together, or are missed together.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// Where it stands in the file.
    pub position: Position,
    /// The requirements that are judged by it, all of them among the scenario's `covers`.
    pub covers: Vec<String>,
    /// What it means where a condition does not hold.
    pub otherwise: Otherwise,
    /// The sentence that is shown where a condition does not hold.
    pub why: Option<String>,
    /// The id of the request in a `send` step whose answer is meant, instead of the step's `id`.
    pub to: Option<Value>,
    /// All of these must hold. Never empty.
    pub conditions: Vec<Condition>,
}

/// What a condition that does not hold means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// The requirements failed.
    #[default]
    Fail,
    /// The scenario could not show anything.
    Inconclusive,
    /// The scenario is not about this agent. Only for `require`.
    NotApplicable,
}

/// One condition. "Since the step began" means since its message was sent; for `finish`, since that of the finished step.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// How the request was answered.
    Answer(Answer),
    /// It was answered with a result that fits. JSON null, for a pattern that accepts it, is a result too.
    Result(Pattern),
    /// It was answered with an error that fits; with `optional`, also if it was answered with a result, or not at all.
    Error(ErrorCondition),
    /// The agent text of the session since the step began, joined.
    Text(TextCondition),
    /// Files of the session's folder.
    Workspace(WorkspaceCondition),
    /// Tool calls of the session since the step began.
    ToolCall(ToolCallCondition),
    /// Updates of the session since the step began.
    Updates(UpdatesCondition),
    /// Permission requests since the step began.
    Permissions(Count),
    /// Messages of any kind that the agent sent since the step began.
    Messages(Count),
    /// Whether the agent's process is running.
    Alive(bool),
    /// The agent's process ended.
    Exit(ExitCondition),
    /// Processes that are left of the agent after its end.
    Left(Count),
    /// What the scripted model was asked since the step began.
    Model(ModelCondition),
    /// What an MCP server of the scenario has seen since the beginning. Waited for.
    Mcp(McpCondition),
    /// Seconds from sending the step's message to its answer, at most.
    Within(f64),
    /// All conditions of one of these lists hold.
    Any(Vec<Vec<Condition>>),
}

/// How a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With a result.
    Result,
    /// With an error.
    Error,
    /// With either.
    Any,
    /// Not, within the limit.
    None,
}

/// A number, or limits of one, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// At least so many.
    pub min: Option<u64>,
    /// At most so many.
    pub max: Option<u64>,
}

impl Count {
    /// Whether `number` lies within.
    #[must_use]
    pub fn holds(&self, number: u64) -> bool {
        self.min.is_none_or(|min| number >= min) && self.max.is_none_or(|max| number <= max)
    }
}

/// An error that fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorCondition {
    /// Its code is one of these; empty: any.
    pub codes: Vec<i64>,
    /// Its code is none of these.
    pub not_codes: Vec<i64>,
    /// Whether there may be no error at all.
    pub optional: bool,
    /// Its message.
    pub message: Option<Pattern>,
    /// Its data.
    pub data: Option<Pattern>,
}

/// Agent text: the texts of `agent_message_chunk`s, joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCondition {
    /// Each of these is in it.
    pub contains: Vec<String>,
    /// Each of these is in it exactly once.
    pub contains_once: Vec<String>,
    /// None of these is in it.
    pub lacks: Vec<String>,
    /// Whether it is empty.
    pub empty: Option<bool>,
}

/// Files of the session's folder, by paths relative to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceCondition {
    /// None of these exists.
    pub absent: Vec<String>,
    /// Each of these exists.
    pub present: Vec<String>,
    /// Each of these files has the text in it.
    pub contains: Vec<(String, String)>,
}

/// Tool calls. Status and kind are those of the call that was reported last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCallCondition {
    /// Its last status is one of these; empty: any. No status at all counts as `pending`.
    pub status: Vec<String>,
    /// Its last status is none of these.
    pub not_status: Vec<String>,
    /// Its kind is one of these; empty: any. No kind at all counts as `other`.
    pub kind: Vec<String>,
    /// How many calls (different ids) there were.
    pub count: Count,
    /// The name of an earlier step: the turn's calls ended as those of that step's turn, and so did the turn.
    pub same: Option<String>,
}

/// Updates of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdatesCondition {
    /// Each of these kinds was seen.
    pub has: Vec<String>,
    /// None of these kinds was seen.
    pub lacks: Vec<String>,
    /// How many updates there were, of the kinds in `has` if it is not empty.
    pub count: Count,
}

/// The end of the agent's process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExitCondition {
    /// Within so many seconds after the step was done; the usual five if absent.
    pub within: Option<f64>,
    /// With one of these codes; empty: any way to end.
    pub codes: Vec<i64>,
}

/// What the scripted model was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelCondition {
    /// How often.
    pub asked: Count,
    /// Each of these is in the strings of the last request.
    pub saw: Vec<String>,
    /// None of these is.
    pub lacks: Vec<String>,
}

/// What an MCP server has seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpCondition {
    /// The server's name in the scenario.
    pub server: String,
    /// How often it was started.
    pub started: Count,
    /// How often it was initialized.
    pub initialized: Count,
    /// How often its tools were listed.
    pub listed: Count,
    /// How often any of its tools was called.
    pub called: Count,
    /// Each of these tools was called.
    pub tools: Vec<String>,
    /// Each of these tools was among those that the last request to the model offers.
    pub offered: Vec<String>,
    /// Whether each start had exactly the arguments that were given.
    pub args: bool,
    /// Whether each start had the variables that were given.
    pub env: bool,
    /// Whether each request had the headers that were given.
    pub headers: bool,
    /// Whether nothing of it goes on.
    pub ended: Option<bool>,
    /// How many seconds it may take until all that holds; the usual ones if absent.
    pub within: Option<f64>,
}
