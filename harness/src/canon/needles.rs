//! Many words looked for in a text at once, in time that does not grow with how many they are.

use foldhash::HashMap;

/// So many bytes of a word tell apart where to look.
const HEAD: usize = 4;

/// Words of more lengths than this with one head are not all found.
const LENGTHS: usize = 64;

/// Where a word may begin and end inside a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edges {
    /// Not inside a word of letters and digits.
    Word,
    /// Not inside the name of a folder.
    Path,
}

impl Edges {
    fn parts(self, byte: u8) -> bool {
        match self {
            Self::Word => !byte.is_ascii_alphanumeric() && byte < 0x80,
            Self::Path => !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_' | b'.'),
        }
    }

    /// A full stop after a folder ends a sentence, unless a name goes on.
    fn ends(self, after: &[u8]) -> bool {
        match after {
            [] => true,
            [b'.', rest @ ..] if self == Self::Path => rest
                .first()
                .is_none_or(|next| !next.is_ascii_alphanumeric()),
            [byte, ..] => self.parts(*byte),
        }
    }
}

/// Words, each with what it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Needles<T> {
    /// By head, the lengths of the words with it, longest first.
    heads: HashMap<[u8; HEAD], Vec<usize>>,
    words: HashMap<Box<str>, T>,
    /// The first bytes of all words.
    first: [bool; 256],
}

impl<T> Default for Needles<T> {
    fn default() -> Self {
        Self {
            heads: HashMap::default(),
            words: HashMap::default(),
            first: [false; 256],
        }
    }
}

fn head(bytes: &[u8]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    for (slot, byte) in head.iter_mut().zip(bytes) {
        *slot = *byte;
    }
    head
}

impl<T: Copy> Needles<T> {
    /// Adds a word of at least one byte; the first meaning of a word stays.
    pub(crate) fn add(&mut self, word: &str, meaning: T) {
        self.put(word, meaning, |_| false);
    }

    /// Adds a word of at least one byte; a meaning that it has gives way where `yields` says so.
    pub(crate) fn put(&mut self, word: &str, meaning: T, yields: impl Fn(T) -> bool) {
        let Some(first) = word.bytes().next() else {
            return;
        };
        match self.words.get_mut(word) {
            Some(known) => {
                if yields(*known) {
                    *known = meaning;
                }
                return;
            }
            None => {
                self.words.insert(word.into(), meaning);
            }
        }
        if let Some(slot) = self.first.get_mut(usize::from(first)) {
            *slot = true;
        }
        // A word shorter than the head is known by all of it.
        let lengths = self.heads.entry(head(word.as_bytes())).or_default();
        if let Err(place) = lengths.binary_search_by(|length| word.len().cmp(length))
            && lengths.len() < LENGTHS
        {
            lengths.insert(place, word.len());
        }
    }

    /// What a whole string stands for.
    pub(crate) fn whole(&self, text: &str) -> Option<T> {
        self.words.get(text).copied()
    }

    /// The first word in `text` from the byte `from` on: where it begins, how long it is, what it stands for.
    pub(crate) fn find(&self, text: &str, from: usize, edges: Edges) -> Option<(usize, usize, T)> {
        if self.words.is_empty() {
            return None;
        }
        let bytes = text.as_bytes();
        let mut before = from.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        for (start, byte) in bytes.iter().enumerate().skip(from) {
            let edge = before.is_none_or(|before| edges.parts(before));
            before = Some(*byte);
            let may_begin = self.first.get(usize::from(*byte)).copied().unwrap_or(false);
            if !(edge && may_begin) {
                continue;
            }
            if let Some((length, meaning)) = self.at(text, start, edges) {
                return Some((start, length, meaning));
            }
        }
        None
    }

    fn at(&self, text: &str, start: usize, edges: Edges) -> Option<(usize, T)> {
        let tail = text.as_bytes().get(start..)?;
        // Words shorter than a head are looked for under each of their lengths.
        (1..=HEAD.min(tail.len())).rev().find_map(|known| {
            let lengths = self.heads.get(&head(tail.get(..known)?))?;
            lengths.iter().find_map(|length| {
                if (known < HEAD && *length != known) || !edges.ends(tail.get(*length..)?) {
                    return None;
                }
                let meaning = self.words.get(text.get(start..start + length)?)?;
                Some((*length, *meaning))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needles(words: &[&str]) -> Needles<usize> {
        let mut needles = Needles::default();
        for (index, word) in words.iter().enumerate() {
            needles.add(word, index);
        }
        needles
    }

    #[test]
    fn the_longest_word_that_ends_at_an_edge_is_found() {
        let needles = needles(&["/tmp/a", "/tmp/a/b", "/x"]);
        let find = |text| {
            needles
                .find(text, 0, Edges::Path)
                .map(|(start, length, _)| (start, length))
        };
        assert_eq!(find("in /tmp/a/b/c"), Some((3, 8)));
        assert_eq!(find("in /tmp/a/bc"), Some((3, 6)));
        assert_eq!(find("file:///tmp/a."), Some((7, 6)));
        assert_eq!(find("/tmp/a.txt"), None);
        assert_eq!(find("b/tmp/a"), None);
        assert_eq!(find("/x"), Some((0, 2)));
    }

    #[test]
    fn letters_of_other_scripts_do_not_break_a_search() {
        let needles = needles(&["größe-1234"]);
        assert_eq!(
            needles
                .find("ä größe-1234 ö", 0, Edges::Word)
                .map(|(start, ..)| start),
            Some(3)
        );
    }
}
