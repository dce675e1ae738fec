//! Which servers a scenario has.

/// One server, as it stands under `[[mcp]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its name, in `mcpServers` and for the steps.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// The arguments that it is to be started with; empty but for [`Transport::Stdio`].
    pub args: Vec<String>,
    /// The variables that it is to be started with; empty but for [`Transport::Stdio`].
    pub env: Vec<(String, String)>,
    /// The headers that each request is to have; empty for [`Transport::Stdio`].
    pub headers: Vec<(String, String)>,
    /// Whether it works.
    pub state: State,
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// A program that the agent starts, over its stdin and stdout.
    #[default]
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The form before it: a stream of events, and an address for messages.
    Sse,
}

/// Whether a server works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It does.
    #[default]
    Works,
    /// It reads and never answers.
    Silent,
    /// Nothing is where it is said to be.
    Missing,
}
