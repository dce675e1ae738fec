//! What the steps of a scenario wait for: answers and states.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::drive::{Done, Drive, Pending, Stop};
use super::file::{Action, Answer, Condition, Expect, Step, ToolState, Until};
use crate::client::{Connection, Limits, PumpEnd, Sent};
use crate::wire::{Id, Message};

/// How long a method is waited for that this agent has never answered.
const HOPELESS: Duration = Duration::from_secs(1);

/// How often it is looked whether a file is there.
const FILE_LOOK: Duration = Duration::from_millis(20);

impl Drive<'_> {
    /// Awaits the answer of a request.
    pub(super) async fn finish(&mut self, step: &Step, pending: Pending) -> Done {
        let mut done = Done {
            answer: None,
            missing: None,
            event: pending.sent.as_ref().map(|sent| sent.event),
            seconds: None,
            session: pending.session.clone(),
            before: pending.before,
        };
        let Some(sent) = pending.sent else {
            return done;
        };
        let expects_none = expects_none(step.expect.iter().chain(&step.note));
        let limits = self.limits(step, expects_none, &sent.method);
        let id = sent.id.clone();
        let session = pending.session.clone();
        let (cancel, request) = (self.times.cancel, self.times.request);
        let mut cancelled_since: Option<Instant> = None;
        let answered = self
            .connection
            .pump(limits, |connection| {
                if let Some(answer) = connection.progress_mut().take_answer(&id) {
                    return Some(Some(answer));
                }
                // A cancelled turn has less time, as long as nothing comes; the wait ends with nothing. How long a turn takes
                // to end that goes on after its cancel is CANCEL-04's.
                let cancelled = session
                    .as_deref()
                    .and_then(|session| connection.talk().session(session))
                    .is_some_and(|session| {
                        session
                            .turns
                            .iter()
                            .any(|turn| turn.id == id && turn.cancelled.is_some())
                    });
                if cancelled {
                    let since = *cancelled_since.get_or_insert_with(Instant::now);
                    let silent = since.max(connection.last_sign());
                    connection.wake_at(silent + cancel);
                    let over = silent.elapsed() >= cancel || since.elapsed() >= request;
                    return over.then_some(None);
                }
                None
            })
            .await;
        match answered {
            Ok(Some(answer)) => {
                done.seconds = Some(pending.began.elapsed().as_secs_f64());
                done.answer = Some(answer);
            }
            Ok(None) => done.missing = Some(PumpEnd::TimedOut(cancel.as_secs_f64())),
            Err(end) => done.missing = Some(end),
        }
        match (&done.answer, done.missing) {
            (Some(_), _) => self.answered.note(&sent.method, true),
            (None, Some(PumpEnd::TimedOut(_))) if !expects_none => {
                self.answered.note(&sent.method, false);
            }
            _ => {}
        }
        if let (Some(PumpEnd::TimedOut(seconds)), false) = (done.missing, expects_none)
            && self.connection.talk().client_request(&sent.id).is_some()
        {
            self.connection.give_up(&sent, seconds);
        }
        if let Some(result) = done
            .answer
            .as_ref()
            .and_then(|(_, message)| message.result())
        {
            if let (Some(opens), Some(session)) = (
                &pending.opens,
                result.get("sessionId").and_then(Value::as_str),
            ) {
                self.sessions.insert(opens.clone(), session.to_owned());
                self.note_modes(session, result);
            }
            if let ("session/load" | "session/resume", Some(session)) =
                (sent.method.as_str(), &pending.session)
            {
                self.note_modes(session, result);
            }
            let session = result.get("sessionId").and_then(Value::as_str);
            if let Some(session) = session.or(pending.session.as_deref()) {
                self.connection.progress_mut().note_choices(session, result);
            }
            let name = match &step.action {
                Action::Finish(name) => Some(name),
                _ => step.name.as_ref(),
            };
            if let Some(name) = name {
                self.results.insert(name.clone(), result.clone());
            }
        }
        done
    }

    /// A client sends no further prompt while a turn that it cancelled has not ended: waits for that, as long as a cancelled
    /// turn is waited for.
    pub(super) async fn await_cancelled_turns(&mut self, session: &str) {
        let limits = Limits {
            silence: self.times.cancel,
            total: self.times.request,
        };
        let ended = |connection: &Connection| {
            let turns = connection.talk().session(session).map(|known| &known.turns);
            turns.is_none_or(|turns| turns.iter().all(|turn| turn.cancelled.is_none()))
        };
        // Whether it ended is judged by what the next prompt shows.
        let _ = self
            .connection
            .pump(limits, |connection| ended(connection).then_some(()))
            .await;
    }

    /// How long an answer is waited for. Until the agent has said anything at all it is still starting.
    pub(super) fn limits(&self, step: &Step, expects_none: bool, method: &str) -> Limits {
        let starting = self.connection.progress().messages() == 0;
        match step.within {
            Some(seconds) => {
                let time = Duration::from_secs_f64(seconds * self.times.slow);
                Limits::exactly(if starting {
                    time.max(self.times.startup)
                } else {
                    time
                })
            }
            None if method == "initialize" || starting => Limits::exactly(self.times.startup),
            None if expects_none => Limits::exactly(self.times.quiet),
            None if self.answered.is_hopeless(method) => {
                Limits::exactly(HOPELESS.mul_f64(self.times.slow.max(1.0)))
            }
            None => Limits::while_progress(self.times.request),
        }
    }

    pub(super) async fn wait_until(
        &mut self,
        step: &Step,
        until: &Until,
        session: Option<&str>,
    ) -> Result<(), Stop> {
        let limits = self.limits(step, false, "");
        // The turn that is waited in may end first: then the state can no longer come.
        let turn_open = |connection: &Connection| {
            session.is_none_or(|session| connection.talk().turn(session).is_some())
        };
        let began_in_turn = turn_open(&self.connection);
        let file = match until {
            Until::File(path) => Some(self.workspace.join(path)),
            _ => None,
        };
        let met = self
            .connection
            .pump(limits, |connection| {
                if let Some(file) = &file {
                    if file.exists() {
                        return Some(true);
                    }
                    // Nobody tells when a file comes to be.
                    connection.wake_at(Instant::now() + FILE_LOOK);
                }
                if is_met(connection, until, session) {
                    return Some(true);
                }
                (began_in_turn && !turn_open(connection)).then_some(false)
            })
            .await;
        if *until == Until::Held && met == Ok(true) {
            self.held = true;
        }
        match met {
            Ok(true) => Ok(()),
            Ok(false) => Err(Stop::Blocked(format!(
                "the turn ended before {}",
                words_of(until)
            ))),
            Err(PumpEnd::TimedOut(seconds)) => Err(Stop::Blocked(format!(
                "after {seconds:.0} s there was not {}",
                words_of(until)
            ))),
            Err(PumpEnd::AgentGone) => Err(Stop::Blocked(format!(
                "the agent ended before {}",
                words_of(until)
            ))),
        }
    }

    pub(super) async fn await_other(
        &mut self,
        step: &Step,
        id: &Value,
        expect: &Expect,
    ) -> Result<(u64, Message), PumpEnd> {
        let wanted = Id::from_value(id);
        let limits = self.limits(step, expects_none([expect]), "");
        let answered = self
            .connection
            .pump(limits, |connection| {
                connection.progress_mut().take_answer(&wanted)
            })
            .await;
        if let Err(PumpEnd::TimedOut(seconds)) = answered {
            let sent = Sent {
                id: wanted,
                json_id: id.clone(),
                event: 0,
                at: Instant::now(),
                method: String::new(),
            };
            if self.connection.talk().client_request(&sent.id).is_some() {
                self.connection.give_up(&sent, seconds);
            }
        }
        answered
    }
}

