//! What answers a conversation.

mod chat_stream;
mod directive;
mod embedded;
mod openai;
mod reason;
mod slot;
mod sse;

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::history::{Call, History, Message};
use crate::mcp;
use crate::options::Effort;
use crate::settings::Kind;
use crate::tools::Tool;
use crate::usage::Counted;

pub(crate) use reason::root_cause;
pub(crate) use slot::Slot;

/// One piece of an answer, as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fragment {
    /// Text for the user, white space kept.
    Text(String),
    /// Reasoning, which surface 0.11.0 does not show.
    Thought(String),
    /// A tool call, complete.
    Call(Call),
    /// Tokens of the answer.
    Counted(Counted),
}

/// Why an answer or a summary failed: one sentence, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Failure(pub(crate) String);

/// What a model answers to.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) history: &'a History,
    /// The tools that it may call.
    pub(crate) tools: &'a [&'static Tool],
    /// Those of the session's MCP servers.
    pub(crate) server_tools: &'a [mcp::Tool],
    pub(crate) effort: Effort,
    /// Whether the embedded model obeys every directive.
    pub(crate) more_directives: bool,
}

/// Something that answers. Dropping a stream or a future ends the request behind it.
pub(crate) trait Model: Send + Sync {
    /// Streams the next answer to a conversation. The stream ends when the answer is complete.
    fn answer<'a>(&'a self, asked: Asked<'a>) -> BoxStream<'a, Result<Fragment, Failure>>;

    /// Puts messages into a few words.
    fn summary<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<String, Failure>>;
}

/// Which model, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) kind: Kind,
    pub(crate) name: Option<String>,
}

/// The model server, from the environment.
#[derive(Clone, Default)]
pub(crate) struct Server {
    /// `OPENAI_BASE_URL`, with its `/v1`; an empty variable counts as none.
    pub(crate) base_url: Option<String>,
    /// `OPENAI_API_KEY`.
    pub(crate) api_key: Option<String>,
}

impl Server {
    pub(crate) fn from_environment() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            base_url: variable("OPENAI_BASE_URL"),
            api_key: variable("OPENAI_API_KEY"),
        }
    }
}

impl Choice {
    /// A flag outranks a setting; without both, a known model server is used.
    pub(crate) fn new(flag: &Flags, settings: &crate::settings::Model, server: &Server) -> Self {
        let by_itself = if server.base_url.is_some() {
            Kind::OpenAi
        } else {
            Kind::Embedded
        };
        Self {
            kind: flag.kind.or(settings.kind).unwrap_or(by_itself),
            name: flag.name.clone().or_else(|| settings.name.clone()),
        }
    }

    /// Makes the model.
    ///
    /// # Errors
    ///
    /// Says why a client for the server cannot be made.
    pub(crate) fn open(&self, server: &Server) -> Result<Box<dyn Model>, Failure> {
        Ok(match self.kind {
            Kind::Embedded => Box::new(embedded::Embedded::default()),
            Kind::OpenAi => Box::new(openai::OpenAi::new(server, self.name.as_deref())?),
        })
    }
}

/// What the command line says of the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) kind: Option<Kind>,
    pub(crate) name: Option<String>,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.kind, &self.name) {
            (Kind::Embedded, _) => f.write_str("embedded"),
            (Kind::OpenAi, None) => f.write_str("openai"),
            (Kind::OpenAi, Some(name)) => write!(f, "openai {name}"),
        }
    }
}
