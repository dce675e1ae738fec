//! What is kept of a session beside its history.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::options::Chosen;
use crate::shown::Shown;

/// The longest title, in characters.
const TITLE_LIMIT: usize = 60;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) chosen: Chosen,
    /// From the first question.
    pub(crate) title: Option<String>,
    /// When the last turn ended, or the session began: ISO 8601, UTC.
    pub(crate) updated: String,
    /// The tokens of all answers.
    pub(crate) spent: u64,
    /// How many messages got an id.
    pub(crate) messages: u64,
    /// The folders beside the session's own.
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) shown: Shown,
}

impl Kept {
    pub(crate) fn new(chosen: Chosen, directories: Vec<PathBuf>) -> Self {
        Self {
            chosen,
            title: None,
            updated: now(),
            spent: 0,
            messages: 0,
            directories,
            shown: Shown::default(),
        }
    }
}

/// The present time: ISO 8601, UTC, milliseconds.
pub(crate) fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S.%3fZ")
        .to_string()
}

/// A title from the first line of a question that says something.
pub(crate) fn title_of(question: &str) -> Option<String> {
    let line = question
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())?;
    let line = crate::log::one_line(line);
    Some(match line.char_indices().nth(TITLE_LIMIT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_of_bounded_length() {
        assert_eq!(title_of("\n  Fix\tit \nnow"), Some("Fix it".to_owned()));
        assert_eq!(title_of(" \n"), None);
        let long = title_of(&"é".repeat(100)).unwrap_or_default();
        assert_eq!(long.chars().count(), TITLE_LIMIT + 1);
    }

    #[test]
    fn times_sort_as_text_and_have_one_form() {
        let (first, second) = (now(), now());
        assert!(first <= second);
        assert_eq!((first.len(), first.ends_with('Z')), (24, true), "{first}");
    }
}
