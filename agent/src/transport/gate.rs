//! Back-pressure: how many updates may wait to be written.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

/// Updates that may be queued before a turn has to wait for its client to read.
const LIMIT: usize = 1024;

/// Counts the `session/update` notifications between a turn and the writer.
#[derive(Debug)]
pub(crate) struct Gate {
    free: Semaphore,
    /// Updates that were let through without a place, to be settled by the next releases.
    owed: AtomicUsize,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            free: Semaphore::new(LIMIT),
            owed: AtomicUsize::new(0),
        }
    }
}

impl Gate {
    /// Waits until one more update may be queued.
    pub(crate) async fn enter(&self) {
        // The semaphore is never closed, so an error cannot happen; it would only unbound the queue.
        if let Ok(place) = self.free.acquire().await {
            place.forget();
        }
    }

    /// Queues an update from where nothing may wait, such as the dispatch loop.
    pub(crate) fn enter_now(&self) {
        match self.free.try_acquire() {
            Ok(place) => place.forget(),
            Err(_) => {
                self.owed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// `count` updates have been written.
    pub(crate) fn leave(&self, mut count: usize) {
        while count > 0 {
            let settled = self
                .owed
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |owed| {
                    owed.checked_sub(1)
                });
            if settled.is_err() {
                break;
            }
            count -= 1;
        }
        self.free.add_permits(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[test]
    fn the_gate_closes_at_its_limit_and_opens_when_something_was_written() {
        let gate = Gate::default();
        for _ in 0..LIMIT {
            assert!(gate.enter().now_or_never().is_some());
        }
        assert!(gate.enter().now_or_never().is_none());
        gate.leave(1);
        assert!(gate.enter().now_or_never().is_some());
    }

    #[test]
    fn an_update_that_could_not_wait_does_not_widen_the_gate() {
        let gate = Gate::default();
        for _ in 0..LIMIT {
            gate.enter_now();
        }
        gate.enter_now();
        gate.leave(1);
        assert!(gate.enter().now_or_never().is_none());
        gate.leave(LIMIT);
        assert_eq!(gate.free.available_permits(), LIMIT);
    }
}
