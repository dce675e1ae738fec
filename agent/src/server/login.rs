//! `authenticate` and `logout`.

use agent_client_protocol::Error;
use serde_json::{Map, Value, json};

use super::{Server, failed, invalid, lock, quote};
use crate::login::{Auth, Refusal};

impl Server {
    /// The result of `authenticate`. A surface without logins takes whatever it gets.
    pub(super) fn authenticate(&self, params: &Map<String, Value>) -> Result<Value, Error> {
        if !self.parts().logins {
            return Ok(json!({}));
        }
        let method = params
            .get("methodId")
            .and_then(Value::as_str)
            .ok_or_else(|| invalid("`methodId` is needed, a string"))?;
        let announced = *lock(&self.announced);
        match self.login.authenticate(method, announced) {
            Ok(()) => Ok(json!({})),
            Err(Refusal::NotYet) => Err(login_needed()),
            Err(Refusal::Unknown) => {
                let data = json!({ "methodId": quote(method) });
                Err(Error::new(-32602, "Invalid params").data(data))
            }
        }
    }

    /// The result of `logout`. Sessions that are open stay open.
    pub(super) fn log_out(&self) -> Result<Value, Error> {
        match self.login.log_out() {
            Ok(()) => Ok(json!({})),
            Err(error) => Err(failed(&format!("the login cannot be removed: {error}"))),
        }
    }

    /// Whether this client is offered a way to log in, and so to log out.
    pub(super) fn has_logins(&self) -> bool {
        self.login.offered(*lock(&self.announced)) != Auth::None
    }

    /// Refuses to open a session before a login, where one is needed.
    pub(super) fn check_login(&self) -> Result<(), Error> {
        if self.login.is_needed(*lock(&self.announced)) {
            return Err(login_needed());
        }
        Ok(())
    }
}

fn login_needed() -> Error {
    let reason = json!({ "error": "log in first, by one of the `authMethods`" });
    Error::new(-32000, "Authentication required").data(reason)
}
