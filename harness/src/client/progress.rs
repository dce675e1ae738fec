//! How far the turns of a live conversation have come, for waits and expectations.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::Value;

use super::Choices;
use crate::wire::{Id, Message};

/// How many bytes of agent text are kept of one turn.
const TEXT_BOUND: usize = 16 * 1024 * 1024;
/// How many answers of the agent are kept until they are taken.
const ANSWER_BOUND: usize = 4096;

/// What the agent has sent so far that a step may wait for.
#[derive(Debug, Default)]
pub struct Progress {
    answers: HashMap<Id, Vec<(u64, Message)>>,
    answers_kept: usize,
    sessions: HashMap<String, SessionProgress>,
    asks: Vec<Ask>,
    called: IndexMap<String, u64>,
    messages: u64,
    commands: Vec<String>,
    choices: HashMap<String, Choices>,
}

/// What was seen of one session.
#[derive(Clone, Debug, Default)]
pub struct SessionProgress {
    /// How many updates of each kind came since the beginning.
    pub updates: IndexMap<String, u64>,
    /// How many permissions were asked for since the beginning.
    pub permissions: u64,
    /// The newest turn, or what came before any prompt.
    pub turn: TurnProgress,
}

/// What was seen of the newest turn of one session.
#[derive(Clone, Debug, Default)]
pub struct TurnProgress {
    /// The agent's text, joined.
    pub text: String,
    /// How many updates of each kind came.
    pub updates: IndexMap<String, u64>,
    /// How many permissions were asked for.
    pub permissions: u64,
    /// The tool calls by id, in order of their first sighting.
    pub tools: IndexMap<String, ToolProgress>,
}

/// What was seen of one tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolProgress {
    /// The last kind given.
    pub kind: Option<String>,
    /// The last title given.
    pub title: Option<String>,
    /// Every status in order; a `tool_call` without one is `pending`.
    pub statuses: Vec<String>,
}

impl ToolProgress {
    /// The last status.
    pub fn status(&self) -> Option<&str> {
        self.statuses.last().map(String::as_str)
    }
}

/// A permission request that is held open.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The event of the request.
    pub event: u64,
    /// Its id.
    pub id: Value,
    /// The session that it names.
    pub session: String,
    /// The options on offer: id and kind.
    pub options: Vec<(String, String)>,
}

impl Progress {
    /// Takes note of a message of the agent.
    pub(super) fn note(&mut self, event: u64, message: &Message) {
        self.messages += 1;
        if let Some(id) = message.id().filter(|_| message.is_response()) {
            if self.answers_kept < ANSWER_BOUND {
                self.answers_kept += 1;
                self.answers
                    .entry(id.clone())
                    .or_default()
                    .push((event, message.clone()));
            }
            return;
        }
        let Some(method) = message.method() else {
            return;
        };
        count(&mut self.called, method);
        let Some(session) = message.session() else {
            return;
        };
        match method {
            "session/update" => {
                if let Some(update) = message.params().and_then(|params| params.get("update")) {
                    if let Some(list) = update.get("availableCommands").and_then(Value::as_array) {
                        let names = list
                            .iter()
                            .filter_map(|command| command.get("name")?.as_str());
                        self.commands = names.map(str::to_owned).collect();
                    }
                    if update.get("configOptions").is_some() {
                        self.note_choices(session, update);
                    }
                    self.sessions
                        .entry(session.to_owned())
                        .or_default()
                        .note(update);
                }
            }
            "session/request_permission" => {
                let seen = self.sessions.entry(session.to_owned()).or_default();
                seen.permissions += 1;
                seen.turn.permissions += 1;
                if let Some(call) = message.params().and_then(|params| params.get("toolCall")) {
                    seen.turn.note_call(call, false);
                }
            }
            _ => {}
        }
    }

    /// A prompt is about to be sent in this session: what is seen from now on belongs to its turn.
    pub(super) fn begin_turn(&mut self, session: &str) {
        self.sessions.entry(session.to_owned()).or_default().turn = TurnProgress::default();
    }

