//! Which methods an agent answers at all, over the scenarios of a run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// So often a method must have been given up before its waits become short.
const GIVEN_UP: u32 = 2;

/// What is known of the methods that were called so far.
#[derive(Debug, Default)]
pub struct Answered {
    methods: Mutex<HashMap<String, Method>>,
}

#[derive(Debug, Default)]
struct Method {
    answered: bool,
    given_up: u32,
}

impl Answered {
    /// A request of this method was answered, or was given up.
    pub(super) fn note(&self, method: &str, answered: bool) {
        let mut methods = self.methods.lock().unwrap_or_else(PoisonError::into_inner);
        let known = methods.entry(method.to_owned()).or_default();
        known.answered |= answered;
        known.given_up += u32::from(!answered);
    }

    /// Whether the method has been given up twice and never been answered: then nobody needs to wait long for it again.
    pub(super) fn is_hopeless(&self, method: &str) -> bool {
        let methods = self.methods.lock().unwrap_or_else(PoisonError::into_inner);
        methods
            .get(method)
            .is_some_and(|known| !known.answered && known.given_up >= GIVEN_UP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_was_answered_once_is_worth_waiting_for() {
        let answered = Answered::default();
        assert!(!answered.is_hopeless("session/new"));
        answered.note("session/new", false);
        assert!(!answered.is_hopeless("session/new"));
        answered.note("session/new", false);
        assert!(answered.is_hopeless("session/new"));
        assert!(!answered.is_hopeless("session/prompt"));
        answered.note("session/new", true);
        assert!(!answered.is_hopeless("session/new"));
    }
}
