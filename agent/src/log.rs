//! Lines on stderr.

use std::fmt;
use std::io::Write as _;

/// Writes one line to stderr. A stderr that is closed is no reason to stop.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes one `[acp]` line to stderr, with control characters made visible.
pub(crate) fn acp(text: fmt::Arguments<'_>) {
    line(format_args!("[acp] {}", one_line(&text.to_string())));
}

/// `text` with each control character replaced by a space, so that it stays one line.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
