//! Which session of one trace is which of the other.

use std::collections::VecDeque;
use std::hash::{Hash as _, Hasher as _};

use crate::canon::{Canonical, Session, hasher};
use crate::hash::HashMap;

/// Pairs of sessions by number, in the order of the left trace and then of the right; one that has no like stands alone.
///
/// Sessions are independent, so that their order says little: equal ones belong together, then those that begin alike, then
/// the rest as they come.
pub(super) fn matched(
    left: &Canonical<'_>,
    right: &Canonical<'_>,
) -> Vec<(Option<usize>, Option<usize>)> {
    let mut partners: Vec<Option<usize>> = vec![None; left.sessions.len()];
    let mut taken = vec![false; right.sessions.len()];
    for likeness in [whole, opening, |_: &Canonical<'_>, _: &Session| 0] {
        let mut open: HashMap<u64, VecDeque<usize>> = HashMap::default();
        for (index, session) in right.sessions.iter().enumerate() {
            if taken.get(index) == Some(&false) {
                open.entry(likeness(right, session))
                    .or_default()
                    .push_back(index);
            }
        }
        for (session, partner) in left.sessions.iter().zip(&mut partners) {
            if partner.is_some() {
                continue;
            }
            let found = open
                .get_mut(&likeness(left, session))
                .and_then(VecDeque::pop_front);
            if let Some(found) = found {
                *partner = Some(found);
                if let Some(taken) = taken.get_mut(found) {
                    *taken = true;
                }
            }
        }
    }
    let alone = taken
        .iter()
        .enumerate()
        .filter(|(_, taken)| !**taken)
        .map(|(index, _)| (None, Some(index)));
    partners
        .iter()
        .enumerate()
        .map(|(index, partner)| (Some(index), *partner))
        .chain(alone)
        .collect()
}

/// All of a session.
fn whole(form: &Canonical<'_>, session: &Session) -> u64 {
    let mut hasher = hasher();
    for stream in std::iter::once(&session.items).chain(&session.floating) {
        stream.len().hash(&mut hasher);
        for item in stream.iter().filter_map(|id| form.item(*id)) {
            item.full.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// How a session begins: whether it was created here, and its first request after that.
fn opening(form: &Canonical<'_>, session: &Session) -> u64 {
    let mut hasher = hasher();
    for item in session.items.iter().take(3).filter_map(|id| form.item(*id)) {
        item.full.hash(&mut hasher);
    }
    hasher.finish()
}
