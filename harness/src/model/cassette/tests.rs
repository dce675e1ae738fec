//! Requests against recorded exchanges.

use super::*;
use crate::model::script::{Calls, Text};
use crate::trace::{Event, Exchange, ExchangePart};
use serde_json::{Value, json};

/// A recording of prompts and exchanges.
#[derive(Default)]
struct Tape {
    events: Vec<Event>,
    last: u64,
}

impl Tape {
    fn prompt(mut self, text: &str) -> Self {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt",
            "params": {"sessionId": "s", "prompt": [{"type": "text", "text": text}]}});
        let body = Body::of_line(message.to_string().into_bytes(), false);
        self.events.push(Event::new(0.0, Party::Client, body));
        self
    }

    fn parts(mut self, parts: Vec<ExchangePart>) -> Self {
        self.last += 1;
        for part in parts {
            let body = Body::Model(Exchange {
                exchange: self.last,
                part,
            });
            self.events.push(Event::new(0.0, Party::Model, body));
        }
        self
    }

    fn exchange(self, request: &Value, deltas: &[Value], end: ExchangeEnd) -> Self {
        let mut parts = vec![asked(request), ExchangePart::Status(200)];
        parts.extend(deltas.iter().map(|delta| {
            ExchangePart::Chunk(format!(
                "data: {}\n\n",
                json!({"choices": [{"delta": delta}]})
            ))
        }));
        parts.push(ExchangePart::End(end));
        self.parts(parts)
    }

    fn says(self, request: &Value, text: &str) -> Self {
        self.exchange(request, &[json!({"content": text})], ExchangeEnd::Complete)
    }

    fn fails(self, request: &Value, status: u16) -> Self {
        self.parts(vec![
            asked(request),
            ExchangePart::Status(status),
            ExchangePart::Chunk(json!({"error": {"message": "slow down"}}).to_string()),
            ExchangePart::End(ExchangeEnd::Complete),
        ])
    }

    fn cassette(&self) -> Cassette {
        let recording = Recording {
            events: self.events.clone(),
            ..Recording::default()
        };
        Cassette::of(&recording, str::to_owned)
    }
}

fn asked(request: &Value) -> ExchangePart {
    ExchangePart::Request {
        path: "/v1/chat/completions".into(),
        body: request.to_string(),
        side: None,
    }
}

/// A request with a tool, and these messages: a role and a text each, a system text before them.
fn request(messages: &[(&str, &str)]) -> Value {
    request_with("You are an agent.", "bash", messages)
}

fn request_with(system: &str, tool: &str, messages: &[(&str, &str)]) -> Value {
    let mut all = vec![json!({"role": "system", "content": system})];
    for (role, text) in messages {
        all.push(match *role {
            "call" => json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": tool, "arguments": text}}]}),
            "tool" => json!({"role": "tool", "tool_call_id": "c", "content": text}),
            role => json!({"role": role, "content": text}),
        });
    }
    let parameters = json!({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]});
    json!({"model": "m", "stream": true, "messages": all,
        "tools": [{"type": "function", "function": {"name": tool, "parameters": parameters}}]})
}

fn live(request: &Value) -> Asked {
    crate::model::interface::replying("/v1/chat/completions")
        .unwrap()
        .asked("/v1/chat/completions", &request.to_string())
        .unwrap()
}

