//! Runs all rules over the events of one trace.

use std::cell::{OnceCell, RefCell};

use super::form::Forms;
use super::slots::Slots;
use super::{Conversation, Judgement, Moment, Place, areas, reach};
use crate::spec::{Catalogue, Truth};
use crate::trace::{Event, Recording};
use crate::wire::Reading;

/// Requirements that fail by what was not seen. Where a line of the agent could not be read, that line is the failure, and
/// what it may have held is not missed as well.
const BY_ABSENCE: [&str; 17] = [
    "PROMPT-05",
    "PROMPT-06",
    "TOOLCALL-01",
    "TOOLCALL-05",
    "TOOLCALL-06",
    "TOOLCALL-07",
    "TERMINAL-04",
    "CANCEL-10",
    "PLAN-03",
    "LOAD-02",
    "LOAD-05",
    "CLOSE-02",
    "CLOSE-03",
    "REQCANCEL-01",
    "USAGE-03",
    "INTEROP-08",
    "INTEROP-11",
];

/// Code that judges a trace against requirements. One per area.
pub trait Rule: Send {
    /// The ids of the requirements that this rule judges; it reports on no others.
    fn judges(&self) -> &'static [&'static str];

    /// Sees the next event.
    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>);

    /// The trace is over.
    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        let _ = (talk, out);
    }
}

/// Where a rule puts what it finds. What a requirement's own condition excludes is dropped here, so rules need not ask.
#[derive(Debug)]
pub struct Out<'a> {
    judgement: &'a mut Judgement,
    slots: &'a mut Slots,
    talk: &'a Conversation,
    /// What the rules see; `None` at the end of the trace.
    moment: Option<&'a Moment<'a>>,
}

impl Out<'_> {
    /// The requirement was seen to hold.
    pub fn pass(&mut self, id: &'static str) {
        self.slots.pass(id, self.talk);
    }

    /// The requirement was seen not to hold; `message` is one sentence: what was seen, what was expected.
    ///
    /// Where something that this rests on is not in the recording, or was redacted, it is inconclusive instead.
    pub fn fail(&mut self, id: &'static str, place: Place, message: impl Into<String>) {
        match self.slots.truth(id, self.talk) {
            Truth::Holds => {}
            Truth::Unknown if !self.talk.whole => {
                self.judgement
                    .inconclusive(id, "the handshake is not in the recording".to_owned());
                return;
            }
            Truth::Unknown | Truth::Fails(_) => return,
        }
        let why = if self.talk.unread.is_some() && BY_ABSENCE.contains(&id) {
            Some("what is missing may stand in a line that holds no single message")
        } else {
            reach::missing(id, self.talk, self.moment, &place).or_else(|| self.redacted(&place))
        };
        match why {
            Some(why) => self.judgement.inconclusive(id, why.to_owned()),
            None => self.judgement.fail(id, Some(place), message.into()),
        }
    }

    /// Whether what a failure points at is a text of which a part was replaced when it was recorded.
    fn redacted(&self, place: &Place) -> Option<&'static str> {
        let moment = self.moment?;
        if !moment.event.redacted || moment.index != place.event {
            return None;
        }
        let (first, rest) = place.path.strip_prefix('/')?.split_once('/')?;
        let member = moment.message()?.members().get(first)?;
        let text = member.pointer(&format!("/{rest}"))?.as_str()?;
        holds_placeholder(text).then_some("a part of it was redacted")
    }

    /// Passes or fails by a condition; the message is only made for a failure.
    pub fn check(
        &mut self,
        id: &'static str,
        holds: bool,
        place: Place,
        message: impl FnOnce() -> String,
    ) {
        if holds {
            self.pass(id);
        } else {
            self.fail(id, place, message());
        }
    }

    /// Something worth writing down that is not judged.
    pub fn note(&mut self, id: &'static str, place: Place, message: impl Into<String>) {
        if self.applies(id) {
            self.judgement.note(id, Some(place), message.into());
        }
    }

    /// It could not be told whether the requirement holds, and why.
    pub fn inconclusive(&mut self, id: &'static str, why: impl Into<String>) {
        if self.applies(id) {
            self.judgement.inconclusive(id, why.into());
        }
    }

    /// The requirement does not apply, by a condition that its `when` does not name.
    pub fn not_applicable(&mut self, id: &'static str, condition: impl Into<String>) {
        self.judgement.not_applicable(id, condition.into());
    }

    /// What has been found so far; at the end of the trace that is all of what the rules before this one found.
    pub fn so_far(&self) -> &Judgement {
        self.judgement
    }

    fn applies(&mut self, id: &'static str) -> bool {
        self.slots.truth(id, self.talk) == Truth::Holds
    }
}

/// All rules, and what they have found on the events so far.
pub struct Judge {
    rules: Vec<Box<dyn Rule>>,
    talk: Conversation,
    judgement: Judgement,
    slots: Slots,
    forms: RefCell<Forms>,
    seen: u64,
}

impl Judge {
    /// A judge with every rule. `from_start`: whether the trace begins with the process.
    pub fn new(from_start: bool) -> Self {
        Self::with_rules(from_start, areas::all())
    }

