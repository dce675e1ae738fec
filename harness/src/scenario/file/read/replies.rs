//! Reading how requests of the agent are answered: `replies` and `elicitation` of a step.

use crate::client::{Content, Planned};
use crate::source::{Field, Problem, Table};

/// The requests of agents that can be answered so. Permission has an option of its own.
const METHODS: [&str; 7] = [
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
];

/// The method that `elicitation` is about.
const ELICITATION: &str = "elicitation/create";

/// What both options of a step say.
pub(super) fn replies(table: &Table<'_>) -> Result<Vec<(String, Vec<Planned>)>, Problem> {
    let mut methods = Vec::new();
    if let Some(field) = table.get("replies") {
        for method in field.table(&METHODS)?.fields() {
            methods.push((method.name.to_owned(), each(&method, reply)?));
        }
    }
    if let Some(field) = table.get("elicitation") {
        methods.push((ELICITATION.to_owned(), each(&field, elicited)?));
    }
    Ok(methods)
}

fn each(
    field: &Field<'_>,
    read: fn(&Field<'_>) -> Result<Planned, Problem>,
) -> Result<Vec<Planned>, Problem> {
    let all: Vec<Planned> = field
        .one_or_more()
        .iter()
        .map(read)
        .collect::<Result<_, _>>()?;
    if all.is_empty() {
        return Err(field.problem(format!("`{}` must say one answer at least", field.name)));
    }
    Ok(all)
}

fn reply(field: &Field<'_>) -> Result<Planned, Problem> {
    if field.string().is_ok() {
        return field
            .word(&[("serve", "serve"), ("hold", "hold")])
            .map(|word| match word {
                "hold" => Planned::Hold,
                _ => Planned::Serve,
            })
            .map_err(|problem| problem.help("or `{ error = CODE }`, or `{ result = … }`"));
    }
    let table = field.table(&["error", "message", "result", "served", "probe"])?;
    let probe = probe(&table)?;
    match (table.get("error"), table.get("result")) {
        (Some(_), None) => error(&table, probe),
        (None, Some(result)) => Ok(Planned::Result {
            result: result.json()?,
            served: table.flag("served")?,
            probe,
        }),
        _ => Err(table.problem("an answer has either `error` or `result`")),
    }
}

fn elicited(field: &Field<'_>) -> Result<Planned, Problem> {
    let action = |action: &str, content: Content| Planned::Elicited {
        action: action.to_owned(),
        content,
        probe: None,
    };
    if field.string().is_ok() {
        return Ok(
            match field.word(&[
                ("accept", "accept"),
                ("decline", "decline"),
                ("cancel", "cancel"),
                ("hold", "hold"),
            ])? {
                "hold" => Planned::Hold,
                "accept" => action("accept", Content::Filled),
                word => action(word, Content::Absent),
            },
        );
    }
    let table = field.table(&["action", "content", "error", "message", "probe"])?;
    let probe = probe(&table)?;
    if table.get("error").is_some() {
        return error(&table, probe);
    }
    Ok(Planned::Elicited {
        action: table
            .maybe("action", |field| field.filled())?
            .unwrap_or("accept")
            .to_owned(),
        content: match table.get("content") {
            None => Content::Absent,
            Some(content) if content.string().is_ok() => {
                match content.word(&[("filled", true), ("broken", false)])? {
                    true => Content::Filled,
                    false => Content::Broken,
                }
            }
            Some(content) => Content::Given(content.json()?),
        },
        probe,
    })
}

fn error(table: &Table<'_>, probe: Option<String>) -> Result<Planned, Problem> {
    Ok(Planned::Error {
        code: table.need("error")?.integer()?,
        message: table
            .maybe("message", |field| field.filled())?
            .map(str::to_owned),
        probe,
    })
}

fn probe(table: &Table<'_>) -> Result<Option<String>, Problem> {
    Ok(table
        .maybe("probe", |field| field.filled())?
        .map(str::to_owned))
}
