//! The script of a model from the exchanges of a recording: what it replied then, in order.

use serde_json::{Map, Value};

use super::openai;
use super::script::{Call, Calls, Failure, NamedFailure, Reply, Script, Text, Usage};
use super::turns::Cue;
use crate::trace::{Body, Exchange, ExchangeEnd, ExchangePart, Recording};

/// One exchange, put together from its parts.
#[derive(Default)]
struct Heard {
    number: u64,
    body: String,
    turn: bool,
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
                recorded.push(failing(Failure::Named(NamedFailure::Refused)), "");
                in_order = true;
                continue;
            }
            heard.body = live(&heard.body);
            let Some(mut reply) = heard.turn.then(|| reply(&heard)).flatten() else {
                continue;
            };
            put_in(&mut reply, &live);
            // The same question again after a failure is a retry, which uses up no reply.
            let again = failed.as_deref() == Some(heard.body.as_str());
            let fails = reply.fail.is_some();
            if !again || !fails {
                recorded.push(reply, &heard.body);
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

    fn push(&mut self, reply: Reply, body: &str) {
        let cue = openai::asked(body).map(|asked| Cue {
            first_user: asked.first_user,
            last_user: asked.last_user,
        });
        self.script.push(reply);
        self.cues.push(cue.unwrap_or_default());
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
                let path = path.split('?').next().unwrap_or_default();
                heard.turn =
                    side.is_none() && path.trim_end_matches('/').ends_with("/chat/completions");
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

fn reply(heard: &Heard) -> Option<Reply> {
    if let Some(status) = heard.status.filter(|status| *status >= 400) {
        let body: Option<Value> = serde_json::from_str(&heard.reply).ok();
        let message = body.and_then(|body| Some(body.pointer("/error/message")?.as_str()?.into()));
        return Some(failing(Failure::Status { status, message }));
    }
    let mut said = Said::default();
    let trimmed = heard.reply.trim_start();
    if trimmed.starts_with('{') {
        if let Ok(whole) = serde_json::from_str(trimmed) {
            said.part(&whole, "message");
        }
    } else {
        for line in heard.reply.lines() {
            let data = line.strip_prefix("data:").map(str::trim);
            if let Some(Ok(chunk)) = data.map(serde_json::from_str) {
                said.part(&chunk, "delta");
            }
        }
    }
    let mut reply = said.into_reply();
    match heard.end {
        Some(ExchangeEnd::Cut) => reply.fail = Some(Failure::Named(NamedFailure::Cut)),
        // The agent hung up: it was told no more.
        Some(ExchangeEnd::Cancelled) | None => reply.hold = true,
        Some(ExchangeEnd::Complete | ExchangeEnd::Refused) => {}
    }
    Some(reply)
}

/// What a reply says, piece by piece.
#[derive(Default)]
struct Said {
    thoughts: Vec<String>,
    texts: Vec<String>,
    calls: Vec<(String, String)>,
    usage: Option<Usage>,
}

impl Said {
    /// Takes in a chunk or a whole reply, whose message stands under `member`.
    fn part(&mut self, part: &Value, member: &str) {
        let message = part.pointer("/choices/0").and_then(|it| it.get(member));
        let text = |name: &str| {
            let text = message.and_then(|message| message.get(name)?.as_str());
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        self.thoughts
            .extend(text("reasoning_content").or_else(|| text("reasoning")));
        self.texts.extend(text("content"));
        let calls = message.and_then(|message| message.get("tool_calls")?.as_array());
        for (place, call) in calls.into_iter().flatten().enumerate() {
            let index = call.get("index").and_then(Value::as_u64);
            let index = index
                .and_then(|index| usize::try_from(index).ok())
                .unwrap_or(place)
                .min(self.calls.len());
            if index == self.calls.len() {
                self.calls.push(Default::default());
            }
            let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str);
            if let Some(known) = self.calls.get_mut(index) {
                known.0.push_str(text("/function/name").unwrap_or_default());
                known
                    .1
                    .push_str(text("/function/arguments").unwrap_or_default());
            }
        }
        let count = |name: &str| part.get("usage")?.get(name)?.as_u64();
        if let (Some(input), Some(output)) = (count("prompt_tokens"), count("completion_tokens")) {
            self.usage = Some(Usage { input, output });
        }
    }

    fn into_reply(self) -> Reply {
        let chunks = |texts: Vec<String>| (!texts.is_empty()).then_some(Text::Chunks(texts));
        let calls: Vec<Call> = self
            .calls
            .into_iter()
            .map(|(tool, arguments)| Call {
                tool: Some(tool),
                arguments: serde_json::from_str::<Map<String, Value>>(&arguments)
                    .unwrap_or_default(),
                ..Call::default()
            })
            .collect();
        Reply {
            think: chunks(self.thoughts),
            say: chunks(self.texts),
            call: (!calls.is_empty()).then_some(Calls::Many(calls)),
            usage: self.usage,
            ..Reply::default()
        }
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