fn said(turn: Turn) -> String {
    match turn {
        Turn::Reply(_, reply) | Turn::Aside(_, reply) | Turn::Miss(reply) => {
            match (reply.say, reply.fail) {
                (Some(Text::Chunks(chunks)), None) => chunks.concat(),
                (_, Some(Failure::Status { status, message })) => {
                    format!("{status} {}", message.unwrap_or_default())
                }
                other => format!("{other:?}"),
            }
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn each_request_gets_the_reply_of_its_place_whatever_the_order() {
    let first = [("user", "Hello"), ("assistant", "a"), ("user", "Go on")];
    let tape = Tape::default()
        .prompt("Hello")
        .says(&request(&first[..1]), "a")
        .prompt("Go on")
        .says(&request(&first), "b")
        .prompt("Other")
        .says(&request(&[("user", "Other")]), "c");
    let mut cassette = tape.cassette();
    let mut ask = |messages: &[(&str, &str)]| {
        let words = "Another system text, at 12:31";
        let wrapped: Vec<(&str, String)> = messages
            .iter()
            .map(|(role, text)| {
                (
                    *role,
                    if *role == "user" {
                        format!("<now>12</now>\n{text}")
                    } else {
                        (*text).to_owned()
                    },
                )
            })
            .collect();
        let wrapped: Vec<(&str, &str)> = wrapped
            .iter()
            .map(|(role, text)| (*role, text.as_str()))
            .collect();
        said(cassette.take(&live(&request_with(words, "bash", &wrapped))))
    };
    assert_eq!(ask(&[("user", "Other")]), "c");
    assert_eq!(ask(&first), "b");
    assert_eq!(ask(&first[..1]), "a");
}

#[test]
fn two_sessions_with_the_same_words_are_told_by_what_came_before_and_else_by_order() {
    let one = [("user", "Hello"), ("assistant", "a"), ("user", "Again")];
    let two = [("user", "Hello"), ("assistant", "b"), ("user", "Again")];
    let tape = Tape::default()
        .prompt("Hello")
        .prompt("Again")
        .says(&request(&one[..1]), "a")
        .says(&request(&two[..1]), "b")
        .says(&request(&one), "a2")
        .says(&request(&two), "b2");
    let mut cassette = tape.cassette();
    assert_eq!(said(cassette.take(&live(&request(&one[..1])))), "a");
    assert_eq!(said(cassette.take(&live(&request(&two[..1])))), "b");
    assert_eq!(said(cassette.take(&live(&request(&two)))), "b2");
    assert_eq!(said(cassette.take(&live(&request(&one)))), "a2");
}

#[test]
fn a_retry_goes_on_to_what_the_recorded_one_got_and_then_stays_there() {
    let hello = request(&[("user", "Hello")]);
    let tape = Tape::default()
        .prompt("Hello")
        .fails(&hello, 429)
        .fails(&hello, 503)
        .says(&hello, "a");
    let mut cassette = tape.cassette();
    let mut ask = || said(cassette.take(&live(&hello)));
    assert_eq!(ask(), "429 slow down");
    assert_eq!(ask(), "503 slow down");
    assert_eq!(ask(), "a");
    assert_eq!(ask(), "a");
}

#[test]
fn a_reply_that_the_agent_left_is_held_unless_its_end_was_there() {
    let hello = request(&[("user", "Hello")]);
    let word = json!({"content": "a"});
    let left = Tape::default().prompt("Hello").exchange(
        &hello,
        std::slice::from_ref(&word),
        ExchangeEnd::Cancelled,
    );
    let whole = Tape::default().prompt("Hello").parts(vec![
        asked(&hello),
        ExchangePart::Status(200),
        ExchangePart::Chunk(format!(
            "data: {}\n\ndata: [DONE]\n\n",
            json!({"choices": [{"delta": word}]})
        )),
        ExchangePart::End(ExchangeEnd::Cancelled),
    ]);
    for (tape, hold) in [(left, true), (whole, false)] {
        let Turn::Reply(_, reply) = tape.cassette().take(&live(&hello)) else {
            panic!("no reply");
        };
        assert_eq!(reply.hold, hold);
    }
}

#[test]
fn a_recorded_call_goes_to_the_agent_s_own_tool() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]});
    let tape = Tape::default().prompt("List").exchange(
        &request(&[("user", "List")]),
        &[call],
        ExchangeEnd::Complete,
    );
    let called = |tool: &str| {
        let turn = tape
            .cassette()
            .take(&live(&request_with("x", tool, &[("user", "List")])));
        let Turn::Reply(_, reply) = turn else {
            panic!("{turn:?}");
        };
        let Some(Calls::Many(calls)) = reply.call else {
            panic!("no call");
        };
        calls[0].clone()
    };
    assert_eq!(called("bash").tool.as_deref(), Some("bash"));
    let other = called("run_shell_command");
    assert_eq!(
        (other.kind.as_deref(), other.command.as_deref()),
        (Some("execute"), Some("ls"))
    );
}

#[test]
fn other_words_around_a_tool_s_result_fit_and_another_result_is_told() {
    let messages = [("user", "Run"), ("call", "{}"), ("tool", "hi")];
    let tape = Tape::default()
        .prompt("Run")
        .says(&request(&messages), "done");
    let with = |result| request(&[("user", "Run"), ("call", "{}"), ("tool", result)]);
    let mut cassette = tape.cassette();
    assert_eq!(
        said(cassette.take(&live(&with("Output: hi\nExit code: 0")))),
        "done"
    );
    assert_eq!(cassette.told(), [] as [String; 0]);
    assert_eq!(said(cassette.take(&live(&with("denied")))), "done");
    assert_eq!(
        cassette.told(),
        [
            "the agent's tools gave the model something else than recorded before the reply of exchange 1: they part at message 3: \
          recorded a tool's \"hi\", now a tool's \"denied\""
        ]
    );
}

