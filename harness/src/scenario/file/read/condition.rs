//! Reading `expect` and `note`.

use serde_json::Value;

use super::inside;
use crate::mcp::{Transport, Wanted};
use crate::scenario::file::{
    Action, Answer, Condition, Count, ErrorCondition, ExitCondition, Expect, JsonType,
    McpCondition, ModelCondition, Otherwise, Pattern, TextCondition, ToolCallCondition,
    UpdatesCondition, WorkspaceCondition,
};
use crate::source::{Field, Problem, Table, Value as Written};
use crate::spec::{TOOL_KINDS, TOOL_STATUSES};

const CONDITIONS: [&str; 16] = [
    "answer",
    "result",
    "error",
    "text",
    "workspace",
    "toolCall",
    "updates",
    "permissions",
    "messages",
    "alive",
    "exit",
    "left",
    "model",
    "mcp",
    "within",
    "any",
];

const OPTIONS: [&str; 4] = ["for", "otherwise", "why", "to"];

/// What makes a table a test of a value instead of an object with these members.
const OPERATORS: [&str; 7] = ["any_of", "not", "type", "contains", "absent", "min", "max"];

/// What an expectation stands in.
pub(super) struct Scope<'a> {
    /// The requirements of the scenario.
    pub(super) covers: &'a [String],
    /// What the step does.
    pub(super) action: &'a Action,
    /// Whether the step awaits an answer, if it gets one.
    pub(super) awaited: bool,
    /// The MCP servers of the scenario.
    pub(super) servers: &'a [Wanted],
}

impl Scope<'_> {
    /// Whether an answer is there when the expectation is judged; otherwise why not.
    fn has_answer(&self) -> Result<(), String> {
        let key = self.action.key();
        match self.action {
            Action::Finish(_) => Ok(()),
            action if !action.is_request() && !matches!(action, Action::Send(_)) => {
                Err(format!("`{key}` has none"))
            }
            _ if self.awaited => Ok(()),
            _ => {
                Err("this step does not await one: expect it in the step with `finish`".to_owned())
            }
        }
    }
}

/// The entries of `expect` or `note`: one table, or several.
pub(super) fn entries(
    step: &Table<'_>,
    name: &str,
    scope: &Scope<'_>,
) -> Result<Vec<Expect>, Problem> {
    match step.get(name) {
        Some(field) => field
            .one_or_more()
            .iter()
            .map(|entry| expect(entry, name, scope))
            .collect(),
        None => Ok(Vec::new()),
    }
}

fn expect(field: &Field<'_>, name: &str, scope: &Scope<'_>) -> Result<Expect, Problem> {
    let Scope { covers, action, .. } = *scope;
    let table = field.free_table()?;
    table.only(&[("a condition: ", &CONDITIONS), ("an option: ", &OPTIONS)])?;
    let mut judged = covers.to_vec();
    if let Some(field) = table.get("for") {
        judged = Vec::new();
        for item in field.one_or_more() {
            let id = item.string()?;
            judged.push(id.to_owned());
            if !covers.iter().any(|cover| cover == id) {
                return Err(item
                    .problem(format!("`{id}` is not among the `covers` of the scenario"))
                    .help(format!("it covers `{}`", covers.join("`, `"))));
            }
        }
        if judged.is_empty() {
            return Err(field.problem(
                "`for` must name a requirement; leave it out to mean all that the scenario covers",
            ));
        }
    }
    let to = table.get("to");
    if let Some(to) = to
        && !matches!(action, Action::Send(_))
    {
        return Err(
            to.problem("`to` belongs to a `send` step, where one text may hold several requests")
        );
    }
    let conditions = conditions(&table, scope)?;
    let otherwise: &[(&str, Otherwise)] = match name {
        "require" => &[
            ("inconclusive", Otherwise::Inconclusive),
            ("not-applicable", Otherwise::NotApplicable),
        ],
        _ => &[
            ("fail", Otherwise::Fail),
            ("inconclusive", Otherwise::Inconclusive),
        ],
    };
    Ok(Expect {
        position: table.position(),
        covers: judged,
        otherwise: table
            .maybe("otherwise", |field| field.word(otherwise))?
            .unwrap_or_default(),
        why: table
            .maybe("why", |field| field.filled())?
            .map(str::to_owned),
        to: to.map(|field| field.json()).transpose()?,
        conditions,
    })
}

