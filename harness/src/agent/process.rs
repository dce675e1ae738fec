//! One agent as a process of its own.

use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use thiserror::Error;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::trace::{Body, Exit, Observed, Outbox, Party};

use super::ending::{Ending, Needed, Patience};
use super::guard;
use super::input::Input;
use super::leftovers::Trail;
use super::marker::{MARKER_VARIABLE, Marker};
use super::output::{self, Stream};
use super::{Command, CommandError, Variables};

/// Where programs are looked for if the agent's environment has no PATH.
pub(super) const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How long a process may take to vanish after SIGKILL.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// How long an ending waits for the ends of the pipes once nothing of the run is left.
const PIPE_END: Duration = Duration::from_millis(200);

/// All that is needed to start an agent.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The command; its program is looked for on the PATH of `env`.
    pub command: Command,
    /// The folder that the process starts in.
    pub cwd: PathBuf,
    /// The whole environment; nothing of the harness's own is added but the marker.
    pub env: Variables,
    /// The mark of the run.
    pub marker: Marker,
}

/// Why an agent could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The command holds no program.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// No such program on the PATH.
    #[error("`{0}` was not found on the PATH; install it, or give the path of the program")]
    NotFound(String),
    /// No such file.
    #[error("there is no file `{}`; a path is taken from the folder in which the harness is started", .0.display())]
    NoFile(PathBuf),
    /// A file without permission to be run.
    #[error("`{path}` is not executable; try `chmod +x {path}`, or name its interpreter first", path = .0.display())]
    NotExecutable(PathBuf),
    /// A folder in the place of a program.
    #[error("`{}` is a folder; give the program in it", .0.display())]
    Folder(PathBuf),
    /// The folder to start in is not there.
    #[error("the agent cannot be started in `{}`: there is no such folder", .0.display())]
    NoCwd(PathBuf),
    /// The first line of a script names an interpreter that is not there.
    #[error("`{}` is there, but the interpreter or loader that it asks for is not; look at its first line", .0.display())]
    NoInterpreter(PathBuf),
    /// The harness is ending and starts nothing any more.
    #[error("the harness is ending and starts no agent any more")]
    Ending,
    /// The system refused.
    #[error("`{word}` could not be started: {source}")]
    Spawn {
        /// The program as it was given.
        word: String,
        /// What the system said.
        source: io::Error,
    },
}

/// When a process ended, and how as far as the system told.
#[derive(Clone, Copy, Debug)]
struct Ended {
    at: Instant,
    exit: Option<Exit>,
}

/// An agent that was started. Dropping it kills it with all that it started.
#[derive(Debug)]
pub struct AgentProcess {
    pid: u32,
    trail: Arc<Trail>,
    input: Input,
    ended: watch::Receiver<Option<Ended>>,
    signals: mpsc::UnboundedSender<Observed>,
    readers: [JoinHandle<()>; 2],
    teller: JoinHandle<()>,
    out: Outbox,
    over: bool,
}

