//! Tells events as steps: joins answers to requests, and counts sessions and turns.

use std::collections::VecDeque;

use serde_json::Value;

use super::fold::detail;
use super::step::{Run, Step, Stroke, Tone, Way};
use super::summary;
use crate::hash::HashMap;
use crate::trace::{Body, Event, Exchange, ExchangeEnd, ExchangePart, Party};
use crate::wire::{Id, Kind, Message, Oddity, Reading};

/// So many open requests are known; further ones are shown, and their answers are not joined to them.
const OPEN: usize = 10_000;
/// So many sessions are numbered.
const SESSIONS: usize = 100_000;
/// The longest line that is no message of which the start is kept, in characters.
const LINE: usize = 200;

/// A request that waits for its answer.
#[derive(Debug)]
struct Asked {
    step: Step,
    method: String,
    turn: Option<(usize, u64)>,
}

/// The turns of a session.
#[derive(Debug, Default)]
struct Turns {
    number: usize,
    begun: u64,
    open: VecDeque<u64>,
}

/// Tells events as steps. Bounded by what is open and by the number of sessions.
#[derive(Debug, Default)]
pub(crate) struct Narrator {
    /// Requests of the client, and of the agent.
    open: [HashMap<Id, VecDeque<Asked>>; 2],
    waiting: [usize; 2],
    sessions: HashMap<String, Turns>,
    /// Sessions with an open turn.
    under_way: Vec<String>,
    /// When the request of a model exchange was.
    exchanges: HashMap<u64, f64>,
}

impl Narrator {
    /// Tells the next event, and the request that it answers.
    pub(crate) fn tell(&mut self, number: u64, event: &Event) -> (Step, Option<Step>) {
        let before = self.busy();
        let mut step = Step {
            event: number,
            last: number,
            at: event.at,
            until: event.at,
            way: Way::AtAgent,
            stroke: Stroke::Notice,
            title: String::new(),
            id: None,
            detail: String::new(),
            tone: Tone::Plain,
            answers: None,
            method: None,
            kind: None,
            session: None,
            place: None,
            client_busy: false,
            agent_busy: false,
            run: None,
        };
        let mut request = None;
        if let Some(reading) = event.body.reading() {
            step.way = match event.from {
                Party::Agent => Way::ToClient,
                _ => Way::ToAgent,
            };
            match &reading {
                Reading::Message(message) => request = self.message(&mut step, message, event),
                Reading::Odd(oddity) => odd(&mut step, oddity, event),
            }
        } else {
            self.other(&mut step, event);
        }
        if let Some(probe) = &event.probe {
            step.detail.push_str(&format!(" (a probe: {probe})"));
        }
        if step.session.is_none() {
            self.place_by_time(&mut step);
        }
        let after = self.busy();
        step.client_busy = before.0 || after.0;
        step.agent_busy = before.1 || after.1;
        (step, request)
    }

    /// Another process begins: what was open is over.
    pub(crate) fn begins_anew(&mut self) {
        self.open = Default::default();
        self.waiting = [0; 2];
        self.under_way.clear();
        self.exchanges.clear();
        for turns in self.sessions.values_mut() {
            turns.open.clear();
        }
    }

    /// How many sessions there were so far.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Whether the client, and whether the agent, has something to answer.
    fn busy(&self) -> (bool, bool) {
        let [of_client, of_agent] = self.waiting;
        (of_agent > 0, of_client > 0)
    }

    fn message(&mut self, step: &mut Step, message: &Message, event: &Event) -> Option<Step> {
        let side = usize::from(event.from == Party::Agent);
        match message.kind() {
            Kind::Request { id, method } => {
                step.stroke = Stroke::Request;
                step.id = Some(id.to_string());
                self.call(step, method, message);
                let turn = match (step.place, method.as_str(), side) {
                    (Some((session, _)), "session/prompt", 0) => self.begin_turn(step, session),
                    _ => None,
                };
                let is_room = self.waiting.iter().sum::<usize>() < OPEN;
                if let (true, Some(waiting), Some(open)) =
                    (is_room, self.waiting.get_mut(side), self.open.get_mut(side))
                {
                    *waiting += 1;
                    open.entry(id.clone()).or_default().push_back(Asked {
                        step: step.clone(),
                        method: method.clone(),
                        turn,
                    });
                }
                None
            }
            Kind::Notification { method } => {
                self.call(step, method, message);
                None
            }
            Kind::Response { id } => {
                step.stroke = Stroke::Answer;
                step.id = Some(id.to_string());
                let asked = self.take(1 - side, id);
                self.answer(step, message, asked)
            }
        }
    }

