//! What a scenario does, step by step.

use serde_json::{Map, Value};

use super::{Expect, Placeholder};
use crate::client::Planned;
use crate::source::Position;

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where it stands in the file; of the step that needed it, for an implied one.
    pub position: Position,
    /// True for an `initialize` or `session/new` that the file does not write.
    pub implied: bool,
    /// The name by which `finish`, `cancel_request` and `{{result:NAME/…}}` refer to it. The implied steps are `initialize`
    /// and `new:SESSION`.
    pub name: Option<String>,
    /// What is done.
    pub action: Action,
    /// The session it is about, by its name in the file.
    pub session: String,
    /// Whether its answer is awaited before the next step; false leaves that to `finish`.
    pub awaited: bool,
    /// How permission requests in the turn of this step are answered, one after the other; the last answer serves for all
    /// that follow. Empty: `allow_once`.
    pub permission: Vec<Permission>,
    /// What becomes of other requests of the agent until the step is answered.
    pub requests: Requests,
    /// How single methods are answered in place of that.
    pub replies: Vec<(String, Vec<Planned>)>,
    /// Whether the step is left out where the session has no such mode or option as it names.
    pub optional: bool,
    /// What is wrong with the message on purpose. Such a message is a probe: passive rules do not judge its sender.
    pub probe: Option<String>,
    /// The request id to use; for `send`, that of the request in the text whose answer belongs to the step.
    pub id: Option<Value>,
    /// Seconds to wait for the answer or the state, instead of the usual limit.
    pub within: Option<f64>,
    /// `_meta` for the parameters.
    pub meta: Option<Map<String, Value>>,
    /// What must hold when the step is over for the rest to be worth doing: where it does not, the scenario ends there and
    /// all that it covers is inconclusive.
    pub require: Vec<Expect>,
    /// What must hold when the step is over.
    pub expect: Vec<Expect>,
    /// What is only recorded.
    pub note: Vec<Expect>,
}

/// What a step does. Each method's parameters are laid over those that the harness would send by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `initialize`.
    Initialize(Params),
    /// `authenticate`; `methodId` is implied by the profile.
    Authenticate(Params),
    /// `logout`.
    Logout(Params),
    /// `session/new`.
    New {
        /// Its parameters.
        params: Params,
        /// The name by which later steps refer to the session: the last one, where there are several.
        opens: String,
        /// So many are opened one after the other, as long as the step's `within` allows.
        times: u64,
    },
    /// `session/load` of the step's session.
    Load(Params),
    /// `session/resume` of the step's session.
    Resume(Params),
    /// `session/list`.
    List(Params),
    /// `session/close` of the step's session.
    Close(Params),
    /// `session/delete` of the step's session.
    Delete(Params),
    /// `session/set_mode`.
    SetMode(Params),
    /// `session/set_config_option`.
    SetConfigOption(Params),
    /// `session/prompt` with these content blocks. A turn.
    Prompt(Vec<Value>),
    /// The notification `session/cancel`.
    Cancel(Params),
    /// A request of any method, with these parameters and no others; `None` leaves `params` out.
    Request {
        /// The method.
        method: String,
        /// All of its parameters.
        params: Option<Params>,
    },
    /// A notification of any method, as for a request.
    Notify {
        /// The method.
        method: String,
        /// All of its parameters.
        params: Option<Params>,
    },
    /// The notification `$/cancel_request` for the request of that step.
    CancelRequest(String),
    /// Bytes for the agent's stdin as they are. Always a probe, even where nothing says what is wrong with them.
    Send(RawInput),
    /// Nothing is done for so many milliseconds.
    Wait(u64),
    /// Wait for a state.
    Until(Until),
    /// Let the held model stream go on.
    Release,
    /// Answer the permission request that is held open.
    Answer(Permission),
    /// Await the answer of the earlier step of that name.
    Finish(String),
    /// Close the agent's stdin.
    CloseStdin,
    /// End the agent and start it again, in the same folders.
    Restart,
    /// Send a signal to the agent, named without `SIG`: one of `TERM`, `INT`, `HUP`, `KILL`.
    Signal(String),
    /// Write a file of the session's folder, as a user would meanwhile.
    Write {
        /// Relative to the session's folder, never out of it.
        path: String,
        /// The whole new text.
        text: String,
    },
}

