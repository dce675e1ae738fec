//! What the other side tells: minted values are bound, and what waits for it may go on.

use std::collections::VecDeque;

use serde_json::Value;

use super::{Engine, State, is_rest};
use crate::replay::calls::RecordedCall;
use crate::replay::plan::{Cause, cancelled_id, kind_of};
use crate::spec::Identifier;
use crate::wire::{Id, Message};

impl Engine {
    /// A notification of the agent.
    pub(super) fn update(&mut self, method: &str, message: &Message) {
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
    pub(super) fn noticed(&mut self, method: &str, message: &Message) {
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
    pub(super) fn bind_all(
        &mut self,
        sessions: (Option<&str>, Option<&str>),
        recorded: &Value,
        live: &Value,
    ) {
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
    pub(super) fn is_bound(&self, identifier: Identifier) -> bool {
        identifier != Identifier::Request && identifier.minted_by() != Some(self.plan.side)
    }

    /// Something came that nothing waits for.
    pub(super) fn count(&mut self, kind: String) {
        *self.came.entry(kind).or_default() += 1;
        self.look_at_rests();
    }

    pub(super) fn look_at_rests(&mut self) {
        let due: Vec<usize> = (0..self.plan.rests.len())
            .filter(|number| !self.met.contains(&Cause::Settled(*number)))
            .filter(|number| self.has_come(*number))
            .collect();
        for number in due {
            let cause = Cause::Settled(number);
            self.meet_if_due(cause);
        }
    }

    /// Meets a cause if nothing else than rests keeps a step that waits for it.
    pub(super) fn meet_if_due(&mut self, cause: Cause) {
        let mut waited_for = self.waiters.get(&cause).into_iter().flatten().copied();
        if waited_for.any(|step| self.open_causes(step).iter().all(is_rest)) {
            self.meet(cause);
        }
    }

    /// Whether all of a rest has come. Of text one chunk is enough: it may be cut otherwise.
    pub(super) fn has_come(&self, number: usize) -> bool {
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

    pub(super) fn meet(&mut self, cause: Cause) {
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
    pub(super) fn around(&self, cause: Cause) -> Option<Cause> {
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
    pub(super) fn open_causes(&self, step: usize) -> Vec<Cause> {
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
    pub(super) fn described(
        &self,
        cause: Cause,
    ) -> Option<(String, Option<usize>, Option<String>)> {
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
