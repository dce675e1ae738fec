//! TRANSPORT-01 to -04: what stands on the agent's stdout, line by line.
//!
//! Blank lines, a CR before the LF and white space around a message are tolerated: the text speaks of non-empty lines, and
//! JSON allows the rest. Legal JSON that many parsers refuse (deep nesting) is noted, never called "not JSON".

use serde_json::Value;

use super::quote::{quote, quote_bytes};
use super::{Conversation, Moment, Out, Place, Rule};
use crate::trace::{Body, Exit, Party};
use crate::wire::{Oddity, Reading};

const UTF8: &str = "TRANSPORT-01";
const ONLY_MESSAGES: &str = "TRANSPORT-02";
const ONE_A_LINE: &str = "TRANSPORT-03";
const SINGLY: &str = "TRANSPORT-04";

/// A message that is spread over lines is followed for so many bytes, and so many lines.
const FOLLOWED_BYTES: usize = 1 << 20;
const FOLLOWED_LINES: usize = 10_000;

/// TRANSPORT-01 (docs/protocol/v1/transports.mdx#transports): the bytes are UTF-8. A character that the end of a killed
/// process cut is no failure.
///
/// TRANSPORT-02 (#stdio): each line is a message. A line of text or a scalar, and an object that is no message, fail; an
/// object that has an `id` and `jsonrpc` but neither `method` nor an outcome is a response without one, which JSONRPC-02
/// judges.
///
/// TRANSPORT-03 (#stdio): one message a line. A line that begins a message which the following lines complete, two
/// messages on one line, and a last message without its newline fail. What a line begins and nothing completes is no
/// message, and fails TRANSPORT-02.
///
/// TRANSPORT-04 (#stdio): no batch under version 1, nor before a version is agreed on.
#[derive(Default)]
pub(super) struct Transport {
    /// How many lines of the agent were not blank.
    lines: u64,
    utf8_failed: bool,
    message_failed: bool,
    line_failed: bool,
    batch_failed: bool,
    /// The harness kept only the start of the next line.
    cut: bool,
    spread: Option<Spread>,
    last: Option<Last>,
}

/// The last piece of stdout, which no newline closed.
struct Last {
    event: u64,
    quoted: String,
    kind: LastKind,
}

enum LastKind {
    Whole,
    Cut,
    CutCharacter,
}

impl Rule for Transport {
    fn judges(&self) -> &'static [&'static str] {
        &[UTF8, ONLY_MESSAGES, ONE_A_LINE, SINGLY]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        match moment.event.from {
            Party::Agent => {}
            Party::Harness => {
                if let Body::Other(value) = &moment.event.body {
                    self.cut |= value.get("cut").is_some();
                }
                return;
            }
            Party::Client | Party::Model => return,
        }
        let (Some(reading), Some(bytes)) = (moment.reading, moment.event.body.wire_bytes()) else {
            return;
        };
        if matches!(reading, Reading::Odd(Oddity::Blank)) {
            return;
        }
        self.lines += 1;
        // A piece without newline that is not the last was cut by whoever recorded it.
        self.last = None;
        if std::mem::take(&mut self.cut) {
            self.give_up_spread(out);
            out.note(
                ONLY_MESSAGES,
                moment.place(),
                format!(
                    "the line that begins {} is longer than what is kept of a line; it was not judged",
                    quote_bytes(bytes)
                ),
            );
            return;
        }
        let after_hole = moment.talk.hole == Some(moment.index)
            || (self.lines == 1
                && moment
                    .talk
                    .hole
                    .is_some_and(|hole| moment.talk.begins_at(hole)));
        if after_hole && matches!(reading, Reading::Odd(_)) {
            self.give_up_spread(out);
            out.note(
                ONLY_MESSAGES,
                moment.place(),
                "the first line after something that is not in the recording is no message; it may be the rest of one",
            );
            return;
        }
        if partial(&moment.event.body) && self.hold_last(moment, reading, bytes) {
            return;
        }
        match reading {
            Reading::Message(_) => self.give_up_spread(out),
            Reading::Odd(oddity) => self.see_odd(moment, oddity, bytes, out),
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        self.give_up_spread(out);
        self.judge_last(talk, out);
        if self.lines == 0 {
            if talk.end.is_over() {
                out.inconclusive(UTF8, "the agent wrote nothing to stdout");
            }
            return;
        }
        for (id, failed) in [
            (UTF8, self.utf8_failed),
            (ONLY_MESSAGES, self.message_failed),
            (ONE_A_LINE, self.line_failed),
        ] {
            if !failed {
                out.pass(id);
            }
        }
        if !self.batch_failed && talk.is_version_one() {
            out.pass(SINGLY);
        }
    }
}

