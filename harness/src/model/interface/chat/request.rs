//! How a request of the chat-completions interface is read.

use serde_json::Value;

use crate::model::asked::{Answer, Asked, Called, Message, Returned, Role, Tool};
use crate::model::interface::body::{list, model, object, string, text};

/// Reads the body of a request for a reply.
///
/// # Errors
/// A sentence that says what is wrong with the body.
pub(super) fn asked(body: &str) -> Result<Asked, String> {
    let request = object(body)?;
    let Some(messages) = request.get("messages").and_then(Value::as_array) else {
        return Err("The parameter `messages` is missing or no list.".to_owned());
    };
    Ok(Asked {
        model: model(&request),
        stream: request.get("stream") == Some(&Value::Bool(true)),
        usage: request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)),
        tools: list(&request, "tools").map(tool).collect(),
        answer: answer(&request),
        max_tokens: ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|name| request.get(name).and_then(Value::as_u64)),
        ..Asked::default()
    }
    .holding(messages.iter().map(message).collect(), messages.last()))
}

fn tool(offered: &Value) -> Tool {
    // A tool stands in `function`; a custom tool, which has no schema, in `custom`.
    let custom = offered.get("custom");
    let inner = offered.get("function").or(custom).unwrap_or(offered);
    Tool {
        name: string(inner, "name"),
        description: string(inner, "description"),
        schema: inner.get("parameters").cloned().unwrap_or(Value::Null),
        freeform: custom.is_some(),
    }
}

fn message(message: &Value) -> Message {
    let role = match message.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("assistant") => Role::Model,
        Some("tool" | "function") => Role::Tool,
        _ => Role::User,
    };
    let text = text(message.get("content"));
    if role == Role::Tool {
        let result = Returned {
            id: string(message, "tool_call_id"),
            name: string(message, "name"),
            text,
            failed: false,
        };
        return Message {
            role,
            results: vec![result],
            ..Message::default()
        };
    }
    Message {
        role,
        text,
        calls: list(message, "tool_calls").map(call).collect(),
        results: Vec::new(),
    }
}

fn call(call: &Value) -> Called {
    let (inner, arguments) = match call.get("custom") {
        Some(custom) => (custom, "input"),
        None => (call.get("function").unwrap_or(&Value::Null), "arguments"),
    };
    Called {
        id: string(call, "id"),
        name: string(inner, "name"),
        arguments: string(inner, arguments),
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

    proptest! {
        #[test]
        fn reading_any_text_as_a_request_does_not_panic(text: String) {
            let _ = asked(&text);
        }
    }
}
