//! Output that is kept within a bound: its head and its tail.

use std::collections::VecDeque;

/// Bytes kept of the beginning.
pub(crate) const HEAD: usize = 16 * 1024;

/// Bytes kept of the end.
pub(crate) const TAIL: usize = 16 * 1024;

/// Collects output of any length in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct Bounded {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes that fell out between the two.
    cut: u64,
}

impl Bounded {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
        self.cut += over as u64;
    }

    /// The output as text. What was cut is noted in its place; the borders of the cut do not split
    /// a character, and bytes that are no UTF-8 become replacement characters.
    pub(crate) fn into_text(self) -> String {
        let (mut head, mut tail) = (self.head, Vec::from(self.tail));
        if self.cut == 0 {
            head.append(&mut tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        let mut cut = self.cut;
        let split = unfinished(&head);
        head.truncate(head.len() - split);
        let rest = continuation(&tail);
        cut += (split + rest) as u64;
        format!(
            "{}\n[… {cut} bytes cut …]\n{}",
            String::from_utf8_lossy(&head),
            String::from_utf8_lossy(tail.get(rest..).unwrap_or_default()),
        )
    }
}

/// How many bytes at the end begin a character without ending it.
fn unfinished(bytes: &[u8]) -> usize {
    match std::str::from_utf8(
        bytes
            .get(bytes.len().saturating_sub(4)..)
            .unwrap_or_default(),
    ) {
        Ok(_) => 0,
        // Only the end can be unfinished; the beginning of these four may be the middle of one.
        Err(_) => (1..=3.min(bytes.len()))
            .find(|back| {
                let first = bytes.get(bytes.len() - back).copied().unwrap_or_default();
                let length = match first {
                    0xC2..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF4 => 4,
                    _ => 0,
                };
                length > *back
            })
            .unwrap_or(0),
    }
}

/// How many bytes at the beginning end a character that began before.
fn continuation(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take(3)
        .take_while(|byte| (0x80..0xC0).contains(*byte))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(bytes: &[u8], piece: usize) -> String {
        let mut output = Bounded::default();
        for part in bytes.chunks(piece.max(1)) {
            output.push(part);
        }
        output.into_text()
    }

    #[test]
    fn short_output_is_kept_whole() {
        assert_eq!(kept("aé\n".as_bytes(), 1), "aé\n");
        assert_eq!(kept(b"", 1), "");
    }

    #[test]
    fn long_output_keeps_head_and_tail_and_says_what_was_cut() {
        let text = kept(&b"x".repeat(HEAD + TAIL + 5), 1000);
        assert!(text.contains("x\n[… 5 bytes cut …]\nx"), "{}", text.len());
    }

    #[test]
    fn a_cut_does_not_split_a_character() {
        for offset in 0..4 {
            let mut bytes = b"x".repeat(offset);
            bytes.extend("🗜é€".repeat(HEAD).bytes());
            let text = kept(&bytes, 777);
            assert!(!text.contains('\u{FFFD}'), "offset {offset}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_output_becomes_bounded_text(
            seed in proptest::collection::vec(any::<u8>(), 0..2000),
            times in 1_usize..60,
            piece in 1_usize..5000,
        ) {
            let text = kept(&seed.repeat(times), piece);
            // A replacement character takes three bytes for one.
            prop_assert!(text.len() <= 3 * (HEAD + TAIL) + 64);
        }

        #[test]
        fn the_size_of_the_pieces_does_not_matter(
            text in "\\PC{0,300}",
            times in 1_usize..200,
            piece in 1_usize..5000,
        ) {
            let bytes = text.repeat(times).into_bytes();
            prop_assert_eq!(kept(&bytes, piece), kept(&bytes, usize::MAX));
        }
    }
}
