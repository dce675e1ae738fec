//! How a request of the Gemini interface is read.

use serde_json::{Map, Value};

use crate::model::asked::{Answer, Asked, Called, Message, Returned, Role, Tool};
use crate::model::interface::MODEL;
use crate::model::interface::body::{list, object, string, text};

/// The method that streams.
const STREAMING: &str = ":streamGenerateContent";

/// Reads a request for a reply or for a count of tokens. The path names the model, and says whether to stream.
///
/// # Errors
/// A sentence that says what is wrong with the body.
pub(super) fn asked(path: &str, body: &str) -> Result<Asked, String> {
    let mut request = object(body)?;
    // A count of tokens may wrap the request that it is about.
    if let Some(inner) = request.get_mut("generateContentRequest") {
        request = inner.take();
    }
    let none = Value::Null;
    let contents = match request.get("contents") {
        Some(Value::Array(contents)) => contents.as_slice(),
        Some(content @ Value::Object(_)) => std::slice::from_ref(content),
        _ => return Err("contents is not specified".to_owned()),
    };
    let mut messages = Vec::new();
    let system = ["systemInstruction", "system_instruction"]
        .iter()
        .find_map(|name| request.get(name));
    let system = parts_text(system.unwrap_or(&none));
    if !system.is_empty() {
        messages.push(Message::said(Role::System, system));
    }
    contents
        .iter()
        .for_each(|content| read(content, &mut messages));
    let config = ["generationConfig", "generation_config"]
        .iter()
        .find_map(|name| request.get(name))
        .unwrap_or(&none);
    Ok(Asked {
        model: model(path).unwrap_or(MODEL).to_owned(),
        stream: path.contains(STREAMING),
        usage: true,
        tools: list(&request, "tools")
            .flat_map(|group| {
                list(group, "functionDeclarations").chain(list(group, "function_declarations"))
            })
            .map(tool)
            .collect(),
        answer: answer(config),
        max_tokens: config.get("maxOutputTokens").and_then(Value::as_u64),
        ..Asked::default()
    }
    .holding(messages, contents.last()))
}

/// The model that a path names.
fn model(path: &str) -> Option<&str> {
    let (_, rest) = path.rsplit_once("/models/")?;
    rest.split([':', '?', '/']).next()
}

/// The text of parts; thoughts are left out.
fn parts_text(content: &Value) -> String {
    match content.get("parts") {
        Some(Value::Array(parts)) => parts
            .iter()
            .filter(|part| part.get("thought") != Some(&Value::Bool(true)))
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
        Some(part) => string(part, "text"),
        None => text(Some(content)),
    }
}

/// Reads one content: results of functions become a message of their own.
fn read(content: &Value, out: &mut Vec<Message>) {
    let role = match content.get("role").and_then(Value::as_str) {
        Some("model") => Role::Model,
        Some("system") => Role::System,
        _ => Role::User,
    };
    let results: Vec<Returned> = list(content, "parts")
        .filter_map(|part| part.get("functionResponse"))
        .map(result)
        .collect();
    let own = parts_text(content);
    let only_results = !results.is_empty() && own.is_empty();
    if !results.is_empty() {
        out.push(Message {
            role: Role::Tool,
            results,
            ..Message::default()
        });
    }
    if !only_results {
        let calls = list(content, "parts").filter_map(|part| part.get("functionCall"));
        out.push(Message {
            calls: calls.map(call).collect(),
            ..Message::said(role, own)
        });
    }
}

fn call(call: &Value) -> Called {
    Called {
        id: string(call, "id"),
        name: string(call, "name"),
        arguments: call.get("args").map(Value::to_string).unwrap_or_default(),
    }
}

/// What a function gave back: the text in `output` or `error`, which is where clients put it, or all of the JSON.
fn result(result: &Value) -> Returned {
    let response = result.get("response").unwrap_or(&Value::Null);
    let member = |name: &str| response.get(name).and_then(Value::as_str);
    let failed = member("error");
    let text = failed.or_else(|| member("output"));
    Returned {
        id: string(result, "id"),
        name: string(result, "name"),
        text: text.map_or_else(|| response.to_string(), str::to_owned),
        failed: failed.is_some(),
    }
}

