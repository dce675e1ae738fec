//! How a request of the messages interface is read.

use serde_json::{Value, json};

use crate::model::asked::{Answer, Asked, Called, Message, Returned, Role, Tool};
use crate::model::interface::body::{list, model, object, string, text};

/// Reads the body of a request for a reply, or for a count of tokens.
///
/// # Errors
/// A sentence that says what is wrong with the body.
pub(super) fn asked(body: &str) -> Result<Asked, String> {
    let request = object(body)?;
    let Some(given) = request.get("messages").and_then(Value::as_array) else {
        return Err("messages: Field required".to_owned());
    };
    let mut messages = Vec::new();
    let system = text(request.get("system"));
    if !system.is_empty() {
        messages.push(Message::said(Role::System, system));
    }
    given
        .iter()
        .for_each(|message| read(message, &mut messages));
    Ok(Asked {
        model: model(&request),
        stream: request.get("stream") == Some(&Value::Bool(true)),
        usage: true,
        tools: list(&request, "tools").map(tool).collect(),
        answer: answer(&request),
        max_tokens: request.get("max_tokens").and_then(Value::as_u64),
        ..Asked::default()
    }
    .holding(messages, given.last()))
}

fn tool(offered: &Value) -> Tool {
    Tool {
        name: string(offered, "name"),
        description: string(offered, "description"),
        schema: offered.get("input_schema").cloned().unwrap_or(Value::Null),
        freeform: false,
    }
}

/// Reads one message: results of tools, which stand among the user's own blocks here, become a message of their own.
fn read(message: &Value, out: &mut Vec<Message>) {
    let role = match message.get("role").and_then(Value::as_str) {
        Some("assistant") => Role::Model,
        Some("system") => Role::System,
        _ => Role::User,
    };
    let blocks = || list(message, "content");
    let of_kind = |kind: &'static str| {
        blocks().filter(move |block| block.get("type").and_then(Value::as_str) == Some(kind))
    };
    let results: Vec<Returned> = of_kind("tool_result").map(result).collect();
    let own = text(message.get("content"));
    let only_results = !results.is_empty() && own.is_empty();
    if !results.is_empty() {
        out.push(Message {
            role: Role::Tool,
            results,
            ..Message::default()
        });
    }
    if !only_results {
        out.push(Message {
            calls: of_kind("tool_use").map(call).collect(),
            ..Message::said(role, own)
        });
    }
}

fn call(block: &Value) -> Called {
    Called {
        id: string(block, "id"),
        name: string(block, "name"),
        arguments: block.get("input").map(Value::to_string).unwrap_or_default(),
    }
}

fn result(block: &Value) -> Returned {
    Returned {
        id: string(block, "tool_use_id"),
        text: text(block.get("content")),
        failed: block.get("is_error") == Some(&Value::Bool(true)),
        ..Returned::default()
    }
}

fn answer(request: &Value) -> Answer {
    let format = request
        .pointer("/output_config/format")
        .or_else(|| request.get("output_format"));
    match format.and_then(|format| format.get("type")) {
        Some(kind) if *kind == json!("json_schema") => {
            Answer::Json(format.and_then(|format| format.get("schema")).cloned())
        }
        _ => Answer::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn system_and_content_are_texts_or_blocks() {
        for system in [
            r#""s""#,
            r#"[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]"#,
        ] {
            for content in [
                r#""hi""#,
                r#"[{"type":"text","text":"hi"},{"type":"image"}]"#,
            ] {
                let asked = asked(&format!(
                    r#"{{"model":"m","max_tokens":9,"system":{system},"messages":[{{"role":"user","content":{content}}}]}}"#
                ))
                .unwrap();
                assert_eq!(
                    (asked.system.as_str(), asked.last_user.as_str()),
                    ("s", "hi")
                );
                assert_eq!(asked.max_tokens, Some(9));
            }
        }
    }

    #[test]
    fn results_of_tools_among_the_user_s_blocks_are_a_message_of_their_own() {
        let asked = asked(
            r#"{"messages":[{"role":"user","content":"go"},
            {"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"x"},{"type":"text","text":"ok"},
             {"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"b","name":"Read","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"no"}],"is_error":true},
             {"type":"tool_result","tool_use_id":"a","content":"out"},{"type":"text","text":"<reminder>"}]}],
            "tools":[{"name":"Bash","input_schema":{"type":"object"}}],
            "output_config":{"format":{"type":"json_schema","schema":{}}}}"#,
        )
        .unwrap();
        let roles: Vec<Role> = asked.messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::Model, Role::Tool, Role::User]);
        assert_eq!(asked.messages[1].text, "ok");
        assert_eq!(asked.messages[1].calls[0].arguments, r#"{"command":"ls"}"#);
        let failed = &asked.messages[2].results[0];
        assert_eq!(
            (failed.name.as_str(), failed.text.as_str(), failed.failed),
            ("Read", "no", true)
        );
        assert_eq!(asked.last_user, "");
        assert_eq!(asked.answer, Answer::Json(Some(json!({}))));
    }

    #[test]
    fn odd_requests_are_read_without_a_panic() {
        for body in [
            r#"{"messages":[]}"#,
            r#"{"messages":[null,4,{"role":1,"content":[5,{"type":"tool_result"},{"type":"tool_use"}]}],"tools":[7],"system":{}}"#,
        ] {
            asked(body).unwrap();
        }
        assert!(asked("{}").unwrap_err().contains("messages"));
    }

    proptest! {
        #[test]
        fn reading_any_text_as_a_request_does_not_panic(text: String) {
            let _ = asked(&text);
        }
    }
}
