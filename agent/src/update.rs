//! The `session/update` payloads, as they stand on the wire.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::slash;
use crate::surface::Parts;
use crate::tools::{Change, Invocation, Output};

/// The slash commands of a session: those of the surface, then the skills of the folder.
pub(crate) fn available_commands(parts: &Parts, cwd: &Path) -> Value {
    let mut commands: Vec<Value> = parts
        .commands
        .iter()
        .map(|command| json!({ "name": command.name, "description": command.description }))
        .collect();
    commands.extend(
        slash::skills(parts, cwd)
            .iter()
            .map(|skill| json!({ "name": skill.name, "description": skill.description })),
    );
    json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands })
}

/// A fragment of the agent's answer.
pub(crate) fn agent_text(text: &str) -> Value {
    json!({
        "sessionUpdate": "agent_message_chunk",
        "content": { "type": "text", "text": text },
    })
}

/// How much of the model's window is taken; a `size` of 0 is one that is not known.
pub(crate) fn usage(used: u64, size: u64) -> Value {
    json!({ "sessionUpdate": "usage_update", "used": used, "size": size })
}

/// A tool call is announced.
pub(crate) fn tool_call(id: &str, call: &Invocation) -> Value {
    let mut update = Map::new();
    update.insert("sessionUpdate".into(), "tool_call".into());
    update.insert("toolCallId".into(), id.into());
    update.insert("title".into(), call.title.clone().into());
    update.insert("kind".into(), call.kind.into());
    update.insert("status".into(), "pending".into());
    update.insert("rawInput".into(), call.arguments.clone());
    if let Some(locations) = locations(call) {
        update.insert("locations".into(), locations);
    }
    Value::Object(update)
}

/// The part of a permission request that describes the tool call.
pub(crate) fn permission_subject(id: &str, call: &Invocation) -> Value {
    let mut subject = Map::new();
    subject.insert("toolCallId".into(), id.into());
    subject.insert("title".into(), call.title.clone().into());
    subject.insert("kind".into(), call.kind.into());
    subject.insert("rawInput".into(), call.arguments.clone());
    if let Some(locations) = locations(call) {
        subject.insert("locations".into(), locations);
    }
    Value::Object(subject)
}

fn locations(call: &Invocation) -> Option<Value> {
    let path = call.path.as_ref()?;
    Some(json!([{ "path": path.to_string_lossy() }]))
}

/// A tool call runs.
pub(crate) fn tool_call_running(id: &str) -> Value {
    json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress" })
}

/// A tool call ended.
pub(crate) fn tool_call_ended(id: &str, output: &Output) -> Value {
    let content = match &output.change {
        Some(change) => diff(change),
        None => json!({ "type": "content", "content": { "type": "text", "text": output.text } }),
    };
    json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": id,
        "status": if output.failed { "failed" } else { "completed" },
        "content": [content],
        "rawOutput": { "output": output.text },
    })
}

fn diff(change: &Change) -> Value {
    let mut diff = Map::new();
    diff.insert("type".into(), "diff".into());
    diff.insert("path".into(), change.path.to_string_lossy().into());
    if let Some(old) = &change.old {
        diff.insert("oldText".into(), old.clone().into());
    }
    diff.insert("newText".into(), change.new.clone().into());
    Value::Object(diff)
}
