//! One event as a line of the picture.

/// From where to where the line of a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the client to the agent.
    ToAgent,
    /// From the agent to the client.
    ToClient,
    /// It stands beside the agent: its stderr, its end.
    AtAgent,
    /// From the agent to its model.
    ToModel,
    /// From the model to the agent.
    FromModel,
}

/// How the line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// A request.
    Request,
    /// An answer.
    Answer,
    /// What wants no answer.
    Notice,
}

/// How much it stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As the rest.
    Plain,
    /// An error, or what is no message.
    Bad,
    /// What is not part of the protocol.
    Faint,
}

/// What makes a step one of a run that is shown as a single step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The same for all of a run.
    pub(crate) key: String,
    /// The text of this one, where the texts of a run are read as one; else its bytes are counted.
    pub(crate) text: Option<String>,
    /// How many bytes it holds.
    pub(crate) bytes: usize,
    /// How many events it stands for.
    pub(crate) count: u64,
}

/// One event, or a run of them, as a line of the picture. Its texts are as they were on the wire: they are made safe where
/// they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// The number of the event, from 0; of a run, of the first.
    pub(crate) event: u64,
    /// The number of the last event of a run.
    pub(crate) last: u64,
    /// When, in seconds since the recording began; of a run, when the first was.
    pub(crate) at: f64,
    /// When the last event of a run was.
    pub(crate) until: f64,
    /// From where to where.
    pub(crate) way: Way,
    /// How the line is drawn.
    pub(crate) stroke: Stroke,
    /// What it is: a method, a kind of update.
    pub(crate) title: String,
    /// The id of a request or of an answer.
    pub(crate) id: Option<String>,
    /// What is in it, shortened.
    pub(crate) detail: String,
    /// How much it stands out.
    pub(crate) tone: Tone,
    /// The event of the request that this answers, and the seconds since.
    pub(crate) answers: Option<(u64, f64)>,
    /// The method, of an answer that of its request.
    pub(crate) method: Option<String>,
    /// The kind of a session update.
    pub(crate) kind: Option<String>,
    /// The id of its session; of what names none, the session whose turn is the only one under way.
    pub(crate) session: Option<String>,
    /// The number of that session, from 1 in the order in which the recording names them, and that of its turn.
    pub(crate) place: Option<(usize, Option<u64>)>,
    /// Whether the client has a request of the agent to answer.
    pub(crate) client_busy: bool,
    /// Whether the agent has a request of the client to answer.
    pub(crate) agent_busy: bool,
    /// Set where it may be part of a run.
    pub(crate) run: Option<Run>,
}
