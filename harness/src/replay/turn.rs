//! How far a turn has come, by the updates of its session: the same reading for the recording and for the live agent.

use serde_json::Value;

/// What an agent has shown in one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnProgress {
    /// Characters of the agent's text.
    pub(crate) text: usize,
    /// Characters of its thoughts.
    pub(crate) thought: usize,
    /// Its tool calls in the order of their start, each with the furthest state seen.
    pub(crate) calls: Vec<(String, State)>,
}

/// How far a tool call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// It is there.
    Pending,
    /// It runs.
    Running,
    /// It is over.
    Ended,
}

/// A place in a turn that a client acted at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point {
    text: usize,
    thought: usize,
    call: Option<(usize, State)>,
}

impl TurnProgress {
    /// Takes an update in.
    pub(crate) fn note(&mut self, update: &Value) {
        let text = |name: &str| update.get(name).and_then(Value::as_str);
        match text("sessionUpdate") {
            Some("agent_message_chunk") => self.text += length(update),
            Some("agent_thought_chunk") => self.thought += length(update),
            Some("tool_call" | "tool_call_update") => {
                let Some(id) = update.get("toolCallId") else {
                    return;
                };
                let state = match text("status") {
                    Some("in_progress") => State::Running,
                    Some("completed" | "failed") => State::Ended,
                    _ => State::Pending,
                };
                let id = id.to_string();
                match self.calls.iter_mut().rev().find(|call| call.0 == id) {
                    Some(call) => call.1 = call.1.max(state),
                    None => self.calls.push((id, state)),
                }
            }
            _ => {}
        }
    }

    /// The place where the turn is now.
    pub(crate) fn point(&self) -> Point {
        Point {
            text: self.text,
            thought: self.thought,
            call: self
                .calls
                .last()
                .map(|(_, state)| (self.calls.len() - 1, *state)),
        }
    }

    /// Whether the turn has come to this place: so much text, and the call with this number so far.
    pub(crate) fn has_reached(&self, point: &Point) -> bool {
        // Thoughts count where there was nothing else yet.
        let thought = if point.text == 0 && point.call.is_none() {
            point.thought
        } else {
            0
        };
        self.text >= point.text
            && self.thought >= thought
            && point.call.is_none_or(|(number, state)| {
                self.calls.get(number).is_some_and(|call| call.1 >= state)
                    || self.calls.len() > number + 1
            })
    }
}

impl Point {
    /// Whether it is the very beginning of a turn.
    pub(crate) fn is_start(&self) -> bool {
        *self == Self::default()
    }

    /// The place in words.
    pub(crate) fn describe(&self) -> String {
        let text = match self.text {
            0 => None,
            count => Some(format!("{count} characters of text")),
        };
        let call = self.call.map(|(number, state)| {
            let state = match state {
                State::Pending => "begun",
                State::Running => "running",
                State::Ended => "ended",
            };
            format!("tool call {} {state}", number + 1)
        });
        match (text, call) {
            (Some(text), Some(call)) => format!("{text}, {call}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) if self.thought > 0 => format!("{} characters of thought", self.thought),
            (None, None) => "the start of the turn".to_owned(),
        }
    }
}

/// Characters of the text of a chunk.
fn length(update: &Value) -> usize {
    let text = update.pointer("/content/text").and_then(Value::as_str);
    text.map_or(0, |text| text.chars().count())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn progress(updates: &[Value]) -> TurnProgress {
        let mut progress = TurnProgress::default();
        updates.iter().for_each(|update| progress.note(update));
        progress
    }

    fn say(text: &str) -> Value {
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
    }

    fn call(id: &str, status: &str) -> Value {
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status})
    }

    #[test]
    fn the_same_text_in_other_chunks_reaches_the_same_place() {
        let point = progress(&[say("one "), say("two")]).point();
        assert!(!progress(&[say("one tw")]).has_reached(&point));
        assert!(progress(&[say("o"), say("ne "), say("tw"), say("o")]).has_reached(&point));
        assert_eq!(point.describe(), "7 characters of text");
    }

    #[test]
    fn a_tool_state_is_reached_by_the_call_of_the_same_number_or_passed_by_the_next() {
        let point = progress(&[call("a", "completed"), call("b", "in_progress")]).point();
        assert!(!progress(&[call("x", "completed"), call("y", "pending")]).has_reached(&point));
        assert!(progress(&[call("x", "pending"), call("y", "failed")]).has_reached(&point));
        let three = [
            call("x", "pending"),
            call("y", "pending"),
            call("z", "pending"),
        ];
        assert!(progress(&three).has_reached(&point));
    }

    #[test]
    fn a_cancel_before_anything_is_reached_at_once() {
        assert!(Point::default().is_start());
        assert!(TurnProgress::default().has_reached(&Point::default()));
    }
}
