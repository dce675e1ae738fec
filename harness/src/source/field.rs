//! Reading a tree by hand: each step says what it wants and refuses anything else at its place.

use std::ops::{Range, RangeInclusive};

use serde_json::Map;

use super::tree::not_json;
use super::{Entry, Node, Position, Problem, Source, Value};

/// A value under its name.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Where it was read from.
    pub source: &'a Source,
    /// The key it stands under.
    pub name: &'a str,
    /// The value.
    pub node: &'a Node,
}

/// A table all of whose keys are allowed.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// Where it was read from.
    pub source: &'a Source,
    /// Its place.
    pub span: &'a Range<usize>,
    /// Its members.
    pub entries: &'a [Entry],
}

impl<'a> Field<'a> {
    /// A problem at this value.
    #[must_use]
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        self.source.problem(&self.node.span, message)
    }

    /// Where the value is.
    #[must_use]
    pub fn position(&self) -> Position {
        self.source.position(self.node.span.start)
    }

    /// A problem that says what kind of value is wanted, such as "a string", instead of the one that is there.
    #[must_use]
    pub fn wanted(&self, wanted: &str) -> Problem {
        self.problem(format!(
            "`{}` must be {wanted}, not {}",
            self.name,
            self.node.value.kind()
        ))
    }

    /// The value as a string.
    ///
    /// # Errors
    /// It is none.
    pub fn string(&self) -> Result<&'a str, Problem> {
        match &self.node.value {
            Value::String(text) => Ok(text),
            _ => Err(self.wanted("a string")),
        }
    }

    /// The value as a string with something in it.
    ///
    /// # Errors
    /// It is none, or only white space.
    pub fn filled(&self) -> Result<&'a str, Problem> {
        let text = self.string()?;
        if text.trim().is_empty() {
            Err(self.problem(format!("`{}` must not be empty", self.name)))
        } else {
            Ok(text)
        }
    }

    /// The value as `true` or `false`.
    ///
    /// # Errors
    /// It is neither.
    pub fn boolean(&self) -> Result<bool, Problem> {
        match &self.node.value {
            Value::Boolean(value) => Ok(*value),
            _ => Err(self.wanted("true or false")),
        }
    }

    /// The value as `true`, for switches that have no other value.
    ///
    /// # Errors
    /// It is not `true`.
    pub fn on(&self) -> Result<(), Problem> {
        match &self.node.value {
            Value::Boolean(true) => Ok(()),
            Value::Boolean(false) => Err(self.problem(format!(
                "`{}` can only be `true`; leave it out instead",
                self.name
            ))),
            _ => Err(self.wanted("`true`")),
        }
    }

    /// The value as a whole number.
    ///
    /// # Errors
    /// It is none.
    pub fn integer(&self) -> Result<i64, Problem> {
        match &self.node.value {
            Value::Integer(number) => Ok(*number),
            _ => Err(self.wanted("a whole number")),
        }
    }

    /// The value as a whole number in a range of counts.
    ///
    /// # Errors
    /// It is none, or outside the range.
    pub fn count(&self, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let number = self.integer()?;
        u64::try_from(number)
            .ok()
            .filter(|number| range.contains(number))
            .ok_or_else(|| {
                self.problem(format!(
                    "`{}` must be between {} and {}, not {number}",
                    self.name,
                    range.start(),
                    range.end()
                ))
            })
    }

    /// The value as seconds, or another number that is more than 0.
    ///
    /// # Errors
    /// It is no number, not more than 0, or more than an hour's worth.
    pub fn positive(&self) -> Result<f64, Problem> {
        let number = match &self.node.value {
            #[expect(
                clippy::cast_precision_loss,
                reason = "the range below is far from where it matters"
            )]
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            _ => return Err(self.wanted("a number")),
        };
        if number > 0.0 && number <= 3600.0 {
            Ok(number)
        } else {
            Err(self.problem(format!(
                "`{}` must be more than 0 and at most 3600, not {number}",
                self.name
            )))
        }
    }

    /// The elements of a list.
    ///
    /// # Errors
    /// It is none.
    pub fn list(&self) -> Result<impl Iterator<Item = Field<'a>> + use<'a>, Problem> {
        let (source, name) = (self.source, self.name);
        match &self.node.value {
            Value::List(items) => Ok(items.iter().map(move |node| Field { source, name, node })),
            _ => Err(self.wanted("a list")),
        }
    }

    /// The elements of a list, or the value itself where one is enough.
    #[must_use]
    pub fn one_or_more(&self) -> Vec<Field<'a>> {
        match &self.node.value {
            Value::List(items) => items.iter().map(|node| Field { node, ..*self }).collect(),
            _ => vec![*self],
        }
    }

    /// A list of strings.
    ///
    /// # Errors
    /// It is none.
    pub fn strings(&self) -> Result<Vec<String>, Problem> {
        self.list()?
            .map(|item| item.string().map(str::to_owned))
            .collect()
    }

    /// One string, or a list of them.
    ///
    /// # Errors
    /// It is neither.
    pub fn string_or_strings(&self) -> Result<Vec<String>, Problem> {
        self.one_or_more()
            .iter()
            .map(|item| item.string().map(str::to_owned))
            .collect()
    }

    /// One of some words.
    ///
    /// # Errors
    /// It is none of them; they are listed.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Problem> {
        let written = self.string()?;
        words
            .iter()
            .find(|(word, _)| *word == written)
            .map(|(_, value)| *value)
            .ok_or_else(|| {
                let names = words.iter().map(|(word, _)| *word);
                self.problem(format!("`{written}` is no value of `{}`", self.name))
                    .help(format!("expected {}", one_of(names.clone())))
                    .guess(written, names)
            })
    }

    /// The value as a table with none but the allowed keys.
    ///
    /// # Errors
    /// It is no table, or has another key.
    pub fn table(&self, allowed: &[&str]) -> Result<Table<'a>, Problem> {
        let table = self.free_table()?;
        table.only(&[("", allowed)])?;
        Ok(table)
    }

    /// The value as a table with any keys.
    ///
    /// # Errors
    /// It is no table.
    pub fn free_table(&self) -> Result<Table<'a>, Problem> {
        match &self.node.value {
            Value::Table(entries) => Ok(Table {
                source: self.source,
                span: &self.node.span,
                entries,
            }),
            _ => Err(self.wanted("a table")),
        }
    }

    /// The value as JSON, see [`Node::json`].
    ///
    /// # Errors
    /// As there.
    pub fn json(&self) -> Result<serde_json::Value, Problem> {
        self.node.json(self.source)
    }

    /// The value as a JSON object.
    ///
    /// # Errors
    /// It is none, or a part of it is no JSON.
    pub fn object(&self) -> Result<Map<String, serde_json::Value>, Problem> {
        match self.json()? {
            serde_json::Value::Object(map) => Ok(map),
            _ => Err(self.wanted("a table")),
        }
    }

    /// The text of a table `{ json = "…" }`, kept as it was written.
    ///
    /// # Errors
    /// It is not JSON.
    pub fn exact(&self) -> Result<Option<String>, Problem> {
        let Some((text, span)) = self.node.exact() else {
            return Ok(None);
        };
        match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => Ok(Some(text.to_owned())),
            Err(error) => Err(not_json(self.source, span, &error)),
        }
    }
}

