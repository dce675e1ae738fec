//! Plays one side of a recording: takes what the other side sends, and gives what goes out next. Pure: it knows no process
//! and no clock.

mod answering;
mod following;
mod sending;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::answer::Asked;
use super::bindings::Bindings;
use super::calls::Calls;
use super::incident::Incident;
use super::plan::{Act, Cause, Plan, Step};
use super::turn::TurnProgress;
use crate::spec::{Identifier, Side};
use crate::wire::{Id, Kind, Message, Reading};

/// Something that is to be done now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// Send a line.
    Send {
        /// The bytes, without the newline.
        bytes: Vec<u8>,
        /// Whether no newline follows.
        partial: bool,
        /// What is wrong with it on purpose.
        probe: Option<String>,
        /// The step that it is.
        step: usize,
    },
    /// Close the stream.
    Close,
    /// Send a signal.
    Signal(i32),
    /// Answer a request that the recording does not have.
    Unknown {
        /// The request.
        message: Message,
        /// Its event in the live trace.
        event: u64,
    },
}

/// What the next step waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Nothing: all is over.
    Nothing,
    /// For the other side.
    Peer,
    /// Only for answers to nothing, which an agent need not give.
    Stray,
    /// Only for what the recording shows without waiting for it.
    Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Gone,
    Dropped,
}

/// What is known of a recorded request of the other side.
#[derive(Clone, Debug, Default)]
struct AskState {
    live: Option<Asked>,
    over: bool,
}

/// One side of a recording while it is played.
pub(crate) struct Engine {
    plan: Plan,
    bindings: Bindings,
    states: Vec<State>,
    unmet: Vec<usize>,
    waiters: HashMap<Cause, Vec<usize>>,
    met: HashSet<Cause>,
    ready: BTreeSet<usize>,
    /// The steps that still wait, and the end as the last of them.
    waiting: BTreeSet<usize>,
    outputs: VecDeque<Output>,
    asks: Vec<AskState>,
    /// The requests of the other side that came while this step was open.
    asks_during: HashMap<usize, Vec<usize>>,
    /// Those that came while none was, by method and session, in order.
    loose: HashMap<(String, Option<String>), VecDeque<usize>>,
    open: HashMap<Id, VecDeque<usize>>,
    open_steps: HashMap<Option<String>, Vec<usize>>,
    /// The requests that are over, each with the event of the live trace that answered it.
    replied: HashMap<usize, Option<u64>>,
    turns: HashMap<String, VecDeque<usize>>,
    progress: HashMap<usize, TurnProgress>,
    /// The points of a turn that are not reached.
    points: HashMap<usize, Vec<usize>>,
    calls: Calls,
    came: HashMap<String, usize>,
    ended: bool,
    lost: HashMap<String, usize>,
    unsent: HashMap<String, Vec<usize>>,
    /// The last answer about a terminal, by method and terminal, for one that is asked once more.
    answered: HashMap<(String, String), usize>,
    notices: HashMap<(String, Option<String>), VecDeque<usize>>,
    /// How many answers to nothing have come.
    strays: usize,
    /// Whether a request must say what the recorded one says.
    strict: bool,
    /// Whether `initialize` was answered.
    initialized: bool,
    /// What went otherwise.
    pub(crate) incidents: Vec<Incident>,
    /// What is to be known, a sentence each.
    pub(crate) notes: Vec<String>,
}

impl Engine {
    /// Begins to play. Folders are bound already.
    pub(crate) fn new(plan: Plan, bindings: Bindings) -> Self {
        let end = plan.steps.len();
        let mut waiters: HashMap<Cause, Vec<usize>> = HashMap::new();
        let mut unmet = Vec::with_capacity(end + 1);
        let mut ready = BTreeSet::new();
        let all = plan.steps.iter().map(|step| &step.after);
        for (number, after) in all.chain(std::iter::once(&plan.end)).enumerate() {
            let causes: BTreeSet<Cause> = after.iter().copied().collect();
            if causes.is_empty() {
                ready.insert(number);
            }
            unmet.push(causes.len());
            for cause in causes {
                waiters.entry(cause).or_default().push(number);
            }
        }
        let mut asks_during: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut loose: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (number, ask) in plan.asks.iter().enumerate() {
            match ask.during {
                Some(step) => asks_during.entry(step).or_default().push(number),
                None => loose
                    .entry((ask.method.clone(), ask.session.clone()))
                    .or_default()
                    .push_back(number),
            }
        }
        let mut points: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, point) in plan.points.iter().enumerate() {
            points.entry(point.turn).or_default().push(number);
        }
        let mut notices: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (number, notice) in plan.notices.iter().enumerate() {
            notices
                .entry((notice.method.clone(), notice.session.clone()))
                .or_default()
                .push_back(number);
        }
        Self {
            states: vec![State::Waiting; end],
            asks: vec![AskState::default(); plan.asks.len()],
            waiting: (0..=end).collect(),
            notes: plan.notes.clone(),
            plan,
            bindings,
            unmet,
            waiters,
            met: HashSet::new(),
            ready,
            outputs: VecDeque::new(),
            asks_during,
            loose,
            open: HashMap::new(),
            open_steps: HashMap::new(),
            replied: HashMap::new(),
            turns: HashMap::new(),
            progress: HashMap::new(),
            points,
            calls: Calls::default(),
            came: HashMap::new(),
            ended: false,
            lost: HashMap::new(),
            unsent: HashMap::new(),
            answered: HashMap::new(),
            notices,
            strays: 0,
            strict: false,
            initialized: false,
            incidents: Vec::new(),
        }
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// From now on a request must say what the recorded one says to be taken for it.
    pub(crate) fn be_strict(&mut self) {
        self.strict = true;
    }

