//! What waits to be written down: bounded, and never in the way of the traffic for long.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::trace::{Body, Exchange, ExchangePart, Exit};

/// How much may wait, in bytes. As much again is in the hands of the writing side.
const BOUND: usize = 8 << 20;

/// What an entry counts beside its bytes.
const ENTRY: usize = mem::size_of::<Entry>();

/// How long a full queue holds up the traffic while the writing side shows no sign of life.
///
/// So a disk, or whatever else is behind the queue, that takes less than 4 MiB a second ends the recording.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the end waits for a writing side that shows no sign of life.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// A stream between client and agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// From the client to the agent's stdin.
    Stdin,
    /// From the agent's stdout to the client.
    Stdout,
    /// From the agent's stderr to the client.
    Stderr,
}

/// Something that was seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    /// So many bytes passed.
    Bytes(Stream, usize),
    /// The stream was closed by the side that writes to it.
    Closed(Stream),
    /// The stream was closed by the side that reads from it.
    Unread(Stream),
    /// The agent has exited, and what is still in the stream is not recorded.
    Left(Stream),
    /// A signal was passed on.
    Signal(i32),
    /// This passed between the agent and a model.
    Model(Box<Body>),
    /// The agent exited.
    Exit(Exit),
}

impl Seen {
    /// What it counts beside its bytes and its entry.
    fn cost(&self) -> usize {
        match self {
            Self::Model(body) => match &**body {
                Body::Model(Exchange {
                    part: ExchangePart::Request { body: text, .. } | ExchangePart::Chunk(text),
                    ..
                }) => text.len(),
                Body::Model(Exchange {
                    part: ExchangePart::Bytes(bytes),
                    ..
                }) => bytes.len(),
                _ => 0,
            },
            _ => 0,
        }
    }
}

/// Something that was seen, and when.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) at: Instant,
    pub(super) seen: Seen,
}

/// Entries in order, and the bytes of all of them one after the other.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) entries: Vec<Entry>,
    pub(super) bytes: Vec<u8>,
    /// What the entries count beside that.
    more: usize,
}

impl Batch {
    fn cost(&self) -> usize {
        self.bytes.len() + self.entries.len() * ENTRY + self.more
    }

    fn clear(&mut self) {
        self.more = 0;
        self.entries.clear();
        self.bytes.clear();
    }
}

#[derive(Debug)]
struct State {
    waiting: Batch,
    /// When it last showed that it gets on.
    alive: Instant,
    /// Whether the writing side sleeps until there is something.
    asleep: bool,
    /// Nothing more will come.
    closed: bool,
    /// Nothing more is taken in.
    refused: bool,
    /// The writing side has ended.
    done: bool,
    /// Somebody has said that the recording failed.
    said: bool,
}

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

