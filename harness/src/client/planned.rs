//! How requests of the agent are answered where a scenario says so, instead of being served.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{Reply, form};

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Planned {
    /// It is served as the client's capabilities say.
    Serve,
    /// None until the turn is cancelled, the agent gives the request up, or the end.
    Hold,
    /// A JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
        /// Its message; a usual one if absent.
        message: Option<String>,
        /// What is wrong with it on purpose.
        probe: Option<String>,
    },
    /// A result.
    Result {
        /// As it is sent.
        result: Value,
        /// Whether the request is served first; where that fails, its error is the answer.
        served: bool,
        /// What is wrong with it on purpose.
        probe: Option<String>,
    },
    /// The user's answer to an elicitation.
    Elicited {
        /// `accept`, `decline`, `cancel`, or one that the protocol does not have.
        action: String,
        /// What comes with it.
        content: Content,
        /// What is wrong with it on purpose.
        probe: Option<String>,
    },
}

/// What comes with the answer to an elicitation.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// No member `content`.
    Absent,
    /// What the form asks for; at a page nothing.
    Filled,
    /// What breaks the form: each value is one that it does not allow, with 7340417 in it.
    Broken,
    /// This value.
    Given(Value),
}

impl Planned {
    /// The answer itself, and what is wrong with it on purpose; `None` for one that is served, held or made in part by
    /// serving.
    pub(super) fn reply(&self, method: &str, params: &Value) -> Option<(Reply, Option<&str>)> {
        match self {
            Self::Serve | Self::Hold | Self::Result { served: true, .. } => None,
            Self::Error {
                code,
                message,
                probe,
            } => {
                let message = message
                    .clone()
                    .unwrap_or_else(|| format!("the client does not do {method} this time"));
                Some((Reply::Error(*code, message), probe.as_deref()))
            }
            Self::Result { result, probe, .. } => {
                Some((Reply::Result(result.clone()), probe.as_deref()))
            }
            Self::Elicited {
                action,
                content,
                probe,
            } => {
                let mut result = json!({ "action": action });
                let content = match (content, params.get("requestedSchema")) {
                    (Content::Filled, Some(schema)) => Some(Value::Object(form::filled(schema))),
                    (Content::Broken, Some(schema)) => Some(Value::Object(form::broken(schema))),
                    (Content::Given(content), _) => Some(content.clone()),
                    _ => None,
                };
                if let (Some(content), Some(members)) = (content, result.as_object_mut()) {
                    members.insert("content".to_owned(), content);
                }
                Some((Reply::Result(result), probe.as_deref()))
            }
        }
    }
}

/// The answers by method: one after the other, the last for all that follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedReplies {
    methods: IndexMap<String, Vec<Planned>>,
    used: IndexMap<String, usize>,
}

impl PlannedReplies {
    /// These answers, none of which was given yet.
    pub fn new(methods: impl IntoIterator<Item = (String, Vec<Planned>)>) -> Self {
        Self {
            methods: methods.into_iter().collect(),
            used: IndexMap::new(),
        }
    }

    /// The next answer to a request of this method.
    pub(super) fn next(&mut self, method: &str) -> Planned {
        let Some(answers) = self.methods.get(method) else {
            return Planned::Serve;
        };
        let used = self.used.entry(method.to_owned()).or_default();
        let answer = answers.get(*used).or(answers.last());
        *used += 1;
        answer.cloned().unwrap_or(Planned::Serve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_one_after_the_other_and_the_last_for_all_that_follow() {
        let mut replies =
            PlannedReplies::new([("a".to_owned(), vec![Planned::Hold, Planned::Serve])]);
        assert_eq!(replies.next("a"), Planned::Hold);
        assert_eq!(replies.next("b"), Planned::Serve);
        assert_eq!(replies.next("a"), Planned::Serve);
        assert_eq!(replies.next("a"), Planned::Serve);
    }

    #[test]
    fn an_elicitation_is_answered_with_its_form_filled_and_a_page_with_nothing() {
        let accept = |content: Content| Planned::Elicited {
            action: "accept".into(),
            content,
            probe: None,
        };
        let form = json!({"requestedSchema": {"properties": {"a": {"type": "string"}}}});
        let answered = |content: Content, params: &Value| match accept(content).reply("m", params) {
            Some((Reply::Result(result), None)) => result,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            answered(Content::Filled, &form),
            json!({"action": "accept", "content": {"a": "harness-answer"}})
        );
        assert_eq!(
            answered(Content::Filled, &json!({"url": "https://a.example"})),
            json!({"action": "accept"})
        );
        assert_eq!(
            answered(Content::Absent, &form),
            json!({"action": "accept"})
        );
        assert_eq!(
            answered(Content::Given(Value::Null), &form),
            json!({"action": "accept", "content": null})
        );
    }
}
