//! The conversation of a session, as a model sees it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool call that a model asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Call {
    /// The model's own name for the call, given back with its result.
    pub(crate) id: String,
    pub(crate) tool: String,
    /// The arguments: an object, or whatever text the model sent instead.
    pub(crate) arguments: Value,
}

impl Call {
    /// The text that the call brings to a model.
    pub(crate) fn size(&self) -> usize {
        self.tool.len() + value_size(&self.arguments)
    }
}

/// One message after the system prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// What the user asked.
    User(String),
    /// What the model answered, in words and calls.
    Assistant { text: String, calls: Vec<Call> },
    /// What a call led to.
    ToolResult { id: String, text: String },
    /// What stands for older messages.
    Summary(String),
}

impl Message {
    /// The text that the message brings to a model.
    fn size(&self) -> usize {
        match self {
            Self::User(text) | Self::Summary(text) | Self::ToolResult { text, .. } => text.len(),
            Self::Assistant { text, calls } => {
                let calls: usize = calls.iter().map(Call::size).sum();
                text.len() + calls
            }
        }
    }
}

/// About the length of a value written as JSON, without writing it.
fn value_size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(value_size).sum::<usize>() + 2,
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| name.len() + value_size(value) + 4)
            .sum(),
        _ => 4,
    }
}

/// A system prompt and the messages after it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct History {
    /// Made anew whenever a session is opened.
    #[serde(skip)]
    pub(crate) system: String,
    pub(crate) messages: Vec<Message>,
    /// The input tokens of the last answer, where the model counted them.
    pub(crate) input_tokens: Option<u64>,
}

impl History {
    #[cfg(test)]
    pub(crate) fn new(system: String) -> Self {
        Self {
            system,
            messages: Vec::new(),
            input_tokens: None,
        }
    }

    /// Forgets everything but the system prompt, and says how many messages that were.
    pub(crate) fn clear(&mut self) -> usize {
        self.input_tokens = None;
        std::mem::take(&mut self.messages).len()
    }

    /// Takes out a question that got no answer at all.
    pub(crate) fn drop_unanswered(&mut self) {
        if let Some(Message::User(_)) = self.messages.last() {
            self.messages.pop();
        }
    }

    /// Where the last `turns` turns begin, if there are more turns than those.
    pub(crate) fn start_of_last(&self, turns: usize) -> Option<usize> {
        let mut questions = self
            .messages
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, message)| matches!(message, Message::User(_)));
        let start = match turns.checked_sub(1) {
            None => self.messages.len(),
            Some(before) => questions.nth(before)?.0,
        };
        questions.next().map(|_| start)
    }

    /// A rough count of tokens, for models that do not count: four bytes a token.
    pub(crate) fn estimated_tokens(&self) -> u64 {
        let bytes: usize = self.messages.iter().map(Message::size).sum();
        tokens_of(bytes)
    }
}

/// About the tokens of a text of so many bytes.
pub(crate) fn tokens_of(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of_turns(turns: usize) -> History {
        let mut history = History::new(String::new());
        for turn in 0..turns {
            history.messages.push(Message::User(format!("q{turn}")));
            history.messages.push(Message::Assistant {
                text: format!("a{turn}"),
                calls: Vec::new(),
            });
        }
        history
    }

    #[test]
    fn the_last_turns_begin_at_a_question() {
        assert_eq!(of_turns(6).start_of_last(4), Some(4));
        assert_eq!(of_turns(5).start_of_last(4), Some(2));
    }

    #[test]
    fn no_more_turns_than_are_kept_means_nothing_is_older() {
        assert_eq!(of_turns(4).start_of_last(4), None);
        assert_eq!(of_turns(0).start_of_last(4), None);
        assert_eq!(of_turns(0).start_of_last(0), None);
    }

    #[test]
    fn keeping_no_turn_leaves_nothing_out() {
        assert_eq!(of_turns(3).start_of_last(0), Some(6));
    }

    #[test]
    fn a_summary_alone_before_the_kept_turns_is_nothing_to_compress() {
        let mut history = of_turns(4);
        history
            .messages
            .insert(0, Message::Summary("earlier".into()));
        assert_eq!(history.start_of_last(4), None);
        assert_eq!(history.start_of_last(3), Some(3));
    }

    #[test]
    fn only_a_question_without_any_answer_is_taken_out() {
        let mut history = of_turns(1);
        history.drop_unanswered();
        assert_eq!(history.messages.len(), 2);
        history.messages.push(Message::User("lost".into()));
        history.drop_unanswered();
        assert_eq!(history.messages.len(), 2);
    }
}
