//! Terminals: questions for the output of one, merged as long as it grows.

use super::Sorter;
use crate::canon::item::{Item, ItemId};
use crate::canon::minted::Reference;
use crate::canon::node::Node;
use crate::spec::Identifier;
/// Requests that end a terminal: no agent has anything to wait for in their answers.
const LETS_GO: [&str; 2] = ["terminal/kill", "terminal/release"];
/// How far back the request of an answer is looked for.
const LOOK_BACK: usize = 1000;

/// The last question for a terminal's output.
#[derive(Debug)]
pub(super) struct Poll {
    pub(super) request: ItemId,
    pub(super) response: Option<ItemId>,
    pub(super) output: String,
    pub(super) exit: u64,
}

impl<'a> Sorter<'a> {
    pub(super) fn poll(&mut self, session: u32, id: ItemId, node: &Node<'_>) {
        let (Some(Node::Id(terminal)), Some(live)) = (
            node.at(&["params", "terminalId"]),
            self.live.get_mut(session as usize),
        ) else {
            return;
        };
        match live.polls.get_mut(terminal) {
            // Kept until the answer tells whether it only says more of the same.
            Some(poll) if poll.response.is_some() => {}
            _ => {
                live.polls.insert(
                    *terminal,
                    Poll {
                        request: id,
                        response: None,
                        output: String::new(),
                        exit: 0,
                    },
                );
            }
        }
    }

    /// An answer to a question for a terminal's output: merged with the one before if it goes on from there.
    pub(super) fn polled(
        &mut self,
        session: u32,
        request: ItemId,
        response: ItemId,
        node: &Node<'_>,
    ) {
        let Some(terminal) = self.terminal_of(request) else {
            return;
        };
        let output = node.at(&["result", "output"]).and_then(Node::text);
        let Some(output) = output.map(str::to_owned) else {
            return;
        };
        let exit = node
            .at(&["result", "exitStatus"])
            .map_or(0, |exit| exit.hashes(&self.form.minted).full);
        let Some(live) = self.live.get_mut(session as usize) else {
            return;
        };
        let goes_on = live.polls.get(&terminal).filter(|poll| {
            poll.response.is_some()
                && poll.request != request
                && (poll.exit == 0 || poll.exit == exit)
                && output.starts_with(&poll.output)
        });
        match goes_on.and_then(|poll| Some((poll.request, poll.response?))) {
            Some((first, answer)) => {
                self.take_over(first, request);
                self.take_over(answer, response);
                let poll = Poll {
                    request: first,
                    response: Some(answer),
                    output,
                    exit,
                };
                if let Some(live) = self.live.get_mut(session as usize) {
                    live.polls.insert(terminal, poll);
                }
            }
            None => {
                live.polls.insert(
                    terminal,
                    Poll {
                        request,
                        response: Some(response),
                        output,
                        exit,
                    },
                );
            }
        }
    }

    pub(super) fn terminal_of(&self, request: ItemId) -> Option<Reference> {
        let item = self.form.item(request)?;
        let kind = self.form.kind_name(item);
        if kind != "terminal/output" {
            return None;
        }
        let terminal = |reference: &&Reference| {
            self.form.minted.word(**reference) == Identifier::Terminal.word()
        };
        self.form.references_of(item).iter().find(terminal).copied()
    }

    /// Whether a request ends a terminal.
    pub(super) fn is_let_go(&self, request: ItemId) -> bool {
        let kind = self
            .form
            .item(request)
            .map(|item| self.form.kind_name(item));
        kind.is_some_and(|kind| LETS_GO.contains(&kind))
    }

    /// Puts an answer right behind its request, in the request's turn: when it came says nothing of the agent.
    pub(super) fn put_behind(&mut self, session: u32, request: ItemId, answer: ItemId) {
        let turn = self.form.item(request).map(|item| item.turn);
        if let (Some(turn), Some(item)) = (turn, self.form.items.get_mut(answer.index())) {
            item.turn = turn;
        }
        let Some(session) = self.form.sessions.get_mut(session as usize) else {
            return;
        };
        let near = session.items.iter().rev().take(LOOK_BACK);
        let behind = near.take_while(|id| **id != request).count();
        let place = session.items.len().saturating_sub(behind);
        if behind < LOOK_BACK {
            session.items.insert(place, answer);
        } else {
            session.items.push(answer);
        }
    }

    /// An item takes the place of an earlier one, which goes.
    pub(super) fn take_over(&mut self, place: ItemId, by: ItemId) {
        let Some(new) = self.form.items.get(by.index()).cloned() else {
            return;
        };
        if let Some(owner) = self.form.owners.get_mut(new.event as usize) {
            *owner = place.0;
        }
        if let Some(request) = new
            .request
            .and_then(|request| self.form.requests.get_mut(request as usize))
            && request.item == by
        {
            request.item = place;
        }
        if let Some(old) = self.form.items.get_mut(place.index()) {
            let turn = old.turn;
            *old = Item { turn, ..new };
        }
        self.dropped.push(by);
    }
}
