//! What may differ from run to run: a table of selectors with a reason each, and the sidecars that overrule it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use regex::{Regex, RegexSet};
use thiserror::Error;

use super::node::Node;
use crate::source::{Field, Node as Tree, Position, Problem, Source, Table, parse};
use crate::trace::Party;

/// The entries that are built in.
const BUILT_IN: &str = include_str!("../../spec/acp-v1/volatile.toml");
/// What errors call that file.
const BUILT_IN_NAME: &str = "harness/spec/acp-v1/volatile.toml";

/// What may differ from run to run: selectors, each with a reason.
#[derive(Clone, Debug, Default)]
pub struct Volatility {
    entries: Vec<Entry>,
    /// The patterns that are looked for in every string, as one: most strings hold none of them.
    anywhere: OnceLock<Option<RegexSet>>,
}

/// One selector.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is called.
    pub name: String,
    /// Why this may differ.
    pub reason: String,
    /// Where it is written, if in a sidecar.
    pub sidecar: Option<(String, Position)>,
    message: String,
    from: Option<Party>,
    at: Vec<Step>,
    pattern: Option<Regex>,
    becomes: String,
    pointer: String,
}

/// One step of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    /// An entry of a list that has this text in this member.
    With(String, String),
    One,
    Any,
}

/// An entry of a sidecar that matched nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The sidecar.
    pub file: String,
    /// Where in it.
    pub position: Position,
    /// The selector: message and pointer.
    pub selector: String,
}

/// Why a sidecar cannot be used.
#[derive(Debug, Error)]
pub enum SidecarError {
    /// It is there and cannot be read.
    #[error("`{}` could not be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// What is wrong in it.
    #[error("{0}")]
    Wrong(Problem),
}

impl Volatility {
    /// Nothing may differ.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The entries that are built in (`harness/spec/acp-v1/volatile.toml`).
    #[must_use]
    pub fn built_in() -> Self {
        let source = Source::new(BUILT_IN_NAME, BUILT_IN);
        #[expect(
            clippy::expect_used,
            reason = "the file is built in, and the tests read it"
        )]
        let entries = parse(&source)
            .and_then(|tree| Ok(read(&source, &tree, false)?.0))
            .expect("the table that is built in can be read");
        Self {
            entries,
            ..Self::default()
        }
    }

    /// The same with the entries of the sidecar of a trace: `NAME.volatile.toml` beside `NAME.jsonl`. Where there is no such
    /// file, nothing changes. May be called once for each of two traces.
    ///
    /// # Errors
    /// Where the sidecar cannot be read, or holds what is not allowed there.
    pub fn with_sidecar(self, trace: &Path) -> Result<Self, SidecarError> {
        let file = sidecar_of(trace);
        match std::fs::read_to_string(&file) {
            Ok(text) => self
                .with_entries(&Source::new(file.display().to_string(), text))
                .map_err(SidecarError::Wrong),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(self),
            Err(error) => Err(SidecarError::Read { file, error }),
        }
    }

    /// The same with the entries of a sidecar's text.
    ///
    /// # Errors
    /// What is wrong in it, with its place.
    pub fn with_entries(mut self, source: &Source) -> Result<Self, Problem> {
        let tree = parse(source)?;
        let (entries, off) = read(source, &tree, true)?;
        self.anywhere = OnceLock::new();
        for field in &off {
            let name = field.filled()?;
            let before = self.entries.len();
            self.entries
                .retain(|entry| entry.sidecar.is_some() || entry.name != name);
            // A second sidecar may switch off what the first one has.
            let known = before != self.entries.len() || Self::built_in().has(name);
            if !known {
                let built_in = Self::built_in();
                let names = built_in.entries.iter().map(|entry| entry.name.as_str());
                return Err(field
                    .problem(format!("`{name}` is no entry that is built in"))
                    .guess(name, names));
            }
        }
        for entry in entries {
            // Two traces of one conversation often have the same sidecar.
            let twin = self.entries.iter().any(|known| known.is_twin_of(&entry));
            if !twin {
                self.entries.push(entry);
            }
        }
        Ok(self)
    }

    fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The sidecar's entries among which `hit` names none.
    pub(crate) fn unmatched(&self, hit: impl Fn(usize) -> bool) -> Vec<Unmatched> {
        let silent = self
            .entries
            .iter()
            .enumerate()
            .filter(|(index, _)| !hit(*index));
        silent
            .filter_map(|(_, entry)| {
                let (file, position) = entry.sidecar.clone()?;
                let selector = entry.selector();
                Some(Unmatched {
                    file,
                    position,
                    selector,
                })
            })
            .collect()
    }
}

