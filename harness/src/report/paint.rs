//! Colour, where there is a terminal that wants it.

use anstyle::{AnsiColor, Style};

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    /// Whether there is colour.
    pub on: bool,
}

impl Paint {
    fn style(self, style: Style, text: &str) -> String {
        if self.on {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// What failed.
    pub fn bad(self, text: &str) -> String {
        self.style(AnsiColor::Red.on_default().bold(), text)
    }

    /// What holds.
    pub fn good(self, text: &str) -> String {
        self.style(AnsiColor::Green.on_default(), text)
    }

    /// What could not be told.
    pub fn open(self, text: &str) -> String {
        self.style(AnsiColor::Yellow.on_default(), text)
    }

    /// What stands out.
    pub fn strong(self, text: &str) -> String {
        self.style(Style::new().bold(), text)
    }

    /// What stands back.
    pub fn faint(self, text: &str) -> String {
        self.style(Style::new().dimmed(), text)
    }
}