impl AgentProcess {
    /// Starts an agent. From now on its lines, its stderr, the end of its stdout and its exit go into `out`; while
    /// `out` is full, nothing more is read from it.
    ///
    /// A line of stdout over 64 MiB is given as a [`Body::Line`] with its first 64 KiB, after a [`Body::Other`] from
    /// the harness that says so: `{"cut":{"bound":67108864,"kept":65536}}`. A line of stderr is cut after 64 KiB.
    ///
    /// The exit is told after all that the agent wrote before it; if another process keeps a pipe open, then a second
    /// after the exit.
    ///
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the program is not found or cannot be run, or the folder is not there.
    pub fn start(launch: &Launch, out: Outbox) -> Result<Self, StartError> {
        let path = launch
            .env
            .get(OsStr::new("PATH"))
            .map_or(OsStr::new(DEFAULT_PATH), OsString::as_os_str);
        let resolved = launch.command.resolve(path)?;
        if !launch.cwd.is_dir() {
            return Err(StartError::NoCwd(launch.cwd.clone()));
        }
        let mut command = CommandWrap::with_new(&resolved.program, |command| {
            command
                .arg0(&resolved.name)
                .args(&resolved.arguments)
                .current_dir(&launch.cwd)
                .env_clear()
                .envs(&launch.env)
                .env(MARKER_VARIABLE, launch.marker.as_str())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        // A session of its own: its process group can be signalled as one, and no terminal can stop it or be written to.
        command.wrap(ProcessSession);
        let spawn = || {
            let child = command.spawn()?;
            let started = Started::of(child)?;
            let trail = Trail::new(started.group, launch.marker.to_string());
            Ok((Arc::new(trail), started))
        };
        let (trail, started) =
            guard::starting(spawn)
                .ok_or(StartError::Ending)?
                .map_err(|source: io::Error| match source.kind() {
                    io::ErrorKind::NotFound => StartError::NoInterpreter(resolved.program.clone()),
                    _ => StartError::Spawn {
                        word: launch.command.to_string(),
                        source,
                    },
                })?;
        Ok(Self::watch(trail, started, out))
    }

    /// Starts the tasks around a process.
    fn watch(trail: Arc<Trail>, started: Started, out: Outbox) -> Self {
        let exited = CancellationToken::new();
        let (ended_sender, ended) = watch::channel(None);
        let (signals, signals_receiver) = mpsc::unbounded_channel();
        let (stdout_sender, stdout_settled) = oneshot::channel();
        let (stderr_sender, stderr_settled) = oneshot::channel();
        let readers = [
            tokio::spawn(output::read(
                started.stdout,
                Stream::Stdout,
                out.clone(),
                exited.clone(),
                stdout_sender,
            )),
            tokio::spawn(output::read(
                started.stderr,
                Stream::Stderr,
                out.clone(),
                exited.clone(),
                stderr_sender,
            )),
        ];
        tokio::spawn(reap(
            started.child,
            ended_sender,
            exited,
            Arc::clone(&trail),
        ));
        let teller = tokio::spawn(tell(
            out.clone(),
            signals_receiver,
            ended.clone(),
            [stdout_settled, stderr_settled],
        ));
        Self {
            pid: started.pid,
            trail,
            input: Input::new(started.stdin),
            ended,
            signals,
            readers,
            teller,
            out,
            over: false,
        }
    }

    /// The number of the process, which is also that of its process group and session.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it has not exited yet.
    pub fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// Waits until it has exited, without doing anything about it. `None` where the system did not tell how.
    ///
    /// The event [`Body::Exit`] may come later: it waits for all that was written before.
    pub fn exited(&self) -> impl Future<Output = Option<Exit>> + Send + use<> {
        let mut ended = self.ended.clone();
        async move { exit_of(&mut ended).await }
    }

    /// Queues bytes for stdin. Waits only while 256 writes are queued already, never on the pipe itself.
    ///
    /// A write that fails is not an error here: the agent may close its stdin. [`write_fault`](Self::write_fault) tells.
    pub async fn write(&self, bytes: Vec<u8>) {
        self.input.write(bytes).await;
    }

    /// Queues bytes that are written one by one, each flushed.
    pub async fn write_split(&self, bytes: Vec<u8>) {
        self.input.write_split(bytes).await;
    }

    /// Queues bytes without waiting.
    ///
    /// # Errors
    /// The bytes themselves where 256 writes are queued already.
    pub fn try_write(&self, bytes: Vec<u8>) -> Result<(), Vec<u8>> {
        self.input.try_write(bytes)
    }

    /// The first write that failed, if one did; what was written after it is lost.
    pub fn write_fault(&self) -> Option<&io::Error> {
        self.input.fault()
    }

    /// Closes stdin once all that is queued has been written.
    pub fn close_stdin(&self) {
        self.input.close();
    }

    /// Sends a signal to the agent's process group, since many an agent is started by a wrapper such as `npx` that
    /// passes none on. The event [`Body::Signal`] goes into the outbox.
    ///
    /// # Errors
    /// When there is no such signal, or when the agent has exited.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        if !self.is_running() {
            return Err(nix::errno::Errno::ESRCH.into());
        }
        // Queued before it is sent, so that it is told before the exit that it causes.
        let _ = self
            .signals
            .send(Observed::now(Party::Harness, Body::Signal(number)));
        self.signal_untold(number)
    }

    /// Like [`signal`](Self::signal), for a caller that writes the event down itself before.
    ///
    /// # Errors
    /// When there is no such signal, or when the agent has exited.
    pub fn signal_untold(&self, number: i32) -> io::Result<()> {
        let signal = Signal::try_from(number)?;
        if !self.is_running() {
            return Err(nix::errno::Errno::ESRCH.into());
        }
        self.trail.signal(signal)
    }

    /// Ends the agent: closes stdin, waits, sends SIGTERM, waits, sends SIGKILL; then waits for what it left behind,
    /// names it in an event [`Body::Left`] and kills it.
    ///
    /// Somebody else must go on receiving what goes into the outbox; if nobody does, the last events are given up after
    /// [`Patience::told`] and [`Ending::complete`] is false. Use [`end_draining`](Self::end_draining) to receive it here.
    pub async fn end(mut self, patience: Patience) -> Ending {
        let began = Instant::now();
        let needed = self.stop(patience).await;
        let ended = *self.ended.borrow();
        let seconds = ended
            .map_or_else(Instant::now, |ended| ended.at)
            .saturating_duration_since(began)
            .as_secs_f64();
        self.input.abort();
        let left = self.trail.sweep(patience.left).await;
        let complete = timeout(patience.told, &mut self.teller).await.is_ok();
        for reader in &mut self.readers {
            if timeout(PIPE_END, &mut *reader).await.is_err() {
                reader.abort();
            }
        }
        if !left.is_empty() {
            let body = Body::Left(left.iter().map(ToString::to_string).collect());
            let told = self.out.send(Observed::now(Party::Harness, body));
            let _ = timeout(PIPE_END, told).await;
        }
        guard::ended(&self.trail);
        self.over = true;
        Ending {
            exit: ended.and_then(|ended| ended.exit),
            needed,
            seconds,
            left,
            complete,
        }
    }

