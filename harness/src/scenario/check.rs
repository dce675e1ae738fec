//! Holds the conditions of a step against what was seen.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use super::file::{
    Answer, Condition, Count, ErrorCondition, ModelCondition, TextCondition, ToolCallCondition,
    UpdatesCondition, WorkspaceCondition,
};
use crate::client::{PumpEnd, SessionProgress};
use crate::model::ModelState;
use crate::rules::{Place, quote};
use crate::wire::Message;

/// What was seen of a step, at the moment at which its conditions are held against it.
pub(super) struct Seen<'a> {
    /// The answer to the step's request.
    pub(super) answer: Option<&'a (u64, Message)>,
    /// Why there is none.
    pub(super) missing: Option<PumpEnd>,
    /// The event of the step's own message.
    pub(super) event: Option<u64>,
    /// Seconds from the message to its answer.
    pub(super) seconds: Option<f64>,
    /// What was seen of the step's session.
    pub(super) session: Option<&'a SessionProgress>,
    /// What had been seen when the step began.
    pub(super) before: &'a Marks,
    /// Messages of the agent in all.
    pub(super) messages: u64,
    /// The session's folder.
    pub(super) workspace: &'a Path,
    /// The scripted model.
    pub(super) model: Option<&'a ModelState>,
    /// What came of the turns of named steps: how the turn ended, then each tool call.
    pub(super) turns: &'a HashMap<String, Vec<String>>,
    /// Whether the agent's process runs and its stdout is open.
    pub(super) alive: bool,
}

/// What had been seen when a step began.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    pub(super) updates: IndexMap<String, u64>,
    pub(super) permissions: u64,
    pub(super) messages: u64,
    pub(super) model_requests: u64,
}

/// A condition that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Miss {
    /// What was expected and what was seen, in one sentence.
    pub(super) message: String,
    /// Where, if at a certain event.
    pub(super) place: Option<Place>,
    /// Whether it is so because the agent was gone.
    pub(super) gone: bool,
}

