//! What is kept of the output of a command: its last bytes, up to a limit.

use std::collections::VecDeque;

/// The most bytes that are kept, also where the agent asks for more or sets no limit.
const BOUND: usize = 1024 * 1024;

/// A character takes so many bytes at most.
const CHARACTER: usize = 4;

/// The end of an output. However much is written, no more than its limit is kept.
#[derive(Debug)]
pub(super) struct KeptOutput {
    limit: usize,
    bytes: VecDeque<u8>,
    truncated: bool,
}

impl KeptOutput {
    /// Nothing yet, of which up to `limit` bytes will be kept (1 MiB if absent, and at most).
    pub(super) fn new(limit: Option<u64>) -> Self {
        let limit = limit.map_or(BOUND, |limit| {
            usize::try_from(limit).map_or(BOUND, |limit| limit.min(BOUND))
        });
        Self {
            limit,
            bytes: VecDeque::new(),
            truncated: false,
        }
    }

    /// Takes what was written.
    pub(super) fn push(&mut self, written: &[u8]) {
        let from = written.len().saturating_sub(self.limit);
        let over = (self.bytes.len() + written.len()).saturating_sub(self.limit);
        if over > 0 {
            self.truncated = true;
        }
        self.bytes.drain(..over.min(self.bytes.len()));
        self.bytes.extend(written.get(from..).unwrap_or_default());
    }

    /// The text, cut off at the beginning between two characters, and whether it was cut. Bytes that are no UTF-8 are
    /// replaced. A character that is not written to its end yet is left out, unless the command is `over`.
    pub(super) fn text(&self, over: bool) -> (String, bool) {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let mut begin = 0;
        if self.truncated {
            // The rest of a character whose beginning was cut off.
            let continues = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
            begin = bytes.iter().take(CHARACTER).take_while(continues).count();
        }
        let mut rest = bytes.get(begin..).unwrap_or_default();
        if !over
            && let Err(error) = std::str::from_utf8(rest)
            && error.error_len().is_none()
        {
            rest = rest.get(..error.valid_up_to()).unwrap_or_default();
        }
        let mut text = String::from_utf8_lossy(rest).into_owned();
        // What stands for bytes that are no UTF-8 may be longer than they were.
        let mut cut = text.len().saturating_sub(self.limit);
        let longer = cut > 0;
        while !text.is_char_boundary(cut) {
            cut += 1;
        }
        text.drain(..cut);
        (text, self.truncated || longer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(limit: u64, pieces: &[&[u8]]) -> KeptOutput {
        let mut kept = KeptOutput::new(Some(limit));
        for piece in pieces {
            kept.push(piece);
        }
        kept
    }

    #[test]
    fn the_end_of_the_output_is_kept() {
        assert_eq!(kept(4, &[b"ab", b"cd"]).text(true), ("abcd".into(), false));
        assert_eq!(kept(4, &[b"ab", b"cde"]).text(true), ("bcde".into(), true));
        assert_eq!(kept(4, &[b"abcdefgh"]).text(true), ("efgh".into(), true));
        assert_eq!(kept(0, &[b"a"]).text(true), (String::new(), true));
        assert_eq!(kept(0, &[]).text(true), (String::new(), false));
    }

    #[test]
    fn it_is_cut_between_two_characters() {
        for (limit, text) in [
            (3, "é"),
            (2, "é"),
            (1, ""),
            (4, "éé"),
            (5, "éé"),
            (6, "ééé"),
        ] {
            let (cut, truncated) = kept(limit, &["ééé".as_bytes()]).text(true);
            assert_eq!((cut.as_str(), truncated), (text, limit < 6), "{limit}");
        }
        let (cut, _) = kept(7, &["a😀😀".as_bytes()]).text(true);
        assert_eq!(cut, "😀");
    }

    #[test]
    fn half_a_character_is_left_out_as_long_as_the_other_half_may_come() {
        let half = kept(9, &[b"a\xc3"]);
        assert_eq!(half.text(false).0, "a");
        assert_eq!(half.text(true).0, "a\u{fffd}");
        assert_eq!(kept(9, &[b"a\xc3", b"\xa9"]).text(false).0, "aé");
    }

    #[test]
    fn bytes_that_are_no_text_do_not_make_it_longer_than_the_limit() {
        let (text, truncated) = kept(4, &[b"\xff\xff\xffz"]).text(true);
        assert_eq!((text.as_str(), truncated), ("\u{fffd}z", true));
    }

    #[test]
    fn there_is_a_bound_whatever_the_agent_asks_for() {
        let mut kept = KeptOutput::new(Some(u64::MAX));
        for _ in 0..3 {
            kept.push(&vec![b'x'; BOUND]);
        }
        assert_eq!(kept.bytes.len(), BOUND);
        assert!(kept.text(true).1);
        assert_eq!(KeptOutput::new(None).limit, BOUND);
    }
}
