//! One exchange with the model: a request and its reply, told to the trace as it happens.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use tokio::sync::{mpsc, oneshot};

use super::asked::Asked;
use super::interface::{Headers, Interface, JSON, Opened};
use super::job::{self, Job};
use super::parts::{Part, Parts};
use super::reply::{Piece, Plan};
use super::server::Shared;
use super::side;
use super::turns::Turn;
use crate::trace::{Body, Exchange as Event, ExchangeEnd, ExchangePart, Observed, Party};

/// The longest request that is read, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;
/// No connection outlives its reply.
const CLOSE: Headers = &[("connection", "close")];
/// A reply that is to be cut does not announce the close: several clients then take any end for the right one.
const BREAKS: Headers = &[];
/// With statuses that clients try again, so that a retry does not take minutes: in milliseconds for the clients that
/// know that header, in seconds for the others. Not zero, which several take for "no advice".
const RETRY: Headers = &[
    ("connection", "close"),
    ("retry-after-ms", "100"),
    ("retry-after", "1"),
];

/// Answers one request. An error breaks the connection off without an answer.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> io::Result<Response<Parts>> {
    let (head, body) = request.into_parts();
    let path = head
        .uri
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    let body = match Limited::new(body, LONGEST).collect().await {
        Ok(body) => Some(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => None,
        Err(error) => return Err(io::Error::other(error)),
    };
    let body = body.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (job, side) = job::job(&shared, &head, &path, body.as_deref())?;
    let (head, answered) = oneshot::channel();
    let exchange = Exchange {
        number: shared.number(),
        shared,
        id_header: None,
        head: Some(head),
        body: None,
    };
    let request = ExchangePart::Request {
        path: path.clone(),
        body: body.unwrap_or_default(),
        side: side.map(str::to_owned),
    };
    // A task of its own, so that it can still tell that the agent hung up when this connection is gone.
    tokio::spawn(exchange.run(path, request, job));
    answered.await.map_err(io::Error::other)
}

/// The time, in seconds since 1970.
fn seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs())
}

/// The agent hung up.
struct HungUp;

struct Exchange {
    number: u64,
    shared: Arc<Shared>,
    /// The header that carries the number of the exchange.
    id_header: Option<&'static str>,
    head: Option<oneshot::Sender<Response<Parts>>>,
    body: Option<mpsc::Sender<Part>>,
}

impl Exchange {
    async fn run(mut self, path: String, request: ExchangePart, job: Job) {
        self.report(request).await;
        let (sent, turn) = match job {
            Job::Send {
                interface,
                status,
                body,
                headers,
            } => {
                self.id_header = interface.id_header();
                let sent = self.send_whole(status, body, &[CLOSE, headers]).await;
                (sent, None)
            }
            Job::Reply {
                interface,
                asked,
                turn,
            } => {
                self.id_header = interface.id_header();
                let plan = self.plan(&asked, &turn);
                let opened = Opened {
                    number: self.number,
                    seconds: seconds(),
                    path: &path,
                    asked: &asked,
                };
                let sent = self.reply(interface, &opened, &turn, &plan).await;
                (sent, Some(turn))
            }
        };
        let end = match sent {
            Ok(end) => end,
            // Who closes everything at the end of a run is the harness.
            Err(HungUp) if self.shared.stop.is_cancelled() => ExchangeEnd::Cut,
            Err(HungUp) => {
                if matches!(turn, Some(Turn::Reply(..) | Turn::Beyond)) {
                    self.shared.state.send_modify(|state| state.hung_up += 1);
                }
                ExchangeEnd::Cancelled
            }
        };
        self.report(ExchangePart::End(end)).await;
        if end == ExchangeEnd::Cut
            && let Some(body) = &self.body
        {
            let _ = body.send(Part::Break).await;
        }
    }

    fn plan(&self, asked: &Asked, turn: &Turn) -> Plan {
        let plan = match turn {
            Turn::Reply(_, reply) | Turn::Aside(_, reply) | Turn::Miss(reply) => {
                let (map, folder) = {
                    let memory = self.shared.memory();
                    (memory.map.clone(), memory.folder.clone())
                };
                Plan::of(reply, asked, self.number, &map, folder.as_deref())
            }
            Turn::Side(reason) => Plan::saying(&side::answer(asked, reason)),
            Turn::Beyond | Turn::Refuse => Plan::beyond(),
        };
        if let Turn::Reply(index, _) = turn {
            let ids = plan.pieces.iter().filter_map(|piece| match piece {
                Piece::Call { id, .. } => Some(id.as_str()),
                _ => None,
            });
            self.shared.memory().turns.called(*index, ids);
        }
        if !plan.unmapped.is_empty() {
            self.shared
                .state
                .send_modify(|state| state.unmapped.extend(plan.unmapped.iter().cloned()));
        }
        plan
    }

