//! The scripted model as an agent's HTTP client sees it, and what it tells the trace.

use std::path::Path;
use std::time::Duration;

use acp_harness::model::script::{FALLBACK, Script};
use acp_harness::model::{ModelServer, ModelState};
use acp_harness::trace::{Body, ExchangeEnd, ExchangePart, Observed};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

const CHAT: &str = "/v1/chat/completions";
/// How long something may take that should take no time.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with its script, and what it told.
struct Model {
    server: ModelServer,
    state: watch::Receiver<ModelState>,
    told: mpsc::Receiver<Observed>,
}

impl Model {
    fn with(script: &str) -> Self {
        #[derive(serde::Deserialize)]
        struct File {
            model: Script,
        }
        let script = toml::from_str::<File>(script).unwrap().model;
        let (out, told) = mpsc::channel(10_000);
        let server = ModelServer::start(script, out).unwrap();
        let state = server.watch();
        Self {
            server,
            state,
            told,
        }
    }

    async fn connect(&self) -> std::io::Result<TcpStream> {
        let base = self.server.base_url();
        TcpStream::connect(base.strip_prefix("http://").unwrap()).await
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<Reply, hyper::Error> {
        let stream = self.connect().await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1")
            .body(Full::new(body.into()))
            .unwrap();
        let response = sender.send_request(request).await?;
        Ok(Reply {
            response,
            read: Vec::new(),
        })
    }

    async fn ask(&self, body: &Value) -> Reply {
        self.request(Method::POST, CHAT, body.to_string())
            .await
            .unwrap()
    }

    /// Waits until the state is as wanted.
    async fn until(&mut self, wanted: impl FnMut(&ModelState) -> bool) -> ModelState {
        let seen = tokio::time::timeout(PATIENCE, self.state.wait_for(wanted));
        seen.await.expect("the state never came").unwrap().clone()
    }

    /// The parts of one exchange, up to its end.
    async fn exchange(&mut self, number: u64) -> Vec<ExchangePart> {
        let mut parts = Vec::new();
        while !matches!(parts.last(), Some(ExchangePart::End(_))) {
            let observed = tokio::time::timeout(PATIENCE, self.told.recv()).await;
            let observed = observed.expect("the exchange never ended").unwrap();
            if let Body::Model(event) = observed.body
                && event.exchange == number
            {
                parts.push(event.part);
            }
        }
        parts
    }
}

struct Reply {
    response: Response<Incoming>,
    read: Vec<u8>,
}

impl Reply {
    fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The next event of the stream.
    async fn event(&mut self) -> Option<String> {
        loop {
            // Frames end anywhere, in the middle of a character too.
            if let Some(end) = self.read.windows(2).position(|two| two == b"\n\n") {
                let rest = self.read.split_off(end + 2);
                let event = std::mem::replace(&mut self.read, rest);
                let event = String::from_utf8(event).unwrap();
                let event = event.strip_prefix("data: ").unwrap();
                return Some(event.trim_end().to_owned());
            }
            let frame = tokio::time::timeout(PATIENCE, self.response.frame()).await;
            let frame = frame.expect("no event came")?.ok()?;
            self.read.extend_from_slice(frame.data_ref().unwrap());
        }
    }

    /// All events up to the end of the stream.
    async fn events(mut self) -> Vec<String> {
        let mut events = Vec::new();
        while let Some(event) = self.event().await {
            events.push(event);
        }
        events
    }

    /// The text up to here that the events said.
    async fn text(self) -> String {
        said(&self.events().await)
    }

    async fn json(self) -> Value {
        let body = self.response.into_body().collect().await.unwrap();
        serde_json::from_slice(&body.to_bytes()).unwrap()
    }

