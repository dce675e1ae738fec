//! The script of a model from the exchanges of a recording: what it replied then, in order.

use serde_json::{Map, Value, json};

use super::interface::{self, Interface, Said, SaidCall};
use super::script::{Call, Calls, Failure, NamedFailure, Reply, Script, Stop, Text};
use super::turns::Cue;
use crate::trace::{Body, Exchange, ExchangeEnd, ExchangePart, Recording};

/// One exchange, put together from its parts.
#[derive(Default)]
struct Heard {
    number: u64,
    path: String,
    body: String,
    /// Whose interface it is, where it is a turn of a conversation.
    interface: Option<&'static dyn Interface>,
    status: Option<u16>,
    reply: String,
    end: Option<ExchangeEnd>,
}

/// What the model of a recording replied to the turns of its conversations; requests beside them are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    /// The replies, in order.
    pub(crate) script: Script,
    /// What each of them was an answer to; empty where only the order tells.
    pub(crate) cues: Vec<Cue>,
}

impl Recorded {
    /// Reads a recording. `live` puts live folders into a JSON text in place of the recorded ones.
    pub(crate) fn of(recording: &Recording, live: impl Fn(&str) -> String) -> Self {
        let mut recorded = Self::default();
        let mut failed: Option<String> = None;
        let mut in_order = false;
        for mut heard in heard(recording) {
            if heard.end == Some(ExchangeEnd::Refused) && heard.body.is_empty() {
                recorded.push(
                    failing(Failure::Named(NamedFailure::Refused)),
                    Cue::default(),
                );
                in_order = true;
                continue;
            }
            heard.body = live(&heard.body);
            let Some(interface) = heard.interface else {
                continue;
            };
            let mut reply = reply(&heard, interface);
            put_in(&mut reply, &live);
            // The same question again after a failure is a retry, which uses up no reply.
            let again = failed.as_deref() == Some(heard.body.as_str());
            let fails = reply.fail.is_some();
            if !again || !fails {
                let cue = interface.asked(&heard.path, &heard.body).map(|asked| Cue {
                    first_user: asked.first_user,
                    last_user: asked.last_user,
                });
                recorded.push(reply, cue.unwrap_or_default());
            }
            failed = fails.then_some(heard.body);
        }
        if in_order {
            recorded.cues.clear();
        }
        recorded
    }

    /// Whether there is no reply at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.script.is_empty()
    }

    fn push(&mut self, reply: Reply, cue: Cue) {
        self.script.push(reply);
        self.cues.push(cue);
    }
}

/// Puts live folders into the arguments of calls.
fn put_in(reply: &mut Reply, live: impl Fn(&str) -> String) {
    let calls = match &mut reply.call {
        Some(Calls::Many(calls)) => calls.as_mut_slice(),
        Some(Calls::One(call)) => std::slice::from_mut(call),
        None => &mut [],
    };
    for call in calls {
        let text = Value::Object(std::mem::take(&mut call.arguments)).to_string();
        call.arguments = serde_json::from_str(&live(&text)).unwrap_or_default();
    }
}

fn heard(recording: &Recording) -> Vec<Heard> {
    let mut all: Vec<Heard> = Vec::new();
    for event in &recording.events {
        let Body::Model(Exchange { exchange, part }) = &event.body else {
            continue;
        };
        // Those that run side by side are few and recent.
        let place = match all.iter().rposition(|heard| heard.number == *exchange) {
            Some(place) => place,
            None => {
                all.push(Heard {
                    number: *exchange,
                    ..Heard::default()
                });
                all.len() - 1
            }
        };
        let Some(heard) = all.get_mut(place) else {
            continue;
        };
        match part {
            ExchangePart::Request { path, body, side } => {
                heard.interface = match side {
                    None => interface::replying(path),
                    Some(_) => None,
                };
                heard.path.clone_from(path);
                heard.body.clone_from(body);
            }
            ExchangePart::Status(status) => heard.status = Some(*status),
            ExchangePart::Chunk(chunk) => heard.reply.push_str(chunk),
            ExchangePart::End(end) => heard.end = Some(*end),
        }
    }
    all
}

fn failing(failure: Failure) -> Reply {
    Reply {
        fail: Some(failure),
        ..Reply::default()
    }
}