#[test]
fn what_was_not_recorded_fails_and_names_what_comes_nearest() {
    let tape = Tape::default()
        .prompt("Run")
        .says(&request(&[("user", "Run")]), "a");
    let mut cassette = tape.cassette();
    let next = request(&[("user", "Run"), ("call", "{}"), ("tool", "hi")]);
    let why = said(cassette.take(&live(&next)));
    assert!(
        why.starts_with("400 harness: the recording has no reply of the model to this request (its last message: \"hi\"); exchange 1 comes nearest"),
        "{why}"
    );
    assert_eq!(cassette.told().len(), 1);
}

#[test]
fn a_request_for_a_title_gets_the_recorded_one_and_a_new_one_a_neutral_answer() {
    let title = json!({"messages": [{"role": "system", "content": "You are a title generator. Output a title."},
        {"role": "user", "content": "Hello"}]});
    let tape = Tape::default()
        .prompt("Hello")
        .says(&request(&[("user", "Hello")]), "a")
        .says(&title, "A greeting");
    let mut cassette = tape.cassette();
    cassette.note_prompt("Hello");
    let turn = cassette.take(&live(&title));
    assert!(matches!(turn, Turn::Aside("title", _)), "{turn:?}");
    assert_eq!(said(turn), "A greeting");
    assert_eq!(
        said(cassette.take(&live(&request(&[("user", "Hello")])))),
        "a"
    );
    let other =
        json!({"messages": [{"role": "user", "content": "Generate a title for: something"}]});
    assert_eq!(cassette.take(&live(&other)), Turn::Side("title"));
}

#[test]
fn a_reply_that_could_not_be_recorded_is_a_failure_that_says_so() {
    let unreadable = ExchangePart::Unreadable("br".into());
    let binary = ExchangePart::Bytes(vec![0x1f, 0x8b, 8, 0]);
    for (parts, wanted) in [
        (vec![unreadable], "it came compressed (`br`)"),
        (vec![], "nothing of its body is in the recording"),
        (vec![binary], "its body is no reply of a model"),
    ] {
        let hello = request(&[("user", "hello")]);
        let mut all = vec![asked(&hello), ExchangePart::Status(200)];
        all.extend(parts);
        all.push(ExchangePart::End(ExchangeEnd::Complete));
        let mut cassette = Tape::default().prompt("hello").parts(all).cassette();
        let turn = cassette.take(&live(&hello));
        assert!(matches!(turn, Turn::Miss(_)), "{turn:?}");
        let reply = said(turn);
        assert!(
            reply.contains("the reply of exchange 1 cannot be given: ") && reply.contains(wanted),
            "{reply}"
        );
        assert_eq!(cassette.told().len(), 1);
    }
}

#[test]
fn an_empty_reply_and_a_failure_without_a_body_are_replies() {
    let hello = request(&[("user", "hello")]);
    let replied = |status, body: &str| {
        let mut parts = vec![asked(&hello), ExchangePart::Status(status)];
        parts.extend((!body.is_empty()).then(|| ExchangePart::Chunk(body.into())));
        parts.push(ExchangePart::End(ExchangeEnd::Complete));
        Tape::default().prompt("hello").parts(parts).cassette()
    };
    let empty =
        r#"{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"stop"}]}"#;
    for (status, body) in [(200, empty), (200, "data: [DONE]\n\n"), (429, "")] {
        let mut cassette = replied(status, body);
        let turn = cassette.take(&live(&hello));
        assert!(matches!(turn, Turn::Reply(..)), "{status} {body}: {turn:?}");
        assert!(cassette.told().is_empty());
    }
}

#[test]
fn a_status_that_is_damaged_is_said_and_the_reply_given() {
    let hello = request(&[("user", "hello")]);
    for (status, wanted) in [
        (None, "exchange 1: its status is missing or damaged"),
        (Some(42), "exchange 1: 42 is no status of a reply"),
    ] {
        let mut parts = vec![asked(&hello)];
        parts.extend(status.map(ExchangePart::Status));
        parts.push(ExchangePart::Chunk(
            json!({"choices": [{"message": {"content": "hi"}}]}).to_string(),
        ));
        parts.push(ExchangePart::End(ExchangeEnd::Complete));
        let mut cassette = Tape::default().prompt("hello").parts(parts).cassette();
        assert!(
            cassette.told()[0].starts_with(wanted),
            "{:?}",
            cassette.told()
        );
        assert_eq!(said(cassette.take(&live(&hello))), "hi");
    }
}
