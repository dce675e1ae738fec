//! `ask_user`: a question to the user.

use super::Output;

/// Without a way to show the question, the model has to ask as it says anything else.
pub(crate) fn in_plain_text(question: &str) -> Output {
    Output::done(format!(
        "[the user cannot be asked here; ask in plain text and end your answer: {question}]"
    ))
}
