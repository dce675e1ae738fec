//! The ACP methods: what each request and notification of the client leads to.

mod choosing;
mod hello;
mod login;
mod opening;
mod prompting;
mod stored;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::{self as acp, Agent, Channel, Error, UntypedMessage, v1};
use futures::future::join_all;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::announced::Announced;
use crate::client::Client;
use crate::fault::{self, Hook};
use crate::login::{Auth, Login};
use crate::model;
use crate::session::Session;
use crate::settings::Settings;
use crate::store::{Refusal, Store};
use crate::surface::{Parts, Surface};
use crate::transport::Gate;
use crate::turn::CallIds;

/// How long running turns may take to end once the process has to.
const LAST_TURNS: Duration = Duration::from_secs(1);

/// How long the MCP servers may take to end after that.
const LAST_SERVERS: Duration = Duration::from_secs(1);

/// How much of a client's own text goes into the data of an error.
const QUOTE_LIMIT: usize = 256;

/// What the command line and the environment say.
pub(crate) struct Options {
    pub(crate) surface: Surface,
    /// The flags that choose a model.
    pub(crate) model: model::Flags,
    pub(crate) model_server: model::Server,
    /// The settings of `--config`, which stand for those of every session's folder.
    pub(crate) settings: Option<Settings>,
    pub(crate) home: Option<PathBuf>,
    /// Where a surface that stores sessions does so.
    pub(crate) state: Option<PathBuf>,
    /// How the user logs in, on a surface with logins.
    pub(crate) auth: Auth,
}

/// The agent at work.
pub(crate) struct Server {
    options: Options,
    initialized: AtomicBool,
    announced: Mutex<Announced>,
    login: Login,
    /// Where sessions are kept, on a surface that stores them.
    store: Option<Store>,
    sessions: Mutex<Sessions>,
    call_ids: Arc<CallIds>,
    /// One turn runs at a time; the others wait here in the order in which they came.
    turn_slot: Arc<Semaphore>,
    turns: TaskTracker,
    stop: CancellationToken,
}

#[derive(Default)]
struct Sessions {
    opened: u64,
    by_id: HashMap<String, Arc<Session>>,
}

type Responder = v1::Responder<Value>;

