//! Any server with the OpenAI chat-completions interface, streaming, with tools.

use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode, Url};
use serde_json::{Value, json};

use super::chat_stream;
use super::reason::{error_message, root_cause, shortened};
use super::{Asked, Failure, Fragment, Model, Server};
use crate::address::is_on_this_machine;
use crate::history::{Call, Message};
use crate::options::Effort;

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
        if is_on_this_machine(&url) {
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
        stream::once(async move { self.send(&body).await })
            .flat_map(|response| match response {
                Ok(response) => chat_stream::fragments(response),
                Err(failure) => stream::iter([Err(failure)]).boxed(),
            })
            .boxed()
    }
}

impl Model for OpenAi {
    fn answer<'a>(&'a self, asked: Asked<'a>) -> BoxStream<'a, Result<Fragment, Failure>> {
        let history = asked.history;
        let own = asked
            .tools
            .iter()
            .map(|tool| function(tool.name, tool.description, tool.parameters()));
        let servers = asked
            .server_tools
            .iter()
            .map(|tool| function(&tool.name, &tool.description, tool.parameters.clone()));
        let tools: Vec<Value> = own.chain(servers).collect();
        let mut messages = vec![json!({ "role": "system", "content": history.system })];
        messages.extend(history.messages.iter().map(on_the_wire));
        let mut body = json!({
            "model": self.name,
            "messages": messages,
            "tools": tools,
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        if asked.effort != Effort::default()
            && let Some(body) = body.as_object_mut()
        {
            body.insert("reasoning_effort".to_owned(), asked.effort.id().into());
        }
        self.stream(body)
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
        .unwrap_or_else(|| shortened(&String::from_utf8_lossy(&body)));
    let separator = if said.is_empty() { "" } else { ": " };
    Failure(format!(
        "the model server answered {status}{separator}{said}"
    ))
}

/// A tool as the server takes it.
fn function(name: &str, description: &str, parameters: Value) -> Value {
    json!({
        "type": "function",
        "function": { "name": name, "description": description, "parameters": parameters },
    })
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
