//! Calls of the tools that a profile names.

use std::path::Path;

use serde_json::Value;

use super::known::Kind;
use super::parts::Parts;
use super::{Mapped, arguments, mapped_strings};
use crate::model::asked::Tool;
use crate::model::script::Call;
use crate::model::tool_map::{ToolMap, ToolUse};

/// The call of the first tool that the profile names for the kind, that is offered, and that can carry it.
pub(super) fn called(
    kind: &Kind,
    call: &Call,
    offered: &[Tool],
    map: &ToolMap,
    folder: Option<&Path>,
) -> Option<Mapped> {
    map.uses(kind.name).find_map(|given| {
        let tool = offered.iter().find(|tool| tool.name == given.tool)?;
        Some(Mapped {
            name: tool.name.clone(),
            arguments: written(kind, given, &Parts::of(call), tool, folder)?,
        })
    })
}

fn written(
    kind: &Kind,
    given: &ToolUse,
    parts: &Parts<'_>,
    tool: &Tool,
    folder: Option<&Path>,
) -> Option<String> {
    if let Some(text) = &given.text {
        return parts.given(text, folder);
    }
    let replaced = |members: &serde_json::Map<String, Value>| {
        let value = Value::Object(members.clone());
        mapped_strings(&value, &|text| parts.given(text, folder))
    };
    let mut all = match &given.arguments {
        Some(members) => replaced(members)?,
        None => {
            let (found, _) = arguments(kind, parts, tool, folder)?;
            if given.with.is_empty() {
                return Some(found);
            }
            serde_json::from_str(&found).ok()?
        }
    };
    if let (Value::Object(all), Value::Object(with)) = (&mut all, replaced(&given.with)?) {
        all.extend(with);
    }
    Some(all.to_string())
}
