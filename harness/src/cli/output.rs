//! Writing to stdout and stderr. Who reads may have gone: that is a quiet end and no error.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Writes to stdout, to its end. A reader that has gone is no error.
///
/// # Errors
/// Any other, such as a full disk.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes a line to stderr; there is nobody to tell if that fails.
pub(super) fn say(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes an error to stderr.
pub(crate) fn error(text: impl Display) {
    say(format_args!("error: {text}"));
}
