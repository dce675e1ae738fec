//! The proxy for the agent's model: in this process, on a thread of its own.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::runtime::{Builder, Runtime};

use super::journal::{note, say, say_if_it_hangs};
use super::queue::{Queue, Seen};
use crate::agent::{LOOPBACK, NO_PROXY, Variables};
use crate::model::{ModelProxy, Upstreams, Witness};
use crate::trace::Observed;

/// How long the exchanges that the agent left open may take to be told once it has exited.
const PATIENCE: Duration = Duration::from_millis(500);

/// The variables that lead to a proxy of the network for plain HTTP.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// The real model servers, and how the agent gets to them.
#[derive(Clone, Debug)]
pub struct Models {
    /// The servers.
    pub upstreams: Upstreams,
    /// The port that the agent finds them at; `None`: one of the system's choice.
    pub port: Option<u16>,
}

/// The proxy that runs.
pub(super) struct Proxy {
    runtime: Runtime,
    proxy: ModelProxy,
}

impl Proxy {
    /// Starts it. If that cannot be, it is said on stderr, and the agent goes to its model as without a recorder.
    pub(super) fn start(models: Models, queue: &Arc<Queue>, verbose: bool) -> Option<Self> {
        let started = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .and_then(|runtime| {
                let keeper = Keeper(Arc::clone(queue));
                let proxy = ModelProxy::start(models.upstreams, models.port, keeper);
                let proxy = runtime.block_on(proxy)?;
                Ok(Self { runtime, proxy })
            });
        match started {
            Ok(started) => {
                if verbose {
                    note(&format!("the model is at `{}`", started.proxy.base_url()));
                }
                Some(started)
            }
            Err(error) => {
                say(&format!(
                    "there is no proxy for the model ({error}): its exchanges are not recorded"
                ));
                None
            }
        }
    }

    /// The variables of the agent that differ from the recorder's own: the base URLs, and where a proxy of the network is
    /// used, that it does not lead to this one.
    pub(super) fn variables(&self) -> Variables {
        let base_urls = self.proxy.base_urls().into_iter();
        let mut variables: Variables = base_urls
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let behind_proxy = PROXIES.iter().any(|name| env::var_os(name).is_some());
        for name in NO_PROXY.into_iter().filter(|_| behind_proxy) {
            let mut hosts = env::var_os(name).unwrap_or_default();
            if !hosts.is_empty() {
                hosts.push(",");
            }
            hosts.push(LOOPBACK);
            variables.insert(name.into(), hosts);
        }
        variables
    }

    /// Ends it, once what the agent left open is told.
    pub(super) fn finish(self) {
        self.runtime.block_on(self.proxy.settle(PATIENCE));
        if let Some(why) = self.proxy.reach().nobody() {
            note(&format!("harness: {why}"));
        }
        drop(self.proxy);
        self.runtime.shutdown_background();
    }
}

/// Puts what passes into the queue. It is held up no longer than the streams of the agent are.
struct Keeper(Arc<Queue>);

impl Witness for Keeper {
    fn saw(&self, observed: Observed) -> BoxFuture<'_, ()> {
        let seen = Seen::Model(Box::new(observed.body));
        if !self.0.put(observed.at, seen, b"") {
            let queue = Arc::clone(&self.0);
            std::thread::spawn(move || say_if_it_hangs(&queue));
        }
        self.0.wake();
        Box::pin(std::future::ready(()))
    }
}
