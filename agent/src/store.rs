//! Sessions on disk: a folder each, with its state in `session.json`.
//!
//! The state is replaced as a whole, so that a reader sees the one before or the one after. Whoever
//! has a session open holds the lock of its folder, so that two processes never write to one.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::history::History;
use crate::kept::Kept;
use crate::log;

/// The form of the file. Another number is one that this program cannot read.
const FORM: u32 = 1;

const STATE: &str = "session.json";

const LOCK: &str = "lock";

/// The longest id that can be one of ours.
const ID_LIMIT: usize = 128;

/// What the file of a session holds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Stored {
    form: u32,
    pub(crate) id: String,
    pub(crate) cwd: PathBuf,
    pub(crate) kept: Kept,
    pub(crate) history: History,
}

/// Why a session cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is no such session")]
    Unknown,
    #[error("the session is open in another process")]
    InUse,
    #[error("{}: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("the session's folder cannot be used: {0}")]
    Failed(#[from] io::Error),
}

/// The folder of all sessions.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    /// A store below the state folder, which is made when the first session is.
    pub(crate) fn new(state: &Path) -> Self {
        Self {
            folder: state.join("sessions"),
        }
    }

    /// Makes the folder of a new session. `None`: there is a session of this id.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub(crate) fn create(&self, id: &str) -> io::Result<Option<Claim>> {
        fs::create_dir_all(&self.folder)?;
        let folder = self.folder.join(id);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
            made => made?,
        }
        match Claim::new(folder) {
            Ok(claim) => Ok(Some(claim)),
            Err(Refusal::Failed(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Takes a session, and reads it.
    ///
    /// # Errors
    ///
    /// See [`Refusal`].
    pub(crate) fn open(&self, id: &str) -> Result<(Claim, Stored), Refusal> {
        let folder = self.folder_of(id)?;
        let claim = Claim::new(folder.clone())?;
        let stored = read(&folder.join(STATE))?;
        Ok((claim, stored))
    }

    /// Removes a session. One that is not there is removed already.
    ///
    /// # Errors
    ///
    /// See [`Refusal`].
    pub(crate) fn delete(&self, id: &str) -> Result<(), Refusal> {
        let folder = match self.folder_of(id) {
            Err(Refusal::Unknown) => return Ok(()),
            folder => folder?,
        };
        let claim = Claim::new(folder)?;
        fs::remove_dir_all(&claim.folder)?;
        Ok(())
    }

    /// Every session that can be read, the one used last first. A damaged one is a line of the log.
    ///
    /// # Errors
    ///
    /// Those of the file system, for the folder as a whole.
    pub(crate) fn list(&self) -> io::Result<Vec<Stored>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut sessions = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            match read(&entry.path().join(STATE)) {
                Ok(stored) => sessions.push(stored),
                // One that is being made or removed.
                Err(Refusal::Unknown) => {}
                Err(refusal) => log::line(format_args!("warning: session left out: {refusal}")),
            }
        }
        sessions.sort_by(|a, b| key(b).cmp(&key(a)));
        Ok(sessions)
    }

    fn folder_of(&self, id: &str) -> Result<PathBuf, Refusal> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let folder = self.folder.join(id);
        if id.is_empty() || id.len() > ID_LIMIT || !id.chars().all(plain) || !folder.is_dir() {
            return Err(Refusal::Unknown);
        }
        Ok(folder)
    }
}

/// By what sessions are sorted: the time of the last turn, then the id.
pub(crate) fn key(stored: &Stored) -> (&str, &str) {
    (&stored.kept.updated, &stored.id)
}

fn read(path: &Path) -> Result<Stored, Refusal> {
    let bytes = match fs::read(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(Refusal::Unknown);
        }
        bytes => bytes?,
    };
    let damaged = |reason: String| Refusal::Damaged {
        path: path.to_owned(),
        reason,
    };
    let stored: Stored = serde_json::from_slice(&bytes)
        .map_err(|error| damaged(format!("no session can be read from it: {error}")))?;
    if stored.form != FORM {
        let reason = format!("it has form {}, expected {FORM}", stored.form);
        return Err(damaged(reason));
    }
    Ok(stored)
}

