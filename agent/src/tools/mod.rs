//! What a model can do: a table of tools, and a file for each.

mod ask_user;
mod bash;
mod edit_file;
mod output;
mod process;
mod read_file;
mod read_skill;
mod table;
mod write_file;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::settings;

pub(crate) use ask_user::in_plain_text;
pub(crate) use edit_file::replaced;
pub(crate) use output::Bounded;
pub(crate) use process::Processes;
pub(crate) use table::{ASKING, BASIC, Class, EVERY, READ_SKILL, Tool};

use table::{PATH, SERVER_TOOL};

/// How much of a tool's output is kept, in bytes.
pub(crate) const OUTPUT_LIMIT: usize = output::HEAD + output::TAIL;

/// What a tool call gets as result that a cancel came before.
pub(crate) const CANCELLED: &str = "[cancelled]";

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
    /// The client's terminal that the call ran in, if it did.
    pub(crate) terminal: Option<String>,
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
            ..Self::default()
        }
    }

    pub(crate) fn failure(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
            ..Self::default()
        }
    }
}

impl Invocation {
    /// Reads a call of the model. Whatever it holds, the result can be shown.
    pub(crate) fn new(name: &str, arguments: &Value, tools: &[&'static Tool], cwd: &Path) -> Self {
        let tool = tools.iter().copied().find(|tool| tool.name == name);
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str);
        let fault = match tool {
            None => {
                let known: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
                Some(format!(
                    "there is no tool `{name}`; known: {}",
                    known.join(", ")
                ))
            }
            Some(tool) => {
                let missing = tool
                    .arguments
                    .iter()
                    .find(|(wanted, _)| argument(wanted).is_none());
                let odd = tool.optional.iter().find(|(wanted, _)| {
                    let given = arguments.get(wanted).unwrap_or(&Value::Null);
                    !given.is_null() && !given.is_string()
                });
                missing
                    .or(odd)
                    .map(|(wanted, _)| format!("{name} needs a string `{wanted}`"))
            }
        };
        let subject = tool
            .and_then(|tool| tool.arguments.first())
            .and_then(|(subject, _)| argument(subject));
        let mut title = match subject {
            Some(subject) => format!("{name}: {subject}"),
            None if name.trim().is_empty() => "unnamed tool".to_owned(),
            None => name.to_owned(),
        };
        if name == "update_plan"
            && let Some(steps) = subject
        {
            title = format!("{name}: {} step(s)", steps.lines().count());
        }
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

    /// Reads a call of a tool that a server has.
    pub(crate) fn of_server(name: &str, arguments: &Value) -> Self {
        let fault = match arguments {
            Value::Object(_) | Value::Null => None,
            _ => Some(format!("{name} needs an object of arguments")),
        };
        Self {
            name: name.to_owned(),
            tool: Some(&SERVER_TOOL),
            title: name.to_owned(),
            kind: SERVER_TOOL.kind,
            arguments: arguments.clone(),
            path: None,
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
            "ask_user" => return in_plain_text(&argument("question")),
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
    use serde_json::json;

    fn call(name: &str, arguments: Value) -> Invocation {
        Invocation::new(name, &arguments, &BASIC, Path::new("/project"))
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
