//! The folders of one run: made fresh, and removed with all that the agent put into them.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use nix::fcntl::OFlag;
use thiserror::Error;

use super::guard;

/// One fresh folder for one run, with a session's folder, a home and a folder for temporary files in it.
///
/// Dropping it removes it. Only its owner can look into it.
#[derive(Debug)]
pub struct RunFolder {
    root: PathBuf,
    workspace: PathBuf,
    home: PathBuf,
    tmp: PathBuf,
    temporary: Option<tempfile::TempDir>,
}

/// Which of the folders of a run a file belongs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The session's folder.
    Workspace,
    /// The home folder.
    Home,
}

/// Why a run's folder or a file in it could not be made.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The path does not stay in the folder.
    #[error("`{0}` cannot be a file of a run: give a relative path without `..`")]
    Outside(String),
    /// A part of the path is a symbolic link, which could lead anywhere.
    #[error("`{path}` cannot be written: `{link}` is a symbolic link")]
    Link {
        /// The path as it was given.
        path: String,
        /// The part of it that is a link.
        link: String,
    },
    /// The system refused.
    #[error("{what} could not be made: {source}")]
    Io {
        /// What was to be made, with its path.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl RunFolder {
    /// Makes the folders, in the system's folder for temporary files. Their paths hold no symbolic links.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn new() -> Result<Self, FolderError> {
        let io = |source| FolderError::Io {
            what: format!(
                "a folder for the run in `{}`",
                std::env::temp_dir().display()
            ),
            source,
        };
        let temporary = tempfile::Builder::new()
            .prefix("acp-harness-")
            .tempdir()
            .map_err(io)?;
        let root = temporary.path().canonicalize().map_err(io)?;
        guard::made(&root);
        let folder = Self {
            workspace: root.join("workspace"),
            home: root.join("home"),
            tmp: root.join("tmp"),
            root,
            temporary: Some(temporary),
        };
        for inner in [&folder.workspace, &folder.home, &folder.tmp] {
            DirBuilder::new().mode(0o700).create(inner).map_err(io)?;
        }
        Ok(folder)
    }

    /// The folder that holds the others.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The session's folder, without symbolic links in its path.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The fresh home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The folder for temporary files.
    pub fn tmp(&self) -> &Path {
        &self.tmp
    }

    /// Writes a file, with the folders on its way.
    ///
    /// # Errors
    /// When the path is absolute, holds `..` or leads through a symbolic link; when the file cannot be written.
    pub fn write(&self, place: Place, path: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let base = match place {
            Place::Workspace => &self.workspace,
            Place::Home => &self.home,
        };
        let io = |source| FolderError::Io {
            what: format!("the file `{path}`"),
            source,
        };
        let mut file = base.clone();
        let mut parts = parts(path)?.into_iter().peekable();
        while let Some(part) = parts.next() {
            file.push(part);
            if file.is_symlink() {
                return Err(FolderError::Link {
                    path: path.to_owned(),
                    link: file
                        .strip_prefix(base)
                        .unwrap_or(&file)
                        .display()
                        .to_string(),
                });
            }
            if parts.peek().is_some() && !file.is_dir() {
                fs::create_dir(&file).map_err(io)?;
            }
        }
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .custom_flags(OFlag::O_NOFOLLOW.bits())
            .open(&file)
            .and_then(|mut open| open.write_all(bytes))
            .map_err(io)
    }

    /// Removes the folders, whatever the agent made of them.
    ///
    /// # Errors
    /// When something in them cannot be removed.
    pub fn remove(mut self) -> io::Result<()> {
        self.clear()
    }

    fn clear(&mut self) -> io::Result<()> {
        let Some(temporary) = self.temporary.take() else {
            return Ok(());
        };
        guard::removed(&self.root);
        remove(&temporary.keep())
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What cannot be removed stays; `remove` tells about it.
        let _ = self.clear();
    }
}

/// The parts of a relative path that cannot leave its folder.
fn parts(path: &str) -> Result<Vec<&std::ffi::OsStr>, FolderError> {
    let outside = || FolderError::Outside(path.to_owned());
    let parts = Path::new(path)
        .components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| match part {
            Component::Normal(name) => Ok(name),
            _ => Err(outside()),
        })
        .collect::<Result<Vec<_>, _>>()?;
    if parts.is_empty() || path.ends_with('/') || path.contains('\0') {
        return Err(outside());
    }
    Ok(parts)
}

/// Removes a folder with all that is in it, folders without permissions too.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    open_up(folder);
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives the owner all permissions on the folder and on each folder in it; links are not followed.
fn open_up(folder: &Path) {
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        // What cannot be opened up is told by the removal that follows.
        let _ = fs::set_permissions(&next, fs::Permissions::from_mode(0o700));
        let Ok(entries) = fs::read_dir(&next) else {
            continue;
        };
        waiting.extend(
            entries
                .flatten()
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_with_the_folders_on_their_way() {
        let folder = RunFolder::new().unwrap();
        folder.write(Place::Workspace, "a/b/c.txt", b"one").unwrap();
        folder.write(Place::Workspace, "./a/b/c.txt", b"2").unwrap();
        folder.write(Place::Home, ".agent.toml", b"x").unwrap();
        assert_eq!(
            fs::read(folder.workspace().join("a/b/c.txt")).unwrap(),
            b"2"
        );
        assert_eq!(fs::read(folder.home().join(".agent.toml")).unwrap(), b"x");
        assert_eq!(
            folder.workspace().canonicalize().unwrap(),
            folder.workspace()
        );
    }

    #[test]
    fn a_path_that_leaves_its_folder_is_refused() {
        let folder = RunFolder::new().unwrap();
        for path in ["/etc/x", "../x", "a/../../x", "a/..", "", ".", "a/", "a\0b"] {
            let error = folder.write(Place::Workspace, path, b"").unwrap_err();
            assert!(
                matches!(&error, FolderError::Outside(quoted) if quoted == path),
                "{error}"
            );
        }
        assert!(!folder.root().join("x").exists());
    }

    #[test]
    fn a_link_that_the_agent_made_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        let folder = RunFolder::new().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.workspace().join("out")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("new"), folder.workspace().join("file"))
            .unwrap();
        for path in ["out/x", "file"] {
            let error = folder.write(Place::Workspace, path, b"").unwrap_err();
            assert!(matches!(error, FolderError::Link { .. }), "{error}");
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn all_of_it_is_removed_though_the_agent_took_the_permissions_away() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "").unwrap();
        let folder = RunFolder::new().unwrap();
        let root = folder.root().to_owned();
        folder.write(Place::Workspace, "a/b/c", b"").unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.workspace().join("a/link")).unwrap();
        for locked in ["workspace/a/b/c", "workspace/a/b", "workspace/a"] {
            fs::set_permissions(root.join(locked), fs::Permissions::from_mode(0o000)).unwrap();
        }
        folder.remove().unwrap();
        assert!(!root.exists());
        assert!(outside.path().join("kept").exists());
    }

    #[test]
    fn a_drop_removes_it_too() {
        let folder = RunFolder::new().unwrap();
        let root = folder.root().to_owned();
        drop(folder);
        assert!(!root.exists());
    }
}