/// The conditions in a table.
fn conditions(table: &Table<'_>, scope: &Scope<'_>) -> Result<Vec<Condition>, Problem> {
    let mut conditions = Vec::new();
    for field in table
        .fields()
        .filter(|field| CONDITIONS.contains(&field.name))
    {
        if field.name == "any" {
            conditions.push(any(&field, scope)?);
            continue;
        }
        if field.name == "mcp" {
            for field in field.one_or_more() {
                conditions.push(Condition::Mcp(mcp(&field, scope.servers)?));
            }
            continue;
        }
        let about_answer = matches!(field.name, "answer" | "result" | "error" | "within");
        if about_answer {
            scope.has_answer().map_err(|why| {
                field.problem(format!("`{}` is about an answer, and {why}", field.name))
            })?;
        }
        conditions.push(condition(&field)?);
    }
    if conditions.is_empty() {
        return Err(table.problem("nothing is expected here").help(format!(
            "write at least one of `{}`",
            CONDITIONS.join("`, `")
        )));
    }
    Ok(conditions)
}

/// Ways of which one must hold.
fn any(field: &Field<'_>, scope: &Scope<'_>) -> Result<Condition, Problem> {
    let ways = field
        .list()?
        .map(|way| {
            let table = way.free_table()?;
            table.only(&[("a condition: ", &CONDITIONS)])?;
            for field in table.fields() {
                if matches!(field.name, "exit" | "left" | "mcp") {
                    return Err(field.problem(format!(
                        "`{}` is waited for, so it stands alone and not in `any`",
                        field.name
                    )));
                }
            }
            conditions(&table, scope)
        })
        .collect::<Result<Vec<_>, _>>()?;
    if ways.len() < 2 {
        return Err(field.problem("`any` needs two tables at least, of which one must hold"));
    }
    Ok(Condition::Any(ways))
}

fn condition(field: &Field<'_>) -> Result<Condition, Problem> {
    let answers = [
        ("result", Answer::Result),
        ("error", Answer::Error),
        ("any", Answer::Any),
        ("none", Answer::None),
    ];
    Ok(match field.name {
        "answer" => Condition::Answer(field.word(&answers)?),
        "result" => Condition::Result(pattern(field)?),
        "error" => Condition::Error(error(field)?),
        "text" => Condition::Text(text(field)?),
        "workspace" => Condition::Workspace(workspace(field)?),
        "toolCall" => Condition::ToolCall(tool_call(field)?),
        "updates" => Condition::Updates(updates(field)?),
        "permissions" => Condition::Permissions(count(field)?),
        "messages" => Condition::Messages(count(field)?),
        "alive" => Condition::Alive(field.boolean()?),
        "exit" => Condition::Exit(exit(field)?),
        "left" => Condition::Left(count(field)?),
        "model" => Condition::Model(model(field)?),
        _ => Condition::Within(field.positive()?),
    })
}

/// A number, or a table with its limits.
fn count(field: &Field<'_>) -> Result<Count, Problem> {
    const MOST: std::ops::RangeInclusive<u64> = 0..=1_000_000;
    if field.integer().is_ok() {
        let number = field.count(MOST)?;
        return Ok(Count {
            min: Some(number),
            max: Some(number),
        });
    }
    if field.free_table().is_err() {
        return Err(field
            .wanted("a whole number")
            .help("or its limits, `{ min = N, max = N }`"));
    }
    let table = field.table(&["min", "max"])?;
    limits(&table)
}

fn limits(table: &Table<'_>) -> Result<Count, Problem> {
    const MOST: std::ops::RangeInclusive<u64> = 0..=1_000_000;
    let count = Count {
        min: table.maybe("min", |field| field.count(MOST))?,
        max: table.maybe("max", |field| field.count(MOST))?,
    };
    match (count.min, count.max) {
        (Some(min), Some(max)) if min > max => {
            Err(table.problem(format!("nothing is at least {min} and at most {max}")))
        }
        _ => Ok(count),
    }
}

/// `count`, or `min` and `max` beside other members.
fn counted(table: &Table<'_>) -> Result<Count, Problem> {
    match table.get("count") {
        Some(field) => count(&field),
        None => limits(table),
    }
}

