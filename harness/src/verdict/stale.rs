//! Known failures that no longer hold.

/// A known failure that has to be taken out of the list, or looked at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The requirement.
    pub id: String,
    /// Why it is stale, as a sentence.
    pub why: String,
}
