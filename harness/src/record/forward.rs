//! Moves one stream from the side that writes to it to the side that reads it.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::journal;
use super::queue::{Queue, Seen, Stream};
use super::sink::{Passed, READ, Rest, Sink, is_for_now};

/// What a pipe holds where the system does not say.
const PIPE: usize = 64 << 10;

/// Why a stream is not moved any further.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The writing side closed it.
    Closed,
    /// The reading side closed it.
    Unread,
    /// The agent has exited, and there may be more: the reader takes nothing, or another process holds the stream open.
    Left(Rest),
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
    /// Moves the stream to its end. Both its ends are closed when this returns, but where something is left.
    pub(super) fn run(self) -> Stopped {
        let source = File::from(self.source);
        let sink = Sink::of(self.sink);
        let (stream, queue) = (self.stream, self.queue);
        let put = |seen, bytes: &[u8]| {
            if !queue.put(Instant::now(), seen, bytes) {
                // stderr may be full, and this thread has better things to do than to wait for it.
                let queue = Arc::clone(&queue);
                thread::spawn(move || journal::say_if_it_hangs(&queue));
            }
        };
        let mut buffer = vec![0; READ];
        // How much the agent itself can still have written, once it has exited.
        let mut left: Option<usize> = None;
        let stopped = loop {
            let exited = left.is_none().then_some(self.exited.as_fd());
            let ready = Ready::wait(&source, &sink, exited);
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
                break Stopped::Left(Rest {
                    bytes: Vec::new(),
                    source: source.into(),
                    sink,
                });
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
            let passed = sink.pass(bytes, left.is_none().then_some(self.exited.as_fd()));
            queue.wake();
            match passed {
                Passed::All => {}
                Passed::Unread => break Stopped::Unread,
                Passed::Stalled(done) => {
                    break Stopped::Left(Rest {
                        bytes: bytes.get(done..).unwrap_or_default().to_vec(),
                        source: source.into(),
                        sink,
                    });
                }
            }
            if let Some(left) = &mut left {
                *left = left.saturating_sub(bytes.len());
            }
        };
        put(
            match stopped {
                Stopped::Closed => Seen::Closed(stream),
                Stopped::Unread => Seen::Unread(stream),
                Stopped::Left(_) => Seen::Left(stream),
            },
            b"",
        );
        queue.wake();
        stopped
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
    fn wait(source: &File, sink: &Sink, exited: Option<BorrowedFd<'_>>) -> Self {
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
        let has =
            |fd: &PollFd<'_>, flags| fd.revents().is_some_and(|found| found.intersects(flags));
        let [source, sink, end] = &fds;
        Self {
            source: has(source, PollFlags::POLLIN | gone),
            unread: has(sink, gone),
            exited: exited.is_some() && has(end, gone),
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