impl Action {
    /// The key by which the file writes it.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::Authenticate(_) => "authenticate",
            Self::Logout(_) => "logout",
            Self::New { .. } => "new",
            Self::Load(_) => "load",
            Self::Resume(_) => "resume",
            Self::List(_) => "list",
            Self::Close(_) => "close",
            Self::Delete(_) => "delete",
            Self::SetMode(_) => "set_mode",
            Self::SetConfigOption(_) => "set_config_option",
            Self::Prompt(_) => "prompt",
            Self::Cancel(_) => "cancel",
            Self::Request { .. } => "request",
            Self::Notify { .. } => "notify",
            Self::CancelRequest(_) => "cancel_request",
            Self::Send(_) => "send",
            Self::Wait(_) => "wait",
            Self::Until(_) => "until",
            Self::Release => "release",
            Self::Answer(_) => "answer",
            Self::Finish(_) => "finish",
            Self::CloseStdin => "close_stdin",
            Self::Restart => "restart",
            Self::Signal(_) => "signal",
            Self::Write { .. } => "write",
        }
    }

    /// Whether it holds the placeholder for a slash command that the agent has announced.
    #[must_use]
    pub fn asks_for_a_command(&self) -> bool {
        let mut asked = false;
        let _ = self.fill(&mut |placeholder| {
            asked |= *placeholder == Placeholder::Command;
            Some(Value::Null)
        });
        asked
    }

    /// Whether it sends a request, which is answered.
    #[must_use]
    pub fn is_request(&self) -> bool {
        matches!(
            self,
            Self::Initialize(_)
                | Self::Authenticate(_)
                | Self::Logout(_)
                | Self::New { .. }
                | Self::Load(_)
                | Self::Resume(_)
                | Self::List(_)
                | Self::Close(_)
                | Self::Delete(_)
                | Self::SetMode(_)
                | Self::SetConfigOption(_)
                | Self::Prompt(_)
                | Self::Request { .. }
        )
    }

    /// Whether the implied parameters hold the id of the step's session.
    #[must_use]
    pub fn names_session(&self) -> bool {
        matches!(
            self,
            Self::Load(_)
                | Self::Resume(_)
                | Self::Close(_)
                | Self::Delete(_)
                | Self::SetMode(_)
                | Self::SetConfigOption(_)
                | Self::Prompt(_)
                | Self::Cancel(_)
        )
    }

    /// Whether its parameters hold a session id of their own, or are given as a whole, so that no session need be open.
    pub fn gives_session(&self) -> bool {
        match self {
            Self::Load(params)
            | Self::Resume(params)
            | Self::Close(params)
            | Self::Delete(params)
            | Self::SetMode(params)
            | Self::SetConfigOption(params)
            | Self::Cancel(params) => match params {
                Params::Over(members) => members.contains_key("sessionId"),
                Params::Exact(_) => true,
            },
            _ => false,
        }
    }
}

/// Parameters of a message. Placeholders in them are filled in at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Params {
    /// Members that are laid over the implied ones, each in place of the implied one of its name.
    Over(Map<String, Value>),
    /// The exact JSON text of all parameters.
    Exact(String),
}

/// Bytes for the agent's stdin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawInput {
    /// Pieces, each followed by a newline if `newline` is set. Placeholders in them are filled in at run time, unless they
    /// are no UTF-8.
    pub lines: Vec<Vec<u8>>,
    /// Whether each line is ended by a newline.
    pub newline: bool,
    /// How they are written.
    pub split: Split,
}

/// How bytes are written to the agent's stdin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// A write for each line.
    #[default]
    Lines,
    /// A write for each byte.
    Bytes,
    /// All lines in one write.
    OneWrite,
}

/// A state that a step waits for, in the step's session where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// So many characters of agent text in the current turn.
    Text(u64),
    /// An update of that kind in the current turn.
    Update(String),
    /// A tool call of the current turn that is in this state.
    Tool(ToolState),
    /// A permission request is open.
    Permission,
    /// The model's held stream was reached.
    Held,
    /// The agent sent a request of that method.
    Request(String),
    /// A file of the session's folder is there: relative to it, never out of it.
    File(String),
}

/// The state of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// Whatever it is.
    Any,
    /// `pending`, also where no status was given.
    Pending,
    /// `in_progress`.
    InProgress,
    /// `completed`.
    Completed,
    /// `failed`.
    Failed,
}

/// How a permission request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// The first option of the kind `allow_once`; not offered: `allow_always`, else inconclusive.
    AllowOnce,
    /// The first option of the kind `allow_always`; not offered: inconclusive.
    AllowAlways,
    /// The first option of the kind `reject_once`; not offered: `reject_always`, else inconclusive.
    RejectOnce,
    /// The first option of the kind `reject_always`; not offered: inconclusive.
    RejectAlways,
    /// The outcome `cancelled`.
    Cancelled,
    /// A JSON-RPC error. A probe.
    Error,
    /// The JSON-RPC error -32800, as a client may answer what it cancels.
    RequestCancelled,
    /// An option id that was not offered. A probe.
    Unoffered,
    /// An outcome that the protocol does not have. A probe.
    UnknownOutcome,
    /// No answer until a step `answer`, a cancel (then `cancelled`) or the end.
    Hold,
}

/// What becomes of requests of the agent other than permission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requests {
    /// They are served as the client's capabilities say.
    #[default]
    Serve,
    /// Each is answered with -32601.
    Refuse,
}
