//! What a model can do: five tools, each described once in [`TOOLS`].

mod bash;
mod edit_file;
mod output;
mod process;
mod read_file;
mod read_skill;
mod write_file;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::settings;

pub(crate) use process::Processes;

/// What a tool call gets as result that a cancel came before.
pub(crate) const CANCELLED: &str = "[cancelled]";

/// A tool as the model and the client see it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// The ACP kind.
    pub(crate) kind: &'static str,
    /// Whether the user is asked first.
    pub(crate) asks: bool,
    pub(crate) class: Class,
    pub(crate) description: &'static str,
    /// The arguments, all strings and all needed, with what each is. The first one is the subject
    /// that the title shows.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
}

/// How a tool is counted in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Command,
    FileOperation,
    Skill,
}

const PATH: (&str, &str) = ("path", "the file, relative to the folder or absolute");

/// Every tool.
pub(crate) const TOOLS: [Tool; 5] = [
    Tool {
        name: "bash",
        kind: "execute",
        asks: true,
        class: Class::Command,
        description: "Run a command with the shell in the folder and get its output.",
        arguments: &[("command", "the command line")],
    },
    Tool {
        name: "read_file",
        kind: "read",
        asks: true,
        class: Class::FileOperation,
        description: "Get the text of a file.",
        arguments: &[PATH],
    },
    Tool {
        name: "write_file",
        kind: "edit",
        asks: true,
        class: Class::FileOperation,
        description: "Make a file, or replace all of its text.",
        arguments: &[PATH, ("content", "the whole new text")],
    },
    Tool {
        name: "edit_file",
        kind: "edit",
        asks: true,
        class: Class::FileOperation,
        description: "Replace a text that occurs exactly once in a file.",
        arguments: &[
            PATH,
            ("old", "the text to replace, exactly as it stands"),
            ("new", "the text to put there"),
        ],
    },
    Tool {
        name: "read_skill",
        kind: "read",
        asks: false,
        class: Class::Skill,
        description: "Get the instructions of a skill by its name.",
        arguments: &[("name", "the name of the skill")],
    },
];

impl Tool {
    /// The JSON Schema of the arguments.
    pub(crate) fn parameters(&self) -> Value {
        let properties: Map<String, Value> = self
            .arguments
            .iter()
            .map(|(name, description)| {
                let property = json!({ "type": "string", "description": description });
                ((*name).to_owned(), property)
            })
            .collect();
        let required: Vec<&str> = self.arguments.iter().map(|(name, _)| *name).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    }
}

/// A tool call of a model, made ready to be shown and run.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) name: String,
    /// The tool, unless the model named one that does not exist.
    pub(crate) tool: Option<&'static Tool>,
    pub(crate) title: String,
    pub(crate) kind: &'static str,
    pub(crate) arguments: Value,
    /// The file concerned, absolute.
    pub(crate) path: Option<PathBuf>,
    /// Why the call cannot be run, if it cannot.
    pub(crate) fault: Option<String>,
}

/// What came of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) text: String,
    pub(crate) failed: bool,
    /// The file that was changed, if one was.
    pub(crate) change: Option<Change>,
}

/// A change to a file, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// `None` for a new file.
    pub(crate) old: Option<String>,
    pub(crate) new: String,
}

impl Output {
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: false,
            change: None,
        }
    }

    pub(crate) fn failure(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
            change: None,
        }
    }
}

