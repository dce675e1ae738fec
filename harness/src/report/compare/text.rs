//! The table for people on the terminal: the agents, what changed, and what differs between them.

use super::super::table::table as columns;
use super::super::{Paint, plain};
use super::change::Way;
use super::table::{Row, Split, Table};
use crate::verdict::State;

/// So many traces of what fails on some are named, unless everything is shown.
const NAMED: usize = 20;

/// The table, with a newline at its end. `all` shows each requirement that any agent exercised.
pub fn text(table: &Table, all: bool, paint: Paint) -> String {
    let names = || table.agents.iter().map(|agent| plain(&agent.name));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut put = |title: String, cells: Vec<String>| {
        rows.push(std::iter::once(title).chain(cells).collect());
    };
    let agents = || table.agents.iter();
    put(String::new(), names().collect());
    let version = agents().map(|agent| plain(agent.version.as_deref().unwrap_or("-")));
    put("version".to_owned(), version.collect());
    let verdict = agents().map(|agent| agent.verdict.as_str().to_owned());
    put("verdict".to_owned(), verdict.collect());
    let points = table
        .agents
        .first()
        .into_iter()
        .flat_map(|it| it.points.keys());
    for point in points {
        let states = agents().map(|agent| match agent.points.get(point) {
            Some(state) => mark(*state).to_owned(),
            None => String::new(),
        });
        put(plain(point), states.collect());
    }
    let sections = [
        ("fails on some", Split::Fails),
        ("differs otherwise", Split::Otherwise),
        ("the same on all", Split::Same),
    ];
    for (title, split) in sections {
        let of = table
            .requirements
            .iter()
            .filter(|row| row.split() == split && row.is_exercised());
        if split == Split::Same && !all || of.clone().next().is_none() {
            continue;
        }
        put(String::new(), Vec::new());
        put(title.to_owned(), Vec::new());
        for row in of {
            let cells = agents().map(|agent| match row.cells.get(&agent.name) {
                Some(cell) if cell.known => "known".to_owned(),
                Some(cell) => mark(cell.status).to_owned(),
                None => String::new(),
            });
            put(
                format!("{} {}", plain(&row.id), row.level.as_str()),
                cells.collect(),
            );
        }
    }
    let mut lines: Vec<String> = columns(&rows, |_| false);
    if let Some(first) = lines.first_mut() {
        *first = paint.strong(first);
    }
    lines.push(String::new());
    lines.push(
        paint.faint("? could not be told, - does not apply, empty: nothing of the kind occurred"),
    );
    lines.extend(same(table));
    lines.extend(traces(table, all));
    lines.extend(changes(table, paint));
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

const fn mark(state: State) -> &'static str {
    match state {
        State::Pass => "pass",
        State::Fail => "fail",
        State::Inconclusive => "?",
        State::NotApplicable => "-",
        State::NotExercised => "",
    }
}

/// How many requirements are the same on all agents.
fn same(table: &Table) -> Option<String> {
    let all = table.requirements.iter();
    let same: Vec<&Row> = all.filter(|row| row.split() == Split::Same).collect();
    let first = |row: &&Row| row.cells.values().next().map(|cell| cell.status);
    let count = |state: State| same.iter().filter(|row| first(row) == Some(state)).count();
    let counts: Vec<String> = State::ALL
        .into_iter()
        .map(|state| (state, count(state)))
        .filter(|(_, count)| *count > 0)
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    (!counts.is_empty()).then(|| format!("the same on all: {}", counts.join(", ")))
}

/// Where what fails on some is shown.
fn traces(table: &Table, all: bool) -> Vec<String> {
    let rows = table.requirements.iter();
    let failing = rows
        .filter(|row| row.split() == Split::Fails)
        .flat_map(|row| row.cells.iter().map(move |(name, cell)| (row, name, cell)))
        .filter(|(_, _, cell)| cell.status == State::Fail);
    let mut lines: Vec<String> = failing
        .filter_map(|(row, name, cell)| {
            let trace = cell.trace.as_ref()?;
            let event = cell
                .event
                .map_or(String::new(), |event| format!(", event {event}"));
            let message = cell.message.as_deref().unwrap_or_default();
            Some(format!(
                "{} on {}: {}\n    {}{event}",
                plain(&row.id),
                plain(name),
                plain(message),
                plain(trace)
            ))
        })
        .collect();
    if lines.len() > NAMED && !all {
        let more = lines.len() - NAMED;
        lines.truncate(NAMED);
        lines.push(format!("and {more} more (-v shows them)"));
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// What became better or worse.
fn changes(table: &Table, paint: Paint) -> Vec<String> {
    let Some(changes) = &table.changes else {
        return Vec::new();
    };
    let mut lines = vec![String::new()];
    for way in Way::ALL {
        let of: Vec<_> = changes.iter().filter(|change| change.way == way).collect();
        let title = format!("{}: {}", way.as_str(), of.len());
        lines.push(match (way, of.len()) {
            (Way::Worse, 1..) => paint.bad(&title),
            (Way::Better, 1..) => paint.good(&title),
            _ => title,
        });
        lines.extend(of.into_iter().map(|change| {
            let (id, level) = (plain(&change.id), change.level.as_str());
            let words = plain(&change.in_words());
            format!("  {} {id} {level}: {words}", plain(&change.agent))
        }));
    }
    lines
}
