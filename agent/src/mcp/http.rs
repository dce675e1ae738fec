//! MCP over HTTP: the requests, made with the HTTP client that is here anyway.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

const JSON: &str = "application/json";

const EVENTS: &str = "text/event-stream";

const SESSION: &str = "mcp-session-id";

/// The most bytes of one answer, be it one document or a stream of events.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

type Failure = StreamableHttpError<reqwest::Error>;

type Headers = HashMap<HeaderName, HeaderValue>;

/// The HTTP client of one server.
#[derive(Clone)]
pub(super) struct Http(pub(super) reqwest::Client);

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let has_session = session_id.is_some();
        let request = self
            .0
            .post(&*uri)
            .header(ACCEPT, format!("{JSON}, {EVENTS}"));
        let request = with_headers(request, session_id.as_deref(), custom_headers);
        let sent = request.json(&message).send().await;
        let response = sent.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            let said = format!("HTTP status {}", status.as_u16());
            return Err(StreamableHttpError::UnexpectedServerResponse(said.into()));
        }
        // Only a request has an answer.
        if !matches!(message, ClientJsonRpcMessage::Request(_)) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = text_of(&response, SESSION);
        let media_type = text_of(&response, CONTENT_TYPE.as_str());
        let is = |wanted: &str| {
            let media_type = media_type.as_deref().unwrap_or_default();
            let essence = media_type.split(';').next().unwrap_or_default();
            essence.trim().eq_ignore_ascii_case(wanted)
        };
        if is(EVENTS) {
            let events = events(response);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if is(JSON) {
            let body = whole(response).await?;
            let message: ServerJsonRpcMessage = serde_json::from_slice(&body)?;
            return Ok(StreamableHttpPostResponse::Json(message, session));
        }
        Err(StreamableHttpError::UnexpectedContentType(media_type))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let request = with_headers(self.0.delete(&*uri), Some(&session_id), custom_headers);
        let sent = request.send().await;
        // A server may not let clients end its sessions.
        sent.map(drop).map_err(StreamableHttpError::Client)
    }

    /// Nothing that a server says by itself is acted on, so no stream is opened for that.
    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session_id: Option<Arc<str>>,
        _last_event_id: Option<String>,
        _auth_header: Option<String>,
        _custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

fn with_headers(
    request: RequestBuilder,
    session: Option<&str>,
    headers: Headers,
) -> RequestBuilder {
    let request = headers.into_iter().fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    match session {
        Some(session) => request.header(SESSION, session),
        None => request,
    }
}

fn text_of(response: &Response, header: &str) -> Option<String> {
    let value = response.headers().get(header)?;
    value.to_str().ok().map(str::to_owned)
}

/// The body of a response, up to the limit.
async fn whole(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(part) = response
        .chunk()
        .await
        .map_err(StreamableHttpError::Client)?
    {
        if part.len() > ANSWER_LIMIT - body.len() {
            return Err(StreamableHttpError::ResponseBodyTooLarge {
                max_size: ANSWER_LIMIT,
            });
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

/// The events of a response. The stream ends where it grows beyond the limit.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut left = ANSWER_LIMIT;
    let bytes = response.bytes_stream().take_while(move |part| {
        let size = part.as_ref().map_or(0, |part| part.len());
        let fits = size <= left;
        left = left.saturating_sub(size);
        std::future::ready(fits)
    });
    SseStream::from_bytes_stream(bytes).boxed()
}
