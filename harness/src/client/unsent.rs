//! What is to be written to an agent that does not read just now.

use std::collections::VecDeque;

/// So many bytes may wait.
const BOUND: usize = 64 * 1024 * 1024;
/// So many writes may wait.
const WRITES: usize = 10_000;

/// Writes that wait for the agent, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Unsent {
    writes: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Unsent {
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.writes.push_back(bytes);
    }

    pub(crate) fn pop(&mut self) -> Option<Vec<u8>> {
        let bytes = self.writes.pop_front()?;
        self.bytes -= bytes.len();
        Some(bytes)
    }

    pub(crate) fn put_back(&mut self, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.writes.push_front(bytes);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Whether no more should be added: nothing is buffered without a bound.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= BOUND || self.writes.len() >= WRITES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_back_goes_out_first() {
        let mut unsent = Unsent::default();
        unsent.push(vec![1]);
        unsent.push(vec![2]);
        let first = unsent.pop().unwrap();
        unsent.put_back(first);
        assert_eq!(unsent.pop(), Some(vec![1]));
        assert_eq!(unsent.pop(), Some(vec![2]));
        assert!(unsent.is_empty() && !unsent.is_full());
    }

    #[test]
    fn it_is_full_by_bytes_and_by_number() {
        let mut unsent = Unsent::default();
        unsent.push(vec![0; BOUND]);
        assert!(unsent.is_full());
        let mut unsent = Unsent::default();
        for _ in 0..WRITES {
            unsent.push(Vec::new());
        }
        assert!(unsent.is_full());
    }
}