    async fn breaks_off(mut self) -> bool {
        loop {
            match self.response.frame().await {
                None => return false,
                Some(Err(_)) => return true,
                Some(Ok(_)) => {}
            }
        }
    }
}

fn deltas(events: &[String]) -> Vec<Value> {
    events
        .iter()
        .filter_map(|event| serde_json::from_str::<Value>(event).ok())
        .filter_map(|chunk| chunk.pointer("/choices/0/delta").cloned())
        .collect()
}

fn said(events: &[String]) -> String {
    let deltas = deltas(events);
    let texts = deltas.iter().filter_map(|delta| delta["content"].as_str());
    texts.collect()
}

fn chat(prompt: &str) -> Value {
    json!({
        "model": "m1", "stream": true,
        "messages": [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": prompt}],
        "tools": [
            {"type": "function", "function": {"name": "read_file", "parameters": {
                "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}},
            {"type": "function", "function": {"name": "bash", "parameters": {
                "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}},
        ],
    })
}

fn without_tools(mut request: Value) -> Value {
    request.as_object_mut().unwrap().remove("tools");
    request
}

fn end_of(parts: &[ExchangePart]) -> ExchangeEnd {
    match parts.last() {
        Some(ExchangePart::End(end)) => *end,
        other => panic!("no end: {other:?}"),
    }
}

fn side_of(parts: &[ExchangePart]) -> Option<&str> {
    match parts.first() {
        Some(ExchangePart::Request { side, .. }) => side.as_deref(),
        other => panic!("no request: {other:?}"),
    }
}

#[tokio::test]
async fn a_streamed_reply_has_the_form_of_the_interface() {
    let mut model = Model::with("[[model]]\nthink = \"Hm.\"\nsay = [\"He\", \"llo\"]");
    let mut request = chat("hi");
    request["stream_options"] = json!({"include_usage": true});
    let reply = model.ask(&request).await;
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.response.headers()["connection"], "close");
    assert_eq!(
        reply.response.headers()["content-type"],
        "text/event-stream; charset=utf-8"
    );
    let events = reply.events().await;
    assert_eq!(
        deltas(&events),
        [
            json!({"role": "assistant", "content": "", "refusal": null}),
            json!({"reasoning_content": "H"}),
            json!({"reasoning_content": "m"}),
            json!({"reasoning_content": "."}),
            json!({"content": "He"}),
            json!({"content": "llo"}),
            json!({}),
        ]
    );
    let count = events.len();
    assert_eq!(events[count - 1], "[DONE]");
    let usage: Value = serde_json::from_str(&events[count - 2]).unwrap();
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(
        usage["usage"],
        json!({"prompt_tokens": 16, "completion_tokens": 8, "total_tokens": 24})
    );
    let end: Value = serde_json::from_str(&events[count - 3]).unwrap();
    assert_eq!(end["object"], "chat.completion.chunk");
    assert_eq!(end["model"], "m1");
    assert_eq!(end["choices"][0]["finish_reason"], "stop");
    assert_eq!(end["usage"], Value::Null);

    let parts = model.exchange(1).await;
    assert_eq!(
        parts[0],
        ExchangePart::Request {
            path: CHAT.into(),
            body: request.to_string(),
            side: None
        }
    );
    assert_eq!(parts[1], ExchangePart::Status(200));
    let chunks: String = parts
        .iter()
        .filter_map(|part| match part {
            ExchangePart::Chunk(chunk) => Some(chunk.as_str()),
            _ => None,
        })
        .collect();
    let sent: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    assert_eq!(chunks, sent);
    assert_eq!(end_of(&parts), ExchangeEnd::Complete);
}

#[tokio::test]
async fn a_reply_that_is_not_streamed_is_one_object() {
    let model = Model::with(
        "[[model]]\nthink = \"Hm.\"\nsay = \"Hello\"\ncall = { kind = \"execute\", command = \"ls\" }\n\
         usage = { input = 3, output = 4 }",
    );
    let mut request = chat("hi");
    request["stream"] = json!(false);
    let reply = model.ask(&request).await.json().await;
    let message = &reply["choices"][0]["message"];
    assert_eq!(reply["object"], "chat.completion");
    assert_eq!(message["content"], "Hello");
    assert_eq!(message["reasoning_content"], "Hm.");
    assert_eq!(message["tool_calls"][0]["function"]["name"], "bash");
    assert_eq!(
        message["tool_calls"][0]["function"]["arguments"],
        r#"{"command":"ls"}"#
    );
    assert_eq!(reply["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(reply["usage"]["total_tokens"], 7);
}

#[tokio::test]
async fn text_beyond_ascii_comes_both_as_it_is_and_escaped() {
    let text = "😀\u{2028}é";
    let script = format!("[[model]]\nsay = [\"{text}\", \"{text}\"]");
    let model = Model::with(&script);
    let events = model.ask(&chat("hi")).await.events().await;
    assert_eq!(said(&events), format!("{text}{text}"));
    let spelt = |event: &String| {
        (
            event.contains(text),
            event.contains(r"\ud83d\ude00\u2028\u00e9"),
        )
    };
    assert_eq!(spelt(&events[1]), (false, true), "{}", events[1]);
    assert_eq!(spelt(&events[2]), (true, false), "{}", events[2]);
}

#[tokio::test]
async fn parallel_calls_come_in_fragments() {
    let model = Model::with(
        "[[model]]\ncall = [{ kind = \"execute\", command = \"touch {cwd}/x\" }, { kind = \"read\", path = \"y\" }]",
    );
    model.server.set_folder(Path::new("/s"));
    let events = model.ask(&chat("hi")).await.events().await;
    let deltas = deltas(&events);
    assert_eq!(deltas[0]["content"], Value::Null);
    let mut calls = vec![(String::new(), String::new(), 0); 2];
    for call in deltas
        .iter()
        .filter_map(|delta| delta.pointer("/tool_calls/0"))
    {
        let (name, arguments, fragments) = &mut calls[call["index"].as_u64().unwrap() as usize];
        if let Some(own) = call["function"]["name"].as_str() {
            assert!(call["id"].as_str().unwrap().starts_with("call_"));
            assert_eq!(call["type"], "function");
            *name = own.to_owned();
        } else {
            *fragments += 1;
        }
        arguments.push_str(call["function"]["arguments"].as_str().unwrap());
    }
    assert_eq!(
        calls,
        [
            ("bash".into(), r#"{"command":"touch /s/x"}"#.into(), 3),
            ("read_file".into(), r#"{"path":"y"}"#.into(), 3)
        ]
    );
    assert!(events[events.len() - 2].contains(r#""finish_reason":"tool_calls""#));
}

#[tokio::test]
async fn a_call_that_no_tool_takes_is_a_sentence_and_recorded() {
    let mut model = Model::with(
        "[[model]]\nsay = \"Now. \"\ncall = { kind = \"edit\", path = \"x\", content = \"y\" }",
    );
    let mut request = chat("hi");
    // With a tool for command lines nothing is out of reach.
    request["tools"].as_array_mut().unwrap().pop();
    let events = model.ask(&request).await.events().await;
    assert!(
        said(&events).starts_with("Now. There is no tool"),
        "{events:?}"
    );
    assert!(events[events.len() - 2].contains(r#""finish_reason":"stop""#));
    let state = model.until(|state| !state.unmapped.is_empty()).await;
    assert_eq!(state.unmapped[0].offered, ["read_file"]);
    assert!(state.unmapped[0].wanted.contains("`edit`"));
}

#[tokio::test]
async fn side_requests_do_not_use_up_the_script() {
    let mut model = Model::with("[[model]]\nsay = \"one\"\n[[model]]\nsay = \"two\"");
    let mut title = without_tools(chat("hi"));
    title["messages"][0]["content"] = json!("Generate a short title for this conversation.");
    assert_eq!(model.ask(&title).await.text().await, "Session");
    assert_eq!(model.ask(&chat("hi")).await.text().await, "one");
    let aside = without_tools(chat("anything"));
    assert_eq!(model.ask(&aside).await.text().await, "Session");
    assert_eq!(model.ask(&chat("ho")).await.text().await, "two");
    assert_eq!(model.ask(&chat("more")).await.text().await, FALLBACK);
    let state = model.until(|_| true).await;
    assert_eq!((state.requests, state.side_requests), (3, 2));
    assert_eq!((state.used, state.beyond), (2, 1));
    assert_eq!(state.recent.len(), 3);
    assert_eq!(*state.recent[2], *chat("more").to_string());
    assert_eq!(side_of(&model.exchange(1).await), Some("title"));
    assert_eq!(side_of(&model.exchange(2).await), None);
    assert_eq!(side_of(&model.exchange(3).await), Some("no tools"));
}

#[tokio::test]
async fn an_agent_without_tools_gets_the_script() {
    let model = Model::with("[[model]]\nsay = \"one\"\n[[model]]\nsay = \"two\"");
    model
        .server
        .note_prompt("main", "Write a title for the chat")
        .unwrap();
    for wanted in ["one", "two"] {
        let request = without_tools(chat("Write a title for the chat"));
        assert_eq!(model.ask(&request).await.text().await, wanted);
    }
}

#[tokio::test]
async fn a_held_stream_stays_open_until_it_is_released() {
    let mut model = Model::with(
        "[[model]]\nsay = [\"first\"]\nhold = true\ncall = { kind = \"execute\", command = \"ls\" }",
    );
    let mut reply = model.ask(&chat("hi")).await;
    reply.event().await.unwrap();
    assert!(reply.event().await.unwrap().contains("first"));
    model.until(|state| state.holding).await;
    model.server.release().unwrap();
    let rest = reply.events().await;
    assert!(rest[0].contains("tool_calls"));
    assert_eq!(rest[rest.len() - 1], "[DONE]");
    let state = model.until(|state| !state.holding).await;
    assert_eq!(state.hung_up, 0);
}

#[tokio::test]
async fn two_streams_at_once_are_released_in_the_order_in_which_they_were_held() {
    let mut model = Model::with(
        "[[model]]\nsay = [\"a\"]\nhold = true\n[[model]]\nsay = [\"b\"]\nhold = true\n[[model]]\nsay = \"c\"",
    );
    let mut first = model.ask(&chat("1")).await;
    model.until(|state| state.holding).await;
    let mut second = model.ask(&chat("2")).await;
    for _ in 0..2 {
        first.event().await.unwrap();
        second.event().await.unwrap();
    }
    // A third one is served while two are held.
    assert_eq!(model.ask(&chat("3")).await.text().await, "c");
    model.server.release().unwrap();
    assert_eq!(first.events().await.len(), 2);
    assert!(model.until(|_| true).await.holding);
    model.server.release().unwrap();
    assert_eq!(second.events().await.len(), 2);
    model.until(|state| !state.holding).await;
}

#[tokio::test]
async fn a_release_before_the_hold_lets_the_next_one_pass_until_a_prompt_is_noted() {
    let mut model =
        Model::with("[[model]]\nhold = true\nsay = \"a\"\n[[model]]\nhold = true\nsay = \"b\"");
    model.server.release().unwrap();
    assert_eq!(model.ask(&chat("1")).await.text().await, "a");
    model.server.release().unwrap();
    model.server.note_prompt("main", "2").unwrap();
    let reply = model.ask(&chat("2")).await;
    model.until(|state| state.holding).await;
    model.server.release().unwrap();
    assert_eq!(reply.text().await, "b");
}

#[tokio::test]
async fn a_reply_that_is_not_streamed_is_held_before_its_body() {
    let mut model = Model::with("[[model]]\nhold = true\nsay = \"a\"");
    let mut request = chat("1");
    request["stream"] = json!(false);
    let reply = model.ask(&request).await;
    model.until(|state| state.holding).await;
    model.server.release().unwrap();
    assert_eq!(reply.json().await["choices"][0]["message"]["content"], "a");
}

#[tokio::test]
async fn hanging_up_on_a_held_stream_is_noticed_at_once() {
    let mut model = Model::with("[[model]]\nsay = \"a\"\nhold = true\n[[model]]\nsay = \"b\"");
    let reply = model.ask(&chat("1")).await;
    model.until(|state| state.holding).await;
    drop(reply);
    let state = model.until(|state| state.hung_up == 1).await;
    assert_eq!(state.used, 1);
    assert_eq!(end_of(&model.exchange(1).await), ExchangeEnd::Cancelled);
    model.until(|state| !state.holding).await;
    assert_eq!(model.ask(&chat("2")).await.text().await, "b");
}

#[tokio::test]
async fn hanging_up_before_the_first_byte_is_noticed() {
    let mut model = Model::with("[[model]]\nwait = 600000\nsay = \"a\"");
    let request = chat("1");
    let never = model.ask(&request);
    tokio::select! {
        _ = never => panic!("answered"),
        () = async {
            let mut state = model.state.clone();
            state.wait_for(|state| state.requests == 1).await.unwrap();
        } => {}
    }
    model.until(|state| state.hung_up == 1).await;
    let parts = model.exchange(1).await;
    assert_eq!(parts.len(), 2, "{parts:?}");
    assert_eq!(end_of(&parts), ExchangeEnd::Cancelled);
}

#[tokio::test]
async fn a_failing_status_is_the_same_for_every_retry() {
    let mut model = Model::with(
        "[[model]]\nfail = { status = 429 }\n[[model]]\nfail = { status = 401, message = \"Who are you?\" }\n[[model]]\nsay = \"ok\"",
    );
    for _ in 0..3 {
        let reply = model.ask(&chat("1")).await;
        assert_eq!(reply.status(), 429);
        assert_eq!(reply.response.headers()["retry-after"], "1");
        assert_eq!(reply.response.headers()["retry-after-ms"], "100");
        assert_eq!(reply.json().await["error"]["code"], "rate_limit_exceeded");
    }
    model.server.note_prompt("main", "1").unwrap();
    let reply = model.ask(&chat("1")).await;
    assert_eq!(reply.status(), 401);
    assert!(!reply.response.headers().contains_key("retry-after"));
    let error = reply.json().await;
    assert_eq!(error["error"]["message"], "Who are you?");
    assert_eq!(error["error"]["code"], "invalid_api_key");
    model.server.note_prompt("main", "2").unwrap();
    assert_eq!(model.ask(&chat("2")).await.text().await, "ok");
    let state = model.until(|_| true).await;
    assert_eq!((state.requests, state.used), (5, 3));
    let parts = model.exchange(1).await;
    assert_eq!(parts[1], ExchangePart::Status(429));
    assert_eq!(end_of(&parts), ExchangeEnd::Complete);
}

#[tokio::test]
async fn a_cut_stream_breaks_off_after_the_text() {
    let mut model =
        Model::with("[[model]]\nsay = \"some text\"\nfail = \"cut\"\n[[model]]\nsay = \"ok\"");
    for streamed in [true, false] {
        let mut request = chat("1");
        request["stream"] = json!(streamed);
        let reply = model.ask(&request).await;
        // A client that was told of the close might take the cut for the right end.
        assert!(!reply.response.headers().contains_key("connection"));
        assert!(reply.breaks_off().await);
    }
    let events = model.ask(&chat("1")).await.events().await;
    assert_eq!(said(&events), "some text");
    assert!(!events.contains(&"[DONE]".to_owned()));
    assert_eq!(end_of(&model.exchange(1).await), ExchangeEnd::Cut);
    assert_eq!(model.ask(&chat("2")).await.text().await, "ok");
    assert_eq!(model.until(|_| true).await.hung_up, 0);
}

#[tokio::test]
async fn a_refused_turn_lasts_from_its_prompt_to_the_next() {
    let mut model = Model::with(
        "[[model]]\nsay = \"one\"\n[[model]]\nfail = \"refused\"\n[[model]]\nsay = \"three\"",
    );
    model.server.note_prompt("main", "1").unwrap();
    assert_eq!(model.ask(&chat("1")).await.text().await, "one");
    let mut idle = model.connect().await.unwrap();
    model.server.note_prompt("main", "2").unwrap();
    for _ in 0..3 {
        let error = model.connect().await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    }
    let mut buffer = [0];
    let read = tokio::io::AsyncReadExt::read(&mut idle, &mut buffer);
    let closed = tokio::time::timeout(PATIENCE, read).await.unwrap();
    assert!(matches!(closed, Ok(0) | Err(_)));
    assert_eq!(model.until(|_| true).await.used, 2);
    model.server.note_prompt("main", "3").unwrap();
    assert_eq!(model.ask(&chat("3")).await.text().await, "three");
}

#[tokio::test]
async fn a_refused_turn_after_a_tool_call_is_ended_by_a_release() {
    let model = Model::with(
        "[[model]]\ncall = { kind = \"execute\", command = \"ls\" }\n[[model]]\nfail = \"refused\"\n[[model]]\nsay = \"ok\"",
    );
    model.server.note_prompt("main", "1").unwrap();
    let events = model.ask(&chat("1")).await.events().await;
    assert_eq!(events[events.len() - 1], "[DONE]");
    assert!(model.connect().await.is_err());
    model.server.release().unwrap();
    assert_eq!(model.ask(&chat("1")).await.text().await, "ok");
}

#[tokio::test]
async fn a_refused_turn_without_a_noted_prompt_is_broken_off() {
    let model = Model::with("[[model]]\nfail = \"refused\"\n[[model]]\nsay = \"ok\"");
    let broken = model.request(Method::POST, CHAT, chat("1").to_string());
    assert!(broken.await.is_err());
    assert!(model.connect().await.is_err());
    model.server.release().unwrap();
    assert_eq!(model.ask(&chat("1")).await.text().await, "ok");
}

#[tokio::test]
async fn a_prompt_of_a_mebibyte_arrives_whole() {
    let mut model = Model::with("[[model]]\nsay = \"ok\"");
    let request = chat(&"long ✓ ".repeat(120_000));
    let sent = request.to_string();
    assert_eq!(model.ask(&request).await.text().await, "ok");
    let parts = model.exchange(1).await;
    assert!(matches!(&parts[0], ExchangePart::Request { body, .. } if *body == sent));
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    let text = "ab✓😀 ".repeat(20_000);
    let model = Model::with(&format!("[[model]]\nsay = \"{text}\""));
    assert_eq!(model.ask(&chat("1")).await.text().await, text);
}

#[tokio::test]
async fn what_is_not_a_request_gets_an_error_and_leaves_the_script_alone() {
    let mut model = Model::with("[[model]]\nsay = \"ok\"");
    for garbage in [&b"{"[..], b"", b"\xff\xfe", b"[1]", b"{\"messages\":{}}"] {
        let reply = model
            .request(Method::POST, CHAT, garbage.to_vec())
            .await
            .unwrap();
        assert_eq!(reply.status(), 400);
        assert_eq!(reply.json().await["error"]["type"], "invalid_request_error");
    }
    for (method, path) in [
        (Method::GET, "/v1"),
        (Method::GET, CHAT),
        (Method::POST, "/v1/embeddings"),
        (Method::POST, "/v1/models"),
    ] {
        let reply = model.request(method, path, "{}").await.unwrap();
        assert_eq!(reply.status(), 404, "{path}");
        let message = reply.json().await["error"]["message"].clone();
        assert!(message.as_str().unwrap().contains(path), "{message}");
    }
    assert_eq!(side_of(&model.exchange(1).await), Some("not understood"));
    for path in ["/chat/completions", "/proxy/openai/v1/chat/completions?x=1"] {
        let reply = model.request(Method::POST, path, chat("1").to_string());
        assert_eq!(reply.await.unwrap().status(), 200, "{path}");
    }
    let state = model.until(|_| true).await;
    assert_eq!((state.requests, state.used, state.side_requests), (2, 1, 0));
}

#[tokio::test]
async fn models_are_listed_with_the_one_that_was_asked_for() {
    let model = Model::with("[[model]]\nsay = \"ok\"");
    model.ask(&chat("1")).await.text().await;
    let list = model.request(Method::GET, "/v1/models", "").await.unwrap();
    let list = list.json().await;
    assert_eq!(list["object"], "list");
    assert_eq!(list["data"][0]["id"], "m1");
    let one = model
        .request(Method::GET, "/v1/models/any/name", "")
        .await
        .unwrap();
    assert_eq!(one.json().await["id"], "any/name");
}

#[tokio::test]
async fn the_environment_names_the_server_and_no_real_key() {
    let model = Model::with("[[model]]\nsay = \"ok\"");
    let environment = model.server.environment();
    assert_eq!(
        environment["OPENAI_BASE_URL"],
        format!("{}/v1", model.server.base_url())
    );
    assert_eq!(environment["OPENAI_API_KEY"], "sk-harness-no-real-key");
}

#[tokio::test]
async fn nobody_needs_to_listen() {
    let mut model = Model::with("[[model]]\nsay = \"a\"\n[[model]]\nsay = \"b\"");
    model.told.close();
    assert_eq!(model.ask(&chat("1")).await.text().await, "a");
    assert_eq!(model.ask(&chat("2")).await.text().await, "b");
}

#[tokio::test]
async fn stopping_closes_the_port_and_every_stream() {
    let mut model = Model::with("[[model]]\nsay = \"a\"\nhold = true");
    let reply = model.ask(&chat("1")).await;
    model.until(|state| state.holding).await;
    model.server.stop();
    assert!(reply.breaks_off().await);
    assert!(model.connect().await.is_err());
    assert_eq!(end_of(&model.exchange(1).await), ExchangeEnd::Cut);
    assert_eq!(model.until(|_| true).await.hung_up, 0);
}
