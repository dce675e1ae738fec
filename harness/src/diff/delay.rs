//! Turns that took much longer in one recording than in the other.

use std::collections::HashMap;

use super::difference::{Change, Class, Difference};
use crate::trace::{Event, Party, Recording};
use crate::wire::{Id, Reading};

/// A turn takes much longer where it takes so many times as long …
const FACTOR: f64 = 10.0;
/// … and so many seconds more: what a machine that is busy takes more is no difference between agents.
const SECONDS: f64 = 5.0;

/// One turn.
#[derive(Debug, PartialEq)]
struct Turn {
    /// How long the agent took, without what it waited for the client, in seconds.
    seconds: f64,
    /// The event of its answer.
    event: u64,
}

/// The turns of a recording, by session and number, from 1.
type Turns = HashMap<(usize, usize), Turn>;

/// The turns that took much longer on one side, in their order. How long a turn took while the agent waited for an answer of
/// the client (a permission, say) does not count. Nothing is said where a session has not as many turns on both sides.
#[must_use]
pub fn delays(left: &Recording, right: &Recording) -> Vec<Difference> {
    let (left, right) = (turns(left), turns(right));
    let mut keys: Vec<&(usize, usize)> = left.keys().chain(right.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.len() != left.len() || keys.len() != right.len() {
        return Vec::new();
    }
    let differing = |key: &&(usize, usize)| {
        let (one, other) = (left.get(*key)?, right.get(*key)?);
        let (less, more) = if one.seconds < other.seconds {
            (one.seconds, other.seconds)
        } else {
            (other.seconds, one.seconds)
        };
        let differs = more - less >= SECONDS && more >= less * FACTOR;
        differs.then(|| difference(**key, one, other))
    };
    keys.iter().filter_map(differing).collect()
}

fn difference((session, turn): (usize, usize), left: &Turn, right: &Turn) -> Difference {
    let longer = if left.seconds < right.seconds {
        "the turn took much longer"
    } else {
        "the turn took much less time"
    };
    Difference {
        class: Class::Timing,
        change: Change::Changed,
        place: format!("session-{session} · turn {turn} · time"),
        left: Some(format!("{:.1} s", left.seconds)),
        right: Some(format!("{:.1} s", right.seconds)),
        left_event: Some(left.event),
        right_event: Some(right.event),
        requirements: Vec::new(),
        message: longer.to_owned(),
        before: Vec::new(),
        after: Vec::new(),
    }
}

/// What is open while a recording is read.
#[derive(Default)]
struct Clock {
    sessions: Vec<String>,
    turns: HashMap<usize, usize>,
    /// The prompts without an answer: session, turn, since when, and how long was waited for the client before.
    prompts: HashMap<Id, (usize, usize, f64, f64)>,
    /// The agent's requests without an answer.
    asked: Vec<Id>,
    since: f64,
    waited: f64,
}

fn turns(recording: &Recording) -> Turns {
    let mut clock = Clock::default();
    let mut turns = Turns::new();
    for (number, event) in (0..).zip(&recording.events) {
        if let Some((key, seconds)) = clock.event(event) {
            let event = number;
            turns.insert(key, Turn { seconds, event });
        }
    }
    turns
}

impl Clock {
    /// Takes the next event; gives the turn that ends with it, and how long it took.
    fn event(&mut self, event: &Event) -> Option<((usize, usize), f64)> {
        let bytes = event.body.wire_bytes()?;
        // Most messages are updates, which need not be read for this.
        let is_update = memchr::memmem::find(bytes, b"\"session/update\"").is_some();
        if is_update && event.from == Party::Agent {
            return None;
        }
        let reading = Reading::of(bytes);
        let message = reading.message()?;
        let id = message.id()?;
        match (event.from, message.method()) {
            (Party::Client, Some("session/prompt")) => {
                let session = self.session(message.session()?);
                let turn = self.turns.entry(session).or_default();
                *turn += 1;
                let waited = self.waited(event.at);
                self.prompts.insert(
                    id.clone(),
                    (session, *self.turns.get(&session)?, event.at, waited),
                );
                None
            }
            (Party::Agent, Some(_)) => {
                if self.asked.is_empty() {
                    self.since = event.at;
                }
                self.asked.push(id.clone());
                None
            }
            (Party::Client, None) => {
                let open = self.asked.iter().position(|own| own == id)?;
                self.asked.swap_remove(open);
                if self.asked.is_empty() {
                    self.waited += event.at - self.since;
                }
                None
            }
            (Party::Agent, None) => {
                let (session, turn, since, before) = self.prompts.remove(id)?;
                let waited = self.waited(event.at) - before;
                Some(((session, turn), (event.at - since - waited).max(0.0)))
            }
            _ => None,
        }
    }

    /// How long the client was waited for until now.
    fn waited(&self, now: f64) -> f64 {
        if self.asked.is_empty() {
            self.waited
        } else {
            self.waited + now - self.since
        }
    }

    /// The number of a session, from 1, in the order in which they have turns.
    fn session(&mut self, name: &str) -> usize {
        match self.sessions.iter().position(|own| own == name) {
            Some(place) => place + 1,
            None => {
                self.sessions.push(name.to_owned());
                self.sessions.len()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Body;

    /// A turn that is answered at `end`, with a permission that is asked for and given at these times.
    fn recording(end: f64, permission: Option<(f64, f64)>) -> Recording {
        let mut events = vec![(
            1.0,
            Party::Client,
            r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
        )];
        if let Some((asked, given)) = permission {
            let ask = r#"{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s"}}"#;
            events.push((asked, Party::Agent, ask));
            events.push((
                given,
                Party::Client,
                r#"{"jsonrpc":"2.0","id":"p","result":{}}"#,
            ));
        }
        let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#;
        events.push((1.0 + end, Party::Agent, answer));
        Recording {
            events: events
                .into_iter()
                .map(|(at, from, text)| {
                    Event::new(at, from, Body::of_line(text.as_bytes().to_vec(), false))
                })
                .collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn a_turn_that_takes_many_times_as_long_is_told_and_a_little_more_is_not() {
        let quick = recording(0.5, None);
        let found = delays(&quick, &recording(9.0, None));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].class, Class::Timing);
        assert_eq!(found[0].place, "session-1 · turn 1 · time");
        assert_eq!(found[0].right.as_deref(), Some("9.0 s"));
        assert_eq!(
            delays(&recording(9.0, None), &quick)[0].message,
            "the turn took much less time"
        );
        // Many times as long, but not by much; by much, but not many times as long.
        assert_eq!(delays(&recording(0.01, None), &recording(4.0, None)), []);
        assert_eq!(delays(&recording(20.0, None), &recording(60.0, None)), []);
        assert_eq!(delays(&quick, &quick), []);
    }

    #[test]
    fn how_long_a_person_thought_about_a_permission_does_not_count() {
        let slow_person = recording(61.0, Some((1.2, 61.8)));
        assert_eq!(delays(&recording(0.5, Some((1.2, 1.3))), &slow_person), []);
    }

    #[test]
    fn where_the_turns_are_not_the_same_nothing_is_said() {
        assert_eq!(delays(&Recording::default(), &recording(60.0, None)), []);
    }
}
