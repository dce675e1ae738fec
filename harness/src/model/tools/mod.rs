//! A call by its meaning becomes a call of a tool that the agent offers: by its profile, or by the tool's name, what it
//! says about itself, and its schema.
//!
//! `known` has the tables, `place` finds the parameters, `parts` writes what goes into them, `schema` reads and fills
//! JSON Schemas, `given` follows a profile, `mcp` finds tools of MCP servers. `meaning` goes the other way: from a call of a
//! tool to its kind.

mod given;
mod known;
mod mcp;
mod meaning;
mod names;
mod parts;
mod place;
mod schema;

use std::path::Path;

use serde_json::{Map, Value, json};

use super::asked::Tool;
use super::script::Call;
use super::tool_map::ToolMap;
use known::Kind;
pub(crate) use mcp::is_offered as is_mcp_offered;
pub(crate) use meaning::{meaning, of_kind};
use parts::{Parts, in_folder};
use place::{Placed, Sign, Target};
pub(crate) use schema::filled;

/// A call of one of the agent's tools.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mapped {
    /// The tool.
    pub(crate) name: String,
    /// Its arguments, as JSON; plain text for a tool that takes that.
    pub(crate) arguments: String,
}

/// Maps a call to a tool that is offered.
///
/// A call with `tool` is sent as it is, offered or not, with `{cwd}` in its strings replaced. A call with `kind` goes
/// to the tool that the profile names, else to the best that is offered whose parameters can carry it, else, as a
/// command line, to the tool that runs commands. One that cannot be mapped gives way to the call in its `or`.
///
/// # Errors
/// One sentence that says what was wanted and why it could not be.
pub(crate) fn mapped(
    call: &Call,
    offered: &[Tool],
    map: &ToolMap,
    folder: Option<&Path>,
) -> Result<Mapped, String> {
    match (by_itself(call, offered, map, folder), &call.or) {
        (Err(wanted), Some(other)) => {
            mapped(other, offered, map, folder).map_err(|other| format!("{wanted}; or {other}"))
        }
        (mapped, _) => mapped,
    }
}

fn by_itself(
    call: &Call,
    offered: &[Tool],
    map: &ToolMap,
    folder: Option<&Path>,
) -> Result<Mapped, String> {
    if let Some(name) = &call.tool {
        let arguments = with_folder(&Value::Object(call.arguments.clone()), folder);
        return Ok(Mapped {
            name: name.clone(),
            arguments: arguments.to_string(),
        });
    }
    if let Some(wanted) = &call.mcp {
        let found = mcp::called(wanted, &call.arguments, offered);
        return found
            .ok_or_else(|| format!("the tool `{wanted}` of an MCP server, but it is not offered"));
    }
    if let Some(problem) = call.problem() {
        return Err(problem);
    }
    let wanted = call.kind.as_deref().unwrap_or_default();
    let Some(kind) = known::TABLE.iter().find(|kind| kind.name == wanted) else {
        return Err(format!("a call of kind `{wanted}`, which is not known"));
    };
    let served = given::called(kind, call, offered, map, folder)
        .or_else(|| by_meaning(kind, call, offered, folder))
        .or_else(|| by_command(kind, call, offered, map, folder));
    served.ok_or_else(|| match offered.is_empty() {
        true => format!("a call of kind `{wanted}`, but the agent offered no tools"),
        false => format!("a call of kind `{wanted}`, but no tool that was offered takes one"),
    })
}

/// The call of the best tool for a kind that can carry it.
fn by_meaning(kind: &Kind, call: &Call, offered: &[Tool], folder: Option<&Path>) -> Option<Mapped> {
    let parts = Parts::of(call);
    let fitting = offered.iter().enumerate().filter_map(|(place, tool)| {
        let (arguments, sign) = arguments(kind, &parts, tool, folder)?;
        let rank = rank(kind, tool, sign)?;
        Some(((rank, sign, place), tool, arguments))
    });
    let (_, tool, arguments) = fitting.min_by_key(|(order, _, _)| *order)?;
    Some(Mapped {
        name: tool.name.clone(),
        arguments,
    })
}

/// Does by a command line what no tool of the agent's does.
fn by_command(
    kind: &Kind,
    call: &Call,
    offered: &[Tool],
    map: &ToolMap,
    folder: Option<&Path>,
) -> Option<Mapped> {
    let execute = known::TABLE.iter().find(|other| other.name == "execute")?;
    let rows = known::SHELL.iter().filter(|(name, ..)| *name == kind.name);
    let line = rows
        .filter_map(|(_, form, line)| Parts::of(call).command_line(form, line, folder))
        .next()?;
    let call = Call {
        kind: Some(execute.name.to_owned()),
        command: Some(line),
        ..Call::default()
    };
    given::called(execute, &call, offered, map, folder)
        .or_else(|| by_meaning(execute, &call, offered, folder))
}