impl Invocation {
    /// Reads a call of the model. Whatever it holds, the result can be shown.
    pub(crate) fn new(name: &str, arguments: &Value, cwd: &Path) -> Self {
        let tool = TOOLS.iter().find(|tool| tool.name == name);
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str);
        let fault = match tool {
            None => {
                let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
                Some(format!(
                    "there is no tool `{name}`; known: {}",
                    known.join(", ")
                ))
            }
            Some(tool) => tool
                .arguments
                .iter()
                .find(|(wanted, _)| argument(wanted).is_none())
                .map(|(wanted, _)| format!("{name} needs a string `{wanted}`")),
        };
        let subject = tool
            .and_then(|tool| tool.arguments.first())
            .and_then(|(subject, _)| argument(subject));
        let mut title = match subject {
            Some(subject) => format!("{name}: {subject}"),
            None if name.trim().is_empty() => "unnamed tool".to_owned(),
            None => name.to_owned(),
        };
        if name == "write_file"
            && let Some(content) = argument("content")
        {
            title.push_str(&format!(" ({} bytes)", content.len()));
        }
        Self {
            name: name.to_owned(),
            tool,
            title,
            kind: tool.map_or("execute", |tool| tool.kind),
            arguments: arguments.clone(),
            path: argument(PATH.0)
                .filter(|_| tool.is_some_and(|tool| tool.arguments.contains(&PATH)))
                .map(|path| absolute(path, cwd)),
            fault,
        }
    }

    /// Runs the call. A tool that cannot do its work has an output that says why.
    pub(crate) async fn run(&self, place: &Place<'_>) -> Output {
        if let Some(fault) = &self.fault {
            return Output::failure(fault);
        }
        let argument = |name: &str| {
            self.arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let path = self.path.clone().unwrap_or_default();
        let work: Box<dyn FnOnce() -> Output + Send> = match self.name.as_str() {
            "bash" => return bash::run(&argument("command"), place).await,
            "read_file" => Box::new(move || read_file::run(&path)),
            "write_file" => {
                let content = argument("content");
                Box::new(move || write_file::run(&path, content))
            }
            "edit_file" => {
                let (old, new) = (argument("old"), argument("new"));
                Box::new(move || edit_file::run(&path, &old, &new))
            }
            _ => {
                let (cwd, name) = (place.cwd.to_owned(), argument("name"));
                Box::new(move || read_skill::run(&cwd, &name))
            }
        };
        // Files are worked on elsewhere, so that a file system that hangs holds up this call only.
        let work = tokio::task::spawn_blocking(work);
        match place.cancel.run_until_cancelled(work).await {
            Some(Ok(output)) => output,
            Some(Err(_)) => Output::failure("the tool ended without a result"),
            None => Output::failure(CANCELLED),
        }
    }
}

/// Where and under which limits a tool runs.
pub(crate) struct Place<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) settings: &'a settings::Tools,
    /// The processes of the turn, which end with it.
    pub(crate) processes: &'a Processes,
    /// Cancelled with the turn.
    pub(crate) cancel: &'a CancellationToken,
}

/// A path of the model's, seen from the session's folder.
fn absolute(path: &str, cwd: &Path) -> PathBuf {
    // Collecting the components takes out `.` and doubled slashes.
    cwd.join(path).components().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn call(name: &str, arguments: Value) -> Invocation {
        Invocation::new(name, &arguments, Path::new("/project"))
    }

    #[test]
    fn titles_show_the_subject_of_each_tool() {
        assert_eq!(call("bash", json!({"command": "ls"})).title, "bash: ls");
        let write = call("write_file", json!({"path": "a", "content": "é"}));
        assert_eq!(write.title, "write_file: a (2 bytes)");
        assert_eq!(
            call("read_skill", json!({"name": "s"})).title,
            "read_skill: s"
        );
    }

    #[test]
    fn a_relative_path_is_shown_absolute() {
        let read = call("read_file", json!({"path": "./src//a.rs"}));
        assert_eq!(read.path.unwrap(), Path::new("/project/src/a.rs"));
        assert_eq!(read.title, "read_file: ./src//a.rs");
        assert_eq!(
            call("bash", json!({"command": "ls", "path": "x"})).path,
            None
        );
    }

    #[test]
    fn a_call_that_cannot_run_can_still_be_shown() {
        let unknown = call("fly", json!({}));
        assert_eq!((unknown.kind, unknown.title.as_str()), ("execute", "fly"));
        assert!(unknown.fault.unwrap().starts_with("there is no tool `fly`"));
        let bare = call("edit_file", json!({"path": "a", "old": "x"}));
        assert_eq!(bare.fault.unwrap(), "edit_file needs a string `new`");
        assert_eq!(call("", json!("{not json")).title, "unnamed tool");
    }
}
