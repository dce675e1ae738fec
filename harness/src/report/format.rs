//! The formats of `--report`. A further one is a variant here, a word, and a line in [`Format::render`].

use super::page::{Front, page};
use super::{Document, badge, junit, markdown};

/// A format in which a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The report as data: all other formats can be made from it.
    Json,
    /// JUnit XML, for viewers of test results.
    Junit,
    /// Markdown, for the summary of a job or an issue.
    Markdown,
    /// The JSON that shields.io makes a badge of.
    Badge,
    /// One page for a browser, with the recordings in it.
    Html,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [
        Self::Json,
        Self::Junit,
        Self::Markdown,
        Self::Badge,
        Self::Html,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Markdown => "markdown",
            Self::Badge => "badge",
            Self::Html => "html",
        }
    }

    /// The format that a word means.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }

    /// The report in this format. It is made from the document alone (a page also from the recordings that the document
    /// names), so that a run and a report that is made of its JSON later are equal byte for byte.
    ///
    /// # Errors
    /// A sentence on what could not be written; nothing in a report is known to make it fail.
    pub fn render(self, document: &Document) -> Result<String, String> {
        match self {
            Self::Json => document.to_json().map_err(|error| error.to_string()),
            Self::Junit => junit::junit(document),
            Self::Markdown => Ok(markdown::markdown(document)),
            Self::Badge => badge::badge(document).map_err(|error| error.to_string()),
            Self::Html => {
                let report = document.to_json().map_err(|error| error.to_string())?;
                page(&report, Front::Overview).map_err(|error| error.to_string())
            }
        }
    }
}
