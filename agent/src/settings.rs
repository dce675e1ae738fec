//! `bob.toml`: settings of a session's folder, or of the file given with `--config`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Everything that `bob.toml` may hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) context: Context,
    pub(crate) tools: Tools,
    pub(crate) model: Model,
}

/// `[context]`: how a history is compressed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct Context {
    /// Turns that are never compressed.
    pub(crate) keep_last_turns: usize,
    /// The share of the window, 0 to 1, beyond which a history is compressed by itself.
    pub(crate) threshold: f64,
    /// The model's window in tokens; 0: unknown, nothing is compressed by itself.
    pub(crate) window: u64,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            keep_last_turns: 4,
            threshold: 0.8,
            window: 0,
        }
    }
}

/// `[tools]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tools {
    /// Seconds after which a command is ended.
    pub(crate) timeout_s: u64,
}

impl Default for Tools {
    fn default() -> Self {
        Self { timeout_s: 120 }
    }
}

/// `[model]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Model {
    pub(crate) kind: Option<Kind>,
    /// The name that an `openai` server knows the model by.
    pub(crate) name: Option<String>,
}

/// The kinds of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// No network, deterministic: obeys directives in the prompt, echoes anything else.
    Embedded,
    /// Any server with the OpenAI chat-completions interface.
    #[value(name = "openai")]
    OpenAi,
}

/// Why settings were refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}:{line}: {reason}", path.display())]
    Refused {
        path: PathBuf,
        line: usize,
        reason: String,
    },
}

impl Settings {
    /// Reads a file that has to be there.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Reads the `bob.toml` of a folder, which may have none.
    pub(crate) fn of_folder(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("bob.toml");
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(Self::default()),
            Err(source) => Err(Error::Unreadable { path, source }),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let refused = |line, reason: String| Error::Refused {
            path: path.to_owned(),
            line,
            reason,
        };
        let settings: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
            refused(line, crate::log::one_line(error.message()))
        })?;
        if !(0.0..=1.0).contains(&settings.context.threshold) {
            let reason = format!(
                "threshold is {}, expected a share between 0 and 1",
                settings.context.threshold
            );
            return Err(refused(line_of(text, "threshold"), reason));
        }
        if settings.tools.timeout_s == 0 {
            let reason = "timeout_s is 0, expected seconds, 1 or more".to_owned();
            return Err(refused(line_of(text, "timeout_s"), reason));
        }
        Ok(settings)
    }
}

/// The number of the first line that sets `key`.
fn line_of(text: &str, key: &str) -> usize {
    text.lines()
        .position(|line| line.trim_start().starts_with(key))
        .map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(text: &str) -> Result<Settings, String> {
        Settings::parse(text, Path::new("bob.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        let settings = parse("").unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.context.keep_last_turns, 4);
    }

    #[test]
    fn every_key_is_taken() {
        let text = "[context]\nkeepLastTurns = 2\nthreshold = 0.5\nwindow = 1000\n\
                    [tools]\ntimeout_s = 7\n[model]\nkind = \"openai\"\nname = \"m\"\n";
        let settings = parse(text).unwrap();
        assert_eq!(settings.context.window, 1000);
        assert_eq!(settings.tools.timeout_s, 7);
        assert_eq!(settings.model.kind, Some(Kind::OpenAi));
    }

    #[test]
    fn a_wrong_key_is_refused_with_its_line() {
        let error = parse("[context]\nkeepLastTurns = 2\nkeep = 3\n").unwrap_err();
        assert!(error.starts_with("bob.toml:3: "), "{error}");
        assert!(error.contains("keep"), "{error}");
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_its_line() {
        let error = parse("[context]\n\nthreshold = 8.0\n").unwrap_err();
        assert_eq!(
            error,
            "bob.toml:3: threshold is 8, expected a share between 0 and 1"
        );
        let error = parse("[tools]\ntimeout_s = 0\n").unwrap_err();
        assert!(error.starts_with("bob.toml:2: "), "{error}");
    }
}
