//! How a reply of the responses interface is written: items, each opened, filled and closed by events.

use serde_json::{Map, Value, json};

use crate::model::interface::body::{Spelling, named_event};
use crate::model::interface::{Opened, Writer};
use crate::model::reply::{End, Piece, Plan};

/// What stands for reasoning that only the server can read.
const ENCRYPTED: &str = "c2NyaXB0ZWQ=";

/// Writes one reply.
#[derive(Debug)]
pub(super) struct ResponsesReply {
    number: u64,
    created: u64,
    model: String,
    /// How many events were written.
    sequence: u64,
    /// The items that are closed.
    output: Vec<Value>,
    open: Option<Item>,
    spelling: Spelling,
}

/// The item that is being written.
#[derive(Debug)]
enum Item {
    Reasoning {
        id: String,
        text: String,
    },
    Message {
        id: String,
        /// The parts that are closed.
        content: Vec<Value>,
        part: Part,
        text: String,
    },
    Call {
        id: String,
        call: String,
        name: String,
        freeform: bool,
        arguments: String,
    },
}

/// The kind of a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Text,
    Refusal,
}

impl Part {
    /// The beginning of the names of its events.
    fn events(self) -> &'static str {
        match self {
            Self::Text => "response.output_text",
            Self::Refusal => "response.refusal",
        }
    }

    /// The member that holds all of its text.
    fn member(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Refusal => "refusal",
        }
    }

    fn holding(self, text: &str) -> Value {
        match self {
            Self::Text => {
                json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
            }
            Self::Refusal => json!({"type": "refusal", "refusal": text}),
        }
    }
}

impl Item {
    fn id(&self) -> &str {
        match self {
            Self::Reasoning { id, .. } | Self::Message { id, .. } | Self::Call { id, .. } => id,
        }
    }

    /// The item as it stands in the output; empty where it is only announced.
    fn json(&self, status: &str) -> Value {
        match self {
            Self::Reasoning { id, text } => {
                let summary = match text.is_empty() {
                    true => json!([]),
                    false => json!([{"type": "summary_text", "text": text}]),
                };
                json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": ENCRYPTED})
            }
            Self::Message { id, content, .. } => json!({
                "id": id, "type": "message", "status": status, "role": "assistant", "content": content,
            }),
            Self::Call {
                id,
                call,
                name,
                freeform,
                arguments,
            } => {
                let (kind, member) = call_kind(*freeform);
                json!({
                    "id": id, "type": kind, "status": status, "call_id": call, "name": name,
                    member: arguments,
                })
            }
        }
    }
}

/// The type of a call's item, and the member that holds its arguments.
fn call_kind(freeform: bool) -> (&'static str, &'static str) {
    match freeform {
        true => ("custom_tool_call", "input"),
        false => ("function_call", "arguments"),
    }
}

impl ResponsesReply {
    /// The reply of an exchange.
    pub(super) fn new(opened: &Opened<'_>) -> Self {
        Self {
            number: opened.number,
            created: opened.seconds,
            model: opened.asked.model.clone(),
            sequence: 0,
            output: Vec::new(),
            open: None,
            spelling: Spelling::default(),
        }
    }

    fn event(&mut self, kind: &str, members: Value) -> String {
        let mut event = Map::new();
        event.insert("type".into(), json!(kind));
        event.insert("sequence_number".into(), json!(self.sequence));
        if let Value::Object(members) = members {
            event.extend(members);
        }
        self.sequence += 1;
        named_event(kind, &self.spelling.of(&Value::Object(event)))
    }

    /// An event about the item that is open.
    fn item_event(&mut self, kind: &str, mut members: Value) -> String {
        if let (Some(item), Value::Object(members)) = (&self.open, &mut members) {
            members.insert("item_id".into(), json!(item.id()));
            members.insert("output_index".into(), json!(self.output.len()));
        }
        self.event(kind, members)
    }

