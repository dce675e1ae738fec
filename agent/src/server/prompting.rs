//! `session/prompt`.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::Error;
use serde_json::{Map, Value};

use super::{Responder, Server, failed, invalid};
use crate::client::Client;
use crate::log;
use crate::prompt;
use crate::session::Session;
use crate::turn::{self, End, Outcome};
use crate::usage::Tokens;

impl Server {
    pub(super) fn prompt(
        &self,
        params: Map<String, Value>,
        responder: Responder,
        client: Client,
    ) -> Result<(), Error> {
        match self.read_prompt(params) {
            Ok((session, prompt)) => {
                self.start_turn(&session, prompt, responder, client);
                Ok(())
            }
            Err(error) => responder.respond_with_error(error),
        }
    }

    fn read_prompt(&self, mut params: Map<String, Value>) -> Result<(Arc<Session>, String), Error> {
        let blocks = params.remove("prompt");
        let session = self.named(&params)?;
        let blocks = blocks
            .as_ref()
            .and_then(Value::as_array)
            .ok_or_else(|| invalid("`prompt` is needed, a list of content blocks"))?;
        let rich = self.parts().rich_prompts;
        let directories = session.with_kept(|kept| kept.directories.clone());
        let mut folders = vec![session.cwd.as_path()];
        folders.extend(directories.iter().map(PathBuf::as_path));
        let home = self.options.home.as_deref();
        let prompt =
            prompt::flatten(blocks, rich, &folders, home).map_err(|reason| invalid(&reason))?;
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
                // The place may come at the moment of the cancel.
                if ticket.cancel.is_cancelled() {
                    return Outcome::from(End::Cancelled);
                }
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