impl Entry {
    /// Message and pointer.
    #[must_use]
    pub fn selector(&self) -> String {
        format!("{} {}", self.message, self.pointer)
    }

    fn is_twin_of(&self, other: &Self) -> bool {
        self.selector() == other.selector()
            && self.from == other.from
            && self.becomes == other.becomes
            && self.pattern.as_ref().map(Regex::as_str) == other.pattern.as_ref().map(Regex::as_str)
    }

    /// Whether it is about messages of this kind from this side.
    fn is_about(&self, message: &str, from: Party) -> bool {
        let named = match self.message.strip_suffix('*') {
            Some(start) => message.starts_with(start),
            None => self.message == message,
        };
        named && self.from.is_none_or(|party| party == from)
    }
}

/// The entries about one kind of message, by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// Those for every string, with a pattern.
    everywhere: Vec<usize>,
    /// Those at certain places.
    placed: Vec<usize>,
}

impl Volatility {
    /// Whether a text may hold what an entry for every string looks for.
    fn may_hold(&self, text: &str) -> bool {
        let set = self.anywhere.get_or_init(|| {
            let patterns = self.entries.iter().filter(|entry| entry.at == [Step::Any]);
            RegexSet::new(patterns.filter_map(|entry| Some(entry.pattern.as_ref()?.as_str()))).ok()
        });
        set.as_ref().is_none_or(|set| set.is_match(text))
    }

    /// The entries about messages of this kind.
    pub(crate) fn about(&self, message: &str, from: Party) -> About {
        let mut about = About::default();
        for (index, entry) in self.entries.iter().enumerate() {
            if !entry.is_about(message, from) {
                continue;
            }
            if entry.at == [Step::Any] && entry.pattern.is_some() {
                about.everywhere.push(index);
            } else {
                about.placed.push(index);
            }
        }
        about
    }

    /// Replaces in a message what the entries name; `hit` is told which did.
    pub(crate) fn replace(&self, about: &About, node: &mut Node<'_>, hit: &mut impl FnMut(usize)) {
        for index in &about.placed {
            if let Some(entry) = self.entries.get(*index) {
                follow(entry, &entry.at, node, &mut || hit(*index));
            }
        }
        if !about.everywhere.is_empty() {
            self.everywhere(about, node, hit);
        }
    }

    fn everywhere(&self, about: &About, node: &mut Node<'_>, hit: &mut impl FnMut(usize)) {
        match node {
            Node::Text(text) => {
                if !self.may_hold(text) {
                    return;
                }
                for index in &about.everywhere {
                    if let Some(entry) = self.entries.get(*index)
                        && in_text(entry, text)
                    {
                        hit(*index);
                    }
                }
            }
            Node::List(items) => {
                for item in items {
                    self.everywhere(about, item, hit);
                }
            }
            Node::Object(members) => {
                for (_, value) in members {
                    self.everywhere(about, value, hit);
                }
            }
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Id(_) => {}
        }
    }
}

/// Goes to the places that the steps name.
fn follow(entry: &Entry, steps: &[Step], node: &mut Node<'_>, hit: &mut impl FnMut()) {
    let Some((step, rest)) = steps.split_first() else {
        if replace_at(entry, node) {
            hit();
        }
        return;
    };
    if *step == Step::Any {
        follow(entry, rest, node, hit);
    }
    let deeper = if *step == Step::Any { steps } else { rest };
    let takes = |name: &str| match step {
        Step::Name(wanted) => wanted == name,
        Step::With(..) => false,
        Step::One | Step::Any => true,
    };
    match node {
        Node::Object(members) => {
            for (name, value) in members {
                if takes(name) {
                    follow(entry, deeper, value, hit);
                }
            }
        }
        Node::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let taken = match step {
                    Step::Name(_) => takes(&index.to_string()),
                    Step::With(member, text) => has_text(item, member, text),
                    Step::One | Step::Any => true,
                };
                if taken {
                    follow(entry, deeper, item, hit);
                }
            }
        }
        _ => {}
    }
}

