//! The server over HTTP on loopback: streamable HTTP, and the form before it, with a stream of events and an address for
//! messages.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::header::{CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use axum::routing::any;
use futures::StreamExt as _;
use futures::stream;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::dialogue::{self, Answer};
use super::log::Log;
use super::tools::Started;

const SESSION: &str = "mcp-session-id";

/// How many answers may wait for a stream of events to be read.
const WAITING: usize = 64;

/// How the server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Streamable HTTP.
    Http,
    /// Server-sent events and messages by POST.
    Sse,
}

impl Form {
    /// How a client names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Http => "/mcp",
            Self::Sse => "/sse",
        }
    }
}

/// What all requests share.
struct Shared {
    started: Started,
    /// The headers that are written down, in small letters.
    told: Vec<String>,
    log: Log,
    silent: bool,
    sessions: AtomicU64,
    /// Where the answers of a session go that has a stream of events.
    streams: Mutex<HashMap<String, mpsc::Sender<Value>>>,
    stop: CancellationToken,
}

/// Serves on a port of 127.0.0.1 (0 for one that is free) until `stop` is cancelled; gives the address for clients. Must be
/// called within a Tokio runtime.
///
/// # Errors
/// The port cannot be opened.
pub(crate) fn serve(
    (form, port): (Form, u16),
    started: Started,
    told: &[String],
    (log, silent): (Log, bool),
    stop: CancellationToken,
) -> io::Result<String> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}{}", listener.local_addr()?, form.path());
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let shared = Arc::new(Shared {
        started,
        told: told.iter().map(|name| name.to_lowercase()).collect(),
        log,
        silent,
        sessions: AtomicU64::new(0),
        streams: Mutex::default(),
        stop: stop.clone(),
    });
    let router = match form {
        Form::Http => Router::new().route("/mcp", any(streamable)),
        Form::Sse => Router::new()
            .route("/sse", any(events))
            .route("/messages", any(message)),
    };
    let router = router.with_state(shared);
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            _ = axum::serve(listener, router) => {}
        }
    });
    Ok(url)
}

impl Shared {
    /// A new session, which is written down with what the server was started with.
    fn open(&self, form: Form) -> (String, Log) {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let session = format!("session-{number}");
        let log = self.log.of_run(&session);
        log.start(form.name(), &self.started);
        (session, log)
    }

