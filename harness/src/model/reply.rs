//! From a reply of the script to the pieces that an interface sends.

use std::path::Path;

use super::asked::Asked;
use super::script::{Calls, FALLBACK, Failure, NamedFailure, Reply, Text, Usage};
use super::state::Unmapped;
use super::tool_map::ToolMap;
use super::tools;

/// Token counts that are reported where the script gives none.
const USAGE: Usage = Usage {
    input: 16,
    output: 8,
};
/// What the model says instead of a call for which the agent offers no tool.
pub(crate) const NO_TOOL: &str = "There is no tool here for what I would do.";
/// A text is cut into about this many pieces,
const PIECES: usize = 6;
/// of at most this many characters each.
const LONGEST: usize = 2048;
/// The arguments of a call are sent in this many fragments.
const FRAGMENTS: usize = 3;

/// One piece of a reply, in the order of sending.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Reasoning text.
    Think(String),
    /// Text.
    Say(String),
    /// The stream stays open here until it is released.
    Hold,
    /// The tool call with this number within the reply begins.
    Call {
        /// From 0.
        number: usize,
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
    },
    /// A fragment of the arguments of the call with this number.
    Arguments {
        /// From 0.
        number: usize,
        /// A part of the JSON text.
        fragment: String,
    },
}

/// A reply, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Milliseconds before the first byte.
    pub(crate) wait: u64,
    /// An error status instead of a reply, with its message if the script gives one.
    pub(crate) status: Option<(u16, Option<String>)>,
    /// What is sent.
    pub(crate) pieces: Vec<Piece>,
    /// Whether the stream breaks off after the pieces.
    pub(crate) cut: bool,
    /// Token counts.
    pub(crate) usage: Usage,
    /// Calls for which there was no tool.
    pub(crate) unmapped: Vec<Unmapped>,
}

impl Plan {
    /// A reply that says one text.
    pub(crate) fn saying(text: &str) -> Self {
        Self {
            wait: 0,
            status: None,
            pieces: vec![Piece::Say(text.to_owned())],
            cut: false,
            usage: USAGE,
            unmapped: Vec::new(),
        }
    }

    /// The reply beyond the end of the script.
    pub(crate) fn beyond() -> Self {
        Self::saying(FALLBACK)
    }

    /// What the script's reply becomes for this request. `exchange` makes the ids of calls unique; `map` is
    /// what the profile says of the agent's tools; paths are understood under `folder`.
    pub(crate) fn of(
        reply: &Reply,
        asked: &Asked,
        exchange: u64,
        map: &ToolMap,
        folder: Option<&Path>,
    ) -> Self {
        let mut plan = Self {
            wait: reply.wait.unwrap_or(0),
            usage: reply.usage.unwrap_or(USAGE),
            ..Self::saying("")
        };
        plan.pieces.clear();
        match &reply.fail {
            Some(Failure::Status { status, message }) => {
                plan.status = Some((*status, message.clone()));
                return plan;
            }
            Some(Failure::Named(NamedFailure::Cut)) => plan.cut = true,
            // The connection itself is refused, so that no reply is ever planned for it.
            Some(Failure::Named(NamedFailure::Refused)) | None => {}
        }
        plan.pieces
            .extend(pieces(reply.think.as_ref()).map(Piece::Think));
        plan.pieces
            .extend(pieces(reply.say.as_ref()).map(Piece::Say));
        if reply.hold {
            plan.pieces.push(Piece::Hold);
        }
        if plan.cut {
            return plan;
        }
        let calls = match &reply.call {
            None => &[],
            Some(Calls::One(call)) => std::slice::from_ref(call),
            Some(Calls::Many(calls)) => calls.as_slice(),
        };
        let mut number = 0;
        let mut sent = Vec::new();
        for call in calls {
            match tools::mapped(call, &asked.tools, map, folder) {
                Ok(mapped) => {
                    sent.push(Piece::Call {
                        number,
                        id: format!("call_{exchange:08}{number:04}"),
                        name: mapped.name,
                    });
                    let fragments = cut(&mapped.arguments, FRAGMENTS);
                    sent.extend(
                        fragments
                            .into_iter()
                            .map(|fragment| Piece::Arguments { number, fragment }),
                    );
                    number += 1;
                }
                Err(wanted) => {
                    plan.pieces.push(Piece::Say(NO_TOOL.to_owned()));
                    plan.unmapped.push(Unmapped {
                        wanted,
                        offered: asked.tools.iter().map(|tool| tool.name.clone()).collect(),
                    });
                }
            }
        }
        plan.pieces.append(&mut sent);
        plan
    }

    /// Whether the reply calls tools.
    pub(crate) fn calls(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Call { .. }))
    }
}

/// The pieces of a text: those given, or a few of about the same length that split no character.
fn pieces(text: Option<&Text>) -> impl Iterator<Item = String> {
    match text {
        None => Vec::new(),
        Some(Text::Chunks(chunks)) => chunks.clone(),
        Some(Text::Whole(text)) => cut(text, PIECES),
    }
    .into_iter()
}

/// Cuts a text into about so many pieces, and more where they would be too long. No text is no piece.
fn cut(text: &str, into: usize) -> Vec<String> {
    let length = text.chars().count().div_ceil(into.max(1)).clamp(1, LONGEST);
    let mut rest = text.chars().peekable();
    let mut pieces = Vec::new();
    while rest.peek().is_some() {
        pieces.push(rest.by_ref().take(length).collect());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cut_reply_sends_no_call_and_a_failing_one_nothing() {
        let mut reply: Reply =
            toml::from_str("say = \"a\"\nfail = \"cut\"\ncall = { kind = \"read\", path = \"x\" }")
                .unwrap();
        let plan = Plan::of(&reply, &Asked::default(), 1, &ToolMap::default(), None);
        assert_eq!(plan.pieces, [Piece::Say("a".into())]);
        assert!(plan.cut && plan.unmapped.is_empty());
        reply.fail = Some(Failure::Status {
            status: 429,
            message: None,
        });
        let plan = Plan::of(&reply, &Asked::default(), 1, &ToolMap::default(), None);
        assert_eq!(plan.pieces, []);
        assert_eq!(plan.status, Some((429, None)));
    }

    #[test]
    fn a_call_without_a_tool_is_recorded_and_said() {
        let reply: Reply =
            toml::from_str("call = { kind = \"execute\", command = \"ls\" }").unwrap();
        let plan = Plan::of(&reply, &Asked::default(), 1, &ToolMap::default(), None);
        assert_eq!(plan.pieces, [Piece::Say(NO_TOOL.into())]);
        assert!(plan.unmapped[0].wanted.contains("execute"), "{plan:?}");
        assert!(!plan.calls());
    }

    proptest! {
        #[test]
        fn pieces_are_the_text(text: String, into in 0usize..9) {
            let pieces = cut(&text, into);
            prop_assert_eq!(pieces.concat(), text);
            prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
        }
    }
}
