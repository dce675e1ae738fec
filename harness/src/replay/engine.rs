//! Plays one side of a recording: takes what the other side sends, and gives what goes out next. Pure: it knows no process
//! and no clock.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::answer::{Asked, fitted};
use super::bindings::Bindings;
use super::calls::{Calls, RecordedCall};
use super::fit::{self, LiveAsk};
use super::incident::Incident;
use super::plan::{Act, Cause, Plan, Step, cancelled_id, kind_of};
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
            let waited_for = self.waiters.get(&cause).into_iter().flatten();
            let due = waited_for
                .copied()
                .any(|step| self.open_causes(step).iter().all(is_rest));
            if due {
                self.meet(cause);
            }
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

    fn go(&mut self, number: usize) {
        self.waiting.remove(&number);
        let Some(step) = self.plan.steps.get(number) else {
            return;
        };
        let output = self.output(number, step);
        let session = step.session.clone();
        if let Some(own) = self.states.get_mut(number) {
            *own = if output.is_some() {
                State::Gone
            } else {
                State::Dropped
            };
        }
        if let Some((output, note)) = output {
            self.outputs.push_back(output);
            self.notes.extend(note);
            self.went(number);
        } else if let Some(session) = session.filter(|it| self.lost.contains_key(it)) {
            if self
                .plan
                .steps
                .get(number)
                .is_some_and(|it| it.answers.is_none())
            {
                self.unsent.entry(session).or_default().push(number);
            }
            // The answer to what was not sent cannot come.
            self.end_of(number);
            self.meet(Cause::Replied(number));
        }
        self.meet(Cause::Gone(number));
    }

    /// What a step puts out, with what is to be said about it; `None` where it cannot go.
    fn output(&self, number: usize, step: &Step) -> Option<(Output, Option<String>)> {
        let (bytes, partial, probe) = match &step.act {
            Act::Close => return Some((Output::Close, None)),
            Act::Signal(signal) => return Some((Output::Signal(*signal), None)),
            Act::Send {
                bytes,
                partial,
                probe,
            } => (bytes, *partial, probe.clone()),
        };
        let session = step.session.as_deref();
        let lost = session.is_some_and(|session| self.lost.contains_key(session));
        let mut note = None;
        let line = match (std::str::from_utf8(bytes), step.answers) {
            (Ok(text), Some(ask)) => {
                let live = self.asks.get(ask)?.live.as_ref()?;
                let then = &self.plan.asks.get(ask)?.params;
                let (line, said) = fitted(text, session, then, live, &self.bindings);
                note = said;
                line.into_bytes()
            }
            _ if lost => return None,
            (Ok(text), None) if text.starts_with('{') => {
                self.bindings.to_live(session, text).into_bytes()
            }
            (Ok(text), None) => self.bindings.text_to_live(text).into_bytes(),
            (Err(_), _) => bytes.clone(),
        };
        let output = Output::Send {
            bytes: line,
            partial,
            probe,
            step: number,
        };
        Some((output, note))
    }

    /// Takes note of a step that has gone.
    fn went(&mut self, number: usize) {
        let Some(step) = self.plan.steps.get(number) else {
            return;
        };
        if let Some(asked) = step.answers.and_then(|ask| self.plan.asks.get(ask))
            && let Some(terminal) = asked.params.get("terminalId")
        {
            // It may be asked once more.
            let key = (asked.method.clone(), terminal.to_string());
            self.answered.insert(key, number);
        }
        let late = step.stops.iter().find_map(|(turn, place)| {
            // A turn that was given up is told as that.
            let answered = (*self.replied.get(turn)?)?;
            Some((answered, place.describe()))
        });
        if let Some((answered, place)) = late {
            self.incidents.push(Incident::TooLate {
                step: number,
                place,
                answered: Some(answered),
                event: None,
            });
        }
        let Some(request) = &step.request else {
            return;
        };
        self.open
            .entry(request.id.clone())
            .or_default()
            .push_back(number);
        self.open_steps
            .entry(step.session.clone())
            .or_default()
            .push(number);
        if request.method == "session/prompt"
            && let Some(session) = &step.session
        {
            self.turns
                .entry(session.clone())
                .or_default()
                .push_back(number);
        }
    }

    /// A request of the other side.
    fn asked(&mut self, message: &Message, event: u64) {
        let method = message.method().unwrap_or_default().to_owned();
        let live_session = message.session().map(str::to_owned);
        let session = live_session.as_deref().map(|live| {
            self.recorded_session(live)
                .unwrap_or_else(|| live.to_owned())
        });
        let params = message.params().cloned().unwrap_or(Value::Null);
        let completed = self.calls.completed(live_session.as_deref(), &params);
        let live = LiveAsk {
            params: self
                .bindings
                .in_recorded_terms(live_session.as_deref(), &completed),
            method,
            session,
        };
        let live = self.of_earlier_session(live);
        let Some(ask) = self.counterpart(&live) else {
            return self.unknown(message, &live, event);
        };
        let id = message.members().get("id").cloned().unwrap_or(Value::Null);
        let recorded = self.plan.asks.get(ask).map(|ask| ask.params.clone());
        if let Some(recorded) = recorded {
            let sessions = (live.session.as_deref(), live_session.as_deref());
            self.bind_all(sessions, &recorded, &params);
            if self.plan.side == Side::Agent {
                self.bind_opening(sessions, &recorded, &params);
            }
        }
        if let Some(state) = self.asks.get_mut(ask) {
            state.live = Some(Asked { id, params });
            state.over = true;
        }
        self.meet(Cause::Asked(ask));
        self.at_the_place_of(ask);
        // It had been given up, and here it is after all.
        let late = self.plan.asks.get(ask).and_then(|ask| ask.answer);
        if let Some(answer) = late.filter(|step| self.states.get(*step) == Some(&State::Dropped)) {
            self.ready.insert(answer);
        }
    }

    /// Where a cancel came before the answer to a request, the open request is its place, however far the turn has come.
    fn at_the_place_of(&mut self, ask: usize) {
        let answer = self.plan.asks.get(ask).and_then(|ask| ask.answer);
        let answer = answer.and_then(|answer| self.plan.steps.get(answer));
        let before: Vec<usize> = answer
            .into_iter()
            .flat_map(|answer| &answer.after)
            .filter_map(|cause| match cause {
                Cause::Gone(step) => Some(*step),
                _ => None,
            })
            .collect();
        for step in before {
            let open = self.open_causes(step);
            let places = |cause: &Cause| matches!(cause, Cause::Reached(_));
            if open.iter().all(places) {
                for place in open {
                    self.meet(place);
                }
            }
        }
    }

    /// A client that opens a session of an earlier time has its own name for it.
    fn of_earlier_session(&self, live: LiveAsk) -> LiveAsk {
        let opens = matches!(live.method.as_str(), "session/load" | "session/resume");
        if self.plan.side == Side::Client || !opens {
            return live;
        }
        let mut waiting = self.plan.asks.iter().enumerate().filter(|(number, ask)| {
            let open = self.asks.get(*number).is_some_and(|it| it.live.is_none());
            open && ask.method == live.method
        });
        let session = match waiting.clone().find(|(_, ask)| ask.session == live.session) {
            Some((_, ask)) => ask.session.clone(),
            None => waiting.next().and_then(|(_, ask)| ask.session.clone()),
        };
        LiveAsk {
            session: session.or(live.session),
            ..live
        }
    }

    /// Binds what a client names when it opens a session: its folder, and a session of an earlier time.
    fn bind_opening(
        &mut self,
        sessions: (Option<&str>, Option<&str>),
        recorded: &Value,
        live: &Value,
    ) {
        let text = |params: &Value| params.get("cwd").and_then(Value::as_str).map(str::to_owned);
        if let (Some(recorded), Some(live)) = (text(recorded), text(live)) {
            self.bindings.bind_folder(&recorded, &live);
        }
        if let (Some(recorded), Some(live)) = sessions
            && !self.plan.sessions.iter().any(|minted| minted == recorded)
        {
            let (recorded, live) = (Value::from(recorded), Value::from(live));
            self.bindings
                .bind(Identifier::Session, (None, None), &recorded, &live);
        }
    }

    /// The recorded request that fits a live one: of what is open now, else of what was asked unprovoked.
    fn counterpart(&mut self, live: &LiveAsk) -> Option<usize> {
        let unmatched = |ask: &usize| {
            self.asks
                .get(*ask)
                .is_some_and(|state| state.live.is_none())
        };
        let of_session = self.open_steps.get(&live.session);
        let of_connection = self
            .open_steps
            .get(&None)
            .filter(|_| live.session.is_some());
        let during = of_session
            .into_iter()
            .chain(of_connection)
            .flatten()
            .filter_map(|step| self.asks_during.get(step))
            .flatten()
            .copied()
            .filter(unmatched);
        let key = (live.method.clone(), live.session.clone());
        let gone = |step: Option<usize>| {
            step.is_none_or(|step| self.states.get(step) != Some(&State::Waiting))
        };
        let loose = self.loose.get(&key).into_iter().flatten().copied();
        let loose = loose
            .filter(unmatched)
            .take_while(|ask| self.plan.asks.get(*ask).is_some_and(|ask| gone(ask.behind)));
        let candidates = during
            .chain(loose)
            .filter_map(|ask| Some((ask, self.plan.asks.get(ask)?)))
            .filter(|(_, ask)| !self.strict || fit::says_the_same(ask, live));
        let best = fit::best(candidates, live)?;
        if let Some(queue) = self.loose.get_mut(&key) {
            queue.retain(|ask| *ask != best);
        }
        Some(best)
    }

    /// A request without a counterpart: one about a terminal is answered as the last time, any other by policy.
    fn unknown(&mut self, message: &Message, live: &LiveAsk, event: u64) {
        let terminal = live.params.get("terminalId").map(Value::to_string);
        let again = terminal
            .and_then(|terminal| self.answered.get(&(live.method.clone(), terminal)))
            .and_then(|step| self.plan.steps.get(*step).map(|it| (*step, it)));
        if let Some((number, step)) = again
            && let Act::Send { bytes, .. } = &step.act
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            let asked = Asked {
                id: message.members().get("id").cloned().unwrap_or(Value::Null),
                params: Value::Null,
            };
            let session = step.session.as_deref();
            let (line, _) = fitted(text, session, &Value::Null, &asked, &self.bindings);
            self.outputs.push_back(Output::Send {
                bytes: line.into_bytes(),
                partial: false,
                probe: None,
                step: number,
            });
            return;
        }
        self.outputs.push_back(Output::Unknown {
            message: message.clone(),
            event,
        });
    }

    /// An answer of the other side.
    fn reply(&mut self, id: &Id, message: &Message, event: u64) {
        let twin = id.twin();
        let known = [Some(id), twin.as_ref()]
            .into_iter()
            .flatten()
            .find(|id| self.open.get(*id).is_some_and(|open| !open.is_empty()))
            .cloned();
        let step = known.and_then(|id| self.open.get_mut(&id)?.pop_front());
        let Some(step) = step else {
            self.meet(Cause::Strayed(self.strays));
            self.strays += 1;
            return;
        };
        let Some(request) = self.plan.steps.get(step).and_then(|it| it.request.clone()) else {
            return;
        };
        self.initialized |= request.method == "initialize";
        let recorded = request.reply.as_ref().and_then(|reply| reply.get("result"));
        let session = self.plan.steps.get(step).and_then(|it| it.session.clone());
        match (recorded, message.result()) {
            (Some(recorded), Some(live)) => {
                let live_session = session.as_ref().and_then(|session| {
                    let live = self.bindings.live(
                        Identifier::Session,
                        None,
                        &Value::from(session.as_str()),
                    );
                    live.and_then(Value::as_str).map(str::to_owned)
                });
                self.bind_all(
                    (session.as_deref(), live_session.as_deref()),
                    recorded,
                    live,
                );
                if live.get("sessionId").is_none() {
                    self.lose(recorded, step);
                }
            }
            (Some(recorded), None) => self.lose(recorded, step),
            _ => {}
        }
        self.end_of(step);
        self.replied.insert(step, Some(event));
        self.meet(Cause::Replied(step));
    }

    /// A session that was to be opened is not there.
    fn lose(&mut self, recorded: &Value, step: usize) {
        if let Some(session) = recorded.get("sessionId").and_then(Value::as_str) {
            self.lost.insert(session.to_owned(), step);
        }
    }

    /// A request is over, with an answer or without: what could happen only while it was open cannot any more.
    fn end_of(&mut self, step: usize) {
        self.replied.entry(step).or_default();
        if let Some(it) = self.plan.steps.get(step) {
            if let Some(open) = self.open_steps.get_mut(&it.session) {
                open.retain(|open| *open != step);
            }
            if let Some(turns) = it.session.as_ref().and_then(|it| self.turns.get_mut(it)) {
                turns.retain(|turn| *turn != step);
            }
        }
        self.progress.remove(&step);
        for point in self.points.remove(&step).into_iter().flatten() {
            self.meet(Cause::Reached(point));
        }
        for ask in self.asks_during.remove(&step).into_iter().flatten() {
            if let Some(state) = self.asks.get_mut(ask) {
                state.over = true;
            }
            self.meet(Cause::Asked(ask));
        }
    }

    /// A notification of the agent.
    fn update(&mut self, method: &str, message: &Message) {
        self.count(kind_of(method, message));
        let update = message.params().and_then(|params| params.get("update"));
        let (Some(live), Some(update)) = (message.session(), update) else {
            return;
        };
        let begun = self.calls.note(Some(live), update);
        let session = self
            .recorded_session(live)
            .unwrap_or_else(|| live.to_owned());
        let turn = self.turns.get(&session).and_then(VecDeque::front).copied();
        let Some(turn) = turn else { return };
        if let Some(id) = begun {
            let told = self.bindings.in_recorded_terms(Some(live), update);
            let call = RecordedCall::of(id.clone(), &told);
            if let Some(recorded) = self.plan.calls.take(turn, &call) {
                let sessions = (Some(session.as_str()), Some(live));
                self.bindings
                    .bind(Identifier::ToolCall, sessions, &recorded.id, &id);
            }
        }
        let progress = self.progress.entry(turn).or_default();
        progress.note(update);
        let Some(points) = self.points.get_mut(&turn) else {
            return;
        };
        let plan = &self.plan;
        let mut reached = Vec::new();
        points.retain(|number| {
            let here = plan
                .points
                .get(*number)
                .is_some_and(|it| progress.has_reached(&it.point));
            if here {
                reached.push(*number);
            }
            !here
        });
        for point in reached {
            self.meet(Cause::Reached(point));
        }
    }

    /// A notification of the client.
    fn noticed(&mut self, method: &str, message: &Message) {
        let session = message.session().map(str::to_owned).or_else(|| {
            let id = cancelled_id(message)?;
            let ask = self.asks.iter().position(|state| {
                state
                    .live
                    .as_ref()
                    .is_some_and(|live| Id::from_value(&live.id) == id)
            })?;
            self.plan.asks.get(ask)?.session.clone()
        });
        let recorded = session.map(|live| self.recorded_session(&live).unwrap_or(live));
        let key = (method.to_owned(), recorded);
        let Some(waiting) = self.notices.get_mut(&key) else {
            return;
        };
        // A cancel of another turn is another cancel.
        let asked = |ask: usize| self.asks.get(ask).is_some_and(|state| state.live.is_some());
        let due = waiting.front().copied().filter(|notice| {
            let during = self
                .plan
                .notices
                .get(*notice)
                .and_then(|notice| notice.during);
            during.is_none_or(asked)
        });
        if let Some(notice) = due {
            waiting.pop_front();
            self.meet(Cause::Noticed(notice));
        }
    }

    /// Binds what the other side minted, place by place.
    fn bind_all(&mut self, sessions: (Option<&str>, Option<&str>), recorded: &Value, live: &Value) {
        match (recorded, live) {
            (Value::Object(recorded), Value::Object(live)) => {
                for (name, recorded) in recorded {
                    let Some(live) = live.get(name) else { continue };
                    match Identifier::of_member(name) {
                        Some(identifier) if self.is_bound(identifier) => {
                            self.bindings.bind(identifier, sessions, recorded, live);
                        }
                        Some(_) => {}
                        None if Identifier::is_untyped(name) => {}
                        None => self.bind_all(sessions, recorded, live),
                    }
                }
            }
            (Value::Array(recorded), Value::Array(live)) => {
                for (recorded, live) in recorded.iter().zip(live) {
                    self.bind_all(sessions, recorded, live);
                }
            }
            _ => {}
        }
    }

    /// Whether the other side mints this kind of value.
    fn is_bound(&self, identifier: Identifier) -> bool {
        identifier != Identifier::Request && identifier.minted_by() != Some(self.plan.side)
    }

    /// Something came that nothing waits for.
    fn count(&mut self, kind: String) {
        *self.came.entry(kind).or_default() += 1;
        self.look_at_rests();
    }

    fn look_at_rests(&mut self) {
        let due: Vec<usize> = (0..self.plan.rests.len())
            .filter(|number| !self.met.contains(&Cause::Settled(*number)))
            .filter(|number| self.has_come(*number))
            .collect();
        for number in due {
            let cause = Cause::Settled(number);
            let waited_for = self.waiters.get(&cause).into_iter().flatten();
            let due = waited_for
                .copied()
                .any(|step| self.open_causes(step).iter().all(is_rest));
            if due {
                self.meet(cause);
            }
        }
    }

    /// Whether all of a rest has come. Of text one chunk is enough: it may be cut otherwise.
    fn has_come(&self, number: usize) -> bool {
        let Some(rest) = self.plan.rests.get(number) else {
            return true;
        };
        let came = |kind: &str| self.came.get(kind).copied().unwrap_or(0);
        (self.ended || !rest.ended)
            && rest.lines.iter().all(|(kind, count)| {
                let wanted = if kind.ends_with("_chunk") { 1 } else { *count };
                came(kind) >= wanted
            })
    }

    fn meet(&mut self, cause: Cause) {
        if !self.met.insert(cause) {
            return;
        }
        if matches!(
            cause,
            Cause::Replied(_) | Cause::Asked(_) | Cause::Strayed(_)
        ) {
            self.came.clear();
        }
        for step in self.waiters.remove(&cause).into_iter().flatten() {
            if let Some(unmet) = self.unmet.get_mut(step) {
                *unmet = unmet.saturating_sub(1);
                if *unmet == 0 {
                    self.ready.insert(step);
                }
            }
        }
    }

    /// The answer to the request that something happens in.
    fn around(&self, cause: Cause) -> Option<Cause> {
        let request = match cause {
            Cause::Asked(ask) => self.plan.asks.get(ask)?.during?,
            Cause::Reached(point) => self.plan.points.get(point)?.turn,
            _ => return None,
        };
        let replied = Cause::Replied(request);
        let sent = self.states.get(request) == Some(&State::Gone);
        (sent && !self.met.contains(&replied)).then_some(replied)
    }

    /// What a step still waits for.
    fn open_causes(&self, step: usize) -> Vec<Cause> {
        let after = match self.plan.steps.get(step) {
            Some(step) => &step.after,
            None => &self.plan.end,
        };
        after
            .iter()
            .copied()
            .filter(|cause| !self.met.contains(cause))
            .collect()
    }

    /// Something that is waited for, in words, with its event and session.
    fn described(&self, cause: Cause) -> Option<(String, Option<usize>, Option<String>)> {
        match cause {
            Cause::Replied(step) => {
                let step = self.plan.steps.get(step)?;
                let request = step.request.as_ref()?;
                Some((
                    format!("the answer to `{}`", request.method),
                    request.reply_event,
                    step.session.clone(),
                ))
            }
            Cause::Asked(ask) => {
                let ask = self.plan.asks.get(ask)?;
                Some((
                    format!("the request `{}`", ask.method),
                    Some(ask.event),
                    ask.session.clone(),
                ))
            }
            Cause::Reached(point) => {
                let point = self.plan.points.get(point)?;
                let turn = self.plan.steps.get(point.turn)?;
                Some((point.point.describe(), turn.event, turn.session.clone()))
            }
            Cause::Noticed(notice) => {
                let notice = self.plan.notices.get(notice)?;
                Some((
                    format!("`{}`", notice.method),
                    Some(notice.event),
                    notice.session.clone(),
                ))
            }
            Cause::Strayed(stray) => {
                let event = self.plan.strays.get(stray).copied();
                Some(("an answer to no request".to_owned(), event, None))
            }
            Cause::Gone(_) | Cause::Settled(_) => None,
        }
    }
}

fn is_rest(cause: &Cause) -> bool {
    matches!(cause, Cause::Settled(_))
}

#[cfg(test)]
mod tests;
