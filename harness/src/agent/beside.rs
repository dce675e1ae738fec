//! A command that the client runs for the agent, beside it: in a session and a process group of its own, as the agent is.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use nix::sys::signal::Signal;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use super::leftovers::Trail;
use super::marker::{MARKER_VARIABLE, Marker};
use super::process::exit_from;
use super::{Variables, guard};
use crate::trace::Exit;

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct BesideCommand<'a> {
    /// The program, looked for on the PATH of `env`.
    pub program: &'a str,
    /// Its arguments.
    pub arguments: &'a [String],
    /// The folder that it starts in.
    pub cwd: &'a Path,
    /// Its whole environment; a mark of its own is added.
    pub env: &'a Variables,
}

/// A command that was started, with what it writes and how it ends.
#[derive(Debug)]
pub struct Started {
    /// The processes.
    pub beside: Beside,
    /// What it writes on stdout and stderr, in one stream.
    pub output: pipe::Receiver,
    /// How it ended; `None` where the system did not tell.
    pub exit: oneshot::Receiver<Option<Exit>>,
}

/// The processes of a command. Dropping it kills them all.
#[derive(Debug)]
pub struct Beside {
    trail: Arc<Trail>,
    over: bool,
}

impl Beside {
    /// Starts a command, with nothing on its stdin.
    ///
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// What the system says, or that the harness is ending.
    pub fn start(what: BesideCommand<'_>) -> io::Result<Started> {
        let (reader, writer) = io::pipe()?;
        let marker = Marker::fresh();
        let also = writer.try_clone()?;
        let mut command = CommandWrap::with_new(OsStr::new(what.program), |command| {
            command
                .args(what.arguments.iter().map(OsString::from))
                .current_dir(what.cwd)
                .env_clear()
                .envs(what.env)
                .env(MARKER_VARIABLE, marker.as_str())
                .stdin(Stdio::null())
                .stdout(writer)
                .stderr(also);
        });
        command.wrap(ProcessSession);
        let spawn = || {
            let child = command.spawn()?;
            let pid = child
                .id()
                .ok_or_else(|| io::Error::other("the system gave no process number"))?;
            let group = i32::try_from(pid).map_err(io::Error::other)?;
            Ok((Arc::new(Trail::new(group, marker.to_string())), child))
        };
        let (trail, child) = guard::starting(spawn)
            .ok_or_else(|| io::Error::other("the harness is ending and starts nothing any more"))?
            .map_err(|error: io::Error| error)?;
        // The ends of the pipe that the harness holds itself go with it, so that the stream ends with the command.
        drop(command);
        let beside = Self { trail, over: false };
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let (sender, exit) = oneshot::channel();
        tokio::spawn(reap(child, sender, Arc::clone(&beside.trail)));
        Ok(Started {
            beside,
            output,
            exit,
        })
    }

    /// Ends the processes of the command's group at once. One that has left the group goes with [`end`](Self::end).
    pub fn kill(&self) {
        // An empty group is what is wanted.
        let _ = self.trail.signal(Signal::SIGKILL);
    }

    /// Ends all processes of the command, wherever they went.
    pub async fn end(mut self) {
        self.kill();
        self.over = true;
        let trail = Arc::clone(&self.trail);
        let killed = tokio::task::spawn_blocking(move || {
            trail.kill();
            guard::ended(&trail);
        });
        // It does not panic, and the signal has been sent already.
        let _ = killed.await;
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.over {
            self.trail.kill();
            guard::ended(&self.trail);
        }
    }
}

async fn reap(
    mut child: Box<dyn ChildWrapper>,
    ended: oneshot::Sender<Option<Exit>>,
    trail: Arc<Trail>,
) {
    let exit = child.wait().await.ok().and_then(exit_from);
    // Nobody may want to know any more.
    let _ = ended.send(exit);
    trail.forget_empty_group().await;
}
