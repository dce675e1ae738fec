//! What the profile of an agent has done before what a scenario says: the login, and the mode of a session.

use serde_json::{Value, json};

use super::drive::Drive;
use super::file::Action;
use crate::client::{Limits, PumpEnd};

impl Drive<'_> {
    /// Logs in before the first session by the profile's method, unless the scenario itself is about that.
    pub(super) async fn log_in(&mut self) {
        let Some(method) = self.profile.auth.as_deref().filter(|_| !self.logged_in) else {
            return;
        };
        self.logged_in = true;
        self.ask("authenticate", json!({"methodId": method})).await;
    }

    /// Puts a session into the profile's mode before its first prompt, where it has that mode and is in another, unless
    /// the scenario itself is about modes.
    pub(super) async fn set_mode(&mut self, session: &str) {
        let Some(place) = self.modes.iter().position(|(own, _)| own == session) else {
            return;
        };
        let (_, modes) = self.modes.swap_remove(place);
        let Some(mode) = self.profile.set_mode.as_deref() else {
            return;
        };
        let about_modes = |action: &Action| match action {
            Action::SetMode(_) | Action::SetConfigOption(_) => true,
            Action::Request { method, .. } => method == "session/set_mode",
            _ => false,
        };
        let mut steps = self.scenario.steps.iter();
        if has(&modes, mode) && !steps.any(|step| about_modes(&step.action)) {
            let params = json!({"sessionId": session, "modeId": mode});
            self.ask("session/set_mode", params).await;
        }
    }

    /// Keeps the modes of a session that was opened.
    pub(super) fn note_modes(&mut self, session: &str, result: &Value) {
        if let Some(modes) = result.get("modes").filter(|modes| modes.is_object()) {
            self.modes.push((session.to_owned(), modes.clone()));
        }
    }

    /// Sends a request that no scenario names, and awaits its answer.
    async fn ask(&mut self, method: &str, params: Value) {
        let sent = self
            .connection
            .request(method, Some(&params), None, None)
            .await;
        let id = sent.id.clone();
        let limits = Limits::while_progress(self.times.request);
        let answered = self
            .connection
            .pump(limits, |connection| {
                connection.progress_mut().take_answer(&id)
            })
            .await;
        if let Err(PumpEnd::TimedOut(seconds)) = answered {
            self.connection.give_up(&sent, seconds);
        }
    }
}

/// Whether modes list a mode that is not the current one.
fn has(modes: &Value, mode: &str) -> bool {
    let is = |value: Option<&Value>| value.and_then(Value::as_str) == Some(mode);
    let listed = modes.get("availableModes").and_then(Value::as_array);
    !is(modes.get("currentModeId"))
        && listed.is_some_and(|all| all.iter().any(|each| is(each.get("id"))))
}
