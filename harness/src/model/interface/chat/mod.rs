//! The OpenAI chat-completions interface.

mod reply;
mod request;

use serde_json::Value;

use super::{ErrorReply, Interface, Opened, Said, Trouble, Writer, body, openai};
use crate::model::asked::Asked;
use crate::model::family::Family;
use crate::model::script::Usage;
use reply::ChatReply;

/// `POST /v1/chat/completions`.
#[derive(Debug)]
pub(crate) struct Chat;

impl Interface for Chat {
    fn asked(&self, _path: &str, body: &str) -> Result<Asked, String> {
        request::asked(body)
    }

    fn writer(&self, opened: &Opened<'_>) -> Box<dyn Writer> {
        Box::new(ChatReply::new(opened))
    }

    fn error(&self, trouble: Trouble, message: Option<&str>) -> ErrorReply {
        openai::error(trouble, message)
    }

    fn count(&self, _tokens: u64) -> Option<String> {
        None
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
        for part in body::parts(reply) {
            take(&mut said, &part);
        }
        said
    }
}

/// Takes in a chunk or a whole reply.
fn take(said: &mut Said, part: &Value) {
    if let Some(message) = part.pointer("/error/message").and_then(Value::as_str) {
        said.error = Some(message.to_owned());
    }
    let choice = part.pointer("/choices/0");
    let message = choice.and_then(|choice| choice.get("delta").or_else(|| choice.get("message")));
    let text = |name: &str| {
        let text = message.and_then(|message| message.get(name)?.as_str());
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    said.thoughts
        .extend(text("reasoning_content").or_else(|| text("reasoning")));
    said.texts.extend(text("content"));
    if let Some(words) = text("refusal") {
        said.refusal.get_or_insert_default().push_str(&words);
    }
    let calls = message.and_then(|message| message.get("tool_calls")?.as_array());
    for (place, call) in calls.into_iter().flatten().enumerate() {
        let index = call.get("index").and_then(Value::as_u64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let Some(known) = said.call(index.unwrap_or(place)) else {
            continue;
        };
        let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str);
        for (name, arguments) in [
            ("/function/name", "/function/arguments"),
            ("/custom/name", "/custom/input"),
        ] {
            known.name.push_str(text(name).unwrap_or_default());
            known
                .arguments
                .push_str(text(arguments).unwrap_or_default());
        }
        known.freeform |= call.get("custom").is_some();
    }
    said.length |= choice.and_then(|choice| choice.get("finish_reason"))
        == Some(&Value::String("length".to_owned()));
    let count = |name: &str| part.get("usage")?.get(name)?.as_u64();
    if let (Some(input), Some(output)) = (count("prompt_tokens"), count("completion_tokens")) {
        said.usage = Some(Usage { input, output });
    }
}
