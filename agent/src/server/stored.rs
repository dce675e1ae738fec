//! `session/list`, `session/close` and `session/delete`: sessions that nobody has to have open.

use std::sync::Arc;

use agent_client_protocol::Error;
use serde_json::{Map, Value, json};

use super::{Responder, Server, failed, invalid, lock, quote, refused};
use crate::store::{self, Refusal, Stored};

/// Sessions in one answer.
const PAGE: usize = 50;

/// What stands between the two parts of a cursor.
const BORDER: char = ' ';

impl Server {
    pub(super) fn list_sessions(
        self: &Arc<Self>,
        params: Map<String, Value>,
        responder: Responder,
    ) {
        let server = Arc::clone(self);
        self.answer_later(responder, async move {
            let sessions = match &server.store {
                Some(store) => store
                    .list()
                    .map_err(|error| failed(&format!("the sessions cannot be read: {error}")))?,
                None => Vec::new(),
            };
            Ok((page(&sessions, &params)?, || {}))
        });
    }

    pub(super) fn close_session(
        self: &Arc<Self>,
        params: Map<String, Value>,
        responder: Responder,
    ) {
        let server = Arc::clone(self);
        self.answer_later(responder, async move {
            let id = id_of(&params)?;
            if server.close(id).await {
                return Ok((json!({}), || {}));
            }
            Err(refused(&Refusal::Unknown, quote(id)))
        });
    }

    pub(super) fn delete_session(
        self: &Arc<Self>,
        params: Map<String, Value>,
        responder: Responder,
    ) {
        let server = Arc::clone(self);
        self.answer_later(responder, async move {
            let id = id_of(&params)?;
            server.close(id).await;
            if let Some(store) = &server.store {
                store
                    .delete(id)
                    .map_err(|refusal| refused(&refusal, quote(id)))?;
            }
            Ok((json!({}), || {}))
        });
    }

    /// Ends a session in this process: its turns are cancelled and answered, its servers have
    /// ended, and its state is on disk. Says whether it was open.
    pub(super) async fn close(&self, id: &str) -> bool {
        let Some(session) = lock(&self.sessions).by_id.remove(id) else {
            return false;
        };
        session.cancel();
        session.ended_turns().await;
        session.servers.end().await;
        session.save();
        true
    }
}

fn id_of(params: &Map<String, Value>) -> Result<&str, Error> {
    params
        .get("sessionId")
        .and_then(Value::as_str)
        .ok_or_else(|| invalid("`sessionId` is needed, a string"))
}

/// One page of the sessions, which are sorted.
fn page(sessions: &[Stored], params: &Map<String, Value>) -> Result<Value, Error> {
    let text = |name: &str| match params.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(invalid(&format!("`{name}` must be a string"))),
    };
    let cwd = text("cwd")?;
    let after = match text("cursor")? {
        None => None,
        Some(cursor) => Some(
            cursor
                .split_once(BORDER)
                .ok_or_else(|| invalid("`cursor` is none that was given out"))?,
        ),
    };
    let mut wanted = sessions
        .iter()
        .filter(|stored| cwd.is_none_or(|cwd| stored.cwd.as_os_str() == cwd))
        .filter(|stored| after.is_none_or(|after| store::key(stored) < after));
    let page: Vec<&Stored> = wanted.by_ref().take(PAGE).collect();
    let entries: Vec<Value> = page.iter().map(|stored| entry(stored)).collect();
    let mut result = Map::new();
    result.insert("sessions".to_owned(), Value::Array(entries));
    if let (Some(last), Some(_)) = (page.last(), wanted.next()) {
        let (updated, id) = store::key(last);
        result.insert(
            "nextCursor".to_owned(),
            format!("{updated}{BORDER}{id}").into(),
        );
    }
    Ok(Value::Object(result))
}

fn entry(stored: &Stored) -> Value {
    let mut entry = Map::new();
    entry.insert("sessionId".to_owned(), stored.id.clone().into());
    entry.insert("cwd".to_owned(), stored.cwd.to_string_lossy().into());
    if !stored.kept.directories.is_empty() {
        let folders: Vec<Value> = stored
            .kept
            .directories
            .iter()
            .map(|folder| folder.to_string_lossy().into())
            .collect();
        entry.insert("additionalDirectories".to_owned(), folders.into());
    }
    if let Some(title) = &stored.kept.title {
        entry.insert("title".to_owned(), title.clone().into());
    }
    entry.insert("updatedAt".to_owned(), stored.kept.updated.clone().into());
    Value::Object(entry)
}
