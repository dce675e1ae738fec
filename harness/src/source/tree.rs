//! A TOML document as a tree in which each value and key knows its place.

use std::ops::Range;

use serde_json::{Map, Number};
use toml::de::{DeTable, DeValue};

use super::{Problem, Source};

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Bytes of the source.
    pub span: Range<usize>,
    /// What stands there.
    pub value: Value,
}

/// A member of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, unquoted.
    pub key: String,
    /// Bytes of the key in the source.
    pub span: Range<usize>,
    /// The value.
    pub node: Node,
}

/// A TOML value. Members of a table are in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    String(String),
    /// A whole number of 64 bits.
    Integer(i64),
    /// A number with a fraction; infinite and not-a-number too.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or time, as it was written.
    Date(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Vec<Entry>),
}

impl Value {
    /// What it is, with its article, as an error calls it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number with a fraction",
            Self::Boolean(_) => "true or false",
            Self::Date(_) => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The value as JSON. A table whose only member is `json`, a string, is the JSON in that string, which is how null
    /// is written. A date is its text.
    ///
    /// # Errors
    /// What is in `json` is not JSON, or a number is infinite or not a number.
    pub fn json(&self, source: &Source) -> Result<serde_json::Value, Problem> {
        Ok(match &self.value {
            Value::String(text) | Value::Date(text) => serde_json::Value::String(text.clone()),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => Number::from_f64(*number)
                .map(serde_json::Value::Number)
                .ok_or_else(|| {
                    source.problem(&self.span, "JSON has no infinite numbers and no `nan`")
                })?,
            Value::Boolean(value) => (*value).into(),
            Value::List(items) => serde_json::Value::Array(
                items
                    .iter()
                    .map(|item| item.json(source))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Table(entries) => match self.exact() {
                Some((text, span)) => {
                    serde_json::from_str(text).map_err(|error| not_json(source, span, &error))?
                }
                None => {
                    let mut map = Map::new();
                    for entry in entries {
                        map.insert(entry.key.clone(), entry.node.json(source)?);
                    }
                    serde_json::Value::Object(map)
                }
            },
        })
    }

    /// The text and its place, if this is a table `{ json = "…" }`.
    #[must_use]
    pub fn exact(&self) -> Option<(&str, &Range<usize>)> {
        match &self.value {
            Value::Table(entries) => match entries.as_slice() {
                [
                    Entry {
                        key,
                        node:
                            Node {
                                value: Value::String(text),
                                span,
                            },
                        ..
                    },
                ] if key == "json" => Some((text, span)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The error for a `json` string that is none.
pub(super) fn not_json(source: &Source, span: &Range<usize>, error: &serde_json::Error) -> Problem {
    source.problem(span, format!("what is in `json` is not JSON: {error}"))
}

/// Reads a document.
///
/// # Errors
/// The text is not TOML.
pub fn parse(source: &Source) -> Result<Node, Problem> {
    let document = DeTable::parse(&source.text).map_err(|error| {
        let end = source.text.len();
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        source.problem(&error.span().unwrap_or(end..end), message)
    })?;
    let span = document.span();
    Ok(Node {
        span: span.clone(),
        value: table(source, document.into_inner())?,
    })
}

fn node(source: &Source, value: toml::Spanned<DeValue<'_>>) -> Result<Node, Problem> {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(number) => Value::Integer(
            i64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| source.problem(&span, "the number does not fit into 64 bits"))?,
        ),
        DeValue::Float(number) => Value::Float(
            number
                .as_str()
                .parse()
                .map_err(|_| source.problem(&span, "not a number that can be read"))?,
        ),
        DeValue::Boolean(value) => Value::Boolean(value),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| node(source, item))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(entries) => table(source, entries)?,
    };
    Ok(Node { span, value })
}

fn table(source: &Source, table: DeTable<'_>) -> Result<Value, Problem> {
    let mut entries = Vec::new();
    for (key, value) in table {
        entries.push(Entry {
            span: key.span(),
            key: key.into_inner().into_owned(),
            node: node(source, value)?,
        });
    }
    entries.sort_by_key(|entry| entry.span.start);
    Ok(Value::Table(entries))
}
