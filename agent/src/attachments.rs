//! `@path` in a prompt: files and folders that the user points at.

use std::path::{Component, Path, PathBuf};

/// A path in the text that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// Absolute.
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
}

/// Characters that end a sentence rather than a path.
const PUNCTUATION: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', '"', '\''];

/// Every `@path` in `text` that names a file or folder, once per path, in order.
///
/// A relative name is looked for in each of `folders`, the session's own first.
pub(crate) fn find(text: &str, folders: &[&Path], home: Option<&Path>) -> Vec<Attachment> {
    let mut found: Vec<Attachment> = Vec::new();
    for word in text.split_whitespace() {
        let Some(name) = word
            .trim_start_matches(['(', '"', '\''])
            .strip_prefix('@')
            .filter(|name| !name.is_empty())
        else {
            continue;
        };
        let in_folders = |name: &str| {
            folders
                .iter()
                .find_map(|folder| existing(name, folder, home))
        };
        let Some(attachment) =
            in_folders(name).or_else(|| in_folders(name.trim_end_matches(PUNCTUATION)))
        else {
            continue;
        };
        if found.iter().all(|known| known.path != attachment.path) {
            found.push(attachment);
        }
    }
    found
}

fn existing(name: &str, cwd: &Path, home: Option<&Path>) -> Option<Attachment> {
    if name.is_empty() {
        return None;
    }
    let path = if name == "~" {
        home?.to_owned()
    } else if let Some(rest) = name.strip_prefix("~/") {
        without_dots(&home?.join(rest))
    } else if name.starts_with('/') {
        without_dots(Path::new(name))
    } else {
        // A relative name is one below the session's folder.
        let path = without_dots(&cwd.join(name));
        if !path.starts_with(without_dots(cwd)) {
            return None;
        }
        path
    };
    let metadata = std::fs::metadata(&path).ok()?;
    Some(Attachment {
        path,
        is_folder: metadata.is_dir(),
    })
}

/// The path with `.` and `..` worked out by name alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("a.txt"), "").unwrap();
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("note"), "").unwrap();
        find(text, &[folder.path()], Some(home.path()))
            .into_iter()
            .map(|attachment| {
                let path = attachment.path.display().to_string();
                let kind = if attachment.is_folder {
                    "folder"
                } else {
                    "file"
                };
                let path = path
                    .replace(&folder.path().display().to_string(), "{cwd}")
                    .replace(&home.path().display().to_string(), "{home}");
                format!("{kind} {path}")
            })
            .collect()
    }

    #[test]
    fn files_and_folders_are_found_once_each_in_order() {
        assert_eq!(
            names("see @src and @a.txt, then @a.txt again (@./src)."),
            ["folder {cwd}/src", "file {cwd}/a.txt"]
        );
    }

    #[test]
    fn home_and_absolute_paths_are_taken() {
        assert_eq!(names("@~/note"), ["file {home}/note"]);
        assert_eq!(names("@/"), ["folder /"]);
    }

    #[test]
    fn what_does_not_exist_or_is_no_path_is_left_alone() {
        let none: [&str; 0] = [];
        assert_eq!(names("@missing me@a.txt @ @@ @../.. @."), ["folder {cwd}"]);
        assert_eq!(names("no path at all"), none);
    }
}
