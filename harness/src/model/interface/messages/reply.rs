//! How a reply of the messages interface is written: blocks, each opened, filled and closed by events.

use serde_json::{Value, json};

use crate::model::interface::body::{Spelling, named_event};
use crate::model::interface::{Opened, Writer};
use crate::model::reply::{End, Piece, Plan};

/// What stands for the signature of thoughts.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// Writes one reply.
#[derive(Debug)]
pub(super) struct MessagesReply {
    number: u64,
    model: String,
    /// The blocks that are closed.
    content: Vec<Value>,
    open: Option<Block>,
    /// In what words the model refuses.
    refused: String,
    spelling: Spelling,
}

/// The block that is being written.
#[derive(Debug)]
enum Block {
    Thinking(String),
    Text(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
}

impl Block {
    /// The block as it is announced.
    fn empty(&self) -> Value {
        match self {
            Self::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Self::Text(_) => json!({"type": "text", "text": ""}),
            Self::Call { id, name, .. } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
        }
    }

    /// The block as it stands in a whole reply.
    fn whole(&self) -> Value {
        match self {
            Self::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": SIGNATURE})
            }
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Call {
                id,
                name,
                arguments,
            } => {
                let input = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        }
    }
}

impl MessagesReply {
    /// The reply of an exchange.
    pub(super) fn new(opened: &Opened<'_>) -> Self {
        Self {
            number: opened.number,
            model: opened.asked.model.clone(),
            content: Vec::new(),
            open: None,
            refused: String::new(),
            spelling: Spelling::default(),
        }
    }

    fn event(&mut self, event: &Value) -> String {
        let name = event.get("type").and_then(Value::as_str);
        named_event(name.unwrap_or_default(), &self.spelling.of(event))
    }

    fn begin(&mut self, block: Block, out: &mut Vec<String>) {
        self.end(out);
        let index = self.content.len();
        let block_json = block.empty();
        out.push(self.event(
            &json!({"type": "content_block_start", "index": index, "content_block": block_json}),
        ));
        self.open = Some(block);
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<String>) {
        let index = self.content.len();
        out.push(
            self.event(&json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
    }

    /// Closes the block that is open.
    fn end(&mut self, out: &mut Vec<String>) {
        let Some(block) = self.open.take() else {
            return;
        };
        if matches!(block, Block::Thinking(_)) {
            let delta = json!({"type": "signature_delta", "signature": SIGNATURE});
            self.delta(&delta, out);
        }
        let index = self.content.len();
        out.push(self.event(&json!({"type": "content_block_stop", "index": index})));
        self.content.push(block.whole());
    }

    /// Why the reply ends, and what it says about a refusal.
    fn stop(&self, plan: &Plan) -> (&'static str, Value) {
        match plan.end {
            End::Said => ("end_turn", Value::Null),
            End::Calls => ("tool_use", Value::Null),
            End::Length => ("max_tokens", Value::Null),
            End::Refusal => {
                let words = &self.refused;
                let details = json!({"type": "refusal", "category": null, "explanation": words});
                ("refusal", details)
            }
        }
    }

    fn id(&self) -> String {
        format!("msg_scripted{:06}", self.number)
    }
}

impl Writer for MessagesReply {
    fn opening(&mut self, plan: &Plan) -> Vec<String> {
        let message = json!({
            "id": self.id(), "type": "message", "role": "assistant", "model": self.model,
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": usage(plan.usage.input, plan.usage.output.min(1)),
        });
        vec![
            self.event(&json!({"type": "message_start", "message": message})),
            self.event(&json!({"type": "ping"})),
        ]
    }

    fn piece(&mut self, piece: &Piece) -> Vec<String> {
        let mut out = Vec::new();
        match piece {
            Piece::Hold => {}
            // A refusal has no block: it is a reason to stop.
            Piece::Refuse(text) => self.refused.push_str(text),
            Piece::Think(text) => {
                if !matches!(self.open, Some(Block::Thinking(_))) {
                    self.begin(Block::Thinking(String::new()), &mut out);
                }
                if let Some(Block::Thinking(whole)) = &mut self.open {
                    whole.push_str(text);
                }
                let delta = json!({"type": "thinking_delta", "thinking": text});
                self.delta(&delta, &mut out);
            }
            Piece::Say(text) => {
                if !matches!(self.open, Some(Block::Text(_))) {
                    self.begin(Block::Text(String::new()), &mut out);
                }
                if let Some(Block::Text(whole)) = &mut self.open {
                    whole.push_str(text);
                }
                let delta = json!({"type": "text_delta", "text": text});
                self.delta(&delta, &mut out);
            }
            Piece::Call { id, name, .. } => {
                let call = Block::Call {
                    id: id.replacen("call_", "toolu_", 1),
                    name: name.clone(),
                    arguments: String::new(),
                };
                self.begin(call, &mut out);
                // Real streams begin with a fragment of nothing.
                let delta = json!({"type": "input_json_delta", "partial_json": ""});
                self.delta(&delta, &mut out);
            }
            Piece::Arguments { fragment, .. } => {
                if let Some(Block::Call { arguments, .. }) = &mut self.open {
                    arguments.push_str(fragment);
                }
                let delta = json!({"type": "input_json_delta", "partial_json": fragment});
                self.delta(&delta, &mut out);
            }
        }
        out
    }

    fn closing(&mut self, plan: &Plan) -> Vec<String> {
        let mut out = Vec::new();
        self.end(&mut out);
        let (reason, details) = self.stop(plan);
        let mut delta = json!({"stop_reason": reason, "stop_sequence": null});
        if let (Value::Object(delta), true) = (&mut delta, details.is_object()) {
            delta.insert("stop_details".into(), details);
        }
        out.push(self.event(&json!({
            "type": "message_delta", "delta": delta,
            "usage": {"output_tokens": plan.usage.output},
        })));
        out.push(self.event(&json!({"type": "message_stop"})));
        out
    }

    fn whole(&mut self, plan: &Plan) -> String {
        for piece in &plan.pieces {
            self.piece(piece);
        }
        self.closing(plan);
        let (reason, details) = self.stop(plan);
        json!({
            "id": self.id(), "type": "message", "role": "assistant", "model": self.model,
            "content": self.content, "stop_reason": reason, "stop_details": details,
            "stop_sequence": null, "usage": usage(plan.usage.input, plan.usage.output),
        })
        .to_string()
    }
}

fn usage(input: u64, output: u64) -> Value {
    json!({
        "input_tokens": input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
        "service_tier": "standard",
    })
}
