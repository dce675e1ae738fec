//! What is done around what a scenario says: the login and the mode of a session that the agent's profile asks for, another
//! start of the agent, sessions that only fill its store.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::drive::{Drive, Stop};
use super::file::Action;
use crate::agent::AgentProcess;
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

    /// Opens so many sessions that no step is about, as long as these seconds allow.
    pub(super) async fn open_others(
        &mut self,
        times: u64,
        within: Option<f64>,
        params: Option<&Value>,
    ) {
        let began = Instant::now();
        let limit = within.map(|seconds| Duration::from_secs_f64(seconds * self.times.slow));
        for _ in 0..times {
            if limit.is_some_and(|limit| began.elapsed() >= limit) || !self.connection.is_alive() {
                return;
            }
            self.ask("session/new", params.cloned().unwrap_or_default())
                .await;
        }
    }

    /// Ends the agent and starts it again, in the same folders and with the same model.
    ///
    /// # Errors
    /// Where it cannot be started any more.
    pub(super) async fn restart(&mut self) -> Result<(), Stop> {
        self.pending.clear();
        self.modes.clear();
        self.logged_in = self.logs_in_itself();
        self.restarted = true;
        self.gone = false;
        let again = self.again;
        self.connection
            .restart(again.patience, &again.header, || {
                AgentProcess::start(&again.launch, again.inbox.clone())
            })
            .await
            .map_err(|error| {
                Stop::Blocked(format!("the agent could not be started again: {error}"))
            })
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
