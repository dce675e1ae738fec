//! What the steps of a scenario do.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::choosing::{mode, option, other_value};
use super::drive::{Done, Drive, Pending, Stop};
use super::file::{
    Action, Detail, Params, Permission, Placeholder, RawInput, Split, Step, fill_planned,
};
use super::params::{Known, laid_over, unknown};
use crate::client::{Choices, PermissionChoice, PlannedReplies, Sent};
use crate::model::prompt;
use crate::profile::Consent;
use crate::wire::Id;

impl Drive<'_> {
    pub(super) async fn act(&mut self, step: &Step) -> Result<Option<Done>, Stop> {
        let before = self.marks(&step.session);
        let session = self.sessions.get(&step.session).cloned();
        let pending = |sent: Option<Sent>, opens: Option<String>| Pending {
            began: sent.as_ref().map_or_else(Instant::now, |sent| sent.at),
            sent,
            session: session.clone(),
            opens,
            before: before.clone(),
        };
        let at_once = |event: Option<u64>| Done {
            answer: None,
            missing: None,
            event,
            seconds: None,
            session: session.clone(),
            before: before.clone(),
        };
        if step.action.asks_for_a_command() && self.connection.progress().commands().is_empty() {
            // They are announced after the session was opened, not with it.
            self.connection.listen(self.times.quiet).await;
            if self.connection.progress().commands().is_empty() {
                return Err(Stop::NotApplicable(
                    "the agent announces no slash commands".into(),
                ));
            }
        }
        let action = step
            .action
            .fill(&mut |placeholder| self.value_of(step, placeholder))
            .map_err(|missing| match missing.is_choice() {
                true => Stop::NotApplicable(unknown(&missing)),
                false => Stop::Blocked(unknown(&missing)),
            })?;
        match &action {
            action if action.is_request() => {
                if action.names_session() && session.is_none() && !action.gives_session() {
                    return Err(Stop::Blocked(format!(
                        "the session `{}` was not opened",
                        step.session
                    )));
                }
                if let (Action::Prompt(_), Some(session), None) = (action, &session, &step.probe) {
                    self.await_cancelled_turns(session).await;
                    self.set_mode(session).await;
                }
                if opens_sessions(action) {
                    self.log_in().await;
                }
                let (method, params) = self.call(step, action)?;
                if let (Action::Prompt(blocks), Some(model)) = (action, self.model) {
                    model
                        .note_prompt(&step.session, &prompt::text_of(blocks))
                        .map_err(|error| {
                            Stop::Blocked(format!("the scripted model cannot listen: {error}"))
                        })?;
                }
                let probe = step.probe.as_deref();
                if let Action::New { times, .. } = action {
                    self.open_others(*times - 1, step.within, params.as_ref())
                        .await;
                }
                let sent = self
                    .connection
                    .request(&method, params.as_ref(), step.id.clone(), probe)
                    .await;
                let opens = match action {
                    Action::New { opens, .. } => Some(opens.clone()),
                    _ => None,
                };
                if let (Action::Close(_) | Action::Delete(_), Some(session)) = (action, &session) {
                    // The turn that it ends may wait for these, as after a cancel.
                    self.connection.cancel_permissions(session).await;
                }
                let pending = pending(Some(sent), opens);
                if step.awaited {
                    return Ok(Some(self.finish(step, pending).await));
                }
                if let Some(name) = &step.name {
                    self.pending.insert(name.clone(), pending);
                }
                Ok(None)
            }
            Action::Finish(name) => {
                let Some(pending) = self.pending.remove(name) else {
                    return Err(Stop::Blocked(format!("the step `{name}` was not taken")));
                };
                Ok(Some(self.finish(step, pending).await))
            }
            Action::Cancel(params) => {
                let params = self.filled(step, &action, params)?;
                // The whole turn may end before this is read; the permissions are answered after it, as a client does.
                let event = self
                    .connection
                    .notify("session/cancel", Some(&params), step.probe.as_deref())
                    .await;
                if let Some(id) = params.get("sessionId").and_then(Value::as_str) {
                    let id = id.to_owned();
                    self.connection.cancel_permissions(&id).await;
                }
                Ok(Some(at_once(Some(event))))
            }
            Action::Notify { method, params } => {
                let params = params
                    .as_ref()
                    .map(|params| self.filled(step, &action, params))
                    .transpose()?;
                let event = self
                    .connection
                    .notify(method, params.as_ref(), step.probe.as_deref())
                    .await;
                Ok(Some(at_once(Some(event))))
            }
            Action::CancelRequest(name) => {
                let Some(sent) = self
                    .pending
                    .get(name)
                    .and_then(|pending| pending.sent.as_ref())
                else {
                    return Err(Stop::Blocked(format!("the step `{name}` was not taken")));
                };
                let params = serde_json::json!({"requestId": sent.json_id});
                let event = self
                    .connection
                    .notify("$/cancel_request", Some(&params), step.probe.as_deref())
                    .await;
                Ok(Some(at_once(Some(event))))
            }
            Action::Send(input) => {
                let event = self.send(step, input).await;
                let pending = pending(
                    step.id.as_ref().map(|id| Sent {
                        id: Id::from_value(id),
                        json_id: id.clone(),
                        event,
                        at: Instant::now(),
                        method: String::new(),
                    }),
                    None,
                );
                if pending.sent.is_none() {
                    return Ok(Some(at_once(Some(event))));
                }
                if step.awaited {
                    return Ok(Some(self.finish(step, pending).await));
                }
                if let Some(name) = &step.name {
                    self.pending.insert(name.clone(), pending);
                }
                Ok(None)
            }
            Action::Wait(milliseconds) => {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a delay of that many milliseconds is never written"
                )]
                let time = Duration::from_secs_f64(*milliseconds as f64 / 1000.0 * self.times.slow);
                self.connection.listen(time).await;
                Ok(Some(at_once(None)))
            }
            Action::Until(until) => {
                match self.wait_until(step, until, session.as_deref()).await {
                    // The scenario set a time after which it goes on.
                    Err(Stop::Blocked(_)) if step.within.is_some() => {}
                    other => other?,
                }
                Ok(Some(at_once(None)))
            }
            Action::Release => {
                if let Some(model) = self.model {
                    model.release().map_err(|error| {
                        Stop::Blocked(format!("the scripted model cannot listen: {error}"))
                    })?;
                }
                Ok(Some(at_once(None)))
            }
            Action::Answer(choice) => {
                let session = session.clone().unwrap_or_default();
                let Some(ask) = self.connection.progress_mut().take_ask(&session) else {
                    return Err(Stop::Blocked("no permission request is open".into()));
                };
                self.connection.answer_ask(&ask, choice_of(*choice)).await;
                Ok(Some(at_once(Some(ask.event))))
            }
            Action::CloseStdin => {
                self.connection.close_stdin();
                Ok(Some(at_once(None)))
            }
            Action::Restart => {
                self.restart().await?;
                Ok(Some(at_once(None)))
            }
            Action::Signal(name) => {
                if let Some(signal) = signal_of(name) {
                    self.connection.signal(signal);
                }
                Ok(Some(at_once(None)))
            }
            Action::Write { path, text } => {
                let path = self.workspace.join(path);
                if let Some(parent) = path.parent() {
                    let _ = std::fs::create_dir_all(parent);
                }
                std::fs::write(&path, text)
                    .map_err(|error| Stop::Blocked(format!("{}: {error}", path.display())))?;
                Ok(Some(at_once(None)))
            }
            _ => Ok(None),
        }
    }

    /// The method and parameters of an action that sends a request.
    fn call(&self, step: &Step, action: &Action) -> Result<(String, Option<Value>), Stop> {
        let (method, params) = match action {
            Action::Initialize(params) => ("initialize", params),
            Action::Authenticate(params) => ("authenticate", params),
            Action::Logout(params) => ("logout", params),
            Action::New { params, .. } => ("session/new", params),
            Action::Load(params) => ("session/load", params),
            Action::Resume(params) => ("session/resume", params),
            Action::List(params) => ("session/list", params),
            Action::Close(params) => ("session/close", params),
            Action::Delete(params) => ("session/delete", params),
            Action::SetMode(params) => ("session/set_mode", params),
            Action::SetConfigOption(params) => ("session/set_config_option", params),
            Action::Prompt(blocks) => {
                let mut own = Map::new();
                own.insert("prompt".into(), Value::Array(blocks.clone()));
                let params = self.filled(step, action, &Params::Over(own))?;
                return Ok(("session/prompt".into(), Some(params)));
            }
            Action::Request { method, params } => {
                let params = params
                    .as_ref()
                    .map(|params| self.filled(step, action, params))
                    .transpose()?;
                return Ok((method.clone(), params));
            }
            _ => return Err(Stop::Blocked("the step sends no request".into())),
        };
        Ok((method.to_owned(), Some(self.filled(step, action, params)?)))
    }

    fn filled(&self, step: &Step, action: &Action, params: &Params) -> Result<Value, Stop> {
        let implied = self.known(step).implied(action);
        let missing: Vec<String> = implied
            .iter()
            .filter(|(_, value)| value.is_null())
            .map(|(member, _)| member.clone())
            .collect();
        let params = laid_over(implied, params).map_err(Stop::Blocked)?;
        // What a scenario sends on purpose is marked; the harness by itself sends no null in place of an id.
        let unfilled = missing
            .iter()
            .find(|member| params.get(*member).is_some_and(Value::is_null));
        match unfilled {
            Some(member) if step.probe.is_none() => Err(Stop::Blocked(match member.as_str() {
                "sessionId" => format!("no session `{}` is open", step.session),
                _ => format!("the agent told nothing to fill `{member}` with"),
            })),
            _ => Ok(with_meta(step, params)),
        }
    }

    pub(super) fn known(&self, step: &Step) -> Known<'_> {
        Known {
            client: &self.scenario.client,
            cwd: self.workspace.to_str().unwrap_or_default(),
            session: self.sessions.get(&step.session).map(String::as_str),
            auth: self.profile.auth.as_deref(),
            servers: self.servers.entries(),
            talk: self.connection.talk(),
        }
    }

    pub(super) fn value_of(&self, step: &Step, placeholder: &Placeholder) -> Option<Value> {
        match placeholder {
            Placeholder::Session(name) => {
                let name = name.as_ref().unwrap_or(&step.session);
                self.sessions.get(name).map(|id| Value::from(id.as_str()))
            }
            Placeholder::Cwd => self.workspace.to_str().map(Value::from),
            Placeholder::Home => self.home.to_str().map(Value::from),
            Placeholder::Command => self.command(),
            Placeholder::Mcp(name) => self.servers.entry(name).cloned(),
            Placeholder::Result { step, pointer } => {
                self.results.get(step)?.pointer(pointer).cloned()
            }
            Placeholder::Mode(number) => {
                let choices = self.choices(step)?;
                mode(choices, *number, self.is_bold()).map(Value::from)
            }
            Placeholder::Option(which, detail) => {
                let choices = self.choices(step)?;
                let option = option(choices, *which, self.is_bold())?;
                match detail {
                    Detail::Id => option.get("id").cloned(),
                    Detail::Current => option.get("currentValue").cloned(),
                    Detail::Value => other_value(option, self.is_bold()),
                }
            }
        }
    }

    /// What the session of a step offers to choose.
    fn choices(&self, step: &Step) -> Option<&Choices> {
        let session = self.sessions.get(&step.session)?;
        self.connection.progress().choices(session)
    }

    /// Whether modes that skip permission may be taken.
    fn is_bold(&self) -> bool {
        self.profile.allow.contains(&Consent::UnsafeModes)
    }

    /// How the requests of the agent are answered in the turn of a step.
    pub(super) fn replies(&self, step: &Step) -> Result<PlannedReplies, Placeholder> {
        let methods = step.replies.iter().map(|(method, answers)| {
            let answers = answers
                .iter()
                .map(|answer| fill_planned(answer, &mut |it| self.value_of(step, it)));
            Ok((method.clone(), answers.collect::<Result<_, _>>()?))
        });
        Ok(PlannedReplies::new(methods.collect::<Result<Vec<_>, _>>()?))
    }

    /// The first slash command of the profile that the agent has announced.
    pub(super) fn command(&self) -> Option<Value> {
        let announced = self.connection.progress().commands();
        let command = self
            .profile
            .commands
            .iter()
            .find(|command| announced.contains(command))?;
        Some(Value::from(command.as_str()))
    }

    pub(super) async fn send(&mut self, step: &Step, input: &RawInput) -> u64 {
        let lines = input.lines.clone();
        let probe = step.probe.as_deref().unwrap_or("raw input");
        let mut event = 0;
        match (input.split, input.newline) {
            (Split::OneWrite, true) => {
                event = self.connection.send_lines_at_once(lines, Some(probe)).await
            }
            (Split::Bytes, true) => {
                for line in lines {
                    event = self.connection.send_line_in_bytes(line, Some(probe)).await;
                }
            }
            (Split::Lines, true) => {
                for line in lines {
                    event = self.connection.send_line(line, Some(probe)).await;
                }
            }
            (_, false) => {
                event = self
                    .connection
                    .send_partial(lines.concat(), Some(probe))
                    .await
            }
        }
        event
    }
}

