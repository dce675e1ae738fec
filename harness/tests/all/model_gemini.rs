//! The Gemini interface on the wire.

use crate::model_client::{Model, joined_at};
use serde_json::{Value, json};

const WHOLE: &str = "/v1beta/models/gemini-x:generateContent";
const EVENTS: &str = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse";
const LIST: &str = "/v1/models/gemini-x:streamGenerateContent?key=k";
const PART: &str = "/candidates/0/content/parts/0/text";

fn request(text: &str) -> Value {
    json!({
        "contents": [{"role": "user", "parts": [{"text": text}]}],
        "tools": [{"functionDeclarations": [{"name": "run_shell_command", "parameters": {
            "type": "OBJECT", "properties": {"command": {"type": "STRING"}}, "required": ["command"]}}]}],
    })
}

fn data(events: Vec<(Option<String>, Value)>) -> Vec<Value> {
    events.into_iter().map(|(_, data)| data).collect()
}

#[test]
fn a_stream_has_chunks_and_the_counts_in_the_last() {
    let script = "[[model]]\nsay = [\"He\", \"llo\"]\nusage = { input = 3, output = 4 }";
    for path in [EVENTS, LIST] {
        let answer = Model::with(script).post(path, &request("hi"));
        assert_eq!(answer.status, 200);
        let chunks = match path == EVENTS {
            true => data(answer.events()),
            false => serde_json::from_str(&answer.body).unwrap(),
        };
        assert_eq!(joined_at(&chunks, PART), "Hello");
        assert_eq!(chunks.len(), 3);
        assert_eq!(chunks[0]["modelVersion"], "gemini-x");
        assert!(chunks[0]["candidates"][0].get("finishReason").is_none());
        let last = &chunks[2];
        assert_eq!(last["candidates"][0]["finishReason"], "STOP");
        assert_eq!(last["usageMetadata"]["totalTokenCount"], 7);
    }
}

#[test]
fn thoughts_and_calls_are_parts() {
    let script = "[[model]]\nthink = \"Hm.\"\nsay = \"I look.\"\n\
                  call = [{ kind = \"execute\", command = \"a\" }, { kind = \"execute\", command = \"b\" }]";
    let whole = Model::with(script).post(WHOLE, &request("hi")).json();
    let parts = whole["candidates"][0]["content"]["parts"]
        .as_array()
        .unwrap();
    assert_eq!(parts.len(), 4);
    assert_eq!(parts[0], json!({"text": "Hm.", "thought": true}));
    assert_eq!(parts[1], json!({"text": "I look."}));
    assert_eq!(parts[2]["functionCall"]["args"], json!({"command": "a"}));
    assert!(parts[2]["thoughtSignature"].is_string());
    assert_eq!(parts[3]["functionCall"]["name"], "run_shell_command");
    assert!(parts[3].get("thoughtSignature").is_none());

    let chunks = data(Model::with(script).post(EVENTS, &request("hi")).events());
    let calls: Vec<&Value> = chunks
        .iter()
        .filter_map(|chunk| chunk.pointer("/candidates/0/content/parts/0/functionCall"))
        .collect();
    // Each comes whole, and the last with the end.
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1]["args"], json!({"command": "b"}));
    assert_eq!(
        chunks.last().unwrap()["candidates"][0]["finishReason"],
        "STOP"
    );
}

#[test]
fn refusals_and_lengths_are_reasons_to_finish() {
    let model =
        Model::with("[[model]]\nrefuse = \"No.\"\n[[model]]\nsay = \"x\"\nstop = \"length\"");
    let chunks = data(model.post(EVENTS, &request("a")).events());
    let candidate = &chunks[0]["candidates"][0];
    assert_eq!(candidate["finishReason"], "SAFETY");
    assert_eq!(candidate["finishMessage"], "No.");
    assert!(candidate.get("content").is_none());
    let reply = model.post(WHOLE, &request("b")).json();
    assert_eq!(reply["candidates"][0]["finishReason"], "MAX_TOKENS");
}

#[test]
fn errors_have_the_status_and_the_details_that_clients_look_at() {
    for (failure, status, kind) in [
        ("\"rate_limit\"", 429, "RESOURCE_EXHAUSTED"),
        ("\"overloaded\"", 503, "UNAVAILABLE"),
        ("\"context\"", 400, "INVALID_ARGUMENT"),
        ("{ status = 403 }", 403, "PERMISSION_DENIED"),
        ("{ status = 502 }", 502, "UNKNOWN"),
    ] {
        let answer =
            Model::with(&format!("[[model]]\nfail = {failure}")).post(WHOLE, &request("a"));
        assert_eq!(answer.status, status, "{failure}");
        let error = &answer.json()["error"];
        assert_eq!(
            (&error["code"], &error["status"]),
            (&json!(status), &json!(kind))
        );
        let details = error["details"].as_array();
        let delay = details.and_then(|details| details.iter().find_map(|it| it.get("retryDelay")));
        assert_eq!(delay.is_some(), status == 429, "{failure}");
    }
}

#[test]
fn a_cut_stream_ends_without_a_reason() {
    for path in [EVENTS, LIST] {
        let answer =
            Model::with("[[model]]\nsay = \"abc\"\nfail = \"cut\"").post(path, &request("a"));
        assert!(!answer.complete);
        assert!(answer.body.contains("\"c\"") && !answer.body.contains("finishReason"));
    }
}

#[test]
fn tokens_are_counted_and_models_listed_in_the_form_of_the_family() {
    let model = Model::with("[[model]]\nsay = \"a\"");
    let counted = [
        request("How long?"),
        json!({"generateContentRequest": request("How long?")}),
    ];
    for body in counted {
        let count = model
            .post("/v1beta/models/gemini-x:countTokens", &body)
            .json();
        assert!(count["totalTokens"].as_u64().unwrap() > 0);
    }
    model.post(WHOLE, &request("hi"));
    for (path, headers) in [
        ("/v1beta/models?pageSize=50", &[][..]),
        ("/v1/models", &["x-goog-api-key: k"]),
        ("/models?key=k", &[]),
    ] {
        let list = model.get(path, headers);
        assert_eq!(list["models"][0]["name"], "models/gemini-x", "{path}");
        assert_eq!(list["models"][1]["name"], "models/scripted", "{path}");
    }
    assert_eq!(
        model.get("/v1beta/models/gemini-y", &[])["name"],
        "models/gemini-y"
    );
    assert_eq!(model.get("/v1/models", &[])["object"], "list");
    let answer = model.send("POST", "/v1beta/models/x:embedContent", &[], "{}");
    assert_eq!(
        (answer.status, &answer.json()["error"]["status"]),
        (404, &json!("NOT_FOUND"))
    );
}
