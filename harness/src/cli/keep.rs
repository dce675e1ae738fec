//! Where the traces of runs are kept, and how old ones go.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many runs of one agent are kept.
const RUNS: usize = 10;

/// Makes the folder for the traces of a run that began at `time` (such as `2026-11-30T09-12-03Z`), and removes what is older
/// than the last ten runs of this agent.
///
/// # Errors
/// The folder that cannot be made, and why.
pub(super) fn state_folder(agent: &str, time: &str) -> Result<PathBuf, (PathBuf, io::Error)> {
    let base = agent_folder(agent);
    fs::create_dir_all(&base).map_err(|error| (base.clone(), error))?;
    let mut number = 1;
    loop {
        let name = match number {
            1 => time.to_owned(),
            _ => format!("{time}-{number}"),
        };
        let folder = base.join(name);
        match fs::create_dir(&folder) {
            Ok(()) => {
                thin_out(&base);
                return Ok(folder);
            }
            // Another run began in the same second.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(error) => return Err((folder, error)),
        }
    }
}

/// The folder of an agent within the user's state folder; it need not be there.
pub(in crate::cli) fn agent_folder(agent: &str) -> PathBuf {
    base().join("acp-harness").join(file_name(agent))
}

/// The user's state folder.
fn base() -> PathBuf {
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(env::temp_dir)
}

/// The name of an agent, fit to be the name of a file.
pub(in crate::cli) fn file_name(agent: &str) -> String {
    let name: String = agent
        .chars()
        .map(|character| {
            if character.is_alphanumeric() || "-_.".contains(character) {
                character
            } else {
                '_'
            }
        })
        .take(60)
        .collect();
    match name.trim_start_matches('.') {
        "" => "agent".to_owned(),
        name => name.to_owned(),
    }
}

/// Removes the oldest runs. Only folders that bear the name of a time are touched, and one that cannot be removed stays.
fn thin_out(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    let mut runs: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.file_name().to_str().is_some_and(is_time))
        .map(|entry| entry.path())
        .collect();
    runs.sort();
    for old in runs.iter().rev().skip(RUNS) {
        let _ = fs::remove_dir_all(old);
    }
}

fn is_time(name: &str) -> bool {
    let shape = "0000-00-00T00-00-00Z";
    let fits = |(own, pattern): (char, char)| match pattern {
        '0' => own.is_ascii_digit(),
        _ => own == pattern,
    };
    name.len() >= shape.len() && name.chars().zip(shape.chars()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_runs_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for day in 10..25 {
            fs::create_dir(folder.path().join(format!("2026-11-{day}T00-00-00Z"))).unwrap();
        }
        fs::create_dir(folder.path().join("1999-notes")).unwrap();
        thin_out(folder.path());
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left.len(), RUNS + 1);
        assert_eq!(left[0], "1999-notes");
        assert_eq!(left[1], "2026-11-15T00-00-00Z");
    }

    #[test]
    fn the_name_of_an_agent_is_one_name_of_a_folder() {
        assert_eq!(file_name("../a b"), "_a_b");
        assert_eq!(file_name(".."), "agent");
    }
}
