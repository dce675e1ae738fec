//! What holds between the parts of a file: names that are referred to, states that can be reached.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::condition::is_id;
use crate::mcp::Wanted;
use crate::model::script::Script;
use crate::scenario::file::placeholder::{Part, Placeholder, parts};
use crate::scenario::file::{Action, Condition, Permission, Step, ToolCallCondition, Until};
use crate::source::{Field, Node, Problem, Source, Table, Value};

/// Checks the steps of a file against each other and against the model's script.
pub(super) fn check(
    table: &Table<'_>,
    steps: &[(Step, Option<Field<'_>>)],
    model: &Script,
    servers: &[Wanted],
) -> Result<(), Problem> {
    settings(table)?;
    let prompted = |name: &String| steps.iter().any(|(step, _)| step.session == *name);
    let mut sessions = model.iter().filter_map(|reply| reply.session.as_ref());
    if let Some(name) = sessions.find(|name| !prompted(name)) {
        let message = format!("a reply is for the session `{name}`, which no step is about");
        return Err(at(None, table, "model", message));
    }
    let mut names: BTreeMap<&str, &Step> = BTreeMap::new();
    let mut finished = BTreeSet::new();
    let mut held = false;
    for (step, field) in steps {
        if let Some(field) = field {
            references(step, field, &names, &mut finished)?;
            named_servers(field, servers)?;
            states(step, field, held, model)?;
        }
        held |= step.permission.contains(&Permission::Hold);
        if let Some(name) = &step.name
            && names.insert(name, step).is_some()
        {
            return Err(at(
                field.as_ref(),
                table,
                "name",
                format!("another step has the name `{name}`"),
            ));
        }
    }
    Ok(())
}

/// Placeholders outside the steps: only folders are known before the first one.
fn settings(table: &Table<'_>) -> Result<(), Problem> {
    for field in table.fields().filter(|field| field.name != "step") {
        for (span, placeholder) in placeholders(&field)? {
            let early = matches!(placeholder, Placeholder::Cwd | Placeholder::Home)
                && field.name == "model";
            if !early {
                let message = format!(
                    "`{}` cannot be filled in here",
                    field.source.text.get(span.clone()).unwrap_or("this")
                );
                return Err(field.source.problem(&span, message).help(
                    "outside of `[[step]]` there are only the variables of `[[each]]`, and `{{cwd}}` and `{{home}}` in `[[model]]`",
                ));
            }
        }
    }
    Ok(())
}

/// The names that a step refers to.
fn references<'a>(
    step: &'a Step,
    field: &Field<'_>,
    names: &BTreeMap<&str, &Step>,
    finished: &mut BTreeSet<&'a str>,
) -> Result<(), Problem> {
    let known = |name: &str, key: &str| {
        names.get(name).copied().ok_or_else(|| {
            let all = names.keys().copied().collect::<Vec<_>>().join("`, `");
            at_key(
                field,
                key,
                format!("no step before this one is named `{name}`"),
            )
            .help(if all.is_empty() {
                "no step has a name yet".to_owned()
            } else {
                format!("there are `{all}`")
            })
            .guess(name, names.keys().copied())
        })
    };
    match &step.action {
        Action::Finish(name) => {
            let earlier = known(name, "finish")?;
            if earlier.awaited {
                return Err(at_key(
                    field,
                    "finish",
                    format!("the answer of `{name}` has been awaited already"),
                )
                .help("write `await = false` in that step"));
            }
            if !finished.insert(name.as_str()) {
                return Err(at_key(
                    field,
                    "finish",
                    format!("`{name}` has been finished already"),
                ));
            }
        }
        Action::CancelRequest(name) => {
            let earlier = known(name, "cancel_request")?;
            if !(earlier.action.is_request() || earlier.id.is_some()) {
                let key = earlier.action.key();
                return Err(at_key(
                    field,
                    "cancel_request",
                    format!("the step `{name}` sends no request: it is a `{key}`"),
                ));
            }
        }
        _ => {}
    }
    let expects = step.require.iter().chain(&step.expect).chain(&step.note);
    for condition in expects.flat_map(|expect| &expect.conditions) {
        if let Condition::ToolCall(ToolCallCondition {
            same: Some(name), ..
        }) = condition
            && !matches!(known(name, "expect")?.action, Action::Prompt(_))
        {
            let message = format!("the step `{name}` has no turn to be compared with");
            return Err(at_key(field, "expect", message));
        }
    }
    for (span, placeholder) in placeholders(field)? {
        if let Placeholder::Result { step: name, .. } = &placeholder
            && !names
                .get(name.as_str())
                .is_some_and(|earlier| earlier.action.is_request())
        {
            return Err(field
                .source
                .problem(
                    &span,
                    format!("no step before this one is named `{name}` and has a result"),
                )
                .help(format!(
                    "there are `{}`",
                    names
                        .iter()
                        .filter(|(_, step)| step.action.is_request())
                        .map(|(name, _)| *name)
                        .collect::<Vec<_>>()
                        .join("`, `")
                )));
        }
    }
    if let Some(id) = &step.id
        && !is_id(id)
        && step.probe.is_none()
        && !matches!(step.action, Action::Send(_))
    {
        return Err(at_key(
            field,
            "id",
            "a request id is a string, a number or null".to_owned(),
        )
        .help("to send another one on purpose, say what is wrong in `probe`"));
    }
    Ok(())
}

/// The MCP servers that a step names.
fn named_servers(field: &Field<'_>, servers: &[Wanted]) -> Result<(), Problem> {
    for (span, placeholder) in placeholders(field)? {
        if let Placeholder::Mcp(name) = &placeholder
            && !servers.iter().any(|server| server.name == *name)
        {
            let message = format!("there is no MCP server `{name}`");
            return Err(field
                .source
                .problem(&span, message)
                .help("write an `[[mcp]]` with that `name`")
                .guess(name, servers.iter().map(|server| server.name.as_str())));
        }
    }
    Ok(())
}

/// The states that a step waits for or ends.
fn states(step: &Step, field: &Field<'_>, held: bool, model: &Script) -> Result<(), Problem> {
    let holds = model.iter().any(|reply| reply.hold);
    match &step.action {
        Action::Release if !holds => {
            Err(
                at_key(field, "release", "no reply of the model is held".to_owned())
                    .help("write `hold = true` in the `[[model]]` that is to be released"),
            )
        }
        Action::Until(Until::Held) if !holds => {
            Err(
                at_key(field, "until", "no reply of the model is held".to_owned())
                    .help("write `hold = true` in the `[[model]]` that is waited for"),
            )
        }
        Action::Answer(_) if !held => Err(at_key(
            field,
            "answer",
            "no permission is held open by a step before this one".to_owned(),
        )
        .help("write `permission = \"hold\"` in the step that makes the agent ask")),
        _ => Ok(()),
    }
}

/// The placeholders in all strings of a value, each with its string's place.
pub(super) fn placeholders(field: &Field<'_>) -> Result<Vec<(Range<usize>, Placeholder)>, Problem> {
    let mut found = Vec::new();
    collect(field.source, field.node, &mut found)?;
    Ok(found)
}

fn collect(
    source: &Source,
    node: &Node,
    found: &mut Vec<(Range<usize>, Placeholder)>,
) -> Result<(), Problem> {
    match &node.value {
        Value::String(text) => {
            for part in parts(text) {
                let Part::Name(name) = part else { continue };
                let placeholder = Placeholder::parse(name).ok_or_else(|| {
                    source
                        .problem(&node.span, format!("unknown placeholder `{{{{{name}}}}}`"))
                        .help(format!(
                            "expected a variable of `[[each]]` or one of {}",
                            Placeholder::FORMS
                        ))
                })?;
                found.push((node.span.clone(), placeholder));
            }
        }
        Value::List(items) => {
            for item in items {
                collect(source, item, found)?;
            }
        }
        Value::Table(entries) => {
            for entry in entries {
                collect(source, &entry.node, found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// A problem at a member of a step.
fn at_key(field: &Field<'_>, key: &str, message: String) -> Problem {
    match field.free_table().ok().and_then(|table| table.get(key)) {
        Some(member) => member.problem(message),
        None => field.problem(message),
    }
}

/// A problem at a member of a step, or at the whole file for a step that is not written.
fn at(field: Option<&Field<'_>>, table: &Table<'_>, key: &str, message: String) -> Problem {
    match field {
        Some(field) => at_key(field, key, message),
        None => table.problem(message),
    }
}