impl Server {
    pub(crate) fn new(options: Options) -> Arc<Self> {
        let stored = options.surface.parts().stored;
        let login = Login::new(options.auth, options.state.as_deref());
        let store = options.state.as_deref().filter(|_| stored).map(Store::new);
        Arc::new(Self {
            options,
            login,
            store,
            initialized: AtomicBool::new(false),
            announced: Mutex::default(),
            sessions: Mutex::default(),
            call_ids: Arc::default(),
            turn_slot: Arc::new(Semaphore::new(1)),
            turns: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    /// Serves one client until its input ends or `told_to_stop` does. Running turns are then
    /// cancelled and answered.
    ///
    /// # Errors
    ///
    /// Returns the SDK's error if the connection broke in another way.
    pub(crate) async fn serve(
        self: Arc<Self>,
        channel: Channel,
        gate: Arc<Gate>,
        told_to_stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let (requests, notifications) = (Arc::clone(&self), Arc::clone(&self));
        Agent
            .v1()
            .name("bob")
            .on_receive_request(
                async move |message: UntypedMessage, responder: Responder, cx| {
                    let client = Client::new(cx, Arc::clone(&gate));
                    requests.request(message, responder, client)
                },
                acp::on_receive_request!(),
            )
            .on_receive_notification(
                async move |message: UntypedMessage, _cx| {
                    notifications.notification(&message);
                    Ok(())
                },
                acp::on_receive_notification!(),
            )
            .connect_with(channel, async |cx: v1::ConnectionTo<acp::Client>| {
                tokio::select! {
                    () = cx.incoming_closed() => {}
                    () = told_to_stop => {}
                }
                self.stop.cancel();
                self.turns.close();
                // A turn that does not end in time is dropped with the runtime, tools and all.
                let _ = tokio::time::timeout(LAST_TURNS, self.turns.wait()).await;
                let _ = tokio::time::timeout(LAST_SERVERS, self.end_servers()).await;
                Ok(())
            })
            .await
    }

    /// Ends the MCP servers of all sessions.
    async fn end_servers(&self) {
        let sessions: Vec<Arc<Session>> = lock(&self.sessions).by_id.values().cloned().collect();
        join_all(sessions.iter().map(|session| session.servers.end())).await;
    }

    /// What the surface has.
    fn parts(&self) -> &'static Parts {
        self.options.surface.parts()
    }

    /// Answers a request, or leaves that to a task. Runs on the dispatch loop, so it never waits.
    fn request(
        self: &Arc<Self>,
        message: UntypedMessage,
        responder: Responder,
        client: Client,
    ) -> Result<(), Error> {
        let (method, params) = message.into_parts();
        let params = match params {
            Value::Object(params) => params,
            Value::Null => Map::new(),
            _ => return responder.respond_with_error(invalid("params must be an object")),
        };
        let known = self.parts().methods.contains(&method.as_str());
        if !known || (method == "logout" && !self.has_logins()) {
            return responder.respond_with_error(
                Error::new(-32601, "Method not found").data(json!({ "method": quote(&method) })),
            );
        }
        if method != "initialize" && !self.initialized.load(Ordering::Relaxed) {
            let reason = json!({ "error": "`initialize` comes first" });
            return responder.respond_with_error(Error::invalid_request().data(reason));
        }
        match method.as_str() {
            "initialize" => responder.respond(self.initialize(&params)),
            "authenticate" => responder.respond_with_result(self.authenticate(&params)),
            "logout" => responder.respond_with_result(self.log_out()),
            "session/new" => self.new_session(&params, responder, &client),
            "session/set_mode" => self.set_mode(&params, responder, &client),
            "session/set_config_option" => self.set_option(&params, responder, &client),
            "session/load" | "session/resume" => {
                let replay = method == "session/load";
                self.reopen_session(params, replay, responder, client);
                Ok(())
            }
            "session/list" => {
                self.list_sessions(params, responder);
                Ok(())
            }
            "session/close" => {
                self.close_session(params, responder);
                Ok(())
            }
            "session/delete" => {
                self.delete_session(params, responder);
                Ok(())
            }
            _ => self.prompt(params, responder, client),
        }
    }

    /// Answers a request from a task of its own: by what `work` leads to, or as cancelled once the
    /// client asked for that. What `work` returns beside its result is done after the answer.
    fn answer_later<After: FnOnce() + Send>(
        &self,
        responder: Responder,
        work: impl Future<Output = Result<(Value, After), Error>> + Send + 'static,
    ) {
        let cancellation = responder.cancellation();
        self.turns.spawn(async move {
            let done = tokio::select! {
                biased;
                () = cancellation.cancelled() => Err(Error::request_cancelled()),
                done = work => done,
            };
            // A client that is gone takes no answer.
            match done {
                Ok((result, after)) => {
                    if responder.respond(result).is_ok() {
                        after();
                    }
                }
                Err(error) => {
                    let _ = responder.respond_with_error(error);
                }
            }
        });
    }

    /// Notifications are never answered, whatever they hold.
    fn notification(&self, message: &UntypedMessage) {
        if message.method() != "session/cancel" {
            return;
        }
        if fault::is_on(Hook::CancelsAll) {
            lock(&self.sessions)
                .by_id
                .values()
                .for_each(|session| session.cancel());
            return;
        }
        let id = message.params().get("sessionId").and_then(Value::as_str);
        if let Some(session) = id.and_then(|id| self.session(id)) {
            session.cancel();
        }
    }

    /// The session that the parameters name.
    fn named(&self, params: &Map<String, Value>) -> Result<Arc<Session>, Error> {
        let id = params
            .get("sessionId")
            .and_then(Value::as_str)
            .ok_or_else(|| invalid("`sessionId` is needed, a string"))?;
        self.session(id).ok_or_else(|| {
            Error::new(-32602, "Invalid params").data(json!({ "sessionId": quote(id) }))
        })
    }

    fn session(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).by_id.get(id).cloned()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error for a session on disk that cannot be had.
fn refused(refusal: &Refusal, id: &str) -> Error {
    match refusal {
        Refusal::Unknown => {
            Error::new(-32002, "Resource not found").data(json!({ "sessionId": id }))
        }
        refusal => failed(&refusal.to_string()),
    }
}

fn invalid(reason: &str) -> Error {
    Error::new(-32602, "Invalid params").data(json!({ "error": reason }))
}

fn failed(reason: &str) -> Error {
    Error::new(-32603, "Internal error").data(json!({ "error": reason }))
}

fn quote(text: &str) -> &str {
    match text.char_indices().nth(QUOTE_LIMIT) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}
