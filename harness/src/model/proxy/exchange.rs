//! One request that passes to a server upstream, and its reply that passes back.

use std::error::Error as _;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::http::request;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::decoding::Decoder;
use super::headers;
use super::keeping::Cutter;
use super::server::Shared;
use crate::model::parts::{Part, Parts};
use crate::trace::{Body, Exchange as Event, ExchangeEnd, ExchangePart};

/// The longest body of a request that is kept, in bytes. A longer one passes all the same.
const KEPT: usize = 32 << 20;
/// What a request is marked with whose body is not kept.
const TOO_LONG: &str = "too long to be kept";
/// What a request is marked with that asks for no reply of a model.
const LOOK_UP: &str = "look-up";

/// Passes one request on.
pub(super) async fn pass(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> io::Result<Response<Parts>> {
    let (head, answered) = oneshot::channel();
    let exchange = Exchange {
        number: shared.number(),
        shared: Arc::clone(&shared),
        head: Some(head),
        parts: None,
        asks: false,
    };
    // A task of its own, so that it can still tell that the agent hung up when this connection is gone.
    shared.exchanges.spawn(exchange.run(request));
    answered.await.map_err(io::Error::other)
}

struct Exchange {
    number: u64,
    shared: Arc<Shared>,
    head: Option<oneshot::Sender<Response<Parts>>>,
    parts: Option<mpsc::Sender<Part>>,
    /// Whether it is more than a look-up.
    asks: bool,
}

/// Why an exchange is over before its end.
enum Over {
    /// The agent hung up, or everything is closed.
    Left,
    /// The server upstream failed, with a sentence on how.
    Failed(String),
}

impl Exchange {
    async fn run(mut self, request: Request<Incoming>) {
        let shared = Arc::clone(&self.shared);
        let passed = tokio::select! {
            passed = self.through(request) => passed,
            () = shared.stop.cancelled() => Err(Over::Failed("the harness ends".to_owned())),
        };
        let end = match passed {
            Ok(()) => ExchangeEnd::Complete,
            Err(Over::Left) => ExchangeEnd::Cancelled,
            // The rest of its request is missing then.
            Err(_) if self.head.as_ref().is_some_and(oneshot::Sender::is_closed) => {
                ExchangeEnd::Cancelled
            }
            Err(Over::Failed(why)) => {
                self.fail(&why).await;
                ExchangeEnd::Cut
            }
        };
        self.tell(ExchangePart::End(end)).await;
        if end == ExchangeEnd::Cut
            && let Some(parts) = &self.parts
        {
            let _ = parts.send(Part::Break).await;
        }
    }

    async fn through(&mut self, request: Request<Incoming>) -> Result<(), Over> {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        self.asks = !matches!(head.method, Method::GET | Method::HEAD);
        let url = self
            .shared
            .upstreams
            .address(path, head.uri.query(), &head.headers);
        let kept = Arc::new(Mutex::new(Kept::default()));
        let (whole, is_whole) = oneshot::channel();
        let copied = Copied {
            inner: body,
            kept: Arc::clone(&kept),
            whole: Some(whole),
        };
        let Some(url) = url else {
            let why =
                format!("no model server is given for `{path}`; give one with `--model-upstream`");
            self.told_request(&head, &kept).await;
            return Err(self.failed(why));
        };
        let asked = self
            .shared
            .client
            .request(head.method.clone(), url.clone())
            .headers(headers::of_request(&head.headers))
            .body(reqwest::Body::wrap(copied))
            .send();
        let mut asked = std::pin::pin!(asked);
        // The request is told when all of it has gone, or the reply is there already.
        let early = tokio::select! {
            () = self.left() => {
                self.told_request(&head, &kept).await;
                return Err(Over::Left);
            }
            reply = &mut asked => Some(reply),
            _ = is_whole => None,
        };
        self.told_request(&head, &kept).await;
        let reply = match early {
            Some(reply) => reply,
            None => tokio::select! {
                () = self.left() => return Err(Over::Left),
                reply = asked => reply,
            },
        };
        let reply = reply.map_err(|error| self.failed(failure(&url, error)))?;
        self.reached(reply.status(), &url);
        self.back(reply, &url).await
    }

    /// A request that no server upstream answered.
    fn failed(&self, why: String) -> Over {
        if self.asks {
            self.shared.reach(|reach| reach.failed(why.clone()));
        }
        Over::Failed(why)
    }

    /// A server upstream answered with this status.
    fn reached(&self, status: StatusCode, url: &Url) {
        if !self.asks {
            return;
        }
        self.shared.reach(|reach| {
            if status.as_u16() < 400 {
                reach.answered();
            } else {
                reach.failed(format!("{} answered with status {status}", server(url)));
            }
        });
    }

    /// Passes the reply back.
    async fn back(&mut self, mut reply: reqwest::Response, url: &Url) -> Result<(), Over> {
        let type_of = |name| {
            let value = reply
                .headers()
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok());
            value.unwrap_or_default().to_ascii_lowercase()
        };
        let encoding = type_of(CONTENT_ENCODING);
        let mut cutter = Some(Cutter::new(&type_of(CONTENT_TYPE)));
        let status = reply.status();
        self.tell(ExchangePart::Status(status.as_u16())).await;
        // It was asked not to. Such a reply passes as it is, and is read for the trace where that can be.
        let mut decoder = Decoder::new(&encoding);
        if decoder.is_none() {
            cutter = None;
            self.tell(ExchangePart::Unreadable(encoding.clone())).await;
        }
        let mut answer = Response::new(self.body());
        *answer.status_mut() = status;
        *answer.headers_mut() = headers::end_to_end(reply.headers());
        if let Some(head) = self.head.take() {
            head.send(answer).map_err(|_| Over::Left)?;
        }
        // Where the length is known nobody waits for more, and the agent may be gone before the end is seen here.
        let mut missing = reply.content_length();
        loop {
            if missing == Some(0) {
                return Ok(());
            }
            let parts = self.parts.clone().ok_or(Over::Left)?;
            // A place first: the server upstream is read no faster than the agent reads.
            let place = parts.reserve().await.map_err(|_| Over::Left)?;
            let bytes = tokio::select! {
                () = parts.closed() => return Err(Over::Left),
                bytes = reply.chunk() => bytes,
            };
            let mut kept = Vec::new();
            let bytes = match bytes {
                Ok(Some(bytes)) => bytes,
                ended => {
                    kept.extend(cutter.as_mut().and_then(Cutter::finish));
                    self.tell_all(kept).await;
                    return match ended {
                        Ok(_) => Ok(()),
                        Err(error) => Err(Over::Failed(failure(url, error))),
                    };
                }
            };
            missing = missing.map(|missing| missing.saturating_sub(bytes.len() as u64));
            if let (Some(reader), Some(decoder)) = (&mut cutter, &mut decoder) {
                let read = decoder.read(&bytes, |plain| {
                    reader.push(plain, |piece| kept.push(piece));
                });
                if missing == Some(0) || read.is_err() {
                    kept.extend(reader.finish());
                }
                if read.is_err() {
                    kept.push(ExchangePart::Unreadable(encoding.clone()));
                    cutter = None;
                }
            }
            // It is in the trace before the agent can act on it.
            self.tell_all(kept).await;
            place.send(Part::Bytes(bytes));
        }
    }

    /// Ends when the agent has hung up before the reply began.
    async fn left(&mut self) {
        match &mut self.head {
            Some(head) => head.closed().await,
            None => std::future::pending().await,
        }
    }

    /// Answers with an error, if nothing was answered yet.
    async fn fail(&mut self, why: &str) {
        let Some(head) = self.head.take() else {
            return;
        };
        // All families have the words of an error at this place.
        let error = json!({"type": "error", "error": {"type": "upstream_error", "message": format!("harness: {why}")}});
        let error = error.to_string();
        self.tell(ExchangePart::Status(StatusCode::BAD_GATEWAY.as_u16()))
            .await;
        self.tell(ExchangePart::Chunk(error.clone())).await;
        let mut answer = Response::new(self.body());
        *answer.status_mut() = StatusCode::BAD_GATEWAY;
        let content = HeaderValue::from_static("application/json");
        answer.headers_mut().insert(CONTENT_TYPE, content);
        let _ = head.send(answer);
        if let Some(parts) = self.parts.take() {
            let _ = parts.send(Part::Bytes(error.into())).await;
        }
    }

    fn body(&mut self) -> Parts {
        let (sender, body) = Parts::new();
        self.parts = Some(sender);
        body
    }

    async fn told_request(&self, head: &request::Parts, kept: &Mutex<Kept>) {
        let kept = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let side = match (kept.too_long, &head.method) {
            (true, _) => Some(TOO_LONG),
            (false, &Method::GET | &Method::HEAD) => Some(LOOK_UP),
            (false, _) => None,
        };
        self.tell(ExchangePart::Request {
            path: path.to_owned(),
            body: String::from_utf8_lossy(&kept.bytes).into_owned(),
            side: side.map(str::to_owned),
        })
        .await;
    }

    async fn tell_all(&self, parts: Vec<ExchangePart>) {
        for part in parts {
            self.tell(part).await;
        }
    }

    async fn tell(&self, part: ExchangePart) {
        let exchange = self.number;
        self.shared
            .tell(Body::Model(Event { exchange, part }))
            .await;
    }
}

/// A sentence on what is wrong with a server upstream. An address may hold a key behind `?`, so only its beginning is told.
fn failure(url: &Url, error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    let unreachable = if error.is_connect() {
        "could not be reached"
    } else {
        "failed"
    };
    format!("{} {unreachable}: {words}", server(url))
}

/// A server upstream in words.
fn server(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    format!("the model server `{}://{host}{port}`", url.scheme())
}

/// What is kept of the body of a request.
#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    too_long: bool,
}

/// The body of a request, of which a copy is kept as it passes.
struct Copied {
    inner: Incoming,
    kept: Arc<Mutex<Kept>>,
    /// Dropped when all of it has passed.
    whole: Option<oneshot::Sender<()>>,
}

impl HttpBody for Copied {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(bytes) = frame.data_ref() {
                    let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.too_long |= kept.bytes.len() + bytes.len() > KEPT;
                    if kept.too_long {
                        kept.bytes = Vec::new();
                    } else {
                        kept.bytes.extend_from_slice(bytes);
                    }
                }
            }
            Poll::Ready(_) => self.whole = None,
            Poll::Pending => {}
        }
        if self.inner.is_end_stream() {
            self.whole = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
