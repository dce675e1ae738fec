//! Values of flags, and what is said of wrong ones.

use std::io::IsTerminal;
use std::path::PathBuf;

use crate::report::{Format, Paint};

/// The longest time limit, in seconds: a day.
const LONGEST: f64 = 86_400.0;
/// The largest factor for delays.
const SLOWEST: f64 = 1_000.0;
/// The most parts of a run.
const MOST_PARTS: usize = 1_000;
/// The most scenarios side by side.
const MOST_JOBS: usize = 1_000;

/// When there is colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// The paint for an output that is a terminal or not.
    pub(super) fn paint(self, output: &impl IsTerminal) -> Paint {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Paint {
            on: match self {
                Self::Always => true,
                Self::Never => false,
                Self::Auto => {
                    output.is_terminal()
                        && !set("NO_COLOR")
                        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
                }
            },
        }
    }
}

/// A report that is written: in which format, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// `json` of `json=FILE`
    pub(super) format: Format,
    /// `FILE` of `json=FILE`
    pub(super) place: Place,
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `-`
    Stdout,
    /// `FILE`
    File(PathBuf),
}

impl Place {
    /// Writes the report.
    ///
    /// # Errors
    /// A sentence on why it could not be written.
    pub(super) fn write(&self, text: &str) -> Result<(), String> {
        match self {
            Self::Stdout => super::output::print(text)
                .map_err(|error| format!("the report could not be written to stdout: {error}")),
            Self::File(path) => std::fs::write(path, text).map_err(|error| {
                format!(
                    "the report could not be written to `{}`: {error}",
                    path.display()
                )
            }),
        }
    }
}

/// A report as `--report` names it.
pub(super) fn target(text: &str) -> Result<Target, String> {
    let Some((word, file)) = text.split_once('=') else {
        return Err("expected a format and a file, such as `json=report.json`".to_owned());
    };
    let Some(format) = Format::named(word) else {
        let all = Format::ALL.map(|format| format!("`{}`", format.as_str()));
        return Err(format!(
            "there is no format `{word}`; there are {}",
            all.join(", ")
        ));
    };
    let place = match file {
        "" => {
            return Err(format!(
                "the name of the file is missing, as in `{word}=FILE`"
            ));
        }
        "-" => Place::Stdout,
        file => Place::File(PathBuf::from(file)),
    };
    Ok(Target { format, place })
}

/// One part of a run, of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// From 1.
    pub(super) number: usize,
    /// How many there are.
    pub(super) of: usize,
}

/// A part as `--partition` names it.
pub(super) fn partition(text: &str) -> Result<Partition, String> {
    let read = |text: &str| text.parse::<usize>().ok();
    let numbers = text
        .split_once('/')
        .and_then(|(number, of)| Some((read(number)?, read(of)?)));
    match numbers {
        None => Err("expected a part and how many there are, such as 1/4".to_owned()),
        Some((_, of)) if of > MOST_PARTS => Err(format!("there are at most {MOST_PARTS} parts")),
        Some((number, of)) if (1..=of).contains(&number) => Ok(Partition { number, of }),
        Some((_, of)) => Err(format!("the parts are counted from 1 to {of}")),
    }
}

/// A time limit in seconds.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    positive(text, LONGEST, "a number of seconds, such as 30 or 0.5")
}

/// A factor for delays.
pub(super) fn factor(text: &str) -> Result<f64, String> {
    positive(text, SLOWEST, "a factor, such as 2 or 1.5")
}

fn positive(text: &str, most: f64, what: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("expected {what}"))?;
    if number.is_nan() {
        Err(format!("that is no number; expected {what}"))
    } else if number <= 0.0 {
        Err(format!("it must be more than zero; expected {what}"))
    } else if number > most {
        Err(format!("it must be at most {most}; expected {what}"))
    } else {
        Ok(number)
    }
}

/// How many scenarios run side by side.
pub(super) fn jobs(text: &str) -> Result<usize, String> {
    match text.parse::<i64>() {
        Ok(number) if number < 1 => Err("at least one scenario runs at a time".to_owned()),
        Ok(number) => usize::try_from(number)
            .ok()
            .filter(|number| *number <= MOST_JOBS)
            .ok_or_else(|| format!("it must be at most {MOST_JOBS}")),
        Err(_) => Err("expected a whole number, such as 4".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_is_refused_with_a_reason() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for (text, part) in [
            ("-1", "more than zero"),
            ("0", "more than zero"),
            ("NaN", "no number"),
            ("inf", "at most 86400"),
            ("1e9", "at most 86400"),
            ("soon", "such as 30"),
        ] {
            let error = seconds(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_report_has_a_format_and_a_file() {
        let of = |format, place| Ok(Target { format, place });
        assert_eq!(target("json=-"), of(Format::Json, Place::Stdout));
        assert_eq!(
            target("junit=a=b"),
            of(Format::Junit, Place::File("a=b".into()))
        );
        assert!(target("xml=a").unwrap_err().contains("no format `xml`"));
        assert!(target("json").unwrap_err().contains("json=report.json"));
        assert!(target("badge=").unwrap_err().contains("as in `badge=FILE`"));
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!(partition("2/4"), Ok(Partition { number: 2, of: 4 }));
        for text in ["0/4", "5/4", "1", "a/b", "1/0", "-1/2", "1/1001", "1/2/3"] {
            assert!(partition(text).is_err(), "{text}");
        }
    }

    #[test]
    fn jobs_are_counted_from_one() {
        assert_eq!(jobs("8"), Ok(8));
        for text in ["0", "-3", "1001", "many", "1.5", "99999999999999999999"] {
            assert!(jobs(text).is_err(), "{text}");
        }
    }
}