    /// Like [`end`](Self::end), while what arrives in `inbox` is given to `seen`, to the last event of this agent.
    pub async fn end_draining(
        self,
        patience: Patience,
        inbox: &mut mpsc::Receiver<Observed>,
        mut seen: impl FnMut(Observed),
    ) -> Ending {
        let ending = self.end(patience);
        tokio::pin!(ending);
        let ending = loop {
            tokio::select! {
                biased;
                ending = &mut ending => break ending,
                Some(observed) = inbox.recv() => seen(observed),
            }
        };
        while let Ok(observed) = inbox.try_recv() {
            seen(observed);
        }
        ending
    }

    /// Takes the steps of an ending until the agent has exited.
    async fn stop(&mut self, patience: Patience) -> Needed {
        if !self.is_running() {
            return Needed::Nothing;
        }
        self.close_stdin();
        if self.exits_within(patience.stdin).await {
            return Needed::StdinClosed;
        }
        // It may have exited in between: then there is nobody to signal.
        let _ = self.signal(Signal::SIGTERM as i32);
        if self.exits_within(patience.term).await {
            return Needed::Term;
        }
        let _ = self.signal(Signal::SIGKILL as i32);
        self.exits_within(KILL_PATIENCE).await;
        Needed::Kill
    }

    async fn exits_within(&mut self, patience: Duration) -> bool {
        timeout(patience, exit_of(&mut self.ended)).await.is_ok()
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        self.input.abort();
        self.trail.kill();
        for reader in &self.readers {
            reader.abort();
        }
        guard::ended(&self.trail);
    }
}

/// A process that was just started, with its pipes.
struct Started {
    child: Box<dyn ChildWrapper>,
    pid: u32,
    group: i32,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

impl Started {
    fn of(mut child: Box<dyn ChildWrapper>) -> io::Result<Self> {
        let pid = child.id();
        match (
            pid,
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        ) {
            (Some(pid), Some(stdin), Some(stdout), Some(stderr)) => Ok(Self {
                child,
                pid,
                group: i32::try_from(pid).map_err(io::Error::other)?,
                stdin,
                stdout,
                stderr,
            }),
            _ => {
                let _ = child.start_kill();
                Err(io::Error::other("the system gave no pipes"))
            }
        }
    }
}

/// Waits for the process and for nothing else, so that its exit is known even while nobody takes events.
async fn reap(
    mut child: Box<dyn ChildWrapper>,
    ended: watch::Sender<Option<Ended>>,
    exited: CancellationToken,
    trail: Arc<Trail>,
) {
    let exit = child.wait().await.ok().and_then(exit_from);
    ended.send_replace(Some(Ended {
        at: Instant::now(),
        exit,
    }));
    exited.cancel();
    trail.forget_empty_group().await;
}

pub(super) fn exit_from(status: ExitStatus) -> Option<Exit> {
    status
        .code()
        .map(Exit::Code)
        .or_else(|| status.signal().map(Exit::Signal))
}

async fn exit_of(ended: &mut watch::Receiver<Option<Ended>>) -> Option<Exit> {
    match ended.wait_for(Option::is_some).await {
        Ok(ended) => ended.and_then(|ended| ended.exit),
        Err(_) => None,
    }
}

/// Tells the signals as they are sent, and the exit after all that came before it.
async fn tell(
    out: Outbox,
    mut signals: mpsc::UnboundedReceiver<Observed>,
    mut ended: watch::Receiver<Option<Ended>>,
    settled: [oneshot::Receiver<()>; 2],
) {
    loop {
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => {
                // Without a receiver nobody wants to know; here and below.
                let _ = out.send(signal).await;
            }
            _ = exit_of(&mut ended) => break,
        }
    }
    for stream in settled {
        // Dropped rather than sent: either way it has settled.
        let _ = stream.await;
    }
    let ended = *ended.borrow();
    if let Some(Ended {
        at,
        exit: Some(exit),
    }) = ended
    {
        let body = Body::Exit(exit);
        let _ = out
            .send(Observed {
                at,
                from: Party::Agent,
                body,
            })
            .await;
    }
}
