//! The Anthropic messages interface on the wire.

use crate::model_client::{Model, joined_at, types};
use serde_json::{Value, json};

const PATH: &str = "/v1/messages?beta=true";
const VERSION: &str = "anthropic-version: 2023-06-01";

fn request(content: &str, stream: bool) -> Value {
    json!({
        "model": "claude-x", "max_tokens": 100, "stream": stream,
        "system": [{"type": "text", "text": "Be kind."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": content}]}],
        "tools": [{"name": "Bash", "input_schema": {
            "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}],
    })
}

#[test]
fn a_stream_opens_fills_and_closes_each_block() {
    let model = Model::with(
        "[[model]]\nthink = \"Hm.\"\nsay = [\"He\", \"llo\"]\ncall = { kind = \"execute\", command = \"ls\" }\n\
         usage = { input = 3, output = 4 }",
    );
    let answer = model.post(PATH, &request("hi", true));
    assert_eq!(answer.status, 200);
    assert!(answer.header("request-id").is_some());
    let events = answer.named();
    assert_eq!(
        types(&events),
        [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 3);
    assert_eq!(joined_at(&events, "/delta/thinking"), "Hm.");
    assert!(!joined_at(&events, "/delta/signature").is_empty());
    assert_eq!(joined_at(&events, "/delta/text"), "Hello");
    assert_eq!(
        joined_at(&events, "/delta/partial_json"),
        r#"{"command":"ls"}"#
    );
    let starts: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "content_block_start")
        .collect();
    assert_eq!(starts[2]["index"], 2);
    assert_eq!(starts[2]["content_block"]["name"], "Bash");
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(end["usage"]["output_tokens"], 4);
}

#[test]
fn a_whole_reply_has_the_same_blocks() {
    let model = Model::with(
        "[[model]]\nthink = \"Hm.\"\nsay = \"Hello\"\ncall = [{ kind = \"execute\", command = \"a\" }, { kind = \"execute\", command = \"b\" }]",
    );
    let reply = model.post(PATH, &request("hi", false)).json();
    assert_eq!(reply["type"], "message");
    assert_eq!(reply["model"], "claude-x");
    assert_eq!(reply["content"][0]["thinking"], "Hm.");
    assert_eq!(reply["content"][1]["text"], "Hello");
    assert_eq!(reply["content"][3]["input"], json!({"command": "b"}));
    assert_ne!(reply["content"][2]["id"], reply["content"][3]["id"]);
    assert_eq!(reply["stop_reason"], "tool_use");
}

#[test]
fn refusals_and_lengths_are_reasons_to_stop() {
    let model = Model::with(
        "[[model]]\nrefuse = \"No.\"\n[[model]]\nsay = \"x\"\nstop = \"length\"\n[[model]]\nrefuse = \"Never.\"",
    );
    let events = model.post(PATH, &request("a", true)).named();
    let delta = &events[events.len() - 2]["delta"];
    assert_eq!(delta["stop_reason"], "refusal");
    assert_eq!(delta["stop_details"]["explanation"], "No.");
    let reply = model.post(PATH, &request("b", false)).json();
    assert_eq!(reply["stop_reason"], "max_tokens");
    let reply = model.post(PATH, &request("c", false)).json();
    assert_eq!(
        (&reply["stop_reason"], &reply["content"]),
        (&json!("refusal"), &json!([]))
    );
    assert_eq!(reply["stop_details"]["explanation"], "Never.");
}

#[test]
fn errors_have_the_status_and_the_type_that_clients_look_at() {
    for (failure, status, kind, again) in [
        ("\"rate_limit\"", 429, "rate_limit_error", true),
        ("\"overloaded\"", 529, "overloaded_error", true),
        ("\"context\"", 400, "invalid_request_error", false),
        ("{ status = 401 }", 401, "authentication_error", false),
        ("{ status = 529 }", 529, "overloaded_error", true),
        ("{ status = 418 }", 418, "api_error", false),
    ] {
        let answer =
            Model::with(&format!("[[model]]\nfail = {failure}")).post(PATH, &request("a", true));
        assert_eq!(answer.status, status, "{failure}");
        assert_eq!(answer.json()["type"], "error");
        assert_eq!(answer.json()["error"]["type"], kind, "{failure}");
        assert_eq!(answer.header("retry-after").is_some(), again, "{failure}");
    }
}

#[test]
fn a_cut_stream_ends_without_its_last_event() {
    let answer =
        Model::with("[[model]]\nsay = \"abc\"\nfail = \"cut\"").post(PATH, &request("a", true));
    assert!(!answer.complete);
    assert_eq!(joined_at(&answer.named(), "/delta/text"), "abc");
    assert!(!answer.body.contains("message_stop"));
}

#[test]
fn tokens_are_counted_and_models_listed_in_the_form_of_the_family() {
    let model = Model::with("[[model]]\nsay = \"a\"");
    let count = model
        .post(
            "/v1/messages/count_tokens?beta=true",
            &request("How long?", false),
        )
        .json();
    assert!(count["input_tokens"].as_u64().unwrap() > 0);
    model.post(PATH, &request("hi", false));
    let list = model.get("/v1/models?limit=1000", &[VERSION]);
    assert_eq!(list["data"][0]["type"], "model");
    assert_eq!(list["first_id"], "claude-x");
    assert_eq!(list["last_id"], "scripted");
    assert_eq!(list["has_more"], false);
    let one = model.get("/v1/models/claude-y", &[VERSION]);
    assert_eq!(one["id"], "claude-y");
    // What is not served is told in the form of the family too.
    let answer = model.send("POST", "/v1/messages/batches", &[VERSION], "{}");
    assert_eq!(
        (answer.status, &answer.json()["error"]["type"]),
        (404, &json!("not_found_error"))
    );
    // Somebody who only asks whether anybody is there.
    assert_eq!(model.send("HEAD", "/", &[], "").status, 200);
}
