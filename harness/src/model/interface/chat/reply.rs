//! How a reply of the chat-completions interface is written.

use serde_json::{Map, Value, json};

use crate::model::interface::body::{Spelling, event};
use crate::model::interface::{Opened, Writer};
use crate::model::reply::{End, Piece, Plan, Whole};

/// What stands for the configuration of the server.
const FINGERPRINT: &str = "fp_scripted";

/// Writes one reply.
#[derive(Debug)]
pub(super) struct ChatReply {
    id: String,
    created: u64,
    model: String,
    usage: bool,
    /// Of each call, whether its arguments are plain text.
    freeform: Vec<bool>,
    spelling: Spelling,
}

impl ChatReply {
    /// The reply of an exchange.
    pub(super) fn new(opened: &Opened<'_>) -> Self {
        Self {
            id: format!("chatcmpl-scripted-{:06}", opened.number),
            created: opened.seconds,
            model: opened.asked.model.clone(),
            usage: opened.asked.usage,
            freeform: Vec::new(),
            spelling: Spelling::default(),
        }
    }
}

impl Writer for ChatReply {
    /// One event, which names the role.
    fn opening(&mut self, plan: &Plan) -> Vec<String> {
        let only_calls = plan
            .pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Call { .. } | Piece::Arguments { .. }));
        let content = match only_calls && plan.calls() {
            true => Value::Null,
            false => json!(""),
        };
        let delta = json!({"role": "assistant", "content": content, "refusal": null});
        vec![self.delta(&delta, None)]
    }

    fn piece(&mut self, piece: &Piece) -> Vec<String> {
        let delta = match piece {
            Piece::Think(text) => json!({"reasoning_content": text}),
            Piece::Say(text) => json!({"content": text}),
            Piece::Refuse(text) => json!({"refusal": text}),
            Piece::Call {
                number,
                id,
                name,
                freeform,
            } => {
                self.freeform.push(*freeform);
                let mut call = called(id, name, "", *freeform);
                call.insert("index".into(), json!(number));
                json!({"tool_calls": [call]})
            }
            Piece::Arguments { number, fragment } => {
                let inner = match self.freeform.get(*number) {
                    Some(true) => json!({"index": number, "custom": {"input": fragment}}),
                    _ => json!({"index": number, "function": {"arguments": fragment}}),
                };
                json!({"tool_calls": [inner]})
            }
            Piece::Hold => return Vec::new(),
        };
        vec![self.delta(&delta, None)]
    }

    fn closing(&mut self, plan: &Plan) -> Vec<String> {
        let mut events = vec![self.delta(&json!({}), Some(finish(plan)))];
        if self.usage {
            let chunk = self.chunk(json!([]), usage(plan));
            events.push(event(&chunk.to_string()));
        }
        events.push(event("[DONE]"));
        events
    }

    fn whole(&mut self, plan: &Plan) -> String {
        let whole = Whole::of(plan);
        let text = |text: String| match text.is_empty() {
            true => Value::Null,
            false => json!(text),
        };
        let content =
            match whole.said.is_empty() && whole.calls.is_empty() && whole.refused.is_empty() {
                true => json!(""),
                false => text(whole.said),
            };
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        message.insert("content".into(), content);
        message.insert("refusal".into(), text(whole.refused));
        if !whole.thought.is_empty() {
            message.insert("reasoning_content".into(), json!(whole.thought));
        }
        if !whole.calls.is_empty() {
            let calls = whole.calls.iter();
            let calls =
                calls.map(|call| called(&call.id, &call.name, &call.arguments, call.freeform));
            message.insert("tool_calls".into(), calls.map(Value::Object).collect());
        }
        json!({
            "id": self.id, "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(plan)}],
            "usage": usage(plan),
            "system_fingerprint": FINGERPRINT,
        })
        .to_string()
    }
}

impl ChatReply {
    fn delta(&mut self, delta: &Value, finish: Option<&str>) -> String {
        let chunk = self.chunk(
            json!([
                {"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}
            ]),
            Value::Null,
        );
        event(&self.spelling.of(&chunk))
    }

    /// An event's object; where token counts are asked for, each one has them, null but in the last.
    fn chunk(&self, choices: Value, usage: Value) -> Value {
        let mut chunk = Map::new();
        chunk.insert("id".into(), json!(self.id));
        chunk.insert("object".into(), json!("chat.completion.chunk"));
        chunk.insert("created".into(), json!(self.created));
        chunk.insert("model".into(), json!(self.model));
        chunk.insert("system_fingerprint".into(), json!(FINGERPRINT));
        chunk.insert("choices".into(), choices);
        if self.usage {
            chunk.insert("usage".into(), usage);
        }
        Value::Object(chunk)
    }
}

/// A call: of a function, or of a custom tool, which takes plain text.
fn called(id: &str, name: &str, arguments: &str, freeform: bool) -> Map<String, Value> {
    let call = match freeform {
        true => json!({"id": id, "type": "custom", "custom": {"name": name, "input": arguments}}),
        false => {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        }
    };
    match call {
        Value::Object(call) => call,
        _ => Map::new(),
    }
}

fn finish(plan: &Plan) -> &'static str {
    match plan.end {
        End::Calls => "tool_calls",
        End::Length => "length",
        // A refusal is told by its own member alone.
        End::Said | End::Refusal => "stop",
    }
}

fn usage(plan: &Plan) -> Value {
    let usage = plan.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
    })
}
