//! Cuts a stream of bytes into lines at LF and nowhere else, with a bound on a line's length.

/// One piece of a stream of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A line that was closed by LF, without it; a CR before it is still there.
    Line(Vec<u8>),
    /// What stood after the last LF when the stream ended.
    Partial(Vec<u8>),
    /// The start of a line that is longer than the bound; the rest of it, up to its LF, is dropped.
    TooLong(Vec<u8>),
}

/// Collects bytes and gives lines.
#[derive(Debug)]
pub struct LineSplitter {
    pending: Vec<u8>,
    bound: usize,
    dropping: bool,
}

impl LineSplitter {
    /// A splitter that holds no more than `bound` bytes of one line.
    pub fn new(bound: usize) -> Self {
        Self {
            pending: Vec::new(),
            bound,
            dropping: false,
        }
    }

    /// Takes the next bytes and gives each piece that they complete, in order.
    pub fn push(&mut self, bytes: &[u8], mut give: impl FnMut(Piece)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, tail) = rest.split_at(end);
            self.take(line, &mut give);
            if self.dropping {
                self.dropping = false;
            } else {
                give(Piece::Line(std::mem::take(&mut self.pending)));
            }
            rest = tail.get(1..).unwrap_or(&[]);
        }
        self.take(rest, &mut give);
    }

    /// The stream has ended: gives what stood after the last LF, if anything did.
    pub fn finish(&mut self) -> Option<Piece> {
        self.dropping = false;
        let rest = std::mem::take(&mut self.pending);
        (!rest.is_empty()).then_some(Piece::Partial(rest))
    }

    fn take(&mut self, bytes: &[u8], give: &mut impl FnMut(Piece)) {
        if self.dropping {
            return;
        }
        if self.pending.len() + bytes.len() > self.bound {
            let room = self.bound - self.pending.len();
            self.pending
                .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            self.dropping = true;
            give(Piece::TooLong(std::mem::take(&mut self.pending)));
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(bound: usize, parts: &[&[u8]]) -> Vec<Piece> {
        let mut splitter = LineSplitter::new(bound);
        let mut pieces = Vec::new();
        for part in parts {
            splitter.push(part, |piece| pieces.push(piece));
        }
        pieces.extend(splitter.finish());
        pieces
    }

    #[test]
    fn a_line_in_many_writes_and_many_lines_in_one() {
        assert_eq!(
            all(99, &[b"a", b"b\nc\n\nd"]),
            [
                Piece::Line(b"ab".to_vec()),
                Piece::Line(b"c".to_vec()),
                Piece::Line(Vec::new()),
                Piece::Partial(b"d".to_vec()),
            ]
        );
    }

    #[test]
    fn a_line_over_the_bound_is_cut_and_the_next_one_is_whole() {
        assert_eq!(
            all(3, &[b"abcdef", b"gh\nok\n"]),
            [Piece::TooLong(b"abc".to_vec()), Piece::Line(b"ok".to_vec())]
        );
    }

    proptest! {
        #[test]
        fn where_the_writes_are_cut_makes_no_difference(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..100),
            cut in 0usize..100,
        ) {
            let cut = cut.min(bytes.len());
            let (left, right) = bytes.split_at(cut);
            prop_assert_eq!(all(1000, &[left, right]), all(1000, &[&bytes]));
        }
    }
}
