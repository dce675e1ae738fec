//! The event of a finding, shortened around the member that is marked.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::plain;
use crate::rules::Place;
use crate::trace::{Body, Event, Party, TraceReader};
use crate::wire::{Oddity, Reading};

/// So many columns are left for names, indents and marks beside the longest text of one value.
const BESIDE: usize = 28;
/// How many neighbours of a marked member are shown.
const NEIGHBOURS: usize = 5;
/// How many lines of a marked object or array are shown.
const INSIDE: usize = 6;

/// One line of an excerpt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The text, safe for a terminal.
    pub(super) text: String,
    /// Whether it is (part of) what is marked, or the mark under it.
    pub(super) marked: bool,
}

/// The excerpt of the event at `place` in a kept trace, for so many columns; `None` where it cannot be read there. `line` is
/// the line of the file that the event stands on, where it is known.
pub(super) fn excerpt(
    trace: &Path,
    line: Option<u64>,
    place: &Place,
    columns: usize,
) -> Option<Vec<Line>> {
    let longest = columns.saturating_sub(BESIDE);
    let mut input = BufReader::new(File::open(trace).ok()?);
    if let Some(line) = line {
        for _ in 1..line {
            input.skip_until(b'\n').ok()?;
        }
        let mut text = String::new();
        input.read_line(&mut text).ok()?;
        return Some(of_event(
            &Event::from_line(text.trim()).ok()?,
            place,
            longest,
        ));
    }
    let mut reader = TraceReader::open(input).ok()?;
    let mut number = 0;
    while let Ok(Some(next)) = reader.next_event() {
        // A damaged line counts: it was an event when it was written. The header of another process is none.
        if reader.is_header() {
            continue;
        }
        if number == place.event {
            return Some(of_event(&next.ok()?, place, longest));
        }
        number += 1;
    }
    None
}

/// The excerpt of one event, with at most so many characters of one value.
fn of_event(event: &Event, place: &Place, longest: usize) -> Vec<Line> {
    let mut out = Lines {
        lines: Vec::new(),
        longest,
    };
    let head = format!(
        "event {}, {:.3} s, {}",
        place.event,
        event.at,
        match (&event.body, event.from) {
            (Body::Message { .. } | Body::Line { .. }, Party::Agent) => "agent to client",
            (Body::Message { .. } | Body::Line { .. }, _) => "client to agent",
            (Body::Stderr(_), _) => "stderr of the agent",
            (Body::Model(_), _) => "the model",
            (_, Party::Agent) => "the agent",
            (_, Party::Client) => "the client",
            _ => "the harness",
        }
    );
    out.plain(0, &head);
    match &event.body {
        Body::Message { text, .. } => match value_of(text) {
            Some(value) => out.message(&value, &place.path),
            None => out.raw(text),
        },
        Body::Line { bytes, .. } | Body::Stderr(bytes) => out.raw(&String::from_utf8_lossy(bytes)),
        Body::Eof if event.from == Party::Agent => out.plain(0, "closed its stdout"),
        Body::Eof => out.plain(0, "closed the agent's stdin"),
        Body::Signal(signal) => out.plain(0, &format!("sent signal {signal}")),
        Body::Exit(exit) => out.plain(0, &format!("ended with {exit}")),
        Body::Unanswered { id, seconds } => out.plain(
            0,
            &format!(
                "gave up waiting for the answer to request {} after {seconds:.0} s",
                short(&id.to_string(), longest)
            ),
        ),
        Body::Left(processes) => out.plain(0, &short(&processes.join(", "), 2 * longest)),
        Body::Model(_) | Body::Other(_) => out.raw(&event.to_line()),
    }
    out.lines
}

/// The JSON value of a message, as a lenient reader sees it.
fn value_of(text: &str) -> Option<Value> {
    match Reading::of_text(text) {
        Reading::Message(message) => Some(Value::Object(message.members().clone())),
        Reading::Odd(Oddity::NoMessage(value)) => Some(value),
        Reading::Odd(_) => None,
    }
}

struct Lines {
    lines: Vec<Line>,
    /// The longest text that is shown of one value, in characters.
    longest: usize,
}

