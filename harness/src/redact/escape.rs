//! The inside of a JSON string: what it says, and where in the raw text that stands.

use std::borrow::Cow;

/// The longest piece of plain text that is taken at once.
const PIECE: usize = 1024;

/// What a JSON string says; a half of a surrogate pair becomes U+FFFD.
pub(super) fn decoded(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    for unit in Units(raw) {
        unit.put(&mut out);
    }
    Cow::Owned(out)
}

/// Tells where the bytes of what a JSON string says stand in its raw text.
pub(super) struct Places<'a> {
    raw: &'a [u8],
    said: usize,
    stands: usize,
}

impl<'a> Places<'a> {
    pub(super) fn of(raw: &'a [u8]) -> Self {
        Self {
            raw,
            said: 0,
            stands: 0,
        }
    }

    /// As [`of`](Self::of), from a place on that [`at`](Self::at) of another gave.
    pub(super) fn from(raw: &'a [u8], (said, stands): (usize, usize)) -> Self {
        Self { raw, said, stands }
    }

    /// How far it is.
    pub(super) fn at(&self) -> (usize, usize) {
        (self.said, self.stands)
    }

    /// Where `from..to` of what it says stands. A character that is cut counts whole. Going on from the call before takes no
    /// time for what lies behind; going back takes all of it.
    pub(super) fn range(&mut self, from: usize, to: usize) -> (usize, usize) {
        if from < self.said {
            (self.said, self.stands) = (0, 0);
        }
        let start = self.place(from, false);
        let end = self.place(to, true);
        (start, end.max(start))
    }

    fn place(&mut self, at: usize, after: bool) -> usize {
        let rest = self.raw.get(self.stands..).unwrap_or_default();
        for unit in Units(rest) {
            if at <= self.said {
                break;
            }
            let inside = at - self.said;
            if inside < unit.said() {
                return match unit {
                    // Inside plain bytes each byte has its place; an escape counts whole.
                    Unit::Plain(_) => {
                        self.said += inside;
                        self.stands += inside;
                        self.stands
                    }
                    Unit::Escape { raw, .. } if after => self.stands + raw,
                    Unit::Escape { .. } => self.stands,
                };
            }
            self.said += unit.said();
            self.stands += unit.raw();
        }
        self.stands
    }
}

/// One piece of a raw string: bytes as they are, or an escape.
#[derive(Clone, Copy)]
enum Unit<'a> {
    Plain(&'a [u8]),
    Escape { character: char, raw: usize },
}

impl Unit<'_> {
    /// Bytes of what it says.
    fn said(&self) -> usize {
        match self {
            Self::Plain(bytes) => bytes.len(),
            Self::Escape { character, .. } => character.len_utf8(),
        }
    }

    /// Bytes of the raw text.
    fn raw(&self) -> usize {
        match self {
            Self::Plain(bytes) => bytes.len(),
            Self::Escape { raw, .. } => *raw,
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Plain(bytes) => out.extend_from_slice(bytes),
            Self::Escape { character, .. } => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

struct Units<'a>(&'a [u8]);

impl<'a> Iterator for Units<'a> {
    type Item = Unit<'a>;

    fn next(&mut self) -> Option<Unit<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let unit = match self.0 {
            [b'\\', rest @ ..] => escape(rest),
            bytes => {
                // In pieces, so that one is not looked through more than once.
                let bytes = bytes.get(..PIECE).unwrap_or(bytes);
                let end = memchr::memchr(b'\\', bytes).unwrap_or(bytes.len());
                Unit::Plain(bytes.get(..end)?)
            }
        };
        self.0 = self.0.get(unit.raw()..).unwrap_or_default();
        Some(unit)
    }
}

fn escape(rest: &[u8]) -> Unit<'static> {
    let one = |character| Unit::Escape { character, raw: 2 };
    match rest.first() {
        Some(b'n') => one('\n'),
        Some(b'r') => one('\r'),
        Some(b't') => one('\t'),
        Some(b'b') => one('\u{8}'),
        Some(b'f') => one('\u{c}'),
        Some(b'u') => unicode(rest),
        Some(byte) if byte.is_ascii() => one(char::from(*byte)),
        _ => Unit::Escape {
            character: '\\',
            raw: 1,
        },
    }
}

fn unicode(rest: &[u8]) -> Unit<'static> {
    let four = |from: usize| {
        let digits = std::str::from_utf8(rest.get(from..from + 4)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(first) = four(1) else {
        return Unit::Escape {
            character: '\u{fffd}',
            raw: 1 + rest.len().min(5),
        };
    };
    if (0xd800..0xdc00).contains(&first)
        && rest.get(5..7) == Some(b"\\u")
        && let Some(second @ 0xdc00..0xe000) = four(7)
    {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return Unit::Escape {
            character: char::from_u32(code).unwrap_or('\u{fffd}'),
            raw: 12,
        };
    }
    Unit::Escape {
        character: char::from_u32(first).unwrap_or('\u{fffd}'),
        raw: 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_say_what_they_say() {
        let raw = br#"a\n\u00e4\ud83d\ude00\/\"\ud800x"#;
        assert_eq!(&*decoded(raw), "a\nä😀/\"\u{fffd}x".as_bytes());
    }

    proptest! {
        #[test]
        fn what_is_said_is_found_in_the_raw_text(before: String, middle in "\\PC{1,9}|[\"\\\\\n]{1,3}", after: String) {
            let text = format!("{before}{middle}{after}");
            let quoted = serde_json::to_string(&text).unwrap();
            let raw = quoted.as_bytes().get(1..quoted.len() - 1).unwrap();
            prop_assert_eq!(&*decoded(raw), text.as_bytes());
            let (from, to) = Places::of(raw).range(before.len(), before.len() + middle.len());
            prop_assert_eq!(&*decoded(&raw[from..to]), middle.as_bytes());
        }

        #[test]
        fn no_bytes_panic(raw: Vec<u8>, from in 0usize..20, length in 0usize..20) {
            let said = decoded(&raw);
            let (start, end) = Places::of(&raw).range(from, from + length);
            prop_assert!(start <= end && end <= raw.len() && said.len() <= 3 * raw.len());
        }
    }
}
