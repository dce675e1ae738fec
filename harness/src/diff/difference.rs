//! One difference between two traces, and all of them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a difference touches, in rising order.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Only when something happened.
    Timing,
    /// Only what a model or a person wrote, or name and version of the agent.
    Text,
    /// A message appears, vanishes, moves or changes in a field that carries meaning.
    Behaviour,
    /// A requirement of level `must` is violated on the right that is not on the left.
    Breaking,
}

impl Class {
    /// All of them, in rising order.
    pub const ALL: [Self; 4] = [Self::Timing, Self::Text, Self::Behaviour, Self::Breaking];

    /// The word for it, as `--level` takes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timing => "timing",
            Self::Text => "text",
            Self::Behaviour => "behaviour",
            Self::Breaking => "breaking",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the two sides of a comparison are called in its sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The left one, and where something is that it has.
    pub left: Named,
    /// The right one.
    pub right: Named,
}

/// A side by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Such as `the left`.
    pub name: &'static str,
    /// Such as `on the left`.
    pub at: &'static str,
}

impl Sides {
    /// Two recordings beside each other.
    pub const RECORDINGS: Self = Self {
        left: Named {
            name: "the left",
            at: "on the left",
        },
        right: Named {
            name: "the right",
            at: "on the right",
        },
    };

    /// A recording, and what became of it.
    pub const REPLAY: Self = Self {
        left: Named {
            name: "the recording",
            at: "in the recording",
        },
        right: Named {
            name: "the replay",
            at: "in the replay",
        },
    };

    /// A side and the other one.
    pub(super) const fn of(self, on_left: bool) -> (Named, Named) {
        if on_left {
            (self.left, self.right)
        } else {
            (self.right, self.left)
        }
    }
}

/// What became of something from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It is on the right only.
    Appeared,
    /// It is on the left only.
    Vanished,
    /// It is on both sides, in another order.
    Moved,
    /// It has another value.
    Changed,
}

impl Change {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Appeared => "appeared",
            Self::Vanished => "vanished",
            Self::Moved => "moved",
            Self::Changed => "changed",
        }
    }

    /// The same change seen from the other side.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Appeared => Self::Vanished,
            Self::Vanished => Self::Appeared,
            other => other,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// What it touches.
    pub class: Class,
    /// What became of it.
    pub change: Change,
    /// Where it is, as `session-1 · turn 2 · tool-1 · status`.
    pub place: String,
    /// The value on the left, as text (a string's content) or JSON; `None` where there is none.
    pub left: Option<String>,
    /// The value on the right.
    pub right: Option<String>,
    /// The event on the left, as its index in `Recording::events`, from 0.
    pub left_event: Option<u64>,
    /// The event on the right.
    pub right_event: Option<u64>,
    /// The requirements that are newly violated on the right.
    pub requirements: Vec<String>,
    /// What it is, in one lowercase sentence.
    pub message: String,
    /// A few unchanged things before it, one line each.
    pub before: Vec<String>,
    /// A few unchanged things after it, one line each.
    pub after: Vec<String>,
}

/// What comparing two traces gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The differences: those of the connection, then session by session in the order of the left trace.
    pub differences: Vec<Difference>,
    /// The volatility entries of a sidecar that matched nothing on either side.
    pub unmatched: Vec<crate::canon::Unmatched>,
    /// How many further differences there are, of no higher class than those that are listed.
    pub omitted: usize,
}

impl Comparison {
    /// How many differences are of this class or a higher one.
    #[must_use]
    pub fn at_least(&self, class: Class) -> usize {
        self.differences
            .iter()
            .filter(|difference| difference.class >= class)
            .count()
    }
}