fn reply(heard: &Heard, interface: &dyn Interface) -> Reply {
    let status = heard.status.unwrap_or(200);
    let said = interface.said(status, &heard.reply);
    if status >= 400 {
        let message = said.error;
        return failing(Failure::Status { status, message });
    }
    let fails = said.error.is_some();
    let mut reply = scripted(said);
    match heard.end {
        Some(ExchangeEnd::Cut) => reply.fail = Some(Failure::Named(NamedFailure::Cut)),
        // An error in the middle of a stream ends it as a cut does.
        _ if fails => reply.fail = Some(Failure::Named(NamedFailure::Cut)),
        // The agent hung up: it was told no more.
        Some(ExchangeEnd::Cancelled) | None => reply.hold = true,
        Some(ExchangeEnd::Complete | ExchangeEnd::Refused) => {}
    }
    reply
}

/// What was said, as a reply of a script.
fn scripted(said: Said) -> Reply {
    let chunks = |texts: Vec<String>| (!texts.is_empty()).then_some(Text::Chunks(texts));
    let calls: Vec<Call> = said
        .calls
        .into_iter()
        .map(|call| Call {
            arguments: arguments(&call),
            tool: Some(call.name),
            ..Call::default()
        })
        .collect();
    Reply {
        think: chunks(said.thoughts),
        say: chunks(said.texts),
        call: (!calls.is_empty()).then_some(Calls::Many(calls)),
        refuse: said.refusal,
        stop: said.length.then_some(Stop::Length),
        usage: said.usage,
        ..Reply::default()
    }
}

/// The arguments of a call; plain text, for a tool that takes that, becomes the only one.
fn arguments(call: &SaidCall) -> Map<String, Value> {
    match call.freeform {
        true => Map::from_iter([("input".to_owned(), json!(call.arguments))]),
        false => serde_json::from_str(&call.arguments).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Event, Party};

    fn recording(parts: Vec<(u64, ExchangePart)>) -> Recording {
        let events = parts
            .into_iter()
            .map(|(exchange, part)| {
                Event::new(0.0, Party::Model, Body::Model(Exchange { exchange, part }))
            })
            .collect();
        Recording {
            events,
            ..Recording::default()
        }
    }

    fn script(recording: Recording) -> Script {
        Recorded::of(&recording, str::to_owned).script
    }

    fn asked(body: &str) -> ExchangePart {
        ExchangePart::Request {
            path: "/v1/chat/completions".into(),
            body: body.into(),
            side: None,
        }
    }

    #[test]
    fn a_streamed_reply_is_said_in_the_same_chunks_with_the_same_calls() {
        let chunk = |delta: &str| {
            ExchangePart::Chunk(format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n"))
        };
        let script = script(recording(vec![
            (1, asked("{}")),
            (1, ExchangePart::Status(200)),
            (1, chunk(r#"{"content":"a"}"#)),
            (1, chunk(r#"{"content":"b"}"#)),
            (
                1,
                chunk(
                    r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"run","arguments":"{\"command\":"}}]}"#,
                ),
            ),
            (
                1,
                chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"\"ls\"}"}}]}"#),
            ),
            (1, ExchangePart::End(ExchangeEnd::Complete)),
        ]));
        assert_eq!(script.len(), 1);
        assert_eq!(
            script[0].say,
            Some(Text::Chunks(vec!["a".into(), "b".into()]))
        );
        let Some(Calls::Many(calls)) = &script[0].call else {
            panic!("{script:?}");
        };
        assert_eq!(calls[0].tool.as_deref(), Some("run"));
        assert_eq!(calls[0].arguments["command"], "ls");
    }

    #[test]
    fn retries_of_a_failure_are_one_reply() {
        let fails = |number| {
            [
                (number, asked("{\"x\":1}")),
                (number, ExchangePart::Status(429)),
                (
                    number,
                    ExchangePart::Chunk(r#"{"error":{"message":"slow down"}}"#.into()),
                ),
                (number, ExchangePart::End(ExchangeEnd::Complete)),
            ]
        };
        let script = script(recording([fails(1), fails(2), fails(3)].concat()));
        let failure = Failure::Status {
            status: 429,
            message: Some("slow down".into()),
        };
        assert_eq!(script.len(), 1);
        assert_eq!(script[0].fail, Some(failure));
    }

    #[test]
    fn a_stream_that_the_agent_left_is_kept_open() {
        let script = script(recording(vec![
            (1, asked("{}")),
            (1, ExchangePart::Status(200)),
            (1, ExchangePart::End(ExchangeEnd::Cancelled)),
        ]));
        assert!(script[0].hold);
    }
}
