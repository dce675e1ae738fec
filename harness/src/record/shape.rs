//! Lines that are the line before them but for one string.

use crate::trace::Body;

/// What stands around the last string of the last message.
///
/// An agent that streams writes the same line again and again but for a piece of text. If what stands around the text is
/// what stood there before, and the text is plain, the line is a message as the one before it was, and need not be read.
#[derive(Debug, Default)]
pub(super) struct Shape {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Shape {
    /// What a whole line is, as [`Body::of_line`] tells it.
    pub(super) fn body(&mut self, line: Vec<u8>) -> Body {
        if !self.fits(&line) {
            let body = Body::of_line(line, false);
            self.learn(&body);
            return body;
        }
        match String::from_utf8(line) {
            Ok(text) => Body::Message {
                text,
                partial: false,
            },
            Err(error) => Body::of_line(error.into_bytes(), false),
        }
    }

    fn fits(&self, line: &[u8]) -> bool {
        // Inside a string, all is plain but quotes, escapes and what stands below the space.
        let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
        !self.before.is_empty()
            && line
                .strip_prefix(self.before.as_slice())
                .and_then(|rest| rest.strip_suffix(self.after.as_slice()))
                .is_some_and(|text| text.iter().all(is_plain))
    }

    fn learn(&mut self, body: &Body) {
        self.before.clear();
        let Body::Message { text, .. } = body else {
            return;
        };
        let line = text.as_bytes();
        let Some(end) = memchr::memrchr(b'"', line) else {
            return;
        };
        let (inside, after) = line.split_at(end);
        // A quote with a backslash before it is no end of a string, and so are not told apart here what ends and what begins.
        let Some(start) = memchr::memrchr2(b'"', b'\\', inside) else {
            return;
        };
        if inside.get(start) == Some(&b'"') && inside.get(start.wrapping_sub(1)) != Some(&b'\\') {
            self.before
                .extend_from_slice(line.get(..=start).unwrap_or_default());
            self.after.clear();
            self.after.extend_from_slice(after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bodies(lines: &[&str]) -> Vec<(Body, Body)> {
        let mut shape = Shape::default();
        lines
            .iter()
            .map(|line| {
                let line = line.as_bytes().to_vec();
                (shape.body(line.clone()), Body::of_line(line, false))
            })
            .collect()
    }

    #[test]
    fn a_line_is_what_it_would_be_alone() {
        for (own, expected) in bodies(&[
            r#"{"a":"b","c":"d"}"#,
            r#"{"a":"b","c":""}"#,
            r#"{"a":"b","c":"x"y"}"#,
            r#"{"a":"b","c":"d"}"#,
            "{\"a\":\"b\",\"c\":\"\u{1}\"}",
            r#"{"a":"b","c":"d"}"#,
            r#"{"a":"b","c":"\u00e4"}"#,
            r#"{"a":"b","c":"\q"}"#,
            r#"{"a":"\\","c":"\""}"#,
            r#"{"a":"\\","c":"e"}"#,
            r#"{"a":1}"#,
            r#"{"a":"b"} "#,
            r#"{"a":"c"} "#,
            "text",
        ]) {
            assert_eq!(own, expected);
        }
    }

    proptest! {
        #[test]
        fn any_lines_are_what_they_would_be_alone(
            lines in prop::collection::vec(r#"\{"a":"[a-c"\\ ]{0,3}","b":("[a-c\\"é]{0,3}"|1)\}?"#, 1..12)
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            for (own, expected) in bodies(&lines) {
                prop_assert_eq!(own, expected);
            }
        }
    }
}
