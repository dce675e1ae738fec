//! The table: what each agent was driven to, and the state of every requirement on each. It is the JSON of
//! `harness compare`, which docs/reports.md describes. It holds no time, so equal runs give equal tables.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::super::document::{Document, Finding, Requirement};
use super::change::{Change, between};
use crate::spec::Level;
use crate::verdict::{State, Verdict};

/// What every agent is to be driven to, and the requirements that show whether it was.
const POINTS: [(&str, &[&str]); 7] = [
    ("permission asked", &["PERM-03"]),
    ("permission rejected", &["PERM-04"]),
    ("permission cancelled", &["PERM-06", "CANCEL-05"]),
    ("tool ended", &["TOOLCALL-06"]),
    ("cancel while streaming", &["CANCEL-01"]),
    ("model failure", &["INTEROP-03"]),
    ("two turns", &["PROMPT-08"]),
];

/// Of the states of the requirements that show a point, the first of these is the point's.
const STRONGEST: [State; 5] = [
    State::Fail,
    State::Pass,
    State::Inconclusive,
    State::NotApplicable,
    State::NotExercised,
];

/// Agents side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The number of the format.
    #[serde(default = "format")]
    pub format: u32,
    /// The versions of the harness that made the reports.
    pub harness: Vec<String>,
    /// The revisions of the specification.
    pub revision: Vec<String>,
    /// The agents, in the order in which they were given.
    pub agents: Vec<Column>,
    /// The requirements, in the order of the catalogue.
    pub requirements: Vec<Row>,
    /// What became better or worse; only where there is something before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<Change>>,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// What it is called here.
    pub name: String,
    /// `agentInfo.name`, if it told one.
    #[serde(default)]
    pub agent: Option<String>,
    /// `agentInfo.version`, if it told one.
    pub version: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// What stood in the way of judging it.
    pub blocked: Option<String>,
    /// What it was driven to.
    pub points: IndexMap<String, State>,
}

/// A requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Its level.
    pub level: Level,
    /// What it demands.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub statement: String,
    /// Its state on each agent, by name; none where it was not judged.
    pub cells: IndexMap<String, Cell>,
}

/// The state of a requirement on an agent, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The state.
    pub status: State,
    /// Whether it fails as is known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub known: bool,
    /// The scenario that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The trace that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The event of the trace, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// What was seen there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The scenarios in which it fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
}

/// How a requirement differs between agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// It fails on some and not on others.
    Fails,
    /// Its state differs otherwise.
    Otherwise,
    /// Its state is the same on all.
    Same,
}

impl Table {
    /// Reads a table that [`Table::to_json`] wrote.
    ///
    /// # Errors
    /// Where the text is no table.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The table of these reports, each with the name of its column. Of two reports of one agent it says what changed.
    pub fn of(reports: &[(String, Document)]) -> Self {
        let all = |text: fn(&Document) -> &String| {
            let texts: BTreeSet<&String> = reports.iter().map(|(_, it)| text(it)).collect();
            texts.into_iter().cloned().collect()
        };
        let mut rows: IndexMap<&str, Row> = IndexMap::new();
        for (name, document) in reports {
            for requirement in &document.requirements {
                let row = rows.entry(&requirement.id).or_insert_with(|| Row {
                    id: requirement.id.clone(),
                    level: requirement.level,
                    statement: requirement.statement.clone(),
                    cells: IndexMap::new(),
                });
                row.cells.insert(name.clone(), cell(requirement));
            }
        }
        let mut table = Self {
            format: format(),
            harness: all(|document| &document.harness),
            revision: all(|document| &document.spec.revision),
            agents: reports.iter().map(column).collect(),
            requirements: rows.into_values().collect(),
            changes: None,
        };
        if let [one, two] = table.agents.as_slice()
            && one.agent.is_some()
            && one.agent == two.agent
        {
            table.changes = Some(between(&table, &one.name, &table, &two.name));
        }
        table
    }

    /// Says what changed since an earlier table, agent by agent.
    pub fn hold_against(&mut self, earlier: &Self) {
        let mut names: Vec<&String> = self.agents.iter().map(|agent| &agent.name).collect();
        for agent in &earlier.agents {
            if !names.contains(&&agent.name) {
                names.push(&agent.name);
            }
        }
        let changes = names
            .into_iter()
            .flat_map(|name| between(earlier, name, self, name));
        let mut changes: Vec<Change> = changes.collect();
        changes.sort_by_key(|change| change.way);
        self.changes = Some(changes);
    }

    /// The same with the paths of traces from a folder on.
    #[must_use]
    pub fn from_folder(&self, folder: &Path) -> Self {
        let mut table = self.clone();
        let cells = table.requirements.iter_mut().flat_map(|row| &mut row.cells);
        for (_, cell) in cells {
            if let Some(trace) = &mut cell.trace {
                *trace = relative(Path::new(trace), folder);
            }
        }
        table
    }