    /// A request or a notification.
    fn call(&mut self, step: &mut Step, method: &str, message: &Message) {
        let params = message.params().unwrap_or(&Value::Null);
        step.method = Some(method.to_owned());
        step.title = method.to_owned();
        if let Some(session) = message.session() {
            self.place(step, session);
        }
        let body = params.get("update");
        let kind = body.and_then(|body| body.get("sessionUpdate")?.as_str());
        let (Some(body), Some(kind), "session/update") = (body, kind, method) else {
            step.detail = summary::of_call(method, params);
            return;
        };
        step.kind = Some(kind.to_owned());
        step.title = kind.to_owned();
        let text = body
            .pointer("/content/text")
            .and_then(Value::as_str)
            .filter(|_| kind.ends_with("_chunk"));
        match text {
            Some(text) => {
                let id = body.get("messageId").map(Value::to_string);
                let key = format!("{kind} {} {:?}", id.unwrap_or_default(), step.session);
                let run = Run {
                    key,
                    text: Some(text.to_owned()),
                    bytes: text.len(),
                    count: 1,
                };
                step.detail = detail(&run);
                step.run = Some(run);
            }
            None if kind.ends_with("_chunk") => {
                let content = body.get("content").unwrap_or(&Value::Null);
                step.detail = summary::of_call("_", content);
            }
            None => step.detail = summary::of_call(kind, body),
        }
    }

    fn answer(&mut self, step: &mut Step, message: &Message, asked: Option<Asked>) -> Option<Step> {
        let method = asked.as_ref().map(|asked| asked.method.as_str());
        step.title = method.unwrap_or("answer").to_owned();
        step.method = method.map(str::to_owned);
        step.detail = match (message.error(), message.result()) {
            (Some(error), _) => {
                step.tone = Tone::Bad;
                summary::of_error(error)
            }
            (None, result) => summary::of_result(method, result.unwrap_or(&Value::Null)),
        };
        let Some(asked) = asked else {
            // An answer to what could not be read has no id to join it by.
            if message.id() != Some(&Id::Null) {
                step.detail.push_str(" (to no request that is open)");
            }
            return None;
        };
        step.answers = Some((asked.step.event, step.at - asked.step.at));
        step.session = asked.step.session.clone();
        step.place = asked.step.place;
        let opened = message
            .result()
            .and_then(|it| it.get("sessionId")?.as_str());
        if let (None, Some(session)) = (&step.session, opened) {
            self.place(step, session);
        }
        if let Some((session, turn)) = asked.turn {
            step.place = Some((session, Some(turn)));
            self.end_turn(step.session.as_deref(), turn);
        }
        Some(asked.step)
    }

    fn take(&mut self, side: usize, id: &Id) -> Option<Asked> {
        let open = self.open.get_mut(side)?;
        let queue = open.get_mut(id)?;
        let asked = queue.pop_front();
        if queue.is_empty() {
            open.remove(id);
        }
        if let Some(waiting) = self.waiting.get_mut(side) {
            *waiting = waiting.saturating_sub(1);
        }
        asked
    }

    /// The session that a step names, and the turn that is under way there.
    fn place(&mut self, step: &mut Step, session: &str) {
        step.session = Some(session.to_owned());
        let number = self.sessions.len() + 1;
        let turns = match self.sessions.get(session) {
            Some(turns) => turns,
            None if number > SESSIONS => return,
            None => self.sessions.entry(session.to_owned()).or_insert(Turns {
                number,
                ..Turns::default()
            }),
        };
        step.place = Some((turns.number, turns.open.front().copied()));
    }

    /// What names no session belongs to the only turn that is under way.
    fn place_by_time(&self, step: &mut Step) {
        if let [session] = self.under_way.as_slice()
            && let Some(turns) = self.sessions.get(session)
        {
            step.session = Some(session.clone());
            step.place = Some((turns.number, turns.open.front().copied()));
        }
    }

    fn begin_turn(&mut self, step: &mut Step, number: usize) -> Option<(usize, u64)> {
        let session = step.session.as_ref()?;
        let turns = self.sessions.get_mut(session)?;
        turns.begun += 1;
        turns.open.push_back(turns.begun);
        if !self.under_way.contains(session) {
            self.under_way.push(session.clone());
        }
        step.place = Some((number, Some(turns.begun)));
        Some((number, turns.begun))
    }

    fn end_turn(&mut self, session: Option<&str>, turn: u64) {
        let Some(turns) = session.and_then(|session| self.sessions.get_mut(session)) else {
            return;
        };
        turns.open.retain(|open| *open != turn);
        if turns.open.is_empty() {
            self.under_way
                .retain(|other| Some(other.as_str()) != session);
        }
    }

