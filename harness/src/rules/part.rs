//! Which requirement a fault of the schema belongs to, so that one fault fails one requirement of an area.

use super::{Moment, Out};
use crate::spec::Violation;

/// The requirement that owns the part of a `session/update` or `session/request_permission` at which a violation points.
/// `kind` is the update's kind; `None` for a permission request, whose tool call stands under `/params/toolCall`.
///
/// `_meta` is EXT-04's; commands and options have areas of their own; what is outside of `update` is no part of any area.
fn owner(kind: Option<&str>, path: &str) -> Option<&'static str> {
    if path.ends_with("/_meta") {
        return None;
    }
    let Some(kind) = kind else {
        return Some(match path.strip_prefix("/params/toolCall") {
            None | Some("") | Some("/toolCallId") => "PERM-01",
            Some(rest) => return of_tool_call(rest),
        });
    };
    let rest = path.strip_prefix("/params/update")?;
    let first = rest.split('/').nth(1).unwrap_or_default();
    match (kind, first) {
        ("tool_call", "") => Some("TOOLCALL-03"),
        ("tool_call" | "tool_call_update", _) => Some(of_tool_call(rest).unwrap_or("UPDATE-01")),
        ("user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk", "content") => {
            Some("CONTENT-01")
        }
        ("plan", "entries") => Some("PLAN-01"),
        ("usage_update", _) => Some("USAGE-01"),
        ("session_info_update", "title") => Some("UPDATE-06"),
        ("available_commands_update", "availableCommands") => Some("COMMANDS-01"),
        ("config_option_update", "configOptions") => Some("CONFIG-01"),
        _ => Some("UPDATE-01"),
    }
}

/// The part of a tool call at a path that begins with `/`.
fn of_tool_call(path: &str) -> Option<&'static str> {
    let mut parts = path.split('/').skip(1);
    match (parts.next()?, parts.next(), parts.next()) {
        ("title" | "status" | "kind", ..) => Some("TOOLCALL-03"),
        ("content", Some(_), Some("content")) => Some("CONTENT-01"),
        ("content", ..) => Some("TOOLCALL-10"),
        _ => None,
    }
}

/// Fails the requirement for each violation in its part of the message, and passes it where there is none.
///
/// A form that later revisions know is noted; then it is neither passed nor failed.
pub(super) fn judge(moment: &Moment<'_>, id: &'static str, out: &mut Out<'_>) {
    if faults(moment, id, out) {
        out.pass(id);
    }
}

/// As [`judge`], but says whether there was none instead of passing.
pub(super) fn faults(moment: &Moment<'_>, id: &'static str, out: &mut Out<'_>) -> bool {
    let violations = moment.violations();
    if violations.is_empty() {
        return true;
    }
    let kind = moment
        .agent_call("session/update")
        .and_then(|message| message.params()?.pointer("/update/sessionUpdate")?.as_str());
    let mut none = true;
    for violation in violations {
        if owner(kind, &violation.path) == Some(id) {
            report(moment, id, violation, out);
            none = false;
        }
    }
    none
}

/// Fails the requirement for a violation, or notes it where it is a form of later revisions.
pub(super) fn report(
    moment: &Moment<'_>,
    id: &'static str,
    violation: &Violation,
    out: &mut Out<'_>,
) {
    let place = moment.at(violation.path.clone());
    match &violation.later {
        Some(from) => out.note(
            id,
            place,
            format!("{} (known from {from})", violation.message),
        ),
        None => out.fail(id, place, violation.message.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_message_has_one_owner() {
        for (kind, path, id) in [
            (Some("tool_call"), "/params/update", Some("TOOLCALL-03")),
            (
                Some("tool_call"),
                "/params/update/status",
                Some("TOOLCALL-03"),
            ),
            (
                Some("tool_call"),
                "/params/update/locations/0",
                Some("UPDATE-01"),
            ),
            (
                Some("tool_call_update"),
                "/params/update",
                Some("UPDATE-01"),
            ),
            (
                Some("tool_call_update"),
                "/params/update/content/3",
                Some("TOOLCALL-10"),
            ),
            (
                Some("tool_call"),
                "/params/update/content/3/content/text",
                Some("CONTENT-01"),
            ),
            (Some("tool_call"), "/params/update/_meta", None),
            (
                Some("agent_message_chunk"),
                "/params/update/content",
                Some("CONTENT-01"),
            ),
            (
                Some("agent_message_chunk"),
                "/params/update",
                Some("UPDATE-01"),
            ),
            (
                Some("plan"),
                "/params/update/entries/0/status",
                Some("PLAN-01"),
            ),
            (Some("usage_update"), "/params/update", Some("USAGE-01")),
            (
                Some("session_info_update"),
                "/params/update/title",
                Some("UPDATE-06"),
            ),
            (
                Some("current_mode_update"),
                "/params/update",
                Some("UPDATE-01"),
            ),
            (Some("plan"), "/params/sessionId", None),
            (None, "/params", Some("PERM-01")),
            (None, "/params/options/0/kind", Some("PERM-01")),
            (None, "/params/toolCall", Some("PERM-01")),
            (None, "/params/toolCall/status", Some("TOOLCALL-03")),
            (None, "/params/toolCall/content/0", Some("TOOLCALL-10")),
            (None, "/params/toolCall/locations/0/path", None),
        ] {
            assert_eq!(owner(kind, path), id, "{kind:?} {path}");
        }
    }
}
