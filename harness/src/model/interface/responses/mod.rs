//! The OpenAI responses interface.

mod reply;
mod request;

use serde_json::{Value, json};

use super::{ErrorReply, Interface, Opened, Said, Trouble, Writer, body, openai};
use crate::model::asked::Asked;
use crate::model::family::Family;
use crate::model::script::Usage;
use reply::ResponsesReply;

/// `POST /v1/responses`. Responses are not kept: a request that names an earlier one gets its reply all the same.
#[derive(Debug)]
pub(crate) struct Responses;

impl Interface for Responses {
    fn asked(&self, _path: &str, body: &str) -> Result<Asked, String> {
        request::asked(body)
    }

    fn writer(&self, opened: &Opened<'_>) -> Box<dyn Writer> {
        Box::new(ResponsesReply::new(opened))
    }

    fn error(&self, trouble: Trouble, message: Option<&str>) -> ErrorReply {
        openai::error(trouble, message)
    }

    fn count(&self, tokens: u64) -> Option<String> {
        let count = json!({"object": "response.input_tokens", "input_tokens": tokens});
        Some(count.to_string())
    }

    fn models(&self, names: &[&str]) -> String {
        openai::models(names)
    }

    fn model(&self, name: &str) -> String {
        openai::model(name)
    }

    fn family(&self) -> Family {
        Family::OpenAi
    }

    fn id_header(&self) -> Option<&'static str> {
        Some(openai::ID_HEADER)
    }

    fn said(&self, _status: u16, reply: &str) -> Said {
        let mut said = Said::default();
        let mut indices = Vec::new();
        for part in body::parts(reply) {
            take(&mut said, &mut indices, &part);
        }
        said
    }
}

/// Takes in an event, or a whole reply. `indices` are the places of calls among all that is put out.
fn take(said: &mut Said, indices: &mut Vec<u64>, part: &Value) {
    let delta = || body::string(part, "delta");
    let index = part.get("output_index").and_then(Value::as_u64);
    let mut call = |index: u64| {
        let known = indices.iter().position(|known| *known == index);
        known.unwrap_or_else(|| {
            indices.push(index);
            indices.len() - 1
        })
    };
    match part.get("type").and_then(Value::as_str) {
        Some("response.output_text.delta") => said.texts.push(delta()),
        Some("response.refusal.delta") => {
            said.refusal.get_or_insert_default().push_str(&delta());
        }
        Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
            said.thoughts.push(delta());
        }
        Some("response.output_item.added" | "response.output_item.done") => {
            if let (Some(item), Some(index)) = (part.get("item"), index)
                && is_call(item)
            {
                take_call(said, call(index), item);
            }
        }
        Some(
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta",
        ) => {
            if let Some(known) = index.and_then(|index| said.call(call(index))) {
                known.arguments.push_str(&delta());
            }
        }
        Some("error") => said.error = Some(body::string(part, "message")),
        Some(kind) if kind.starts_with("response.") => {
            if let Some(response) = part.get("response") {
                take_whole(said, response);
            }
        }
        _ => take_whole(said, part),
    }
}

fn is_call(item: &Value) -> bool {
    matches!(
        item.get("type").and_then(Value::as_str),
        Some("function_call" | "custom_tool_call")
    )
}

/// A call as it stands in an item: all of it, so that nothing is said twice.
fn take_call(said: &mut Said, place: usize, item: &Value) {
    let freeform = item.get("input").is_some();
    if let Some(known) = said.call(place) {
        known.freeform = freeform;
        known.name = body::string(item, "name");
        known.arguments = body::string(item, if freeform { "input" } else { "arguments" });
    }
}

/// What a response as a whole says: all of it where no delta came before.
fn take_whole(said: &mut Said, response: &Value) {
    if let Some(message) = response.pointer("/error/message").and_then(Value::as_str) {
        said.error = Some(message.to_owned());
    }
    said.length |= response.pointer("/incomplete_details/reason")
        == Some(&Value::String("max_output_tokens".to_owned()));
    let count = |name: &str| response.get("usage")?.get(name)?.as_u64();
    if let (Some(input), Some(output)) = (count("input_tokens"), count("output_tokens")) {
        said.usage = Some(Usage { input, output });
    }
    let told = !(said.texts.is_empty() && said.calls.is_empty() && said.refusal.is_none());
    if told {
        return;
    }
    for item in body::list(response, "output") {
        match item.get("type").and_then(Value::as_str) {
            Some("reasoning") => {
                for summary in body::list(item, "summary") {
                    said.thoughts.push(body::string(summary, "text"));
                }
            }
            Some("message") => {
                for content in body::list(item, "content") {
                    match content.get("refusal").and_then(Value::as_str) {
                        Some(words) => said.refusal.get_or_insert_default().push_str(words),
                        None => said.texts.push(body::string(content, "text")),
                    }
                }
            }
            _ if is_call(item) => take_call(said, said.calls.len(), item),
            _ => {}
        }
    }
}
