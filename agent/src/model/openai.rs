//! Any server with the OpenAI chat-completions interface, streaming, with tools.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use super::sse::Events;
use super::{Failure, Fragment, Model, Server};
use crate::history::{Call, History, Message};
use crate::tools::TOOLS;

/// Where models are, if the environment does not say.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// The name sent where none was chosen; most servers of one's own ignore it.
const DEFAULT_NAME: &str = "default";

/// The pauses before a request is tried again. `Retry-After` may lengthen one, up to
/// [`LONGEST_PAUSE`].
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(1)];
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// A server that says nothing for so long is taken as lost.
const SILENCE_LIMIT: Duration = Duration::from_secs(300);

/// How much of a server's own words goes into a reason.
const REASON_LIMIT: usize = 300;

/// Tool calls in one answer, beyond which it is taken as broken.
const CALL_LIMIT: usize = 128;

const SUMMARY_REQUEST: &str = "Summarise the conversation so far for your own later use: what the \
    user wants, what was found and decided, which files were changed and how, and what is left to \
    do. Be brief and exact.";

/// A model behind a server.
pub(crate) struct OpenAi {
    http: reqwest::Client,
    url: Url,
    key: Option<String>,
    name: String,
}

impl OpenAi {
    pub(crate) fn new(server: &Server, name: Option<&str>) -> Result<Self, Failure> {
        let base = server.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
        let url = format!("{}/chat/completions", base.trim_end_matches('/'));
        let url: Url = url
            .parse()
            .map_err(|error| Failure(format!("OPENAI_BASE_URL is no URL: {error}")))?;
        let mut http = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .read_timeout(SILENCE_LIMIT);
        if is_loopback(&url) {
            // A proxy cannot reach the loopback of this machine.
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| Failure(format!("no client for the model server: {error}")))?;
        Ok(Self {
            http,
            url,
            key: server.api_key.clone(),
            name: name.unwrap_or(DEFAULT_NAME).to_owned(),
        })
    }

    /// Sends a request, and again twice if the server is busy or broken.
    async fn send(&self, body: &Value) -> Result<Response, Failure> {
        let mut pauses = PAUSES.iter();
        loop {
            let mut request = self.http.post(self.url.clone()).json(body);
            if let Some(key) = &self.key {
                request = request.bearer_auth(key);
            }
            let response = request
                .send()
                .await
                .map_err(|error| self.unreached(&error))?;
            let status = response.status();
            if status.is_success() {
                return Ok(response);
            }
            let again = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            match pauses.next().filter(|_| again) {
                Some(pause) => {
                    let pause = (*pause).max(retry_after(&response)).min(LONGEST_PAUSE);
                    crate::log::line(format_args!(
                        "warning: the model server answered {}, trying again in {:.1} s",
                        status.as_u16(),
                        pause.as_secs_f64()
                    ));
                    tokio::time::sleep(pause).await;
                }
                None => return Err(refused(status, response).await),
            }
        }
    }

    fn unreached(&self, error: &reqwest::Error) -> Failure {
        let place = format!(
            "{}:{}",
            self.url.host_str().unwrap_or_default(),
            self.url.port_or_known_default().unwrap_or_default()
        );
        Failure(format!(
            "the model server at {place} cannot be reached: {}",
            root_cause(error)
        ))
    }

    fn stream(&self, body: Value) -> BoxStream<'_, Result<Fragment, Failure>> {
        let begin = async move { Stage::Connected(self.send(&body).await) };
        stream::once(begin)
            .flat_map(|Stage::Connected(response)| match response {
                Ok(response) => fragments(response),
                Err(failure) => stream::iter([Err(failure)]).boxed(),
            })
            .boxed()
    }
}

/// The request was answered, one way or the other.
enum Stage {
    Connected(Result<Response, Failure>),
}

