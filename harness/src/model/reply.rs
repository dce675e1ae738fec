//! From a reply of the script to the pieces that an interface sends.

use std::path::Path;

use serde_json::{Map, Value};

use super::asked::Asked;
use super::interface::Trouble;
use super::script::{Calls, FALLBACK, Failure, NamedFailure, Reply, Stop, Text, Usage};
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
    /// What the model says when it refuses.
    Refuse(String),
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
        /// Whether its arguments are plain text.
        freeform: bool,
    },
    /// A fragment of the arguments of the call with this number.
    Arguments {
        /// From 0.
        number: usize,
        /// A part of the JSON, or of the plain text.
        fragment: String,
    },
}

/// Why a reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All is said.
    Said,
    /// Tools are to be called.
    Calls,
    /// It became as long as a reply may be.
    Length,
    /// The model refuses.
    Refusal,
}

/// A reply, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Milliseconds before the first byte.
    pub(crate) wait: u64,
    /// An error instead of a reply, with its message if the script gives one.
    pub(crate) error: Option<(Trouble, Option<String>)>,
    /// What is sent.
    pub(crate) pieces: Vec<Piece>,
    /// Whether the stream breaks off after the pieces.
    pub(crate) cut: bool,
    /// Why it ends.
    pub(crate) end: End,
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
            error: None,
            pieces: vec![Piece::Say(text.to_owned())],
            cut: false,
            end: End::Said,
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
                plan.error = Some((Trouble::Status(*status), message.clone()));
            }
            Some(Failure::Named(name)) => match name {
                NamedFailure::Cut => plan.cut = true,
                NamedFailure::RateLimit => plan.error = Some((Trouble::RateLimit, None)),
                NamedFailure::Overloaded => plan.error = Some((Trouble::Overloaded, None)),
                NamedFailure::Context => plan.error = Some((Trouble::Context, None)),
                // The connection itself is refused, so that no reply is ever planned for it.
                NamedFailure::Refused => {}
            },
            None => {}
        }
        if plan.error.is_some() {
            return plan;
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
        if let Some(words) = &reply.refuse {
            plan.pieces
                .extend(cut(words, PIECES).into_iter().map(Piece::Refuse));
            plan.end = End::Refusal;
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
                    let freeform = asked
                        .tools
                        .iter()
                        .any(|tool| tool.name == mapped.name && tool.freeform);
                    let arguments = match freeform {
                        true => plain(mapped.arguments),
                        false => mapped.arguments,
                    };
                    sent.push(Piece::Call {
                        number,
                        id: format!("call_{exchange:08}{number:04}"),
                        name: mapped.name,
                        freeform,
                    });
                    let fragments = cut(&arguments, FRAGMENTS);
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
                        of_mcp: call.mcp.is_some(),
                        of_question: call.kind.as_deref() == Some("ask"),
                        offered: asked.tools.iter().map(|tool| tool.name.clone()).collect(),
                    });
                }
            }
        }
        plan.pieces.append(&mut sent);
        plan.end = match reply.stop {
            Some(Stop::Length) => End::Length,
            None if plan.calls() => End::Calls,
            None => End::Said,
        };
        plan
    }

    /// Whether the reply calls tools.
    pub(crate) fn calls(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Call { .. }))
    }
}

/// A reply in one piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Whole {
    /// Reasoning text.
    pub(crate) thought: String,
    /// Text.
    pub(crate) said: String,
    /// What the model says when it refuses.
    pub(crate) refused: String,
    /// Calls of tools, in order.
    pub(crate) calls: Vec<WholeCall>,
}

/// A call in one piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WholeCall {
    /// The call's id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments: JSON, or plain text.
    pub(crate) arguments: String,
    /// Whether the arguments are plain text.
    pub(crate) freeform: bool,
}

impl Whole {
    /// All pieces of a reply together.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut whole = Self::default();
        plan.pieces.iter().for_each(|piece| whole.take(piece));
        whole
    }

    /// Takes in a piece.
    pub(crate) fn take(&mut self, piece: &Piece) {
        match piece {
            Piece::Think(text) => self.thought.push_str(text),
            Piece::Say(text) => self.said.push_str(text),
            Piece::Refuse(text) => self.refused.push_str(text),
            Piece::Call {
                id, name, freeform, ..
            } => self.calls.push(WholeCall {
                id: id.clone(),
                name: name.clone(),
                arguments: String::new(),
                freeform: *freeform,
            }),
            Piece::Arguments { number, fragment } => {
                if let Some(call) = self.calls.get_mut(*number) {
                    call.arguments.push_str(fragment);
                }
            }
            Piece::Hold => {}
        }
    }
}

/// The plain text for a tool that takes no JSON: the only argument, if that is a text.
fn plain(arguments: String) -> String {
    match serde_json::from_str::<Map<String, Value>>(&arguments) {
        Ok(members) if members.len() == 1 => match members.into_iter().next() {
            Some((_, Value::String(text))) => text,
            _ => arguments,
        },
        _ => arguments,
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
        assert_eq!(plan.error, Some((Trouble::Status(429), None)));
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
