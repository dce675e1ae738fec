//! Messages that differ from the one before them in one piece of text only.

use std::ops::Range;

use crate::redact::walk::end_of_string;

/// How much of what stands before a piece is looked at with it: a word may begin there and end in the piece.
const EDGE: usize = 32;

/// What stands around the piece of text in a message in which nothing gave reason to look closer.
///
/// An agent that streams sends the same line again and again but for the piece. Then only the piece is looked at.
#[derive(Clone, Debug)]
pub(super) struct Template {
    before: Box<str>,
    after: Box<str>,
    /// The text that the piece belongs to.
    pub(super) key: u64,
    /// The session.
    pub(super) owner: u64,
}

impl Template {
    /// The template of a message whose only piece stands at `raw`.
    pub(super) fn of(text: &str, raw: &Range<usize>, key: u64, owner: u64) -> Option<Self> {
        Some(Self {
            before: text.get(..raw.start)?.into(),
            after: text.get(raw.end..)?.into(),
            key,
            owner,
        })
    }

    /// Where the piece stands in a message, if it is one of this template.
    pub(super) fn piece(&self, text: &str) -> Option<Range<usize>> {
        let end = text.len().checked_sub(self.after.len())?;
        let fits = text.starts_with(&*self.before)
            && self.before.len() <= end
            && text.ends_with(&*self.after)
            && end_of_string(text.as_bytes(), self.before.len()) == end;
        fits.then_some(self.before.len()..end)
    }

    /// The part of a message of this template that must be looked at.
    pub(super) fn open<'a>(&self, text: &'a str) -> &'a [u8] {
        let from = self.before.len().saturating_sub(EDGE);
        text.as_bytes().get(from..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_of_a_template_if_the_piece_alone_differs() {
        let text = r#"{"a":"b","c":1}"#;
        let template = Template::of(text, &(6..7), 1, 2).unwrap();
        assert_eq!(template.piece(text), Some(6..7));
        assert_eq!(template.piece(r#"{"a":"","c":1}"#), Some(6..6));
        assert_eq!(template.piece(r#"{"a":"x\"y","c":1}"#), Some(6..10));
        for other in [
            r#"{"a":"b","x":"","c":1}"#,
            r#"{"a":"b","c":2}"#,
            r#"{"b":"b","c":1}"#,
            r#"{"a":"b"}"#,
            "",
        ] {
            assert_eq!(template.piece(other), None, "{other}");
        }
    }
}