    async fn reply(
        &mut self,
        interface: &dyn Interface,
        opened: &Opened<'_>,
        turn: &Turn,
        plan: &Plan,
    ) -> Result<ExchangeEnd, HungUp> {
        self.wait(Duration::from_millis(plan.wait)).await?;
        if let Some((trouble, message)) = &plan.error {
            let error = interface.error(*trouble, message.as_deref());
            let again = matches!(error.status, 408 | 409 | 429 | 500..);
            let headers = [if again { RETRY } else { CLOSE }, error.headers];
            let status = job::status(&error);
            return self.send_whole(status, error.body, &headers).await;
        }
        let stream = opened.asked.stream;
        let mut writer = interface.writer(opened);
        let headers = [if plan.cut { BREAKS } else { CLOSE }];
        if stream {
            self.begin(StatusCode::OK, writer.stream_type(), &headers)
                .await?;
            self.send_all(writer.opening(plan)).await?;
        } else {
            self.begin(StatusCode::OK, JSON, &headers).await?;
        }
        for piece in &plan.pieces {
            if *piece == Piece::Hold {
                self.hold().await?;
            } else if stream {
                self.send_all(writer.piece(piece)).await?;
            }
        }
        if plan.cut {
            if !stream {
                let whole = writer.whole(plan);
                let half = whole.chars().count() / 2;
                self.send(whole.chars().take(half).collect()).await?;
            }
            return Ok(ExchangeEnd::Cut);
        }
        let mut last = match stream {
            true => writer.closing(plan),
            false => vec![writer.whole(plan)],
        };
        // Before the agent can see the end: after it the next connection may be one to refuse.
        let end = last.pop();
        self.send_all(last).await?;
        if let Turn::Reply(index, _) = turn {
            let mut memory = self.shared.memory();
            memory.turns.ending(*index);
            // The port stays as it is if the system refuses; then the connection is broken off instead.
            let _ = self.shared.follow(&memory);
        }
        if let Some(event) = end {
            self.send(event).await?;
        }
        Ok(ExchangeEnd::Complete)
    }

    /// Waits before the first byte.
    async fn wait(&mut self, time: Duration) -> Result<(), HungUp> {
        let Some(head) = &mut self.head else {
            return Ok(());
        };
        tokio::select! {
            () = head.closed() => Err(HungUp),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Keeps the stream open until it is released.
    async fn hold(&mut self) -> Result<(), HungUp> {
        let Some(body) = &self.body else {
            return Ok(());
        };
        // The place of the last part is free again as soon as that has been taken to be sent.
        drop(body.reserve().await.map_err(|_| HungUp)?);
        self.held(1);
        let released = tokio::select! {
            () = body.closed() => Err(HungUp),
            permit = self.shared.releases.acquire() => {
                if let Ok(permit) = permit {
                    permit.forget();
                }
                Ok(())
            }
        };
        self.held(-1);
        released
    }

    fn held(&self, more: isize) {
        let mut memory = self.shared.memory();
        memory.held = memory.held.saturating_add_signed(more);
        let _ = self.shared.follow(&memory);
    }

    /// Sends the head of the reply.
    async fn begin(
        &mut self,
        status: StatusCode,
        content_type: &'static str,
        headers: &[Headers],
    ) -> Result<(), HungUp> {
        let Some(head) = self.head.take() else {
            return Ok(());
        };
        let (sender, body) = Parts::new();
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let all = response.headers_mut();
        all.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        for (name, value) in headers.iter().copied().flatten() {
            all.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(name) = self.id_header
            && let Ok(id) = HeaderValue::from_str(&format!("req_{:06}", self.number))
        {
            all.insert(name, id);
        }
        self.report(ExchangePart::Status(status.as_u16())).await;
        self.body = Some(sender);
        head.send(response).map_err(|_| HungUp)
    }

    /// Sends a piece of the body. It is in the trace before the agent can act on it.
    async fn send(&mut self, text: String) -> Result<(), HungUp> {
        let Some(body) = &self.body else {
            return Ok(());
        };
        let place = body.reserve().await.map_err(|_| HungUp)?;
        self.report(ExchangePart::Chunk(text.clone())).await;
        place.send(Part::Bytes(text.into()));
        Ok(())
    }

    async fn send_all(&mut self, events: Vec<String>) -> Result<(), HungUp> {
        for event in events {
            self.send(event).await?;
        }
        Ok(())
    }

    async fn send_whole(
        &mut self,
        status: StatusCode,
        body: String,
        headers: &[Headers],
    ) -> Result<ExchangeEnd, HungUp> {
        self.begin(status, JSON, headers).await?;
        self.send(body).await?;
        Ok(ExchangeEnd::Complete)
    }

    /// Tells the trace; once nobody listens, silently not.
    async fn report(&self, part: ExchangePart) {
        let event = Observed::now(
            Party::Model,
            Body::Model(Event {
                exchange: self.number,
                part,
            }),
        );
        if self.shared.stop.is_cancelled() {
            // What drains the trace may be gone already.
            let _ = self.shared.out.try_send(event);
            return;
        }
        tokio::select! {
            _ = self.shared.out.send(event) => {}
            () = self.shared.stop.cancelled() => {}
        }
    }
}
