//! What was near a finding: a few events around it as a picture of two lanes.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use super::Screen;
use super::picture::{Fold, Lanes, Narrator, Step};
use crate::trace::{Event, TraceReader};

/// So many steps are shown before the finding, and so many after it.
const BEFORE: usize = 3;
const AFTER: usize = 2;
/// So many lines before the finding are read, to know the request that is answered; and so many after it.
const CONTEXT: u64 = 5_000;
const BEYOND: u64 = 50;

/// The steps around an event of a kept trace, drawn; nothing where it cannot be read there, or stands alone. `line` is the
/// line of the file that the event stands on, where it is known.
pub(super) fn vicinity(trace: &Path, line: Option<u64>, event: u64, screen: Screen) -> Vec<String> {
    let told = match line {
        Some(line) => told_by_line(trace, line, event),
        None => told_by_number(trace, event),
    };
    told.map_or_else(Vec::new, |told| drawn(told, event, screen))
}

/// What was told around the event: its steps, and the request that the event answers.
#[derive(Default)]
struct Told {
    narrator: Narrator,
    fold: Fold,
    steps: Vec<Step>,
    request: Option<Step>,
}

impl Told {
    fn take(&mut self, number: u64, event: &Event, finding: u64) {
        let (mut step, request) = self.narrator.tell(number, event);
        if number == finding {
            step.run = None;
            self.request = request;
        }
        self.steps.extend(self.fold.push(step));
        // What is far before the finding is not shown.
        if number < finding && self.steps.len() > 4 * BEFORE {
            self.steps.drain(..2 * BEFORE);
        }
    }

    fn end(mut self) -> Self {
        self.steps.extend(self.fold.flush());
        self
    }
}

fn told_by_line(trace: &Path, line: u64, finding: u64) -> Option<Told> {
    let mut input = BufReader::new(File::open(trace).ok()?);
    let first = line.saturating_sub(CONTEXT).max(2);
    for _ in 1..first {
        input.skip_until(b'\n').ok()?;
    }
    let mut before: Vec<Option<Event>> = Vec::new();
    let mut after: Vec<Option<Event>> = Vec::new();
    let mut text = Vec::new();
    for number in first..=line.saturating_add(BEYOND) {
        text.clear();
        if input.read_until(b'\n', &mut text).ok()? == 0 {
            break;
        }
        let parsed = match std::str::from_utf8(&text).map(str::trim) {
            // A header: another process begins.
            Ok(text) if text.starts_with("{\"acptrace\":") => None,
            Ok(text) => match Event::from_line(text) {
                Ok(event) => Some(event),
                Err(_) => continue,
            },
            Err(_) => continue,
        };
        if number < line {
            before.push(parsed);
        } else {
            after.push(parsed);
        }
    }
    let events = before.iter().flatten().count() as u64;
    let mut number = finding.checked_sub(events)?;
    let mut told = Told::default();
    for event in before.into_iter().chain(after) {
        match event {
            Some(event) => {
                told.take(number, &event, finding);
                number += 1;
            }
            None => told.narrator.begins_anew(),
        }
    }
    Some(told.end())
}

fn told_by_number(trace: &Path, finding: u64) -> Option<Told> {
    let mut reader = TraceReader::open(BufReader::new(File::open(trace).ok()?)).ok()?;
    let mut told = Told::default();
    let mut number = 0;
    while let Ok(Some(next)) = reader.next_event() {
        if reader.is_header() {
            told.narrator.begins_anew();
            continue;
        }
        if number > finding.saturating_add(BEYOND) {
            break;
        }
        if let Ok(event) = next {
            told.take(number, &event, finding);
        }
        number += 1;
    }
    Some(told.end())
}

fn drawn(told: Told, finding: u64, screen: Screen) -> Vec<String> {
    let Some(at) = told.steps.iter().position(|step| step.event == finding) else {
        return Vec::new();
    };
    let first = at.saturating_sub(BEFORE);
    let shown = told.steps.iter().skip(first).take(at - first + 1 + AFTER);
    let mut lanes = Lanes::of_part(screen);
    let mut lines = vec![lanes.head()];
    let earlier = told.request.filter(|request| {
        told.steps
            .get(first)
            .is_some_and(|it| request.event < it.event)
    });
    for step in earlier.iter().chain(shown) {
        lines.extend(lanes.step(step, step.event == finding));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Paint;
    use std::io::Write as _;

    fn trace() -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut put = |line: &str| writeln!(file, "{line}").unwrap();
        put(r#"{"acptrace":1}"#);
        put(
            r#"{"at":0,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}}"#,
        );
        for number in 0..9 {
            put(&format!(
                r#"{{"at":0.{number},"from":"agent","message":{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"t{number}"}}}}}}}}"#
            ));
        }
        put("damaged");
        put(
            r#"{"at":1,"from":"agent","message":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"done"}}}"#,
        );
        put(r#"{"at":1.1,"from":"client","eof":true}"#);
        file
    }

    #[test]
    fn a_few_events_around_and_the_request_are_shown_by_line() {
        let file = trace();
        let screen = Screen::new(Paint::default(), Some(80), false);
        // The damaged line moves the event on by one line.
        let lines = vicinity(file.path(), Some(13), 10, screen);
        insta::assert_snapshot!(lines.join("\n"), @r"
        event   seconds  turn  client                                            agent
            0     0.000  1.1   │ session/prompt #1 ─────────────────────────────────▸│
                               ⋮                  6 events left out                  ⋮
            7     0.600  1.1   │◂······································ tool_call t6 ┃
            8     0.700  1.1   │◂······································ tool_call t7 ┃
            9     0.800  1.1   │◂······································ tool_call t8 ┃
         ▸ 10     1.000  1.1   │◂╌╌╌╌╌╌╌╌╌╌╌╌╌╌ #1 session/prompt done (to 0, 1.0 s) ┃
           11     1.100        │ closes the agent's stdin ··························▸│
        ");
    }

    #[test]
    fn without_a_line_the_event_is_counted_and_what_is_not_there_is_nothing() {
        let file = trace();
        let screen = Screen::from(Paint::default());
        let lines = vicinity(file.path(), None, 0, screen);
        assert!(
            lines.iter().any(|line| line.contains("session/prompt")),
            "{lines:?}"
        );
        assert!(vicinity(file.path(), None, 99, screen).is_empty());
        assert!(vicinity(Path::new("nowhere"), Some(3), 1, screen).is_empty());
    }
}