    /// What the last request of a method was answered in the recording, if that was a result.
    pub(crate) fn recorded_result(&self, method: &str) -> Option<Value> {
        let asks = self.plan.asks.iter().rev();
        let answer = |ask: &super::plan::Ask| {
            let step = self.plan.steps.get(ask.answer?)?;
            let Act::Send { bytes, .. } = &step.act else {
                return None;
            };
            let answer: Value = serde_json::from_slice(bytes).ok()?;
            answer.get("result").cloned()
        };
        asks.filter(|ask| ask.method == method && method != "session/prompt")
            .find_map(answer)
    }

    /// What goes out next; `None` where something must happen before.
    pub(crate) fn next(&mut self) -> Option<Output> {
        loop {
            if let Some(output) = self.outputs.pop_front() {
                return Some(output);
            }
            let step = self.ready.pop_first()?;
            self.go(step);
        }
    }

    /// What the next step waits for: the first that has not gone waits for no other one.
    pub(crate) fn waiting(&self) -> Waiting {
        let Some(first) = self.waiting.first() else {
            return Waiting::Nothing;
        };
        let open = self.open_causes(*first);
        if open.iter().all(is_rest) {
            Waiting::Rest
        } else if open
            .iter()
            .all(|cause| is_rest(cause) || matches!(cause, Cause::Strayed(_)))
        {
            Waiting::Stray
        } else {
            Waiting::Peer
        }
    }

    /// How much has happened so far: it grows with all that is waited for.
    pub(crate) fn progress(&self) -> usize {
        self.met.len()
    }

    /// Whether the other side owes the answer to `initialize`.
    pub(crate) fn awaits_initialize(&self) -> bool {
        if self.initialized {
            return false;
        }
        self.open.values().flatten().any(|step| {
            let request = self
                .plan
                .steps
                .get(*step)
                .and_then(|step| step.request.as_ref());
            request.is_some_and(|it| it.method == "initialize" && it.reply.is_some())
        })
    }

    /// Whether a line answers what the recording lacks and was put in.
    pub(crate) fn answers_put_in(&self, reading: &Reading) -> bool {
        let id = reading
            .message()
            .filter(|message| message.is_response())
            .and_then(Message::id);
        let step = id.and_then(|id| self.open.get(id)?.front().copied());
        let step = step.and_then(|step| self.plan.steps.get(step));
        step.is_some_and(|step| step.event.is_none())
    }

    /// What is left of it.
    pub(crate) fn into_parts(self) -> (Plan, Vec<Incident>, Vec<String>) {
        (self.plan, self.incidents, self.notes)
    }

    /// Takes a line of the other side in.
    pub(crate) fn see(&mut self, reading: &Reading, event: u64) {
        let Reading::Message(message) = reading else {
            return self.count("a line that is no message".to_owned());
        };
        match message.kind() {
            Kind::Request { .. } => self.asked(message, event),
            Kind::Response { id } => self.reply(id, message, event),
            Kind::Notification { method } if self.plan.side == Side::Client => {
                self.update(method, message);
            }
            Kind::Notification { method } => self.noticed(method, message),
        }
    }

    /// The other side has ended its stream.
    pub(crate) fn stream_ended(&mut self) {
        self.ended = true;
        self.look_at_rests();
    }

    /// What comes without being waited for has been given its time.
    pub(crate) fn settle(&mut self) {
        let rests: Vec<Cause> = (0..self.plan.rests.len()).map(Cause::Settled).collect();
        for cause in rests {
            self.meet_if_due(cause);
        }
    }

    /// A step became this event of the live trace.
    pub(crate) fn became(&mut self, number: usize, live: u64) {
        if let Some(Incident::TooLate { step, event, .. }) = self.incidents.last_mut()
            && *step == number
        {
            *event = Some(live);
        }
    }

