//! The OpenAI chat-completions interface: how its requests are read and its replies written.

use serde_json::{Map, Value, json};

use super::asked::{Answer, Asked, Conversation, Tool};
use super::reply::{Piece, Plan};

/// The name of the model where a request gives none.
const MODEL: &str = "scripted";
/// What stands for the configuration of the server.
const FINGERPRINT: &str = "fp_scripted";
/// Statuses with the error type, code and message that go with them; the last row is for any other.
const ERRORS: &[(u16, &str, Option<&str>, &str)] = &[
    (
        400,
        "invalid_request_error",
        None,
        "The request is not valid.",
    ),
    (
        401,
        "invalid_request_error",
        Some("invalid_api_key"),
        "The API key is not correct.",
    ),
    (
        403,
        "invalid_request_error",
        Some("permission_denied"),
        "This project has no access to the model.",
    ),
    (
        404,
        "invalid_request_error",
        Some("model_not_found"),
        "The model does not exist.",
    ),
    (
        413,
        "invalid_request_error",
        Some("request_too_large"),
        "The request is too large.",
    ),
    (
        429,
        "requests",
        Some("rate_limit_exceeded"),
        "The rate limit is reached. Try again in a moment.",
    ),
    (
        500,
        "server_error",
        None,
        "The server had an error while it worked on the request.",
    ),
    (
        503,
        "service_unavailable_error",
        None,
        "The model is overloaded. Try again later.",
    ),
    (0, "server_error", None, "The request failed."),
];

/// Reads the body of a request for a reply.
///
/// # Errors
/// A sentence that says what is wrong with the body.
pub(crate) fn asked(body: &str) -> Result<Asked, String> {
    let request: Value = serde_json::from_str(body)
        .map_err(|error| format!("The body of the request is no JSON: {error}."))?;
    if !request.is_object() {
        return Err("The body of the request is no JSON object.".to_owned());
    }
    let Some(messages) = request.get("messages").and_then(Value::as_array) else {
        return Err("The parameter `messages` is missing or no list.".to_owned());
    };
    let said_by = |messages: &[Value], wanted: &[&str]| -> Vec<String> {
        let theirs = messages
            .iter()
            .filter(|message| wanted.contains(&role(message)));
        theirs.map(text).collect()
    };
    let since = messages
        .iter()
        .rposition(|message| role(message) == "assistant")
        .map_or(0, |last| last + 1);
    let latest = messages
        .get(since..)
        .filter(|latest| !latest.iter().any(|message| role(message) == "tool"))
        .unwrap_or_default();
    Ok(Asked {
        model: request
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or(MODEL)
            .to_owned(),
        stream: request.get("stream") == Some(&Value::Bool(true)),
        usage: request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)),
        tools: request
            .get("tools")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(tool)
            .collect(),
        system: said_by(messages, &["system", "developer"]).join("\n"),
        first_user: said_by(messages, &["user"])
            .into_iter()
            .next()
            .unwrap_or_default(),
        last_user: said_by(latest, &["user"]).join("\n"),
        conversation: Conversation {
            messages: messages.len(),
            last: messages.last().map(Value::to_string).unwrap_or_default(),
        },
        answer: answer(&request),
        max_tokens: ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|name| request.get(name).and_then(Value::as_u64)),
    })
}

