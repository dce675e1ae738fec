//! Reading `[[step]]`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::{condition, inside, model::LONGEST_WAIT, replies};
use crate::mcp::Wanted;
use crate::scenario::file::{
    Action, Params, Permission, RawInput, Requests, Split, Step, ToolState, Until,
};
use crate::source::{Field, Problem, Table};

/// The session that a step is about where it names none.
pub(super) const MAIN: &str = "main";

/// So many sessions a step opens at most.
const MOST_SESSIONS: u64 = 1000;

const ACTIONS: [&str; 27] = [
    "initialize",
    "authenticate",
    "logout",
    "new",
    "load",
    "resume",
    "list",
    "close",
    "delete",
    "set_mode",
    "set_config_option",
    "prompt",
    "cancel",
    "request",
    "notify",
    "cancel_request",
    "send",
    "wait",
    "until",
    "release",
    "answer",
    "finish",
    "close_stdin",
    "restart",
    "signal",
    "write",
    "touch",
];

const OPTIONS: [&str; 17] = [
    "name",
    "session",
    "as",
    "times",
    "await",
    "permission",
    "requests",
    "replies",
    "elicitation",
    "optional",
    "probe",
    "id",
    "within",
    "meta",
    "require",
    "expect",
    "note",
];

const PERMISSIONS: [(&str, Permission); 10] = [
    ("allow_once", Permission::AllowOnce),
    ("allow_always", Permission::AllowAlways),
    ("reject_once", Permission::RejectOnce),
    ("reject_always", Permission::RejectAlways),
    ("cancelled", Permission::Cancelled),
    ("error", Permission::Error),
    ("request_cancelled", Permission::RequestCancelled),
    ("unoffered", Permission::Unoffered),
    ("unknown_outcome", Permission::UnknownOutcome),
    ("hold", Permission::Hold),
];

const TOOL_STATES: [(&str, ToolState); 5] = [
    ("any", ToolState::Any),
    ("pending", ToolState::Pending),
    ("in_progress", ToolState::InProgress),
    ("completed", ToolState::Completed),
    ("failed", ToolState::Failed),
];

