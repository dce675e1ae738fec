//! `write_file`: a file's whole text.

use std::io;
use std::path::Path;

use super::{Change, Output};

/// Makes a file, with the folders above it, or replaces its text.
pub(crate) fn run(path: &Path, content: String) -> Output {
    match write(path, &content) {
        Ok(old) => Output {
            text: format!("wrote {} bytes to {}", content.len(), path.display()),
            change: Some(Change {
                path: path.to_owned(),
                old,
                new: content,
            }),
            ..Output::default()
        },
        Err(error) => Output::failure(format!("{}: {error}", path.display())),
    }
}

/// Writes, and returns the text that was there.
fn write(path: &Path, content: &str) -> io::Result<Option<String>> {
    let old = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            Some(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
        }
        Ok(_) => return Err(io::Error::other("is no regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, content)?;
    Ok(old)
}
