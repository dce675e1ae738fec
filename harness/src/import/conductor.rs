//! The traces of `agent-client-protocol-conductor --trace FILE`: one event of a chain of components a line.
//!
//! A chain has a hop between each two components. The hop to the agent is taken; where there is none, the one to the client.

use std::io::{BufRead, Read as _};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Format, ImportError, Look, Outcome, Sink, header, recognise};
use crate::trace::{Body, Event, Party};

/// The longest line that is read.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;
/// So many events are looked at to find out which hop there is.
const HELD: usize = 2_000;
/// So much of a file that is not the conductor's is looked at to tell what it is.
const LOOKED_AT: usize = 64 * 1024;
/// What the conductor writes in the place of credentials.
const REDACTED: &str = "[REDACTED]";

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    ts: f64,
    #[serde(default)]
    protocol: Option<String>,
    from: String,
    to: String,
    #[serde(default)]
    id: Option<Box<RawValue>>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    payload: Option<Box<RawValue>>,
}

/// The ends of the hop that is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hop {
    Agent,
    Client,
}

pub(super) fn import(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<Outcome, ImportError> {
    let mut outcome = Outcome {
        rewritten: true,
        ..Outcome::default()
    };
    let mut held: Vec<(u64, Entry)> = Vec::new();
    let mut line = 0;
    let mut first = String::new();
    while held.len() < HELD {
        let Some(text) = read(input)? else { break };
        line += 1;
        if text.trim().is_empty() {
            continue;
        }
        if first.len() < LOOKED_AT {
            first.push_str(&text);
        }
        match serde_json::from_str(&text) {
            Ok(entry) => held.push((line, entry)),
            Err(_) => outcome.damaged.add(line),
        }
    }
    let hop = hop(&held).ok_or_else(|| unfit(&first))?;
    let mut header = header(Format::Conductor);
    let begins = held
        .iter()
        .find(|(_, entry)| sender(entry, hop).is_some() && is_message(entry));
    outcome.start = begins.is_some_and(|(_, entry)| entry.method.as_deref() == Some("initialize"));
    header.start = (!outcome.start).then_some(false);
    sink.header(&header).map_err(ImportError::Write)?;
    for (number, entry) in held {
        put(number, &entry, hop, sink, &mut outcome)?;
    }
    while let Some(text) = read(input)? {
        line += 1;
        if text.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&text) {
            Ok(entry) => put(line, &entry, hop, sink, &mut outcome)?,
            Err(_) => outcome.damaged.add(line),
        }
    }
    Ok(outcome)
}

fn read(input: &mut dyn BufRead) -> Result<Option<String>, ImportError> {
    let mut bytes = Vec::new();
    let read = input
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut bytes)
        .map_err(ImportError::Read)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

fn unfit(first: &str) -> ImportError {
    let what = if first.is_empty() {
        "it is empty".to_owned()
    } else {
        match recognise(&mut first.as_bytes()).unwrap_or_default() {
            Some(Look::Trace) => {
                "this is a trace already: `harness check` judges it as it is".to_owned()
            }
            Some(Look::Other(Format::AcpDevtools)) => {
                "this looks like an export of acp-devtools: use --from acp-devtools".to_owned()
            }
            Some(Look::Other(Format::Raw)) => {
                "this looks like lines of JSON-RPC: use --from raw".to_owned()
            }
            _ => "no event of the conductor was found in it: expected lines such as \
                 {\"type\":\"request\",\"ts\":0.1,\"from\":\"Client\",\"to\":\"Agent\",…}"
                .to_owned(),
        }
    };
    ImportError::Unfit(what)
}

/// The hop to take; `None` where no entry is of any.
fn hop(held: &[(u64, Entry)]) -> Option<Hop> {
    let has = |name: &str| {
        held.iter()
            .any(|(_, entry)| is(&entry.from, name) || is(&entry.to, name))
    };
    if has("agent") {
        Some(Hop::Agent)
    } else {
        has("client").then_some(Hop::Client)
    }
}

fn is(component: &str, name: &str) -> bool {
    component.eq_ignore_ascii_case(name)
}

/// Who of the two sides of the protocol sent an entry, if it is of the hop.
fn sender(entry: &Entry, hop: Hop) -> Option<Party> {
    match hop {
        Hop::Agent if is(&entry.from, "agent") => Some(Party::Agent),
        Hop::Agent if is(&entry.to, "agent") => Some(Party::Client),
        Hop::Client if is(&entry.from, "client") => Some(Party::Client),
        Hop::Client if is(&entry.to, "client") => Some(Party::Agent),
        _ => None,
    }
}

/// Whether an entry is a message of the protocol itself, not of MCP within it.
fn is_message(entry: &Entry) -> bool {
    matches!(entry.kind.as_str(), "request" | "response" | "notification")
        && entry.protocol.as_deref() != Some("mcp")
}

fn put(
    line: u64,
    entry: &Entry,
    hop: Hop,
    sink: &mut dyn Sink,
    outcome: &mut Outcome,
) -> Result<(), ImportError> {
    let Some(party) = sender(entry, hop).filter(|_| is_message(entry)) else {
        outcome.left_out.add(line);
        return Ok(());
    };
    let Some(text) = text(entry) else {
        outcome.damaged.add(line);
        return Ok(());
    };
    match party {
        Party::Client => outcome.client += 1,
        _ => outcome.agent += 1,
    }
    let redacted = text.contains(REDACTED);
    let mut event = Event::new(entry.ts, party, Body::of_line(text.into_bytes(), false));
    event.redacted = redacted;
    sink.event(event).map_err(ImportError::Write)
}

/// The message that an entry tells of.
fn text(entry: &Entry) -> Option<String> {
    let mut out = String::from(r#"{"jsonrpc":"2.0""#);
    let mut put = |name: &str, json: &str| {
        out.push_str(&format!(",\"{name}\":{json}"));
    };
    if let Some(id) = &entry.id {
        put("id", id.get());
    }
    if entry.kind == "response" {
        entry.id.as_ref()?;
        let name = if entry.is_error { "error" } else { "result" };
        put(name, entry.payload.as_ref().map_or("null", |raw| raw.get()));
    } else {
        put("method", &Value::from(entry.method.as_deref()?).to_string());
        // No params are written as null.
        if let Some(params) = entry.params.as_ref().filter(|raw| raw.get() != "null") {
            put("params", params.get());
        }
    }
    out.push('}');
    Some(out)
}
