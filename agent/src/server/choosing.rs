//! `session/set_mode` and `session/set_config_option`: what the client chooses.

use agent_client_protocol::Error;
use serde_json::{Map, Value, json};

use super::{Responder, Server, failed, invalid, quote};
use crate::client::{Client, Update};
use crate::modes::{self, Mode};
use crate::options::Chosen;
use crate::session::Session;
use crate::update;

impl Server {
    pub(super) fn set_mode(
        &self,
        params: &Map<String, Value>,
        responder: Responder,
        client: &Client,
    ) -> Result<(), Error> {
        let change = self.named(params).and_then(|session| {
            let id = params.get("modeId").and_then(Value::as_str);
            let mode = id.and_then(Mode::find).ok_or_else(|| {
                let asked =
                    id.map_or_else(|| "nothing".to_owned(), |id| format!("`{}`", quote(id)));
                let known = modes::known();
                invalid(&format!("`modeId` is {asked}, expected one of {known}"))
            })?;
            Ok((session, mode))
        });
        let (session, mode) = match change {
            Ok(change) => change,
            Err(error) => return responder.respond_with_error(error),
        };
        let chosen = session.with_kept(|kept| {
            kept.chosen.mode = mode;
            kept.chosen
        });
        session.save();
        responder.respond(json!({}))?;
        // The mode is an option too, and a client that shows options has to see it there.
        let booleans = session.announced.boolean_options;
        tell(client, &session, update::config_options(&chosen, booleans));
        Ok(())
    }

    pub(super) fn set_option(
        &self,
        params: &Map<String, Value>,
        responder: Responder,
        client: &Client,
    ) -> Result<(), Error> {
        let change = self.named(params).and_then(|session| {
            let (before, after) = choose(&session, params)?;
            Ok((session, before, after))
        });
        let (session, before, after) = match change {
            Ok(change) => change,
            Err(error) => return responder.respond_with_error(error),
        };
        let booleans = session.announced.boolean_options;
        session.save();
        responder.respond(json!({ "configOptions": after.options(booleans) }))?;
        if before.mode != after.mode {
            // A client that shows modes has to see it there.
            tell(client, &session, update::current_mode(after.mode));
        }
        Ok(())
    }
}

/// Sets the option that the parameters name, and returns the choices before and after.
fn choose(session: &Session, params: &Map<String, Value>) -> Result<(Chosen, Chosen), Error> {
    let id = params
        .get("configId")
        .and_then(Value::as_str)
        .ok_or_else(|| invalid("`configId` is needed, a string"))?;
    let value = params
        .get("value")
        .ok_or_else(|| invalid("`value` is needed"))?;
    let before = session.chosen();
    let mut after = before;
    after
        .set(id, value, session.announced.boolean_options)
        .map_err(|reason| invalid(&reason))?;
    if after.model != before.model {
        session
            .model
            .change(after.model)
            .map_err(|failure| failed(&failure.to_string()))?;
    }
    session.with_kept(|kept| kept.chosen = after);
    Ok((before, after))
}

fn tell(client: &Client, session: &Session, update: Value) {
    client.owe();
    client.send(&session.id, Update::Other(update));
}