    /// The headers that are told and are there. One that came several times is a list.
    fn headers(&self, headers: &HeaderMap) -> Value {
        let values = |name: &String| {
            let mut values = headers
                .get_all(name)
                .iter()
                .map(|value| Value::from(String::from_utf8_lossy(value.as_bytes())));
            match (values.next()?, values.next()) {
                (one, None) => Some((name.clone(), one)),
                (one, Some(two)) => {
                    let all = [one, two].into_iter().chain(values).collect();
                    Some((name.clone(), Value::Array(all)))
                }
            }
        };
        Value::Object(self.told.iter().filter_map(values).collect::<Map<_, _>>())
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<Value>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to the body of a POST, after the time that it takes.
    async fn answer(&self, body: &[u8], log: &Log) -> Option<Value> {
        let Ok(message) = serde_json::from_slice::<Value>(body) else {
            log.received(&Value::from(String::from_utf8_lossy(body)));
            return Some(dialogue::not_json());
        };
        log.received(&message);
        let Answer { message, after } = dialogue::answer(&message, &self.started)?;
        if self.silent {
            self.stop.cancelled().await;
            return None;
        }
        if !after.is_zero() {
            tokio::time::sleep(after).await;
        }
        log.sent(&message);
        Some(message)
    }
}

type Reply = Response<Body>;

fn plain(status: StatusCode, body: impl Into<Body>) -> Reply {
    let mut reply = Response::new(body.into());
    *reply.status_mut() = status;
    reply
}

fn typed(media_type: &'static str, body: Body) -> Reply {
    let mut reply = Response::new(body);
    let value = axum::http::HeaderValue::from_static(media_type);
    reply.headers_mut().insert(CONTENT_TYPE, value);
    reply
}

/// A page of another site must not reach the server through a browser.
fn is_foreign(headers: &HeaderMap) -> bool {
    let local = |origin: &str| {
        let rest = origin.strip_prefix("http://").unwrap_or_default();
        let host = rest.rsplit_once(':').map_or(rest, |(host, _)| host);
        host == "127.0.0.1" || host == "localhost"
    };
    let origin = headers.get(ORIGIN);
    origin.is_some_and(|origin| !origin.to_str().is_ok_and(local))
}

async fn streamable(
    State(shared): State<Arc<Shared>>,
    verb: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Reply {
    if is_foreign(&headers) {
        return plain(StatusCode::FORBIDDEN, "only for programs of this machine");
    }
    let session = headers.get(SESSION).and_then(|value| value.to_str().ok());
    let initializes = serde_json::from_slice::<Value>(&body)
        .is_ok_and(|message| message.get("method") == Some(&Value::from("initialize")));
    let (session, log) = match session {
        None if verb == Method::POST && initializes => shared.open(Form::Http),
        None => (String::new(), shared.log.of_run("no session")),
        Some(session) => (session.to_owned(), shared.log.of_run(session)),
    };
    log.request(verb.as_str(), &shared.headers(&headers));
    match verb {
        Method::POST => {
            let mut reply = match shared.answer(&body, &log).await {
                Some(message) => typed("application/json", message.to_string().into()),
                None => plain(StatusCode::ACCEPTED, Body::empty()),
            };
            if let Ok(session) = session.try_into() {
                reply.headers_mut().insert(SESSION, session);
            }
            reply
        }
        Method::DELETE => {
            log.end("deleted");
            plain(StatusCode::OK, Body::empty())
        }
        // Nothing is ever said unasked, so there is no stream for that.
        _ => plain(StatusCode::METHOD_NOT_ALLOWED, Body::empty()),
    }
}

/// A stream of events that is written down when its client hangs up.
struct Stream {
    session: String,
    log: Log,
    shared: Arc<Shared>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.streams().remove(&self.session);
        self.log.end("stream closed");
    }
}

async fn events(State(shared): State<Arc<Shared>>, verb: Method, headers: HeaderMap) -> Reply {
    if is_foreign(&headers) {
        return plain(StatusCode::FORBIDDEN, "only for programs of this machine");
    }
    if verb != Method::GET {
        let log = shared.log.of_run("no session");
        log.request(verb.as_str(), &shared.headers(&headers));
        return plain(StatusCode::METHOD_NOT_ALLOWED, Body::empty());
    }
    let (session, log) = shared.open(Form::Sse);
    log.request(verb.as_str(), &shared.headers(&headers));
    let (sender, answers) = mpsc::channel(WAITING);
    shared.streams().insert(session.clone(), sender);
    let first = format!("event: endpoint\ndata: /messages?sessionId={session}\n\n");
    let stop = shared.stop.clone();
    let open = Stream {
        session,
        log,
        shared,
    };
    let later = stream::unfold((answers, open), |(mut answers, open)| async move {
        let message: Value = answers.recv().await?;
        let event = format!("event: message\ndata: {message}\n\n");
        Some((event, (answers, open)))
    });
    let all = stream::iter([first])
        .chain(later)
        .map(Ok::<_, Infallible>)
        .take_until(stop.cancelled_owned());
    typed("text/event-stream", Body::from_stream(all))
}

async fn message(
    State(shared): State<Arc<Shared>>,
    verb: Method,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Reply {
    if is_foreign(&headers) {
        return plain(StatusCode::FORBIDDEN, "only for programs of this machine");
    }
    let query = query.unwrap_or_default();
    let session = query.strip_prefix("sessionId=").unwrap_or_default();
    let log = shared.log.of_run(session);
    log.request(verb.as_str(), &shared.headers(&headers));
    if verb != Method::POST {
        return plain(StatusCode::METHOD_NOT_ALLOWED, Body::empty());
    }
    let Some(stream) = shared.streams().get(session).cloned() else {
        return plain(StatusCode::NOT_FOUND, "there is no such session");
    };
    tokio::spawn(async move {
        if let Some(answer) = shared.answer(&body, &log).await {
            // Where the stream is closed nobody waits any more.
            let _ = stream.send_timeout(answer, Duration::from_secs(10)).await;
        }
    });
    plain(StatusCode::ACCEPTED, "Accepted")
}
