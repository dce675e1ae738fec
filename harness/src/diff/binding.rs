//! Which minted value of one trace is which of the other, one to one.

use crate::canon::{Minted, Reference, Segment};

/// Which value on the left is which on the right.
#[derive(Debug)]
pub(super) struct Binding<'m> {
    left: &'m Minted,
    right: &'m Minted,
    to_right: Vec<Option<Reference>>,
    to_left: Vec<Option<Reference>>,
}

impl<'m> Binding<'m> {
    /// None are bound yet.
    pub(super) fn new(left: &'m Minted, right: &'m Minted) -> Self {
        Self {
            left,
            right,
            to_right: vec![None; left.len()],
            to_left: vec![None; right.len()],
        }
    }

    /// Binds two values to each other unless one of them is bound; tells whether they are each other's now.
    pub(super) fn bind(&mut self, left: Reference, right: Reference) -> bool {
        let (Some(to_right), Some(to_left)) = (
            self.to_right.get_mut(left.index()),
            self.to_left.get_mut(right.index()),
        ) else {
            return false;
        };
        match (*to_right, *to_left) {
            (None, None) if self.left.word(left) == self.right.word(right) => {
                *to_right = Some(right);
                *to_left = Some(left);
                true
            }
            (bound, _) => bound == Some(right),
        }
    }

    /// Whether two values are each other's.
    pub(super) fn are_bound(&self, left: Reference, right: Reference) -> bool {
        self.to_right.get(left.index()).copied().flatten() == Some(right)
    }

    /// The value on the left that one on the right is.
    pub(super) fn left_of(&self, right: Reference) -> Option<Reference> {
        self.to_left.get(right.index()).copied().flatten()
    }

    /// Whether two texts are equal, with the values that they mention or are.
    ///
    /// A text that is the same on both sides is the same, whatever else its words may mean: an id such as `call` may stand
    /// in a sentence by chance.
    pub(super) fn same_text(&mut self, left: &str, right: &str) -> bool {
        if left == right {
            return true;
        }
        if let (Some(one), Some(other)) = (self.left.whole(left), self.right.whole(right)) {
            return self.are_bound(one, other);
        }
        let (one, other) = (self.left, self.right);
        let mut segments = one.segments(left);
        let mut others = other.segments(right);
        loop {
            match (segments.next(), others.next()) {
                (None, None) => return true,
                (Some(Segment::Text(left)), Some(Segment::Text(right))) if left == right => {}
                (Some(Segment::Id(left)), Some(Segment::Id(right))) if self.bind(left, right) => {}
                _ => return false,
            }
        }
    }

    /// Whether one text is the beginning of the other.
    pub(super) fn one_begins_other(&self, left: &str, right: &str) -> bool {
        let (left, right) = (self.left.named(left), self.right.named(right));
        left.starts_with(&right) || right.starts_with(&left)
    }
}
