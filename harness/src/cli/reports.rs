//! Showing a report: as text on the terminal, and in the formats and files of `--report`.

use std::io;

use super::output::{error, print, say};
use super::value::{Color, Target};
use crate::report::{self, Detail, Run, plain};

/// What a person is to do about a fault of the harness.
pub(super) const REPORT_FAULT: &str =
    "this is a fault of the harness and says nothing about the agent; please report it";

/// How much is shown, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output<'a> {
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) color: Color,
    pub(super) reports: &'a [Target],
}

impl Output<'_> {
    /// Finds out before the work rather than after it whether the reports can be written.
    ///
    /// # Errors
    /// A sentence on a report that cannot.
    pub(super) fn prepare(&self) -> Result<(), String> {
        let stdout = |target: &&Target| **target == Target::Stdout;
        if self.reports.iter().filter(stdout).count() > 1 {
            return Err("only one report can go to stdout".to_owned());
        }
        for target in self.reports {
            if let Target::File(path) = target {
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
        if self.reports.contains(&Target::Stdout) {
            let paint = self.color.paint(&io::stderr());
            say(report::text(run, detail, paint).trim_end());
        } else {
            let paint = self.color.paint(&io::stdout());
            print(&report::text(run, detail, paint))
                .map_err(|error| format!("the report could not be written to stdout: {error}"))?;
        }
        for target in self.reports {
            let json = report::to_json(run)
                .map_err(|error| format!("no report could be made: {error}; {REPORT_FAULT}"))?;
            target.write(&json)?;
        }
        Ok(())
    }
}