/// Whether an entry of a list has this text in this member.
fn has_text(item: &Node<'_>, member: &str, wanted: &str) -> bool {
    let Node::Object(members) = item else {
        return false;
    };
    members
        .iter()
        .any(|(name, value)| name == member && matches!(value, Node::Text(text) if text == wanted))
}

fn replace_at(entry: &Entry, node: &mut Node<'_>) -> bool {
    match (&entry.pattern, node) {
        (Some(_), Node::Text(text)) => in_text(entry, text),
        (Some(_), _) => false,
        // A container is reached through the scalars in it, so that what is in it stays to be seen.
        (None, Node::Object(_) | Node::List(_)) if entry.at.last() == Some(&Step::Any) => false,
        (None, node) => {
            *node = Node::Text(Cow::Owned(entry.becomes.clone()));
            true
        }
    }
}

fn in_text(entry: &Entry, text: &mut Cow<'_, str>) -> bool {
    let Some(pattern) = &entry.pattern else {
        return false;
    };
    match pattern.replace_all(text, regex::NoExpand(&entry.becomes)) {
        Cow::Borrowed(_) => false,
        Cow::Owned(replaced) => {
            *text = Cow::Owned(replaced);
            true
        }
    }
}

/// `NAME.volatile.toml` for `NAME.jsonl`.
fn sidecar_of(trace: &Path) -> PathBuf {
    trace.with_extension("volatile.toml")
}

/// The entries of a file, and what it switches off.
fn read<'f>(
    source: &'f Source,
    tree: &'f Tree,
    sidecar: bool,
) -> Result<(Vec<Entry>, Vec<Field<'f>>), Problem> {
    let field = Field {
        source,
        name: "the file",
        node: tree,
    };
    let allowed: &[&str] = if sidecar {
        &["volatile", "off"]
    } else {
        &["volatile"]
    };
    let table = field.table(allowed)?;
    let off = table.maybe("off", |field| field.list().map(Iterator::collect))?;
    let entries = table.maybe("volatile", |field| {
        field
            .list()?
            .map(|item| {
                let table = item.table(&[
                    "name", "message", "from", "at", "pattern", "becomes", "reason",
                ])?;
                entry(source, &table, sidecar)
            })
            .collect()
    })?;
    Ok((entries.unwrap_or_default(), off.unwrap_or_default()))
}

fn entry(source: &Source, table: &Table<'_>, sidecar: bool) -> Result<Entry, Problem> {
    let name = table
        .maybe("name", |field| field.filled())?
        .unwrap_or("volatile");
    let message = table.need("message")?.filled()?;
    let at = table.need("at")?;
    let pointer = at.filled()?;
    if !pointer.starts_with('/') {
        return Err(at.problem(
            "`at` must be a JSON Pointer that begins with `/`, such as `/params/update/used`",
        ));
    }
    let pattern = table.maybe("pattern", |field| {
        Regex::new(field.filled()?).map_err(|error| {
            let error = error.to_string();
            let last = error
                .lines()
                .last()
                .unwrap_or("")
                .trim_start_matches("error: ");
            field.problem(format!("not a regular expression: {last}"))
        })
    })?;
    let from = table.maybe("from", |field| {
        field.word(&[("agent", Party::Agent), ("client", Party::Client)])
    })?;
    let becomes = table.maybe("becomes", |field| field.string())?;
    Ok(Entry {
        name: name.to_owned(),
        reason: table.need("reason")?.filled()?.to_owned(),
        sidecar: sidecar.then(|| (source.name.clone(), table.position())),
        message: message.to_owned(),
        from,
        at: pointer.split('/').skip(1).map(step).collect(),
        pattern,
        becomes: becomes.map_or_else(|| format!("{{{name}}}"), str::to_owned),
        pointer: pointer.to_owned(),
    })
}

