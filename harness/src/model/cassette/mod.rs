//! The exchanges of a recording, served again: a request gets the reply that was recorded at its place of the conversation.
//!
//! What is compared is the conversation (`talk`, `fit`), not bytes: another agent, or another interface, asks the same in
//! other words. `heard` puts the recorded exchanges together, `calls` fits recorded calls to the tools that are offered now.

mod calls;
mod derived;
mod fit;
mod heard;
mod talk;

use super::asked::{Answer, Asked, Tool};
use super::prompt;
use super::script::{Failure, Reply, Script};
use super::side::{self, Seen};
use super::turns::Turn;
use crate::trace::{Body, ExchangeEnd, Party, Recording};
use crate::wire::Reading;
use fit::{Alike, Fit};
use heard::Heard;
use talk::Talk;

/// The status of a request that the recording does not have: one that agents do not try again.
const MISSED: u16 = 400;
/// What such a request is marked with in the trace.
pub(crate) const NOT_RECORDED: &str = "not recorded";

/// What the model of a recording replied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cassette {
    takes: Vec<Take>,
    /// The prompts of the recording, as they are looked for in requests.
    prompts: Vec<String>,
    seen: Seen,
    /// Whether a connection was refused: nobody sees what it was for, so that only the order tells.
    refused: bool,
    /// What is to be known about requests so far, a sentence each.
    told: Vec<String>,
}

/// One recorded exchange.
#[derive(Clone, Debug)]
struct Take {
    number: u64,
    talk: Talk,
    /// Whether it was beside the conversation, and of which form its answer is.
    side: Option<(&'static str, Answer)>,
    /// The tools that were offered then.
    tools: Vec<Tool>,
    reply: Reply,
    /// Why the reply is not in the recording, where it is not.
    lost: Option<String>,
    used: bool,
}

impl Cassette {
    /// Reads a recording. `live` puts live folders into a JSON text in place of the recorded ones.
    pub(crate) fn of(recording: &Recording, live: impl Fn(&str) -> String) -> Self {
        let mut cassette = Self::default();
        let mut exchanges = heard::all(recording);
        let mut parts = exchanges.iter_mut().peekable();
        // Prompts and requests in the order in which they were, since side requests are told by the prompts before them.
        for (place, event) in recording.events.iter().enumerate() {
            if event.from == Party::Client
                && let Some(prompt) = prompt(&event.body, &live)
            {
                cassette.knows(&prompt);
            }
            while let Some(heard) = parts.next_if(|heard| heard.event == place) {
                cassette.hear(heard, &live);
            }
        }
        cassette.seen = Seen::default();
        cassette
    }

    /// Whether there is no reply at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.takes.is_empty()
    }

    /// The commands that its replies call for.
    pub(crate) fn commands(&self) -> impl Iterator<Item = String> {
        self.takes
            .iter()
            .flat_map(|take| calls::commands(&take.reply))
    }

    /// The replies in their order, where only the order tells which is for which request.
    pub(crate) fn in_order(&self) -> Option<Script> {
        let turns = self.takes.iter().filter(|take| take.side.is_none());
        self.refused
            .then(|| turns.map(|take| take.reply.clone()).collect())
    }

    /// A prompt is about to be sent: what it says.
    pub(crate) fn note_prompt(&mut self, text: &str) {
        self.knows(text);
    }

    /// What is to be known about the requests so far.
    pub(crate) fn told(&self) -> &[String] {
        &self.told
    }

    /// How many of the recorded exchanges were served.
    pub(crate) fn used(&self) -> usize {
        self.takes.iter().filter(|take| take.used).count()
    }

    /// What this request is answered with.
    pub(crate) fn take(&mut self, asked: &Asked) -> Turn {
        let live = Talk::of(asked, &self.prompts);
        if let Some(reason) = side::reason(asked, &self.seen) {
            return self.beside(reason, asked, &live);
        }
        self.seen.turn(asked);
        match self.fitting(&live) {
            Some((place, fit)) => self.serve(place, fit, asked, &live),
            None => self.miss(&live),
        }
    }

    fn knows(&mut self, prompt: &str) {
        self.seen.prompt(prompt);
        let plain = talk::plain(prompt);
        if !plain.is_empty() && !self.prompts.contains(&plain) {
            self.prompts.push(plain);
        }
    }

    fn hear(&mut self, heard: &mut Heard, live: &impl Fn(&str) -> String) {
        if heard.end == Some(ExchangeEnd::Refused) && heard.body.is_empty() {
            self.refused = true;
            self.takes.push(Take {
                number: heard.number,
                talk: Talk::default(),
                side: None,
                tools: Vec::new(),
                reply: heard::refused(),
                lost: None,
                used: false,
            });
            return;
        }
        heard.body = live(&heard.body);
        let Some(interface) = heard.interface else {
            return;
        };
        let Ok(asked) = interface.asked(&heard.path, &heard.body) else {
            return;
        };
        let side = match &heard.side {
            Some(_) => Some("beside"),
            None => side::reason(&asked, &self.seen),
        };
        if side.is_none() {
            self.seen.turn(&asked);
        }
        if let Some(why) = heard.status_damage() {
            self.tell(format!(
                "exchange {}: {why}; its reply is given with status {}",
                heard.number,
                heard::FINE
            ));
        }
        let mut reply = heard.reply(interface);
        calls::put_in(&mut reply, live);
        self.takes.push(Take {
            number: heard.number,
            talk: Talk::of(&asked, &self.prompts),
            side: side.map(|reason| (reason, asked.answer.clone())),
            tools: asked.tools,
            reply,
            lost: heard.lost(),
            used: false,
        });
    }