impl Model for OpenAi {
    fn answer<'a>(&'a self, history: &'a History) -> BoxStream<'a, Result<Fragment, Failure>> {
        let tools: Vec<Value> = TOOLS
            .iter()
            .map(|tool| {
                json!({
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters(),
                    },
                })
            })
            .collect();
        let mut messages = vec![json!({ "role": "system", "content": history.system })];
        messages.extend(history.messages.iter().map(on_the_wire));
        self.stream(json!({
            "model": self.name,
            "messages": messages,
            "tools": tools,
            "stream": true,
            "stream_options": { "include_usage": true },
        }))
    }

    fn summary<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<String, Failure>> {
        let mut conversation: Vec<Value> = messages.iter().map(on_the_wire).collect();
        conversation.push(json!({ "role": "user", "content": SUMMARY_REQUEST }));
        let mut answer = self.stream(json!({
            "model": self.name,
            "messages": conversation,
            "stream": true,
            "stream_options": { "include_usage": true },
        }));
        Box::pin(async move {
            let mut summary = String::new();
            while let Some(fragment) = answer.next().await {
                if let Fragment::Text(text) = fragment? {
                    summary.push_str(&text);
                }
            }
            if summary.trim().is_empty() {
                return Err(Failure("the model gave no summary".into()));
            }
            Ok(summary)
        })
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// The deepest reason of an error, which says what happened rather than where.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    reason(&cause.to_string())
}

fn retry_after(response: &Response) -> Duration {
    response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.trim().parse().ok())
        .map_or(Duration::ZERO, Duration::from_secs)
}

/// The reason that a server gives with an error status.
async fn refused(status: StatusCode, response: Response) -> Failure {
    let mut bytes = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(Ok(part)) = bytes.next().await {
        body.extend_from_slice(&part);
        if body.len() > 64 * 1024 {
            break;
        }
    }
    let said = serde_json::from_slice::<Value>(&body)
        .ok()
        .as_ref()
        .and_then(|body| error_message(body.get("error")?))
        .unwrap_or_else(|| reason(&String::from_utf8_lossy(&body)));
    let separator = if said.is_empty() { "" } else { ": " };
    Failure(format!(
        "the model server answered {status}{separator}{said}"
    ))
}

fn error_message(error: &Value) -> Option<String> {
    let message = error.get("message").unwrap_or(error);
    message.as_str().map(reason)
}

/// A server's words as part of one sentence.
fn reason(text: &str) -> String {
    let text = crate::log::one_line(text.trim());
    match text.char_indices().nth(REASON_LIMIT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn on_the_wire(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Summary(text) => json!({
            "role": "user",
            "content": format!("[summary of the conversation before this]\n{text}"),
        }),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, calls } => {
            let content = Some(text).filter(|text| !text.is_empty());
            let calls: Vec<Value> = calls.iter().map(call_on_the_wire).collect();
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        Message::ToolResult { id, text } => {
            json!({ "role": "tool", "tool_call_id": id, "content": text })
        }
    }
}

fn call_on_the_wire(call: &Call) -> Value {
    // Arguments travel as text. What was no JSON came as text, and goes back as it came.
    let arguments = match &call.arguments {
        Value::String(text) => text.clone(),
        arguments => arguments.to_string(),
    };
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.tool, "arguments": arguments },
    })
}

/// The state of an answer between two pieces of the stream.
struct Answer<S> {
    bytes: S,
    events: Option<Events>,
    ready: VecDeque<Result<Fragment, Failure>>,
    calls: Vec<PartialCall>,
    complete: bool,
    ended: bool,
}

#[derive(Default)]
struct PartialCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

fn fragments(response: Response) -> BoxStream<'static, Result<Fragment, Failure>> {
    let answer = Answer {
        bytes: response.bytes_stream(),
        events: Some(Events::default()),
        ready: VecDeque::new(),
        calls: Vec::new(),
        complete: false,
        ended: false,
    };
    stream::unfold(answer, |mut answer| async move {
        loop {
            if let Some(fragment) = answer.ready.pop_front() {
                answer.ended |= fragment.is_err();
                return Some((fragment, answer));
            }
            if answer.ended {
                return None;
            }
            match answer.bytes.next().await {
                Some(Ok(bytes)) => answer.take(&bytes),
                Some(Err(error)) => {
                    let reason = format!("the model server cut the stream: {}", root_cause(&error));
                    answer.close(Some(Failure(reason)));
                }
                None => answer.close(None),
            }
        }
    })
    .boxed()
}

