//! Starts the agent, has its streams moved, and ends as it ends.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::{Pid, dup2_stdin, dup2_stdout};
use thiserror::Error;

use super::Place;
use super::forward::{Forward, Stopped};
use super::journal::{self, Journal};
use super::models::{Models, Proxy};
use super::queue::{Queue, Seen, Stream};
use super::signals::Signals;
use crate::agent::Variables;
use crate::redact::Options;
use crate::trace::{Exit, Header};

/// How long the moving of the client's bytes may take to notice that the agent has exited: it may be in the middle of a write
/// that somebody else does not read.
const STDIN_PATIENCE: Duration = Duration::from_millis(100);

/// What is run and recorded.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The program and its arguments. `bob` alone means the reference agent that is built in.
    pub words: Vec<OsString>,
    /// The name of the agent's program, as part of a file's name.
    pub name: String,
    /// Where the recording goes.
    pub place: Place,
    /// When the recording begins, as part of a file's name.
    pub time: String,
    /// What the recording says about itself.
    pub header: Header,
    /// How secrets are replaced in the recording; `None`: they are not.
    pub redaction: Option<Options>,
    /// The real model servers whose exchanges with the agent are recorded; `None`: none are.
    pub models: Option<Models>,
    /// Whether to say on stderr where the recording goes.
    pub verbose: bool,
}

/// How the agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended(pub Exit);

/// Why the agent does not run.
#[derive(Debug, Error)]
pub enum StartError {
    /// There is no program in the command.
    #[error("the command of the agent is missing; give it after `--`")]
    NoCommand,
    /// The system refused to start it.
    #[error("`{program}` cannot be started: {error}")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// The recorder itself could not be set up.
    #[error("the recorder cannot be set up: {0}")]
    Setup(#[from] io::Error),
}

/// Runs the agent between stdin and stdout of this process, and records what passes. Returns when the agent has exited, all
/// that it wrote has been passed on, and the recording is written.
///
/// This takes stdin and stdout of the process for good.
///
/// # Errors
/// Where the agent cannot be started. A fault of the recording is none: it is said on stderr and the traffic goes on.
pub fn run(agent: Agent) -> Result<Ended, StartError> {
    let signals = Signals::catch()?;
    let queue = Arc::new(Queue::new());
    let models = agent
        .models
        .and_then(|models| Proxy::start(models, &queue, agent.verbose));
    let variables = models.as_ref().map(Proxy::variables);
    let began = Instant::now();
    let mut child = start(&agent.words, variables.unwrap_or_default())?;
    let pid = pid(&child);
    let receiver = signals.pass_on(pid, Arc::clone(&queue));
    let keeper = Arc::clone(&queue);
    let journal = Journal {
        agent: agent.name,
        place: agent.place,
        time: agent.time,
        header: agent.header,
        redaction: agent.redaction,
        began,
        verbose: agent.verbose,
    };
    thread::spawn(move || journal.keep(&keeper));

    let (exited, tell_exit) = io::pipe()?;
    let streams = Streams::of(&mut child)?;
    let forward = |stream, (source, sink)| -> io::Result<Receiver<Stopped>> {
        let (sender, receiver) = mpsc::channel();
        let forward = Forward {
            stream,
            source,
            sink,
            exited: exited.try_clone()?.into(),
            queue: Arc::clone(&queue),
        };
        thread::spawn(move || sender.send(forward.run()));
        Ok(receiver)
    };
    let stdin = forward(Stream::Stdin, streams.stdin)?;
    let stdout = forward(Stream::Stdout, streams.stdout)?;
    let stderr = forward(Stream::Stderr, streams.stderr)?;

    let exit = wait(&mut child, pid, || receiver.forget())?;
    drop(tell_exit);
    for stopped in [
        stdout.recv().ok(),
        stderr.recv().ok(),
        stdin.recv_timeout(STDIN_PATIENCE).ok(),
    ] {
        if let Some(Stopped::Left(rest)) = stopped {
            rest.serve_on();
        }
    }
    if let Some(models) = models {
        models.finish();
    }
    queue.put(Instant::now(), Seen::Exit(exit), b"");
    queue.close();
    journal::say_if_it_hangs(&queue);
    Ok(Ended(exit))
}

fn start(words: &[OsString], variables: Variables) -> Result<Child, StartError> {
    let (program, arguments) = words.split_first().ok_or(StartError::NoCommand)?;
    let refused = |error| StartError::Spawn {
        program: program.to_string_lossy().into_owned(),
        error,
    };
    let mut command = if program == "bob" {
        let mut command = Command::new(env::current_exe().map_err(refused)?);
        command.args(words);
        command
    } else {
        let mut command = Command::new(program);
        command.args(arguments);
        command
    };
    command
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(refused)
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().try_into().unwrap_or(i32::MAX))
}

/// Where each stream comes from and goes to. These are the only copies, so that closing one is seen by the other side.
struct Streams {
    stdin: (OwnedFd, OwnedFd),
    stdout: (OwnedFd, OwnedFd),
    stderr: (OwnedFd, OwnedFd),
}

impl Streams {
    fn of(child: &mut Child) -> io::Result<Self> {
        let missing = || io::Error::other("a pipe of the agent is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let streams = Self {
            stdin: (io::stdin().as_fd().try_clone_to_owned()?, stdin.into()),
            stdout: (stdout.into(), io::stdout().as_fd().try_clone_to_owned()?),
            stderr: (stderr.into(), io::stderr().as_fd().try_clone_to_owned()?),
        };
        // The recorder itself still speaks on stderr.
        let nowhere = File::options().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&nowhere)?;
        dup2_stdout(&nowhere)?;
        Ok(streams)
    }
}

/// Waits for the exit of the agent. `forget` is called while its number is still its own.
fn wait(child: &mut Child, pid: Pid, forget: impl FnOnce()) -> io::Result<Exit> {
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    while waitid(Id::Pid(pid), look) == Err(nix::errno::Errno::EINTR) {}
    forget();
    let status = child.wait()?;
    Ok(status.code().map_or_else(
        || Exit::Signal(status.signal().unwrap_or_default()),
        Exit::Code,
    ))
}
