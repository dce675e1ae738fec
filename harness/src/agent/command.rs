//! The command of an agent: split into words like a POSIX shell splits them, and found on the PATH, without a shell.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use thiserror::Error;

use super::StartError;

/// The first word that means the reference agent built into the harness, whatever is on the PATH.
const BUILT_IN: &str = "bob";

/// The command of an agent, word by word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    words: Vec<OsString>,
}

/// A command that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CommandError {
    /// There is no word in it.
    #[error(
        "the agent's command is empty; give a program and its arguments, such as `my-agent --acp`"
    )]
    Empty,
    /// A quote or a backslash is left open.
    #[error(
        "the agent's command `{0}` ends within a quote or after a backslash; close the quote or double the backslash"
    )]
    Open(String),
    /// A word holds what no program can be given.
    #[error("the agent's command `{0}` holds a NUL, which no program can be given")]
    Nul(String),
}

/// A command whose program has been found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resolved {
    /// The absolute path of the program.
    pub(super) program: PathBuf,
    /// What the program is told as its own name.
    pub(super) name: OsString,
    /// The arguments after the name.
    pub(super) arguments: Vec<OsString>,
}

impl Command {
    /// Splits a command like a POSIX shell splits words: quotes and backslashes count, nothing is expanded.
    ///
    /// # Errors
    /// When nothing is in it, or when a quote is left open.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        if text.contains('\0') {
            return Err(CommandError::Nul(text.replace('\0', "\u{fffd}")));
        }
        let words = shell_words::split(text).map_err(|_| CommandError::Open(text.to_owned()))?;
        Self::of_words(words)
    }

    /// A command that is in words already.
    ///
    /// # Errors
    /// When there are none, or when the first is empty.
    pub fn of_words<W: Into<OsString>>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, CommandError> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        match words.first() {
            Some(first) if !first.is_empty() => Ok(Self { words }),
            _ => Err(CommandError::Empty),
        }
    }

    /// The command as it is meant in a folder: a program that is given by a path, and arguments that name files there.
    #[must_use]
    pub fn from_folder(self, folder: &Path) -> Self {
        let mut words = self.words.into_iter();
        let program = words.next().map(|word| {
            let by_path = word.as_encoded_bytes().contains(&b'/');
            match by_path {
                true => folder.join(&word).into_os_string(),
                false => word,
            }
        });
        let arguments = words.map(|word| from(folder, &word));
        Self {
            words: program.into_iter().chain(arguments).collect(),
        }
    }

    /// The words as they were given: `bob` stays `bob`.
    pub fn words(&self) -> &[OsString] {
        &self.words
    }

    /// Whether it names the reference agent built into the harness.
    pub fn is_built_in(&self) -> bool {
        self.words.first().is_some_and(|word| word == BUILT_IN)
    }

    /// The program that would be started, with `path` in the form of the variable PATH.
    ///
    /// # Errors
    /// There is no such program, or it cannot be run.
    pub fn program(&self, path: &OsStr) -> Result<PathBuf, StartError> {
        Ok(self.resolve(path)?.program)
    }

    /// Finds the program: the harness itself for `bob`, a path as it stands (from the folder in which the harness was
    /// started), any other word on `path`, which has the form of the variable PATH. Arguments that name files of that
    /// folder become absolute.
    pub(super) fn resolve(&self, path: &OsStr) -> Result<Resolved, StartError> {
        let (word, rest) = self
            .words
            .split_first()
            .ok_or(StartError::Command(CommandError::Empty))?;
        if self.is_built_in() {
            let program = env::current_exe().map_err(|source| StartError::Spawn {
                word: BUILT_IN.to_owned(),
                source,
            })?;
            return Ok(Resolved {
                name: program.clone().into_os_string(),
                program,
                arguments: self.words.clone(),
            });
        }
        let program = if word.as_encoded_bytes().contains(&b'/') {
            at_path(word)?
        } else {
            on_path(word, path)?
        };
        Ok(Resolved {
            program,
            name: word.clone(),
            arguments: rest.iter().map(|word| from(Path::new(""), word)).collect(),
        })
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell_words::join(
            self.words.iter().map(|word| word.to_string_lossy()),
        ))
    }
}

/// An argument that names something in a folder (the empty path: the one in which the harness was started), as an
/// absolute path: the agent is started in another folder, and `node dist/agent.js` or `uv run --project .` mean what is
/// there.
///
/// Only what looks like a path counts: it begins with a dot, or is a file whose name has a slash or a dot in it.
fn from(folder: &Path, word: &OsStr) -> OsString {
    let bytes = word.as_encoded_bytes();
    let path = Path::new(word);
    let dotted =
        bytes == b"." || bytes.starts_with(b"./") || bytes == b".." || bytes.starts_with(b"../");
    let looks_so = dotted
        || (!bytes.starts_with(b"-") && bytes.iter().any(|byte| matches!(byte, b'/' | b'.')));
    let there = folder.join(path);
    let is_there =
        looks_so && path.is_relative() && (there.is_file() || (dotted && there.exists()));
    match std::path::absolute(&there) {
        Ok(absolute) if is_there => absolute.into_os_string(),
        _ => word.to_owned(),
    }
}

