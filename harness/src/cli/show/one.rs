//! One event whole.

use std::io::{self, BufRead, Write};

use super::source::{self, Item};
use crate::report::Screen;
use crate::report::picture::{Narrator, Step, Way};
use crate::report::pretty::pretty;
use crate::trace::{Body, Event, Exchange, ExchangePart, Party, TraceReader};

/// Shows an event with each member of its message on a line; gives how many events there are where it is not there.
///
/// # Errors
/// What reading or writing gave.
pub(super) fn show(
    mut reader: TraceReader<impl BufRead>,
    wanted: u64,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<Option<u64>> {
    let mut narrator = Narrator::default();
    let mut number = 0;
    while let Some(item) = source::next(&mut reader)? {
        match item {
            Item::Event(event) => {
                let (step, request) = narrator.tell(number, &event);
                if number == wanted {
                    writeln!(out, "{}", head(&step, &event, screen))?;
                    if let Some(request) = request {
                        let to = format!("answers event {}: {}", request.event, request.title);
                        writeln!(out, "{}", screen.paint.faint(&screen.text(&to)))?;
                    }
                    if let Some(probe) = &event.probe {
                        let probe = format!("a probe, wrong on purpose: {probe}");
                        writeln!(out, "{}", screen.paint.faint(&screen.text(&probe)))?;
                    }
                    for line in body(&event, &step) {
                        writeln!(out, "{}", screen.text(&line))?;
                    }
                    return Ok(None);
                }
                number += 1;
            }
            Item::Header => narrator.begins_anew(),
            Item::Damage(_) | Item::Idle => {}
        }
    }
    Ok(Some(number))
}

fn head(step: &Step, event: &Event, screen: Screen) -> String {
    let way = match (step.way, event.from) {
        (Way::ToClient, _) => "agent to client",
        (Way::ToAgent, Party::Harness) => "harness to agent",
        (Way::ToAgent, _) => "client to agent",
        (Way::ToModel, _) => "agent to model",
        (Way::FromModel, _) => "model to agent",
        (Way::AtAgent, Party::Harness) => "the harness",
        (Way::AtAgent, _) => "the agent",
    };
    let mut head = format!("event {}, {:.6} s, {way}", step.event, step.at);
    if let Some((session, turn)) = step.place {
        head.push_str(&format!(", session {session}"));
        if let Some(turn) = turn {
            head.push_str(&format!(", turn {turn}"));
        }
    }
    if event.redacted {
        head.push_str(", redacted");
    }
    screen.paint.strong(&screen.text(&head))
}

/// What the event holds, whole.
fn body(event: &Event, step: &Step) -> Vec<String> {
    let lines = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().map(str::to_owned).collect()
    };
    match &event.body {
        Body::Message { text, .. } => pretty(text),
        Body::Line { bytes, .. } | Body::Stderr(bytes) => lines(bytes),
        Body::Other(value) => pretty(&value.to_string()),
        Body::Model(Exchange { part, .. }) => match part {
            ExchangePart::Request { path, body, .. } => {
                let mut all = vec![path.clone()];
                all.extend(pretty(body));
                all
            }
            ExchangePart::Chunk(chunk) => lines(chunk.as_bytes()),
            ExchangePart::Bytes(bytes) => lines(bytes),
            _ => vec![format!("{}: {}", step.title, step.detail)],
        },
        Body::Left(processes) => processes.clone(),
        Body::Eof | Body::Signal(_) | Body::Exit(_) | Body::Unanswered { .. } => {
            vec![
                format!("{} {}", step.title, step.detail)
                    .trim_end()
                    .to_owned(),
            ]
        }
    }
}