impl Seen<'_> {
    /// Holds one condition. `Exit`, `Left` and `Mcp` are not for this: they take time, or the agent's end.
    pub(super) fn check(&self, condition: &Condition) -> Result<(), Miss> {
        match condition {
            Condition::Answer(answer) => self.answered(*answer),
            Condition::Result(pattern) => {
                let (event, message) = self.an_answer()?;
                let Some(result) = message.result() else {
                    return Err(self.miss_at(
                        *event,
                        "/error",
                        format!(
                            "expected a result, the answer is an error: {}",
                            error_of(message)
                        ),
                    ));
                };
                pattern.check(Some(result)).map_err(|mismatch| {
                    self.miss_at(
                        *event,
                        &format!("/result{}", mismatch.path),
                        format!("the result does not fit: {mismatch}"),
                    )
                })
            }
            Condition::Error(wanted) => self.error(wanted),
            Condition::Text(wanted) => self.text(wanted),
            Condition::Workspace(wanted) => self.files(wanted),
            Condition::ToolCall(wanted) => self.tool_call(wanted),
            Condition::Updates(wanted) => self.updates(wanted),
            Condition::Permissions(count) => {
                let seen =
                    self.session.map_or(0, |session| session.permissions) - self.before.permissions;
                self.counted("permission requests", *count, seen)
            }
            Condition::Messages(count) => self.counted(
                "messages from the agent",
                *count,
                self.messages - self.before.messages,
            ),
            Condition::Alive(wanted) if *wanted == self.alive => Ok(()),
            Condition::Alive(true) => Err(Miss {
                gone: true,
                ..self.miss("expected the agent to be running, it has ended".into())
            }),
            Condition::Alive(false) => {
                Err(self.miss("expected the agent to have ended, it is running".into()))
            }
            Condition::Model(wanted) => self.model(wanted),
            Condition::Within(limit) => match self.seconds {
                Some(seconds) if seconds <= *limit => Ok(()),
                Some(seconds) => Err(self.miss(format!(
                    "the answer took {seconds:.2} s, expected within {limit} s"
                ))),
                None => self.an_answer().map(|_| ()),
            },
            Condition::Any(ways) => self.any(ways),
            Condition::Exit(_) | Condition::Left(_) | Condition::Mcp(_) => Ok(()),
        }
    }

    fn any(&self, ways: &[Vec<Condition>]) -> Result<(), Miss> {
        let mut misses = Vec::new();
        for way in ways {
            match way.iter().try_for_each(|condition| self.check(condition)) {
                Ok(()) => return Ok(()),
                Err(miss) => misses.push(miss),
            }
        }
        let words: Vec<&str> = misses.iter().map(|miss| miss.message.as_str()).collect();
        Err(Miss {
            gone: misses.iter().any(|miss| miss.gone),
            place: misses.iter().find_map(|miss| miss.place.clone()),
            message: words.join("; and "),
        })
    }

    fn answered(&self, wanted: Answer) -> Result<(), Miss> {
        match (wanted, self.answer) {
            (Answer::None, None) => Ok(()),
            (Answer::None, Some((event, _))) => {
                Err(self.miss_at(*event, "", "expected no answer, there is one".into()))
            }
            (_, None) => self.an_answer().map(|_| ()),
            (Answer::Any, Some(_)) => Ok(()),
            (Answer::Result, Some((_, message))) if message.result().is_some() => Ok(()),
            (Answer::Error, Some((_, message))) if message.error().is_some() => Ok(()),
            (Answer::Result, Some((event, message))) => Err(self.miss_at(
                *event,
                "/error",
                format!(
                    "expected a result, the answer is an error: {}",
                    error_of(message)
                ),
            )),
            (Answer::Error, Some((event, _))) => Err(self.miss_at(
                *event,
                "/result",
                "expected an error, the answer is a result".into(),
            )),
        }
    }

    fn an_answer(&self) -> Result<&(u64, Message), Miss> {
        self.answer.ok_or_else(|| match self.missing {
            Some(PumpEnd::AgentGone) => Miss {
                gone: true,
                ..self.miss("there is no answer: the agent has ended".into())
            },
            Some(PumpEnd::TimedOut(seconds)) => {
                self.miss(format!("there is no answer after {seconds:.1} s"))
            }
            None => self.miss("there is no answer".into()),
        })
    }

    fn error(&self, wanted: &ErrorCondition) -> Result<(), Miss> {
        if wanted.optional
            && self
                .answer
                .is_none_or(|(_, message)| message.error().is_none())
        {
            return Ok(());
        }
        let (event, message) = self.an_answer()?;
        let Some(error) = message.error() else {
            return Err(self.miss_at(
                *event,
                "/result",
                "expected an error, the answer is a result".into(),
            ));
        };
        let code = error.get("code").and_then(Value::as_i64);
        if !wanted.codes.is_empty() && !code.is_some_and(|code| wanted.codes.contains(&code)) {
            let codes: Vec<String> = wanted.codes.iter().map(ToString::to_string).collect();
            let found = error.get("code").map_or("none".to_owned(), short);
            return Err(self.miss_at(
                *event,
                "/error/code",
                format!("expected error code {}, found {found}", codes.join(" or ")),
            ));
        }
        if let Some(code) = code.filter(|code| wanted.not_codes.contains(code)) {
            return Err(self.miss_at(
                *event,
                "/error/code",
                format!("expected any error but {code}, found {}", error_of(message)),
            ));
        }
        for (name, pattern) in [("message", &wanted.message), ("data", &wanted.data)] {
            if let Some(pattern) = pattern {
                pattern.check(error.get(name)).map_err(|mismatch| {
                    self.miss_at(
                        *event,
                        &format!("/error/{name}{}", mismatch.path),
                        format!("the error's {name} does not fit: {mismatch}"),
                    )
                })?;
            }
        }
        Ok(())
    }

    fn text(&self, wanted: &TextCondition) -> Result<(), Miss> {
        let text = self
            .session
            .map_or("", |session| session.turn.text.as_str());
        let said = || format!("the agent said {}", quote(text));
        for part in &wanted.contains {
            if !text.contains(part.as_str()) {
                return Err(self.miss(format!(
                    "expected the agent's text to contain {}; {}",
                    quote(part),
                    said()
                )));
            }
        }
        for part in &wanted.contains_once {
            let times = text.matches(part.as_str()).count();
            if times != 1 {
                return Err(self.miss(format!(
                    "expected the agent's text to contain {} once, found it {times} times; {}",
                    quote(part),
                    said()
                )));
            }
        }
        for part in &wanted.lacks {
            if text.contains(part.as_str()) {
                return Err(self.miss(format!(
                    "expected the agent's text not to contain {}; {}",
                    quote(part),
                    said()
                )));
            }
        }
        match wanted.empty {
            Some(true) if !text.is_empty() => {
                Err(self.miss(format!("expected no text; {}", said())))
            }
            Some(false) if text.is_empty() => {
                Err(self.miss("expected the agent to say something, it said nothing".into()))
            }
            _ => Ok(()),
        }
    }

    fn files(&self, wanted: &WorkspaceCondition) -> Result<(), Miss> {
        for path in &wanted.absent {
            if self.workspace.join(path).symlink_metadata().is_ok() {
                return Err(self.miss(format!("expected no file `{path}`, it is there")));
            }
        }
        for path in &wanted.present {
            if self.workspace.join(path).symlink_metadata().is_err() {
                return Err(self.miss(format!("expected a file `{path}`, it is not there")));
            }
        }
        for (path, part) in &wanted.contains {
            let text = std::fs::read(self.workspace.join(path))
                .map_err(|error| self.miss(format!("expected a file `{path}`: {error}")))?;
            let text = String::from_utf8_lossy(&text);
            if !text.contains(part.as_str()) {
                return Err(self.miss(format!(
                    "expected `{path}` to contain {}, it holds {}",
                    quote(part),
                    quote(&text)
                )));
            }
        }
        Ok(())
    }

    fn tool_call(&self, wanted: &ToolCallCondition) -> Result<(), Miss> {
        let tools = self.session.map(|session| &session.turn.tools);
        self.counted(
            "tool calls",
            wanted.count,
            tools.map_or(0, |tools| tools.len() as u64),
        )?;
        if let Some(earlier) = &wanted.same {
            self.same(earlier)?;
        }
        let last = tools.and_then(|tools| tools.last());
        let status = last
            .and_then(|(_, tool)| tool.status())
            .unwrap_or("pending");
        let kind = last
            .and_then(|(_, tool)| tool.kind.as_deref())
            .unwrap_or("other");
        let asks =
            !(wanted.status.is_empty() && wanted.not_status.is_empty() && wanted.kind.is_empty());
        let Some((id, _)) = last.filter(|_| asks) else {
            return if asks {
                Err(self.miss("expected a tool call, there was none".into()))
            } else {
                Ok(())
            };
        };
        let among = |list: &[String], value: &str| list.iter().any(|one| one == value);
        if !wanted.status.is_empty() && !among(&wanted.status, status) {
            return Err(self.miss(format!(
                "expected the tool call {} to be {}, it is {status}",
                quote(id),
                wanted.status.join(" or ")
            )));
        }
        if among(&wanted.not_status, status) {
            return Err(self.miss(format!(
                "expected the tool call {} not to be {status}",
                quote(id)
            )));
        }
        if !wanted.kind.is_empty() && !among(&wanted.kind, kind) {
            return Err(self.miss(format!(
                "expected the tool call {} to be of kind {}, it is {kind}",
                quote(id),
                wanted.kind.join(" or ")
            )));
        }
        Ok(())
    }

    fn same(&self, earlier: &str) -> Result<(), Miss> {
        let Some(before) = self.turns.get(earlier) else {
            return Err(self.miss(format!("nothing is known of the turn of `{earlier}`")));
        };
        let now = outcome_of(self.answer.map(|(_, message)| message), self.session);
        if now == *before {
            return Ok(());
        }
        Err(self.miss(format!(
            "the turn came to {}, that of `{earlier}` to {}",
            now.join(", "),
            before.join(", ")
        )))
    }

    fn updates(&self, wanted: &UpdatesCondition) -> Result<(), Miss> {
        let seen = |kind: &str| {
            let now = self
                .session
                .and_then(|session| session.updates.get(kind))
                .copied()
                .unwrap_or(0);
            now - self.before.updates.get(kind).copied().unwrap_or(0)
        };
        for kind in &wanted.has {
            if seen(kind) == 0 {
                return Err(self.miss(format!("expected an update `{kind}`, there was none")));
            }
        }
        for kind in &wanted.lacks {
            if seen(kind) > 0 {
                return Err(self.miss(format!("expected no update `{kind}`, there was one")));
            }
        }
        let number = if wanted.has.is_empty() {
            let all = |updates: &IndexMap<String, u64>| updates.values().sum::<u64>();
            self.session.map_or(0, |session| all(&session.updates)) - all(&self.before.updates)
        } else {
            wanted.has.iter().map(|kind| seen(kind)).sum()
        };
        self.counted("updates", wanted.count, number)
    }

    fn model(&self, wanted: &ModelCondition) -> Result<(), Miss> {
        let requests = self.model.map_or(0, |model| model.requests);
        self.counted(
            "requests to the model",
            wanted.asked,
            requests - self.before.model_requests,
        )?;
        if wanted.saw.is_empty() && wanted.lacks.is_empty() {
            return Ok(());
        }
        let Some(last) = self.model.and_then(|model| last_of(&model.recent)) else {
            return Err(self.miss("expected a request to the model, there was none".into()));
        };
        let strings = strings_of(last);
        for part in &wanted.saw {
            if !strings.iter().any(|string| string.contains(part.as_str())) {
                return Err(self.miss(format!(
                    "expected the last request to the model to hold {}",
                    quote(part)
                )));
            }
        }
        for part in &wanted.lacks {
            if strings.iter().any(|string| string.contains(part.as_str())) {
                return Err(self.miss(format!(
                    "expected the last request to the model not to hold {}",
                    quote(part)
                )));
            }
        }
        Ok(())
    }

    fn counted(&self, what: &str, wanted: Count, seen: u64) -> Result<(), Miss> {
        if wanted.holds(seen) {
            return Ok(());
        }
        Err(self.miss(format!(
            "expected {} {what}, there were {seen}",
            limits(wanted)
        )))
    }

    fn miss(&self, message: String) -> Miss {
        let event = self.answer.map(|(event, _)| *event).or(self.event);
        Miss {
            message,
            place: event.map(Place::event),
            gone: false,
        }
    }

    fn miss_at(&self, event: u64, path: &str, message: String) -> Miss {
        Miss {
            message,
            place: Some(Place::new(event, path)),
            gone: false,
        }
    }
}

