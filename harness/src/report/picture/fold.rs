//! Runs of chunks as one step.

use super::step::{Run, Step};

/// The longest text of a run that is kept, in bytes.
const KEPT: usize = 600;
/// After so many seconds without a chunk a new run begins, so that pauses are seen.
pub(super) const PAUSE: f64 = 1.0;

/// Puts steps that follow each other and are of one run together. Holds back one step at most.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    held: Option<Step>,
}

impl Fold {
    /// Takes the next step and gives those that are complete.
    pub(crate) fn push(&mut self, step: Step) -> Option<Step> {
        match &mut self.held {
            Some(held) if is_next(held, &step) => {
                join(held, step);
                None
            }
            _ => self.held.replace(step),
        }
    }

    /// Gives what is held back.
    pub(crate) fn flush(&mut self) -> Option<Step> {
        self.held.take()
    }
}

fn is_next(held: &Step, step: &Step) -> bool {
    let keys = |step: &Step| step.run.as_ref().map(|run| run.key.clone());
    let same = keys(held).is_some() && keys(held) == keys(step);
    same && step.event == held.last + 1 && step.at - held.until < PAUSE
}

fn join(held: &mut Step, step: Step) {
    held.last = step.last;
    held.until = step.until;
    let (Some(into), Some(run)) = (&mut held.run, step.run) else {
        return;
    };
    into.count += run.count;
    into.bytes += run.bytes;
    if let (Some(text), Some(more)) = (&mut into.text, run.text)
        && text.len() < KEPT
    {
        text.push_str(&more);
    }
    held.detail = detail(into);
}

/// What a run says.
pub(super) fn detail(run: &Run) -> String {
    match &run.text {
        Some(text) => super::summary::quoted(text),
        None if run.bytes == 1 => "1 byte".to_owned(),
        None => format!("{} bytes", run.bytes),
    }
}
