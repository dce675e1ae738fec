//! Errors that every interface has in a form of its own.

/// Headers by name and value.
pub(crate) type Headers = &'static [(&'static str, &'static str)];

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// An HTTP status.
    Status(u16),
    /// Too many requests.
    RateLimit,
    /// The model has too much to do.
    Overloaded,
    /// The conversation is longer than the model can read.
    Context,
}

/// An error, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorReply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The body, in JSON.
    pub(crate) body: String,
    /// Headers that the interface has with it, beside the advice when to try again that all have.
    pub(crate) headers: Headers,
}

/// One row of an interface's table of errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// What it is for; the status 0 is for any other.
    pub(crate) trouble: Trouble,
    /// The HTTP status, where `trouble` does not say it.
    pub(crate) status: u16,
    /// The type of the error.
    pub(crate) kind: &'static str,
    /// The code of the error.
    pub(crate) code: Option<&'static str>,
    /// The usual message.
    pub(crate) message: &'static str,
}

impl Row {
    /// One without a code.
    pub(crate) const fn plain(
        trouble: Trouble,
        status: u16,
        kind: &'static str,
        message: &'static str,
    ) -> Self {
        Self {
            trouble,
            status,
            kind,
            code: None,
            message,
        }
    }
}

/// The row for a trouble, with the status that is sent.
pub(crate) fn row(table: &'static [Row], trouble: Trouble) -> Row {
    let asked = match trouble {
        Trouble::Status(status) => status,
        _ => 0,
    };
    let exact = table.iter().find(|row| row.trouble == trouble);
    let same = table.iter().find(|row| row.status == asked);
    let other = Row {
        trouble,
        status: 500,
        kind: "server_error",
        code: None,
        message: "The request failed.",
    };
    let mut row = exact.or(same).or(table.last()).copied().unwrap_or(other);
    if asked != 0 {
        row.status = asked;
    }
    row
}
