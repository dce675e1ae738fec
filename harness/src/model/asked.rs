//! What a request asks of the model, in a form that no interface owns.

use serde_json::Value;

/// A request for a reply, read from the body of any interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    /// The model's name as the agent wrote it.
    pub(crate) model: String,
    /// Whether the reply is to be streamed.
    pub(crate) stream: bool,
    /// Whether a streamed reply is to tell its token counts.
    pub(crate) usage: bool,
    /// The tools that the agent offers.
    pub(crate) tools: Vec<Tool>,
    /// The conversation up to here, system text included. One reply of the model is one message, and so are all results
    /// of the tools that it called.
    pub(crate) messages: Vec<Message>,
    /// All system text.
    pub(crate) system: String,
    /// The text of the first message of the user.
    pub(crate) first_user: String,
    /// The text of what the user said since the model's last reply; empty where results of tools stand there.
    pub(crate) last_user: String,
    /// What a retry of this request has in common with it.
    pub(crate) conversation: Conversation,
    /// What the text of the reply must be.
    pub(crate) answer: Answer,
    /// The bound on the reply's length.
    pub(crate) max_tokens: Option<u64>,
}

/// A tool that the agent offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: String,
    /// What the agent says about it.
    pub(crate) description: String,
    /// The JSON Schema of its arguments; null where there is none.
    pub(crate) schema: Value,
    /// Whether it takes plain text in place of JSON arguments.
    pub(crate) freeform: bool,
}

/// One message of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// Whose it is.
    pub(crate) role: Role,
    /// Its text; thoughts are left out.
    pub(crate) text: String,
    /// The tools that the model called in it.
    pub(crate) calls: Vec<Called>,
    /// What tools gave back; only in messages of the role [`Role::Tool`].
    pub(crate) results: Vec<Returned>,
}

impl Message {
    /// One that says a text.
    pub(crate) fn said(role: Role, text: String) -> Self {
        Self {
            role,
            text,
            ..Self::default()
        }
    }
}

/// Whose a message is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// The system's or the developer's.
    System,
    /// The user's, or what an agent says in the user's place.
    #[default]
    User,
    /// The model's.
    Model,
    /// Results of tools.
    Tool,
}

/// A call that the model made earlier, as the agent repeats it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Called {
    /// Its id; empty where the interface has none.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments: JSON, or plain text for a tool that takes that.
    pub(crate) arguments: String,
}

/// What a tool gave back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Returned {
    /// The id of the call; empty where the interface has none.
    pub(crate) id: String,
    /// The tool; empty where neither the result nor an earlier call names it.
    pub(crate) name: String,
    /// The result's text, or its JSON where it is no text.
    pub(crate) text: String,
    /// Whether the agent marks it as an error; not all interfaces can.
    pub(crate) failed: bool,
}

/// The place in a conversation that a request is made from: a retry has the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// How many messages there are.
    pub(crate) messages: usize,
    /// The last of them, as JSON.
    pub(crate) last: String,
}

/// What the text of a reply must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Answer {
    /// Any text.
    #[default]
    Text,
    /// A JSON object, of this schema where one is given.
    Json(Option<Value>),
}

impl Asked {
    /// Takes in the conversation, and what follows from it. `last` is the last message as it stands in the request.
    pub(crate) fn holding(mut self, messages: Vec<Message>, last: Option<&Value>) -> Self {
        for message in messages {
            self.push(message);
        }
        let said_by = |messages: &[Message], role: Role| -> Vec<String> {
            let theirs = messages.iter().filter(|message| message.role == role);
            theirs.map(|message| message.text.clone()).collect()
        };
        let since = self
            .messages
            .iter()
            .rposition(|message| message.role == Role::Model)
            .map_or(0, |last| last + 1);
        let latest = self
            .messages
            .get(since..)
            .filter(|latest| !latest.iter().any(|message| message.role == Role::Tool))
            .unwrap_or_default();
        self.last_user = said_by(latest, Role::User).join("\n");
        self.system = said_by(&self.messages, Role::System).join("\n");
        self.first_user = said_by(&self.messages, Role::User)
            .into_iter()
            .next()
            .unwrap_or_default();
        self.conversation = Conversation {
            messages: self.messages.len(),
            last: last.map(Value::to_string).unwrap_or_default(),
        };
        self
    }

    /// Adds a message, to the one before it where both are parts of one reply or of its results.
    fn push(&mut self, mut message: Message) {
        for result in &mut message.results {
            if result.name.is_empty() {
                result.name = self.called(&result.id);
            }
        }
        match self.messages.last_mut() {
            Some(before)
                if before.role == message.role
                    && matches!(message.role, Role::Model | Role::Tool) =>
            {
                if !before.text.is_empty() && !message.text.is_empty() {
                    before.text.push('\n');
                }
                before.text.push_str(&message.text);
                before.calls.append(&mut message.calls);
                before.results.append(&mut message.results);
            }
            _ => self.messages.push(message),
        }
    }

    /// The tool of the latest call with this id.
    fn called(&self, id: &str) -> String {
        let calls = self
            .messages
            .iter()
            .rev()
            .flat_map(|message| &message.calls);
        let mut calls = calls.filter(|call| !id.is_empty() && call.id == id);
        calls
            .next()
            .map_or_else(String::new, |call| call.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(role: Role, text: &str) -> Message {
        Message {
            role,
            text: text.into(),
            ..Message::default()
        }
    }

    #[test]
    fn parts_of_one_reply_are_one_message_and_results_get_the_name_of_their_tool() {
        let call = |id: &str, name: &str| Message {
            role: Role::Model,
            calls: vec![Called {
                id: id.into(),
                name: name.into(),
                ..Called::default()
            }],
            ..Message::default()
        };
        let result = |id: &str| Message {
            role: Role::Tool,
            results: vec![Returned {
                id: id.into(),
                ..Returned::default()
            }],
            ..Message::default()
        };
        let asked = Asked::default().holding(
            vec![
                text(Role::User, "hi"),
                text(Role::Model, "Hm."),
                call("1", "read"),
                call("2", "bash"),
                result("2"),
                result("3"),
            ],
            None,
        );
        assert_eq!(asked.messages.len(), 3);
        assert_eq!(asked.messages[1].calls.len(), 2);
        assert_eq!(asked.messages[1].text, "Hm.");
        assert_eq!(asked.messages[2].results[0].name, "bash");
        assert_eq!(asked.messages[2].results[1].name, "");
        assert_eq!(asked.last_user, "");
    }

    #[test]
    fn what_the_user_said_last_is_all_since_the_last_reply() {
        let asked = Asked::default().holding(
            vec![
                text(Role::System, "s"),
                text(Role::User, "a"),
                text(Role::Model, "b"),
                text(Role::User, "c"),
                text(Role::System, "t"),
                text(Role::User, "d"),
            ],
            None,
        );
        assert_eq!(asked.first_user, "a");
        assert_eq!(asked.last_user, "c\nd");
        assert_eq!(asked.system, "s\nt");
    }
}
