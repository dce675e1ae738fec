//! Serves `fs/*` inside the folders of a session, and nowhere else: symlinks and `..` cannot leave them.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use thiserror::Error;

/// The largest file that is read for an agent, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The folders that an agent may have files read from and written to.
#[derive(Debug)]
pub struct SessionFiles {
    roots: Vec<(PathBuf, Dir)>,
}

/// Why a file was not read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// The path is relative.
    #[error("path {0:?} is not absolute")]
    Relative(String),
    /// The path leads out of the session's folders.
    #[error("path {0:?} is outside the session's folders")]
    Outside(String),
    /// Nothing is there. Agents tell a file that is to be made from one that cannot be read by these words, which are
    /// those of the libraries that most clients use.
    #[error("Resource not found: {0}")]
    Missing(String),
    /// Anything else.
    #[error("{path:?}: {error}")]
    Io {
        /// The path as the agent named it.
        path: String,
        /// What the system says.
        error: io::Error,
    },
}

impl SessionFiles {
    /// Serves these folders.
    ///
    /// # Errors
    /// Where a folder cannot be opened.
    pub fn open(roots: impl IntoIterator<Item = PathBuf>) -> io::Result<Self> {
        let roots = roots
            .into_iter()
            .map(|root| {
                let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
                Ok((root, dir))
            })
            .collect::<io::Result<_>>()?;
        Ok(Self { roots })
    }

    /// The text of a file, or `limit` lines of it from line `line` (from 1) on.
    ///
    /// # Errors
    /// See [`FileError`]; a file that is not UTF-8 or larger than 64 MiB is refused.
    pub fn read(
        &self,
        path: &str,
        line: Option<u64>,
        limit: Option<u64>,
    ) -> Result<String, FileError> {
        let (dir, relative) = self.locate(path)?;
        let failed = |error| named(path, error);
        let file = dir.open(&relative).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(named(path, io::Error::other("no regular file")));
        }
        let mut text = String::new();
        file.take(LARGEST)
            .read_to_string(&mut text)
            .map_err(failed)?;
        if line.is_none() && limit.is_none() {
            return Ok(text);
        }
        let skip = usize::try_from(line.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
        let take = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        Ok(text.split_inclusive('\n').skip(skip).take(take).collect())
    }

    /// Writes a file, making the folders above it.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn write(&self, path: &str, content: &str) -> Result<(), FileError> {
        let (dir, relative) = self.locate(path)?;
        let failed = |error| named(path, error);
        if let Some(parent) = relative
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            dir.create_dir_all(parent).map_err(failed)?;
        }
        dir.write(&relative, content).map_err(failed)
    }

    /// The folder that a path is in, and the rest of the path. Whether the rest stays inside is the folder's business.
    fn locate(&self, path: &str) -> Result<(&Dir, PathBuf), FileError> {
        let wanted = Path::new(path);
        if !wanted.is_absolute() {
            return Err(FileError::Relative(path.to_owned()));
        }
        self.roots
            .iter()
            .find_map(|(root, dir)| Some((dir, wanted.strip_prefix(root).ok()?.to_owned())))
            .ok_or_else(|| FileError::Outside(path.to_owned()))
    }
}

fn named(path: &str, error: io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing(path.to_owned()),
        // What cap-std says where a path leads out of its folder.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            FileError::Outside(path.to_owned())
        }
        _ => FileError::Io {
            path: path.to_owned(),
            error,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served() -> (tempfile::TempDir, SessionFiles, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().canonicalize().unwrap().join("session");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        std::fs::write(inside.join("a.txt"), "one\ntwo\nthree").unwrap();
        let files = SessionFiles::open([inside.clone()]).unwrap();
        (folder, files, inside)
    }

    #[test]
    fn lines_are_counted_from_one() {
        let (_folder, files, inside) = served();
        let path = inside.join("a.txt");
        let path = path.to_str().unwrap();
        assert_eq!(files.read(path, None, None).unwrap(), "one\ntwo\nthree");
        assert_eq!(files.read(path, Some(2), Some(1)).unwrap(), "two\n");
        assert_eq!(files.read(path, Some(9), None).unwrap(), "");
    }

    #[test]
    fn neither_dots_nor_links_lead_out_of_the_session_folder() {
        let (_folder, files, inside) = served();
        std::os::unix::fs::symlink("../secret.txt", inside.join("link")).unwrap();
        std::os::unix::fs::symlink("..", inside.join("up")).unwrap();
        for escape in ["../secret.txt", "link", "up/secret.txt"] {
            let path = inside.join(escape);
            let path = path.to_str().unwrap();
            assert!(files.read(path, None, None).is_err(), "{path}");
            assert!(files.write(path, "changed").is_err(), "{path}");
        }
        assert!(matches!(
            files.read("/etc/passwd", None, None),
            Err(FileError::Outside(_))
        ));
        assert!(matches!(
            files.read("a.txt", None, None),
            Err(FileError::Relative(_))
        ));
        assert_eq!(
            std::fs::read_to_string(inside.join("../secret.txt")).unwrap(),
            "secret"
        );
    }

    #[test]
    fn a_new_file_is_written_with_the_folders_above_it_and_a_missing_one_is_named() {
        let (_folder, files, inside) = served();
        let path = inside.join("new/deep/b.txt");
        files.write(path.to_str().unwrap(), "é").unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "é");
        let missing = inside.join("missing");
        assert!(matches!(
            files.read(missing.to_str().unwrap(), None, None),
            Err(FileError::Missing(_))
        ));
    }
}
