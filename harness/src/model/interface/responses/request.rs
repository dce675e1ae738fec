//! How a request of the responses interface is read.

use serde_json::{Value, json};

use crate::model::asked::{Answer, Asked, Called, Message, Returned, Role, Tool};
use crate::model::interface::body::{list, model, object, string, text};

/// Reads the body of a request for a reply.
///
/// # Errors
/// A sentence that says what is wrong with the body.
pub(super) fn asked(body: &str) -> Result<Asked, String> {
    let request = object(body)?;
    let mut messages = Vec::new();
    let instructions = string(&request, "instructions");
    if !instructions.is_empty() {
        messages.push(Message::said(Role::System, instructions));
    }
    let last = match request.get("input") {
        Some(Value::String(text)) => {
            messages.push(Message::said(Role::User, text.clone()));
            request.get("input")
        }
        Some(Value::Array(items)) => {
            messages.extend(items.iter().filter_map(item));
            items.last()
        }
        _ => return Err("The parameter `input` is missing, or no text and no list.".to_owned()),
    };
    Ok(Asked {
        model: model(&request),
        stream: request.get("stream") == Some(&Value::Bool(true)),
        usage: true,
        tools: list(&request, "tools").filter_map(tool).collect(),
        answer: answer(&request),
        max_tokens: request.get("max_output_tokens").and_then(Value::as_u64),
        ..Asked::default()
    }
    .holding(messages, last))
}

/// A tool that can be called by its name; those that the server itself would run are none.
fn tool(offered: &Value) -> Option<Tool> {
    let freeform = match offered.get("type").and_then(Value::as_str)? {
        "function" => false,
        "custom" => true,
        _ => return None,
    };
    Some(Tool {
        name: string(offered, "name"),
        description: string(offered, "description"),
        schema: offered.get("parameters").cloned().unwrap_or(Value::Null),
        freeform,
    })
}

/// An item of the conversation; `None` for those that say nothing, such as reasoning that comes back.
fn item(item: &Value) -> Option<Message> {
    let kind = item.get("type").and_then(Value::as_str);
    let called = |arguments: &str| Message {
        role: Role::Model,
        calls: vec![Called {
            id: string(item, "call_id"),
            name: string(item, "name"),
            arguments: string(item, arguments),
        }],
        ..Message::default()
    };
    Some(match kind {
        None | Some("message") => {
            let role = match item.get("role").and_then(Value::as_str) {
                Some("system" | "developer") => Role::System,
                Some("assistant") => Role::Model,
                _ => Role::User,
            };
            Message::said(role, text(item.get("content")))
        }
        Some("function_call") => called("arguments"),
        Some("custom_tool_call") => called("input"),
        Some("function_call_output" | "custom_tool_call_output") => Message {
            role: Role::Tool,
            results: vec![Returned {
                id: string(item, "call_id"),
                text: text(item.get("output")),
                ..Returned::default()
            }],
            ..Message::default()
        },
        Some(_) => return None,
    })
}

fn answer(request: &Value) -> Answer {
    let format = request.pointer("/text/format");
    match format.and_then(|format| format.get("type")) {
        Some(kind) if *kind == json!("json_schema") => {
            Answer::Json(format.and_then(|format| format.get("schema")).cloned())
        }
        Some(kind) if *kind == json!("json_object") => Answer::Json(None),
        _ => Answer::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_a_question() {
        let asked = asked(r#"{"model":"m","instructions":"s","input":"hi"}"#).unwrap();
        assert_eq!(asked.model, "m");
        assert_eq!(asked.system, "s");
        assert_eq!(asked.last_user, "hi");
        assert!(!asked.stream);
    }

    #[test]
    fn items_of_all_kinds_make_a_conversation() {
        let asked = asked(
            r#"{"stream":true,"max_output_tokens":7,"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},
            "input":[
            {"type":"message","role":"developer","content":[{"type":"input_text","text":"d"}]},
            {"role":"user","content":"make it"},
            {"type":"reasoning","summary":[]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]},
            {"type":"function_call","call_id":"c1","name":"shell","arguments":"{}"},
            {"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin"},
            {"type":"function_call_output","call_id":"c1","output":"done"},
            {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"fine"}]}],
            "tools":[{"type":"function","name":"shell","parameters":{"type":"object"}},
            {"type":"custom","name":"apply_patch","format":{"type":"grammar"}},{"type":"web_search"}]}"#,
        )
        .unwrap();
        let roles: Vec<Role> = asked.messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Model, Role::Tool]);
        assert_eq!(asked.messages[2].calls[1].arguments, "*** Begin");
        let results = &asked.messages[3].results;
        assert_eq!(
            (results[1].name.as_str(), results[1].text.as_str()),
            ("apply_patch", "fine")
        );
        assert_eq!(asked.tools.len(), 2);
        assert!(asked.tools[1].freeform && asked.tools[1].schema.is_null());
        assert_eq!(asked.answer, Answer::Json(Some(json!({"type": "object"}))));
        assert_eq!((asked.max_tokens, asked.last_user.as_str()), (Some(7), ""));
    }

    #[test]
    fn odd_requests_are_read_without_a_panic() {
        for body in [
            r#"{"input":[]}"#,
            r#"{"input":[null,1,{"type":7},{"role":5,"content":{}}],"tools":[null,{"type":"function","name":1}],"text":4}"#,
        ] {
            asked(body).unwrap();
        }
        assert!(asked("{}").unwrap_err().contains("`input`"));
    }

    proptest! {
        #[test]
        fn reading_any_text_as_a_request_does_not_panic(text: String) {
            let _ = asked(&text);
        }
    }
}
