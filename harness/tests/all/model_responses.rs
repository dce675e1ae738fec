//! The OpenAI responses interface on the wire.

use crate::model_client::{Model, joined_at, types};
use serde_json::{Value, json};

const PATH: &str = "/v1/responses";

fn request(input: &str, stream: bool) -> Value {
    json!({
        "model": "m", "instructions": "Be kind.", "input": input, "stream": stream,
        "tools": [
            {"type": "function", "name": "bash", "parameters": {
                "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}},
            {"type": "custom", "name": "apply_patch"},
        ],
    })
}

#[test]
fn a_stream_opens_fills_and_closes_each_item() {
    let model = Model::with(
        "[[model]]\nthink = \"Hm.\"\nsay = [\"He\", \"llo\"]\ncall = { kind = \"execute\", command = \"ls\" }",
    );
    let answer = model.post(PATH, &request("hi", true));
    assert_eq!(answer.status, 200);
    assert!(answer.header("x-request-id").is_some());
    let events = answer.named();
    assert_eq!(
        types(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let response = &events.last().unwrap()["response"];
    assert_eq!(response["status"], "completed");
    assert_eq!(response["usage"]["total_tokens"], 24);
    let output = response["output"].as_array().unwrap();
    assert_eq!(output[0]["summary"][0]["text"], "Hm.");
    assert_eq!(output[1]["content"][0]["text"], "Hello");
    assert_eq!(output[2]["name"], "bash");
    assert_eq!(output[2]["arguments"], r#"{"command":"ls"}"#);
    // The items of the end are those that were closed before it.
    let done = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done");
    for (place, event) in done.enumerate() {
        assert_eq!(event["output_index"], place);
        assert_eq!(event["item"], output[place]);
    }
}

#[test]
fn a_whole_reply_is_what_a_stream_ends_with() {
    let script = "[[model]]\nsay = \"A\"\ncall = [{ kind = \"execute\", command = \"a\" }, { kind = \"execute\", command = \"b\" }]";
    let whole = Model::with(script).post(PATH, &request("hi", false)).json();
    let events = Model::with(script).post(PATH, &request("hi", true)).named();
    let mut streamed = events.last().unwrap()["response"].clone();
    streamed["created_at"] = whole["created_at"].clone();
    assert_eq!(whole, streamed);
    assert_eq!(whole["output"].as_array().unwrap().len(), 3);
}

#[test]
fn a_custom_tool_gets_plain_text() {
    let model = Model::with(
        "[[model]]\ncall = { tool = \"apply_patch\", arguments = { input = \"*** Begin\\n*** End\\n\" } }",
    );
    let events = model.post(PATH, &request("hi", true)).named();
    let item = &events.last().unwrap()["response"]["output"][0];
    assert_eq!(item["type"], "custom_tool_call");
    assert_eq!(item["input"], "*** Begin\n*** End\n");
    let deltas: Vec<Value> = events
        .into_iter()
        .filter(|event| event["type"] == "response.custom_tool_call_input.delta")
        .collect();
    assert_eq!(joined_at(&deltas, "/delta"), "*** Begin\n*** End\n");
}

#[test]
fn refusals_and_lengths_are_told_by_their_own_members() {
    let model = Model::with(
        "[[model]]\nsay = \"Well.\"\nrefuse = \"No.\"\n[[model]]\nsay = \"x\"\nstop = \"length\"",
    );
    let events = model.post(PATH, &request("a", true)).named();
    let content = &events.last().unwrap()["response"]["output"][0]["content"];
    assert_eq!(content[0]["text"], "Well.");
    assert_eq!(content[1], json!({"type": "refusal", "refusal": "No."}));
    let events = model.post(PATH, &request("b", true)).named();
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.incomplete");
    assert_eq!(
        last["response"]["incomplete_details"]["reason"],
        "max_output_tokens"
    );
}

#[test]
fn errors_have_the_status_and_the_code_that_clients_look_at() {
    for (failure, status, code, again) in [
        ("\"rate_limit\"", 429, json!("rate_limit_exceeded"), true),
        ("\"overloaded\"", 503, json!("server_is_overloaded"), true),
        ("\"context\"", 400, json!("context_length_exceeded"), false),
        ("{ status = 401 }", 401, json!("invalid_api_key"), false),
    ] {
        let answer =
            Model::with(&format!("[[model]]\nfail = {failure}")).post(PATH, &request("a", true));
        assert_eq!(answer.status, status, "{failure}");
        assert_eq!(answer.json()["error"]["code"], code);
        assert_eq!(answer.header("retry-after").is_some(), again, "{failure}");
    }
}

#[test]
fn a_cut_stream_ends_without_its_last_event() {
    let answer =
        Model::with("[[model]]\nsay = \"abc\"\nfail = \"cut\"").post(PATH, &request("a", true));
    assert!(!answer.complete);
    let events = answer.named();
    assert_eq!(events.last().unwrap()["type"], "response.output_text.delta");
}

#[test]
fn a_response_is_not_kept_and_tokens_are_counted() {
    let model = Model::with("[[model]]\nsay = \"a\"");
    assert_eq!(
        model
            .send("GET", "/v1/responses/resp_000001", &[], "")
            .status,
        404
    );
    let count = model
        .post("/v1/responses/input_tokens", &request("How long?", false))
        .json();
    assert_eq!(count["object"], "response.input_tokens");
    assert!(count["input_tokens"].as_u64().unwrap() > 0);
    // Neither used up the script.
    let reply = model.post(PATH, &request("hi", false)).json();
    assert_eq!(reply["output"][0]["content"][0]["text"], "a");
}
