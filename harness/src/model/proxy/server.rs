//! The port that the agent's base URLs lead to.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::exchange;
use super::reach::Reach;
use super::upstream::Upstreams;
use crate::agent::ModelAccess;
use crate::model::variables::environment;
use crate::trace::{Body, Observed, Outbox, Party};

/// How long a connection to a server upstream may take to come about.
const CONNECT: Duration = Duration::from_secs(30);
/// How long a connection upstream is kept for the next request: shorter than servers do, so that none is used that is
/// about to be closed.
const IDLE: Duration = Duration::from_secs(4);
/// The pause after the system could not give a connection (too many open files).
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);
/// Certificates beside the usual ones, as many programs know them.
const CERTIFICATES: &str = "SSL_CERT_FILE";

/// Where the parts of exchanges are told.
pub(crate) trait Witness: Send + Sync + 'static {
    /// Takes what was seen. The traffic waits until this is done.
    fn saw(&self, observed: Observed) -> BoxFuture<'_, ()>;
}

impl Witness for Outbox {
    fn saw(&self, observed: Observed) -> BoxFuture<'_, ()> {
        // Once nobody listens, silently not.
        Box::pin(async { drop(self.send(observed).await) })
    }
}

/// A proxy that listens on loopback. Dropping it closes everything.
pub(crate) struct ModelProxy {
    shared: Arc<Shared>,
    address: SocketAddr,
}

/// What the proxy, its connections and its exchanges share.
pub(super) struct Shared {
    pub(super) upstreams: Upstreams,
    pub(super) client: reqwest::Client,
    pub(super) stop: CancellationToken,
    pub(super) exchanges: TaskTracker,
    witness: Box<dyn Witness>,
    last: AtomicU64,
    reach: Mutex<Reach>,
}

impl ModelProxy {
    /// Starts to pass requests on to `upstreams`, on this port, or one of the system's choice. Must be called within a
    /// Tokio runtime.
    ///
    /// # Errors
    /// The port cannot be opened on 127.0.0.1, or the client of the servers upstream cannot be made.
    pub(crate) async fn start(
        upstreams: Upstreams,
        port: Option<u16>,
        witness: impl Witness,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstreams,
            client: client()?,
            stop: CancellationToken::new(),
            exchanges: TaskTracker::new(),
            witness: Box::new(witness),
            last: AtomicU64::new(0),
            reach: Mutex::default(),
        });
        tokio::spawn(serve(Arc::clone(&shared), listener));
        Ok(Self { shared, address })
    }

    /// Where it listens: `http://127.0.0.1:PORT`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The variables with base URLs that lead an agent here: those of the families that have a server upstream.
    pub(crate) fn base_urls(&self) -> BTreeMap<String, String> {
        let address = self.base_url();
        let mut variables = environment(&address);
        variables.retain(|name, value| {
            value.starts_with(&address) && self.shared.upstreams.is_led_by(name)
        });
        variables
    }

    /// The model as an agent in a fresh home is to see it: with a key that opens nothing, which is enough for a server that
    /// wants none.
    pub(crate) fn access(&self) -> ModelAccess {
        let address = self.base_url();
        ModelAccess {
            variables: environment(&address),
            address,
        }
    }

    /// What came of the requests so far.
    pub(crate) fn reach(&self) -> Reach {
        self.shared.reach(|reach| reach.clone())
    }

    /// Waits until the exchanges that are open have ended, for so long at most.
    pub(crate) async fn settle(&self, patience: Duration) {
        self.shared.exchanges.close();
        // What is still open then is cut by the end of the program.
        let _ = tokio::time::timeout(patience, self.shared.exchanges.wait()).await;
    }
}

impl Drop for ModelProxy {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

impl Shared {
    /// The number of a new exchange, from 1.
    pub(super) fn number(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Looks at what came of the requests, or adds to it.
    pub(super) fn reach<T>(&self, take: impl FnOnce(&mut Reach) -> T) -> T {
        take(&mut self.reach.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) async fn tell(&self, body: Body) {
        self.witness.saw(Observed::now(Party::Model, body)).await;
    }
}

/// The client of the servers upstream. It goes where it is sent and nowhere else, and takes its time.
fn client() -> io::Result<reqwest::Client> {
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true);
    let bundle = std::env::var_os(CERTIFICATES).and_then(|file| std::fs::read(file).ok());
    for certificate in bundle
        .and_then(|pem| reqwest::Certificate::from_pem_bundle(&pem).ok())
        .unwrap_or_default()
    {
        builder = builder.add_root_certificate(certificate);
    }
    builder.build().map_err(io::Error::other)
}

async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        let accepted = tokio::select! {
            () = shared.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        // Chunks go on as they come; without this the agent would see them late, at worst.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| exchange::pass(Arc::clone(&shared), request));
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // How a connection ends is told by its exchange.
            tokio::select! {
                () = shared.stop.cancelled() => {}
                _ = connection => {}
            }
        });
    }
}