    /// What is no line of the wire.
    fn other(&mut self, step: &mut Step, event: &Event) {
        let line = |bytes: &[u8]| start(&String::from_utf8_lossy(bytes));
        match &event.body {
            Body::Message { .. } | Body::Line { .. } => {}
            Body::Stderr(bytes) => {
                step.tone = Tone::Faint;
                step.title = "stderr".to_owned();
                step.detail = line(bytes);
            }
            Body::Eof if event.from == Party::Agent => {
                step.way = Way::ToClient;
                step.title = "closes its stdout".to_owned();
            }
            Body::Eof => {
                step.way = Way::ToAgent;
                step.title = "closes the agent's stdin".to_owned();
            }
            Body::Signal(signal) => {
                step.way = Way::ToAgent;
                step.title = format!("signal {signal} from the harness");
            }
            Body::Exit(exit) => step.title = format!("ends with {exit}"),
            Body::Unanswered { id, seconds } => {
                step.way = Way::ToAgent;
                step.tone = Tone::Bad;
                step.title = "no longer waits".to_owned();
                let asked = self.open.first().and_then(|open| {
                    let queue = open.get(&Id::from_value(id))?;
                    Some(&queue.front()?.step)
                });
                step.detail = format!("for the answer to {id} after {seconds:.0} s");
                if let Some(asked) = asked {
                    step.method = asked.method.clone();
                    step.session = asked.session.clone();
                    step.place = asked.place;
                    let of = format!(" ({}, event {})", asked.title, asked.event);
                    step.detail.push_str(&of);
                }
            }
            Body::Left(processes) => {
                step.tone = Tone::Bad;
                step.title = "left behind".to_owned();
                step.detail = start(&processes.join(", "));
            }
            Body::Model(exchange) => self.model(step, exchange),
            Body::Other(value) => {
                step.tone = Tone::Faint;
                step.title = event.from.to_string();
                step.detail = summary::of_call("_", value);
            }
        }
    }

    fn model(&mut self, step: &mut Step, exchange: &Exchange) {
        step.tone = Tone::Faint;
        step.way = Way::FromModel;
        step.title = format!("model {}", exchange.exchange);
        let number = exchange.exchange;
        let bytes = |count: usize| Run {
            key: step.title.clone(),
            text: None,
            bytes: count,
            count: 1,
        };
        match &exchange.part {
            ExchangePart::Request { path, body, side } => {
                step.way = Way::ToModel;
                step.stroke = Stroke::Request;
                step.detail = format!("{path} {} bytes", body.len());
                if let Some(side) = side {
                    step.detail.push_str(&format!(" ({side})"));
                }
                if self.exchanges.len() < OPEN {
                    self.exchanges.insert(number, step.at);
                }
            }
            ExchangePart::Status(status) => {
                step.detail = format!("status {status}");
                if *status >= 400 {
                    step.tone = Tone::Bad;
                }
            }
            ExchangePart::Chunk(chunk) => step.run = Some(bytes(chunk.len())),
            ExchangePart::Bytes(chunk) => step.run = Some(bytes(chunk.len())),
            ExchangePart::Unreadable(encoding) => {
                step.detail = format!("not kept: its encoding is {encoding}");
            }
            ExchangePart::End(end) => {
                step.stroke = Stroke::Answer;
                step.detail = match end {
                    ExchangeEnd::Complete => "complete",
                    ExchangeEnd::Cut => "breaks off",
                    ExchangeEnd::Cancelled => "the agent hung up",
                    ExchangeEnd::Refused => "refuses connections from now on",
                }
                .to_owned();
                if let Some(begun) = self.exchanges.remove(&number) {
                    let took = span(step.at - begun);
                    step.detail.push_str(&format!(" after {took}"));
                }
            }
        }
        if let Some(run) = &step.run {
            step.detail = detail(run);
        }
    }
}

/// A line that is no message.
fn odd(step: &mut Step, oddity: &Oddity, event: &Event) {
    step.tone = Tone::Bad;
    step.title = match oddity {
        Oddity::Blank => "an empty line",
        Oddity::NotUtf8 { .. } => "not UTF-8",
        Oddity::NotJson { .. } => "not JSON",
        Oddity::Incomplete => "JSON that breaks off",
        Oddity::Several => "several messages",
        Oddity::Scalar(_) => "no message",
        Oddity::Batch(_) => "a batch",
        Oddity::NoMessage(_) => "no message",
        Oddity::Unreadable { .. } => "JSON that few can read",
    }
    .to_owned();
    let bytes = event.body.wire_bytes().unwrap_or_default();
    let bytes = bytes.get(..4 * LINE).unwrap_or(bytes);
    step.detail = start(&String::from_utf8_lossy(bytes));
}

/// The start of a text.
fn start(text: &str) -> String {
    text.chars().take(LINE).collect()
}

/// A span of time in words.
pub(super) fn span(seconds: f64) -> String {
    if seconds < 0.001 {
        "0 ms".to_owned()
    } else if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 100.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{seconds:.0} s")
    }
}