/// A session's folder in the hands of this process.
#[derive(Debug)]
pub(crate) struct Claim {
    folder: PathBuf,
    /// Locked until it is closed.
    _lock: File,
}

impl Claim {
    fn new(folder: PathBuf) -> Result<Self, Refusal> {
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                folder,
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(Refusal::InUse),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Replaces the state of the session.
    ///
    /// # Errors
    ///
    /// Those of the file system; the state before is then still there.
    pub(crate) fn write(
        &self,
        id: &str,
        cwd: &Path,
        kept: &Kept,
        history: &History,
    ) -> io::Result<()> {
        let stored = Borrowed {
            form: FORM,
            id,
            cwd,
            kept,
            history,
        };
        let bytes = serde_json::to_vec(&stored)?;
        let new = self.folder.join("session.json.new");
        let mut file = File::create(&new)?;
        file.write_all(&bytes)?;
        file.sync_data()?;
        fs::rename(&new, self.folder.join(STATE))
    }
}

/// [`Stored`], without taking anything.
#[derive(Serialize)]
struct Borrowed<'a> {
    form: u32,
    id: &'a str,
    cwd: &'a Path,
    kept: &'a Kept,
    history: &'a History,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::options::Chosen;
    use crate::settings::Kind;

    fn write(claim: &Claim, id: &str, updated: &str) {
        let mut kept = Kept::new(Chosen::new(Kind::Embedded), Vec::new());
        kept.updated = updated.to_owned();
        let history = History::new("not kept".to_owned());
        claim
            .write(id, Path::new("/project"), &kept, &history)
            .unwrap();
    }

    #[test]
    fn an_id_is_taken_once_and_a_session_open_once() {
        let state = tempfile::tempdir().unwrap();
        let store = Store::new(state.path());
        let claim = store.create("a").unwrap().unwrap();
        write(&claim, "a", "1");
        assert!(store.create("a").unwrap().is_none());
        assert!(matches!(store.open("a"), Err(Refusal::InUse)));
        assert!(matches!(store.delete("a"), Err(Refusal::InUse)));
        drop(claim);
        let (claim, stored) = store.open("a").unwrap();
        assert_eq!(stored.cwd, Path::new("/project"));
        assert_eq!(stored.history.system, "");
        drop(claim);
        store.delete("a").unwrap();
        store.delete("a").unwrap();
        assert!(matches!(store.open("a"), Err(Refusal::Unknown)));
    }

    #[test]
    fn ids_never_lead_out_of_the_folder() {
        let state = tempfile::tempdir().unwrap();
        let store = Store::new(state.path());
        store.create("a").unwrap();
        for id in [
            "",
            ".",
            "..",
            "../sessions",
            "a/../a",
            "/",
            "a\0",
            "é",
            &"a".repeat(200),
        ] {
            assert!(matches!(store.open(id), Err(Refusal::Unknown)), "{id:?}");
            assert!(store.delete(id).is_ok(), "{id:?}");
        }
        assert!(state.path().join("sessions/a").is_dir());
    }

    #[test]
    fn what_is_damaged_is_left_out_of_the_list_and_refused() {
        let state = tempfile::tempdir().unwrap();
        let store = Store::new(state.path());
        for (id, updated) in [("a", "1"), ("b", "3"), ("c", "2"), ("d", "4")] {
            write(&store.create(id).unwrap().unwrap(), id, updated);
        }
        let sessions = state.path().join("sessions");
        fs::write(sessions.join("a").join(STATE), "{\"form\":1,").unwrap();
        let other = fs::read_to_string(sessions.join("d").join(STATE)).unwrap();
        let other = other.replace("\"form\":1", "\"form\":2");
        fs::write(sessions.join("d").join(STATE), other).unwrap();
        fs::create_dir(sessions.join("empty")).unwrap();
        fs::write(sessions.join("file"), "").unwrap();
        let listed = store.list().unwrap();
        let ids: Vec<&str> = listed.iter().map(|stored| stored.id.as_str()).collect();
        assert_eq!(ids, ["b", "c"]);
        for id in ["a", "d"] {
            assert!(matches!(store.open(id), Err(Refusal::Damaged { .. })));
        }
        assert!(matches!(store.open("empty"), Err(Refusal::Unknown)));
    }
}