impl Lines {
    fn plain(&mut self, depth: usize, text: &str) {
        self.line(depth, text, false);
    }

    fn line(&mut self, depth: usize, text: &str, marked: bool) {
        self.lines.push(Line {
            text: format!("{}{}", "  ".repeat(depth), plain(text)),
            marked,
        });
    }

    /// A line that is marked as a whole.
    fn raw(&mut self, text: &str) {
        let text = short(text, 2 * self.longest);
        self.line(0, &text, true);
        self.carets(0, &text);
    }

    fn carets(&mut self, depth: usize, text: &str) {
        let width = plain(text)
            .trim_end_matches(',')
            .width()
            .clamp(1, self.longest.max(1));
        self.line(depth, &"^".repeat(width), true);
    }

    fn message(&mut self, value: &Value, pointer: &str) {
        let mut path: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|token| token.replace("~1", "/").replace("~0", "~"))
            .collect();
        path.reverse();
        self.value(0, None, value, path, "");
    }

    /// A value on the way to what is marked; `path` is what is left of the way, the next member last.
    fn value(
        &mut self,
        depth: usize,
        key: Option<&str>,
        value: &Value,
        mut path: Vec<String>,
        comma: &str,
    ) {
        let name = key.map_or(String::new(), |key| {
            format!("{}: ", quoted(key, self.longest))
        });
        let next = path.pop();
        let members: Vec<(Option<&str>, &Value)> = match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (Some(key.as_str()), value))
                .collect(),
            Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
            _ => Vec::new(),
        };
        let Some(next) = next else {
            if depth == 0 {
                // The message as a whole: nothing in it stands out.
                self.members(depth, "", value, &members, None);
                return;
            }
            self.marked(depth, &name, value, &members, comma);
            return;
        };
        let found = members.iter().position(|(key, _)| match key {
            Some(key) => *key == next,
            None => false,
        });
        let found = match value {
            Value::Array(_) => next
                .parse::<usize>()
                .ok()
                .filter(|index| *index < members.len()),
            _ => found,
        };
        match found {
            Some(index) => {
                self.opened(depth, &name, value, &members, (index, path), comma);
            }
            None => {
                self.members(depth, &name, value, &members, Some(comma));
                self.line(
                    depth,
                    &format!("^ has no {}", quoted(&next, self.longest)),
                    true,
                );
            }
        }
    }

    /// An object or array in which one member is on the way, with some of its neighbours.
    fn opened(
        &mut self,
        depth: usize,
        name: &str,
        value: &Value,
        members: &[(Option<&str>, &Value)],
        (marked, path): (usize, Vec<String>),
        comma: &str,
    ) {
        let (open, close) = brackets(value);
        self.plain(depth, &format!("{name}{open}"));
        let first = marked.saturating_sub(NEIGHBOURS.div_ceil(2));
        let end = (first + NEIGHBOURS + 1).min(members.len());
        if first > 0 {
            self.plain(depth + 1, "…");
        }
        for (index, (key, member)) in members.iter().enumerate().take(end).skip(first) {
            let comma = if index + 1 < members.len() { "," } else { "" };
            if index == marked {
                self.value(depth + 1, *key, member, path.clone(), comma);
            } else {
                let name = key.map_or(String::new(), |key| {
                    format!("{}: ", quoted(key, self.longest))
                });
                self.plain(
                    depth + 1,
                    &format!("{name}{}{comma}", folded(member, self.longest)),
                );
            }
        }
        if end < members.len() {
            self.plain(depth + 1, "…");
        }
        self.plain(depth, &format!("{close}{comma}"));
    }

    /// The member that is marked.
    fn marked(
        &mut self,
        depth: usize,
        name: &str,
        value: &Value,
        members: &[(Option<&str>, &Value)],
        comma: &str,
    ) {
        let whole = format!("{name}{}{comma}", value);
        if members.is_empty() || whole.chars().count() <= self.longest {
            let text = format!("{name}{}{comma}", short(&value.to_string(), self.longest));
            self.line(depth, &text, true);
            self.carets(depth, &text);
            return;
        }
        self.line(depth, name.trim_end(), true);
        self.carets(depth, name.trim_end());
        self.members(depth, "", value, members, Some(comma));
    }

    /// An object or array with its members folded.
    fn members(
        &mut self,
        depth: usize,
        name: &str,
        value: &Value,
        members: &[(Option<&str>, &Value)],
        comma: Option<&str>,
    ) {
        let comma = comma.unwrap_or_default();
        if members.is_empty() {
            self.plain(
                depth,
                &format!("{name}{}{comma}", folded(value, self.longest)),
            );
            return;
        }
        let (open, close) = brackets(value);
        self.plain(depth, &format!("{name}{open}"));
        for (index, (key, member)) in members.iter().enumerate().take(INSIDE) {
            let name = key.map_or(String::new(), |key| {
                format!("{}: ", quoted(key, self.longest))
            });
            let comma = if index + 1 < members.len() { "," } else { "" };
            self.plain(
                depth + 1,
                &format!("{name}{}{comma}", folded(member, self.longest)),
            );
        }
        if members.len() > INSIDE {
            self.plain(depth + 1, &format!("… {} more", members.len() - INSIDE));
        }
        self.plain(depth, &format!("{close}{comma}"));
    }
}

