//! The `session/update` payloads, as they stand on the wire.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::client::Chunk;
use crate::modes::Mode;
use crate::options::Chosen;
use crate::slash;
use crate::surface::Parts;
use crate::tools::{Change, Invocation, Output};

/// The slash commands of a session: those of the surface, then the skills of the folder.
pub(crate) fn available_commands(parts: &Parts, cwd: &Path) -> Value {
    let mut commands: Vec<Value> = parts
        .commands
        .iter()
        .map(|command| match command.hint {
            Some(hint) => json!({
                "name": command.name,
                "description": command.description,
                "input": { "hint": hint },
            }),
            None => json!({ "name": command.name, "description": command.description }),
        })
        .collect();
    commands.extend(
        slash::skills(parts, cwd)
            .iter()
            .map(|skill| json!({ "name": skill.name, "description": skill.description })),
    );
    json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands })
}

/// A fragment of the agent's answer or thoughts.
pub(crate) fn chunk(chunk: &Chunk) -> Value {
    let kind = if chunk.is_thought {
        "agent_thought_chunk"
    } else {
        "agent_message_chunk"
    };
    message(kind, &chunk.text, chunk.message.as_deref())
}

/// What the user said, whole, as a replay shows it.
pub(crate) fn user_text(text: &str, message_id: Option<&str>) -> Value {
    message("user_message_chunk", text, message_id)
}

fn message(kind: &str, text: &str, message_id: Option<&str>) -> Value {
    let mut update = Map::new();
    update.insert("sessionUpdate".into(), kind.into());
    if let Some(id) = message_id {
        update.insert("messageId".into(), id.into());
    }
    update.insert("content".into(), json!({ "type": "text", "text": text }));
    Value::Object(update)
}

/// The mode was changed by the agent.
pub(crate) fn current_mode(mode: Mode) -> Value {
    json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode.id() })
}

/// The options, all of them.
pub(crate) fn config_options(chosen: &Chosen, booleans: bool) -> Value {
    json!({
        "sessionUpdate": "config_option_update",
        "configOptions": chosen.options(booleans),
    })
}

/// The plan, all of it.
pub(crate) fn plan(entries: &[Value]) -> Value {
    json!({ "sessionUpdate": "plan", "entries": entries })
}

/// The session got a title.
pub(crate) fn session_info(title: &str, updated: &str) -> Value {
    json!({ "sessionUpdate": "session_info_update", "title": title, "updatedAt": updated })
}

/// How much of the model's window is taken; a `size` of 0 is one that is not known.
pub(crate) fn usage(used: u64, size: u64, cost: Option<f64>) -> Value {
    let mut update = Map::new();
    update.insert("sessionUpdate".into(), "usage_update".into());
    update.insert("used".into(), used.into());
    update.insert("size".into(), size.into());
    if let Some(amount) = cost {
        update.insert(
            "cost".into(),
            json!({ "amount": amount, "currency": "USD" }),
        );
    }
    Value::Object(update)
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

/// A tool call runs in a terminal of the client's.
pub(crate) fn tool_call_in_terminal(id: &str, terminal: &str) -> Value {
    json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": id,
        "content": [{ "type": "terminal", "terminalId": terminal }],
    })
}

/// A tool call ended.
pub(crate) fn tool_call_ended(id: &str, output: &Output) -> Value {
    let content = match (&output.change, &output.terminal) {
        (Some(change), _) => diff(change),
        (None, Some(terminal)) => json!({ "type": "terminal", "terminalId": terminal }),
        (None, None) => {
            json!({ "type": "content", "content": { "type": "text", "text": output.text } })
        }
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