    /// Another process of the agent begins: nothing that the one before asked or would have answered is open any more.
    pub(super) fn begin_process(&mut self) {
        self.asks.clear();
        self.answers.clear();
        self.answers_kept = 0;
        self.commands.clear();
    }

    /// Keeps a permission request open.
    pub(super) fn hold(&mut self, ask: Ask) {
        self.asks.push(ask);
    }

    /// Takes a held permission request of this session: the oldest.
    pub fn take_ask(&mut self, session: &str) -> Option<Ask> {
        let at = self.asks.iter().position(|ask| ask.session == session)?;
        Some(self.asks.remove(at))
    }

    /// The permission requests that are held open.
    pub fn asks(&self) -> &[Ask] {
        &self.asks
    }

    /// The first answer with this id that has not been taken.
    pub fn answer(&self, id: &Id) -> Option<&(u64, Message)> {
        self.answers.get(id)?.first()
    }

    /// Takes the first answer with this id.
    pub fn take_answer(&mut self, id: &Id) -> Option<(u64, Message)> {
        let answers = self.answers.get_mut(id)?;
        if answers.is_empty() {
            return None;
        }
        self.answers_kept -= 1;
        Some(answers.remove(0))
    }

    /// What was seen of a session.
    pub fn session(&self, session: &str) -> Option<&SessionProgress> {
        self.sessions.get(session)
    }

    /// The slash commands that the agent announced last.
    pub fn commands(&self) -> &[String] {
        &self.commands
    }

    /// Takes note of what a session offers to choose, by a result or an update.
    pub fn note_choices(&mut self, session: &str, told: &Value) {
        self.choices
            .entry(session.to_owned())
            .or_default()
            .note(told);
    }

    /// What a session offers to choose, if that is known.
    pub fn choices(&self, session: &str) -> Option<&Choices> {
        self.choices.get(session)
    }

    /// How many messages the agent has sent.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// How often the agent called a method of the client.
    pub fn called(&self, method: &str) -> u64 {
        self.called.get(method).copied().unwrap_or(0)
    }

    /// Whether an update of this kind has come in any session.
    pub fn has_update(&self, kind: &str) -> bool {
        self.sessions
            .values()
            .any(|session| session.updates.contains_key(kind))
    }

    /// Whether a permission was asked for in any session.
    pub fn has_asked(&self) -> bool {
        self.sessions
            .values()
            .any(|session| session.permissions > 0)
    }
}

impl SessionProgress {
    fn note(&mut self, update: &Value) {
        if let Some(kind) = update.get("sessionUpdate").and_then(Value::as_str) {
            count(&mut self.updates, kind);
            count(&mut self.turn.updates, kind);
            self.turn.note(kind, update);
        }
    }
}

fn count(counts: &mut IndexMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

impl TurnProgress {
    fn note(&mut self, kind: &str, update: &Value) {
        match kind {
            "agent_message_chunk" => {
                if let Some(text) = update.pointer("/content/text").and_then(Value::as_str)
                    && self.text.len() + text.len() <= TEXT_BOUND
                {
                    self.text.push_str(text);
                }
            }
            "tool_call" => self.note_call(update, true),
            "tool_call_update" => self.note_call(update, false),
            _ => {}
        }
    }

    fn note_call(&mut self, call: &Value, first: bool) {
        let Some(id) = call.get("toolCallId").and_then(Value::as_str) else {
            return;
        };
        let text = |name: &str| call.get(name).and_then(Value::as_str).map(str::to_owned);
        let tool = self.tools.entry(id.to_owned()).or_default();
        if let Some(kind) = text("kind") {
            tool.kind = Some(kind);
        }
        if let Some(title) = text("title") {
            tool.title = Some(title);
        }
        let status = text("status").or_else(|| first.then(|| "pending".to_owned()));
        if let Some(status) = status
            && tool.statuses.last() != Some(&status)
        {
            tool.statuses.push(status);
        }
    }
}
