//! The model server of one scenario.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::asked::Asked;
use super::cassette::Cassette;
use super::door::Door;
use super::exchange;
use super::script::Script;
use super::state::ModelState;
use super::tool_map::ToolMap;
use super::turns::{Turn, Turns};
use super::variables::environment;
use crate::agent::ModelAccess;
use crate::trace::{Body, Exchange, ExchangeEnd, ExchangePart, Observed, Outbox, Party};

/// A port of the system's choice.
const ANY_PORT: u16 = 0;
/// The pause after the system could not give a connection (too many open files).
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// A scripted model that listens on a port of its own on loopback. Dropping it closes everything.
///
/// Every reply closes its connection: so a refused turn really is refused, and a hang-up is never in doubt.
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<Shared>,
}

/// What the server, its connections and its exchanges share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) out: Outbox,
    pub(crate) state: watch::Sender<ModelState>,
    pub(crate) stop: CancellationToken,
    /// One permit for each release that no held stream has taken yet.
    pub(crate) releases: Semaphore,
    door: Door,
    exchanges: AtomicU64,
    memory: Mutex<Memory>,
}

/// What changes from request to request.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) turns: Turns,
    /// The exchanges of a recording, where these are served and not a script.
    cassette: Option<Cassette>,
    pub(crate) folder: Option<PathBuf>,
    /// What the profile says of the agent's tools.
    pub(crate) map: ToolMap,
    /// The name of the model that was asked for last.
    pub(crate) model: Option<String>,
    /// How many streams are held.
    pub(crate) held: usize,
}

impl ModelServer {
    /// Starts to serve a script; each exchange is reported to `out` as it happens, and no longer once `out` is
    /// closed. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// No port could be opened on 127.0.0.1.
    pub fn start(script: Script, out: Outbox) -> io::Result<Self> {
        Self::start_at(ANY_PORT, script, out)
    }

    /// The same on a port that is given.
    ///
    /// # Errors
    /// The port could not be opened on 127.0.0.1; [`io::ErrorKind::AddrInUse`] where somebody has it.
    pub fn start_at(port: u16, script: Script, out: Outbox) -> io::Result<Self> {
        Self::serving(port, Turns::new(script), None, out)
    }

    /// Starts to serve what the model of a recording replied: each request gets the reply that was recorded at its place.
    ///
    /// # Errors
    /// No port could be opened on 127.0.0.1.
    pub(crate) fn replaying(cassette: Cassette, out: Outbox) -> io::Result<Self> {
        match cassette.in_order() {
            Some(script) => Self::serving(ANY_PORT, Turns::new(script), None, out),
            None => Self::serving(ANY_PORT, Turns::new(Script::new()), Some(cassette), out),
        }
    }

