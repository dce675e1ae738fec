//! What of a reply is kept: event by event where it is a stream of events, else as a whole.

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
    pub(super) fn push(&mut self, bytes: &[u8], mut give: impl FnMut(String)) {
        self.held.extend_from_slice(bytes);
        let mut from = 0;
        if self.events {
            while let Some(end) = self.end_of_event(from) {
                give(text(self.held.get(from..end)));
                from = end;
            }
        }
        self.held.drain(..from);
        if self.held.len() > HELD {
            give(text(Some(&self.held)));
            self.held.clear();
        }
        self.seen = self.held.len();
    }

    /// What is left at the end.
    pub(super) fn finish(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then(|| text(Some(&rest)))
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

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(content_type: &str, pieces: &[&[u8]]) -> Vec<String> {
        let mut cutter = Cutter::new(content_type);
        let mut kept = Vec::new();
        for piece in pieces {
            cutter.push(piece, |text| kept.push(text));
        }
        kept.extend(cutter.finish());
        kept
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
