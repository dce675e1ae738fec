//! What a server's tool led to, as the model and the client get it.

use serde_json::Value;

use crate::prompt::decoded_size;
use crate::tools::{Bounded, Output};

/// Reads the result of `tools/call`: texts as they are, anything else as a note of what it is.
pub(super) fn output(result: &Value) -> Output {
    let mut texts: Vec<String> = result
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(block)
        .collect();
    let structured = result.get("structuredContent");
    if let (true, Some(structured)) = (texts.is_empty(), structured) {
        texts.push(structured.to_string());
    }
    let mut bounded = Bounded::default();
    bounded.push(texts.join("\n").as_bytes());
    let text = bounded.into_text();
    if result.get("isError") == Some(&Value::Bool(true)) {
        Output::failure(text)
    } else {
        Output::done(text)
    }
}

fn block(block: &Value) -> String {
    let at = |path: &str| block.pointer(path).and_then(Value::as_str);
    let media = |kind: &str| {
        let media_type = at("/mimeType").unwrap_or("unknown type");
        let size = decoded_size(at("/data").unwrap_or_default());
        format!("[{kind}: {media_type}, {size} bytes]")
    };
    match at("/type") {
        Some("text") => at("/text").unwrap_or_default().to_owned(),
        Some(kind @ ("image" | "audio")) => media(kind),
        Some("resource") => {
            let uri = at("/resource/uri").unwrap_or_default();
            let text = at("/resource/text").unwrap_or("(not text)");
            format!("[resource: {uri}]\n{text}")
        }
        Some("resource_link") => format!("[resource: {}]", at("/uri").unwrap_or_default()),
        kind => format!("[{}]", kind.unwrap_or("content of no type")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_joined_and_other_content_is_noted() {
        let read = output(&json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
            {"type": "hologram"},
        ]}));
        let text = "one\n[image: image/png, 5 bytes]\n[resource: file:///a]\ntwo\n\
                    [resource: file:///b]\n[hologram]";
        assert_eq!(read, Output::done(text));
    }

    #[test]
    fn an_error_fails_and_structure_stands_for_text_that_is_not_there() {
        let failed = json!({"content": [{"type": "text", "text": "no"}], "isError": true});
        assert_eq!(output(&failed), Output::failure("no"));
        let structured = json!({"content": [], "structuredContent": {"a": 1}});
        assert_eq!(output(&structured), Output::done("{\"a\":1}"));
        assert_eq!(output(&Value::Null), Output::done(""));
    }
}
