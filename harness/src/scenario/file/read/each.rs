//! `[[each]]`: one file, several runs that differ in a few values.

use std::collections::BTreeSet;

use crate::scenario::file::placeholder::{Part, parts};
use crate::source::{Entry, Field, Node, Problem, Source, Table, Value};

/// One run: the document with its variables filled in, and without `each`.
pub(super) struct Run {
    /// Its name, `None` for a file without `[[each]]`.
    pub(super) name: Option<String>,
    /// The document.
    pub(super) document: Node,
}

/// The runs of a document.
pub(super) fn runs(source: &Source, document: Node) -> Result<Vec<Run>, Problem> {
    let field = Field {
        source,
        name: "scenario",
        node: &document,
    };
    let Some(each) = field.free_table()?.get("each") else {
        return Ok(vec![Run {
            name: None,
            document,
        }]);
    };
    let rest = without(&document, "each");
    let mut names = BTreeSet::new();
    let mut runs = Vec::new();
    for entry in each.list()? {
        let table = entry.free_table()?;
        let name = table.need("name")?;
        let text = name.filled()?;
        if !text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        {
            return Err(name
                .problem(format!("`{text}` is no name of a run"))
                .help("use letters and digits of ASCII and any of `-_.`"));
        }
        if !names.insert(text) {
            return Err(name.problem(format!("two runs are named `{text}`")));
        }
        let mut used = BTreeSet::new();
        let document = filled(source, &rest, &table, &mut used)?;
        if let Some(unused) = table
            .entries
            .iter()
            .find(|entry| entry.key != "name" && !used.contains(entry.key.as_str()))
        {
            return Err(source.problem(
                &unused.span,
                format!("`{{{{{}}}}}` is used nowhere in the file", unused.key),
            ));
        }
        runs.push(Run {
            name: Some(text.to_owned()),
            document,
        });
    }
    if runs.is_empty() {
        Err(each.problem("`each` has no entry, so nothing would run"))
    } else {
        Ok(runs)
    }
}

fn without(document: &Node, key: &str) -> Node {
    let value = match &document.value {
        Value::Table(entries) => Value::Table(
            entries
                .iter()
                .filter(|entry| entry.key != key)
                .cloned()
                .collect(),
        ),
        other => other.clone(),
    };
    Node {
        span: document.span.clone(),
        value,
    }
}

/// The node with the variables of `each` filled in. A value keeps the place at which it is used.
fn filled<'a>(
    source: &Source,
    node: &Node,
    each: &Table<'a>,
    used: &mut BTreeSet<&'a str>,
) -> Result<Node, Problem> {
    let value = match &node.value {
        Value::String(text) => string(source, node, text, each, used)?,
        Value::List(items) => Value::List(
            items
                .iter()
                .map(|item| filled(source, item, each, used))
                .collect::<Result<_, _>>()?,
        ),
        Value::Table(entries) => Value::Table(
            entries
                .iter()
                .map(|entry| {
                    Ok(Entry {
                        node: filled(source, &entry.node, each, used)?,
                        ..entry.clone()
                    })
                })
                .collect::<Result<_, Problem>>()?,
        ),
        other => other.clone(),
    };
    Ok(Node {
        span: node.span.clone(),
        value,
    })
}

fn string<'a>(
    source: &Source,
    node: &Node,
    text: &str,
    each: &Table<'a>,
    used: &mut BTreeSet<&'a str>,
) -> Result<Value, Problem> {
    let parts = parts(text);
    if let [Part::Name(name)] = parts.as_slice()
        && let Some(variable) = each.get(name)
    {
        used.insert(variable.name);
        return Ok(moved(variable.node, node).value);
    }
    let mut filled = String::new();
    for part in parts {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Name(name) => match each.get(name) {
                None => filled.push_str(&format!("{{{{{name}}}}}")),
                Some(variable) => {
                    used.insert(variable.name);
                    match &variable.node.value {
                        Value::String(text) | Value::Date(text) => filled.push_str(text),
                        Value::Integer(number) => filled.push_str(&number.to_string()),
                        Value::Float(number) => filled.push_str(&number.to_string()),
                        Value::Boolean(value) => filled.push_str(&value.to_string()),
                        other @ (Value::List(_) | Value::Table(_)) => {
                            let message = format!(
                                "`{{{{{name}}}}}` is {}, which cannot stand inside a longer string",
                                other.kind()
                            );
                            return Err(source.problem(&node.span, message));
                        }
                    }
                }
            },
        }
    }
    Ok(Value::String(filled))
}

/// The value with all its places set to that of `to`.
fn moved(value: &Node, to: &Node) -> Node {
    let span = to.span.clone();
    let value = match &value.value {
        Value::List(items) => Value::List(items.iter().map(|item| moved(item, to)).collect()),
        Value::Table(entries) => Value::Table(
            entries
                .iter()
                .map(|entry| Entry {
                    key: entry.key.clone(),
                    span: span.clone(),
                    node: moved(&entry.node, to),
                })
                .collect(),
        ),
        other => other.clone(),
    };
    Node { span, value }
}
