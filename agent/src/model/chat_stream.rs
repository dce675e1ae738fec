//! The stream of a chat completion: text as it comes, tool calls once they are whole.

use std::collections::VecDeque;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use reqwest::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::reason::{error_message, root_cause};
use super::sse::Events;
use super::{Failure, Fragment};
use crate::history::Call;
use crate::usage::Counted;

/// Tool calls in one answer, beyond which it is taken as broken.
const CALL_LIMIT: usize = 128;

/// The state of an answer between two pieces of the stream.
struct Answer<S> {
    bytes: S,
    events: Option<Events>,
    ready: VecDeque<Result<Fragment, Failure>>,
    calls: Vec<PartialCall>,
    complete: bool,
    ended: bool,
}

#[derive(Default)]
struct PartialCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

/// The fragments of a response, as they arrive.
pub(super) fn fragments(response: Response) -> BoxStream<'static, Result<Fragment, Failure>> {
    stream::unfold(
        Answer::new(response.bytes_stream()),
        |mut answer| async move {
            loop {
                if let Some(fragment) = answer.ready.pop_front() {
                    answer.ended |= fragment.is_err();
                    return Some((fragment, answer));
                }
                if answer.ended {
                    return None;
                }
                match answer.bytes.next().await {
                    Some(Ok(bytes)) => answer.take(&bytes),
                    Some(Err(error)) => {
                        let reason =
                            format!("the model server cut the stream: {}", root_cause(&error));
                        answer.close(Some(Failure(reason)));
                    }
                    None => answer.close(None),
                }
            }
        },
    )
    .boxed()
}

impl<S> Answer<S> {
    fn new(bytes: S) -> Self {
        Self {
            bytes,
            events: Some(Events::default()),
            ready: VecDeque::new(),
            calls: Vec::new(),
            complete: false,
            ended: false,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let events = self.events.as_mut().map(|events| events.push(bytes));
        match events {
            Some(Ok(events)) => events.iter().for_each(|data| self.event(data)),
            Some(Err(_)) => {
                let reason = "the model server sent an event without end".to_owned();
                self.close(Some(Failure(reason)));
            }
            None => {}
        }
    }

    /// The stream ended, by a fault of the connection if one is given. What follows the end of an
    /// answer does not matter.
    fn close(&mut self, fault: Option<Failure>) {
        if self.ended {
            return;
        }
        if let Some(data) = self.events.take().and_then(Events::end) {
            self.event(&data);
        }
        if self.ended {
            return;
        }
        self.ended = true;
        if self.complete {
            self.hand_over_calls();
        } else {
            let cut = || Failure("the model server cut the stream".into());
            self.ready.push_back(Err(fault.unwrap_or_else(cut)));
        }
    }

    fn event(&mut self, data: &str) {
        if self.ended {
            return;
        }
        if data.trim() == "[DONE]" {
            self.complete = true;
            self.ended = true;
            self.hand_over_calls();
            return;
        }
        let chunk: Chunk = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(_) => {
                self.ended = true;
                let reason = "the model server sent an event that is no JSON".to_owned();
                self.ready.push_back(Err(Failure(reason)));
                return;
            }
        };
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            self.ended = true;
            let said = error_message(&error).unwrap_or_default();
            self.ready
                .push_back(Err(Failure(format!("the model server failed: {said}"))));
            return;
        }
        if let Some(usage) = chunk.usage {
            self.ready.push_back(Ok(Fragment::Counted(Counted {
                input: usage.prompt_tokens,
                output: usage.completion_tokens,
            })));
        }
        let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() else {
            return;
        };
        let delta = choice.delta.unwrap_or_default();
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.ready.push_back(Ok(Fragment::Text(text)));
        }
        for part in delta.tool_calls.unwrap_or_default() {
            self.call_part(part);
        }
        self.complete |= choice.finish_reason.is_some();
    }

    /// Joins the fragments of a call by its index. A server that leaves the index out begins a new
    /// call with each new id.
    fn call_part(&mut self, part: CallPart) {
        let id = part.id.unwrap_or_default();
        let known = match part.index {
            Some(index) => self.calls.iter().position(|call| call.index == index),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().position(|call| call.id == id),
        };
        if known.is_none() {
            if self.calls.len() == CALL_LIMIT {
                return;
            }
            self.calls.push(PartialCall {
                index: part.index.unwrap_or(self.calls.len() as u64),
                ..PartialCall::default()
            });
        }
        let at = known.unwrap_or(self.calls.len().saturating_sub(1));
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        let function = part.function.unwrap_or_default();
        if call.id.is_empty() {
            call.id = id;
        }
        // Some servers repeat the name in each fragment.
        if call.name.is_empty() {
            call.name = function.name.unwrap_or_default();
        }
        call.arguments
            .push_str(&function.arguments.unwrap_or_default());
    }

    fn hand_over_calls(&mut self) {
        self.calls.sort_by_key(|call| call.index);
        for call in self.calls.drain(..) {
            let text = call.arguments.trim();
            let arguments = if text.is_empty() {
                json!({})
            } else {
                serde_json::from_str(text).unwrap_or(Value::String(call.arguments))
            };
            self.ready.push_back(Ok(Fragment::Call(Call {
                id: call.id,
                tool: call.name,
                arguments,
            })));
        }
    }
}

/// One event of the stream. Everything is optional: servers differ.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<CallPart>>,
}

#[derive(Deserialize)]
struct CallPart {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Default, Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// What a stream of these events, ended by `[DONE]`, hands over.
    fn calls(events: &[Value]) -> Vec<(String, String, Value)> {
        let mut answer = Answer::new(());
        for event in events {
            answer.take(format!("data: {event}\n\n").as_bytes());
        }
        answer.take(b"data: [DONE]\n\n");
        answer
            .ready
            .into_iter()
            .filter_map(|fragment| match fragment.unwrap() {
                Fragment::Call(call) => Some((call.id, call.tool, call.arguments)),
                _ => None,
            })
            .collect()
    }

    fn part(part: &Value) -> Value {
        json!({"choices": [{"delta": {"tool_calls": [part]}}]})
    }

    #[test]
    fn a_server_without_indexes_begins_a_call_with_each_id() {
        let events = [
            part(&json!({"id": "a", "function": {"name": "bash", "arguments": "{\"x\":"}})),
            part(&json!({"function": {"name": "bash", "arguments": "1}"}})),
            part(&json!({"id": "b", "function": {"name": "fly"}})),
        ];
        assert_eq!(
            calls(&events),
            [
                ("a".into(), "bash".into(), json!({"x": 1})),
                ("b".into(), "fly".into(), json!({})),
            ]
        );
    }

    #[test]
    fn more_calls_than_the_limit_are_left_out() {
        let events: Vec<Value> = (0..CALL_LIMIT + 5)
            .map(|index| part(&json!({"index": index, "function": {"name": "bash"}})))
            .collect();
        assert_eq!(calls(&events).len(), CALL_LIMIT);
    }

    #[test]
    fn what_follows_the_end_does_not_matter() {
        let mut answer = Answer::new(());
        answer.take(b"data: [DONE]\n\ndata: {oops\n\n");
        answer.close(Some(Failure("late".into())));
        assert!(answer.ready.is_empty());
    }
}
