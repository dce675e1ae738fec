//! How output looks: colour, characters, width.

use std::io::IsTerminal;

use clap::Args;

use super::value::Color;
use crate::report::Screen;

/// How output looks.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LookArguments {
    /// Colour: `auto`, `always` or `never`; NO_COLOR is heeded
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = super::agent::OUTPUT)]
    pub(in crate::cli) color: Color,

    /// Draw with ASCII only
    ///
    /// Lines and arrows are then made of ASCII, and other characters in what was said are shown as escapes.
    #[arg(long, help_heading = super::agent::OUTPUT)]
    pub(in crate::cli) ascii: bool,
}

impl LookArguments {
    /// What is drawn on, where it goes to this output.
    pub(super) fn screen(self, output: &impl IsTerminal) -> Screen {
        Screen::new(self.color.paint(output), columns(), self.ascii)
    }
}

/// How wide the terminal is: COLUMNS, else what it says itself.
fn columns() -> Option<usize> {
    let told = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    told.filter(|columns| *columns > 0)
        .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
}
