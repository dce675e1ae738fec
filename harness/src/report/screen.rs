//! What is drawn on: how wide it is, and with which characters and colours.

use unicode_width::UnicodeWidthChar as _;

use super::{Paint, plain};

/// The narrowest that is drawn for, in columns.
pub const NARROWEST: usize = 60;
/// Wider than this nothing is drawn, so that the two ends of a line can be seen together.
pub const WIDEST: usize = 160;
/// How wide it is where nobody says.
const USUAL: usize = 100;

/// What is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Colour.
    pub paint: Paint,
    /// Columns, from [`NARROWEST`] to [`WIDEST`].
    pub width: usize,
    /// Whether everything is ASCII: lines and arrows, and what others wrote.
    pub ascii: bool,
}

impl Screen {
    /// A screen so many columns wide, or of the usual width.
    pub fn new(paint: Paint, width: Option<usize>, ascii: bool) -> Self {
        Self {
            paint,
            width: width.unwrap_or(USUAL).clamp(NARROWEST, WIDEST),
            ascii,
        }
    }

    /// The same for what is indented by so many columns.
    pub(crate) fn narrower(self, columns: usize) -> Self {
        Self {
            width: self.width.saturating_sub(columns),
            ..self
        }
    }

    /// Columns of prose: longer lines are hard to read.
    pub(crate) fn prose(self) -> usize {
        self.width.min(USUAL).saturating_sub(4)
    }

    /// Text of others, so that it is never a control sequence, in the characters of the screen.
    pub(crate) fn text(self, text: &str) -> String {
        self.characters(plain(text))
    }

    /// What is safe for a terminal, in the characters of the screen.
    pub(crate) fn characters(self, text: String) -> String {
        if !self.ascii || text.is_ascii() {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '…' => out.push_str("..."),
                '×' => out.push('x'),
                _ if character.is_ascii() => out.push(character),
                _ => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            }
        }
        out
    }

    /// The start of a text that is safe for a terminal, in at most so many columns.
    pub(crate) fn cut(self, text: &str, columns: usize) -> String {
        let more = if self.ascii { "..." } else { "…" };
        let room = columns.saturating_sub(if self.ascii { 3 } else { 1 });
        let (mut used, mut end) = (0, 0);
        for (at, character) in text.char_indices() {
            let wide = character.width().unwrap_or(0);
            if used + wide > columns {
                return format!("{}{more}", text.get(..end).unwrap_or_default());
            }
            used += wide;
            if used <= room {
                end = at + character.len_utf8();
            }
        }
        text.to_owned()
    }
}

/// A screen of the usual width.
impl From<Paint> for Screen {
    fn from(paint: Paint) -> Self {
        Self::new(paint, None, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_columns_and_not_by_characters() {
        let screen = Screen::from(Paint::default());
        assert_eq!(screen.cut("漢字漢字", 8), "漢字漢字");
        assert_eq!(screen.cut("漢字漢字", 7), "漢字漢…");
        assert_eq!(screen.cut("漢字漢字", 6), "漢字…");
    }

    #[test]
    fn in_ascii_everything_is_ascii() {
        let screen = Screen::new(Paint::default(), None, true);
        assert_eq!(screen.text("Ärger…\u{1b}"), "\\u00c4rger...\\u001b");
        assert_eq!(screen.cut("abcdefgh", 6), "abc...");
    }
}
