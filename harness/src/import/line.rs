//! One line of a recording: what of it is the text of a message, and what else it tells.

use serde_json::value::RawValue;

use super::json;
use super::mark::{Mark, arrow, mark};
use super::time::{self, Time};
use crate::trace::Party;
use crate::wire::Message;

/// Members of a wrapper that hold the message, as an object or as text.
const PAYLOADS: [&str; 14] = [
    "message", "msg", "payload", "data", "json", "raw", "frame", "line", "body", "content", "rpc",
    "packet", "text", "fields",
];
/// Members of a wrapper that tell the direction.
const DIRECTIONS: [&str; 14] = [
    "direction",
    "dir",
    "from",
    "sender",
    "source",
    "src",
    "side",
    "origin",
    "way",
    "channel",
    "stream",
    "kind",
    "type",
    "event",
];
/// Members of a wrapper that tell who receives.
const RECEIVERS: [&str; 4] = ["to", "receiver", "destination", "dst"];
/// Members of a wrapper that tell the time.
const TIMES: [&str; 8] = [
    "timestamp",
    "ts",
    "time",
    "at",
    "@timestamp",
    "date",
    "datetime",
    "t",
];

/// What a line holds.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// The number of the line, or of the entry.
    pub(super) line: u64,
    pub(super) time: Option<Time>,
    pub(super) mark: Option<Mark>,
    pub(super) what: What,
}

/// The text of a piece.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A message of the protocol, and its exact text.
    Message(String, Box<Message>),
    /// A line of the wire that holds no message, as a mark at its start tells.
    Wire(String),
    /// Any other text.
    Other(String),
}

/// Takes a line apart.
pub(super) fn piece(line: u64, text: &str) -> Piece {
    let text = text.trim_end_matches(['\r', '\n']);
    let found = of_object(text)
        .or_else(|| of_batch(text))
        .or_else(|| of_prefixed(text));
    match found {
        Some(Found { time, mark, what }) => Piece {
            line,
            time,
            mark,
            what,
        },
        None => match arrow(text) {
            Some((mark, rest)) => Piece {
                line,
                time: None,
                mark: Some(mark),
                what: What::Wire(rest.to_owned()),
            },
            None => Piece {
                line,
                time: time::of_prefix(text),
                mark: None,
                what: What::Other(text.to_owned()),
            },
        },
    }
}

struct Found {
    time: Option<Time>,
    mark: Option<Mark>,
    what: What,
}

/// A message, or a wrapper around one.
fn of_object(text: &str) -> Option<Found> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    let members = json::members(text);
    let is_wrapper = members.as_ref().is_some_and(|members| {
        let has = |name: &str| members.iter().any(|(own, _)| own == name);
        !has("jsonrpc") && PAYLOADS.iter().any(|name| has(name))
    });
    if is_wrapper && let Some(found) = of_wrapper(&members.unwrap_or_default()) {
        return Some(found);
    }
    let message = json::message(text)?;
    Some(Found {
        time: None,
        mark: None,
        what: What::Message(json::on_one_line(text), Box::new(message)),
    })
}

fn of_wrapper(members: &[(String, Box<RawValue>)]) -> Option<Found> {
    let get = |name: &str| {
        members
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_ref())
    };
    let direction = DIRECTIONS
        .iter()
        .find_map(|name| mark(&json::string(get(name)?)?))
        .or_else(|| {
            let to = RECEIVERS
                .iter()
                .find_map(|name| mark(&json::string(get(name)?)?));
            match to? {
                Mark::From(Party::Client) => Some(Mark::From(Party::Agent)),
                Mark::From(_) => Some(Mark::From(Party::Client)),
                _ => None,
            }
        });
    let time = TIMES.iter().find_map(|name| time::of_member(get(name)?));
    let inner =
        PAYLOADS
            .iter()
            .filter_map(|name| get(name))
            .find_map(|payload| match json::string(payload) {
                Some(text) => of_object(&text).or_else(|| of_prefixed(&text)),
                None => {
                    of_object(payload.get()).or_else(|| of_wrapper(&json::members(payload.get())?))
                }
            });
    if let Some(inner) = inner {
        return Some(Found {
            time: time.or(inner.time),
            mark: direction.or(inner.mark),
            what: inner.what,
        });
    }
    // What a tool recorded from stderr, or a line of the wire that is no message.
    let text = PAYLOADS.iter().find_map(|name| json::string(get(name)?))?;
    let what = match direction? {
        Mark::Stderr => What::Other(text),
        _ => What::Wire(text),
    };
    Some(Found {
        time,
        mark: direction,
        what,
    })
}

/// An array of messages on one line.
fn of_batch(text: &str) -> Option<Found> {
    let text = text.trim();
    if !text.starts_with('[') {
        return None;
    }
    let items: Vec<Box<RawValue>> = serde_json::from_str(text).ok()?;
    let message = json::message(items.first()?.get())?;
    Some(Found {
        time: None,
        mark: None,
        what: What::Message(text.to_owned(), Box::new(message)),
    })
}

/// A message behind other text: marks, times, the words of a log.
fn of_prefixed(text: &str) -> Option<Found> {
    for (at, _) in text.match_indices('{') {
        let (before, rest) = (text.get(..at)?, text.get(at..)?);
        // As a quoted string in a log: `line="{\"jsonrpc\":…}"`.
        let quoted = before
            .ends_with('"')
            .then(|| quoted(text.get(at - 1..)?))
            .flatten();
        let whole = serde_json::Deserializer::from_str(rest)
            .into_iter::<&RawValue>()
            .next()
            .and_then(Result::ok)
            .map(RawValue::get);
        let candidate = quoted.as_deref().or(whole);
        if let Some(found) = candidate.and_then(of_object) {
            return Some(Found {
                time: found.time.or_else(|| time::of_prefix(before)),
                mark: found.mark.or_else(|| mark(before)),
                what: found.what,
            });
        }
    }
    None
}

/// The string at the start of a text that begins with a quote.
fn quoted(text: &str) -> Option<String> {
    serde_json::Deserializer::from_str(text)
        .into_iter::<String>()
        .next()?
        .ok()
}