    /// The table as JSON, indented, with a newline at its end.
    ///
    /// # Errors
    /// What writing JSON gave; nothing in a table is known to make it fail.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// The state of a requirement on an agent.
    pub(super) fn cell(&self, id: &str, name: &str) -> Option<&Cell> {
        let row = self.requirements.iter().find(|row| row.id == id)?;
        row.cells.get(name)
    }
}

impl Row {
    /// Whether any agent did what shows it.
    pub(super) fn is_exercised(&self) -> bool {
        let shown = |cell: &Cell| matches!(cell.status, State::Pass | State::Fail);
        self.cells.values().any(shown)
    }

    /// How it differs between agents; what nobody exercised is the same on all.
    pub(super) fn split(&self) -> Split {
        let mut states: Vec<State> = self.cells.values().map(|cell| cell.status).collect();
        states.dedup();
        if states.len() < 2 || !self.is_exercised() {
            Split::Same
        } else if states.contains(&State::Fail) {
            Split::Fails
        } else {
            Split::Otherwise
        }
    }
}

fn column((name, document): &(String, Document)) -> Column {
    let state = |ids: &[&str]| {
        let of = |id: &&str| {
            let requirement = document.requirement(id);
            requirement.map_or(State::NotExercised, |requirement| requirement.status)
        };
        let found: Vec<State> = ids.iter().map(of).collect();
        let strongest = STRONGEST.into_iter().find(|state| found.contains(state));
        strongest.unwrap_or(State::NotExercised)
    };
    Column {
        name: name.clone(),
        agent: document.agent.name.clone(),
        version: document.agent.version.clone(),
        verdict: document.verdict,
        blocked: document.blocked.clone(),
        points: POINTS
            .iter()
            .map(|(point, ids)| ((*point).to_owned(), state(ids)))
            .collect(),
    }
}

fn cell(requirement: &Requirement) -> Cell {
    let fails = requirement.status == State::Fail;
    let finding = requirement.findings.first().filter(|_| fails);
    let shown = requirement.shown.as_ref();
    let place =
        |of_finding: fn(&Finding) -> &Option<String>| finding.and_then(|it| of_finding(it).clone());
    let scenarios: BTreeSet<String> = match fails {
        true => requirement
            .findings
            .iter()
            .map(|finding| finding.scenario.clone().unwrap_or_default())
            .collect(),
        false => BTreeSet::new(),
    };
    Cell {
        status: requirement.status,
        known: requirement.known,
        scenario: match finding {
            Some(_) => place(|finding| &finding.scenario),
            None => shown.and_then(|shown| shown.scenario.clone()),
        },
        trace: match finding {
            Some(_) => place(|finding| &finding.trace),
            None => shown.and_then(|shown| shown.trace.clone()),
        },
        event: finding.and_then(|finding| finding.event),
        message: finding.map(|finding| finding.message.clone()),
        scenarios: scenarios.into_iter().collect(),
    }
}

/// A path from a folder on.
fn relative(path: &Path, folder: &Path) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (path, folder) = (absolute(path), absolute(folder));
    let shared = path
        .components()
        .zip(folder.components())
        .take_while(|(one, two)| one == two)
        .count();
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    let all: PathBuf = up.chain(path.components().skip(shared)).collect();
    all.display().to_string()
}

fn format() -> u32 {
    1
}

fn is_false(is: &bool) -> bool {
    !is
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_named_from_the_folder_of_the_table_on() {
        let from = |path: &str, folder: &str| relative(Path::new(path), Path::new(folder));
        assert_eq!(from("/a/b/x.jsonl", "/a"), "b/x.jsonl");
        assert_eq!(from("/a/b/x.jsonl", "/a/c/d"), "../../b/x.jsonl");
    }

    fn row(states: &[State]) -> Row {
        let cells = states.iter().enumerate().map(|(number, status)| {
            let cell = Cell {
                status: *status,
                known: false,
                scenario: None,
                trace: None,
                event: None,
                message: None,
                scenarios: Vec::new(),
            };
            (number.to_string(), cell)
        });
        Row {
            id: "CANCEL-01".to_owned(),
            level: Level::Must,
            statement: String::new(),
            cells: cells.collect(),
        }
    }

    #[test]
    fn a_requirement_that_fails_on_some_differs_most() {
        use State::{Fail, Inconclusive, NotApplicable, NotExercised, Pass};
        assert_eq!(row(&[Pass, Fail]).split(), Split::Fails);
        assert_eq!(row(&[Pass, Inconclusive, Pass]).split(), Split::Otherwise);
        assert_eq!(row(&[Fail, Fail]).split(), Split::Same);
        assert_eq!(row(&[NotApplicable, NotExercised]).split(), Split::Same);
    }
}
