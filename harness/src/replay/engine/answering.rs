//! What the other side asks and answers: each is matched with the recorded one that it fits.

use serde_json::Value;

use super::{Engine, Output, State};
use crate::replay::answer::{Asked, fitted};
use crate::replay::fit::{self, LiveAsk};
use crate::replay::plan::{Act, Cause};
use crate::spec::{Identifier, Side};
use crate::wire::{Id, Message};

impl Engine {
    /// A request of the other side.
    pub(super) fn asked(&mut self, message: &Message, event: u64) {
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
    pub(super) fn at_the_place_of(&mut self, ask: usize) {
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
    pub(super) fn of_earlier_session(&self, live: LiveAsk) -> LiveAsk {
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
    pub(super) fn bind_opening(
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
    pub(super) fn counterpart(&mut self, live: &LiveAsk) -> Option<usize> {
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
    pub(super) fn unknown(&mut self, message: &Message, live: &LiveAsk, event: u64) {
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
    pub(super) fn reply(&mut self, id: &Id, message: &Message, event: u64) {
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
    pub(super) fn lose(&mut self, recorded: &Value, step: usize) {
        if let Some(session) = recorded.get("sessionId").and_then(Value::as_str) {
            self.lost.insert(session.to_owned(), step);
        }
    }

    /// A request is over, with an answer or without: what could happen only while it was open cannot any more.
    pub(super) fn end_of(&mut self, step: usize) {
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
}
