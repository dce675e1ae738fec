//! The tool calls of a session, as far as its events tell.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::quote::quote;
use crate::hash::HashMap;
use crate::spec::TOOL_KINDS;

/// So many calls of a session are kept; beyond them those that have ended are forgotten.
const KEPT: usize = 10_000;

/// The `status` of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has not begun.
    Pending,
    /// It runs.
    InProgress,
    /// It has succeeded.
    Completed,
    /// It has failed.
    Failed,
}

impl Status {
    /// Reads the value of a `status` member.
    pub fn of(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "pending" => Some(Self::Pending),
            "in_progress" => Some(Self::InProgress),
            "completed" => Some(Self::Completed),
            "failed" => Some(Self::Failed),
            _ => None,
        }
    }

    /// The word of the protocol for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// Whether the tool has finished.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// What the client last said to a permission request for a call, and at which event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// It was not asked, or has not answered.
    None,
    /// It chose an option that allows.
    Allowed(u64),
    /// It chose an option that rejects.
    Rejected(u64),
    /// It answered with the outcome `cancelled`.
    Cancelled(u64),
    /// It answered with an error or with an option that was not offered.
    Unclear(u64),
}

/// One tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The event that named it first.
    pub known: u64,
    /// The event of its last `tool_call`; `None` where only updates or permission requests named it.
    pub announced: Option<u64>,
    /// The prompt of the turn in which it was first seen.
    pub turn: Option<u64>,
    /// Whether it was last announced in the replay of a load.
    pub replayed: bool,
    /// The last status that was given.
    pub status: Option<Status>,
    /// Whether it was ever shown as running.
    pub ran: bool,
    /// Whether the last status that was given is none that the protocol has, and so which one was meant is not known.
    pub unclear: bool,
    /// Whether that was so at any time.
    pub was_unclear: bool,
    /// Its `kind`, where a known one was given.
    pub kind: Option<&'static str>,
    /// A number that stands for its title.
    pub title: u64,
    /// How many permission requests for it are open.
    pub asked: u32,
    /// What was answered to the last one that was answered.
    pub consent: Consent,
    /// Whether any of them was answered with an option that allows.
    pub allowed: bool,
    /// Whether an update named it before any `tool_call` did.
    pub loose: bool,
}

impl Call {
    fn new(index: u64, turn: Option<u64>) -> Self {
        Self {
            known: index,
            announced: None,
            turn,
            replayed: false,
            status: None,
            ran: false,
            unclear: false,
            was_unclear: false,
            kind: None,
            title: 0,
            asked: 0,
            consent: Consent::None,
            allowed: false,
            loose: false,
        }
    }

    /// The last status; a call of which none was given is pending (the schema's default).
    pub fn status(&self) -> Status {
        self.status.unwrap_or(Status::Pending)
    }

    fn take_over(&mut self, body: &Value) {
        match body.get("status").filter(|status| !status.is_null()) {
            None => {}
            Some(given) => match Status::of(given) {
                Some(status) => {
                    self.status = Some(status);
                    self.ran |= status == Status::InProgress;
                    self.unclear = false;
                }
                None => (self.unclear, self.was_unclear) = (true, true),
            },
        }
        if let Some(kind) = body.get("kind").and_then(Value::as_str) {
            self.kind = TOOL_KINDS.iter().copied().find(|known| *known == kind);
        }
        if let Some(title) = body.get("title").and_then(Value::as_str) {
            let mut hasher = DefaultHasher::new();
            title.hash(&mut hasher);
            self.title = hasher.finish();
        }
    }
}

/// Why nothing can be said of what a call's status must be: what is wrong with the status itself is TOOLCALL-03's.
pub(super) fn unclear(id: &str) -> String {
    format!(
        "call {} had a status that the protocol does not have",
        quote(id)
    )
}

/// What an event did to a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallStep {
    /// The call before the event; `None` where nothing had named it.
    pub before: Option<Call>,
    /// The call after the event.
    pub after: Call,
}

/// The tool calls of one session, by `toolCallId`.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    calls: HashMap<String, Call>,
    /// The ids that were announced since the last prompt that found no turn open.
    of_turn: Vec<String>,
    /// How many calls there may be before some are forgotten; 0 before there were any.
    room: usize,
    forgot: bool,
    /// Whether a call was announced without an id.
    nameless: bool,
}

impl Calls {
    /// The call of this id.
    pub fn get(&self, id: &str) -> Option<&Call> {
        self.calls.get(id)
    }