/// What came of a turn: how it ended, then how each of its tool calls did.
pub(super) fn outcome_of(
    answer: Option<&Message>,
    session: Option<&SessionProgress>,
) -> Vec<String> {
    let reason = answer.map(|answer| {
        let reason = answer.result().and_then(|result| result.get("stopReason"));
        match reason.and_then(Value::as_str) {
            Some(reason) => format!("the stop reason {}", quote(reason)),
            None => format!("the error {}", error_of(answer)),
        }
    });
    let calls = session.into_iter().flat_map(|session| {
        let statuses = session.turn.tools.values();
        statuses.map(|tool| format!("a tool call {}", tool.status().unwrap_or("pending")))
    });
    let end = reason.unwrap_or_else(|| "no answer".to_owned());
    std::iter::once(end).chain(calls).collect()
}

/// The limits of a count in words.
pub(super) fn limits(count: Count) -> String {
    match (count.min, count.max) {
        (Some(min), Some(max)) if min == max => min.to_string(),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "any number of".to_owned(),
    }
}

fn last_of(recent: &VecDeque<Arc<str>>) -> Option<&str> {
    recent.back().map(|body| &**body)
}

/// Every string in a JSON text; the text itself where it is no JSON.
fn strings_of(json: &str) -> Vec<String> {
    fn walk(value: Value, out: &mut Vec<String>) {
        match value {
            Value::String(text) => out.push(text),
            Value::Array(items) => items.into_iter().for_each(|item| walk(item, out)),
            Value::Object(members) => members.into_iter().for_each(|(_, value)| walk(value, out)),
            _ => {}
        }
    }
    match serde_json::from_str(json) {
        Ok(value) => {
            let mut out = Vec::new();
            walk(value, &mut out);
            out
        }
        Err(_) => vec![json.to_owned()],
    }
}

/// Code and message of an error answer.
pub(super) fn error_of(message: &Message) -> String {
    let error = message.error().unwrap_or(&Value::Null);
    let code = error.get("code").map_or("no code".to_owned(), short);
    let text = error
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or("no message");
    format!("{code} {}", quote(text))
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(&text)),
        None => text,
    }
}

#[cfg(test)]
mod tests;
