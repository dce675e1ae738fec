//! Who sent a message: by its mark, by its method, or by the request that it answers.

use std::collections::HashMap;

use super::line::{Piece, What};
use super::mark::Mark;
use crate::spec::{Later, Methods, Schema, Side};
use crate::trace::Party;
use crate::wire::{Id, Kind, Message};

/// So many requests that wait for their answers are remembered for one side.
const REMEMBERED: usize = 100_000;

/// Members of results that only one side gives.
const OF_AGENT: [&str; 7] = [
    "stopReason",
    "protocolVersion",
    "sessionId",
    "sessions",
    "configOptions",
    "modes",
    "agentCapabilities",
];
const OF_CLIENT: [&str; 6] = [
    "outcome",
    "terminalId",
    "exitCode",
    "output",
    "action",
    "content",
];

/// Who sent something, and whether that is sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) party: Party,
    pub(super) sure: bool,
}

/// What is learned on the way.
#[derive(Debug, Default)]
pub(super) struct Sides {
    /// The requests of each side that wait, with their methods.
    open: [HashMap<Id, String>; 2],
    /// The last whole number that each side used as an id.
    last: [Option<i64>; 2],
    /// For marks of sides and for relative ones: how often the methods agreed, and how often not.
    votes: [(u64, u64); 2],
}

impl Sides {
    /// Takes a vote on what the marks mean, where the method tells who sent the message.
    pub(super) fn vote(&mut self, piece: &Piece) {
        let (Some(mark), What::Message(_, message)) = (piece.mark, &piece.what) else {
            return;
        };
        let Some((kind, straight)) = meaning(mark) else {
            return;
        };
        if let Some(caller) = message.method().and_then(caller)
            && let Some(votes) = self.votes.get_mut(kind)
        {
            if caller == straight {
                votes.0 += 1;
            } else {
                votes.1 += 1;
            }
        }
    }

    /// Whether any marks are read the other way round.
    pub(super) fn reversed(&self) -> bool {
        self.votes
            .iter()
            .any(|(straight, crossed)| crossed > straight)
    }

    /// Who a mark says it was.
    pub(super) fn marked(&self, mark: Mark) -> Option<Party> {
        let (kind, straight) = meaning(mark)?;
        let (agreed, not) = self.votes.get(kind).copied().unwrap_or_default();
        Some(if not > agreed {
            other(straight)
        } else {
            straight
        })
    }

    /// Who sent a message; the message is taken note of.
    pub(super) fn sender(&mut self, mark: Option<Mark>, message: &Message) -> Sender {
        let sender = match mark.and_then(|mark| self.marked(mark)) {
            Some(party) => Sender { party, sure: true },
            None => self.inferred(message),
        };
        self.note(sender.party, message);
        sender
    }

    fn inferred(&self, message: &Message) -> Sender {
        let sure = |party| Sender { party, sure: true };
        let guess = |party| Sender { party, sure: false };
        match message.kind() {
            Kind::Request { id, method } => match caller(method) {
                Some(party) => sure(party),
                None => guess(self.next_of(id).unwrap_or(Party::Client)),
            },
            Kind::Notification { method } => match caller(method) {
                Some(party) => sure(party),
                None => match self.cancelled(method, message) {
                    Some(party) => sure(party),
                    // Most notifications of others' own making are an agent's.
                    None => guess(Party::Agent),
                },
            },
            Kind::Response { id } => {
                let [client, agent] = &self.open;
                match (client.get(id), agent.get(id)) {
                    (Some(_), None) => unless_shaped(message, Party::Agent),
                    (None, Some(_)) => unless_shaped(message, Party::Client),
                    (Some(of_client), Some(of_agent)) => {
                        match (fits(of_client, message), fits(of_agent, message)) {
                            (true, false) => sure(Party::Agent),
                            (false, true) => sure(Party::Client),
                            _ => guess(by_shape(message).unwrap_or(Party::Agent)),
                        }
                    }
                    (None, None) => guess(by_shape(message).unwrap_or(Party::Agent)),
                }
            }
        }
    }

    /// The side whose ids this one goes on from.
    fn next_of(&self, id: &Id) -> Option<Party> {
        let Id::Integer(id) = id else {
            return None;
        };
        let follows =
            |last: &Option<i64>| last.is_some_and(|last| last.checked_add(1) == Some(*id));
        match (follows(&self.last[0]), follows(&self.last[1])) {
            (true, false) => Some(Party::Client),
            (false, true) => Some(Party::Agent),
            _ => None,
        }
    }

    /// The side whose request a `$/cancel_request` names.
    fn cancelled(&self, method: &str, message: &Message) -> Option<Party> {
        if method != "$/cancel_request" {
            return None;
        }
        let id = Id::from_value(message.params()?.get("requestId")?);
        match (
            self.open[0].contains_key(&id),
            self.open[1].contains_key(&id),
        ) {
            (true, false) => Some(Party::Client),
            (false, true) => Some(Party::Agent),
            _ => None,
        }
    }

