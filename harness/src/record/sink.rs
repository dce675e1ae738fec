//! The side of a stream that is written to, which may be read late or never.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::process::{Command, Stdio};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How much is read at once, and so how much can be left of it. An empty pipe takes as much.
pub(super) const READ: usize = 64 << 10;

/// What a socket that can be written to takes without waiting.
const SOCKET: usize = 4 << 10;

/// How long a client that reads nothing holds up the exit, in milliseconds.
const GRACE: u16 = 100;

/// Where a stream goes.
#[derive(Debug)]
pub(super) struct Sink {
    file: File,
    /// Whether it is asked before each write if it can be written to, as it would wait otherwise.
    asks: bool,
}

/// What became of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// All were written.
    All,
    /// Nobody reads any more.
    Unread,
    /// The agent has exited, and the reader takes nothing: so many were written.
    Stalled(usize),
}

impl Sink {
    /// A sink that never waits in a write, so that the exit of the agent is seen meanwhile. What the other processes that
    /// have this file are used to is not changed.
    pub(super) fn of(fd: OwnedFd) -> Self {
        let file = File::from(fd);
        let kind = file.metadata().map(|found| found.file_type());
        let is_pipe = kind.as_ref().is_ok_and(|kind| kind.is_fifo());
        let own = if is_pipe {
            // The same pipe, opened once more for this process alone.
            OpenOptions::new()
                .write(true)
                .custom_flags(OFlag::O_NONBLOCK.bits())
                .open(format!("/proc/self/fd/{}", file.as_raw_fd()))
                .ok()
        } else {
            None
        };
        let asks = own.is_none() && (is_pipe || kind.is_ok_and(|kind| kind.is_socket()));
        Self {
            file: own.unwrap_or(file),
            asks,
        }
    }

    /// Writes bytes. Once the agent has exited (`exited` hangs up, or is not given), a reader that takes nothing is not waited
    /// for any more.
    pub(super) fn pass(&self, bytes: &[u8], exited: Option<BorrowedFd<'_>>) -> Passed {
        let mut done = 0;
        let mut waits = self.asks;
        while done < bytes.len() {
            if waits && !self.wait(exited) {
                return Passed::Stalled(done);
            }
            waits = self.asks;
            let rest = bytes.get(done..).unwrap_or_default();
            let piece = match self.asks {
                true => rest.get(..SOCKET).unwrap_or(rest),
                false => rest,
            };
            match (&self.file).write(piece) {
                Ok(0) => return Passed::Unread,
                Ok(length) => done += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => waits = true,
                Err(_) => return Passed::Unread,
            }
        }
        Passed::All
    }

    /// Waits until it can be written to. Returns `false` where it is not in time after the exit of the agent.
    fn wait(&self, exited: Option<BorrowedFd<'_>>) -> bool {
        if let Some(exited) = exited {
            let mut fds = [
                PollFd::new(self.file.as_fd(), PollFlags::POLLOUT),
                PollFd::new(exited, PollFlags::empty()),
            ];
            let _ = poll(&mut fds, PollTimeout::NONE);
            let has = |fd: &PollFd<'_>| fd.any().unwrap_or(true);
            let [sink, exited] = &fds;
            if has(sink) || !has(exited) {
                return true;
            }
        }
        let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLOUT)];
        poll(&mut fds, GRACE) != Ok(0)
    }
}

impl AsFd for Sink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// What is left of a stream when the agent has exited.
#[derive(Debug)]
pub(super) struct Rest {
    /// What was read and not written: at most what an empty pipe takes.
    pub(super) bytes: Vec<u8>,
    /// Where more may come from.
    pub(super) source: OwnedFd,
    /// Where it goes.
    pub(super) sink: Sink,
}

impl Rest {
    /// Has it moved by a process of its own. If there can be none, it is lost.
    pub(super) fn serve_on(self) {
        let _ = self.try_serve_on();
    }

    fn try_serve_on(self) -> io::Result<()> {
        let (reader, mut writer) = io::pipe()?;
        writer.write_all(&self.bytes)?;
        drop(writer);
        Command::new(env::current_exe()?)
            .args(["record", "--pass-on"])
            .stdin(reader)
            .stdout(self.sink.file)
            // The second input: see `pass_on`.
            .stderr(Stdio::from(self.source))
            .spawn()?;
        Ok(())
    }
}

/// Moves the rest of a stream after the agent has exited: what stdin holds, and then what comes from the pipe that stands in the
/// place of stderr, go to stdout, until one of them ends.
///
/// # Errors
/// Where they cannot be used at all.
pub fn pass_on() -> io::Result<()> {
    let rest = io::stdin().as_fd().try_clone_to_owned()?;
    let source = io::stderr().as_fd().try_clone_to_owned()?;
    let sink = Sink::of(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = vec![0; READ];
    for source in [File::from(rest), File::from(source)] {
        loop {
            let mut fds = [
                PollFd::new(source.as_fd(), PollFlags::POLLIN),
                PollFd::new(sink.as_fd(), PollFlags::empty()),
            ];
            let _ = poll(&mut fds, PollTimeout::NONE);
            let [_, end] = &fds;
            if end.any().unwrap_or(false) {
                return Ok(());
            }
            let length = match (&source).read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if is_for_now(&error) => continue,
                Err(_) => break,
            };
            let mut bytes = buffer.get(..length).unwrap_or_default();
            while let Passed::Stalled(done) = sink.pass(bytes, None) {
                bytes = bytes.get(done..).unwrap_or_default();
            }
        }
    }
    Ok(())
}

/// Whether reading may be tried again.
pub(super) fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}