fn tool(offered: &Value) -> Tool {
    // A tool stands in `function`; a custom tool, which has no schema, in `custom`.
    let inner = ["function", "custom"]
        .iter()
        .find_map(|name| offered.get(name))
        .unwrap_or(offered);
    let string = |name: &str| {
        let value = inner.get(name).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    Tool {
        name: string("name"),
        description: string("description"),
        schema: inner.get("parameters").cloned().unwrap_or(Value::Null),
        freeform: offered.get("custom").is_some(),
    }
}

fn answer(request: &Value) -> Answer {
    match request
        .pointer("/response_format/type")
        .and_then(Value::as_str)
    {
        Some("json_schema") => Answer::Json(
            request
                .pointer("/response_format/json_schema/schema")
                .cloned(),
        ),
        Some("json_object") => Answer::Json(None),
        _ => Answer::Text,
    }
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or("")
}

/// The text of a message: a string, or the text parts of a list.
fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// An error of the interface, as its body.
pub(crate) fn error(status: u16, message: Option<&str>) -> String {
    let row = ERRORS
        .iter()
        .find(|row| row.0 == status || row.0 == 0)
        .copied();
    let (_, kind, code, usual) = row.unwrap_or((0, "server_error", None, ""));
    json!({"error": {
        "message": message.unwrap_or(usual),
        "type": kind,
        "param": null,
        "code": code,
    }})
    .to_string()
}

/// The list of models: the one that was asked for last, and one that is always there.
pub(crate) fn models(last: Option<&str>) -> String {
    let names = last.into_iter().chain([MODEL]);
    let mut data: Vec<Value> = names.map(entry).collect();
    data.dedup();
    json!({"object": "list", "data": data}).to_string()
}

/// One model; any name is known.
pub(crate) fn model(name: &str) -> String {
    entry(name).to_string()
}

fn entry(name: &str) -> Value {
    json!({"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "acp-harness"})
}

/// Writes one reply.
#[derive(Debug)]
pub(crate) struct ChatReply {
    id: String,
    created: u64,
    model: String,
    usage: bool,
    written: usize,
}

impl ChatReply {
    /// The reply of an exchange to what was asked. `created` is in seconds since 1970.
    pub(crate) fn new(exchange: u64, created: u64, asked: &Asked) -> Self {
        Self {
            id: format!("chatcmpl-scripted-{exchange:06}"),
            created,
            model: asked.model.clone(),
            usage: asked.usage,
            written: 0,
        }
    }

    /// The first event of a stream, which names the role.
    pub(crate) fn opening(&mut self, plan: &Plan) -> String {
        let only_calls = plan
            .pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Call { .. } | Piece::Arguments { .. }));
        let content = match only_calls && plan.calls() {
            true => Value::Null,
            false => json!(""),
        };
        self.delta(
            &json!({"role": "assistant", "content": content, "refusal": null}),
            None,
        )
    }

    /// The event of a piece; `None` where a piece sends nothing.
    pub(crate) fn piece(&mut self, piece: &Piece) -> Option<String> {
        let delta = match piece {
            Piece::Think(text) => json!({"reasoning_content": text}),
            Piece::Say(text) => json!({"content": text}),
            Piece::Call { number, id, name } => json!({"tool_calls": [{
                "index": number, "id": id, "type": "function",
                "function": {"name": name, "arguments": ""},
            }]}),
            Piece::Arguments { number, fragment } => json!({"tool_calls": [{
                "index": number, "function": {"arguments": fragment},
            }]}),
            Piece::Hold => return None,
        };
        Some(self.delta(&delta, None))
    }

    /// The events that end a stream.
    pub(crate) fn closing(&mut self, plan: &Plan) -> Vec<String> {
        let mut events = vec![self.delta(&json!({}), Some(finish(plan)))];
        if self.usage {
            let chunk = self.chunk(json!([]), usage(plan));
            events.push(event(&chunk.to_string()));
        }
        events.push(event("[DONE]"));
        events
    }

    /// The whole body of a reply that is not streamed.
    pub(crate) fn whole(&self, plan: &Plan) -> String {
        let (mut thought, mut said) = (String::new(), String::new());
        let mut calls: Vec<(String, String, String)> = Vec::new();
        for piece in &plan.pieces {
            match piece {
                Piece::Think(text) => thought.push_str(text),
                Piece::Say(text) => said.push_str(text),
                Piece::Call { id, name, .. } => {
                    calls.push((id.clone(), name.clone(), String::new()));
                }
                Piece::Arguments { number, fragment } => {
                    if let Some((_, _, arguments)) = calls.get_mut(*number) {
                        arguments.push_str(fragment);
                    }
                }
                Piece::Hold => {}
            }
        }
        let content = match said.is_empty() && !calls.is_empty() {
            true => Value::Null,
            false => json!(said),
        };
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        message.insert("content".into(), content);
        message.insert("refusal".into(), Value::Null);
        if !thought.is_empty() {
            message.insert("reasoning_content".into(), json!(thought));
        }
        if !calls.is_empty() {
            let calls = calls.iter().map(|(id, name, arguments)| {
                json!({"id": id, "type": "function",
                       "function": {"name": name, "arguments": arguments}})
            });
            message.insert("tool_calls".into(), calls.collect());
        }
        json!({
            "id": self.id, "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(plan)}],
            "usage": usage(plan),
            "system_fingerprint": FINGERPRINT,
        })
        .to_string()
    }

    fn delta(&mut self, delta: &Value, finish: Option<&str>) -> String {
        let chunk = self.chunk(
            json!([
                {"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}
            ]),
            Value::Null,
        );
        let mut text = chunk.to_string();
        // Both spellings of a character are JSON, and servers differ: every second event uses escapes.
        if self.written % 2 == 1 {
            text = ascii(&text);
        }
        self.written += 1;
        event(&text)
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

fn finish(plan: &Plan) -> &'static str {
    match plan.calls() {
        true => "tool_calls",
        false => "stop",
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

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// The same JSON with every character beyond ASCII as an escape, as a surrogate pair where it needs one.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_read_in_both_forms_of_content() {
        let asked = asked(
            r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":5,
            "messages":[{"role":"system","content":"s"},{"role":"developer","content":[{"type":"text","text":"d"}]},
            {"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]}],
            "tools":[{"type":"function","function":{"name":"bash","description":"x","parameters":{"type":"object"}}},
            {"type":"custom","custom":{"name":"patch"}}]}"#,
        )
        .unwrap();
        assert_eq!(asked.system, "s\nd");
        assert_eq!(asked.first_user, "a\nb");
        assert_eq!(asked.last_user, "a\nb");
        assert!(asked.stream && asked.usage);
        assert_eq!(asked.tools[1].name, "patch");
        assert_eq!(asked.conversation.messages, 3);
        assert_eq!(asked.max_tokens, Some(5));
    }

    #[test]
    fn what_is_no_request_is_said() {
        for (body, part) in [
            ("", "no JSON"),
            ("[]", "no JSON object"),
            ("{}", "`messages`"),
            (r#"{"messages":"x"}"#, "`messages`"),
        ] {
            let error = asked(body).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn odd_requests_are_read_without_a_panic() {
        for body in [
            r#"{"messages":[]}"#,
            r#"{"messages":[null,1,"x",{"role":5,"content":{}}],"tools":[null,{"function":7}],"model":3}"#,
            r#"{"messages":[{"role":"user","content":[1,{"text":null}]}],"tools":{},"stream":"yes"}"#,
        ] {
            asked(body).unwrap();
        }
    }

    #[test]
    fn an_unknown_status_has_a_body_too() {
        let body: Value = serde_json::from_str(&error(418, None)).unwrap();
        assert_eq!(body["error"]["type"], "server_error");
        let body: Value = serde_json::from_str(&error(401, Some("No."))).unwrap();
        assert_eq!(body["error"]["message"], "No.");
        assert_eq!(body["error"]["code"], "invalid_api_key");
    }

    proptest! {
        #[test]
        fn escapes_spell_the_same_text(text: String) {
            let json = Value::String(text).to_string();
            let escaped = ascii(&json);
            prop_assert!(escaped.is_ascii());
            prop_assert_eq!(
                serde_json::from_str::<Value>(&escaped).unwrap(),
                serde_json::from_str::<Value>(&json).unwrap()
            );
        }

        #[test]
        fn reading_any_text_as_a_request_does_not_panic(text: String) {
            let _ = asked(&text);
        }
    }
}