impl Transport {
    fn see_odd(&mut self, moment: &Moment<'_>, oddity: &Oddity, bytes: &[u8], out: &mut Out<'_>) {
        if let (Some(spread), Ok(text)) = (&mut self.spread, std::str::from_utf8(bytes)) {
            match spread.take(text) {
                Progress::Open => return,
                Progress::Closed => {
                    self.close_spread(out);
                    return;
                }
                // The line may well be odd by itself, but the cause is the one that began before.
                Progress::Hopeless => {
                    self.give_up_spread(out);
                    return;
                }
            }
        }
        match oddity {
            Oddity::Blank => {}
            Oddity::NotUtf8 { at } => {
                self.give_up_spread(out);
                self.utf8_failed = true;
                out.fail(
                    UTF8,
                    moment.place(),
                    format!(
                        "byte {} of the line {} is no UTF-8, which everything on stdout must be",
                        at + 1,
                        quote_bytes(bytes)
                    ),
                );
            }
            Oddity::Incomplete => {
                let text = String::from_utf8_lossy(bytes);
                let mut spread = Spread::new(moment.index);
                match spread.take(&text) {
                    Progress::Open => self.spread = Some(spread),
                    Progress::Closed | Progress::Hopeless => {
                        self.no_message(
                            moment.place(),
                            &no_message("is no whole JSON value", &text),
                            out,
                        );
                    }
                }
            }
            Oddity::Several => {
                self.line_failed = true;
                out.fail(
                    ONE_A_LINE,
                    moment.place(),
                    format!(
                        "the line {} holds more than one JSON value, where a newline must stand between messages",
                        quote_bytes(bytes)
                    ),
                );
            }
            Oddity::Batch(items) => {
                let version = moment.talk.handshake.as_ref().and_then(|it| it.version());
                if version.is_none() && !moment.talk.whole {
                    out.inconclusive(SINGLY, "the handshake is not in the recording");
                } else if version.is_none_or(|version| version == 1) {
                    self.batch_failed = true;
                    out.fail(
                        SINGLY,
                        moment.place(),
                        format!(
                            "a JSON array of {} was sent, where version 1 has single messages only",
                            items.len()
                        ),
                    );
                }
            }
            Oddity::NotJson { .. } => {
                let text = String::from_utf8_lossy(bytes);
                self.no_message(moment.place(), &no_message("is no JSON", &text), out);
            }
            Oddity::Scalar(kind) => {
                let text = String::from_utf8_lossy(bytes);
                self.no_message(
                    moment.place(),
                    &no_message(&format!("is {kind}"), &text),
                    out,
                );
            }
            Oddity::NoMessage(value) => {
                if !is_bare_response(value) {
                    let text = String::from_utf8_lossy(bytes);
                    let what = "is an object that is neither request, notification nor response";
                    self.no_message(moment.place(), &no_message(what, &text), out);
                }
            }
            Oddity::Unreadable { reason } => out.note(
                ONLY_MESSAGES,
                moment.place(),
                format!("a line of legal JSON that many parsers refuse: {reason}"),
            ),
        }
    }

    fn no_message(&mut self, place: Place, message: &str, out: &mut Out<'_>) {
        self.message_failed = true;
        out.fail(ONLY_MESSAGES, place, message);
    }

    /// What the lines so far began was not completed.
    fn give_up_spread(&mut self, out: &mut Out<'_>) {
        if let Some(spread) = self.spread.take() {
            let message = no_message("begins a JSON value that is never completed", &spread.text);
            self.no_message(Place::event(spread.event), &message, out);
        }
    }

