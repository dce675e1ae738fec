//! The Anthropic messages interface.

mod error;
mod reply;
mod request;

use serde_json::{Value, json};

use super::{ErrorReply, Interface, Opened, Said, Trouble, Writer, body};
use crate::model::asked::Asked;
use crate::model::family::Family;
use crate::model::script::Usage;
use reply::MessagesReply;

/// `POST /v1/messages`.
#[derive(Debug)]
pub(crate) struct Messages;

impl Interface for Messages {
    fn asked(&self, _path: &str, body: &str) -> Result<Asked, String> {
        request::asked(body)
    }

    fn writer(&self, opened: &Opened<'_>) -> Box<dyn Writer> {
        Box::new(MessagesReply::new(opened))
    }

    fn error(&self, trouble: Trouble, message: Option<&str>) -> ErrorReply {
        error::error(trouble, message)
    }

    fn count(&self, tokens: u64) -> Option<String> {
        Some(json!({"input_tokens": tokens}).to_string())
    }

    fn models(&self, names: &[&str]) -> String {
        let data: Vec<Value> = names.iter().map(|name| entry(name)).collect();
        json!({
            "data": data, "has_more": false,
            "first_id": names.first(), "last_id": names.last(),
        })
        .to_string()
    }

    fn model(&self, name: &str) -> String {
        entry(name).to_string()
    }

    fn family(&self) -> Family {
        Family::Anthropic
    }

    fn id_header(&self) -> Option<&'static str> {
        Some("request-id")
    }

    fn said(&self, _status: u16, reply: &str) -> Said {
        let mut said = Said::default();
        let mut calls = Vec::new();
        for part in body::parts(reply) {
            take(&mut said, &mut calls, &part);
        }
        said
    }
}

fn entry(name: &str) -> Value {
    json!({"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"})
}

/// Takes in an event, or a whole reply. `calls` are the indices of the blocks that call tools.
fn take(said: &mut Said, calls: &mut Vec<u64>, part: &Value) {
    let index = part.get("index").and_then(Value::as_u64);
    match part.get("type").and_then(Value::as_str) {
        Some("message_start") => {
            count(said, part.pointer("/message/usage"));
        }
        Some("content_block_start") => {
            let block = part.get("content_block").unwrap_or(&Value::Null);
            block_said(said, block);
            if let Some(index) = index
                && is_call(block)
            {
                calls.push(index);
                // What a stream calls with comes in fragments behind this.
                if let Some(call) = said.calls.last_mut() {
                    call.arguments.clear();
                }
            }
        }
        Some("content_block_delta") => {
            let delta = part.get("delta").unwrap_or(&Value::Null);
            block_said(said, delta);
            let fragment = body::string(delta, "partial_json");
            let place = calls.iter().position(|known| Some(*known) == index);
            if let Some(call) = place.and_then(|place| said.call(place)) {
                call.arguments.push_str(&fragment);
            }
        }
        Some("message_delta") => {
            ended(said, part.get("delta").unwrap_or(&Value::Null));
            count(said, part.get("usage"));
        }
        Some("message") => {
            body::list(part, "content").for_each(|block| block_said(said, block));
            ended(said, part);
            count(said, part.get("usage"));
        }
        Some("error") => {
            let message = part.pointer("/error/message").and_then(Value::as_str);
            said.error = Some(message.unwrap_or_default().to_owned());
        }
        _ => {}
    }
}

fn is_call(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("tool_use")
}

/// What a block of a whole reply says, or one that begins, or a delta of one: they name their text alike.
fn block_said(said: &mut Said, block: &Value) {
    let text = |name: &str| {
        let text = block.get(name).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    said.texts.extend(text("text"));
    said.thoughts.extend(text("thinking"));
    if is_call(block)
        && let Some(call) = said.call(said.calls.len())
    {
        call.name = body::string(block, "name");
        call.arguments = block.get("input").map(Value::to_string).unwrap_or_default();
    }
}

/// Why the reply ended.
fn ended(said: &mut Said, holder: &Value) {
    match holder.get("stop_reason").and_then(Value::as_str) {
        Some("max_tokens") => said.length = true,
        Some("refusal") => {
            let words = holder.pointer("/stop_details/explanation");
            let words = words.and_then(Value::as_str).unwrap_or_default();
            said.refusal = Some(words.to_owned());
        }
        _ => {}
    }
}

/// Takes in token counts: a later one of a kind takes the place of an earlier one.
fn count(said: &mut Said, usage: Option<&Value>) {
    let count = |name: &str| usage?.get(name)?.as_u64();
    let known = said.usage.unwrap_or(Usage {
        input: 0,
        output: 0,
    });
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    if input.is_some() || output.is_some() {
        said.usage = Some(Usage {
            input: input.unwrap_or(known.input),
            output: output.unwrap_or(known.output),
        });
    }
}
