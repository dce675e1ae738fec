//! What the client answers when the agent asks: permissions by policy, files from the session's folders, the rest refused.

use serde_json::{Value, json};

use super::{FileError, SessionFiles};
use crate::rules::Conversation;
use crate::wire::Message;

/// What to answer to a permission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionChoice {
    /// The first option of this kind; [`Asking`] says what stands in for it.
    Kind(&'static str),
    /// The outcome `cancelled`.
    Cancelled,
    /// A JSON-RPC error.
    Error,
    /// The JSON-RPC error -32800, as a client may answer what it cancels.
    RequestCancelled,
    /// `selected` with an option id that was not offered.
    Unoffered,
    /// An outcome that no version knows.
    UnknownOutcome,
    /// No answer for now.
    Hold,
}

impl PermissionChoice {
    /// What is wrong with the answer on purpose, if anything is.
    pub fn probe(self) -> Option<&'static str> {
        match self {
            Self::Error => Some("a permission request answered with an error"),
            Self::Unoffered => Some("an option that was not offered"),
            Self::UnknownOutcome => Some("an outcome that does not exist"),
            Self::Kind(_) | Self::Cancelled | Self::RequestCancelled | Self::Hold => None,
        }
    }
}

/// What happened to a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asking {
    /// It was answered as wanted.
    Answered,
    /// The kind that was wanted is not on offer; `cancelled` was answered.
    NotOffered(&'static str),
    /// It is held open.
    Held,
}

/// An answer that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A result.
    Result(Value),
    /// An error: code and message.
    Error(i64, String),
    /// Nothing is sent for now.
    Nothing,
}

/// How the client answers.
#[derive(Debug)]
pub struct Answers {
    files: SessionFiles,
    /// Answer every request with -32601, whatever it is.
    pub refuse_all: bool,
}

impl Answers {
    /// Answers that serve these folders.
    pub fn new(files: SessionFiles) -> Self {
        Self {
            files,
            refuse_all: false,
        }
    }

    /// The answer to any request but one for permission. What the client announced in the handshake is served, and nothing
    /// else.
    pub fn to(&self, request: &Message, talk: &Conversation) -> Reply {
        let method = request.method().unwrap_or_default();
        let params = request.params().unwrap_or(&Value::Null);
        if self.refuse_all {
            return not_found(method);
        }
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let number = |name: &str| params.get(name).and_then(Value::as_u64);
        match method {
            "fs/read_text_file" if talk.client_can(&["fs", "readTextFile"]) => match text("path") {
                Some(path) => match self.files.read(path, number("line"), number("limit")) {
                    Ok(content) => Reply::Result(json!({ "content": content })),
                    Err(error) => file_error(&error),
                },
                None => invalid("`path` is missing"),
            },
            "fs/write_text_file" if talk.client_can(&["fs", "writeTextFile"]) => {
                match (text("path"), text("content")) {
                    (Some(path), Some(content)) => match self.files.write(path, content) {
                        Ok(()) => Reply::Result(json!({})),
                        Err(error) => file_error(&error),
                    },
                    _ => invalid("`path` or `content` is missing"),
                }
            }
            "elicitation/create" => match text("mode") {
                // Nobody is there to be asked.
                Some(mode @ ("form" | "url")) if talk.client_can(&["elicitation", mode]) => {
                    Reply::Result(json!({"action": "cancel"}))
                }
                // ELICIT-01 and ELICIT-02: a mode that was not announced is refused as invalid params.
                _ => invalid("this client offers no such elicitation"),
            },
            _ => not_found(method),
        }
    }

    /// The answer to a permission request that offers these options (id and kind).
    pub fn to_permission(
        choice: PermissionChoice,
        options: &[(String, String)],
    ) -> (Reply, Asking) {
        let outcome = |value: Value| (Reply::Result(json!({ "outcome": value })), Asking::Answered);
        match choice {
            PermissionChoice::Kind(kind) => match option_of_kind(kind, options) {
                Some(id) => outcome(json!({"outcome": "selected", "optionId": id})),
                None => (
                    Reply::Result(json!({"outcome": {"outcome": "cancelled"}})),
                    Asking::NotOffered(kind),
                ),
            },
            PermissionChoice::Cancelled => outcome(json!({"outcome": "cancelled"})),
            PermissionChoice::Unoffered => {
                outcome(json!({"outcome": "selected", "optionId": "harness-not-offered"}))
            }
            PermissionChoice::UnknownOutcome => outcome(json!({"outcome": "_harness_shrug"})),
            PermissionChoice::Error => (
                Reply::Error(-32603, "the client failed to ask its user".into()),
                Asking::Answered,
            ),
            PermissionChoice::RequestCancelled => (
                Reply::Error(-32800, "request cancelled".into()),
                Asking::Answered,
            ),
            PermissionChoice::Hold => (Reply::Nothing, Asking::Held),
        }
    }
}

