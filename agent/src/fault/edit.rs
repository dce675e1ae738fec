//! One change of what passes on the wire, as a table describes it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::selector::Selector;

/// What is done to the messages that it selects. The parts act in the order in which they stand
/// here. Texts are templates (see [`super::template`]); members are named by JSON pointers, and
/// their values are JSON texts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Edit {
    /// Which messages.
    pub(super) on: Selector,
    /// Members that must be there with these values.
    #[serde(rename = "where")]
    pub(super) holds: BTreeMap<String, String>,
    /// Members that the request of the client's had to which this is the answer.
    pub(super) asked_with: BTreeMap<String, String>,
    /// A message that must have passed before.
    pub(super) after: Option<Selector>,
    /// A message that must not have passed before.
    pub(super) not_after: Option<Selector>,
    /// The method of a request of the client's that must be open.
    pub(super) during: Option<String>,
    /// The line must be longer than so many bytes.
    pub(super) longer: usize,
    /// Only the one of this number among those selected, from 1.
    pub(super) nth: Option<u64>,
    /// Only the first so many.
    pub(super) first: Option<u64>,

    /// Members that get these values; a list grows by one at its end or at `-`.
    pub(super) set: BTreeMap<String, String>,
    /// Members that get the values of others.
    pub(super) copy: BTreeMap<String, String>,
    /// Members that go.
    pub(super) remove: Vec<String>,
    /// Texts in the members' strings, each with what takes its place.
    pub(super) replace: BTreeMap<String, String>,
    /// The message gets this id, and its answer is led back.
    pub(super) renumber: Option<String>,
    /// The members of all objects are turned round.
    pub(super) reverse: bool,
    /// The text of a chunk goes out character by character.
    pub(super) by_character: bool,

    /// What is written in place of the line.
    pub(super) line: Option<String>,
    /// Every character outside ASCII is written as an escape.
    pub(super) escaped: bool,
    /// Every character is written as one byte, as no UTF-8 is.
    pub(super) latin1: bool,

    /// Lines that are written first.
    pub(super) before: Vec<String>,
    /// Milliseconds to wait before anything of this is written.
    pub(super) wait: u64,
    /// The line is not written at all.
    pub(super) drop: bool,
    /// It is written twice.
    pub(super) twice: bool,
    /// It is kept until such a message has been written.
    pub(super) until: Option<Selector>,
    /// Milliseconds to wait before what follows it.
    pub(super) pause: u64,
    /// Lines that are written after it.
    pub(super) behind: Vec<String>,
    /// What goes to stderr.
    pub(super) stderr: Option<String>,
    /// The process ends at once, with this code.
    pub(super) exit: Option<u8>,
}

/// Whether a message has these members: with these values, or `present`, or `absent`.
pub(super) fn has(message: &Value, members: &BTreeMap<String, String>) -> bool {
    members.iter().all(|(pointer, wanted)| {
        let found = message.pointer(pointer);
        match wanted.as_str() {
            "absent" => found.is_none(),
            "present" => found.is_some(),
            _ => found.is_some_and(|found| {
                serde_json::from_str::<Value>(wanted).is_ok_and(|wanted| wanted == *found)
            }),
        }
    })
}
