//! Folders of one machine in texts: the session's, the agent's, the user's home.

use std::borrow::Cow;

use super::minted::Reference;
use super::needles::{Edges, Needles};
use super::node::Node;

/// The folder of the session that a text belongs to.
const OWN: &str = "{cwd}";
/// The folder of another session.
const OTHER: &str = "{another cwd}";
/// The folder that the agent was started in, where no session has it.
const START: &str = "{start}";
/// The user's home.
const HOME: &str = "{home}";

/// Where homes are.
const HOMES: [&str; 2] = ["/home/", "/Users/"];
/// The home of the administrator.
const ROOT_HOME: &str = "/root";

/// The methods that open a session in a folder.
const OPENING: [&str; 3] = ["session/new", "session/load", "session/resume"];

/// Whose folder one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Of a group of sessions that share it.
    Sessions(usize),
    /// Of the agent's process.
    Agent,
}

/// The folders of one trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folders {
    known: Needles<Owner>,
    groups: usize,
    /// The group of each session, by its reference.
    of_session: crate::hash::HashMap<Reference, usize>,
}

impl Folders {
    /// Those that the header of a trace tells.
    pub(crate) fn of_agent(cwd: Option<&str>) -> Self {
        let mut folders = Self::default();
        if let Some(cwd) = cwd.filter(|cwd| cwd.matches('/').count() > 1) {
            folders.add(cwd, Owner::Agent);
        }
        folders
    }

    /// The group of a folder that a session may have.
    pub(crate) fn group(&mut self, cwd: &str) -> Option<usize> {
        let cwd = trimmed(cwd);
        if cwd.len() < 2 {
            return None;
        }
        if let Some(Owner::Sessions(group)) = self.known.whole(cwd) {
            return Some(group);
        }
        let group = self.groups;
        self.groups += 1;
        self.add(cwd, Owner::Sessions(group));
        Some(group)
    }

    /// The group of the folder in which a message opens a session.
    pub(crate) fn opened(&mut self, message: &Node<'_>) -> Option<usize> {
        let method = message.get("method")?.text()?;
        if OPENING.contains(&method) {
            self.group(message.at(&["params", "cwd"])?.text()?)
        } else {
            None
        }
    }

    /// The session has a folder of this group.
    pub(crate) fn belongs(&mut self, session: Reference, group: usize) {
        self.of_session.insert(session, group);
    }

    /// The group of a session's folder.
    pub(crate) fn group_of(&self, session: Reference) -> Option<usize> {
        self.of_session.get(&session).copied()
    }

    fn add(&mut self, folder: &str, owner: Owner) {
        for form in forms(trimmed(folder)) {
            self.known.put(&form, owner, |known| known == Owner::Agent);
        }
    }

    /// The text with every folder by what it is. `own` is the group of the session that the text belongs to; without one
    /// any session's folder counts as own.
    pub(crate) fn named<'t>(&self, text: Cow<'t, str>, own: Option<usize>) -> Cow<'t, str> {
        if !text.contains(['/', '\\', '{']) {
            return text;
        }
        let known_from = |from| self.known.find(&text, from, Edges::Path);
        let mut out = String::new();
        let mut copied = 0;
        let mut known = known_from(0);
        loop {
            if known.is_some_and(|(start, ..)| start < copied) {
                known = known_from(copied);
            }
            let until = known.map_or(text.len(), |(start, ..)| start);
            let (start, length, name) = match (home(&text, copied, until), known) {
                (Some((start, length)), _) => (start, length, HOME),
                // Where no session was opened in the recording, the agent's folder is that of its sessions.
                (None, Some((start, length, Owner::Agent))) if self.groups == 0 => {
                    (start, length, OWN)
                }
                (None, Some((start, length, owner))) => (start, length, name_of(owner, own)),
                (None, None) => break,
            };
            out.push_str(text.get(copied..start).unwrap_or(""));
            out.push_str(name);
            copied = start + length;
        }
        if copied == 0 {
            return text;
        }
        out.push_str(text.get(copied..).unwrap_or(""));
        Cow::Owned(out)
    }
}

fn name_of(owner: Owner, own: Option<usize>) -> &'static str {
    match owner {
        Owner::Agent => START,
        Owner::Sessions(group) if own.is_none_or(|own| own == group) => OWN,
        Owner::Sessions(_) => OTHER,
    }
}

/// The first home folder that begins in `from..until`.
fn home(text: &str, from: usize, until: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < until {
        let found = at
            + bytes
                .get(at..until)?
                .iter()
                .position(|byte| *byte == b'/')?;
        at = found + 1;
        let inside_name = found
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .is_some_and(|before| {
                before.is_ascii_alphanumeric() || matches!(before, b'-' | b'_' | b'.' | b'}')
            });
        if inside_name {
            continue;
        }
        let tail = text.get(found..)?;
        let name_from = HOMES
            .iter()
            .find(|homes| tail.starts_with(**homes))
            .map(|homes| homes.len());
        let length = match name_from {
            Some(start) => {
                let name = tail.get(start..)?;
                let end = name
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
                    .unwrap_or(name.len());
                let name = name.get(..end)?.trim_end_matches('.');
                (!name.is_empty()).then(|| start + name.len())
            }
            None => tail
                .strip_prefix(ROOT_HOME)
                .filter(|rest| {
                    !rest.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c))
                })
                .map(|_| ROOT_HOME.len()),
        };
        if let Some(length) = length {
            return Some((found, length));
        }
    }
    None
}

fn trimmed(folder: &str) -> &str {
    let short = folder.trim_end_matches(['/', '\\']);
    if short.is_empty() { folder } else { short }
}

/// The ways in which one folder is written: as it is, as macOS resolves it, and as a URI has it.
fn forms(folder: &str) -> Vec<String> {
    let mut forms = vec![folder.to_owned()];
    if folder.starts_with("/tmp/") || folder.starts_with("/var/") {
        forms.push(format!("/private{folder}"));
    } else if let Some(short) = folder.strip_prefix("/private/") {
        forms.push(format!("/{short}"));
    }
    for form in forms.clone() {
        if let Ok(uri) = url::Url::from_file_path(&form)
            && uri.path() != form
        {
            forms.push(uri.path().to_owned());
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_by_whose_they_are() {
        let mut folders = Folders::of_agent(Some("/work/agent"));
        let (one, two) = (folders.group("/tmp/x one/"), folders.group("/tmp/two"));
        assert_eq!(folders.group("/tmp/two"), two);
        let text = "/tmp/x one/a file:///tmp/x%20one/b /private/tmp/two /work/agent, /home/me/c /tmp/twofold (/root) /roots";
        assert_eq!(
            folders.named(text.into(), one),
            "{cwd}/a file://{cwd}/b {another cwd} {start}, {home}/c /tmp/twofold ({home}) /roots"
        );
    }

    #[test]
    fn the_root_is_no_folder_that_is_looked_for() {
        let mut folders = Folders::of_agent(Some("/"));
        assert_eq!(folders.group("/"), None);
        assert_eq!(folders.named("a/b /etc".into(), None), "a/b /etc");
    }

    #[test]
    fn a_placeholder_for_the_home_may_begin_a_folder() {
        let mut folders = Folders::default();
        let own = folders.group("{home}/project");
        assert_eq!(
            folders.named("see {home}/project/a".into(), own),
            "see {cwd}/a"
        );
    }
}
