//! What an agent does through the client, and which tool calls it may belong to.

use std::collections::VecDeque;
use std::fmt;

use serde_json::Value;

use super::quote::quote;
use crate::hash::{HashMap, HashSet};

/// Members of `rawInput` that name a file.
const FILES: [&str; 5] = ["path", "file_path", "filePath", "absolute_path", "abs_path"];

/// Kinds of tool calls that write no file.
const READERS: [&str; 5] = ["read", "search", "think", "fetch", "switch_mode"];

/// So many files and commands of a turn are kept.
const KEPT: usize = 10_000;

/// How many calls are remembered for one file or command: the last ones.
const REMEMBERED: usize = 16;

/// Something that the agent asks the client to do for it.
pub(super) enum Effect {
    /// `fs/write_text_file` to this path.
    Write(String),
    /// `terminal/create`: the ways in which a call may have named the command.
    Run(Vec<String>),
}

impl Effect {
    /// The effect of a request of the agent.
    pub(super) fn of(method: &str, params: &Value) -> Option<Self> {
        match method {
            "fs/write_text_file" => Some(Self::Write(params.get("path")?.as_str()?.to_owned())),
            "terminal/create" => {
                let command = params.get("command")?.as_str()?;
                let args: Vec<&str> = params
                    .get("args")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                let mut whole = command.to_owned();
                for arg in &args {
                    whole.push(' ');
                    whole.push_str(arg);
                }
                let mut names = vec![whole];
                // `sh -c "command"`: the shell is the agent's choice.
                if let [.., option, inner] = args.as_slice()
                    && option.starts_with('-')
                    && option.ends_with('c')
                {
                    names.push((*inner).to_owned());
                }
                Some(Self::Run(names))
            }
            _ => None,
        }
    }

    /// Whether a call of this kind may have it.
    pub(super) fn may_be_of(&self, kind: Option<&str>) -> bool {
        match self {
            Self::Write(_) => kind.is_none_or(|kind| !READERS.contains(&kind)),
            Self::Run(_) => true,
        }
    }
}

/// As the end of a sentence: `wrote "/a"`, `ran "make"`.
impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(path) => write!(f, "wrote {}", quote(path)),
            Self::Run(names) => {
                write!(f, "ran {}", quote(names.first().map_or("", String::as_str)))
            }
        }
    }
}

/// Which tool calls are about which files and commands.
#[derive(Default)]
pub(super) struct Targets {
    files: HashMap<String, VecDeque<String>>,
    commands: HashMap<String, VecDeque<String>>,
    known: HashSet<String>,
}

impl Targets {
    /// Takes what a `tool_call`, an update of it or a permission request says of a call.
    pub(super) fn add(&mut self, id: &str, body: &Value) {
        let locations = body.get("locations").and_then(Value::as_array);
        for location in locations.into_iter().flatten() {
            self.file(id, location.get("path"));
        }
        let content = body.get("content").and_then(Value::as_array);
        for item in content.into_iter().flatten() {
            if item.get("type").and_then(Value::as_str) == Some("diff") {
                self.file(id, item.get("path"));
            }
        }
        let Some(input) = body.get("rawInput") else {
            return;
        };
        for name in FILES {
            self.file(id, input.get(name));
        }
        match input.get("command") {
            Some(Value::String(command)) => self.command(id, command.clone()),
            Some(Value::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                self.command(id, words.join(" "));
            }
            _ => {}
        }
    }

    /// Whether anything is known of what a call is about.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.known.contains(id)
    }

    /// The calls that an effect may belong to.
    pub(super) fn of<'a>(&'a self, effect: &'a Effect) -> impl Iterator<Item = &'a str> {
        let (map, names) = match effect {
            Effect::Write(path) => (&self.files, std::slice::from_ref(path)),
            Effect::Run(names) => (&self.commands, names.as_slice()),
        };
        names
            .iter()
            .filter_map(|name| map.get(name))
            .flatten()
            .map(String::as_str)
    }

    /// Whether there is room for more. Of a call for which there is none, nothing is known.
    fn has_room(&self) -> bool {
        self.files.len() < KEPT && self.commands.len() < KEPT
    }

    fn file(&mut self, id: &str, path: Option<&Value>) {
        if self.has_room()
            && let Some(path) = path.and_then(Value::as_str).filter(|path| !path.is_empty())
        {
            remember(&mut self.files, path.to_owned(), id);
            self.know(id);
        }
    }

    fn command(&mut self, id: &str, command: String) {
        if !command.is_empty() && self.has_room() {
            remember(&mut self.commands, command, id);
            self.know(id);
        }
    }

    fn know(&mut self, id: &str) {
        if !self.known.contains(id) {
            self.known.insert(id.to_owned());
        }
    }
}

fn remember(map: &mut HashMap<String, VecDeque<String>>, name: String, id: &str) {
    let calls = map.entry(name).or_default();
    if !calls.iter().any(|known| known == id) {
        if calls.len() == REMEMBERED {
            calls.pop_front();
        }
        calls.push_back(id.to_owned());
    }
}
