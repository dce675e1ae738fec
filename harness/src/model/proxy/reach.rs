//! Whether the model servers upstream gave any answer at all.

use serde::{Deserialize, Serialize};

/// What came of the requests for a reply: look-ups (lists of models and the like) do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reach {
    requests: u64,
    answered: bool,
    /// The first failure, as a sentence.
    failure: Option<String>,
}

impl Reach {
    /// Whether there was no request at all.
    pub(crate) fn is_none(&self) -> bool {
        self.requests == 0
    }

    /// A request was answered, with a status that is no error.
    pub(super) fn answered(&mut self) {
        self.requests += 1;
        self.answered = true;
    }

    /// A request got no answer, or an error.
    pub(super) fn failed(&mut self, why: String) {
        self.requests += 1;
        self.failure.get_or_insert(why);
    }

    /// Adds what came of other requests.
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.answered |= other.answered;
        if let Some(why) = &other.failure {
            self.failure.get_or_insert_with(|| why.clone());
        }
    }

    /// A sentence on why no request at all was answered; `None` where one was, and where there was none.
    pub(crate) fn nobody(&self) -> Option<String> {
        let why = self.failure.as_ref().filter(|_| !self.answered)?;
        let all = match self.requests {
            1 => "the one request to the model was not answered".to_owned(),
            many => format!("none of the {many} requests to the model was answered"),
        };
        Some(format!("{all}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_is_enough_and_no_request_says_nothing() {
        let mut reach = Reach::default();
        assert_eq!(reach.nobody(), None);
        reach.failed("the door is shut".into());
        assert_eq!(
            reach.nobody().unwrap(),
            "the one request to the model was not answered: the door is shut"
        );
        let mut all = Reach::default();
        all.add(&reach);
        all.add(&reach);
        assert!(all.nobody().unwrap().starts_with("none of the 2 requests"));
        reach.answered();
        all.add(&reach);
        assert_eq!(all.nobody(), None);
    }
}
