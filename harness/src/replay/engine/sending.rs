//! What goes out: the next steps of the plan that nothing holds back, with what was bound put in.

use super::{Engine, Output, State};
use crate::replay::answer::fitted;
use crate::replay::incident::Incident;
use crate::replay::plan::{Act, Cause, Step};

impl Engine {
    pub(super) fn go(&mut self, number: usize) {
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
    pub(super) fn output(&self, number: usize, step: &Step) -> Option<(Output, Option<String>)> {
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
    pub(super) fn went(&mut self, number: usize) {
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
}
