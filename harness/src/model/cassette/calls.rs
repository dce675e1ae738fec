//! Recorded calls, for the tools that are offered now.

use serde_json::{Map, Value, json};

use crate::model::asked::Tool;
use crate::model::interface::SaidCall;
use crate::model::script::{Call, Calls, Reply};
use crate::model::tools::meaning;

/// A recorded call as it was made.
pub(super) fn recorded(call: SaidCall) -> Call {
    // Plain text, for a tool that takes that, becomes the only argument.
    let arguments = match call.freeform {
        true => Map::from_iter([("input".to_owned(), json!(call.arguments))]),
        false => serde_json::from_str(&call.arguments).unwrap_or_default(),
    };
    Call {
        tool: Some(call.name),
        arguments,
        ..Call::default()
    }
}

/// Puts live folders into the arguments of calls.
pub(super) fn put_in(reply: &mut Reply, live: impl Fn(&str) -> String) {
    for call in calls(reply) {
        let text = Value::Object(std::mem::take(&mut call.arguments)).to_string();
        call.arguments = serde_json::from_str(&live(&text)).unwrap_or_default();
    }
}

/// A recorded reply with its calls for the tools that are offered now. A tool that takes what was recorded gets it as it is;
/// for another the call is told by its meaning, from which the agent's own tool is found. What has no meaning that is known
/// stays as it was: the agent says what it does with a tool that it has not.
pub(super) fn fitted(reply: &Reply, recorded: &[Tool], offered: &[Tool]) -> Reply {
    let mut reply = reply.clone();
    for call in calls(&mut reply) {
        let Some(name) = &call.tool else { continue };
        let takes = |tool: &Tool| tool.name == *name && takes(tool, recorded, call);
        if !offered.iter().any(takes)
            && let Some(meaning) = meaning(name, &call.arguments)
        {
            *call = Call {
                or: Some(Box::new(call.clone())),
                ..meaning
            };
        }
    }
    reply
}

/// The commands that a recorded reply calls for.
pub(super) fn commands(reply: &Reply) -> Vec<String> {
    let mut reply = reply.clone();
    let calls = calls(&mut reply).iter();
    let told = calls.filter_map(|call| meaning(call.tool.as_deref()?, &call.arguments)?.command);
    told.collect()
}

/// Whether a tool of the same name takes what was recorded: it is the same tool, or has all the parameters.
fn takes(tool: &Tool, recorded: &[Tool], call: &Call) -> bool {
    if recorded
        .iter()
        .any(|it| it.name == tool.name && it.schema == tool.schema)
    {
        return true;
    }
    let members = |name: &str| tool.schema.get(name);
    let known = members("properties").and_then(Value::as_object);
    let required = members("required").and_then(Value::as_array);
    let all_known =
        known.is_none_or(|known| call.arguments.keys().all(|name| known.contains_key(name)));
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    all_known && required.all(|name| call.arguments.contains_key(name))
}

fn calls(reply: &mut Reply) -> &mut [Call] {
    match &mut reply.call {
        Some(Calls::Many(calls)) => calls.as_mut_slice(),
        Some(Calls::One(call)) => std::slice::from_mut(call),
        None => &mut [],
    }
}
