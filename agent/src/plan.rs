//! The plan of a turn, as the tool `update_plan` takes it: a checklist.

use serde_json::{Value, json};

/// The marks of a step, with its status on the wire.
const MARKS: [(&str, &str); 3] = [
    ("[ ]", "pending"),
    ("[>]", "in_progress"),
    ("[x]", "completed"),
];

/// The entries of a checklist, one step a line.
///
/// # Errors
///
/// Quotes the line that is no step.
pub(crate) fn read(checklist: &str) -> Result<Vec<Value>, String> {
    let entries: Vec<Value> = checklist
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| {
            MARKS
                .iter()
                .find_map(|(mark, status)| {
                    let content = line.strip_prefix(mark)?.trim();
                    Some(json!({ "content": content, "priority": "medium", "status": status }))
                })
                .ok_or_else(|| format!("`{line}` is no step; it begins with `[ ]`, `[>]` or `[x]`"))
        })
        .collect::<Result<_, _>>()?;
    if entries.is_empty() {
        return Err("the plan has no step".to_owned());
    }
    Ok(entries)
}

/// Whether a step is left.
pub(crate) fn is_unfinished(entries: &[Value]) -> bool {
    entries
        .iter()
        .any(|entry| entry.get("status").and_then(Value::as_str) != Some("completed"))
}

/// A checklist of steps, of which the first `done` are done and the next one is in progress.
pub(crate) fn checklist<'a>(steps: impl Iterator<Item = &'a str>, done: usize) -> String {
    let lines: Vec<String> = steps
        .enumerate()
        .map(|(index, step)| {
            let mark = match index.cmp(&done) {
                std::cmp::Ordering::Less => "[x]",
                std::cmp::Ordering::Equal => "[>]",
                std::cmp::Ordering::Greater => "[ ]",
            };
            format!("{mark} {step}")
        })
        .collect();
    lines.join("\n")
}

/// The steps of a checklist, without their marks.
pub(crate) fn steps(checklist: &str) -> impl Iterator<Item = &str> {
    checklist.lines().map(|line| {
        MARKS
            .iter()
            .find_map(|(mark, _)| line.strip_prefix(mark))
            .unwrap_or(line)
            .trim()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_checklist_becomes_entries() {
        let entries = read("[x] look\n\n  [>] change \n[ ] test").unwrap();
        let states: Vec<(&str, &str)> = entries
            .iter()
            .map(|entry| {
                let member = |name: &str| entry.get(name).unwrap().as_str().unwrap();
                (member("content"), member("status"))
            })
            .collect();
        let expected = [
            ("look", "completed"),
            ("change", "in_progress"),
            ("test", "pending"),
        ];
        assert_eq!(states, expected);
        assert!(is_unfinished(&entries));
        assert!(!is_unfinished(&read("[x] look").unwrap()));
    }

    #[test]
    fn what_is_no_checklist_is_refused() {
        assert!(read("look").unwrap_err().contains("`look`"));
        assert!(read(" \n").is_err());
    }

    #[test]
    fn steps_are_written_and_read_again() {
        let text = checklist(["a", "b", "c"].into_iter(), 1);
        assert_eq!(text, "[x] a\n[>] b\n[ ] c");
        assert_eq!(steps(&text).collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
