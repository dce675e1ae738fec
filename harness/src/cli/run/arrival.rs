//! Whether an agent ever answered, read from the trace of a scenario.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::agent::StartError;
use crate::report::plain;
use crate::scenario::{Outcome, Reached};
use crate::trace::{Body, Event, Exit, Party, TraceReader};
use crate::wire::Reading;

/// How much of a line is quoted, in characters.
const QUOTED: usize = 80;

/// What the beginning of a conversation shows.
#[derive(Debug, PartialEq)]
pub(in crate::cli) enum Arrival {
    /// It answered something.
    Answered,
    /// It was asked properly and gave no answer: what it did, as a sentence.
    Silent(String),
    /// It was not asked in a way that demands an answer.
    NotAsked,
}

impl Arrival {
    /// What an outcome shows. Only a first message that is a proper `initialize` demands an answer.
    pub(in crate::cli) fn of(outcome: &Outcome) -> Self {
        if outcome.handshake.is_some() {
            return Self::Answered;
        }
        if let Reached::NotStarted(error) = &outcome.reached {
            return Self::Silent(not_started(error));
        }
        match &outcome.trace {
            Some(trace) => Self::of_trace(trace),
            None => Self::NotAsked,
        }
    }

    /// What a kept trace shows.
    pub(in crate::cli) fn of_trace(trace: &Path) -> Self {
        let file = File::open(trace).ok();
        let read = file.and_then(|file| TraceReader::open(BufReader::new(file)).ok());
        let Some(mut reader) = read else {
            return Self::NotAsked;
        };
        let mut seen = Seen::default();
        while let Ok(Some(next)) = reader.next_event() {
            if let Ok(event) = next
                && let Some(arrival) = seen.event(&event)
            {
                return arrival;
            }
        }
        seen.finish()
    }
}

/// The sentence on an agent that was not started.
fn not_started(error: &StartError) -> String {
    format!("the agent could not be started: {error}")
}

#[derive(Default)]
struct Seen {
    asked: bool,
    line: Option<(String, &'static str)>,
    messages: bool,
    closed: bool,
    exit: Option<Exit>,
    ended_by_itself: bool,
    seconds: Option<f64>,
}

impl Seen {
    fn event(&mut self, event: &Event) -> Option<Arrival> {
        match (&event.body, event.from) {
            (Body::Message { .. } | Body::Line { .. }, Party::Client) if !self.asked => {
                let reading = event.body.reading()?;
                let method = reading.message().and_then(|message| message.method());
                if event.probe.is_some() || method != Some("initialize") {
                    return Some(Arrival::NotAsked);
                }
                self.asked = true;
            }
            (Body::Message { .. } | Body::Line { .. }, Party::Agent) => {
                match event.body.reading()? {
                    Reading::Message(message) if message.is_response() => {
                        return Some(Arrival::Answered);
                    }
                    Reading::Message(_) => self.messages = true,
                    Reading::Odd(oddity) => {
                        if self.line.is_none()
                            && let Some(bytes) = event.body.wire_bytes()
                        {
                            let text = String::from_utf8_lossy(bytes);
                            let what = match oddity {
                                crate::wire::Oddity::Blank => return None,
                                crate::wire::Oddity::NotJson { .. }
                                | crate::wire::Oddity::NotUtf8 { .. } => "is no JSON",
                                _ => "is no message of the protocol",
                            };
                            self.line = Some((text.chars().take(QUOTED).collect(), what));
                        }
                    }
                }
            }
            (Body::Eof, Party::Client) | (Body::Signal(_), _) => self.closed = true,
            (Body::Unanswered { seconds, .. }, _) => self.seconds = Some(*seconds),
            (Body::Exit(exit), _) => {
                self.exit = Some(*exit);
                self.ended_by_itself = !self.closed;
            }
            _ => {}
        }
        None
    }

    fn finish(self) -> Arrival {
        if !self.asked {
            return Arrival::NotAsked;
        }
        let wrote = match (&self.line, self.messages) {
            (Some((line, what)), _) => format!("it wrote \"{}\", which {what},", plain(line)),
            (None, true) => "it sent messages but no answer".to_owned(),
            (None, false) => "it wrote nothing".to_owned(),
        };
        let then = match (self.exit, self.ended_by_itself, self.seconds) {
            (Some(exit), true, _) => format!("and ended with {exit}"),
            (_, _, Some(seconds)) => format!("and was given up after {seconds:.0} s"),
            _ => "and closed its stdout".to_owned(),
        };
        Arrival::Silent(format!(
            "the agent never answered `initialize`: {wrote} {then}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(events: &[(Party, Body)]) -> Arrival {
        let mut seen = Seen::default();
        for (from, body) in events {
            if let Some(arrival) = seen.event(&Event::new(0.0, *from, body.clone())) {
                return arrival;
            }
        }
        seen.finish()
    }

    fn line(text: &str) -> Body {
        Body::of_line(text.as_bytes().to_vec(), false)
    }

    const ASK: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;

    #[test]
    fn a_program_that_prints_and_ends_is_told_with_what_it_printed() {
        let it = arrival(&[
            (Party::Client, line(ASK)),
            (Party::Agent, line("hello")),
            (Party::Agent, Body::Eof),
            (Party::Agent, Body::Exit(Exit::Code(0))),
        ]);
        let why = "the agent never answered `initialize`: it wrote \"hello\", which is no JSON, and ended with exit code 0";
        assert_eq!(it, Arrival::Silent(why.into()));
    }

    #[test]
    fn an_error_is_an_answer_and_a_probe_is_no_question() {
        let error = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"x"}}"#;
        assert_eq!(
            arrival(&[(Party::Client, line(ASK)), (Party::Agent, line(error))]),
            Arrival::Answered
        );
        assert_eq!(arrival(&[(Party::Client, line("x"))]), Arrival::NotAsked);
        assert_eq!(arrival(&[]), Arrival::NotAsked);
    }
}
