//! The folders of a recording, and which folders of a fresh run stand for them.

use crate::trace::Header;

/// What the harness names the folder of a run; its own recordings have it in their paths.
const RUN_FOLDER: &str = "acp-harness-";

/// A folder of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    /// Its path there.
    pub(crate) recorded: String,
    /// What stands for it.
    pub(crate) place: FolderPlace,
}

/// A folder of a fresh run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FolderPlace {
    /// The session's folder.
    Workspace,
    /// A folder in the session's folder, by its path in it.
    Inside(String),
    /// One more folder beside it, by its number.
    Beside(usize),
    /// The home.
    Home,
    /// What holds all of them.
    Root,
}

/// Assigns the folders that sessions were opened in, in the order in which they were named.
pub(super) fn assigned(named: &[String], header: &Header) -> Vec<Folder> {
    let mut paths: Vec<&str> = Vec::new();
    let known = named.iter().map(String::as_str);
    let started = header.cwd.as_deref().filter(|_| named.is_empty());
    for path in known.chain(started).map(trimmed) {
        if is_absolute(path) && !paths.contains(&path) {
            paths.push(path);
        }
    }
    let mut folders: Vec<Folder> = Vec::new();
    let mut beside = 1;
    // What holds others comes first, so that these find their place in it.
    let (roots, inner): (Vec<&str>, Vec<&str>) = paths
        .iter()
        .partition(|path| !paths.iter().any(|other| inside(path, other).is_some()));
    for path in roots {
        let place = if folders.is_empty() {
            FolderPlace::Workspace
        } else {
            beside += 1;
            FolderPlace::Beside(beside)
        };
        folders.push(Folder {
            recorded: path.to_owned(),
            place,
        });
    }
    for path in inner {
        let holder = folders
            .iter()
            .find_map(|folder| Some((&folder.place, inside(path, &folder.recorded)?)));
        if let Some((FolderPlace::Workspace, rest)) = holder {
            folders.push(Folder {
                recorded: path.to_owned(),
                place: FolderPlace::Inside(rest.to_owned()),
            });
        }
    }
    around(&mut folders, header);
    folders
}

/// Adds the home, and what holds the folders of a run of the harness's own.
fn around(folders: &mut Vec<Folder>, header: &Header) {
    let mut more = Vec::new();
    if let Some(first) = folders.first() {
        if let Some(root) = first.recorded.strip_suffix("/workspace")
            && root
                .rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with(RUN_FOLDER))
        {
            more.push((root.to_owned(), FolderPlace::Root));
        } else if let Some(home) = home_of(&first.recorded) {
            more.push((home, FolderPlace::Home));
        }
    }
    if header.redacted {
        more.push(("{home}".to_owned(), FolderPlace::Home));
    }
    for (recorded, place) in more {
        if folders.iter().all(|folder| folder.recorded != recorded) {
            folders.push(Folder { recorded, place });
        }
    }
}

/// The home that a path is in, by the usual places of homes.
fn home_of(path: &str) -> Option<String> {
    for base in ["/home/", "/Users/"] {
        if let Some(rest) = path.strip_prefix(base) {
            let user = rest.split('/').next().filter(|user| !user.is_empty())?;
            return Some(format!("{base}{user}"));
        }
    }
    path.starts_with("/root/").then(|| "/root".to_owned())
}

/// The rest of a path that lies in a folder, not the folder itself.
fn inside<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder == "/" {
        return path.strip_prefix('/').filter(|rest| !rest.is_empty());
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

fn trimmed(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if path.starts_with('/') => "/",
        path => path,
    }
}

fn is_absolute(path: &str) -> bool {
    let drive = path
        .strip_prefix(|letter: char| letter.is_ascii_alphabetic())
        .is_some_and(|rest| rest.starts_with(":\\") || rest.starts_with(":/"));
    let climbs = path.split(['/', '\\']).any(|part| part == "..");
    !climbs
        && (path.starts_with('/')
            || path.starts_with("{home}")
            || path.starts_with("{cwd}")
            || drive)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(named: &[&str], header: &Header) -> Vec<(String, FolderPlace)> {
        let named: Vec<String> = named.iter().map(|path| (*path).to_owned()).collect();
        assigned(&named, header)
            .into_iter()
            .map(|folder| (folder.recorded, folder.place))
            .collect()
    }

    #[test]
    fn a_folder_in_another_keeps_its_place_in_it_and_others_stand_beside() {
        let found = places(&["/p/a/sub", "/p/a/", "/q", "relative"], &Header::new());
        assert_eq!(
            found,
            [
                ("/p/a".to_owned(), FolderPlace::Workspace),
                ("/q".to_owned(), FolderPlace::Beside(2)),
                ("/p/a/sub".to_owned(), FolderPlace::Inside("sub".into())),
            ]
        );
    }

    #[test]
    fn the_home_is_known_where_it_was_redacted_or_holds_the_folder() {
        let mut header = Header::new();
        assert_eq!(
            places(&["/home/ada/x"], &header)[1],
            ("/home/ada".to_owned(), FolderPlace::Home)
        );
        header.redacted = true;
        assert_eq!(
            places(&["{home}/x"], &header)[1],
            ("{home}".to_owned(), FolderPlace::Home)
        );
    }

    #[test]
    fn a_recording_of_a_run_names_what_holds_its_folders() {
        let found = places(&["/tmp/acp-harness-abc/workspace"], &Header::new());
        assert_eq!(
            found[1],
            ("/tmp/acp-harness-abc".to_owned(), FolderPlace::Root)
        );
    }

    #[test]
    fn without_a_session_the_folder_of_the_start_stands_in() {
        let header = Header {
            cwd: Some("/p".into()),
            ..Header::new()
        };
        assert_eq!(places(&[], &header)[0].0, "/p");
    }
}