    /// Why an unknown id may be that of a call that was announced, if it may.
    pub fn unclear(&self) -> Option<&'static str> {
        if self.nameless {
            Some("a tool_call of the session has no id")
        } else {
            self.forgot
                .then_some("the session has so many calls that those that had ended were forgotten")
        }
    }

    /// The calls that were announced since the last prompt that found no turn open, in order; without those that have
    /// ended and were forgotten.
    pub fn of_turn(&self) -> impl Iterator<Item = (&str, &Call)> {
        self.of_turn
            .iter()
            .filter_map(|id| Some((id.as_str(), self.calls.get(id)?)))
    }

    pub(super) fn announced(
        &mut self,
        index: u64,
        turn: Option<u64>,
        replayed: bool,
        body: &Value,
    ) -> Option<CallStep> {
        let Some(id) = body.get("toolCallId").and_then(Value::as_str) else {
            self.nameless = true;
            return None;
        };
        let before = self.calls.get(id).copied();
        let mut after = match before {
            // An id that comes again in live traffic stays the call that it was.
            Some(call) if !replayed => call,
            _ => Call::new(index, turn),
        };
        let is_new = after.announced.is_none() && !replayed;
        after.announced = Some(index);
        after.replayed = replayed;
        after.take_over(body);
        self.put(id, after);
        if is_new {
            self.of_turn.push(id.to_owned());
        }
        Some(CallStep { before, after })
    }

    pub(super) fn updated(
        &mut self,
        index: u64,
        turn: Option<u64>,
        body: &Value,
    ) -> Option<CallStep> {
        self.step(index, turn, body, |call| {
            call.loose |= call.announced.is_none();
            call.take_over(body);
        })
    }

    pub(super) fn asked(
        &mut self,
        index: u64,
        turn: Option<u64>,
        body: &Value,
    ) -> Option<CallStep> {
        self.step(index, turn, body, |call| {
            // A request shows the call, but its status says nothing that the updates do not say.
            let (status, unclear) = (call.status, call.unclear);
            call.take_over(body);
            (call.status, call.unclear) = (status, unclear);
            call.asked += 1;
        })
    }

    pub(super) fn answered(&mut self, body: &Value, consent: Consent) -> Option<CallStep> {
        let id = body.get("toolCallId")?.as_str()?;
        let call = self.calls.get_mut(id)?;
        let before = Some(*call);
        call.asked = call.asked.saturating_sub(1);
        call.consent = consent;
        call.allowed |= matches!(consent, Consent::Allowed(_));
        Some(CallStep {
            before,
            after: *call,
        })
    }

    pub(super) fn turn_begins(&mut self) {
        self.of_turn.clear();
    }

    fn step(
        &mut self,
        index: u64,
        turn: Option<u64>,
        body: &Value,
        change: impl FnOnce(&mut Call),
    ) -> Option<CallStep> {
        let id = body.get("toolCallId")?.as_str()?;
        if let Some(call) = self.calls.get_mut(id) {
            let before = Some(*call);
            change(call);
            return Some(CallStep {
                before,
                after: *call,
            });
        }
        let mut after = Call::new(index, turn);
        change(&mut after);
        self.put(id, after);
        Some(CallStep {
            before: None,
            after,
        })
    }

    fn put(&mut self, id: &str, call: Call) {
        match self.calls.get_mut(id) {
            Some(known) => *known = call,
            None => {
                self.calls.insert(id.to_owned(), call);
                if self.calls.len() > self.room.max(KEPT) {
                    self.forget(id);
                }
            }
        }
    }

    /// Forgets all calls that have ended, but for this one.
    fn forget(&mut self, but: &str) {
        let before = self.calls.len();
        self.calls
            .retain(|id, call| !call.status().is_final() || call.asked > 0 || id == but);
        self.forgot |= self.calls.len() < before;
        // What has not ended stays, however much it is; the next time is when there is twice as much.
        self.room = 2 * self.calls.len();
        let calls = &self.calls;
        self.of_turn.retain(|id| calls.contains_key(id));
    }
}

/// What the answer to a permission request means, by the kind of the option that was chosen.
pub(super) fn consent_of(index: u64, request: &Value, result: Option<&Value>) -> Consent {
    let outcome = result.and_then(|result| result.get("outcome"));
    match outcome
        .and_then(|outcome| outcome.get("outcome"))
        .and_then(Value::as_str)
    {
        Some("cancelled") => Consent::Cancelled(index),
        Some("selected") => match outcome.and_then(|outcome| chosen_kind(request, outcome)) {
            Some("allow_once" | "allow_always") => Consent::Allowed(index),
            Some("reject_once" | "reject_always") => Consent::Rejected(index),
            _ => Consent::Unclear(index),
        },
        _ => Consent::Unclear(index),
    }
}

/// The `kind` of the option of a permission request that an outcome selects.
pub(super) fn chosen_kind<'a>(request: &'a Value, outcome: &Value) -> Option<&'a str> {
    let chosen = outcome.get("optionId")?.as_str()?;
    request
        .get("options")?
        .as_array()?
        .iter()
        .find(|option| option.get("optionId").and_then(Value::as_str) == Some(chosen))?
        .get("kind")?
        .as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_that_have_ended_are_forgotten_when_there_are_many() {
        let mut calls = Calls::default();
        let open = json!({"toolCallId": "open", "title": "x"});
        calls.announced(0, None, false, &open);
        for number in 0..3 * KEPT as u64 {
            let body =
                json!({"toolCallId": number.to_string(), "title": "x", "status": "completed"});
            calls.announced(number, None, false, &body);
        }
        assert!(calls.calls.len() <= KEPT + 1, "{}", calls.calls.len());
        assert!(calls.of_turn.len() <= KEPT + 1, "{}", calls.of_turn.len());
        assert!(
            calls.unclear().is_some() && calls.get("open").is_some() && calls.get("0").is_none()
        );
    }
}
