//! Reading `[[model]]`.

use crate::model::script::{Call, Calls, Failure, KINDS, NamedFailure, Reply, Stop, Text, Usage};
use crate::source::{Field, Problem};

/// The most milliseconds that a reply or a step may wait.
pub(super) const LONGEST_WAIT: u64 = 600_000;

/// One reply.
pub(super) fn reply(field: Field<'_>) -> Result<Reply, Problem> {
    let table = field.table(&[
        "session", "think", "say", "call", "refuse", "hold", "wait", "fail", "stop", "usage",
    ])?;
    let reply = Reply {
        session: table
            .maybe("session", |field| field.filled())?
            .map(str::to_owned),
        think: table.maybe("think", text)?,
        say: table.maybe("say", text)?,
        call: table.maybe("call", calls)?,
        hold: table.flag("hold")?,
        wait: table.maybe("wait", |field| field.count(0..=LONGEST_WAIT))?,
        fail: table.maybe("fail", failure)?,
        refuse: table.maybe("refuse", |field| field.string().map(str::to_owned))?,
        stop: table.maybe("stop", |field| field.word(&[("length", Stop::Length)]))?,
        usage: table.maybe("usage", usage)?,
    };
    match reply.refuse.is_some() && reply.call.is_some() {
        true => Err(field.problem("a reply has either `refuse` or `call`")),
        false => Ok(reply),
    }
}

fn text(field: Field<'_>) -> Result<Text, Problem> {
    match field.string() {
        Ok(text) => Ok(Text::Whole(text.to_owned())),
        Err(_) => field
            .strings()
            .map(Text::Chunks)
            .map_err(|problem| problem.help("write a text, or a list of its chunks")),
    }
}

fn calls(field: Field<'_>) -> Result<Calls, Problem> {
    match field.list() {
        Ok(items) => Ok(Calls::Many(items.map(call).collect::<Result<_, _>>()?)),
        Err(_) => call(field).map(Calls::One),
    }
}

fn call(field: Field<'_>) -> Result<Call, Problem> {
    let table = field.table(&[
        "kind",
        "command",
        "path",
        "content",
        "old",
        "new",
        "pattern",
        "url",
        "question",
        "tool",
        "mcp",
        "arguments",
        "or",
    ])?;
    let text = |name: &str| table.maybe(name, |field| field.string().map(str::to_owned));
    let kinds = KINDS.map(|kind| (kind, kind));
    let call = Call {
        kind: table
            .maybe("kind", |field| field.word(&kinds))?
            .map(str::to_owned),
        command: text("command")?,
        path: text("path")?,
        content: text("content")?,
        old: text("old")?,
        new: text("new")?,
        pattern: text("pattern")?,
        url: text("url")?,
        question: text("question")?,
        tool: text("tool")?,
        mcp: text("mcp")?,
        arguments: table
            .maybe("arguments", |field| field.object())?
            .unwrap_or_default(),
        or: table.maybe("or", call)?.map(Box::new),
    };
    match call.problem() {
        Some(problem) => Err(field.problem(problem)),
        None => Ok(call),
    }
}

fn failure(field: Field<'_>) -> Result<Failure, Problem> {
    if field.string().is_ok() {
        return field
            .word(&[
                ("cut", NamedFailure::Cut),
                ("refused", NamedFailure::Refused),
                ("rate_limit", NamedFailure::RateLimit),
                ("overloaded", NamedFailure::Overloaded),
                ("context", NamedFailure::Context),
            ])
            .map(Failure::Named);
    }
    let table = field
        .table(&["status", "message"])
        .map_err(|problem| problem.help("write a word such as `\"cut\"`, or `{ status = 429 }`"))?;
    let status = table.need("status")?.count(400..=599)?;
    Ok(Failure::Status {
        status: u16::try_from(status).unwrap_or(500),
        message: table
            .maybe("message", |field| field.string())?
            .map(str::to_owned),
    })
}

fn usage(field: Field<'_>) -> Result<Usage, Problem> {
    let table = field.table(&["input", "output"])?;
    let most = 0..=1_000_000_000;
    Ok(Usage {
        input: table.need("input")?.count(most.clone())?,
        output: table.need("output")?.count(most)?,
    })
}
