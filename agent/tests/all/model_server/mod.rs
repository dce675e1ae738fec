//! A chat-completions server on loopback, whose replies a test lays out beforehand.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use axum::routing::post;
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What the server does with one request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// An error status, with a `retry-after` header if there is one.
    Status(u16, Option<&'static str>, String),
    /// A stream of events that ends as it should.
    Events(Vec<Value>),
    /// A stream that ends without `[DONE]` or a reason.
    Ends(Vec<Value>),
    /// A stream whose connection breaks on [`ModelServer::break_stream`].
    Breaks(Vec<Value>),
    /// A stream that stays open.
    Hangs(Vec<Value>),
    /// These bytes, in these pieces.
    Raw(Vec<Vec<u8>>),
}

/// A request that the server got.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) body: Value,
    pub(crate) authorization: Option<String>,
}

#[derive(Clone, Default)]
struct Shared {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    breaks: Arc<Notify>,
}

pub(crate) struct ModelServer {
    shared: Shared,
    pub(crate) base_url: String,
    _runtime: tokio::runtime::Runtime,
}

impl ModelServer {
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let shared = Shared::default();
        shared.replies.lock().unwrap().extend(replies);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .with_state(shared.clone());
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self {
            shared,
            base_url,
            _runtime: runtime,
        }
    }

    /// Breaks the connection of a reply that is to break.
    pub(crate) fn break_stream(&self) {
        self.shared.breaks.notify_one();
    }

    /// Everything that was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }
}

/// One piece of text.
pub(crate) fn text(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
}

/// The end of an answer.
pub(crate) fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// A fragment of a tool call.
pub(crate) fn call(index: u64, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut part = json!({"index": index, "function": {"arguments": arguments}});
    if let Some(id) = id {
        part["id"] = json!(id);
        part["type"] = json!("function");
    }
    if let Some(name) = name {
        part["function"]["name"] = json!(name);
    }
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [part]}, "finish_reason": null}]})
}

/// An answer of nothing but text.
pub(crate) fn says(words: &str) -> Reply {
    Reply::Events(vec![text(words), finish("stop")])
}

async fn complete(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let authorization = headers
        .get("authorization")
        .map(|value| value.to_str().unwrap().to_owned());
    shared.seen.lock().unwrap().push(Seen {
        body: serde_json::from_slice(&body).unwrap(),
        authorization,
    });
    let reply = shared.replies.lock().unwrap().pop_front();
    let reply = reply.unwrap_or_else(|| panic!("the model was asked once too often"));
    let lines = |events: &[Value]| -> Vec<Vec<u8>> {
        events
            .iter()
            .map(|event| format!("data: {event}\n\n").into_bytes())
            .collect()
    };
    let whole = |pieces: Vec<Vec<u8>>| {
        let pieces = pieces
            .into_iter()
            .map(|piece| Ok::<_, io::Error>(Bytes::from(piece)));
        stream::iter(pieces.collect::<Vec<_>>())
    };
    let body = match &reply {
        Reply::Status(status, retry_after, body) => {
            let mut response = Response::builder().status(*status);
            if let Some(seconds) = retry_after {
                response = response.header("retry-after", *seconds);
            }
            return response.body(Body::from(body.clone())).unwrap();
        }
        Reply::Events(events) => {
            let mut pieces = lines(events);
            pieces.push(b"data: [DONE]\n\n".to_vec());
            Body::from_stream(whole(pieces))
        }
        Reply::Ends(events) => Body::from_stream(whole(lines(events))),
        Reply::Breaks(events) => {
            let broken = stream::once(async move {
                shared.breaks.notified().await;
                Err(io::Error::other("cut"))
            });
            Body::from_stream(whole(lines(events)).chain(broken))
        }
        Reply::Hangs(events) => Body::from_stream(whole(lines(events)).chain(stream::pending())),
        Reply::Raw(pieces) => Body::from_stream(whole(pieces.clone())),
    };
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(body)
        .unwrap()
}