/// Whether it needs what a login gives: it opens a session, or looks for those that are stored.
fn opens_sessions(action: &Action) -> bool {
    matches!(
        action,
        Action::New { .. }
            | Action::Load(_)
            | Action::Resume(_)
            | Action::List(_)
            | Action::Delete(_)
    )
}

fn with_meta(step: &Step, mut params: Value) -> Value {
    if let (Some(meta), Value::Object(members)) = (&step.meta, &mut params) {
        members.insert("_meta".into(), Value::Object(meta.clone()));
    }
    params
}

pub(super) fn choice_of(permission: Permission) -> PermissionChoice {
    match permission {
        Permission::AllowOnce => PermissionChoice::Kind("allow_once"),
        Permission::AllowAlways => PermissionChoice::Kind("allow_always"),
        Permission::RejectOnce => PermissionChoice::Kind("reject_once"),
        Permission::RejectAlways => PermissionChoice::Kind("reject_always"),
        Permission::Cancelled => PermissionChoice::Cancelled,
        Permission::Error => PermissionChoice::Error,
        Permission::RequestCancelled => PermissionChoice::RequestCancelled,
        Permission::Unoffered => PermissionChoice::Unoffered,
        Permission::UnknownOutcome => PermissionChoice::UnknownOutcome,
        Permission::Hold => PermissionChoice::Hold,
    }
}

fn signal_of(name: &str) -> Option<i32> {
    match name {
        "HUP" => Some(1),
        "INT" => Some(2),
        "KILL" => Some(9),
        "TERM" => Some(15),
        _ => None,
    }
}