/// What carries the call to this tool, and how its parameters were found; `None` where the tool cannot take it.
fn arguments(
    kind: &Kind,
    parts: &Parts<'_>,
    tool: &Tool,
    folder: Option<&Path>,
) -> Option<(String, Sign)> {
    if tool.freeform {
        let text = kind
            .forms
            .iter()
            .find_map(|form| parts.freeform(form, folder))?;
        return Some((text, Sign::Name));
    }
    let target = Target {
        description: &tool.description,
        root: &tool.schema,
        folder,
    };
    let Placed {
        mut arguments,
        sign,
    } = place::placed(kind, parts, target)?;
    if kind.name == "execute" {
        ask(&mut arguments, &tool.schema);
    }
    Some((Value::Object(arguments).to_string(), sign))
}

/// How well a tool serves a kind, the less the better; `None` where nothing says that it does.
fn rank(kind: &Kind, tool: &Tool, sign: Sign) -> Option<usize> {
    let listed = kind
        .tools
        .iter()
        .position(|name| names::same(&tool.name, name));
    if listed.is_some() {
        return listed;
    }
    let name = names::words(&tool.name);
    let sentence = tool
        .description
        .split(['.', '\n'])
        .next()
        .unwrap_or_default();
    let sentence = names::words(sentence);
    let doubtful = names::among(&name, kind.against);
    let last = kind.tools.len();
    if names::among(&name, kind.words) && sign < Sign::Alone && !doubtful {
        return Some(last);
    }
    if !doubtful && place::has_operation(kind, &tool.schema, &tool.schema) {
        return Some(last + 2);
    }
    if names::among(&sentence, kind.does) && names::among(&sentence, kind.with) && !doubtful {
        let clear = !names::among(&sentence, kind.against);
        return Some(if clear { last + 1 } else { last + 3 });
    }
    if names::among(&name, kind.words) {
        return Some(last + 4);
    }
    (sign == Sign::Name && !doubtful && shaped(kind, tool)).then_some(last + 5)
}

/// Whether the parameters alone show what a tool does.
fn shaped(kind: &Kind, tool: &Tool) -> bool {
    let Some(properties) = schema::properties(&tool.schema, &tool.schema) else {
        return false;
    };
    let of_a_reader = |name: &String| {
        let words = names::words(name);
        words
            .iter()
            .any(|word| known::OF_READERS.contains(&word.as_str()))
    };
    match kind.name {
        "execute" | "edit" | "fetch" => schema::required(&tool.schema).len() <= 3,
        "read" => properties.iter().all(|(name, property)| {
            // An object in the place of a path has the path in it.
            match schema::properties(property, &tool.schema) {
                Some(inner) => inner.keys().all(of_a_reader),
                None => of_a_reader(name),
            }
        }),
        _ => false,
    }
}

/// Makes a command one that is asked about, where the tool's parameters can say so.
fn ask(arguments: &mut Map<String, Value>, schema: &Value) {
    let Some(properties) = schema::properties(schema, schema) else {
        return;
    };
    let mut asks = false;
    for (name, values) in known::ASKING {
        let Some(property) = properties.get(*name) else {
            continue;
        };
        let property = schema::resolved(property, schema);
        let allowed = property.get("enum").and_then(Value::as_array);
        let fits = |value: &&&str| allowed.is_none_or(|allowed| allowed.contains(&json!(value)));
        let value = match schema::kind_of(property) {
            "boolean" => json!(true),
            _ => match values.iter().find(fits) {
                Some(value) => json!(value),
                None => continue,
            },
        };
        arguments.insert((*name).to_owned(), value);
        asks = true;
    }
    if asks && properties.contains_key(known::WHY) {
        arguments.insert(known::WHY.to_owned(), json!(schema::SENTENCE));
    }
}

/// The same value with `{cwd}` in its strings replaced.
fn with_folder(value: &Value, folder: Option<&Path>) -> Value {
    mapped_strings(value, &|text| Some(in_folder(text, folder))).unwrap_or(Value::Null)
}

/// The same value with each of its strings replaced; `None` if one has no replacement.
fn mapped_strings(value: &Value, replace: &dyn Fn(&str) -> Option<String>) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(replace(text)?),
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| mapped_strings(item, replace))
                .collect::<Option<_>>()?,
        ),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, value)| Some((name.clone(), mapped_strings(value, replace)?)))
                .collect::<Option<_>>()?,
        ),
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests;
