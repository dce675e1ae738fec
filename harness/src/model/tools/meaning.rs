//! What a call of a tool means, by the tool's name and its arguments: the way back from a call to its kind.

use serde_json::{Map, Value};

use super::known::{Kind, PARAMETERS, Part, TABLE};
use super::names;
use crate::model::script::Call;

/// The call by its meaning; `None` where none is known.
pub(crate) fn meaning(tool: &str, arguments: &Map<String, Value>) -> Option<Call> {
    let words = names::words(tool);
    let listed = |kind: &&Kind| kind.tools.iter().any(|name| names::same(name, tool));
    let alike = |kind: &&Kind| {
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        has(kind.words) && !has(kind.against)
    };
    let kinds = TABLE.iter().filter(listed);
    of_kinds(kinds.chain(TABLE.iter().filter(alike)), arguments)
}

/// The call of a kind as ACP names it; `None` where its arguments are not known.
pub(crate) fn of_kind(kind: &str, arguments: &Map<String, Value>) -> Option<Call> {
    of_kinds(TABLE.iter().filter(|known| known.name == kind), arguments)
}

fn of_kinds(
    kinds: impl Iterator<Item = &'static Kind>,
    arguments: &Map<String, Value>,
) -> Option<Call> {
    let mut forms = kinds.flat_map(|kind| kind.forms.iter().map(move |form| (kind, form)));
    forms.find_map(|(kind, form)| {
        let mut call = Call {
            kind: Some(kind.name.to_owned()),
            ..Call::default()
        };
        for part in *form {
            let text = argument(*part, arguments)?;
            match part {
                Part::Command => call.command = Some(text),
                Part::Path => call.path = Some(text),
                Part::Content => call.content = Some(text),
                Part::Old => call.old = Some(text),
                Part::New => call.new = Some(text),
                Part::Url => call.url = Some(text),
                Part::Pattern => call.pattern = Some(text),
                Part::Ask => call.question = Some(text),
                Part::Program | Part::Arguments | Part::Question | Part::Patch => return None,
            }
        }
        // A tool that both reads and edits is told by what it was given.
        let reads = kind.name == "read";
        let edits = [Part::Content, Part::New]
            .iter()
            .any(|part| argument(*part, arguments).is_some());
        (!(reads && edits)).then_some(call)
    })
}

/// What was given for a part: under the first of its usual names.
fn argument(part: Part, arguments: &Map<String, Value>) -> Option<String> {
    let names = PARAMETERS.iter().filter(|it| it.part == part);
    let mut given = names
        .flat_map(|it| it.names)
        .filter_map(|name| arguments.iter().find(|(own, _)| names::same(own, name)));
    given.find_map(|(_, value)| text(value))
}

/// A text; of the words of a shell's command line that line.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().map(Value::as_str).collect::<Option<_>>()?;
            match words.as_slice() {
                [] => None,
                [_, flag, line] if flag.starts_with('-') && flag.ends_with('c') => {
                    Some((*line).to_owned())
                }
                words => Some(shell_words::join(words)),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(tool: &str, arguments: Value) -> Option<Call> {
        meaning(tool, arguments.as_object().unwrap())
    }

    #[test]
    fn a_call_is_told_by_name_and_arguments() {
        let run = told("bash", json!({"command": "ls -la", "description": "x"})).unwrap();
        assert_eq!(
            (run.kind.as_deref(), run.command.as_deref()),
            (Some("execute"), Some("ls -la"))
        );
        let run = told(
            "local_shell",
            json!({"command": ["bash", "-lc", "ls | wc"]}),
        )
        .unwrap();
        assert_eq!(run.command.as_deref(), Some("ls | wc"));
        let write = told("write", json!({"filePath": "/x/a", "content": "hi"})).unwrap();
        assert_eq!(
            (
                write.kind.as_deref(),
                write.path.as_deref(),
                write.content.as_deref()
            ),
            (Some("edit"), Some("/x/a"), Some("hi"))
        );
        let read = told("ReadFile", json!({"absolute_path": "/x/a", "limit": 3})).unwrap();
        assert_eq!(
            (read.kind.as_deref(), read.path.as_deref()),
            (Some("read"), Some("/x/a"))
        );
        let change = told(
            "Edit",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y"}),
        )
        .unwrap();
        assert_eq!(
            (change.old.as_deref(), change.new.as_deref()),
            (Some("x"), Some("y"))
        );
        assert_eq!(told("weather", json!({"city": "Oslo"})), None);
    }

    #[test]
    fn a_tool_that_reads_and_edits_is_told_by_what_it_was_given() {
        let read = told(
            "str_replace_editor",
            json!({"command": "view", "path": "/a"}),
        )
        .unwrap();
        assert_eq!(read.kind.as_deref(), Some("read"));
        let edit = told(
            "str_replace_editor",
            json!({"command": "create", "path": "/a", "file_text": "x"}),
        )
        .unwrap();
        assert_eq!(
            (edit.kind.as_deref(), edit.content.as_deref()),
            (Some("edit"), Some("x"))
        );
    }
}
