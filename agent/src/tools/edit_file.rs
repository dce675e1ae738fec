//! `edit_file`: one place in a file.

use std::path::Path;

use super::{Change, Output};

/// Replaces `old`, which has to occur exactly once, by `new`.
pub(crate) fn run(path: &Path, old: &str, new: &str) -> Output {
    match edit(path, old, new) {
        Ok(change) => Output {
            text: format!("edited {}", path.display()),
            change: Some(change),
            ..Output::default()
        },
        Err(reason) => Output::failure(format!("{}: {reason}", path.display())),
    }
}

fn edit(path: &Path, old: &str, new: &str) -> Result<Change, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("is no regular file".to_owned());
    }
    let before = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let after = replaced(&before, old, new)?;
    std::fs::write(path, &after).map_err(|error| error.to_string())?;
    Ok(Change {
        path: path.to_owned(),
        old: Some(before),
        new: after,
    })
}

/// The text with the one place replaced.
///
/// # Errors
///
/// Says why there is not exactly one.
pub(crate) fn replaced(before: &str, old: &str, new: &str) -> Result<String, String> {
    if old.is_empty() {
        return Err("the text to replace is empty".to_owned());
    }
    let at = before
        .find(old)
        .ok_or("the text to replace does not occur")?;
    // Searched from the next character on, so that overlapping places count too.
    let after_first = at + old.chars().next().map_or(1, char::len_utf8);
    if before
        .get(after_first..)
        .is_some_and(|rest| rest.contains(old))
    {
        return Err("the text to replace occurs more than once".to_owned());
    }
    Ok(before.replacen(old, new, 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn edited(before: &str, old: &str, new: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, before).unwrap();
        let change = edit(&path, old, new)?;
        assert_eq!(std::fs::read_to_string(&path).unwrap(), change.new);
        assert_eq!(change.old.unwrap(), before);
        Ok(change.new)
    }

    #[test]
    fn the_one_place_is_replaced() {
        assert_eq!(edited("one two", "two", "2").unwrap(), "one 2");
    }

    #[test]
    fn no_place_and_two_places_are_refused() {
        let none = edited("one", "two", "2").unwrap_err();
        assert_eq!(none, "the text to replace does not occur");
        let overlapping = edited("aaa", "aa", "b").unwrap_err();
        assert_eq!(overlapping, "the text to replace occurs more than once");
        assert!(edited("éé", "é", "e").is_err());
        assert!(edited("x", "", "e").is_err());
    }
}