    /// The brackets that were opened are closed.
    fn close_spread(&mut self, out: &mut Out<'_>) {
        let Some(spread) = self.spread.take() else {
            return;
        };
        if Reading::of_text(&spread.text).message().is_some() {
            self.line_failed = true;
            out.fail(
                ONE_A_LINE,
                Place::event(spread.event),
                format!(
                    "a message is spread over {} lines from {}, where it must stand on one",
                    spread.lines,
                    quote(&spread.text)
                ),
            );
        } else {
            self.spread = Some(spread);
            self.give_up_spread(out);
        }
    }

    /// Keeps a piece without newline until it is known how the process ended; `false` where that makes no difference.
    fn hold_last(&mut self, moment: &Moment<'_>, reading: &Reading, bytes: &[u8]) -> bool {
        if self.spread.is_some() {
            return false;
        }
        let kind = match reading {
            Reading::Message(_) => LastKind::Whole,
            Reading::Odd(Oddity::Incomplete) => LastKind::Cut,
            Reading::Odd(Oddity::NotUtf8 { .. }) => match std::str::from_utf8(bytes) {
                Err(error) if error.error_len().is_none() => LastKind::CutCharacter,
                _ => return false,
            },
            Reading::Odd(_) => return false,
        };
        self.last = Some(Last {
            event: moment.index,
            quoted: quote_bytes(bytes),
            kind,
        });
        true
    }

    fn judge_last(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        let Some(last) = self.last.take() else {
            return;
        };
        let killed = talk.end.signalled.is_some()
            || matches!(talk.end.exit, Some(Exit::Signal(_)))
            || talk.end.exit.is_none()
            || talk.lacks_lines();
        let place = Place::event(last.event);
        match last.kind {
            LastKind::Whole if !killed => {
                self.line_failed = true;
                out.fail(
                    ONE_A_LINE,
                    place,
                    format!(
                        "the last message, {}, has no newline, which must close every message",
                        last.quoted
                    ),
                );
            }
            LastKind::CutCharacter if !killed => {
                self.utf8_failed = true;
                out.fail(
                    UTF8,
                    place,
                    format!(
                        "stdout ends within a character after {}, where everything on it must be UTF-8",
                        last.quoted
                    ),
                );
            }
            _ => out.note(
                ONE_A_LINE,
                place,
                format!("stdout ends within a line, after {}", last.quoted),
            ),
        }
    }
}

fn no_message(what: &str, text: &str) -> String {
    format!(
        "the line {} {what}, where stdout carries ACP messages only",
        quote(text)
    )
}

fn partial(body: &Body) -> bool {
    matches!(
        body,
        Body::Message { partial: true, .. } | Body::Line { partial: true, .. }
    )
}

/// Whether an object that is no message is meant as a response: it has `jsonrpc` and `id`, and lacks its outcome.
pub(super) fn is_bare_response(value: &Value) -> bool {
    value.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && value.get("id").is_some()
        && value.get("method").is_none()
}

/// A JSON value that was begun on one line, and is followed over the next.
struct Spread {
    event: u64,
    text: String,
    lines: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

enum Progress {
    Open,
    Closed,
    Hopeless,
}

impl Spread {
    fn new(event: u64) -> Self {
        Self {
            event,
            text: String::new(),
            lines: 0,
            depth: 0,
            in_string: false,
            escaped: false,
        }
    }

    /// Adds a line; a newline within a string is put in as its escape, so that the whole can be read.
    fn take(&mut self, line: &str) -> Progress {
        if self.lines >= FOLLOWED_LINES || self.text.len() + line.len() > FOLLOWED_BYTES {
            return Progress::Hopeless;
        }
        if self.lines > 0 {
            self.text
                .push_str(if self.in_string { "\\n" } else { "\n" });
        }
        self.lines += 1;
        self.text.push_str(line);
        for byte in line.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => match self.depth.checked_sub(1) {
                    Some(depth) => self.depth = depth,
                    None => return Progress::Hopeless,
                },
                _ => {}
            }
        }
        if self.depth == 0 && !self.in_string {
            Progress::Closed
        } else {
            Progress::Open
        }
    }
}

#[cfg(test)]
mod tests;
