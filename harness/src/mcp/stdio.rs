//! The server on stdin and stdout.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::thread;

use serde_json::Value;

use super::dialogue;
use super::log::Log;
use super::tools::Started;

/// The longest line that is read, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Serves until stdin is closed. A server that is `silent` reads and answers nothing.
///
/// # Errors
/// What the system says about stdin, stdout or the log; a line that is too long.
pub(crate) fn serve(started: &Started, log: &Log, silent: bool) -> io::Result<()> {
    log.hold()?;
    log.start("stdio", started);
    let end = match read(started, log, silent) {
        Ok(()) => "stdin closed",
        // Whoever does not read any more has gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => "stdout closed",
        Err(error) => return Err(error),
    };
    log.end(end);
    Ok(())
}

fn read(started: &Started, log: &Log, silent: bool) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut input).take(LONGEST).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
            let limit = format!("a line of more than {LONGEST} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, limit));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            log.received(&Value::from(String::from_utf8_lossy(&line)));
            say(log, &dialogue::not_json())?;
            continue;
        };
        log.received(&message);
        match dialogue::answer(&message, started) {
            None => {}
            Some(_) if silent => {}
            Some(answer) if answer.after.is_zero() => say(log, &answer.message)?,
            Some(answer) => {
                // Other requests are answered meanwhile.
                let log = log.clone();
                thread::spawn(move || {
                    thread::sleep(answer.after);
                    // Where stdout is closed nobody waits any more.
                    let _ = say(&log, &answer.message);
                });
            }
        }
    }
}

/// Sends a message. It is written down first, so that whoever has got it finds it in the log.
fn say(log: &Log, message: &Value) -> io::Result<()> {
    log.sent(message);
    let mut output = io::stdout().lock();
    output.write_all(format!("{message}\n").as_bytes())?;
    output.flush()
}