    fn note(&mut self, sender: Party, message: &Message) {
        let own = usize::from(sender == Party::Agent);
        match message.kind() {
            Kind::Request { id, method } => {
                if let (Id::Integer(id), Some(last)) = (id, self.last.get_mut(own)) {
                    *last = Some(*id);
                }
                if let Some(open) = self
                    .open
                    .get_mut(own)
                    .filter(|open| open.len() < REMEMBERED)
                {
                    open.insert(id.clone(), method.clone());
                }
            }
            Kind::Response { id } => {
                if let Some(open) = self.open.get_mut(1 - own) {
                    open.remove(id);
                }
            }
            Kind::Notification { .. } => {}
        }
    }
}

/// What a mark means if it is read straight: its kind, and the sender. Whoever writes a log is taken for the client.
fn meaning(mark: Mark) -> Option<(usize, Party)> {
    match mark {
        Mark::From(party) => Some((0, party)),
        Mark::Out => Some((1, Party::Client)),
        Mark::In => Some((1, Party::Agent)),
        Mark::Stderr => None,
    }
}

fn other(party: Party) -> Party {
    match party {
        Party::Client => Party::Agent,
        _ => Party::Client,
    }
}

/// The side that alone calls a method.
pub(super) fn caller(method: &str) -> Option<Party> {
    let handled = |side| match Methods::v1().get(method) {
        Some(known) => known.handled_by(side),
        None => Later::v1()
            .method(method)
            .is_some_and(|later| later.handlers.contains(&side)),
    };
    match (handled(Side::Agent), handled(Side::Client)) {
        (true, false) => Some(Party::Client),
        (false, true) => Some(Party::Agent),
        _ => None,
    }
}

/// Whether a response fits the result that the schema gives a method; an error fits any.
fn fits(method: &str, message: &Message) -> bool {
    let definition = Methods::v1()
        .get(method)
        .and_then(|known| known.result.as_deref());
    match (message.result(), definition) {
        (Some(result), Some(definition)) => {
            Schema::v1().violations(definition, result).is_empty()
                && (by_shape(message).is_none()
                    || caller(method).is_none_or(|caller| by_shape(message) == Some(other(caller))))
        }
        _ => true,
    }
}

/// The answer to the other side's request, but for a result that only this side's own kind gives: then the request that it
/// answers is not in the recording, which may hold one side only.
fn unless_shaped(message: &Message, party: Party) -> Sender {
    match by_shape(message) {
        Some(shaped) if shaped != party => Sender {
            party: shaped,
            sure: false,
        },
        _ => Sender { party, sure: true },
    }
}

/// The side that gives results with such members.
fn by_shape(message: &Message) -> Option<Party> {
    let result = message.result()?.as_object()?;
    let has = |names: &[&str]| names.iter().any(|name| result.contains_key(*name));
    match (has(&OF_AGENT), has(&OF_CLIENT)) {
        (true, false) => Some(Party::Agent),
        (false, true) => Some(Party::Client),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Reading;

    fn senders(lines: &[&str]) -> Vec<(Party, bool)> {
        let mut sides = Sides::default();
        lines
            .iter()
            .map(|line| {
                let reading = Reading::of_text(line);
                let sender = sides.sender(None, reading.message().unwrap());
                (sender.party, sender.sure)
            })
            .collect()
    }

    #[test]
    fn methods_tell_who_asks_and_ids_who_answers() {
        assert_eq!(
            senders(&[
                r#"{"id":0,"method":"initialize","params":{}}"#,
                r#"{"id":0,"result":{}}"#,
                r#"{"id":7,"method":"fs/read_text_file","params":{}}"#,
                r#"{"id":7,"result":{"content":""}}"#,
                r#"{"method":"session/update","params":{}}"#,
                r#"{"method":"session/cancel","params":{}}"#,
            ]),
            [
                (Party::Client, true),
                (Party::Agent, true),
                (Party::Agent, true),
                (Party::Client, true),
                (Party::Agent, true),
                (Party::Client, true),
            ]
        );
    }

    #[test]
    fn one_id_open_on_both_sides_is_told_apart_by_what_the_answer_holds() {
        assert_eq!(
            senders(&[
                r#"{"id":1,"method":"session/prompt","params":{}}"#,
                r#"{"id":1,"method":"session/request_permission","params":{}}"#,
                r#"{"id":1,"result":{"outcome":{"outcome":"cancelled"}}}"#,
                r#"{"id":1,"result":{"stopReason":"end_turn"}}"#,
            ])[2..],
            [(Party::Client, true), (Party::Agent, true)]
        );
    }

    #[test]
    fn what_cannot_be_told_is_a_guess() {
        assert_eq!(
            senders(&[
                r#"{"id":4,"result":{}}"#,
                r#"{"method":"_own/news"}"#,
                r#"{"id":1,"method":"session/new","params":{}}"#,
                r#"{"id":2,"method":"_own/ask"}"#,
                r#"{"method":"$/cancel_request","params":{"requestId":2}}"#,
            ]),
            [
                (Party::Agent, false),
                (Party::Agent, false),
                (Party::Client, true),
                (Party::Client, false),
                (Party::Client, true),
            ]
        );
    }
}
