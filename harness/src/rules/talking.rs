//! Writes a conversation in a few lines, for the tests of rules.
//!
//! Each line is one event: `> {json}` from the client, `< {json}` from the agent, `>? text` a probe of the client,
//! `>x` stdin closed, `<x` stdout closed, `! 15` a signal of the harness, `exit 0`, `wait 0.5` moves the clock on,
//! `unanswered 5` the harness gave up waiting for the answer to request 5, `model 500` a status of the model.
//! `jsonrpc` is put in where it is left out.

use super::{Judge, Judgement, Place, judge::judge_all};
use crate::trace::{Body, Event, Exchange, ExchangePart, Exit, Party};

/// The events that the lines tell, a millisecond apart.
pub(crate) fn events(lines: &str) -> Vec<Event> {
    let mut at = 0.0;
    let mut events = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (from, body, probe) = match word {
            ">" => (Party::Client, wire(rest), None),
            ">?" => (Party::Client, wire(rest), Some("on purpose".to_owned())),
            "<" => (Party::Agent, wire(rest), None),
            ">x" => (Party::Client, Body::Eof, None),
            "<x" => (Party::Agent, Body::Eof, None),
            "!" => (Party::Harness, Body::Signal(rest.parse().unwrap()), None),
            "exit" => (
                Party::Agent,
                Body::Exit(Exit::Code(rest.parse().unwrap())),
                None,
            ),
            "unanswered" => (
                Party::Harness,
                Body::Unanswered {
                    id: serde_json::from_str(rest).unwrap(),
                    seconds: 30.0,
                },
                None,
            ),
            "model" => (
                Party::Model,
                Body::Model(Exchange {
                    exchange: 1,
                    part: ExchangePart::Status(rest.parse().unwrap()),
                }),
                None,
            ),
            "wait" => {
                at += rest.parse::<f64>().unwrap();
                continue;
            }
            other => unreachable!("no event begins with {other}"),
        };
        at += 0.001;
        events.push(Event {
            at,
            from,
            body,
            probe,
            redacted: false,
        });
    }
    events
}

/// What all rules find in the conversation.
pub(crate) fn judged(lines: &str) -> Judgement {
    judge_all(true, &events(lines))
}

/// What all rules find in a conversation whose recording begins late.
pub(crate) fn judged_late(lines: &str) -> Judgement {
    judge_all(false, &events(lines))
}

/// What all rules find in the conversation as a recording of unknown origin.
pub(crate) fn judged_stored(lines: &str) -> Judgement {
    let mut judge = Judge::of_recording(true);
    for event in &events(lines) {
        judge.see(event);
    }
    judge.finish().0
}

/// Every failure as `ID@event/path`, by id.
pub(crate) fn failures(judgement: &Judgement) -> Vec<String> {
    judgement
        .iter()
        .flat_map(|(id, tally)| tally.findings.iter().map(move |finding| (id, finding)))
        .map(|(id, finding)| match &finding.place {
            Some(place) => format!("{id}@{}{}", place.event, place.path),
            None => id.to_owned(),
        })
        .collect()
}

/// Whether the requirement was seen to hold, and never not to hold.
pub(crate) fn holds(judgement: &Judgement, id: &str) -> bool {
    judgement
        .get(id)
        .is_some_and(|tally| tally.passes > 0 && tally.fails == 0)
}

/// Whether it was said why the requirement could not be judged.
pub(crate) fn is_inconclusive(judgement: &Judgement, id: &str) -> bool {
    judgement
        .get(id)
        .is_some_and(|tally| tally.fails == 0 && !tally.inconclusive.is_empty())
}

/// How many notes a requirement has.
pub(crate) fn notes(judgement: &Judgement, id: &str) -> usize {
    judgement.get(id).map_or(0, |tally| tally.notes.len())
}

/// Every failure as requirement, event and path, by requirement and event.
pub(crate) fn failed(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
    let mut failures: Vec<_> = judgement
        .iter()
        .flat_map(|(id, tally)| {
            tally.findings.iter().map(move |finding| {
                let place = finding.place.clone().unwrap_or_else(|| Place::event(0));
                (id, place.event, place.path)
            })
        })
        .collect();
    failures.sort();
    failures
}

/// The handshake and a session `s1` in `/project`, to begin a conversation with: ids 0 and 1 are used.
pub(crate) const OPENING: &str = r#"
    > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}},"clientInfo":{"name":"c","version":"1"}}}
    < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":"1"},"authMethods":[]}}
    > {"id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
    < {"id":1,"result":{"sessionId":"s1"}}
"#;

fn wire(text: &str) -> Body {
    let text = match text.strip_prefix('{') {
        Some(rest) if !text.contains("\"jsonrpc\"") && rest.len() > 1 => {
            format!("{{\"jsonrpc\":\"2.0\",{rest}")
        }
        _ => text.to_owned(),
    };
    Body::of_line(text.into_bytes(), false)
}
