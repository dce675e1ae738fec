//! How a reply of the Gemini interface is written: chunks of one form, in events or in a list.

use serde_json::{Map, Value, json};

use crate::model::interface::body::{Spelling, event};
use crate::model::interface::{EVENTS, JSON, Opened, Writer};
use crate::model::reply::{End, Piece, Plan};

/// What stands for the signature that a model gives its calls.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// Writes one reply.
#[derive(Debug)]
pub(super) struct GeminiReply {
    number: u64,
    model: String,
    /// Whether a stream is of events; otherwise it is one list, element by element.
    events: bool,
    written: usize,
    /// The call whose arguments are not complete: calls are not sent in fragments here.
    call: Option<Call>,
    /// Whether a call was sent: the first one alone has a signature.
    called: bool,
    refused: String,
    spelling: Spelling,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl GeminiReply {
    /// The reply of an exchange.
    pub(super) fn new(opened: &Opened<'_>) -> Self {
        let query = opened.path.split_once('?').map_or("", |(_, query)| query);
        Self {
            number: opened.number,
            model: opened.asked.model.clone(),
            events: query.split('&').any(|pair| pair == "alt=sse"),
            written: 0,
            call: None,
            called: false,
            refused: String::new(),
            spelling: Spelling::default(),
        }
    }

    /// The part of a call that is complete now.
    fn call_part(&mut self) -> Option<Value> {
        let call = self.call.take()?;
        let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
        let called = json!({"id": call.id, "name": call.name, "args": arguments});
        let mut part = json!({"functionCall": called});
        if let (Value::Object(part), false) = (&mut part, self.called) {
            part.insert("thoughtSignature".into(), json!(SIGNATURE));
        }
        self.called = true;
        Some(part)
    }

    /// What a piece makes complete.
    fn part(&mut self, piece: &Piece) -> Option<Value> {
        match piece {
            Piece::Hold => None,
            // A refusal has no text here: it is a reason to stop.
            Piece::Refuse(text) => {
                self.refused.push_str(text);
                None
            }
            Piece::Think(text) => Some(json!({"text": text, "thought": true})),
            Piece::Say(text) => Some(json!({"text": text})),
            Piece::Call { id, name, .. } => {
                let before = self.call_part();
                self.call = Some(Call {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                });
                before
            }
            Piece::Arguments { fragment, .. } => {
                if let Some(call) = &mut self.call {
                    call.arguments.push_str(fragment);
                }
                None
            }
        }
    }

    /// A response with these parts; `plan` where it is the last or the only one.
    fn response(&self, parts: Vec<Value>, plan: Option<&Plan>) -> Value {
        let mut candidate = Map::new();
        if !parts.is_empty() {
            candidate.insert("content".into(), json!({"parts": parts, "role": "model"}));
        }
        let mut response = Map::new();
        if let Some(plan) = plan {
            self.finish(plan, &mut candidate);
            response.insert("usageMetadata".into(), usage(plan));
        }
        candidate.insert("index".into(), json!(0));
        response.insert("candidates".into(), json!([candidate]));
        response.insert("modelVersion".into(), json!(self.model));
        let id = format!("scripted{:06}", self.number);
        response.insert("responseId".into(), json!(id));
        Value::Object(response)
    }

    /// Why the reply ends.
    fn finish(&self, plan: &Plan, candidate: &mut Map<String, Value>) {
        let reason = match plan.end {
            End::Said | End::Calls => "STOP",
            End::Length => "MAX_TOKENS",
            End::Refusal => "SAFETY",
        };
        candidate.insert("finishReason".into(), json!(reason));
        if plan.end == End::Refusal {
            candidate.insert("finishMessage".into(), json!(self.refused));
            let rating = json!({
                "category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true,
            });
            candidate.insert("safetyRatings".into(), json!([rating]));
        }
    }

    fn chunk(&mut self, parts: Vec<Value>, plan: Option<&Plan>) -> String {
        let response = self.response(parts, plan);
        let text = self.spelling.of(&response);
        self.written += 1;
        match (self.events, self.written) {
            (true, _) => event(&text),
            (false, 1) => format!("[{text}"),
            (false, _) => format!(",\r\n{text}"),
        }
    }
}

impl Writer for GeminiReply {
    fn stream_type(&self) -> &'static str {
        if self.events { EVENTS } else { JSON }
    }

    fn opening(&mut self, _plan: &Plan) -> Vec<String> {
        Vec::new()
    }

    fn piece(&mut self, piece: &Piece) -> Vec<String> {
        let part = self.part(piece);
        part.map(|part| self.chunk(vec![part], None))
            .into_iter()
            .collect()
    }

    fn closing(&mut self, plan: &Plan) -> Vec<String> {
        let part = match (self.call_part(), plan.end) {
            (Some(part), _) => vec![part],
            (None, End::Refusal) => Vec::new(),
            (None, _) => vec![json!({"text": ""})],
        };
        let mut last = self.chunk(part, Some(plan));
        if !self.events {
            last.push(']');
        }
        vec![last]
    }

    fn whole(&mut self, plan: &Plan) -> String {
        let mut parts: Vec<Value> = Vec::new();
        for piece in &plan.pieces {
            if let Some(part) = self.part(piece) {
                join(&mut parts, part);
            }
        }
        parts.extend(self.call_part());
        self.response(parts, Some(plan)).to_string()
    }
}

/// Adds a part, to the last one where both are text or both are thoughts.
fn join(parts: &mut Vec<Value>, part: Value) {
    let more = part.get("text").and_then(Value::as_str);
    if let (Some(last), Some(more)) = (parts.last_mut(), more)
        && last.get("thought") == part.get("thought")
        && let Some(Value::String(text)) = last.get_mut("text")
    {
        text.push_str(more);
        return;
    }
    parts.push(part);
}

fn usage(plan: &Plan) -> Value {
    let usage = plan.usage;
    json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input.saturating_add(usage.output),
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    })
}