fn brackets(value: &Value) -> (char, char) {
    if value.is_array() {
        ('[', ']')
    } else {
        ('{', '}')
    }
}

/// A value in one short text.
fn folded(value: &Value, longest: usize) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let text = value.to_string();
            if text.chars().count() <= longest {
                return text;
            }
            let keys: Vec<String> = members.keys().map(|key| quoted(key, longest)).collect();
            format!("{{{}: …}}", short(&keys.join(", "), longest / 2))
        }
        Value::Array(items) if !items.is_empty() => {
            let text = value.to_string();
            if text.chars().count() <= longest {
                text
            } else {
                format!("[… {} items]", items.len())
            }
        }
        _ => short(&value.to_string(), longest),
    }
}

fn quoted(key: &str, longest: usize) -> String {
    short(&Value::from(key).to_string(), longest)
}

/// The start and the end of a text, where it is longer than `limit` characters.
fn short(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let tail = limit / 4;
    let head: String = text.chars().take(limit - tail - 1).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{head}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, path: &str) -> String {
        let event = Event::new(
            0.25,
            Party::Agent,
            Body::of_line(line.as_bytes().to_vec(), false),
        );
        let lines = of_event(&event, &Place::new(3, path), 72);
        let lines: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        lines.join("\n")
    }

    #[test]
    fn a_marked_member_has_carets_under_it_and_its_neighbours_are_folded() {
        let line = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","_meta":{"a":1}}}"#;
        insta::assert_snapshot!(shown(line, "/result/stopReason"), @r#"
        event 3, 0.250 s, agent to client
        {
          "jsonrpc": "2.0",
          "id": 3,
          "result": {
            "stopReason": "end_turn",
            ^^^^^^^^^^^^^^^^^^^^^^^^
            "_meta": {"a":1}
          }
        }
        "#);
    }

    #[test]
    fn a_member_that_is_missing_is_named_where_it_should_be() {
        let line = r#"{"jsonrpc":"2.0","id":1,"result":{"modes":null}}"#;
        insta::assert_snapshot!(shown(line, "/result/sessionId"), @r#"
        event 3, 0.250 s, agent to client
        {
          "jsonrpc": "2.0",
          "id": 1,
          "result": {
            "modes": null
          }
          ^ has no "sessionId"
        }
        "#);
    }

    #[test]
    fn long_and_hostile_text_is_cut_and_escaped() {
        let text = format!("\u{1b}[2J{}\u{202e}", "x".repeat(5000));
        let line = serde_json::json!({"jsonrpc":"2.0","method":"session/update","params":{"list":[1,{"text":text}]}});
        let shown = shown(&line.to_string(), "/params/list/1/text");
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        assert!(shown.lines().all(|line| line.len() < 120), "{shown}");
        assert!(shown.contains("^^^^"), "{shown}");
    }

    #[test]
    fn a_line_that_is_no_message_is_shown_as_it_is() {
        let shown = shown("hello\t", "");
        assert!(shown.contains("hello\\u0009\n^^^^^"), "{shown}");
    }
}
