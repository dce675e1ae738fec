//! What went otherwise than recorded in a way that no comparison of two traces tells.

use super::plan::{Plan, Step};

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Incident {
    /// A step went after the turn that it was to stop had ended.
    TooLate {
        /// The step.
        step: usize,
        /// Where in the turn it was recorded.
        place: String,
        /// The event of the live trace that answered the turn.
        answered: Option<u64>,
        /// The event of the live trace that it became.
        event: Option<u64>,
    },
    /// The other side was waited for in vain.
    TimedOut {
        /// What was waited for, in words.
        awaited: Vec<String>,
        /// The events of the recording at which it came.
        events: Vec<usize>,
        /// Its session, as recorded.
        session: Option<String>,
        /// How long it was waited for, in seconds; `None` where the agent had been given up before and was silent since.
        seconds: Option<f64>,
    },
    /// The other side ended in the middle.
    Gone {
        /// How it ended, if that is known.
        how: String,
        /// The steps that have not gone.
        unsent: Vec<usize>,
        /// The requests that have no answer.
        unanswered: Vec<usize>,
    },
    /// A session could not be opened: what belongs to it has not gone.
    NoSession {
        /// The session, as recorded.
        session: String,
        /// The step that was to open it.
        step: usize,
        /// The steps that have not gone.
        unsent: Vec<usize>,
    },
    /// A request that the recording does not have.
    Unknown {
        /// Its method.
        method: String,
        /// Its event in the live trace.
        event: u64,
        /// How it was answered.
        answer: String,
    },
}

/// A step as a sentence names it: what it is, and where it stands.
pub(crate) fn named(step: &Step) -> String {
    match step.event {
        Some(event) => format!("{} (event {event} of the recording)", quoted(&step.what)),
        None => quoted(&step.what),
    }
}

/// A list of steps, the first few by name.
pub(crate) fn listed(plan: &Plan, steps: &[usize]) -> String {
    const NAMED: usize = 5;
    let mut names: Vec<String> = steps
        .iter()
        .take(NAMED)
        .filter_map(|step| plan.steps.get(*step))
        .map(named)
        .collect();
    if steps.len() > NAMED {
        names.push(format!("{} more", steps.len() - NAMED));
    }
    names.join(", ")
}

fn quoted(what: &str) -> String {
    if what.contains(' ') {
        what.to_owned()
    } else {
        format!("`{what}`")
    }
}
