//! The ids of requests that were answered, in a space that does not grow with their number.

use std::collections::{BTreeMap, VecDeque};

use crate::hash::HashSet;
use crate::wire::Id;

/// So many ids that are no whole numbers are remembered, the last ones.
const TEXTS: usize = 10_000;
/// So many stretches of whole numbers are remembered. Clients count up, so there are few.
const STRETCHES: usize = 10_000;

/// The ids of requests that were answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Answered {
    /// The first and the last number of each stretch without a break.
    numbers: BTreeMap<i64, i64>,
    texts: HashSet<Id>,
    order: VecDeque<Id>,
}

impl Answered {
    pub(super) fn insert(&mut self, id: &Id) {
        match id {
            Id::Integer(number) => self.number(*number),
            other => {
                if self.texts.insert(other.clone()) {
                    self.order.push_back(other.clone());
                }
                if self.order.len() > TEXTS
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.texts.remove(&oldest);
                }
            }
        }
    }

    pub(super) fn contains(&self, id: &Id) -> bool {
        match id {
            Id::Integer(number) => self.stretch(*number).is_some(),
            other => self.texts.contains(other),
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn number(&mut self, number: i64) {
        if self.stretch(number).is_some() {
            return;
        }
        let before = number
            .checked_sub(1)
            .and_then(|before| self.stretch(before));
        let after = number
            .checked_add(1)
            .and_then(|after| Some((after, *self.numbers.get(&after)?)));
        let first = before.map_or(number, |(first, _)| first);
        let last = match after {
            Some((after, last)) => {
                self.numbers.remove(&after);
                last
            }
            None => number,
        };
        self.numbers.insert(first, last);
        if self.numbers.len() > STRETCHES {
            self.numbers.pop_first();
        }
    }

    /// The stretch that holds a number.
    fn stretch(&self, number: i64) -> Option<(i64, i64)> {
        let (first, last) = self.numbers.range(..=number).next_back()?;
        (number <= *last).then_some((*first, *last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_answered_is_known_and_nothing_else(ids in proptest::collection::vec(-20i64..20, 0..60)) {
            let mut answered = Answered::default();
            for id in &ids {
                answered.insert(&Id::Integer(*id));
            }
            for id in -22..22 {
                prop_assert_eq!(answered.contains(&Id::Integer(id)), ids.contains(&id), "{}", id);
            }
        }
    }

    #[test]
    fn numbers_that_count_up_take_no_space_and_texts_are_forgotten_in_their_order() {
        let mut answered = Answered::default();
        for number in 0..20_000 {
            answered.insert(&Id::Integer(number));
            answered.insert(&Id::Text(number.to_string()));
        }
        assert_eq!(answered.numbers.len(), 1);
        assert_eq!(answered.texts.len(), TEXTS);
        assert!(answered.contains(&Id::Text("19999".into())));
        assert!(!answered.contains(&Id::Text("0".into())));
        assert!(!answered.contains(&Id::Text("x".into())));
    }
}
