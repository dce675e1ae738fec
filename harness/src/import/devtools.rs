//! Sessions that acp-devtools has exported: one JSON document with each line of the wire as it was.

use std::io::{BufRead, Read as _};

use serde::Deserialize;

use super::recognise::{Look, recognise};
use super::time::{Clock, Time, rfc3339};
use super::{Format, ImportError, Outcome, Sink, header, json};
use crate::trace::{Body, Event, Party};

/// The largest document that is read.
const LARGEST: u64 = 2 * 1024 * 1024 * 1024;
/// The version of the format that is read.
const VERSION: u64 = 1;

#[derive(Deserialize)]
struct Export {
    version: Option<u64>,
    session: Session,
    messages: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    agent_command: Option<String>,
    #[serde(default)]
    started_at: Option<f64>,
}

#[derive(Deserialize)]
struct Entry {
    timestamp: f64,
    direction: String,
    raw: String,
}

pub(super) fn import(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<Outcome, ImportError> {
    let mut text = String::new();
    input
        .take(LARGEST)
        .read_to_string(&mut text)
        .map_err(ImportError::Read)?;
    let export: Export = serde_json::from_str(&text).map_err(|error| unfit(&text, &error))?;
    if export.version != Some(VERSION) {
        return Err(ImportError::Unfit(format!(
            "its version is {}, expected {VERSION}",
            export
                .version
                .map_or("missing".to_owned(), |it| it.to_string())
        )));
    }
    let mut outcome = Outcome::default();
    let mut header = header(Format::AcpDevtools);
    let clock_time = |milliseconds: f64| Time {
        seconds: milliseconds / 1e3,
        clock: true,
    };
    header.recorded = export
        .session
        .started_at
        .and_then(|at| rfc3339(clock_time(at)));
    header.command = export
        .session
        .agent_command
        .as_deref()
        .map(|command| shell_words::split(command).unwrap_or_else(|_| vec![command.to_owned()]))
        .unwrap_or_default();
    header.about = export.session.name;
    let first = export
        .messages
        .iter()
        .find_map(|entry| json::message(&entry.raw));
    outcome.start = first.is_some_and(|message| message.method() == Some("initialize"));
    header.start = (!outcome.start).then_some(false);
    sink.header(&header).map_err(ImportError::Write)?;
    let mut clock = Clock::default();
    if let Some(started) = export.session.started_at {
        clock.at(Some(clock_time(started)));
    }
    for (number, entry) in export.messages.into_iter().enumerate() {
        let party = match entry.direction.as_str() {
            "editor-to-agent" => Party::Client,
            "agent-to-editor" => Party::Agent,
            _ => {
                outcome.damaged.add(number as u64 + 1);
                continue;
            }
        };
        match party {
            Party::Client => outcome.client += 1,
            _ => outcome.agent += 1,
        }
        let at = clock.at(Some(clock_time(entry.timestamp)));
        let body = Body::of_line(entry.raw.into_bytes(), false);
        sink.event(Event::new(at, party, body))
            .map_err(ImportError::Write)?;
    }
    Ok(outcome)
}

fn unfit(text: &str, error: &serde_json::Error) -> ImportError {
    let hint = match recognise(&mut text.as_bytes()) {
        Ok(Some(Look::Trace)) => "this is a trace already: `harness check` judges it as it is",
        Ok(Some(Look::Other(Format::Conductor))) => {
            "this looks like a trace of the conductor: use --from conductor"
        }
        Ok(Some(Look::Other(Format::Raw))) => "this looks like lines of JSON-RPC: use --from raw",
        _ => {
            return ImportError::Unfit(format!(
                "it is no export of acp-devtools, which is a JSON document with `session` and `messages`: {error}"
            ));
        }
    };
    ImportError::Unfit(hint.to_owned())
}