fn at_path(word: &OsStr) -> Result<PathBuf, StartError> {
    let path = std::path::absolute(word).map_err(|source| StartError::Spawn {
        word: word.to_string_lossy().into_owned(),
        source,
    })?;
    if path.is_dir() {
        Err(StartError::Folder(path))
    } else if !path.exists() {
        Err(StartError::NoFile(path))
    } else if !executable(&path) {
        Err(StartError::NotExecutable(path))
    } else {
        Ok(path)
    }
}

fn on_path(word: &OsStr, path: &OsStr) -> Result<PathBuf, StartError> {
    let mut not_executable = None;
    for folder in env::split_paths(path) {
        let Ok(file) = std::path::absolute(folder.join(word)) else {
            continue;
        };
        if !file.is_file() {
            continue;
        }
        if executable(&file) {
            return Ok(file);
        }
        not_executable.get_or_insert(file);
    }
    Err(match not_executable {
        Some(file) => StartError::NotExecutable(file),
        None => StartError::NotFound(word.to_string_lossy().into_owned()),
    })
}

fn executable(path: &Path) -> bool {
    access(path, AccessFlags::X_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_join_words_and_nothing_is_expanded() {
        let command = Command::parse(r#"my-agent --name "a b" 'c $HOME' d\ e *"#).unwrap();
        assert_eq!(
            command.words(),
            ["my-agent", "--name", "a b", "c $HOME", "d e", "*"]
        );
    }

    #[test]
    fn what_is_shown_can_be_given_again() {
        let command = Command::of_words(["agent", "a b", "it's", ""]).unwrap();
        assert_eq!(Command::parse(&command.to_string()).unwrap(), command);
    }

    #[test]
    fn an_open_quote_is_an_error_that_quotes_the_command() {
        let error = Command::parse("agent 'oops").unwrap_err();
        assert!(error.to_string().contains("`agent 'oops`"), "{error}");
    }

    #[test]
    fn an_empty_command_is_an_error() {
        for text in ["", "  ", "''", "'' x"] {
            assert_eq!(Command::parse(text), Err(CommandError::Empty), "{text:?}");
        }
    }

    #[test]
    fn an_argument_that_names_a_file_here_still_does_from_another_folder() {
        // Tests run in the folder of the package.
        let here = env::current_dir().unwrap();
        let manifest = here.join("Cargo.toml").into_os_string();
        assert_eq!(from(Path::new(""), OsStr::new("Cargo.toml")), manifest);
        assert_eq!(from(Path::new(""), OsStr::new("./src")), here.join("src"));
        assert_eq!(from(Path::new(""), OsStr::new(".")), here);
        for word in [
            "src",
            "acp",
            "--acp",
            "-c",
            "print('a/b.c')",
            "no/such.file",
            "/etc/passwd",
            "",
        ] {
            assert_eq!(
                from(Path::new(""), OsStr::new(word)),
                OsStr::new(word),
                "{word}"
            );
        }
    }

    #[test]
    fn bob_is_the_harness_itself_even_where_a_bob_is_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bob"), "#!/bin/sh\n").unwrap();
        let command = Command::parse("bob --fault x").unwrap();
        let resolved = command.resolve(folder.path().as_os_str()).unwrap();
        assert_eq!(resolved.program, env::current_exe().unwrap());
        assert_eq!(resolved.arguments, ["bob", "--fault", "x"]);
        assert_eq!(command.to_string(), "bob --fault x");
    }

    #[test]
    fn a_program_that_cannot_be_run_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plain");
        std::fs::write(&file, "no program").unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        let path = folder.path().as_os_str();
        let resolve = |words: &str| {
            Command::parse(words)
                .unwrap()
                .resolve(path)
                .unwrap_err()
                .to_string()
        };
        assert!(resolve("no-such-agent").contains("`no-such-agent` was not found on the PATH"));
        assert!(resolve("plain").contains("is not executable"));
        assert!(resolve("inner").contains("was not found on the PATH"));
        assert!(resolve(&format!("{}/inner", path.display())).contains("is a folder"));
        assert!(resolve(&format!("{}/gone", path.display())).contains("there is no file"));
    }

    #[test]
    fn a_word_is_looked_up_on_the_given_path_in_order() {
        let resolved = Command::parse("sh -c true")
            .unwrap()
            .resolve(OsStr::new("/nowhere:/bin:/usr/bin"))
            .unwrap();
        assert_eq!(resolved.program, Path::new("/bin/sh"));
        assert_eq!(resolved.name, "sh");
        assert_eq!(resolved.arguments, ["-c", "true"]);
    }
}
