//! Moves one stream from the side that writes to it to the side that reads it.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::journal;
use super::queue::{Queue, Seen, Stream};

/// How much is read at once.
const READ: usize = 128 << 10;

/// What a pipe holds where the system does not say.
const PIPE: usize = 64 << 10;

/// Why a stream is not moved any further.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The writing side closed it.
    Closed,
    /// The reading side closed it.
    Unread,
    /// The agent has exited and all that it wrote itself has been moved, but another process holds the stream open.
    Held {
        /// Where the rest comes from.
        source: OwnedFd,
        /// Where it goes.
        sink: OwnedFd,
    },
}

/// A stream to move.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) stream: Stream,
    pub(super) source: OwnedFd,
    pub(super) sink: OwnedFd,
    /// Hangs up when the agent exits.
    pub(super) exited: OwnedFd,
    pub(super) queue: Arc<Queue>,
}

impl Forward {
    /// Moves the stream to its end. Both its ends are closed when this returns, but where it is held by another process.
    pub(super) fn run(self) -> Stopped {
        let Self {
            stream,
            source,
            sink,
            exited,
            queue,
        } = self;
        let (source, sink) = (File::from(source), File::from(sink));
        let put = |seen, bytes: &[u8]| {
            if !queue.put(Instant::now(), seen, bytes) {
                // stderr may be full, and this thread has better things to do than to wait for it.
                let queue = Arc::clone(&queue);
                thread::spawn(move || journal::say_if_it_hangs(&queue));
            }
        };
        let mut buffer = vec![0; READ];
        // What the agent itself can still have written, once it has exited.
        let mut left: Option<usize> = None;
        let stopped = loop {
            let ready = Ready::wait(&source, &sink, left.is_none().then_some(exited.as_fd()));
            if ready.unread {
                break Stopped::Unread;
            }
            if ready.exited {
                left = Some(match stream {
                    // The agent reads no more: what comes now is for whoever holds its stdin.
                    Stream::Stdin => 0,
                    Stream::Stdout | Stream::Stderr => capacity(&source),
                });
            }
            if left == Some(0) || left.is_some() && !ready.source {
                break Stopped::Held {
                    source: source.into(),
                    sink: sink.into(),
                };
            }
            if !ready.source {
                continue;
            }
            let bytes = match (&source).read(&mut buffer) {
                Ok(0) => break Stopped::Closed,
                Ok(length) => buffer.get(..length).unwrap_or_default(),
                Err(error) if is_for_now(&error) => continue,
                Err(_) => break Stopped::Closed,
            };
            // The copy takes its place before the bytes go out, so that no answer to them can come before them in the
            // file. It is a copy in memory; the thread that writes is woken after the bytes went out.
            put(Seen::Bytes(stream, bytes.len()), bytes);
            let written = write_all(&sink, bytes);
            queue.wake();
            if written.is_err() {
                break Stopped::Unread;
            }
            if let Some(left) = &mut left {
                *left = left.saturating_sub(bytes.len());
            }
        };
        match stopped {
            Stopped::Closed => put(Seen::Closed(stream), b""),
            Stopped::Unread => put(Seen::Unread(stream), b""),
            Stopped::Held { .. } => {}
        }
        queue.wake();
        stopped
    }
}

/// Moves stdin to stdout until one of them is closed: the rest of a stream that a process holds which the agent left.
///
/// # Errors
/// Where the two cannot be used at all.
pub fn pass_on() -> io::Result<()> {
    let source = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let sink = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = vec![0; READ];
    loop {
        let ready = Ready::wait(&source, &sink, None);
        if ready.unread {
            return Ok(());
        }
        match (&source).read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                if write_all(&sink, buffer.get(..length).unwrap_or_default()).is_err() {
                    return Ok(());
                }
            }
            Err(error) if is_for_now(&error) => {}
            Err(_) => return Ok(()),
        }
    }
}

/// What can be done with a stream.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    /// There is something to read, or the end.
    source: bool,
    /// Nobody reads any more.
    unread: bool,
    /// The agent has exited.
    exited: bool,
}

impl Ready {
    /// Waits until something can be done. Once the agent has exited (`exited` is not given) this does not wait.
    fn wait(source: &File, sink: &File, exited: Option<BorrowedFd<'_>>) -> Self {
        let gone = PollFlags::POLLERR | PollFlags::POLLHUP | PollFlags::POLLNVAL;
        let mut fds = [
            PollFd::new(source.as_fd(), PollFlags::POLLIN),
            PollFd::new(sink.as_fd(), PollFlags::empty()),
            PollFd::new(exited.unwrap_or(source.as_fd()), PollFlags::empty()),
        ];
        let patience = match exited {
            Some(_) => PollTimeout::NONE,
            None => PollTimeout::ZERO,
        };
        if poll(&mut fds, patience).is_err() {
            // Interrupted: the caller asks again.
            return Self::default();
        }
        let has = |index: usize, flags: PollFlags| {
            fds.get(index)
                .and_then(PollFd::revents)
                .is_some_and(|found| found.intersects(flags))
        };
        Self {
            source: has(0, PollFlags::POLLIN | gone),
            unread: has(1, gone),
            exited: exited.is_some() && has(2, gone),
        }
    }
}

/// How much a pipe holds at most.
fn capacity(pipe: &File) -> usize {
    fcntl(pipe, FcntlArg::F_GETPIPE_SZ)
        .ok()
        .and_then(|size| usize::try_from(size).ok())
        .unwrap_or(PIPE)
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

/// Writes all, also where the other side was given to us as one that does not block.
fn write_all(sink: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match (&*sink).write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let mut room = [PollFd::new(sink.as_fd(), PollFlags::POLLOUT)];
                let _ = poll(&mut room, PollTimeout::NONE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