fn tool(declared: &Value) -> Tool {
    let schema = ["parametersJsonSchema", "parameters"]
        .iter()
        .find_map(|name| declared.get(name));
    Tool {
        name: string(declared, "name"),
        description: string(declared, "description"),
        schema: schema.map(json_schema).unwrap_or(Value::Null),
        freeform: false,
    }
}

/// A schema in the usual spelling: Gemini's own writes the types in capitals.
fn json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let value = match value {
                    Value::String(kind) if name == "type" => kind.to_lowercase().into(),
                    value => json_schema(value),
                };
                (name.clone(), value)
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(json_schema).collect(),
        other => other.clone(),
    }
}

fn answer(config: &Value) -> Answer {
    let schema = ["responseJsonSchema", "responseSchema"]
        .iter()
        .find_map(|name| config.get(name));
    match schema {
        Some(schema) => Answer::Json(Some(json_schema(schema))),
        None if string(config, "responseMimeType") == "application/json" => Answer::Json(None),
        None => Answer::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const PATH: &str = "/v1beta/models/gemini-x:generateContent?key=k";

    #[test]
    fn the_path_names_the_model_and_says_whether_to_stream() {
        let body = r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#;
        let whole = asked(PATH, body).unwrap();
        assert_eq!((whole.model.as_str(), whole.stream), ("gemini-x", false));
        let path = "/v1/models/gemini-x:streamGenerateContent?alt=sse";
        assert!(asked(path, body).unwrap().stream);
        assert_eq!(whole.last_user, "hi");
    }

    #[test]
    fn contents_and_functions_are_read() {
        let asked = asked(
            PATH,
            r#"{"systemInstruction":{"role":"user","parts":[{"text":"s"}]},
            "contents":[{"role":"user","parts":[{"text":"go"}]},
            {"role":"model","parts":[{"text":"hm","thought":true},{"text":"ok"},{"functionCall":{"name":"run","args":{"command":"ls"}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"run","response":{"output":"out"}}},
             {"functionResponse":{"name":"run","response":{"error":"bad"}}}]}],
            "tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"run","parameters":{"type":"OBJECT","properties":{"type":{"type":"STRING"}}}}]}],
            "generationConfig":{"maxOutputTokens":3,"responseMimeType":"application/json"}}"#,
        )
        .unwrap();
        assert_eq!(asked.system, "s");
        assert_eq!(asked.messages[2].text, "ok");
        assert_eq!(asked.messages[2].calls[0].arguments, r#"{"command":"ls"}"#);
        let results = &asked.messages[3].results;
        assert_eq!(
            (results[0].text.as_str(), results[0].failed),
            ("out", false)
        );
        assert_eq!((results[1].text.as_str(), results[1].failed), ("bad", true));
        assert_eq!(
            asked.tools[0].schema,
            json!({"type": "object", "properties": {"type": {"type": "string"}}})
        );
        assert_eq!(asked.answer, Answer::Json(None));
        assert_eq!(asked.last_user, "");
    }

    #[test]
    fn odd_requests_are_read_without_a_panic() {
        for body in [
            r#"{"contents":[]}"#,
            r#"{"contents":{"parts":{"text":"x"}},"tools":[4,{"functionDeclarations":[1]}]}"#,
            r#"{"generateContentRequest":{"contents":[1,{"parts":[null,{"functionCall":3},{"functionResponse":4}]}]}}"#,
        ] {
            asked("/", body).unwrap();
        }
        assert!(asked(PATH, "{}").unwrap_err().contains("contents"));
        assert!(asked(PATH, r#"{"generateContentRequest":4}"#).is_err());
    }

    proptest! {
        #[test]
        fn reading_any_text_as_a_request_does_not_panic(path: String, text: String) {
            let _ = asked(&path, &text);
        }
    }
}
