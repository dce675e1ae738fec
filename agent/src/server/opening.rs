//! `session/new`, `session/load` and `session/resume`: how a session comes to be open.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::Error;
use serde_json::{Map, Value};

use super::{Responder, Server, failed, invalid, lock, quote, refused};
use crate::client::{Client, Update};
use crate::fault::{self, Hook};
use crate::history::History;
use crate::kept::Kept;
use crate::log;
use crate::mcp;
use crate::model::{Choice, Slot};
use crate::modes;
use crate::options::Chosen;
use crate::session::{Beginning, Session};
use crate::settings::Settings;
use crate::store::Claim;
use crate::system_prompt;
use crate::turn::cost_of;
use crate::update;

/// Where a session works.
struct Place {
    cwd: PathBuf,
    directories: Vec<PathBuf>,
    settings: Settings,
    model: Slot,
    /// The MCP servers that the client named, where the surface connects them.
    servers: Vec<mcp::Config>,
    /// How many it named where the surface does not.
    ignored: usize,
}

impl Server {
    pub(super) fn new_session(
        &self,
        params: &Map<String, Value>,
        responder: Responder,
        client: &Client,
    ) -> Result<(), Error> {
        let session = match self.begin_session(params) {
            Ok(session) => session,
            Err(error) => return responder.respond_with_error(error),
        };
        let mut result = Map::new();
        result.insert("sessionId".to_owned(), (&*session.id).into());
        add_choices(&session, &mut result);
        responder.respond(Value::Object(result))?;
        // Only now: a client drops updates for a session that it does not know yet.
        tell_commands(&session, client);
        Ok(())
    }

    fn begin_session(&self, params: &Map<String, Value>) -> Result<Arc<Session>, Error> {
        let place = self.place(params)?;
        let (id, claim) = self.unused_id()?;
        let kept = Kept::new(Chosen::new(place.model.kind()), place.directories.clone());
        let session = self.session_in(place, id, kept, History::default(), claim);
        session.save();
        self.add(&session);
        Ok(session)
    }

    /// The next id, which on a surface that stores sessions no other process has.
    fn unused_id(&self) -> Result<(Arc<str>, Option<Claim>), Error> {
        let mut sessions = lock(&self.sessions);
        loop {
            sessions.opened += 1;
            let id: Arc<str> = format!("bob-{}-{}", std::process::id(), sessions.opened).into();
            let Some(store) = &self.store else {
                return Ok((id, None));
            };
            let claim = store
                .create(&id)
                .map_err(|error| failed(&format!("the session cannot be stored: {error}")))?;
            if claim.is_some() {
                return Ok((id, claim));
            }
        }
    }

    /// Opens a session that is on disk, and shows what it holds if `replay` says so.
    pub(super) fn reopen_session(
        self: &Arc<Self>,
        params: Map<String, Value>,
        replay: bool,
        responder: Responder,
        client: Client,
    ) {
        let server = Arc::clone(self);
        self.answer_later(responder, async move {
            let session = server.stored_session(&params).await?;
            if replay {
                let mut shown = session.with_kept(|kept| kept.shown.updates().to_vec());
                if fault::is_on(Hook::ReplaysBackwards) {
                    shown.reverse();
                }
                for update in shown {
                    client.ready().await;
                    client.send(&session.id, Update::Other(update));
                }
            }
            // A list tells the folders that the session has now.
            session.save();
            server.add(&session);
            let mut result = Map::new();
            add_choices(&session, &mut result);
            let after = move || {
                tell_commands(&session, &client);
                tell_usage(&session, &client);
            };
            Ok((Value::Object(result), after))
        });
    }

    async fn stored_session(&self, params: &Map<String, Value>) -> Result<Arc<Session>, Error> {
        let place = self.place(params)?;
        let id = params
            .get("sessionId")
            .and_then(Value::as_str)
            .ok_or_else(|| invalid("`sessionId` is needed, a string"))?;
        let store = self
            .store
            .as_ref()
            .ok_or_else(|| failed("nothing is stored"))?;
        // One that is open here already is opened anew, with what this request says.
        self.close(id).await;
        let (claim, mut stored) = store
            .open(id)
            .map_err(|refusal| refused(&refusal, quote(id)))?;
        if !fault::is_on(Hook::FoldersComeBack) {
            stored.kept.directories.clone_from(&place.directories);
        }
        if fault::is_on(Hook::ReopensEmpty) {
            stored.history = History::default();
        }
        let model = stored.kept.chosen.model;
        place
            .model
            .change(model)
            .map_err(|failure| failed(&failure.to_string()))?;
        self.call_ids.skip_to(stored.kept.shown.last_call());
        let (kept, history) = (stored.kept, stored.history);
        Ok(self.session_in(place, stored.id.into(), kept, history, Some(claim)))
    }