fn strings(table: &Table<'_>, name: &str) -> Result<Vec<String>, Problem> {
    Ok(table
        .maybe(name, |field| field.string_or_strings())?
        .unwrap_or_default())
}

/// One or more of some words.
fn words(table: &Table<'_>, name: &str, words: &[&str]) -> Result<Vec<String>, Problem> {
    let words: Vec<(&str, &str)> = words.iter().map(|word| (*word, *word)).collect();
    let read = |field: Field<'_>| {
        field
            .one_or_more()
            .iter()
            .map(|item| item.word(&words).map(str::to_owned))
            .collect()
    };
    Ok(table.maybe(name, read)?.unwrap_or_default())
}

fn codes(table: &Table<'_>, name: &str) -> Result<Vec<i64>, Problem> {
    let read = |field: Field<'_>| field.one_or_more().iter().map(Field::integer).collect();
    Ok(table.maybe(name, read)?.unwrap_or_default())
}

fn error(field: &Field<'_>) -> Result<ErrorCondition, Problem> {
    let table = field.table(&["code", "not_code", "optional", "message", "data"])?;
    Ok(ErrorCondition {
        codes: codes(&table, "code")?,
        not_codes: codes(&table, "not_code")?,
        optional: table.flag("optional")?,
        message: table.maybe("message", |field| pattern(&field))?,
        data: table.maybe("data", |field| pattern(&field))?,
    })
}

fn text(field: &Field<'_>) -> Result<TextCondition, Problem> {
    let table = field.table(&["contains", "contains_once", "lacks", "empty"])?;
    Ok(TextCondition {
        contains: strings(&table, "contains")?,
        contains_once: strings(&table, "contains_once")?,
        lacks: strings(&table, "lacks")?,
        empty: table.maybe("empty", |field| field.boolean())?,
    })
}

fn workspace(field: &Field<'_>) -> Result<WorkspaceCondition, Problem> {
    let table = field.table(&["absent", "present", "contains"])?;
    let paths = |name: &str| match table.get(name) {
        Some(field) => field
            .one_or_more()
            .iter()
            .map(|item| inside(item, item.string()?))
            .collect(),
        None => Ok(Vec::new()),
    };
    let contains = |field: Field<'_>| {
        field
            .free_table()?
            .fields()
            .map(|file| Ok((inside(&file, file.name)?, file.string()?.to_owned())))
            .collect()
    };
    Ok(WorkspaceCondition {
        absent: paths("absent")?,
        present: paths("present")?,
        contains: table.maybe("contains", contains)?.unwrap_or_default(),
    })
}

fn tool_call(field: &Field<'_>) -> Result<ToolCallCondition, Problem> {
    let table = field.table(&[
        "status",
        "not_status",
        "kind",
        "count",
        "min",
        "max",
        "same",
    ])?;
    Ok(ToolCallCondition {
        status: words(&table, "status", &TOOL_STATUSES)?,
        not_status: words(&table, "not_status", &TOOL_STATUSES)?,
        kind: words(&table, "kind", &TOOL_KINDS)?,
        count: counted(&table)?,
        same: table
            .maybe("same", |field| field.filled())?
            .map(str::to_owned),
    })
}

fn updates(field: &Field<'_>) -> Result<UpdatesCondition, Problem> {
    let table = field.table(&["has", "lacks", "count", "min", "max"])?;
    Ok(UpdatesCondition {
        has: strings(&table, "has")?,
        lacks: strings(&table, "lacks")?,
        count: counted(&table)?,
    })
}

fn exit(field: &Field<'_>) -> Result<ExitCondition, Problem> {
    let table = field.table(&["within", "code"])?;
    Ok(ExitCondition {
        within: table.maybe("within", |field| field.positive())?,
        codes: codes(&table, "code")?,
    })
}

fn model(field: &Field<'_>) -> Result<ModelCondition, Problem> {
    let table = field.table(&["asked", "saw", "lacks"])?;
    Ok(ModelCondition {
        asked: table
            .maybe("asked", |field| count(&field))?
            .unwrap_or_default(),
        saw: strings(&table, "saw")?,
        lacks: strings(&table, "lacks")?,
    })
}

