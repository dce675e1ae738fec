//! The table as Markdown: what differs first, each cell a link to the trace that shows it.

use super::super::markdown::{code, word};
use super::change::Way;
use super::table::{Cell, Row, Split, Table};
use crate::spec::Level;
use crate::verdict::State;

const ORDER: [Level; 5] = [
    Level::Must,
    Level::Should,
    Level::Interop,
    Level::May,
    Level::Observe,
];

/// The table as Markdown.
pub fn markdown(table: &Table) -> String {
    let mut text = "# Agents and requirements\n\n".to_owned();
    let short = |text: &String| code(&text.chars().take(12).collect::<String>());
    let all = |texts: &[String]| texts.iter().map(short).collect::<Vec<_>>().join(", ");
    text.push_str(&format!(
        "Harness {}, specification {}. `?` could not be told, `–` does not apply, empty: nothing of the kind occurred. \
         Each cell leads to the first trace that shows it.\n\n",
        all(&table.harness),
        all(&table.revision)
    ));
    let head = head(table);
    text.push_str(&head);
    let agents = || table.agents.iter();
    let version = agents().map(|agent| in_cell(agent.version.as_deref().unwrap_or_default()));
    text.push_str(&line("version", version));
    text.push_str(&line(
        "verdict",
        agents().map(|agent| agent.verdict.as_str().to_owned()),
    ));
    let points = table
        .agents
        .first()
        .into_iter()
        .flat_map(|it| it.points.keys());
    for point in points {
        let states = agents().map(|agent| match agent.points.get(point) {
            None | Some(State::NotExercised) => "not exercised".to_owned(),
            Some(state) => mark(*state).to_owned(),
        });
        text.push_str(&line(&in_cell_plain(point), states));
    }
    text.push_str(&changes(table));
    let row = |row: &Row| {
        let cells = agents().map(|agent| linked(row.cells.get(&agent.name)));
        line(&word(&row.id), cells)
    };
    let differing: Vec<&Row> = table
        .requirements
        .iter()
        .filter(|row| row.split() == Split::Fails)
        .collect();
    if !differing.is_empty() {
        text.push_str(&format!("\n## Fails on some\n\n{head}"));
        for level in ORDER {
            for differs in differing.iter().filter(|row| row.level == level) {
                let cells = agents().map(|agent| linked(differs.cells.get(&agent.name)));
                let title = format!("{} {}", word(&differs.id), level.as_str());
                text.push_str(&line(&title, cells));
            }
        }
    }
    for level in ORDER {
        let mut rows: Vec<&Row> = table
            .requirements
            .iter()
            .filter(|row| row.level == level && row.is_exercised() && row.split() != Split::Fails)
            .collect();
        rows.sort_by_key(|row| row.split() == Split::Same);
        if !rows.is_empty() {
            text.push_str(&format!("\n## {}\n\n{head}", level.as_str()));
            text.extend(rows.into_iter().map(row));
        }
    }
    let never: Vec<String> = table
        .requirements
        .iter()
        .filter(|row| !row.is_exercised())
        .map(|row| word(&row.id))
        .collect();
    let never = match never.as_slice() {
        [] => "None.".to_owned(),
        ids => ids.join(", "),
    };
    text.push_str(&format!("\n## Never exercised\n\n{never}\n"));
    text
}

fn head(table: &Table) -> String {
    let names = table.agents.iter().map(|agent| in_cell_plain(&agent.name));
    let rule = "---|".repeat(table.agents.len());
    format!("{}|---|{rule}\n", line("", names))
}

/// What became better or worse.
fn changes(table: &Table) -> String {
    let Some(changes) = &table.changes else {
        return String::new();
    };
    let mut text = "\n## Changes\n\n".to_owned();
    if changes.is_empty() {
        text.push_str("None.\n");
    }
    for way in Way::ALL {
        for change in changes.iter().filter(|change| change.way == way) {
            text.push_str(&format!(
                "- {}: {} {} on {}: {}\n",
                way.as_str(),
                word(&change.id),
                change.level.as_str(),
                word(&change.agent),
                code(&change.in_words())
            ));
        }
    }
    text
}

fn line(title: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {title} | {} |\n", cells.join(" | "))
}

const fn mark(state: State) -> &'static str {
    match state {
        State::Pass => "pass",
        State::Fail => "**fail**",
        State::Inconclusive => "?",
        State::NotApplicable => "–",
        State::NotExercised => "",
    }
}

/// The state, as a link to the trace that shows it.
fn linked(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else {
        return String::new();
    };
    match (mark(cell.status), &cell.trace) {
        ("", _) => String::new(),
        (mark, Some(trace)) => format!("[{mark}](<{}>)", address(trace)),
        (mark, None) => mark.to_owned(),
    }
}

/// A path as the target of a link: what could end it, or begin a scheme, is encoded.
fn address(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'[' | b']' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// Text of others in a cell: a code span without the sign that ends a cell.
fn in_cell(text: &str) -> String {
    code(&text.replace('|', "\\u007c"))
}

/// A name as it is, if nothing in it is markup.
fn in_cell_plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -.+".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => in_cell(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_cell_or_a_link_before_its_end() {
        assert_eq!(in_cell("a|b`"), "`` a\\u007cb` ``");
        assert_eq!(in_cell_plain("claude-agent-acp"), "claude-agent-acp");
        assert_eq!(in_cell_plain("<b>"), "`<b>`");
        assert_eq!(address("a/b c>)|x"), "a/b%20c%3E%29%7Cx");
        assert_eq!(address("javascript:alert(1)"), "javascript%3Aalert%281%29");
    }
}
