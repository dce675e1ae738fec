//! A number for each requirement that occurs, so that a pass, which there are many of for each event, is no search by text.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::{Conversation, Judgement};
use crate::spec::{Catalogue, Condition, Truth};

/// What is kept of one requirement.
#[derive(Debug)]
struct Slot {
    id: &'static str,
    /// `None` where the catalogue does not hold it.
    when: Option<&'static Condition>,
    /// Whether the condition holds, while nothing has changed that it depends on.
    holds: Option<bool>,
    /// Passes that are not in the judgement yet.
    passes: u64,
}

/// The requirements that occurred so far.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// By address and length of the text: the ids are constants of the rules, each in one or a few places.
    by_address: HashMap<(usize, usize), usize, BuildHasherDefault<Address>>,
    slots: Vec<Slot>,
    /// What [`Conversation::agreed`] was when the conditions were evaluated.
    agreed: u64,
}

impl Slots {
    /// Whether the requirement's own condition holds on this connection.
    pub(super) fn truth(&mut self, id: &'static str, talk: &Conversation) -> Truth {
        let slot = self.slot(id);
        match self.slots.get(slot).and_then(|slot| slot.when) {
            None => Truth::Unknown,
            Some(when) if when.is_always() => Truth::Holds,
            Some(when) => talk.evaluate(when),
        }
    }

    /// Counts a pass, where the requirement's own condition holds.
    pub(super) fn pass(&mut self, id: &'static str, talk: &Conversation) {
        if self.agreed != talk.agreed() {
            self.agreed = talk.agreed();
            for slot in &mut self.slots {
                slot.holds = None;
            }
        }
        let number = self.slot(id);
        let Some(slot) = self.slots.get_mut(number) else {
            return;
        };
        let holds = *slot.holds.get_or_insert_with(|| {
            slot.when
                .is_some_and(|when| when.is_always() || talk.evaluate(when) == Truth::Holds)
        });
        slot.passes += u64::from(holds);
    }

    /// Moves the passes into the judgement.
    pub(super) fn settle(&mut self, judgement: &mut Judgement) {
        for slot in &mut self.slots {
            if slot.passes > 0 {
                judgement.pass_times(slot.id, std::mem::take(&mut slot.passes));
            }
        }
    }

    fn slot(&mut self, id: &'static str) -> usize {
        let address = (id.as_ptr().addr(), id.len());
        if let Some(slot) = self.by_address.get(&address) {
            return *slot;
        }
        let known = self.slots.iter().position(|slot| slot.id == id);
        let slot = known.unwrap_or_else(|| {
            let requirement = Catalogue::v1().get(id);
            debug_assert!(
                requirement.is_some(),
                "a rule judges {id}, which the catalogue does not hold"
            );
            self.slots.push(Slot {
                id,
                when: requirement.map(|requirement| &requirement.when),
                holds: None,
                passes: 0,
            });
            self.slots.len() - 1
        });
        self.by_address.insert(address, slot);
        slot
    }
}

/// Spreads addresses, which are no secret and chosen by nobody.
#[derive(Debug, Default)]
struct Address(u64);

impl Hasher for Address {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0.rotate_left(5) ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