    fn serving(
        port: u16,
        turns: Turns,
        cassette: Option<Cassette>,
        out: Outbox,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            out,
            state: watch::Sender::default(),
            stop: CancellationToken::new(),
            releases: Semaphore::new(0),
            door: Door::open(port)?,
            exchanges: AtomicU64::new(0),
            memory: Mutex::new(Memory {
                turns,
                cassette,
                folder: None,
                map: ToolMap::default(),
                model: None,
                held: 0,
            }),
        });
        tokio::spawn(serve(Arc::clone(&shared)));
        Ok(Self { shared })
    }

    /// Where it listens: `http://127.0.0.1:PORT`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.shared.door.address())
    }

    /// The variables by which an agent finds the model.
    pub fn environment(&self) -> BTreeMap<String, String> {
        environment(&self.base_url())
    }

    /// The model as an agent is to see it.
    pub(crate) fn access(&self) -> ModelAccess {
        ModelAccess {
            address: self.base_url(),
            variables: self.environment(),
        }
    }

    /// What the model was asked and did, as it changes.
    pub fn watch(&self) -> watch::Receiver<ModelState> {
        self.shared.state.subscribe()
    }

    /// The folder of the session: what relative paths are under, and what `{cwd}` stands for.
    pub fn set_folder(&self, path: &Path) {
        self.shared.memory().folder = Some(path.to_owned());
    }

    /// Which of the agent's tools serve the kinds of calls, where its profile says so.
    pub fn set_tools(&self, map: ToolMap) {
        self.shared.memory().map = map;
    }

    /// Says that [`note_prompt`](Self::note_prompt) will be called before every prompt, so that a request that comes before
    /// the first is no turn of the script: agents warm their connection up, or look whether the model is there.
    pub fn tell_prompts(&self) {
        self.shared.memory().turns.prompts_are_told();
    }

    /// Says that this prompt is about to be sent in this session, by any name that tells sessions apart (that of the
    /// replies that name one). To be called before every prompt: a turn whose reply is `refused`
    /// begins and ends with it, a failure before it is over (the same prompt again is no retry), a release that no
    /// held stream took is void, and a request that speaks of titles because the prompt does is still a turn.
    ///
    /// # Errors
    /// What the system says when the port cannot be closed or opened again.
    pub fn note_prompt(&self, session: &str, text: &str) -> io::Result<()> {
        self.shared
            .releases
            .forget_permits(self.shared.releases.available_permits());
        let mut memory = self.shared.memory();
        memory.turns.note_prompt(session, text);
        if let Some(cassette) = &mut memory.cassette {
            cassette.note_prompt(text);
        }
        self.shared.follow(&memory)
    }

    /// Ends a refused turn if there is one; else releases the stream that has been held longest, or, if none is held
    /// yet, the next one as soon as it comes to its hold.
    ///
    /// # Errors
    /// What the system says when the port cannot be opened again.
    pub fn release(&self) -> io::Result<()> {
        let mut memory = self.shared.memory();
        if memory.turns.pass_refused() {
            return self.shared.follow(&memory);
        }
        self.shared.releases.add_permits(1);
        Ok(())
    }

    /// Closes the port and every connection.
    pub fn stop(&self) {
        self.shared.door.remove();
        self.shared.stop.cancel();
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Memory {
    /// What this request is answered with.
    pub(crate) fn take(&mut self, asked: &Asked) -> Turn {
        match &mut self.cassette {
            Some(cassette) => cassette.take(asked),
            None => self.turns.take(asked),
        }
    }

    /// What is to be known about the requests so far, a sentence each.
    pub(crate) fn told(&self) -> &[String] {
        self.cassette.as_ref().map_or(&[], Cassette::told)
    }

    fn used(&self) -> usize {
        match &self.cassette {
            Some(cassette) => cassette.used(),
            None => self.turns.used(),
        }
    }
}

impl Shared {
    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a new exchange, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.exchanges.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Brings the port and the state that others see in step with the place in the script.
    pub(crate) fn follow(&self, memory: &Memory) -> io::Result<()> {
        let used = memory.used();
        let held = memory.held > 0;
        self.state.send_if_modified(|state| {
            let changed = state.used != used || state.holding != held;
            (state.used, state.holding) = (used, held);
            changed
        });
        if self.door.set(memory.turns.shut())? {
            // Nobody sees a connection that is refused, so the trace says from when on it is.
            let part = ExchangePart::End(ExchangeEnd::Refused);
            let exchange = Exchange {
                exchange: self.number(),
                part,
            };
            let _ = self
                .out
                .try_send(Observed::now(Party::Model, Body::Model(exchange)));
        }
        Ok(())
    }
}

async fn serve(shared: Arc<Shared>) {
    loop {
        let accepted = tokio::select! {
            () = shared.stop.cancelled() => return,
            accepted = shared.door.accept() => accepted,
        };
        match accepted {
            Ok((stream, open)) => {
                tokio::spawn(connection(Arc::clone(&shared), stream, open));
            }
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream, open: CancellationToken) {
    // Chunks go out as they are written; without this the agent would see them late, at worst.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| exchange::answer(Arc::clone(&shared), request));
    let mut connection =
        pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    // How a connection ends is told by its exchange; a broken one without a request tells nothing.
    tokio::select! {
        () = shared.stop.cancelled() => return,
        _ = connection.as_mut() => return,
        () = open.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        () = shared.stop.cancelled() => {}
        _ = connection => {}
    }
}