    /// The request of the other side that is recorded next.
    pub(crate) fn awaited_request(&self) -> Option<&super::plan::Ask> {
        let mut open = self.waiting.iter().flat_map(|step| self.open_causes(*step));
        open.find_map(|cause| match cause {
            Cause::Asked(ask) => self.plan.asks.get(ask),
            _ => None,
        })
    }

    /// What the next step waits for, if that is a cancel alone.
    pub(crate) fn awaited_cancel(&self) -> Option<&str> {
        let open = self.waiting.first().map(|step| self.open_causes(*step))?;
        let first = match open.first()? {
            Cause::Noticed(notice) => self.plan.notices.get(*notice)?,
            _ => return None,
        };
        let alone = open.iter().all(|cause| matches!(cause, Cause::Noticed(_)));
        alone.then_some(first.method.as_str())
    }

    /// The requests that [`give_up`](Self::give_up) would give up.
    pub(crate) fn overdue(&self) -> Vec<usize> {
        let causes = self.waiting.first().map(|step| self.open_causes(*step));
        let replied = |cause: Cause| match cause {
            Cause::Replied(step) => Some(step),
            cause => match self.around(cause)? {
                Cause::Replied(step) => Some(step),
                _ => None,
            },
        };
        causes.into_iter().flatten().filter_map(replied).collect()
    }

    /// Nothing has happened for so long: what the first step waits for is given up. Gives the requests among it that will
    /// not be answered any more.
    ///
    /// `seconds`: how long it was waited for; `None` where the other side had been given up before and was silent since.
    pub(crate) fn give_up(&mut self, seconds: Option<f64>) -> Vec<Id> {
        let Some(mut causes) = self.waiting.first().map(|step| self.open_causes(*step)) else {
            return Vec::new();
        };
        // What can come only while a request is open is given up with the request.
        let around: BTreeSet<Cause> = causes
            .iter()
            .filter_map(|cause| self.around(*cause))
            .filter(|cause| !causes.contains(cause))
            .collect();
        causes.extend(around);
        let mut awaited = Vec::new();
        let mut given_up = Vec::new();
        let (mut events, mut session) = (Vec::new(), None);
        for cause in causes {
            if self.met.contains(&cause) {
                continue;
            }
            if let Some((words, at, of)) = self.described(cause) {
                awaited.push(words);
                events.extend(at);
                session = session.or(of);
            }
            if let Cause::Replied(step) = cause {
                let request = self.plan.steps.get(step).and_then(|it| it.request.as_ref());
                given_up.extend(request.map(|request| request.id.clone()));
                self.end_of(step);
            }
            self.meet(cause);
        }
        if !awaited.is_empty() {
            self.incidents.push(Incident::TimedOut {
                awaited,
                events,
                session,
                seconds,
            });
        }
        given_up
    }

    /// The other side is gone: nothing is sent any more.
    pub(crate) fn gone(&mut self, how: String) {
        let sends = |step: &Step| matches!(step.act, Act::Send { .. }) && step.answers.is_none();
        let mut unsent = Vec::new();
        for number in std::mem::take(&mut self.waiting) {
            if let Some(step) = self.plan.steps.get(number).filter(|step| sends(step)) {
                let lost = step
                    .session
                    .as_ref()
                    .is_some_and(|it| self.lost.contains_key(it));
                if !lost {
                    unsent.push(number);
                }
            }
        }
        self.ready.clear();
        let mut unanswered: Vec<usize> = self
            .open
            .values()
            .flatten()
            .copied()
            .filter(|step| {
                let request = self
                    .plan
                    .steps
                    .get(*step)
                    .and_then(|it| it.request.as_ref());
                request.is_some_and(|request| request.reply.is_some())
                    && !self.met.contains(&Cause::Replied(*step))
            })
            .collect();
        unanswered.sort_unstable();
        if !unsent.is_empty() || !unanswered.is_empty() {
            self.incidents.push(Incident::Gone {
                how,
                unsent,
                unanswered,
            });
        }
    }

    /// Ends the play: what is left of sessions that could not be opened is told.
    pub(crate) fn finish(&mut self) {
        let mut lost: Vec<(String, usize)> = self.lost.drain().collect();
        lost.sort_by_key(|(_, step)| *step);
        for (session, step) in lost {
            let unsent = self.unsent.remove(&session).unwrap_or_default();
            self.incidents.push(Incident::NoSession {
                session,
                step,
                unsent,
            });
        }
    }

    /// The session as recorded that a live one stands for.
    pub(crate) fn recorded_session(&self, live: &str) -> Option<String> {
        let live = Value::from(live);
        let bound = self.bindings.recorded(Identifier::Session, None, &live);
        bound.and_then(Value::as_str).map(str::to_owned)
    }

    // What happens.
}

fn is_rest(cause: &Cause) -> bool {
    matches!(cause, Cause::Settled(_))
}

#[cfg(test)]
mod tests;
