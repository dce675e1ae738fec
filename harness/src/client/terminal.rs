//! One terminal: a command, what is kept of its output, how it ended, and who waits for that.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::kept_output::KeptOutput;
use crate::agent::{Beside, BesideCommand, Started};
use crate::trace::Exit;

/// How many bytes are read at once.
const READ: usize = 64 * 1024;

/// After the end of a command, what it wrote last is read until nothing comes for so long,
const DRAIN: Duration = Duration::from_millis(50);
/// or so many times.
const DRAINS: usize = 64;

/// A terminal that was not released.
#[derive(Debug)]
pub(super) struct Terminal {
    /// The session that it belongs to.
    pub(super) session: String,
    /// The ids of the `terminal/wait_for_exit` requests that are open, each with what is answered in place of the exit.
    pub(super) waiting: Vec<(Value, Option<Value>)>,
    beside: Beside,
    shown: Arc<Mutex<Shown>>,
    reader: JoinHandle<()>,
}

/// What the client can see of a command.
#[derive(Debug)]
struct Shown {
    output: KeptOutput,
    ended: Option<Option<Exit>>,
}

impl Terminal {
    /// Starts a command. Its id goes into `ends` when it has ended.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn start(
        id: &str,
        session: &str,
        command: BesideCommand<'_>,
        limit: Option<u64>,
        ends: mpsc::UnboundedSender<String>,
    ) -> io::Result<Self> {
        let Started {
            beside,
            output,
            exit,
        } = Beside::start(command)?;
        let shown = Arc::new(Mutex::new(Shown {
            output: KeptOutput::new(limit),
            ended: None,
        }));
        let reader = tokio::spawn(read(output, exit, Arc::clone(&shown), id.to_owned(), ends));
        Ok(Self {
            session: session.to_owned(),
            waiting: Vec::new(),
            beside,
            shown,
            reader,
        })
    }

    /// The result of `terminal/output`.
    pub(super) fn output(&self) -> Value {
        let shown = lock(&self.shown);
        let (text, truncated) = shown.output.text(shown.ended.is_some());
        let mut result = json!({"output": text, "truncated": truncated});
        if let (Some(exit), Some(members)) = (shown.ended, result.as_object_mut()) {
            members.insert("exitStatus".to_owned(), status(exit));
        }
        result
    }

    /// The result of `terminal/wait_for_exit`, if the command has ended.
    pub(super) fn exit(&self) -> Option<Value> {
        lock(&self.shown).ended.map(status)
    }

    /// Ends the command.
    pub(super) fn kill(&self) {
        self.beside.kill();
    }

    /// Ends the command with all that it started, and forgets its output.
    pub(super) async fn end(self) {
        self.reader.abort();
        self.beside.end().await;
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a command ended, as the protocol says it.
fn status(exit: Option<Exit>) -> Value {
    match exit {
        Some(Exit::Code(code)) => json!({"exitCode": code, "signal": null}),
        Some(Exit::Signal(number)) => {
            let name = Signal::try_from(number).map_or_else(
                |_| format!("signal {number}"),
                |signal| signal.as_str().to_owned(),
            );
            json!({"exitCode": null, "signal": name})
        }
        None => json!({"exitCode": null, "signal": null}),
    }
}

/// What a command that is ended with its terminal ended by.
pub(super) fn killed() -> Value {
    status(Some(Exit::Signal(Signal::SIGKILL as i32)))
}

/// Reads all that a command writes, and tells its end. What it started may write on.
async fn read(
    mut output: pipe::Receiver,
    mut exit: oneshot::Receiver<Option<Exit>>,
    shown: Arc<Mutex<Shown>>,
    id: String,
    ends: mpsc::UnboundedSender<String>,
) {
    let mut buffer = vec![0; READ];
    let mut open = true;
    let ended = loop {
        tokio::select! {
            ended = &mut exit => break ended,
            more = take(&mut output, &mut buffer, &shown), if open => open = more,
        }
    };
    for _ in 0..DRAINS {
        let more = timeout(DRAIN, take(&mut output, &mut buffer, &shown)).await;
        open = open && more != Ok(false);
        if !open || more.is_err() {
            break;
        }
    }
    lock(&shown).ended = Some(ended.unwrap_or_default());
    // The client may be gone.
    let _ = ends.send(id);
    while open {
        open = take(&mut output, &mut buffer, &shown).await;
    }
}

/// Takes what is there. `false`: nothing will come any more.
async fn take(output: &mut pipe::Receiver, buffer: &mut [u8], shown: &Mutex<Shown>) -> bool {
    match output.read(buffer).await {
        Ok(0) | Err(_) => false,
        Ok(count) => {
            let written = buffer.get(..count).unwrap_or_default();
            lock(shown).output.push(written);
            true
        }
    }
}
