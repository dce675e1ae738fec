//! Paths in messages, judged by their text alone: the agent may run on another system than the harness.

/// Whether a path is absolute on Unix or Windows, or begins with what a redaction puts in its place, such as `{home}`. `~`
/// and `file://` are not.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with("\\\\") || drive(path) || redacted(path)
}

/// `{home}`, alone or before a separator.
fn redacted(path: &str) -> bool {
    let Some((name, rest)) = path.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        return false;
    };
    let is_name = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !name.is_empty()
        && name.bytes().all(is_name)
        && (rest.is_empty() || rest.starts_with(['/', '\\']))
}

/// Whether `path` is `root` or lies below it, both absolute; `.` and `..` are followed, links are not. The two spellings
/// of the temporary folders of macOS (`/private/tmp` and `/tmp`) are one.
pub(super) fn is_within(path: &str, root: &str) -> bool {
    let (path, root) = (plain(path), plain(root));
    path.len() >= root.len() && path.iter().zip(&root).all(|(one, other)| one == other)
}

/// `C:\` or `C:/`.
fn drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

fn plain(path: &str) -> Vec<String> {
    let windows = drive(path) || path.starts_with("\\\\");
    let mut parts: Vec<String> = Vec::new();
    for part in path.split(|character| character == '/' || (windows && character == '\\')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ if windows => parts.push(part.to_lowercase()),
            _ => parts.push(part.to_owned()),
        }
    }
    let aliased = parts.first().is_some_and(|first| first == "private")
        && parts
            .get(1)
            .is_some_and(|second| ["tmp", "var", "etc"].contains(&second.as_str()));
    if aliased && !windows {
        parts.remove(0);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_is_what_either_system_calls_so() {
        for path in [
            "/",
            "/a",
            "C:\\a",
            "c:/a",
            "\\\\server\\share",
            "{home}",
            "{home}/a",
            "{secret-1}\\a",
        ] {
            assert!(is_absolute(path), "{path}");
        }
        for path in [
            "",
            "a",
            "./a",
            "~/a",
            "file:///a",
            "C:a",
            "\\a",
            "{home",
            "{}/a",
            "{home}a",
        ] {
            assert!(!is_absolute(path), "{path}");
        }
    }

    #[test]
    fn dots_are_followed_and_names_are_whole() {
        assert!(is_within("/project/a/../b", "/project/"));
        assert!(is_within("/project", "/project"));
        assert!(!is_within("/project/../etc/passwd", "/project"));
        assert!(!is_within("/projects/a", "/project"));
        assert!(is_within("C:\\Project\\a", "c:/project"));
        assert!(is_within("/private/var/x/a", "/var/x"));
    }
}