impl<S> Answer<S> {
    fn take(&mut self, bytes: &[u8]) {
        let events = self.events.as_mut().map(|events| events.push(bytes));
        match events {
            Some(Ok(events)) => events.iter().for_each(|data| self.event(data)),
            Some(Err(_)) => {
                let reason = "the model server sent an event without end".to_owned();
                self.close(Some(Failure(reason)));
            }
            None => {}
        }
    }

    /// The stream ended, by a fault of the connection if one is given. What follows the end of an
    /// answer does not matter.
    fn close(&mut self, fault: Option<Failure>) {
        if self.ended {
            return;
        }
        if let Some(data) = self.events.take().and_then(Events::end) {
            self.event(&data);
        }
        if self.ended {
            return;
        }
        self.ended = true;
        if self.complete {
            self.hand_over_calls();
        } else {
            let cut = || Failure("the model server cut the stream".into());
            self.ready.push_back(Err(fault.unwrap_or_else(cut)));
        }
    }

    fn event(&mut self, data: &str) {
        if self.ended {
            return;
        }
        if data.trim() == "[DONE]" {
            self.complete = true;
            self.ended = true;
            self.hand_over_calls();
            return;
        }
        let chunk: Chunk = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(_) => {
                self.ended = true;
                let reason = "the model server sent an event that is no JSON".to_owned();
                self.ready.push_back(Err(Failure(reason)));
                return;
            }
        };
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            self.ended = true;
            let said = error_message(&error).unwrap_or_default();
            self.ready
                .push_back(Err(Failure(format!("the model server failed: {said}"))));
            return;
        }
        if let Some(tokens) = chunk.usage.and_then(|usage| usage.prompt_tokens) {
            self.ready.push_back(Ok(Fragment::InputTokens(tokens)));
        }
        let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() else {
            return;
        };
        let delta = choice.delta.unwrap_or_default();
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.ready.push_back(Ok(Fragment::Text(text)));
        }
        for part in delta.tool_calls.unwrap_or_default() {
            self.call_part(part);
        }
        self.complete |= choice.finish_reason.is_some();
    }

    /// Joins the fragments of a call by its index. A server that leaves the index out begins a new
    /// call with each new id.
    fn call_part(&mut self, part: CallPart) {
        let id = part.id.unwrap_or_default();
        let known = match part.index {
            Some(index) => self.calls.iter().position(|call| call.index == index),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().position(|call| call.id == id),
        };
        if known.is_none() {
            if self.calls.len() == CALL_LIMIT {
                return;
            }
            self.calls.push(PartialCall {
                index: part.index.unwrap_or(self.calls.len() as u64),
                ..PartialCall::default()
            });
        }
        let at = known.unwrap_or(self.calls.len().saturating_sub(1));
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        let function = part.function.unwrap_or_default();
        if call.id.is_empty() {
            call.id = id;
        }
        // Some servers repeat the name in each fragment.
        if call.name.is_empty() {
            call.name = function.name.unwrap_or_default();
        }
        call.arguments
            .push_str(&function.arguments.unwrap_or_default());
    }

    fn hand_over_calls(&mut self) {
        self.calls.sort_by_key(|call| call.index);
        for call in self.calls.drain(..) {
            let text = call.arguments.trim();
            let arguments = if text.is_empty() {
                json!({})
            } else {
                serde_json::from_str(text).unwrap_or(Value::String(call.arguments))
            };
            self.ready.push_back(Ok(Fragment::Call(Call {
                id: call.id,
                tool: call.name,
                arguments,
            })));
        }
    }
}

/// One event of the stream. Everything is optional: servers differ.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<CallPart>>,
}

#[derive(Deserialize)]
struct CallPart {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Default, Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
}