    /// A judge for a stored recording, which may have begun late though its header does not say so. `from_start`: what
    /// the header says. A recording that shows one side only, or that lacks lines (see [`Judge::skipped`]), is judged for
    /// what it holds.
    pub fn of_recording(from_start: bool) -> Self {
        Self::of(Conversation::of_recording(from_start), areas::all())
    }

    /// A judge with these rules only.
    pub fn with_rules(from_start: bool, rules: Vec<Box<dyn Rule>>) -> Self {
        Self::of(Conversation::new(from_start), rules)
    }

    fn of(talk: Conversation, rules: Vec<Box<dyn Rule>>) -> Self {
        Self {
            rules,
            talk,
            judgement: Judgement::new(),
            slots: Slots::default(),
            forms: RefCell::default(),
            seen: 0,
        }
    }

    /// Another process begins here, as where two recordings were put behind each other: what was open is over, and nothing
    /// of before is known. Events are counted on.
    pub fn begins_anew(&mut self, from_start: bool) {
        self.end();
        self.rules = areas::all();
        self.slots = Slots::default();
        self.talk = self.talk.with_next_process(from_start, self.seen);
    }

    /// Something is missing here: a line of the recording could not be read. It may have held anything, so what rests on
    /// that is not failed.
    pub fn skipped(&mut self) {
        self.talk.skipped(self.seen);
    }

    /// Judges the next event and gives its number, from 0.
    pub fn see(&mut self, event: &Event) -> u64 {
        self.see_read(event, event.body.reading().as_ref())
    }

    /// As [`Judge::see`], where what the line of the wire holds was read before.
    pub fn see_read(&mut self, event: &Event, reading: Option<&Reading>) -> u64 {
        let index = self.seen;
        self.seen += 1;
        let change = self.talk.observe(index, event, reading);
        let violations = OnceCell::new();
        let form = OnceCell::new();
        let moment = Moment {
            index,
            event,
            reading,
            talk: &self.talk,
            answers: change.answers.as_ref(),
            ended_turn: change.ended_turn.as_ref(),
            answered_before: change.answered_before,
            ended_gap: change.ended_gap.as_ref(),
            call: change.call,
            update: super::moment::update_of(event, reading),
            payload: super::moment::payload_of(
                &self.talk,
                event.from,
                reading,
                change.answers.as_ref(),
            ),
            violations: &violations,
            form: &form,
            forms: &self.forms,
        };
        let mut out = Out {
            judgement: &mut self.judgement,
            slots: &mut self.slots,
            talk: &self.talk,
            moment: Some(&moment),
        };
        for rule in &mut self.rules {
            rule.see(&moment, &mut out);
        }
        index
    }

    /// How many events it has seen.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The conversation so far.
    pub fn talk(&self) -> &Conversation {
        &self.talk
    }

    /// Ends the trace and gives the judgement and the last state of the conversation.
    pub fn finish(mut self) -> (Judgement, Conversation) {
        self.end();
        (self.judgement, self.talk)
    }

    fn end(&mut self) {
        for rule in &mut self.rules {
            self.slots.settle(&mut self.judgement);
            let mut out = Out {
                judgement: &mut self.judgement,
                slots: &mut self.slots,
                talk: &self.talk,
                moment: None,
            };
            rule.end(&self.talk, &mut out);
        }
        self.slots.settle(&mut self.judgement);
        self.name_conditions_that_fail();
    }

    /// Says of each requirement whose condition does not hold on this connection which condition that is.
    fn name_conditions_that_fail(&mut self) {
        for requirement in Catalogue::v1()
            .iter()
            .filter(|requirement| !requirement.when.is_always())
        {
            if let Truth::Fails(why) = self.talk.evaluate(&requirement.when) {
                self.judgement.not_applicable(&requirement.id, why);
            }
        }
    }

    /// The ids of all requirements that some rule judges.
    pub fn judged_ids() -> Vec<&'static str> {
        areas::all()
            .iter()
            .flat_map(|rule| rule.judges().iter().copied())
            .collect()
    }
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge")
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}

/// Whether a text holds a placeholder that a redaction puts in, such as `{home}` or `{secret-1}`.
fn holds_placeholder(text: &str) -> bool {
    let named = |rest: &str| {
        rest.split_once('}').is_some_and(|(name, _)| {
            name.starts_with(|first: char| first.is_ascii_lowercase())
                && name
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        })
    };
    text.split('{').skip(1).any(named)
}

/// Judges a whole trace that is at hand: for tests and small files.
pub fn judge_all<'a>(from_start: bool, events: impl IntoIterator<Item = &'a Event>) -> Judgement {
    let mut judge = Judge::new(from_start);
    for event in events {
        judge.see(event);
    }
    judge.finish().0
}

/// Judges a recording that is at hand: for what it holds, and nothing that rests on what it lacks.
pub fn judge_recording(recording: &Recording) -> Judgement {
    let mut judge = Judge::of_recording(recording.header.from_start());
    for event in &recording.events {
        judge.see(event);
    }
    judge.finish().0
}
