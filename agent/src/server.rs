//! The ACP methods: what each request and notification of the client leads to.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::{self as acp, Agent, Channel, Error, UntypedMessage, v1};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::{Client, Update};
use crate::log;
use crate::model::{self, Choice, Slot};
use crate::prompt;
use crate::session::Session;
use crate::settings::Settings;
use crate::surface::Surface;
use crate::system_prompt;
use crate::transport::Gate;
use crate::turn::{self, CallIds, End, Outcome};
use crate::update;
use crate::usage::Tokens;

/// How long running turns may take to end once the process has to.
const LAST_TURNS: Duration = Duration::from_secs(1);

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
}

/// The agent at work.
pub(crate) struct Server {
    options: Options,
    initialized: AtomicBool,
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
        Arc::new(Self {
            options,
            initialized: AtomicBool::new(false),
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
                Ok(())
            })
            .await
    }

    /// Answers a request, or leaves that to a task. Runs on the dispatch loop, so it never waits.
    fn request(
        &self,
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
        let too_early = !self.initialized.load(Ordering::Relaxed);
        match method.as_str() {
            "authenticate" | "session/new" | "session/prompt" if too_early => {
                let reason = json!({ "error": "`initialize` comes first" });
                responder.respond_with_error(Error::invalid_request().data(reason))
            }
            "initialize" => responder.respond(self.initialize(&params)),
            "authenticate" => responder.respond(json!({})),
            "session/new" => match self.new_session(&params) {
                Ok(session) => {
                    responder.respond(json!({ "sessionId": &*session.id }))?;
                    // Only now: a client drops updates for a session that it does not know yet.
                    client.owe();
                    client.send(
                        &session.id,
                        Update::Other(update::available_commands(session.parts, &session.cwd)),
                    );
                    Ok(())
                }
                Err(error) => responder.respond_with_error(error),
            },
            "session/prompt" => match self.prompt(params) {
                Ok((session, prompt)) => {
                    self.start_turn(&session, prompt, responder, client);
                    Ok(())
                }
                Err(error) => responder.respond_with_error(error),
            },
            _ => responder.respond_with_error(
                Error::new(-32601, "Method not found").data(json!({ "method": quote(&method) })),
            ),
        }
    }

    /// Notifications are never answered, whatever they hold.
    fn notification(&self, message: &UntypedMessage) {
        if message.method() != "session/cancel" {
            return;
        }
        let id = message.params().get("sessionId").and_then(Value::as_str);
        if let Some(session) = id.and_then(|id| self.session(id)) {
            session.cancel();
        }
    }

    fn initialize(&self, params: &Map<String, Value>) -> Value {
        let info = params.get("clientInfo");
        let member = |name: &str| info.and_then(|info| info.get(name)?.as_str());
        let client = match (member("name"), member("version")) {
            (Some(name), Some(version)) => format!("{name} {version}"),
            (Some(name), None) => name.to_owned(),
            _ => "unknown".to_owned(),
        };
        log::acp(format_args!("client {client}, protocol 1"));
        self.initialized.store(true, Ordering::Relaxed);
        json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "auth": {},
                "mcpCapabilities": {},
                "promptCapabilities": {},
                "sessionCapabilities": {},
            },
            "agentInfo": {
                "name": "bob",
                "title": "Bob (bash-first agent)",
                "version": self.options.surface.version(),
            },
            "authMethods": [],
        })
    }

    fn new_session(&self, params: &Map<String, Value>) -> Result<Arc<Session>, Error> {
        let cwd = match params.get("cwd").and_then(Value::as_str) {
            Some(cwd) if cwd.starts_with('/') => PathBuf::from(cwd),
            Some(_) => return Err(invalid("`cwd` must be an absolute path")),
            None => return Err(invalid("`cwd` is needed, an absolute path")),
        };
        let settings = match &self.options.settings {
            Some(settings) => settings.clone(),
            None => Settings::of_folder(&cwd).map_err(|error| failed(&error.to_string()))?,
        };
        let server = &self.options.model_server;
        let choice = Choice::new(&self.options.model, &settings.model, server);
        let model =
            Slot::new(choice, server.clone()).map_err(|failure| failed(&failure.to_string()))?;
        let servers = params
            .get("mcpServers")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);

        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.opened += 1;
        let id: Arc<str> = format!("bob-{}-{}", std::process::id(), sessions.opened).into();
        if servers > 0 {
            log::acp(format_args!(
                "session {id}: {servers} MCP server(s) ignored"
            ));
        }
        let system_prompt = system_prompt::of_folder(&cwd);
        let session = Arc::new(Session::new(
            Arc::clone(&id),
            cwd,
            system_prompt,
            settings,
            model,
            self.options.surface.parts(),
        ));
        sessions.by_id.insert(id.to_string(), Arc::clone(&session));
        Ok(session)
    }

    /// Reads the parameters of a prompt.
    fn prompt(&self, mut params: Map<String, Value>) -> Result<(Arc<Session>, String), Error> {
        let blocks = params.remove("prompt");
        let id = params
            .get("sessionId")
            .and_then(Value::as_str)
            .ok_or_else(|| invalid("`sessionId` is needed, a string"))?;
        let session = self.session(id).ok_or_else(|| {
            Error::new(-32602, "Invalid params").data(json!({ "sessionId": quote(id) }))
        })?;
        let blocks = blocks
            .as_ref()
            .and_then(Value::as_array)
            .ok_or_else(|| invalid("`prompt` is needed, a list of content blocks"))?;
        let prompt = prompt::flatten(blocks, &session.cwd, self.options.home.as_deref())
            .map_err(|reason| invalid(&reason))?;
        for path in prompt.attached {
            log::acp(format_args!("session {}: attached {path}", session.id));
        }
        Ok((session, prompt.text))
    }

    /// Runs a turn as a task of its own. A panic there drops the responder, which then answers
    /// with an internal error, and gives back everything else that the turn held.
    fn start_turn(
        &self,
        session: &Arc<Session>,
        prompt: String,
        responder: Responder,
        client: Client,
    ) {
        let ticket = session.begin_turn(&self.stop);
        let (slot, call_ids) = (Arc::clone(&self.turn_slot), Arc::clone(&self.call_ids));
        self.turns.spawn(async move {
            let asked_to_cancel = responder.cancellation();
            let turn = async {
                // Tasks of one thread are first polled in the order in which they were spawned,
                // and the semaphore is fair, so turns run in the order of their prompts.
                let Some(Ok(_place)) = ticket.cancel.run_until_cancelled(slot.acquire()).await
                else {
                    return Outcome::from(End::Cancelled);
                };
                turn::run(&client, &ticket, &call_ids, prompt).await
            };
            let forward = async {
                asked_to_cancel.cancelled().await;
                ticket.cancel.cancel();
                std::future::pending().await
            };
            let outcome = tokio::select! {
                biased;
                outcome = turn => outcome,
                outcome = forward => outcome,
            };
            drop(ticket);
            let answer = match outcome.end {
                End::Done => Ok(stopped("end_turn", outcome.usage)),
                End::Cancelled => Ok(stopped("cancelled", outcome.usage)),
                End::Failed(reason) => Err(failed(&reason)),
            };
            // A client that is gone takes no answer.
            let _ = responder.respond_with_result(answer);
        });
    }

    fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .by_id
            .get(id)
            .cloned()
    }
}

/// The result of a prompt.
fn stopped(reason: &str, usage: Option<Tokens>) -> Value {
    let mut result = Map::new();
    result.insert("stopReason".to_owned(), reason.into());
    if let Some(usage) = usage {
        result.insert("usage".to_owned(), usage.on_the_wire());
    }
    Value::Object(result)
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
