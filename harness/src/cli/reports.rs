//! Showing a report: as text on the terminal, and in the formats and files of `--report`.

use std::io;

use super::look::LookArguments;
use super::output::{error, print, say};
use super::value::{Place, Target};
use crate::report::{self, Detail, Document, Run, plain};

/// What a person is to do about a fault of the harness.
pub(super) const REPORT_FAULT: &str =
    "this is a fault of the harness and says nothing about the agent; please report it";

/// How much is shown, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output<'a> {
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) look: LookArguments,
    pub(super) strict: bool,
    pub(super) reports: &'a [Target],
}

/// Finds out before the work rather than after it whether the reports can be written.
///
/// # Errors
/// A sentence on a report that cannot.
pub(super) fn prepare(targets: &[Target]) -> Result<(), String> {
    let stdout = |target: &&Target| target.place == Place::Stdout;
    if targets.iter().filter(stdout).count() > 1 {
        return Err("only one report can go to stdout".to_owned());
    }
    for (number, target) in targets.iter().enumerate() {
        let mut earlier = targets.iter().take(number);
        if let Place::File(path) = &target.place
            && earlier.any(|other| other.place == target.place)
        {
            return Err(format!("two reports are to go to `{}`", path.display()));
        }
    }
    for target in targets {
        if let Place::File(path) = &target.place {
            std::fs::write(path, "").map_err(|error| {
                format!(
                    "the report cannot be written to `{}`: {error}",
                    path.display()
                )
            })?;
        }
    }
    Ok(())
}

/// Whether a report goes to stdout, so that the text for people goes to stderr.
pub(super) fn to_stdout(targets: &[Target]) -> bool {
    targets.iter().any(|target| target.place == Place::Stdout)
}

/// Writes the report in every format that is wanted.
///
/// # Errors
/// A sentence on what could not be written.
pub(super) fn write(targets: &[Target], document: &Document) -> Result<(), String> {
    for target in targets {
        let text = target
            .format
            .render(document)
            .map_err(|error| format!("no report could be made: {error}; {REPORT_FAULT}"))?;
        target.place.write(&text)?;
    }
    Ok(())
}

impl Output<'_> {
    /// Shows the reports.
    ///
    /// # Errors
    /// A sentence on what could not be written.
    pub(super) fn show(&self, run: &Run) -> Result<(), String> {
        let detail = match (self.quiet, self.verbose) {
            (true, _) => Detail::Little,
            (_, true) => Detail::Much,
            _ => Detail::Normal,
        };
        if let Some(blocked) = run.blocked.as_ref().filter(|_| run.has_no_agent()) {
            error(plain(&blocked.why));
            for line in &blocked.advice {
                say(plain(line));
            }
        }
        if to_stdout(self.reports) {
            let screen = self.look.screen(&io::stderr());
            say(report::text(run, detail, screen).trim_end());
        } else {
            let screen = self.look.screen(&io::stdout());
            print(&report::text(run, detail, screen))
                .map_err(|error| format!("the report could not be written to stdout: {error}"))?;
        }
        write(self.reports, &Document::of(run, self.strict))
    }
}
