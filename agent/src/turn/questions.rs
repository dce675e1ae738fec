//! Questions to the user through the client: a form for an answer, or a page to go to.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Turn;
use crate::address;
use crate::tools::{CANCELLED, Output, in_plain_text};

/// The member of a form that holds the answer.
const ANSWER: &str = "answer";

/// The most characters of an answer.
const ANSWER_LIMIT: usize = 4000;

/// How long a page counts as open after the user agreed to it. What happens there is not seen from
/// here, and a client has something to show for so long.
const AT_THE_PAGE: Duration = Duration::from_millis(300);

/// What the client made of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reply {
    Accepted(Option<Map<String, Value>>),
    Declined,
    Dismissed,
    /// Another action, or none.
    Unknown,
}

impl Turn<'_> {
    /// Asks the user a question, at a page if there is one. `id`: of the tool call.
    pub(super) async fn ask_user(&self, id: &str, question: &str, page: Option<&str>) -> Output {
        let announced = self.session.announced;
        match page {
            Some(page) => match address::check(page) {
                Err(reason) => Output::failure(reason),
                Ok(()) if !announced.urls => in_plain_text(&format!("{question} {page}")),
                Ok(()) => self.send_to_page(id, question, page).await,
            },
            None if !announced.forms => in_plain_text(question),
            None => self.ask_by_form(id, question).await,
        }
    }

    async fn ask_by_form(&self, id: &str, question: &str) -> Output {
        let asked = self.asked(
            "elicitation/create",
            json!({
                "toolCallId": id,
                "mode": "form",
                "message": question,
                "requestedSchema": {
                    "type": "object",
                    "properties": {
                        ANSWER: {
                            "type": "string",
                            "title": "Answer",
                            "minLength": 1,
                            "maxLength": ANSWER_LIMIT,
                        },
                    },
                    "required": [ANSWER],
                },
            }),
        );
        match asked.await.map(|result| reply(&result)) {
            Err(refusal) => Output::failure(refusal),
            Ok(Reply::Accepted(content)) => match answer(content.as_ref()) {
                Ok(answer) => Output::done(format!("the user answered: {answer}")),
                Err(reason) => Output::failure(format!("[the answer cannot be used: {reason}]")),
            },
            Ok(Reply::Declined) => Output::failure("[the user declined to answer]"),
            Ok(Reply::Dismissed) => Output::failure("[the user dismissed the question]"),
            Ok(Reply::Unknown) => unknown(),
        }
    }

    async fn send_to_page(&self, id: &str, question: &str, page: &str) -> Output {
        // A call asks once, so that its id makes one for the question.
        let elicitation = format!("page_{id}");
        let asked = self.asked(
            "elicitation/create",
            json!({
                "toolCallId": id,
                "mode": "url",
                "message": question,
                "elicitationId": elicitation,
                "url": page,
            }),
        );
        match asked.await.map(|result| reply(&result)) {
            Err(refusal) => Output::failure(refusal),
            Ok(Reply::Accepted(_)) => {
                let there = tokio::time::sleep(AT_THE_PAGE);
                if self.cancel.run_until_cancelled(there).await.is_none() {
                    return Output::failure(CANCELLED);
                }
                let done = json!({ "elicitationId": elicitation });
                self.client.notify("elicitation/complete", done);
                Output::done(format!("the user went to {page}"))
            }
            Ok(Reply::Declined) => Output::failure("[the user declined to go to the page]"),
            Ok(Reply::Dismissed) => Output::failure("[the user dismissed the page]"),
            Ok(Reply::Unknown) => unknown(),
        }
    }
}

fn unknown() -> Output {
    Output::failure("[the client answered with an action that is not known]")
}

fn reply(result: &Value) -> Reply {
    match result.get("action").and_then(Value::as_str) {
        Some("accept") => {
            Reply::Accepted(result.get("content").and_then(Value::as_object).cloned())
        }
        Some("decline") => Reply::Declined,
        Some("cancel") => Reply::Dismissed,
        _ => Reply::Unknown,
    }
}

/// The answer of a form, checked against what was asked for: a client may not have.
fn answer(content: Option<&Map<String, Value>>) -> Result<&str, String> {
    let content = content.ok_or("there is none")?;
    let answer = match content.get(ANSWER) {
        None => return Err(format!("`{ANSWER}` is missing")),
        Some(Value::String(answer)) => answer,
        Some(_) => return Err(format!("`{ANSWER}` is no string")),
    };
    match answer.chars().count() {
        0 => Err(format!("`{ANSWER}` is empty")),
        length if length > ANSWER_LIMIT => Err(format!(
            "`{ANSWER}` is longer than {ANSWER_LIMIT} characters"
        )),
        _ => Ok(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_was_asked_for_is_one() {
        let read = |content: Value| answer(content.as_object()).map(str::to_owned);
        assert_eq!(read(json!({"answer": "é"})), Ok("é".to_owned()));
        let longest = "é".repeat(ANSWER_LIMIT);
        assert_eq!(read(json!({"answer": longest})), Ok(longest.clone()));
        for odd in [
            Value::Null,
            json!({}),
            json!({"answer": null}),
            json!({"answer": 5}),
            json!({"answer": ""}),
            json!({"answer": longest + "é"}),
        ] {
            assert!(read(odd.clone()).is_err(), "{odd}");
        }
    }

    #[test]
    fn only_the_known_actions_are_taken() {
        assert_eq!(reply(&json!({"action": "accept"})), Reply::Accepted(None));
        let null = json!({"action": "accept", "content": null});
        assert_eq!(reply(&null), Reply::Accepted(None));
        let content = json!({"action": "decline", "content": {"answer": "a"}});
        assert_eq!(reply(&content), Reply::Declined);
        for odd in [json!({"action": "_later"}), json!({}), json!(["accept"])] {
            assert_eq!(reply(&odd), Reply::Unknown, "{odd}");
        }
    }
}
