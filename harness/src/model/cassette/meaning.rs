//! What a recorded call of a tool means, by the tool's name and its arguments.

use serde_json::{Map, Value};

use crate::model::known::{self, KINDS, Part};
use crate::model::script::Call;

/// The call by its meaning; `None` where none is known.
pub(super) fn meaning(tool: &str, arguments: &Map<String, Value>) -> Option<Call> {
    let words = known::words(tool);
    let listed = |kind: &&known::Kind| kind.tools.iter().any(|name| known::same(name, tool));
    let alike = |kind: &&known::Kind| words.iter().any(|word| kind.words.contains(&word.as_str()));
    let kinds = KINDS.iter().filter(listed);
    of_kinds(kinds.chain(KINDS.iter().filter(alike)), arguments)
}

/// The call of a kind as ACP names it; `None` where its arguments are not known.
pub(super) fn of_kind(kind: &str, arguments: &Map<String, Value>) -> Option<Call> {
    of_kinds(KINDS.iter().filter(|known| known.name == kind), arguments)
}

fn of_kinds(
    kinds: impl Iterator<Item = &'static known::Kind>,
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
                Part::Old | Part::New | Part::Patch => return None,
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
    let names = known::parameters(part).iter();
    let mut given =
        names.filter_map(|name| arguments.iter().find(|(own, _)| known::same(own, name)));
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
