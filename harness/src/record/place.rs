//! Where a recording goes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process;

/// How many recordings of one agent are kept where nobody said where to keep them.
const KEPT: usize = 50;

/// The highest number that is tried behind a name.
const HIGHEST: u32 = 9_999;

/// Where a recording goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into this file. If it holds something already, into the first of `NAME-2`, `NAME-3`, … that does not: an editor starts
    /// an agent again and again with the same words, and the recording that shows the fault is not to be lost.
    File(PathBuf),
    /// Into a file of its own in this folder, `AGENT-TIME-PID.jsonl`.
    Folder(PathBuf),
    /// As [`Folder`](Self::Folder), where the folder is the harness's own: it is made, and only the newest fifty are kept.
    Own(PathBuf),
}

/// A file to record into, with its first line written.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

impl Place {
    /// Makes the file, readable by nobody else, and writes the header, in one step for whoever looks at the folder: there is no
    /// moment at which a file stands there without a header, so that a recorder that is killed leaves none.
    ///
    /// `agent` is the name of the agent's program, `time` when the recording began, as `2026-11-30T09-12-03Z`.
    ///
    /// # Errors
    /// The path, and what the system said.
    pub(super) fn open(
        &self,
        agent: &str,
        time: &str,
        header: &str,
    ) -> Result<Opened, (PathBuf, io::Error)> {
        let named = |folder: &Path| folder.join(format!("{agent}-{time}-{}.jsonl", process::id()));
        let path = match self {
            Self::File(path) => path.clone(),
            Self::Folder(folder) | Self::Own(folder) => {
                fs::create_dir_all(folder).map_err(|error| (folder.clone(), error))?;
                named(folder)
            }
        };
        let opened = open(&path, header)?;
        if let Self::Own(folder) = self {
            thin_out(folder, &format!("{agent}-"));
        }
        Ok(opened)
    }
}

fn open(path: &Path, header: &str) -> Result<Opened, (PathBuf, io::Error)> {
    let mut number = 1;
    loop {
        let candidate = numbered(path, number);
        match try_open(&candidate, header) {
            Ok(Some(file)) => {
                return Ok(Opened {
                    file,
                    path: candidate,
                });
            }
            Ok(None) if number < HIGHEST => number += 1,
            Ok(None) => return Err((path.to_owned(), ErrorKind::AlreadyExists.into())),
            Err(error) => return Err((candidate, error)),
        }
    }
}

/// Opens one file; `None` where it holds something or another process records into it.
fn try_open(path: &Path, header: &str) -> io::Result<Option<File>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {
            if found.len() > 0 {
                return Ok(None);
            }
            let mut file = OpenOptions::new().write(true).open(path)?;
            if file.try_lock().is_err() || file.metadata()?.len() > 0 {
                return Ok(None);
            }
            file.write_all(header.as_bytes())?;
            Ok(Some(file))
        }
        // A device or a named pipe.
        Ok(found) if !found.is_dir() => {
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.write_all(header.as_bytes())?;
            Ok(Some(file))
        }
        Ok(_) => Err(ErrorKind::IsADirectory.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => create(path, header),
        Err(error) => Err(error),
    }
}

/// Makes a new file under another name, and gives it its own once its header is in it.
fn create(path: &Path, header: &str) -> io::Result<Option<File>> {
    let Some(name) = path.file_name() else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", process::id()));
    let hidden = path.with_file_name(hidden);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&hidden)?;
    // Held as long as the file is open: no other recorder takes it.
    let _ = file.try_lock();
    let written = file
        .write_all(header.as_bytes())
        .and_then(|()| fs::hard_link(&hidden, path));
    let _ = fs::remove_file(&hidden);
    match written {
        Ok(()) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
        // Some file systems know no hard links.
        Err(error) if is_no_link(&error) => create_in_place(path, header),
        Err(error) => Err(error),
    }
}

fn create_in_place(path: &Path, header: &str) -> io::Result<Option<File>> {
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match created {
        Ok(mut file) => {
            let _ = file.try_lock();
            file.write_all(header.as_bytes())?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_no_link(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unsupported | ErrorKind::PermissionDenied | ErrorKind::TooManyLinks
    )
}

/// `bug.jsonl`, `bug-2.jsonl`, `bug-3.jsonl`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Removes the oldest recordings of an agent. What does not bear the name of one is not touched.
fn thin_out(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut recordings: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter(|entry| is_recording(&entry.file_name(), prefix))
        .map(|entry| entry.path())
        .collect();
    recordings.sort();
    for old in recordings.iter().rev().skip(KEPT) {
        let _ = fs::remove_file(old);
    }
}

fn is_recording(name: &OsStr, prefix: &str) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(prefix)?.strip_suffix(".jsonl"))
        .and_then(|rest| rest.rsplit_once('-'))
        .is_some_and(|(time, pid)| {
            time.len() == "0000-00-00T00-00-00Z".len()
                && time.ends_with('Z')
                && time.starts_with(|first: char| first.is_ascii_digit())
                && pid.bytes().all(|byte| byte.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_file_that_holds_something_is_left_as_it_is_and_the_next_number_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bug.jsonl");
        fs::write(&path, "old").unwrap();
        let place = Place::File(path.clone());
        let names: Vec<_> = (0..2)
            .map(|_| place.open("bob", "t", "header\n").unwrap())
            .map(|opened| opened.path.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["bug-2.jsonl", "bug-3.jsonl"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn an_empty_file_is_used_but_not_by_two_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bug");
        fs::write(&path, "").unwrap();
        let place = Place::File(path.clone());
        let first = place.open("bob", "t", "").unwrap();
        let second = place.open("bob", "t", "").unwrap();
        assert_eq!(first.path, path);
        assert_eq!(second.path, folder.path().join("bug-2"));
    }

    #[test]
    fn in_a_folder_each_process_has_a_file_that_only_its_user_reads() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::Folder(folder.path().to_owned());
        let opened = place
            .open("my-agent", "2026-11-30T09-12-03Z", "h\n")
            .unwrap();
        let name = format!("my-agent-2026-11-30T09-12-03Z-{}.jsonl", process::id());
        assert_eq!(opened.path, folder.path().join(name));
        let mode = opened.file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn only_the_newest_recordings_of_an_agent_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        for day in 10..75 {
            let name = format!("a-2026-01-{day}T00-00-00Z-7.jsonl");
            fs::write(folder.path().join(name), "").unwrap();
        }
        for other in ["a-notes.jsonl", "ab-2020-01-01T00-00-00Z-7.jsonl", "bug"] {
            fs::write(folder.path().join(other), "").unwrap();
        }
        thin_out(folder.path(), "a-");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), KEPT + 3);
        assert!(
            !folder
                .path()
                .join("a-2026-01-24T00-00-00Z-7.jsonl")
                .exists()
        );
        assert!(
            folder
                .path()
                .join("a-2026-01-25T00-00-00Z-7.jsonl")
                .exists()
        );
    }
}
