//! The interfaces of model servers, each behind one trait: how its requests are read, how its replies, errors and lists
//! are written, and how a recorded reply of it is read back.

mod body;
mod chat;
mod error;
mod gemini;
mod messages;
mod openai;
mod responses;
mod route;
mod said;

pub(in crate::model) use body::parts;
pub(crate) use error::{ErrorReply, Headers, Trouble};
pub(crate) use route::{Purpose, family, of_request, replying, served};
pub(crate) use said::{Said, SaidCall};

use std::fmt::Debug;

use super::asked::Asked;
use super::family::Family;
use super::reply::{Piece, Plan};

/// The name of the model where a request gives none.
pub(crate) const MODEL: &str = "scripted";
/// The type of a body of JSON.
pub(crate) const JSON: &str = "application/json";
/// The type of a stream of events.
pub(crate) const EVENTS: &str = "text/event-stream; charset=utf-8";

/// One interface.
pub(crate) trait Interface: Debug + Sync {
    /// Reads a request for a reply, or for the count of its tokens. `path` has the query.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the request.
    fn asked(&self, path: &str, body: &str) -> Result<Asked, String>;

    /// What writes the reply to a request.
    fn writer(&self, opened: &Opened<'_>) -> Box<dyn Writer>;

    /// An error in the interface's own form.
    fn error(&self, trouble: Trouble, message: Option<&str>) -> ErrorReply;

    /// The answer to a request for the count of tokens; `None` where the interface has no such request.
    fn count(&self, tokens: u64) -> Option<String>;

    /// The list of models with these names.
    fn models(&self, names: &[&str]) -> String;

    /// One model; any name is known.
    fn model(&self, name: &str) -> String;

    /// The family that it belongs to.
    fn family(&self) -> Family;

    /// The header that carries the id of an exchange.
    fn id_header(&self) -> Option<&'static str>;

    /// Reads a reply that was recorded, streamed or whole, of this status.
    fn said(&self, status: u16, reply: &str) -> Said;
}

/// The exchange that a reply is written for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened<'a> {
    /// The number of the exchange, which makes ids unique.
    pub(crate) number: u64,
    /// The time, in seconds since 1970.
    pub(crate) seconds: u64,
    /// The path, with the query.
    pub(crate) path: &'a str,
    /// What was asked.
    pub(crate) asked: &'a Asked,
}

/// Writes one reply: streamed (`opening`, each `piece`, `closing`), or `whole`.
pub(crate) trait Writer: Send + Sync {
    /// The type of a streamed body; a whole one is JSON.
    fn stream_type(&self) -> &'static str {
        EVENTS
    }

    /// What a stream begins with, event by event.
    fn opening(&mut self, plan: &Plan) -> Vec<String>;

    /// The events of a piece; none for [`Piece::Hold`].
    fn piece(&mut self, piece: &Piece) -> Vec<String>;

    /// What a stream ends with, event by event.
    fn closing(&mut self, plan: &Plan) -> Vec<String>;

    /// The whole body of a reply that is not streamed.
    fn whole(&mut self, plan: &Plan) -> String;
}

#[cfg(test)]
mod tests;
