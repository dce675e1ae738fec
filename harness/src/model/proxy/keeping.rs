//! What of a reply is kept: event by event where it is a stream of events, else as a whole.

use crate::trace::ExchangePart;

/// How much of a text is held until its end is seen, in bytes.
const HELD: usize = 8 << 20;

/// Cuts a reply's body into the pieces that are kept.
#[derive(Debug)]
pub(super) struct Cutter {
    /// Whether it is a stream of events, each of which ends with an empty line.
    events: bool,
    held: Vec<u8>,
    /// How far `held` was looked through for an end.
    seen: usize,
}

impl Cutter {
    /// For a body of this type.
    pub(super) fn new(content_type: &str) -> Self {
        Self {
            events: content_type.starts_with("text/event-stream"),
            held: Vec::new(),
            seen: 0,
        }
    }

    /// Takes the next bytes; `give` gets the pieces that end in them.
    pub(super) fn push(&mut self, bytes: &[u8], mut give: impl FnMut(ExchangePart)) {
        self.held.extend_from_slice(bytes);
        let mut from = 0;
        if self.events {
            while let Some(end) = self.end_of_event(from) {
                give(piece(self.held.get(from..end).unwrap_or_default().to_vec()));
                from = end;
            }
        }
        self.held.drain(..from);
        if self.held.len() > HELD {
            let rest = self.held.split_off(whole_characters(&self.held));
            give(piece(std::mem::replace(&mut self.held, rest)));
        }
        self.seen = self.held.len();
    }

    /// What is left at the end.
    pub(super) fn finish(&mut self) -> Option<ExchangePart> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then(|| piece(rest))
    }

    /// Where the event that begins at `from` ends: behind the empty line.
    fn end_of_event(&self, from: usize) -> Option<usize> {
        // The line before the empty one may have been the end of what came earlier.
        let mut at = from.max(self.seen.saturating_sub(3));
        loop {
            let rest = self.held.get(at..)?;
            let line_end = at + memchr::memchr(b'\n', rest)?;
            let next = self.held.get(line_end + 1..)?;
            let empty = if next.starts_with(b"\n") {
                1
            } else if next.starts_with(b"\r\n") {
                2
            } else {
                0
            };
            if empty > 0 {
                return Some(line_end + 1 + empty);
            }
            at = line_end + 1;
        }
    }
}

/// A piece of a body: text where it is UTF-8, else its bytes.
fn piece(bytes: Vec<u8>) -> ExchangePart {
    match String::from_utf8(bytes) {
        Ok(text) => ExchangePart::Chunk(text),
        Err(error) => ExchangePart::Bytes(error.into_bytes()),
    }
}

/// How many bytes of a text there are without the beginning of a character at its end.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(content_type: &str, pieces: &[&[u8]]) -> Vec<ExchangePart> {
        let mut cutter = Cutter::new(content_type);
        let mut kept = Vec::new();
        for piece in pieces {
            cutter.push(piece, |part| kept.push(part));
        }
        kept.extend(cutter.finish());
        kept
    }

    fn cut(content_type: &str, pieces: &[&[u8]]) -> Vec<String> {
        let kept = kept(content_type, pieces).into_iter();
        kept.map(|part| match part {
            ExchangePart::Chunk(text) => text,
            other => panic!("{other:?}"),
        })
        .collect()
    }

    #[test]
    fn what_is_not_utf_8_is_kept_byte_for_byte() {
        assert_eq!(
            kept(
                "text/event-stream",
                &[b"data: a\n\n", b"data: \xff\n\ndata: b\n\n"]
            ),
            [
                ExchangePart::Chunk("data: a\n\n".into()),
                ExchangePart::Bytes(b"data: \xff\n\n".to_vec()),
                ExchangePart::Chunk("data: b\n\n".into()),
            ]
        );
    }

    #[test]
    fn a_long_text_is_not_cut_within_a_character() {
        let mut long = vec![b'a'; HELD];
        long.extend_from_slice("\u{e9}".as_bytes());
        let (one, two) = long.split_at(HELD + 1);
        let pieces = cut("application/json", &[one, two]);
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces.concat().as_bytes(), long);
    }

    #[test]
    fn a_stream_is_kept_event_by_event_however_it_is_cut() {
        let stream = "data: a\n\nevent: x\r\ndata: \u{e9}\r\n\r\ndata: [DONE]\n\n";
        let wanted = [
            "data: a\n\n",
            "event: x\r\ndata: \u{e9}\r\n\r\n",
            "data: [DONE]\n\n",
        ];
        let bytes = stream.as_bytes();
        for size in 1..=bytes.len() {
            let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            assert_eq!(cut("text/event-stream; charset=utf-8", &pieces), wanted);
        }
    }

    #[test]
    fn another_reply_and_the_end_of_a_cut_stream_are_kept_as_they_are() {
        assert_eq!(cut("application/json", &[b"{\n\n", b"}"]), ["{\n\n}"]);
        assert_eq!(
            cut("text/event-stream", &[b"data: a\n\nda", b"ta"]),
            ["data: a\n\n", "data"]
        );
    }
}