    /// The id of the item that comes next.
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{:06}{:04}", self.number, self.output.len())
    }

    fn begin(&mut self, item: Item, out: &mut Vec<String>) {
        self.end(out);
        let json = item.json("in_progress");
        let index = self.output.len();
        let members = json!({"output_index": index, "item": json});
        out.push(self.event("response.output_item.added", members));
        self.open = Some(item);
    }

    /// Opens a part of a message; of the one that is open, if it is one.
    fn begin_part(&mut self, part: Part, out: &mut Vec<String>) {
        match &self.open {
            Some(Item::Message { part: open, .. }) if *open == part => return,
            Some(Item::Message { .. }) => {
                self.end_part(out);
                if let Some(Item::Message { part: open, .. }) = &mut self.open {
                    *open = part;
                }
            }
            _ => {
                let item = Item::Message {
                    id: self.id("msg"),
                    content: Vec::new(),
                    part,
                    text: String::new(),
                };
                self.begin(item, out);
            }
        }
        let members = json!({"content_index": self.content_index(), "part": part.holding("")});
        out.push(self.item_event("response.content_part.added", members));
    }

    fn content_index(&self) -> usize {
        match &self.open {
            Some(Item::Message { content, .. }) => content.len(),
            _ => 0,
        }
    }

    fn end_part(&mut self, out: &mut Vec<String>) {
        let index = self.content_index();
        let Some(Item::Message {
            content,
            part,
            text,
            ..
        }) = &mut self.open
        else {
            return;
        };
        let (part, text) = (*part, std::mem::take(text));
        let whole = part.holding(&text);
        content.push(whole.clone());
        let mut members = json!({"content_index": index, part.member(): text});
        if part == Part::Text
            && let Value::Object(members) = &mut members
        {
            members.insert("logprobs".into(), json!([]));
        }
        out.push(self.item_event(&format!("{}.done", part.events()), members));
        let members = json!({"content_index": index, "part": whole});
        out.push(self.item_event("response.content_part.done", members));
    }

    /// Closes the item that is open.
    fn end(&mut self, out: &mut Vec<String>) {
        match &self.open {
            None => return,
            Some(Item::Message { .. }) => self.end_part(out),
            Some(Item::Reasoning { text, .. }) => {
                let text = text.clone();
                let part = json!({"type": "summary_text", "text": text});
                for (kind, members) in [
                    ("text", json!({"summary_index": 0, "text": text})),
                    ("part", json!({"summary_index": 0, "part": part})),
                ] {
                    let kind = format!("response.reasoning_summary_{kind}.done");
                    out.push(self.item_event(&kind, members));
                }
            }
            Some(Item::Call {
                name,
                freeform,
                arguments,
                ..
            }) => {
                let (kind, members) = match freeform {
                    true => ("custom_tool_call_input", json!({"input": arguments})),
                    false => (
                        "function_call_arguments",
                        json!({"name": name, "arguments": arguments}),
                    ),
                };
                out.push(self.item_event(&format!("response.{kind}.done"), members));
            }
        }
        if let Some(item) = self.open.take() {
            let json = item.json("completed");
            let members = json!({"output_index": self.output.len(), "item": json});
            self.output.push(json);
            out.push(self.event("response.output_item.done", members));
        }
    }

    /// The response as it is now; at its end with the plan.
    fn response(&self, plan: Option<&Plan>) -> Value {
        let (status, usage) = match plan {
            None => ("in_progress", Value::Null),
            Some(plan) if plan.end == End::Length => ("incomplete", usage(plan)),
            Some(plan) => ("completed", usage(plan)),
        };
        let incomplete = match status {
            "incomplete" => json!({"reason": "max_output_tokens"}),
            _ => Value::Null,
        };
        json!({
            "id": format!("resp_{:06}", self.number),
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": null,
            "incomplete_details": incomplete,
            "instructions": null,
            "max_output_tokens": null,
            "model": self.model,
            "output": self.output,
            "parallel_tool_calls": true,
            "previous_response_id": null,
            "reasoning": {"effort": null, "summary": null},
            "store": false,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": usage,
            "user": null,
            "metadata": {},
        })
    }
}

impl Writer for ResponsesReply {
    fn opening(&mut self, _plan: &Plan) -> Vec<String> {
        ["response.created", "response.in_progress"]
            .map(|kind| {
                let response = self.response(None);
                self.event(kind, json!({"response": response}))
            })
            .into()
    }

    fn piece(&mut self, piece: &Piece) -> Vec<String> {
        let mut out = Vec::new();
        let delta = match piece {
            Piece::Hold => return out,
            Piece::Think(delta) => {
                if !matches!(self.open, Some(Item::Reasoning { .. })) {
                    let item = Item::Reasoning {
                        id: self.id("rs"),
                        text: String::new(),
                    };
                    self.begin(item, &mut out);
                    let part = json!({"type": "summary_text", "text": ""});
                    let members = json!({"summary_index": 0, "part": part});
                    out.push(self.item_event("response.reasoning_summary_part.added", members));
                }
                delta
            }
            Piece::Say(delta) => {
                self.begin_part(Part::Text, &mut out);
                delta
            }
            Piece::Refuse(delta) => {
                self.begin_part(Part::Refusal, &mut out);
                delta
            }
            Piece::Call {
                id, name, freeform, ..
            } => {
                let item = Item::Call {
                    id: self.id(if *freeform { "ctc" } else { "fc" }),
                    call: id.clone(),
                    name: name.clone(),
                    freeform: *freeform,
                    arguments: String::new(),
                };
                self.begin(item, &mut out);
                return out;
            }
            Piece::Arguments { fragment, .. } => fragment,
        };
        let index = self.content_index();
        let (kind, members) = match &mut self.open {
            None => return out,
            Some(Item::Reasoning { text, .. }) => {
                text.push_str(delta);
                let members = json!({"summary_index": 0, "delta": delta});
                ("response.reasoning_summary_text".to_owned(), members)
            }
            Some(Item::Message { text, part, .. }) => {
                text.push_str(delta);
                let members = match part {
                    Part::Text => json!({"content_index": index, "delta": delta, "logprobs": []}),
                    Part::Refusal => json!({"content_index": index, "delta": delta}),
                };
                (part.events().to_owned(), members)
            }
            Some(Item::Call {
                arguments,
                freeform,
                ..
            }) => {
                arguments.push_str(delta);
                let kind = match freeform {
                    true => "response.custom_tool_call_input",
                    false => "response.function_call_arguments",
                };
                (kind.to_owned(), json!({"delta": delta}))
            }
        };
        out.push(self.item_event(&format!("{kind}.delta"), members));
        out
    }

    fn closing(&mut self, plan: &Plan) -> Vec<String> {
        let mut out = Vec::new();
        self.end(&mut out);
        let kind = match plan.end {
            End::Length => "response.incomplete",
            _ => "response.completed",
        };
        let response = self.response(Some(plan));
        out.push(self.event(kind, json!({"response": response})));
        out
    }

    fn whole(&mut self, plan: &Plan) -> String {
        for piece in &plan.pieces {
            self.piece(piece);
        }
        self.closing(plan);
        self.response(Some(plan)).to_string()
    }
}

fn usage(plan: &Plan) -> Value {
    let usage = plan.usage;
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input.saturating_add(usage.output),
    })
}