    fn place(&self, params: &Map<String, Value>) -> Result<Place, Error> {
        self.check_login()?;
        let cwd = match params.get("cwd").and_then(Value::as_str) {
            Some(cwd) if cwd.starts_with('/') => PathBuf::from(cwd),
            Some(_) => return Err(invalid("`cwd` must be an absolute path")),
            None => return Err(invalid("`cwd` is needed, an absolute path")),
        };
        let directories = if self.store.is_some() {
            directories(params)?
        } else {
            Vec::new()
        };
        let settings = match &self.options.settings {
            Some(settings) => settings.clone(),
            None => Settings::of_folder(&cwd).map_err(|error| failed(&error.to_string()))?,
        };
        let server = &self.options.model_server;
        let choice = Choice::new(&self.options.model, &settings.model, server);
        let model =
            Slot::new(choice, server.clone()).map_err(|failure| failed(&failure.to_string()))?;
        let (servers, ignored) = if self.parts().mcp {
            (mcp::read(params).map_err(|reason| invalid(&reason))?, 0)
        } else {
            let named = params.get("mcpServers").and_then(Value::as_array);
            (Vec::new(), named.map_or(0, Vec::len))
        };
        Ok(Place {
            cwd,
            directories,
            settings,
            model,
            servers,
            ignored,
        })
    }

    fn session_in(
        &self,
        place: Place,
        id: Arc<str>,
        kept: Kept,
        mut history: History,
        claim: Option<Claim>,
    ) -> Arc<Session> {
        if place.ignored > 0 {
            log::acp(format_args!(
                "session {id}: {} MCP server(s) ignored",
                place.ignored
            ));
        }
        let servers = mcp::Servers::new(Arc::clone(&id), place.servers, place.cwd.clone());
        servers.start();
        history.system = system_prompt::of_folder(&place.cwd, &place.directories);
        Arc::new(Session::new(Beginning {
            id,
            cwd: place.cwd,
            settings: place.settings,
            model: place.model,
            parts: self.parts(),
            announced: *lock(&self.announced),
            servers,
            claim,
            history,
            kept,
        }))
    }

    fn add(&self, session: &Arc<Session>) {
        let id = session.id.to_string();
        lock(&self.sessions).by_id.insert(id, Arc::clone(session));
    }
}

/// The folders beside the session's own: none, or a list of absolute paths.
fn directories(params: &Map<String, Value>) -> Result<Vec<PathBuf>, Error> {
    let reason = "`additionalDirectories` must be a list of absolute paths";
    let list = match params.get("additionalDirectories") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(list) => list.as_array().ok_or_else(|| invalid(reason))?,
    };
    list.iter()
        .map(|entry| match entry.as_str() {
            Some(path) if path.starts_with('/') => Ok(PathBuf::from(path)),
            _ => Err(invalid(reason)),
        })
        .collect()
}

/// The modes and options in the result of a request that opens a session.
fn add_choices(session: &Session, result: &mut Map<String, Value>) {
    if !session.parts.options {
        return;
    }
    let chosen = session.chosen();
    let booleans = session.announced.boolean_options;
    result.insert("modes".to_owned(), modes::state(chosen.mode));
    result.insert("configOptions".to_owned(), chosen.options(booleans));
}

fn tell_commands(session: &Session, client: &Client) {
    if let Some(commands) = session.changed_commands() {
        client.owe();
        client.send(&session.id, Update::Other(commands));
    }
}

/// What a session that was opened again has used.
fn tell_usage(session: &Session, client: &Client) {
    let used = session.used_tokens();
    let window = session.settings.context.window;
    let cost = session.with_kept(|kept| cost_of(kept.spent));
    client.owe();
    let update = update::usage(used, window, Some(cost));
    client.send(&session.id, Update::Other(update));
}
