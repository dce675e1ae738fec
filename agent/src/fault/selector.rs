//! Which messages an edit is about.

use serde::Deserialize;

/// What passes, as selectors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Nothing was written yet.
    Start,
    /// Everything was written.
    End,
    /// A request of the agent's.
    Request,
    /// A notification of the agent's that is no `session/update`.
    Notification,
    /// A `session/update`, named by its kind.
    Update,
    /// A result for the client.
    Answer,
    /// An error for the client.
    Error,
    /// Any message of the agent's.
    Any,
    /// A request of the client's.
    Asked,
    /// A notification of the client's.
    Told,
    /// A result of the client's for a request of the agent's.
    Answered,
    /// A line of the client's that is no JSON object.
    OddLine,
    /// The end of the input.
    Closed,
}

const SORTS: [(&str, Sort); 13] = [
    ("start", Sort::Start),
    ("end", Sort::End),
    ("request", Sort::Request),
    ("notification", Sort::Notification),
    ("update", Sort::Update),
    ("answer", Sort::Answer),
    ("error", Sort::Error),
    ("any", Sort::Any),
    ("asked", Sort::Asked),
    ("told", Sort::Told),
    ("answered", Sort::Answered),
    ("odd-line", Sort::OddLine),
    ("closed", Sort::Closed),
];

/// A sort of messages and the method or kind of them, such as `answer session/new`; without a
/// name, or with `*`, all of the sort.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Selector {
    sort: Sort,
    name: Option<String>,
}

impl Default for Selector {
    fn default() -> Self {
        Self {
            sort: Sort::Any,
            name: None,
        }
    }
}

impl TryFrom<String> for Selector {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (word, name) = text.split_once(' ').unwrap_or((&text, "*"));
        let sort = SORTS.iter().find(|(known, _)| *known == word);
        let sort = sort.map(|(_, sort)| *sort).ok_or_else(|| {
            let known: Vec<&str> = SORTS.iter().map(|(known, _)| *known).collect();
            format!("`{word}` selects nothing; known: {}", known.join(", "))
        })?;
        let name = (name != "*").then(|| name.to_owned());
        Ok(Self { sort, name })
    }
}

impl Selector {
    /// Whether it selects a message of this sort and name.
    pub(super) fn selects(&self, sort: Sort, name: &str) -> bool {
        let any = self.sort == Sort::Any
            && matches!(
                sort,
                Sort::Request | Sort::Notification | Sort::Update | Sort::Answer | Sort::Error
            );
        (any || self.sort == sort) && self.name.as_deref().is_none_or(|wanted| wanted == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(text: &str) -> Selector {
        Selector::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn a_name_narrows_a_sort_and_any_is_all_that_goes_out() {
        assert!(selector("answer").selects(Sort::Answer, "session/new"));
        assert!(selector("answer *").selects(Sort::Answer, "session/new"));
        assert!(selector("answer session/new").selects(Sort::Answer, "session/new"));
        assert!(!selector("answer session/new").selects(Sort::Answer, "session/prompt"));
        assert!(!selector("answer session/new").selects(Sort::Error, "session/new"));
        assert!(selector("any").selects(Sort::Error, ""));
        assert!(!selector("any").selects(Sort::Asked, "session/new"));
        assert!(Selector::try_from("reply".to_owned()).is_err());
    }
}