    /// The recorded turn that fits best. Of equal ones the first that was not served yet: a retry goes on to the reply that
    /// the recorded one got. One that was served is served again only at the same place.
    fn fitting(&self, live: &Talk) -> Option<(usize, Fit)> {
        let turns = self
            .takes
            .iter()
            .enumerate()
            .filter(|(_, take)| take.side.is_none());
        let fitting = turns.filter_map(|(place, take)| {
            let fit = fit::fit(&take.talk, live)?;
            (!take.used || fit.same_turn).then_some((place, fit))
        });
        let order = |(place, fit): &(usize, Fit)| {
            let used = self.takes.get(*place).is_some_and(|take| take.used);
            // Of those that were served the last, which is how it ended.
            let place = isize::try_from(*place).unwrap_or(isize::MAX);
            (*fit, !used, if used { place } else { -place })
        };
        fitting.max_by_key(order)
    }

    fn serve(&mut self, place: usize, fit: Fit, asked: &Asked, live: &Talk) -> Turn {
        let Some(take) = self.takes.get_mut(place) else {
            return Turn::Beyond;
        };
        take.used = true;
        if let Some(why) = &take.lost {
            let why = format!(
                "the reply of exchange {} cannot be given: {why}",
                take.number
            );
            return self.missed(why);
        }
        let reply = calls::fitted(&take.reply, &take.tools, &asked.tools);
        if fit.results == Alike::Not {
            let told = format!(
                "the agent's tools gave the model something else than recorded before the reply of exchange {}: {}",
                take.number,
                fit::parting(&take.talk, live)
            );
            self.tell(told);
        }
        Turn::Reply(place, Box::new(reply))
    }

    /// A request beside the conversation: the recorded reply to one of the same purpose, if there is one.
    fn beside(&mut self, reason: &'static str, asked: &Asked, live: &Talk) -> Turn {
        let same_form = |answer: &Answer| {
            matches!(
                (answer, &asked.answer),
                (Answer::Text, Answer::Text) | (Answer::Json(_), Answer::Json(_))
            )
        };
        let candidates = self.takes.iter().enumerate().filter(|(_, take)| {
            let of_purpose = take
                .side
                .as_ref()
                .is_some_and(|(purpose, answer)| *purpose == reason && same_form(answer));
            of_purpose
                && take.reply.fail.is_none()
                && take.lost.is_none()
                && fit::fit(&take.talk, live).is_some()
        });
        let best = candidates
            .min_by_key(|(place, take)| (take.used, *place))
            .map(|(place, _)| place);
        let Some(take) = best.and_then(|place| self.takes.get_mut(place)) else {
            return Turn::Side(reason);
        };
        take.used = true;
        Turn::Aside(reason, Box::new(take.reply.clone()))
    }

    fn miss(&mut self, live: &Talk) -> Turn {
        let turns = self.takes.iter().filter(|take| take.side.is_none());
        let nearest = fit::nearest(turns.map(|take| (take.number, &take.talk)), live);
        let last = live
            .items
            .last()
            .map_or("nothing", |item| item.shown.as_str());
        let why = match nearest {
            None => format!("the recording has no reply of the model to \"{last}\""),
            Some((number, talk)) => format!(
                "the recording has no reply of the model to this request (its last message: \"{last}\"); exchange {number} \
                 comes nearest: {}",
                fit::parting(talk, live)
            ),
        };
        self.missed(why)
    }

    /// An error in the place of a reply that the recording does not have.
    fn missed(&mut self, why: String) -> Turn {
        self.tell(why.clone());
        Turn::Miss(Box::new(Reply {
            fail: Some(Failure::Status {
                status: MISSED,
                message: Some(format!("harness: {why}")),
            }),
            ..Reply::default()
        }))
    }

    fn tell(&mut self, words: String) {
        if !self.told.contains(&words) {
            self.told.push(words);
        }
    }
}

/// The text of a prompt that a client sends.
fn prompt(body: &Body, live: &impl Fn(&str) -> String) -> Option<String> {
    let Some(Reading::Message(message)) = body.reading() else {
        return None;
    };
    if message.method() != Some("session/prompt") {
        return None;
    }
    let line = live(std::str::from_utf8(body.wire_bytes()?).ok()?);
    let Reading::Message(message) = Reading::of(line.as_bytes()) else {
        return None;
    };
    prompt::text_in(&message)
}

#[cfg(test)]
mod tests;