impl<'a> Table<'a> {
    /// Refuses keys that are not allowed. The allowed ones come in groups, each with a word for what its keys are.
    ///
    /// # Errors
    /// There is one.
    pub fn only(&self, groups: &[(&str, &[&str])]) -> Result<(), Problem> {
        let allowed = || groups.iter().flat_map(|(_, keys)| keys.iter().copied());
        let Some(entry) = self
            .entries
            .iter()
            .find(|entry| !allowed().any(|key| key == entry.key))
        else {
            return Ok(());
        };
        let mut problem = self
            .source
            .problem(&entry.span, format!("unknown key `{}`", entry.key));
        for (group, keys) in groups {
            problem = problem.help(format!("expected {group}{}", one_of(keys.iter().copied())));
        }
        Err(problem.guess(&entry.key, allowed()))
    }

    /// A problem at the table as a whole.
    #[must_use]
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        self.source.problem(self.span, message)
    }

    /// Where the table begins.
    #[must_use]
    pub fn position(&self) -> Position {
        self.source.position(self.span.start)
    }

    /// The member of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Field<'a>> {
        self.fields().find(|field| field.name == name)
    }

    /// The member of that name, which must be there.
    ///
    /// # Errors
    /// It is not.
    pub fn need(&self, name: &str) -> Result<Field<'a>, Problem> {
        self.get(name)
            .ok_or_else(|| self.problem(format!("`{name}` is missing")))
    }

    /// All members.
    pub fn fields(&self) -> impl Iterator<Item = Field<'a>> + Clone + use<'a> {
        let source = self.source;
        self.entries.iter().map(move |entry| Field {
            source,
            name: &entry.key,
            node: &entry.node,
        })
    }

    /// What `read` makes of the member of that name, or `None` where it is absent.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn maybe<T>(
        &self,
        name: &str,
        read: impl FnOnce(Field<'a>) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        self.get(name).map(read).transpose()
    }

    /// The switch of that name; off where it is absent.
    ///
    /// # Errors
    /// It is neither true nor false.
    pub fn flag(&self, name: &str) -> Result<bool, Problem> {
        Ok(self.maybe(name, |field| field.boolean())?.unwrap_or(false))
    }
}

/// "`a`", or "one of `a`, `b`".
fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [only] => only.clone(),
        _ => format!("one of {}", names.join(", ")),
    }
}
