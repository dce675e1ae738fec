//! What was said in each session so far, also by a process before this one: what a load has to bring back.

use serde_json::Value;

use crate::hash::{HashMap, IndexMap};
use crate::rules::Update;
use crate::wire::Message;

/// So much text of all sessions together is kept, in bytes; of more than that nothing is compared.
const KEPT: usize = 16 * 1024 * 1024;

/// What was said in a session, as far as it was seen.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// The turns in their order.
    pub turns: Vec<Past>,
    /// The folder that the session was opened in, where that was seen.
    pub cwd: Option<String>,
    /// Why the agent may have kept something else than what was seen.
    pub doubt: Option<&'static str>,
    /// Whether the agent has told what the session uses.
    pub usage: bool,
    /// Whether it is of a process before this one.
    pub earlier: bool,
}

/// One turn of the past.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// The event of the prompt.
    pub prompt: u64,
    /// The texts of the prompt, without white space; empty where it held anything else.
    pub asked: Vec<String>,
    /// The agent's text, without white space.
    pub said: String,
    /// The titles that each tool call had, by its id, in the order of the calls.
    pub calls: IndexMap<String, Vec<String>>,
    /// Whether it ended by itself. What an agent keeps of another turn is its own business.
    pub complete: bool,
}

impl Transcript {
    /// The turns that a load must bring back.
    pub fn complete(&self) -> impl Iterator<Item = &Past> {
        self.turns.iter().filter(|turn| turn.complete)
    }
}

/// The transcripts of all sessions.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcripts {
    sessions: HashMap<String, Transcript>,
    bytes: usize,
}

impl Transcripts {
    pub(super) fn get(&self, session: &str) -> Option<&Transcript> {
        self.sessions.get(session)
    }

    /// A new session: whatever had its id before is another one.
    pub(super) fn created(&mut self, session: &str, params: &Value) {
        let transcript = Transcript {
            cwd: params.get("cwd").and_then(Value::as_str).map(str::to_owned),
            ..Transcript::default()
        };
        self.sessions.insert(session.to_owned(), transcript);
    }

    pub(super) fn prompted(
        &mut self,
        session: &str,
        event: u64,
        shared: bool,
        redacted: bool,
        message: &Message,
    ) {
        let known = self.sessions.entry(session.to_owned()).or_default();
        let blocks = message
            .params()
            .and_then(|params| params.get("prompt"))
            .and_then(Value::as_array);
        let mut past = Past {
            prompt: event,
            ..Past::default()
        };
        for block in blocks.into_iter().flatten() {
            let text = block.get("text").and_then(Value::as_str);
            let Some(text) = text.filter(|_| block.get("type") == Some(&Value::from("text")))
            else {
                // How an agent keeps and shows a link, an image or a file is its own business.
                past.asked.clear();
                break;
            };
            if text.trim_start().starts_with('/') {
                known.doubt = Some("a slash command may have changed what the agent keeps");
            }
            let text = squeezed(text);
            self.bytes += text.len();
            if !text.is_empty() {
                past.asked.push(text);
            }
        }
        if shared {
            known.doubt = Some("two prompts of the session were open at once");
        }
        if redacted {
            known.doubt = Some("a part of what was said was redacted");
        }
        known.turns.push(past);
        self.bound(session);
    }

    pub(super) fn updated(&mut self, update: &Update<'_>, turn: Option<u64>, redacted: bool) {
        let Some(known) = self.sessions.get_mut(update.session) else {
            return;
        };
        known.usage |= update.kind == "usage_update";
        // Most updates of a load belong to no turn.
        let Some(past) = turn.and_then(|turn| {
            let mut turns = known.turns.iter_mut().rev();
            turns.find(|past| past.prompt == turn)
        }) else {
            return;
        };
        let text = |name: &str| update.body.get(name).and_then(Value::as_str);
        match update.kind {
            "agent_message_chunk" => {
                let text = update.body.pointer("/content/text").and_then(Value::as_str);
                let before = past.said.len();
                squeeze(text.unwrap_or_default(), &mut past.said);
                self.bytes += past.said.len() - before;
            }
            "tool_call" | "tool_call_update" => {
                let Some(id) = text("toolCallId") else {
                    return;
                };
                if !past.calls.contains_key(id) {
                    past.calls.insert(id.to_owned(), Vec::new());
                    self.bytes += id.len();
                }
                if let (Some(titles), Some(title)) = (past.calls.get_mut(id), text("title"))
                    && titles.last().is_none_or(|last| last != title)
                {
                    titles.push(title.to_owned());
                    self.bytes += title.len();
                }
            }
            _ => {}
        }
        if redacted {
            known.doubt = Some("a part of what was said was redacted");
        }
        self.bound(update.session);
    }

    pub(super) fn answered(&mut self, session: &str, prompt: u64, result: Option<&Value>) {
        let turns = self.sessions.get_mut(session).map(|known| &mut known.turns);
        let past = turns
            .into_iter()
            .flatten()
            .rev()
            .find(|past| past.prompt == prompt);
        if let Some(past) = past {
            let reason = result.and_then(|result| result.get("stopReason"));
            past.complete = reason.and_then(Value::as_str) == Some("end_turn");
        }
    }

    /// The same for the next process of the agent.
    pub(super) fn of_earlier_process(mut self) -> Self {
        for known in self.sessions.values_mut() {
            known.earlier = true;
        }
        self
    }

    /// Gives up on what is too long to be kept.
    fn bound(&mut self, session: &str) {
        if self.bytes <= KEPT {
            return;
        }
        if let Some(known) = self.sessions.get_mut(session) {
            known.turns.clear();
            known.doubt = Some("more was said than is kept for comparing");
        }
    }
}

/// The text without white space, which agents keep as they like.
pub(in crate::rules) fn squeezed(text: &str) -> String {
    let mut out = String::new();
    squeeze(text, &mut out);
    out
}

/// Appends the text without its white space.
pub(in crate::rules) fn squeeze(text: &str, out: &mut String) {
    out.extend(text.split_whitespace());
}