/// What the writing side got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A batch with at least one entry.
    Batch,
    /// Nothing within the time.
    Nothing,
    /// Nothing, and nothing more will come.
    End,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: Batch::default(),
                alive: Instant::now(),
                asleep: false,
                closed: false,
                refused: false,
                done: false,
                said: false,
            }),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        }
    }

    /// Puts an entry in its place. Waits only where the queue is full, and then no longer than the writing side makes no
    /// progress for two seconds; after that the queue takes nothing any more.
    ///
    /// The writing side is not woken by this: see [`wake`](Self::wake).
    ///
    /// Returns `false` where this was what ended the recording.
    pub(super) fn put(&self, at: Instant, seen: Seen, bytes: &[u8]) -> bool {
        let mut state = self.lock();
        let more = seen.cost();
        let cost = bytes.len() + ENTRY + more;
        let mut full_since = None;
        // What is longer than the bound by itself, a request to a model, takes its place alone.
        while !state.refused && state.waiting.cost() + cost > BOUND && state.waiting.cost() > 0 {
            let since = *full_since.get_or_insert_with(Instant::now);
            let left = PATIENCE.saturating_sub(state.alive.max(since).elapsed());
            if left.is_zero() {
                state.refused = true;
                self.wake_locked(&mut state);
                return false;
            }
            self.wake_locked(&mut state);
            state = self
                .emptied
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        if !state.refused && !state.closed {
            state.waiting.entries.push(Entry { at, seen });
            state.waiting.bytes.extend_from_slice(bytes);
            state.waiting.more += more;
        }
        true
    }

    /// Puts an entry without bytes in its place at once. This is for what is rare: it heeds no bound.
    pub(super) fn put_now(&self, at: Instant, seen: Seen) {
        let mut state = self.lock();
        if !state.refused && !state.closed {
            state.waiting.entries.push(Entry { at, seen });
        }
    }

    /// Wakes the writing side if it sleeps and there is something for it.
    pub(super) fn wake(&self) {
        self.wake_locked(&mut self.lock());
    }

    fn wake_locked(&self, state: &mut State) {
        let something = state.closed || state.refused || !state.waiting.entries.is_empty();
        if state.asleep && something {
            state.asleep = false;
            self.filled.notify_one();
        }
    }

    /// Says that nothing more will come; what is put from now on is dropped.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.wake_locked(&mut state);
    }

    /// Whether the queue took nothing any more because the writing side was too slow.
    pub(super) fn has_refused(&self) -> bool {
        self.lock().refused
    }

    /// Exchanges an emptied batch for the one that waits. Sleeps until there is one, at most for `patience`.
    pub(super) fn take(&self, batch: &mut Batch, patience: Option<Duration>) -> Taken {
        batch.clear();
        let since = Instant::now();
        let mut state = self.lock();
        while state.waiting.entries.is_empty() {
            if state.closed || state.refused {
                return Taken::End;
            }
            state.asleep = true;
            state = match patience {
                None => self
                    .filled
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(patience) => {
                    let left = patience.saturating_sub(since.elapsed());
                    if left.is_zero() {
                        state.asleep = false;
                        return Taken::Nothing;
                    }
                    self.filled
                        .wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
        }
        state.asleep = false;
        mem::swap(&mut state.waiting, batch);
        state.alive = Instant::now();
        drop(state);
        self.emptied.notify_all();
        Taken::Batch
    }

    /// Says that the writing side gets on with what it took.
    pub(super) fn gets_on(&self) {
        self.lock().alive = Instant::now();
    }

    /// Ends the writing side: what is put from now on is dropped.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.refused = true;
        state.done = true;
        state.waiting = Batch::default();
        drop(state);
        self.emptied.notify_all();
    }

    /// Waits until the writing side has ended, as long as it gets on: with what it took, or with a single long line, of which
    /// `work` tells, a measure of the work that was done so far. Returns whether it has ended.
    pub(super) fn wait_until_done(&self, work: impl Fn() -> u64) -> bool {
        let mut since = Instant::now();
        let mut done = work();
        let mut state = self.lock();
        while !state.done {
            let left = LAST_PATIENCE.saturating_sub(state.alive.max(since).elapsed());
            if left.is_zero() {
                let now = work();
                if now == done {
                    return false;
                }
                (done, since) = (now, Instant::now());
                continue;
            }
            state = self
                .emptied
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    /// Whether nobody has said yet that the recording failed; somebody has, after this.
    pub(super) fn is_first_to_say(&self) -> bool {
        !mem::replace(&mut self.lock().said, true)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_in_the_order_in_which_they_went_in() {
        let queue = Queue::new();
        let at = Instant::now();
        assert!(queue.put(at, Seen::Bytes(Stream::Stdin, 2), b"ab"));
        assert!(queue.put(at, Seen::Closed(Stream::Stdin), b""));
        assert!(queue.put(at, Seen::Bytes(Stream::Stdout, 1), b"c"));
        queue.close();
        let mut batch = Batch::default();
        assert_eq!(queue.take(&mut batch, None), Taken::Batch);
        assert_eq!(batch.bytes, b"abc");
        assert_eq!(batch.entries[1].seen, Seen::Closed(Stream::Stdin));
        assert_eq!(queue.take(&mut batch, None), Taken::End);
    }

    #[test]
    fn the_end_waits_for_a_writing_side_that_works_on_one_long_line_and_no_longer() {
        let queue = Queue::new();
        let left = std::cell::Cell::new(3);
        let since = Instant::now();
        let work = || {
            left.set(left.get() - 1);
            left.get().max(1)
        };
        assert!(!queue.wait_until_done(work));
        assert!(since.elapsed() >= 2 * LAST_PATIENCE);
        queue.end();
        assert!(queue.wait_until_done(|| 0));
    }

    #[test]
    fn a_full_queue_that_nobody_empties_ends_the_recording_and_holds_nothing_up_after_that() {
        let queue = Queue::new();
        let piece = vec![0; 1 << 20];
        let put = || {
            queue.put(
                Instant::now(),
                Seen::Bytes(Stream::Stdout, piece.len()),
                &piece,
            )
        };
        let since = Instant::now();
        assert_eq!((0..8).filter(|_| put()).count(), 7);
        assert!(since.elapsed() >= PATIENCE);
        assert!(queue.has_refused());
        let since = Instant::now();
        assert!((0..100).all(|_| put()));
        assert!(since.elapsed() < PATIENCE);
    }
}
