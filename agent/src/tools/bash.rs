//! `bash`: a command in the session's folder.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::output::Bounded;
use super::{CANCELLED, Output, Place, Processes};

/// Time that a command has between the request to end and its end.
const GRACE: Duration = Duration::from_millis(50);

/// Time in which the last output is read after a command ended. What it left in the background may
/// hold the pipe open for longer.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// How a command came to its end.
enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
    Lost(io::Error),
}

/// Runs a command in a process group of its own, stdin closed, until it ends, its time is up or
/// the turn is cancelled. Standard output and error come back as one text, in their order.
pub(crate) async fn run(command: &str, place: &Place<'_>) -> Output {
    let (mut child, mut pipe) = match start(command, place) {
        Ok(started) => started,
        Err(error) => return Output::failure(format!("the command cannot be started: {error}")),
    };
    let leader = child.id();
    let limit = Duration::from_secs(place.settings.timeout_s);
    let mut output = Bounded::default();
    let mut open = true;
    let mut buffer = vec![0; 64 * 1024];
    let deadline = sleep(limit);
    tokio::pin!(deadline);
    let end = loop {
        tokio::select! {
            biased;
            () = place.cancel.cancelled() => break End::Cancelled,
            () = &mut deadline => break End::TimedOut,
            status = child.wait() => match status {
                Ok(status) => break End::Exited(status),
                Err(error) => break End::Lost(error),
            },
            // Last, as something in the background may never stop writing.
            count = pipe.read(&mut buffer), if open => match count {
                Ok(count) if count > 0 => output.push(buffer.get(..count).unwrap_or_default()),
                _ => open = false,
            },
        }
    };
    match end {
        End::TimedOut => stop(&mut child, place.processes, leader).await,
        End::Cancelled => stop(&mut child, place.processes, None).await,
        End::Exited(_) | End::Lost(_) => {}
    }
    let drained = timeout(LAST_WORDS, async {
        while open {
            match pipe.read(&mut buffer).await {
                Ok(count) if count > 0 => output.push(buffer.get(..count).unwrap_or_default()),
                _ => open = false,
            }
        }
    });
    // Output that does not end in time belongs to something in the background.
    let _ = drained.await;
    place.processes.forget_empty();
    finished(output.into_text(), &end, limit)
}

fn start(command: &str, place: &Place<'_>) -> io::Result<(Child, Receiver)> {
    let (reader, writer) = io::pipe()?;
    let spawn = |shell: &str| -> io::Result<Child> {
        Command::new(shell)
            .arg("-c")
            .arg(command)
            .current_dir(place.cwd)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer.try_clone()?)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    };
    if !place.cwd.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no folder {}", place.cwd.display()),
        ));
    }
    let child = match spawn("bash") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => spawn("sh")?,
        started => started?,
    };
    if let Some(leader) = child.id() {
        place.processes.add(leader);
    }
    let pipe = Receiver::from_owned_fd(OwnedFd::from(reader))?;
    Ok((child, pipe))
}

/// Asks the processes of one group, or of all groups of the turn, to end, and ends what does not.
async fn stop(child: &mut Child, processes: &Processes, leader: Option<u32>) {
    processes.signal(leader, Signal::SIGTERM);
    let _ = timeout(GRACE, child.wait()).await;
    processes.signal(leader, Signal::SIGKILL);
    // Not for ever: a process in the hands of a broken device cannot be killed.
    let _ = timeout(GRACE, child.wait()).await;
}

fn finished(mut text: String, end: &End, limit: Duration) -> Output {
    let note = match end {
        End::Exited(status) if status.success() => return Output::done(text),
        End::Exited(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("[exit code {code}]"),
            (None, Some(signal)) => format!("[ended by signal {signal}]"),
            (None, None) => "[ended]".to_owned(),
        },
        End::TimedOut => format!("[ended after {} s, the time limit]", limit.as_secs()),
        End::Cancelled => CANCELLED.to_owned(),
        End::Lost(error) => format!("[lost: {error}]"),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&note);
    Output::failure(text)
}
