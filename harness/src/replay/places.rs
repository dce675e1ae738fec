//! The strings of a JSON text where they stand, so that some can be replaced and the rest stays byte for byte.

use std::ops::Range;

use crate::spec::Identifier;

/// The deepest nesting that is looked into; what is deeper stays as it is.
const DEEPEST: usize = 512;

/// A value that is no object and no list, or a member's name, where it stands in a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot<'a> {
    /// The nearest member's name; `None` at the top.
    pub(super) member: Option<&'a str>,
    /// How many objects and lists are around it.
    pub(super) depth: usize,
    /// Whether a member around it may hold anything (`_meta`, `rawInput`, …).
    pub(super) untyped: bool,
    /// Whether it is the name of a member itself.
    pub(super) is_name: bool,
    /// The raw text of the value, a string with its quotes.
    pub(super) raw: &'a str,
}

impl Spot<'_> {
    /// The text of a string, without quotes and escapes.
    pub(super) fn text(&self) -> Option<String> {
        if !self.raw.starts_with('"') {
            return None;
        }
        serde_json::from_str(self.raw).ok()
    }

    /// What is minted here, if this is a typed place of a minted value.
    pub(super) fn identifier(&self) -> Option<Identifier> {
        if self.untyped || self.is_name {
            return None;
        }
        Identifier::of_member(self.member?)
    }
}

/// One object or list that is open.
struct Frame {
    list: bool,
    member: Option<String>,
    untyped: bool,
    wants_name: bool,
}

/// Replaces values of a JSON text: `with` gives the JSON to put in place of a spot, or `None` to leave it. A text that is
/// no JSON is gone through as far as it looks like it.
pub(super) fn replaced(text: &str, mut with: impl FnMut(&Spot<'_>) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    each(text, |spot, range| {
        if let Some(new) = with(spot) {
            out.push_str(text.get(kept..range.start).unwrap_or_default());
            out.push_str(&new);
            kept = range.end;
        }
    });
    out.push_str(text.get(kept..).unwrap_or_default());
    out
}

/// Gives each spot of a JSON text with its range, in order.
pub(super) fn each(text: &str, mut give: impl FnMut(&Spot<'_>, Range<usize>)) {
    let bytes = text.as_bytes();
    let mut frames: Vec<Frame> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                let (member, untyped) = match frames.last() {
                    Some(frame) => (frame.member.clone(), frame.untyped),
                    None => (None, false),
                };
                if frames.len() >= DEEPEST {
                    return;
                }
                frames.push(Frame {
                    list: *byte == b'[',
                    untyped: untyped || member.as_deref().is_some_and(Identifier::is_untyped),
                    member,
                    wants_name: *byte == b'{',
                });
                at += 1;
            }
            b'}' | b']' => {
                frames.pop();
                at += 1;
            }
            b',' => {
                if let Some(frame) = frames.last_mut() {
                    frame.wants_name = !frame.list;
                }
                at += 1;
            }
            b':' | b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            _ => {
                let end = if *byte == b'"' {
                    end_of_string(bytes, at)
                } else {
                    end_of_word(bytes, at)
                };
                let Some(raw) = text.get(at..end) else { return };
                let is_name = frames.last().is_some_and(|frame| frame.wants_name);
                let spot = Spot {
                    member: frames.last().and_then(|frame| frame.member.as_deref()),
                    depth: frames.len(),
                    untyped: frames.last().is_some_and(|frame| {
                        frame.untyped
                            || (!is_name
                                && frame.member.as_deref().is_some_and(Identifier::is_untyped))
                    }),
                    is_name,
                    raw,
                };
                give(&spot, at..end);
                if let Some(frame) = frames.last_mut().filter(|frame| frame.wants_name) {
                    frame.member = serde_json::from_str(raw).ok();
                    frame.wants_name = false;
                }
                at = end;
            }
        }
    }
}

/// Where the string that begins at `start` ends, behind its quote.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Where a number or a word ends.
fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let inside = |byte: &u8| !b"{}[],:\" \t\r\n".contains(byte);
    let rest = bytes.get(start..).unwrap_or_default();
    // At least one byte, so that what is no JSON is passed too.
    start + rest.iter().take_while(|byte| inside(byte)).count().max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spots(text: &str) -> Vec<(Option<String>, bool, String)> {
        let mut found = Vec::new();
        each(text, |spot, _| {
            if !spot.is_name {
                found.push((
                    spot.member.map(str::to_owned),
                    spot.untyped,
                    spot.raw.to_owned(),
                ));
            }
        });
        found
    }

    #[test]
    fn each_value_is_given_with_its_member_and_what_is_untyped_is_told() {
        let text =
            r#"{"id": 1,"params":{"list":["a",{"b":"\"c"}],"_meta":{"sessionId":"x"}},"z":null}"#;
        let found = spots(text);
        let of = |member: &str, untyped, raw: &str| (Some(member.to_owned()), untyped, raw.into());
        assert_eq!(
            found,
            [
                of("id", false, "1"),
                of("list", false, "\"a\""),
                of("b", false, r#""\"c""#),
                of("sessionId", true, "\"x\""),
                of("z", false, "null"),
            ]
        );
    }

    #[test]
    fn what_is_not_replaced_keeps_its_bytes() {
        let text = "{ \"a\" :1e2,\t\"b\":\"x\\u0041\", \"c\":[\"x\"]}";
        let new = replaced(text, |spot| {
            (spot.raw == "\"x\"").then(|| "\"new\"".to_owned())
        });
        assert_eq!(new, "{ \"a\" :1e2,\t\"b\":\"x\\u0041\", \"c\":[\"new\"]}");
    }

    proptest! {
        #[test]
        fn any_text_is_gone_through_and_stays(text in "[\\[\\]{}:,\"\\\\a-c0-9 é]{0,60}") {
            prop_assert_eq!(replaced(&text, |_| None), text);
        }
    }
}
