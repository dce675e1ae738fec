//! The Gemini interface.

mod error;
mod reply;
mod request;

use serde_json::{Value, json};

use super::{ErrorReply, Interface, Opened, Said, Trouble, Writer, body};
use crate::model::asked::Asked;
use crate::model::family::Family;
use crate::model::script::Usage;
use reply::GeminiReply;

/// `POST /v1beta/models/NAME:generateContent` and its streaming twin.
#[derive(Debug)]
pub(crate) struct Gemini;

impl Interface for Gemini {
    fn asked(&self, path: &str, body: &str) -> Result<Asked, String> {
        request::asked(path, body)
    }

    fn writer(&self, opened: &Opened<'_>) -> Box<dyn Writer> {
        Box::new(GeminiReply::new(opened))
    }

    fn error(&self, trouble: Trouble, message: Option<&str>) -> ErrorReply {
        error::error(trouble, message)
    }

    fn count(&self, tokens: u64) -> Option<String> {
        let count = json!({
            "totalTokens": tokens,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}],
        });
        Some(count.to_string())
    }

    fn models(&self, names: &[&str]) -> String {
        let models: Vec<Value> = names.iter().map(|name| entry(name)).collect();
        json!({"models": models}).to_string()
    }

    fn model(&self, name: &str) -> String {
        entry(name).to_string()
    }

    fn family(&self) -> Family {
        Family::Gemini
    }

    fn id_header(&self) -> Option<&'static str> {
        None
    }

    fn said(&self, _status: u16, reply: &str) -> Said {
        let mut said = Said::default();
        for part in body::parts(reply) {
            take(&mut said, &part);
        }
        said
    }
}

fn entry(name: &str) -> Value {
    json!({
        "name": format!("models/{name}"),
        "version": "001",
        "displayName": name,
        "description": "A scripted model",
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    })
}

/// Takes in a chunk, or a whole reply: both have one form.
fn take(said: &mut Said, part: &Value) {
    if let Some(message) = part.pointer("/error/message").and_then(Value::as_str) {
        said.error = Some(message.to_owned());
    }
    let none = Value::Null;
    let candidate = part.pointer("/candidates/0").unwrap_or(&none);
    let content = candidate.get("content").unwrap_or(&none);
    for part in body::list(content, "parts") {
        let text = body::string(part, "text");
        if !text.is_empty() {
            match part.get("thought") {
                Some(Value::Bool(true)) => said.thoughts.push(text),
                _ => said.texts.push(text),
            }
        }
        if let Some(called) = part.get("functionCall")
            && let Some(call) = said.call(said.calls.len())
        {
            call.name = body::string(called, "name");
            call.arguments = called.get("args").unwrap_or(&json!({})).to_string();
        }
    }
    match candidate.get("finishReason").and_then(Value::as_str) {
        Some("MAX_TOKENS") => said.length = true,
        Some("SAFETY" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII") => {
            said.refusal = Some(body::string(candidate, "finishMessage"));
        }
        _ => {}
    }
    if part.pointer("/promptFeedback/blockReason").is_some() {
        said.refusal.get_or_insert_default();
    }
    let count = |name: &str| part.get("usageMetadata")?.get(name)?.as_u64();
    if let (Some(input), Some(output)) = (count("promptTokenCount"), count("candidatesTokenCount"))
    {
        said.usage = Some(Usage { input, output });
    }
}