/// One step, as it is written.
pub(super) fn step(
    field: &Field<'_>,
    covers: &[String],
    servers: &[Wanted],
) -> Result<Step, Problem> {
    let table = field.free_table()?;
    table.only(&[("an action: ", &ACTIONS), ("an option: ", &OPTIONS)])?;
    let mut actions = table.fields().filter(|field| ACTIONS.contains(&field.name));
    let first = actions.next().ok_or_else(|| {
        table
            .problem("the step does nothing")
            .help(format!("give it exactly one of `{}`", ACTIONS.join("`, `")))
    })?;
    if let Some(second) = actions.next() {
        return Err(second
            .problem(format!(
                "the step does two things, `{}` and `{}`",
                first.name, second.name
            ))
            .help("give each a `[[step]]` of its own"));
    }
    let session = table
        .maybe("session", |field| field.filled())?
        .unwrap_or(MAIN)
        .to_owned();
    let opens = table
        .maybe("as", |field| field.filled())?
        .unwrap_or(&session)
        .to_owned();
    let times = table
        .maybe("times", |field| field.count(1..=MOST_SESSIONS))?
        .unwrap_or(1);
    let action = action(&first, opens, times)?;
    options(&table, &action)?;
    let permission = match table.get("permission") {
        Some(field) => field
            .one_or_more()
            .iter()
            .map(|item| item.word(&PERMISSIONS))
            .collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let awaited = table
        .maybe("await", |field| field.boolean())?
        .unwrap_or(true);
    let scope = condition::Scope {
        covers,
        action: &action,
        awaited,
        servers,
    };
    Ok(Step {
        position: table.position(),
        implied: false,
        name: table
            .maybe("name", |field| field.filled())?
            .map(str::to_owned),
        session,
        awaited,
        permission,
        requests: table
            .maybe("requests", |field| {
                field.word(&[("serve", Requests::Serve), ("refuse", Requests::Refuse)])
            })?
            .unwrap_or_default(),
        replies: replies::replies(&table)?,
        optional: table.flag("optional")?,
        probe: table
            .maybe("probe", |field| field.filled())?
            .map(str::to_owned),
        id: table.maybe("id", |field| field.json())?,
        within: table.maybe("within", |field| field.positive())?,
        meta: table.maybe("meta", |field| field.object())?,
        require: condition::entries(&table, "require", &scope)?,
        expect: condition::entries(&table, "expect", &scope)?,
        note: condition::entries(&table, "note", &scope)?,
        action,
    })
}

/// Refuses options that mean nothing for the action.
fn options(table: &Table<'_>, action: &Action) -> Result<(), Problem> {
    let request = action.is_request();
    let raw = matches!(action, Action::Send(_));
    let notification = matches!(
        action,
        Action::Notify { .. } | Action::Cancel(_) | Action::CancelRequest(_)
    );
    for field in table.fields() {
        let fits = match field.name {
            "as" | "times" => matches!(action, Action::New { .. }),
            "await" | "permission" | "requests" | "replies" | "elicitation" | "id" => {
                request || raw
            }
            "optional" => request,
            "probe" => request || raw || notification,
            "within" => request || raw || matches!(action, Action::Until(_) | Action::Finish(_)),
            "meta" => request || notification,
            _ => true,
        };
        if !fits {
            return Err(field.problem(format!(
                "`{}` means nothing for `{}`",
                field.name,
                action.key()
            )));
        }
    }
    Ok(())
}

fn action(field: &Field<'_>, opens: String, times: u64) -> Result<Action, Problem> {
    Ok(match field.name {
        "initialize" => Action::Initialize(params(field)?),
        "authenticate" => Action::Authenticate(params(field)?),
        "logout" => Action::Logout(params(field)?),
        "new" => Action::New {
            params: params(field)?,
            opens,
            times,
        },
        "load" => Action::Load(params(field)?),
        "resume" => Action::Resume(params(field)?),
        "list" => Action::List(params(field)?),
        "close" => Action::Close(params(field)?),
        "delete" => Action::Delete(params(field)?),
        "set_mode" => Action::SetMode(params(field)?),
        "set_config_option" => Action::SetConfigOption(params(field)?),
        "prompt" => Action::Prompt(prompt(field)?),
        "cancel" => Action::Cancel(params(field)?),
        "request" => {
            let (method, params) = message(field)?;
            Action::Request { method, params }
        }
        "notify" => {
            let (method, params) = message(field)?;
            Action::Notify { method, params }
        }
        "cancel_request" => Action::CancelRequest(field.filled()?.to_owned()),
        "send" => Action::Send(raw(field)?),
        "wait" => Action::Wait(field.count(1..=LONGEST_WAIT)?),
        "until" => Action::Until(until(field)?),
        "release" => field.on().map(|()| Action::Release)?,
        "answer" => match field.word(&PERMISSIONS)? {
            Permission::Hold => {
                return Err(
                    field.problem("a permission that is held cannot be answered with `hold`")
                );
            }
            answer => Action::Answer(answer),
        },
        "finish" => Action::Finish(field.filled()?.to_owned()),
        "close_stdin" => field.on().map(|()| Action::CloseStdin)?,
        "restart" => field.on().map(|()| Action::Restart)?,
        "signal" => {
            let words = [
                ("TERM", "TERM"),
                ("INT", "INT"),
                ("HUP", "HUP"),
                ("KILL", "KILL"),
            ];
            Action::Signal(field.word(&words)?.to_owned())
        }
        _ => {
            let table = field.table(&["path", "text"])?;
            let path = table.need("path")?;
            Action::Write {
                path: inside(&path, path.string()?)?,
                text: table
                    .maybe("text", |text| text.string())?
                    .unwrap_or_default()
                    .to_owned(),
            }
        }
    })
}

/// Parameters: a table, exact JSON, or `true` for nothing but the implied ones.
fn params(field: &Field<'_>) -> Result<Params, Problem> {
    if field.on().is_ok() {
        return Ok(Params::Over(Map::new()));
    }
    match field.exact()? {
        Some(text) => Ok(Params::Exact(text)),
        None if field.free_table().is_ok() => field.object().map(Params::Over),
        None => Err(field.wanted("a table of parameters").help(
            "write the members that differ, `true` for none, or all parameters as `{ json = '…' }`",
        )),
    }
}

fn message(field: &Field<'_>) -> Result<(String, Option<Params>), Problem> {
    let table = field.table(&["method", "params"])?;
    Ok((
        table.need("method")?.string()?.to_owned(),
        table.maybe("params", |field| params(&field))?,
    ))
}

fn prompt(field: &Field<'_>) -> Result<Vec<Value>, Problem> {
    let block = |text: String| json!({ "type": "text", "text": text });
    if let Ok(text) = field.string() {
        return Ok(vec![block(text.to_owned())]);
    }
    if field.list().is_ok() || field.exact()?.is_some() {
        return match field.json()? {
            Value::Array(blocks) => Ok(blocks
                .into_iter()
                .map(|item| match item {
                    Value::String(text) => block(text),
                    other => other,
                })
                .collect()),
            _ => Err(field.problem("a prompt is a list of content blocks")),
        };
    }
    if field.free_table().is_err() {
        return Err(field
            .wanted("a text")
            .help("or a list of content blocks, or `{ repeat = \"text\", times = N }`"));
    }
    let table = field.table(&["repeat", "times"])?;
    let text = table.need("repeat")?.string()?;
    let times = table.need("times")?;
    let most = (16 * 1024 * 1024 / text.len().max(1)) as u64;
    let times = usize::try_from(times.count(1..=most)?).unwrap_or_default();
    Ok(vec![block(text.repeat(times))])
}

fn raw(field: &Field<'_>) -> Result<RawInput, Problem> {
    let lines = |field: &Field<'_>| {
        Ok(field
            .string_or_strings()?
            .into_iter()
            .map(String::into_bytes)
            .collect())
    };
    if field.string().is_ok() || field.list().is_ok() {
        return Ok(RawInput {
            lines: lines(field)?,
            newline: true,
            split: Split::default(),
        });
    }
    let table = field.table(&["text", "base64", "newline", "split"])?;
    let lines = match (table.get("text"), table.get("base64")) {
        (Some(text), None) => lines(&text)?,
        (None, Some(encoded)) => {
            let bytes = STANDARD
                .decode(encoded.string()?)
                .map_err(|error| encoded.problem(format!("`base64` cannot be decoded: {error}")))?;
            vec![bytes]
        }
        _ => return Err(table.problem("`send` has either `text` or `base64`")),
    };
    let words = [
        ("lines", Split::Lines),
        ("bytes", Split::Bytes),
        ("one-write", Split::OneWrite),
    ];
    Ok(RawInput {
        lines,
        newline: table
            .maybe("newline", |field| field.boolean())?
            .unwrap_or(true),
        split: table
            .maybe("split", |field| field.word(&words))?
            .unwrap_or_default(),
    })
}

fn until(field: &Field<'_>) -> Result<Until, Problem> {
    const STATES: [&str; 7] = [
        "text",
        "update",
        "tool",
        "permission",
        "held",
        "request",
        "file",
    ];
    let table = field.table(&STATES)?;
    let mut states = table.fields();
    let (Some(state), None) = (states.next(), states.next()) else {
        return Err(table.problem(format!(
            "`until` waits for exactly one of `{}`",
            STATES.join("`, `")
        )));
    };
    Ok(match state.name {
        "text" => Until::Text(state.count(1..=1_000_000)?),
        "update" => Until::Update(state.filled()?.to_owned()),
        "tool" => Until::Tool(state.word(&TOOL_STATES)?),
        "permission" => state.on().map(|()| Until::Permission)?,
        "held" => state.on().map(|()| Until::Held)?,
        "file" => Until::File(inside(&state, state.filled()?)?),
        _ => Until::Request(state.filled()?.to_owned()),
    })
}