/// What an MCP server saw. The server need not be named where there is one only.
fn mcp(field: &Field<'_>, servers: &[Wanted]) -> Result<McpCondition, Problem> {
    let table = field.table(&[
        "server",
        "started",
        "initialized",
        "listed",
        "called",
        "offered",
        "args",
        "env",
        "headers",
        "ended",
        "within",
    ])?;
    let names = servers
        .iter()
        .map(|server| (server.name.as_str(), server))
        .collect::<Vec<_>>();
    let server = match (table.get("server"), servers) {
        (Some(field), _) => field.word(&names)?,
        (None, [only]) => only,
        (None, []) => {
            return Err(table
                .problem("the scenario has no MCP server")
                .help("write an `[[mcp]]` with its `name`"));
        }
        (None, _) => return Err(table.problem("say which `server` is meant")),
    };
    let given = |name: &str, stdio: bool| match table.get(name) {
        Some(field) if stdio != (server.transport == Transport::Stdio) => {
            Err(field.problem(format!(
                "`{name}` means nothing for the transport of `{}`",
                server.name
            )))
        }
        Some(field) => field.on().map(|()| true),
        None => Ok(false),
    };
    let tools = table
        .get("called")
        .filter(|field| matches!(field.node.value, Written::String(_) | Written::List(_)));
    Ok(McpCondition {
        server: server.name.clone(),
        started: times(&table, "started")?,
        initialized: times(&table, "initialized")?,
        listed: times(&table, "listed")?,
        called: match tools {
            Some(_) => Count::default(),
            None => times(&table, "called")?,
        },
        tools: tools
            .map(|field| field.string_or_strings())
            .transpose()?
            .unwrap_or_default(),
        offered: strings(&table, "offered")?,
        args: given("args", true)?,
        env: given("env", true)?,
        headers: given("headers", false)?,
        ended: table.maybe("ended", |field| field.boolean())?,
        within: table.maybe("within", |field| field.positive())?,
    })
}

/// A count, or whether it was so at all.
fn times(table: &Table<'_>, name: &str) -> Result<Count, Problem> {
    let Some(field) = table.get(name) else {
        return Ok(Count::default());
    };
    match field.boolean() {
        Ok(true) => Ok(Count {
            min: Some(1),
            max: None,
        }),
        Ok(false) => Ok(Count {
            min: None,
            max: Some(0),
        }),
        Err(_) => count(&field),
    }
}

/// A pattern for a JSON value. A table is a test if it has nothing but operators, otherwise an object.
fn pattern(field: &Field<'_>) -> Result<Pattern, Problem> {
    if field.node.exact().is_some() {
        return field.json().map(Pattern::Equal);
    }
    if let Ok(items) = field.list() {
        return items
            .map(|item| pattern(&item))
            .collect::<Result<_, _>>()
            .map(Pattern::List);
    }
    let Ok(table) = field.free_table() else {
        return field.json().map(Pattern::Equal);
    };
    if table.entries.is_empty() || !table.fields().all(|field| OPERATORS.contains(&field.name)) {
        let members = table
            .fields()
            .map(|field| Ok((field.name.to_owned(), pattern(&field)?)));
        return members.collect::<Result<_, Problem>>().map(Pattern::Object);
    }
    let mut tests = Vec::new();
    for field in table
        .fields()
        .filter(|field| !matches!(field.name, "min" | "max"))
    {
        tests.push(match field.name {
            "any_of" => Pattern::AnyOf(
                field
                    .list()?
                    .map(|item| pattern(&item))
                    .collect::<Result<_, _>>()?,
            ),
            "not" => Pattern::Not(Box::new(pattern(&field)?)),
            "type" => Pattern::Type(field.word(&JsonType::WORDS)?),
            "contains" => Pattern::Contains(Box::new(pattern(&field)?)),
            _ => field.on().map(|()| Pattern::Absent)?,
        });
    }
    let (min, max) = (
        table.maybe("min", |field| field.integer())?,
        table.maybe("max", |field| field.integer())?,
    );
    if min.is_some() || max.is_some() {
        tests.push(Pattern::Within { min, max });
    }
    Ok(if tests.len() == 1 {
        tests.remove(0)
    } else {
        Pattern::All(tests)
    })
}

/// Whether a JSON value can be the id of a request.
pub(super) fn is_id(id: &Value) -> bool {
    matches!(id, Value::Null | Value::Number(_) | Value::String(_))
}
