//! The arguments of `harness check`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::super::look::LookArguments;
use super::super::reports::Output;
use super::super::value::{self, Color, Target};

const CHOICE: &str = "What is judged";
const OUTPUT: &str = "Output";

/// What `harness check` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all holds, 1 findings or nothing that could be judged, 2 usage, 4 a fault of the harness."
)]
#[command(after_long_help = "\
A recording is judged for what it holds. Where it begins late, shows one side only, breaks off or has lines \
that cannot be read, no failure is raised that rests on what is missing; the report says what is missing.

Examples:
  harness check bug.jsonl
  harness check traces/ --only CANCEL,PROMPT -v
  harness check bug.jsonl --report json=report.json
  harness import --from raw log.txt -o - | harness check -

Exit codes, the first that holds of 2, 4, 1:
  0  all that could be judged holds; failures that are known for the agent too
  1  findings, or nothing that could be judged: an empty recording, another version of the protocol
  2  usage: flags, files, or a file that is no recording
  4  a fault of the harness itself")]
pub(crate) struct CheckArguments {
    /// The recordings: files, folders of `*.jsonl`, or `-` for stdin
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// Whose recordings they are: the profile that lists known failures
    ///
    /// Without this the profile is found by the name that the agent gives itself, or by the command in the recording.
    #[arg(long, value_name = "NAME|FILE", help_heading = CHOICE)]
    pub(super) profile: Option<String>,

    /// Judge only these: requirements and areas
    ///
    /// An id (`CANCEL-01`) or an area (`CANCEL`); several with commas, or by repeating the flag.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = CHOICE)]
    pub(super) only: Vec<String>,

    /// Leave these out; patterns as for --only
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = CHOICE)]
    pub(super) skip: Vec<String>,

    /// Let `should` and `interop` count for the exit code
    #[arg(long, help_heading = CHOICE)]
    pub(super) strict: bool,

    /// Write a report: `json=FILE`, or `json=-` for stdout
    ///
    /// The formats are `html` (a page for a browser), `json`, `junit`, `markdown` and `badge`. May be repeated. With `-` as the
    /// file the text goes to stderr.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = value::target, help_heading = OUTPUT)]
    pub(super) report: Vec<Target>,

    /// Show failures and the verdict only
    #[arg(short, long, conflicts_with = "verbose", help_heading = OUTPUT)]
    pub(super) quiet: bool,

    /// Show every recording, every damaged line, notes, and why things were not judged
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) verbose: bool,

    #[command(flatten)]
    pub(super) look: LookArguments,
}

impl CheckArguments {
    /// One recording, judged by everything.
    pub(super) fn of_file(path: &Path) -> Self {
        Self {
            files: vec![path.to_owned()],
            profile: None,
            only: Vec::new(),
            skip: Vec::new(),
            strict: false,
            report: Vec::new(),
            quiet: false,
            verbose: false,
            look: LookArguments {
                color: Color::Auto,
                ascii: false,
            },
        }
    }

    /// How much is shown, and where.
    pub(super) fn output(&self) -> Output<'_> {
        Output {
            quiet: self.quiet,
            verbose: self.verbose,
            look: self.look,
            strict: self.strict,
            reports: &self.report,
        }
    }
}