/// The option to choose for a kind: of that kind, or of the kind beside it with the same meaning for this one call.
fn option_of_kind<'a>(kind: &str, options: &'a [(String, String)]) -> Option<&'a str> {
    let beside = match kind {
        "allow_once" => Some("allow_always"),
        "reject_once" => Some("reject_always"),
        _ => None,
    };
    let of = |kind: &str| options.iter().find(|option| option.1 == kind);
    of(kind)
        .or_else(|| beside.and_then(of))
        .map(|option| option.0.as_str())
}

fn not_found(method: &str) -> Reply {
    Reply::Error(-32601, format!("method not found: {method}"))
}

fn invalid(why: &str) -> Reply {
    Reply::Error(-32602, format!("invalid params: {why}"))
}

fn file_error(error: &FileError) -> Reply {
    let code = match error {
        FileError::Missing(_) => -32002,
        FileError::Relative(_) | FileError::Outside(_) => -32602,
        FileError::Io { .. } => -32603,
    };
    Reply::Error(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Judge;
    use crate::rules::talking::events;

    fn options(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(id, kind)| ((*id).to_owned(), (*kind).to_owned()))
            .collect()
    }

    #[test]
    fn a_kind_that_is_not_offered_is_stood_in_for_by_its_neighbour_or_else_cancelled() {
        let always = options(&[("y", "allow_always"), ("n", "reject_always")]);
        let (reply, asking) =
            Answers::to_permission(PermissionChoice::Kind("reject_once"), &always);
        assert_eq!(asking, Asking::Answered);
        assert_eq!(
            reply,
            Reply::Result(json!({"outcome": {"outcome": "selected", "optionId": "n"}}))
        );
        let only_allow = options(&[("y", "allow_once")]);
        let (reply, asking) =
            Answers::to_permission(PermissionChoice::Kind("reject_once"), &only_allow);
        assert_eq!(asking, Asking::NotOffered("reject_once"));
        assert_eq!(
            reply,
            Reply::Result(json!({"outcome": {"outcome": "cancelled"}}))
        );
        // To allow for always is more than was wanted by nobody: it is never stood in for.
        let (_, asking) =
            Answers::to_permission(PermissionChoice::Kind("allow_always"), &only_allow);
        assert_eq!(asking, Asking::NotOffered("allow_always"));
    }

    #[test]
    fn what_was_not_offered_is_refused_as_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let files = SessionFiles::open([folder.path().to_owned()]).unwrap();
        let answers = Answers::new(files);
        let mut judge = Judge::new(true);
        for event in events(
            r#"
            > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"elicitation":{"form":{}}}}}
            < {"id":0,"result":{"protocolVersion":1}}
        "#,
        ) {
            judge.see(&event);
        }
        let answer = |text: &str| {
            answers.to(
                crate::wire::Reading::of_text(text).message().unwrap(),
                judge.talk(),
            )
        };
        let write =
            r#"{"id":1,"method":"fs/write_text_file","params":{"path":"/x","content":"y"}}"#;
        assert!(matches!(answer(write), Reply::Error(-32601, _)));
        let outside = r#"{"id":1,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}"#;
        assert!(matches!(answer(outside), Reply::Error(-32602, _)));
        let terminal = r#"{"id":1,"method":"terminal/create","params":{}}"#;
        assert!(matches!(answer(terminal), Reply::Error(-32601, _)));
        let form = r#"{"id":1,"method":"elicitation/create","params":{"mode":"form"}}"#;
        assert_eq!(answer(form), Reply::Result(json!({"action": "cancel"})));
        let url = r#"{"id":1,"method":"elicitation/create","params":{"mode":"url"}}"#;
        assert!(matches!(answer(url), Reply::Error(-32602, _)));
    }
}