/// Whether no answer at all is expected, so that waiting for one is a matter of a quiet period.
pub(super) fn expects_none<'e>(expects: impl IntoIterator<Item = &'e Expect>) -> bool {
    let mut conditions = expects.into_iter().flat_map(|expect| &expect.conditions);
    conditions.any(|condition| matches!(condition, Condition::Answer(Answer::None)))
}

fn is_met(connection: &Connection, until: &Until, session: Option<&str>) -> bool {
    let progress = connection.progress();
    let seen = session.and_then(|session| progress.session(session));
    match until {
        Until::Text(length) => {
            seen.is_some_and(|seen| seen.turn.text.chars().count() as u64 >= *length)
        }
        Until::Update(kind) => seen.is_some_and(|seen| seen.turn.updates.contains_key(kind)),
        Until::Tool(state) => seen.is_some_and(|seen| {
            seen.turn.tools.values().any(|tool| match word_of(*state) {
                None => true,
                Some(word) => tool.status().unwrap_or("pending") == word,
            })
        }),
        Until::Permission => progress
            .asks()
            .iter()
            .any(|ask| session.is_none_or(|session| ask.session == session)),
        Until::Held => connection.model().is_some_and(|model| model.holding),
        Until::Request(method) => progress.called(method) > 0,
        Until::File(_) => false,
    }
}

fn word_of(state: ToolState) -> Option<&'static str> {
    match state {
        ToolState::Any => None,
        ToolState::Pending => Some("pending"),
        ToolState::InProgress => Some("in_progress"),
        ToolState::Completed => Some("completed"),
        ToolState::Failed => Some("failed"),
    }
}

fn words_of(until: &Until) -> String {
    match until {
        Until::Text(length) => format!("{length} characters of text"),
        Until::Update(kind) => format!("an update `{kind}`"),
        Until::Tool(state) => format!(
            "a tool call that is {}",
            word_of(*state).unwrap_or("reported")
        ),
        Until::Permission => "a permission request".to_owned(),
        Until::Held => "a request to the model".to_owned(),
        Until::Request(method) => format!("a request `{method}`"),
        Until::File(path) => format!("a file `{path}`"),
    }
}