fn step(text: &str) -> Step {
    match text {
        "*" => Step::One,
        "**" => Step::Any,
        name => match name.split_once('=') {
            Some((member, text)) => Step::With(member.to_owned(), text.to_owned()),
            None => Step::Name(name.replace("~1", "/").replace("~0", "~")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::minted::Minted;
    use serde_json::{Value, json};

    fn replaced(volatility: &Volatility, message: &str, value: Value) -> Value {
        let mut node = Node::from(value);
        let about = volatility.about(message, Party::Agent);
        volatility.replace(&about, &mut node, &mut |_| {});
        node.json(&Minted::new())
    }

    #[test]
    fn an_entry_of_a_list_is_named_by_what_is_in_it() {
        let list = |category: &str| {
            json!({"result": {"configOptions": [
                {"id": "m", "category": category, "options": [{"value": "a"}]}]}})
        };
        let table = Volatility::built_in();
        let seen = replaced(&table, "session/new response", list("model"));
        let options = seen.pointer("/result/configOptions/0/options");
        assert_eq!(options, Some(&json!("{models-on-offer}")));
        let seen = replaced(&table, "session/new response", list("mode"));
        assert_eq!(seen, list("mode"));
    }

    #[test]
    fn what_is_built_in_spares_what_is_not_volatile() {
        let built_in = Volatility::built_in();
        let text = |text: &str| {
            replaced(
                &built_in,
                "session/update agent_message_chunk",
                json!({"text":text}),
            )["text"]
                .clone()
        };
        assert_eq!(
            text("in 3.25s or 12.5 ms, at 2026-11-30T09:12:03Z"),
            "in {duration} or {duration}, at {time}"
        );
        for same in [
            "3 s",
            "version 1.2.3",
            "/tmp/project/a",
            "/tmp/my-folder",
            "localhost:3000",
            "2026-11-30",
        ] {
            assert_eq!(text(same), same);
        }
        assert_eq!(
            text("/tmp/tmp.x81Nc0pQzr/a and /tmp/run-a8Gx0q"),
            "{temporary-name}/a and {temporary-name}"
        );
        assert_eq!(
            replaced(
                &built_in,
                "session/update usage_update",
                json!({"params":{"update":{"used":3,"size":9}}})
            ),
            json!({"params":{"update":{"used":"{token-counts}","size":9}}})
        );
    }

    #[test]
    fn a_pointer_leads_through_lists_and_any_number_of_steps() {
        let entries = |at: &str| {
            let text = format!(
                "[[volatile]]\nmessage = \"x*\"\nat = \"{at}\"\nreason = \"r\"\nbecomes = \"V\"\n"
            );
            Volatility::none()
                .with_entries(&Source::new("t", text))
                .unwrap()
        };
        let value = json!({"a":[{"b":1},{"b":2}],"c":{"d":{"b":3}}});
        for (at, expected) in [
            (
                "/a/*/b",
                json!({"a":[{"b":"V"},{"b":"V"}],"c":{"d":{"b":3}}}),
            ),
            ("/a/1/b", json!({"a":[{"b":1},{"b":"V"}],"c":{"d":{"b":3}}})),
            (
                "/**/b",
                json!({"a":[{"b":"V"},{"b":"V"}],"c":{"d":{"b":"V"}}}),
            ),
            ("/c/**", json!({"a":[{"b":1},{"b":2}],"c":{"d":{"b":"V"}}})),
            ("/c", json!({"a":[{"b":1},{"b":2}],"c":"V"})),
        ] {
            assert_eq!(
                replaced(&entries(at), "xyz", value.clone()),
                expected,
                "{at}"
            );
        }
        assert_eq!(replaced(&entries("/c"), "yz", value.clone()), value);
    }

    #[test]
    fn an_entry_that_two_sidecars_have_is_one() {
        let source = Source::new(
            "t",
            "[[volatile]]\nmessage = \"x\"\nat = \"/a\"\nreason = \"r\"\n",
        );
        let twice = Volatility::none()
            .with_entries(&source)
            .unwrap()
            .with_entries(&source)
            .unwrap();
        assert_eq!(twice.entries().len(), 1);
    }
}
