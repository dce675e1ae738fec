//! `read_file`: the text of a file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::Output;
use super::output::Bounded;

/// Reads a file. Of a long one, head and tail.
pub(crate) fn run(path: &Path) -> Output {
    match read(path) {
        Ok(text) => Output::done(text),
        Err(reason) => Output::failure(format!("{}: {reason}", path.display())),
    }
}

fn read(path: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    // A pipe or a device could make the turn wait for ever.
    if !metadata.is_file() {
        return Err("is no regular file".to_owned());
    }
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = Bounded::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(text.into_text()),
            Ok(count) => text.push(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}
