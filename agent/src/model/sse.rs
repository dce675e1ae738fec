//! Server-sent events, as far as a chat-completions stream needs them: the `data` of each event.

/// The longest event that is taken.
const LONGEST_EVENT: usize = 16 * 1024 * 1024;

/// Turns bytes into events, however they are cut into pieces.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: String,
    has_data: bool,
}

/// An event or a line that does not end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Events {
    /// Takes more bytes and returns the data of the events that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() + self.data.len() > LONGEST_EVENT {
                return Err(TooLong);
            }
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                events.extend(self.end_of_line(&line));
            }
        }
        Ok(events)
    }

    /// The data of an event that the end of the stream completes.
    pub(crate) fn end(mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        self.end_of_line(&line).or_else(|| self.event())
    }

    fn end_of_line(&mut self, line: &[u8]) -> Option<String> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            return self.event();
        }
        // Other fields, and comments, which begin with a colon, carry nothing for us.
        if let Some(data) = line.strip_prefix("data:") {
            if self.has_data {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            self.has_data = true;
        }
        None
    }

    fn event(&mut self) -> Option<String> {
        std::mem::take(&mut self.has_data).then(|| std::mem::take(&mut self.data))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn events(bytes: &[u8], piece: usize) -> Vec<String> {
        let mut parser = Events::default();
        let mut all = Vec::new();
        for part in bytes.chunks(piece) {
            all.extend(parser.push(part).unwrap());
        }
        all.extend(parser.end());
        all
    }

    #[test]
    fn data_is_read_with_either_line_end_and_without_comments() {
        let text = ": hello\r\ndata: {\"é\":1}\r\n\r\nevent: x\ndata:a\ndata: b\n\ndata: [DONE]";
        for piece in 1..text.len() {
            assert_eq!(
                events(text.as_bytes(), piece),
                ["{\"é\":1}", "a\nb", "[DONE]"]
            );
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter_and_nothing_panics(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            piece in 1_usize..40,
        ) {
            prop_assert_eq!(events(&bytes, piece), events(&bytes, 1000));
        }
    }
}
