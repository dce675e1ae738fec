//! Values that one side mints while a conversation runs, and the typed members in which they stand.
//!
//! The names are unique to their types throughout version 1 and its drafts, so that a member is known by its name alone,
//! in an update of a later revision too. What is not typed by the protocol (`_meta`, `rawInput`, `rawOutput`) holds none.

use super::methods::Side;

/// What a minted value identifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Identifier {
    /// A session.
    Session,
    /// A tool call.
    ToolCall,
    /// A terminal.
    Terminal,
    /// A message of agent or user.
    Message,
    /// An elicitation.
    Elicitation,
    /// A compaction of the history.
    Compaction,
    /// A page of a list.
    Cursor,
    /// A JSON-RPC request; also the `id` of a message.
    Request,
}

/// Members by name.
const MEMBERS: &[(&str, Identifier)] = &[
    ("sessionId", Identifier::Session),
    ("toolCallId", Identifier::ToolCall),
    ("terminalId", Identifier::Terminal),
    ("messageId", Identifier::Message),
    ("elicitationId", Identifier::Elicitation),
    ("compactionId", Identifier::Compaction),
    ("cursor", Identifier::Cursor),
    ("nextCursor", Identifier::Cursor),
    ("requestId", Identifier::Request),
];

/// Members whose inside the protocol does not type.
const UNTYPED: &[&str] = &["_meta", "rawInput", "rawOutput"];

impl Identifier {
    /// What the member of this name holds, if it is a typed place of a minted value.
    #[must_use]
    pub fn of_member(name: &str) -> Option<Self> {
        MEMBERS
            .iter()
            .find(|(member, _)| *member == name)
            .map(|(_, identifier)| *identifier)
    }

    /// Whether the protocol leaves open what stands inside the member of this name.
    #[must_use]
    pub fn is_untyped(member: &str) -> bool {
        UNTYPED.contains(&member)
    }

    /// The word that names it in canonical form, as in `session-1`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::ToolCall => "tool",
            Self::Terminal => "terminal",
            Self::Message => "message",
            Self::Elicitation => "elicitation",
            Self::Compaction => "compaction",
            Self::Cursor => "cursor",
            Self::Request => "request",
        }
    }

    /// The side that mints it; `None` where both do.
    #[must_use]
    pub const fn minted_by(self) -> Option<Side> {
        match self {
            Self::Terminal => Some(Side::Client),
            Self::Message | Self::Request => None,
            Self::Session
            | Self::ToolCall
            | Self::Elicitation
            | Self::Compaction
            | Self::Cursor => Some(Side::Agent),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::spec::Schema;

    /// Definitions of the schema whose values are chosen by whoever writes an agent, not minted while it runs.
    const FIXED: [&str; 7] = [
        "AuthMethodId",
        "PermissionOptionId",
        "SessionConfigGroupId",
        "SessionConfigId",
        "SessionConfigValueId",
        "SessionModeId",
        "RequestId",
    ];

    fn members(value: &Value, into: &mut BTreeSet<(String, String)>) {
        match value {
            Value::Object(object) => {
                for (name, property) in object
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                {
                    let text = property.to_string();
                    let of_id = text
                        .split("#/$defs/")
                        .nth(1)
                        .and_then(|rest| rest.split('"').next())
                        .filter(|definition| definition.ends_with("Id"));
                    if let Some(definition) = of_id.filter(|id| !FIXED.contains(id)) {
                        into.insert((name.clone(), definition.to_owned()));
                    }
                }
                object.values().for_each(|inner| members(inner, into));
            }
            Value::Array(items) => items.iter().for_each(|inner| members(inner, into)),
            _ => {}
        }
    }

    #[test]
    fn each_minted_type_of_the_schema_has_its_member_in_the_table() {
        let mut found = BTreeSet::new();
        for (_, definition) in Schema::v1().definitions() {
            members(definition, &mut found);
        }
        assert!(found.contains(&("sessionId".to_owned(), "SessionId".to_owned())));
        for (member, definition) in found {
            assert!(
                Identifier::of_member(&member).is_some(),
                "{member} of {definition}"
            );
        }
    }

    #[test]
    fn no_member_that_is_minted_counts_as_untyped() {
        for (member, _) in MEMBERS {
            assert!(!Identifier::is_untyped(member));
        }
    }
}
