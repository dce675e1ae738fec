//! What a file looks like, by its beginning.

use std::io::{self, BufRead, Read as _};

use serde_json::value::RawValue;

use super::{Format, json, line};

/// So much of a file is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// What a file looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A trace of this project.
    Trace,
    /// The recording of another tool.
    Other(Format),
}

/// What a file looks like by its beginning; `None` where nothing in it is known.
///
/// # Errors
/// What reading gave.
pub fn recognise(input: &mut dyn BufRead) -> io::Result<Option<Look>> {
    let mut head = Vec::new();
    input.take(LOOKED_AT as u64).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    let head = head.trim_start_matches('\u{feff}');
    if let Some(look) = document(head) {
        return Ok(Some(look));
    }
    let looks = head.lines().take(50).filter_map(line);
    let mut raw = None;
    for look in looks {
        if look != Look::Other(Format::Raw) {
            return Ok(Some(look));
        }
        raw = Some(look);
    }
    Ok(raw)
}

/// A JSON document over lines, of which the beginning tells what it is.
fn document(head: &str) -> Option<Look> {
    let head = head.trim_start();
    let is_export = head.starts_with('{')
        && head.contains("\"exportedAt\"")
        && head.contains("\"tool\"")
        && !head.starts_with("{\"jsonrpc\"");
    is_export.then_some(Look::Other(Format::AcpDevtools))
}

/// What one line looks like.
pub(super) fn line(text: &str) -> Option<Look> {
    if let Some(members) = json::members(text.trim()) {
        let get = |name: &str| {
            members
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| value.as_ref())
        };
        if get("acptrace").is_some() {
            return Some(Look::Trace);
        }
        if get("exportedAt").is_some() && get("messages").is_some() {
            return Some(Look::Other(Format::AcpDevtools));
        }
        if get("jsonrpc").is_none() && is_conductors(&get) {
            return Some(Look::Other(Format::Conductor));
        }
    }
    let piece = line::piece(1, text);
    matches!(piece.what, line::What::Message(..)).then_some(Look::Other(Format::Raw))
}

/// An event of the conductor has a type, a number of seconds and two ends.
fn is_conductors<'a>(get: &impl Fn(&str) -> Option<&'a RawValue>) -> bool {
    let kind = get("type").and_then(json::string);
    let known = matches!(
        kind.as_deref(),
        Some("request" | "response" | "notification" | "trace")
    );
    let ends =
        get("from").and_then(json::string).is_some() && get("to").and_then(json::string).is_some();
    let content = get("method").is_some() || get("payload").is_some();
    known && ends && content && get("ts").is_some_and(|ts| ts.get().parse::<f64>().is_ok())
}
