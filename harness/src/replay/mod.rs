//! Plays one side of a recording: its client to a live agent (`harness replay`), or its agent to a live client
//! (`harness play`).
//!
//! A recording becomes a [`plan`]: what is sent, and what must have happened before. The [`engine`] takes what the other
//! side sends, finds what it stands for in the recording ([`fit`]), binds the ids of both ([`bindings`]) and says what goes
//! out next. All of that is pure; only the drivers touch processes and streams.

mod accept;
mod answer;
mod bindings;
mod calls;
mod compare;
mod driver;
mod engine;
mod fit;
mod incident;
mod places;
mod plan;
mod player;
mod trust;
mod turn;

pub(crate) use accept::accepted;
pub(crate) use compare::{Live, compared};
pub(crate) use driver::{Model, Replayed, Trouble, replay};
pub(crate) use incident::Incident;
pub(crate) use plan::playable;
pub(crate) use player::play;
pub(crate) use trust::commands;
