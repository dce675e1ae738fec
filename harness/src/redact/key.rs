//! A private key whose lines come one by one.

use std::ops::Range;

use super::key_block::{begins_key, is_key_line};

/// How many lines a key may have.
const MOST_LINES: u16 = 400;

/// Whether a private key goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key {
    /// How many more lines it may have; 0: there is none.
    left: u16,
}

impl Key {
    /// Takes the next line, and gives the part of it that belongs to a key which began in a line before.
    pub(super) fn take(&mut self, line: &[u8]) -> Option<Range<usize>> {
        let was = self.left;
        if begins_key(line) {
            self.left = MOST_LINES;
            return None;
        }
        if was == 0 {
            return None;
        }
        let end = memchr::memmem::find(line, b"-----END ");
        let own = line.get(..end.unwrap_or(line.len())).unwrap_or_default();
        // A piece may hold several lines.
        let goes_on = own.split(|byte| *byte == b'\n').all(is_key_line);
        self.left = if end.is_some() || !goes_on {
            0
        } else {
            was - 1
        };
        let own = own.trim_ascii_end();
        let start = own.len() - own.trim_ascii_start().len();
        (goes_on && start < own.len()).then_some(start..own.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_key_are_told_until_it_ends() {
        let mut key = Key::default();
        assert_eq!(key.take(b"abcd"), None);
        assert_eq!(key.take(b"-----BEGIN RSA PRIVATE KEY-----"), None);
        assert_eq!(key.take(b"MIIEowIBAAKCAQEA0123456789\r"), Some(0..26));
        assert_eq!(key.take(b"ab=="), Some(0..4));
        assert_eq!(key.take(b"-----END RSA PRIVATE KEY-----"), None);
        assert_eq!(key.take(b"abcd"), None);
    }

    #[test]
    fn a_key_that_is_cut_ends_at_the_first_sentence() {
        let mut key = Key::default();
        assert_eq!(key.take(b"-----BEGIN PRIVATE KEY-----"), None);
        assert_eq!(key.take(b"MIIEowIBAAKCAQEA0123456789"), Some(0..26));
        assert_eq!(key.take(b"the file ends here"), None);
        assert_eq!(key.take(b"MIIEowIBAAKCAQEA0123456789"), None);
    }
}
