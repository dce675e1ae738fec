//! Long output page by page, where there is somebody to turn the pages.

use std::io::{self, IsTerminal as _, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The pager where the user names none.
const USUAL: &str = "less -R";
/// What `less` does where the user does not say: it ends by itself if all fits on one screen, shows colours, and leaves
/// what it showed on the screen.
const LESS: &str = "FRX";

/// Where long output goes: through `$PAGER` on a terminal, else to stdout as it is.
pub(super) struct Pager {
    child: Option<Child>,
    out: Option<Box<dyn Write>>,
}

impl Pager {
    /// Starts the pager, if there is a terminal and it is wanted.
    pub(super) fn start(wanted: bool) -> Self {
        let child = (wanted && io::stdout().is_terminal()).then(spawn).flatten();
        let mut pager = Self { child, out: None };
        let input = pager.child.as_mut().and_then(|child| child.stdin.take());
        pager.out = Some(match input {
            Some(input) => Box::new(io::BufWriter::new(input)),
            None => Box::new(io::BufWriter::new(io::stdout())),
        });
        pager
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Some(out) => out.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Waits until the reader has read enough.
impl Drop for Pager {
    fn drop(&mut self) {
        let _ = self.flush();
        self.out = None;
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}

/// The pager's process; `None` where none is wanted or it cannot be started.
fn spawn() -> Option<Child> {
    let words = match std::env::var("PAGER") {
        Ok(words) => words,
        Err(_) => USUAL.to_owned(),
    };
    let words = shell_words::split(&words).ok()?;
    let (program, arguments) = words.split_first()?;
    if program == "cat" && arguments.is_empty() {
        return None;
    }
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let child = command.spawn().ok()?;
    // An interrupt is for the pager: it stops a search there and must not take its input away.
    let _ = signal_hook::flag::register(
        signal_hook::consts::SIGINT,
        Arc::new(AtomicBool::new(false)),
    );
    Some(child)
}
