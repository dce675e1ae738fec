//! `harness report`: other formats of reports that exist.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Exit;
use super::output::error;
use super::reports::{self, REPORT_FAULT};
use super::value::{self, Place, Target};
use crate::report::{Document, plain};

/// What stands for the name of a report in the name of a file.
const NAME: &str = "{name}";

/// What `harness report` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 written, whatever the reports say, 2 usage, 4 a fault of the harness."
)]
#[command(after_long_help = "\
A run writes the same: what is made of its JSON later is equal byte for byte.

Examples:
  harness report report.json --report junit=junit.xml --report markdown=summary.md
  harness report report.json --report markdown=-
  harness report a.json b.json --report 'junit=out/{name}.xml'

Exit codes:
  0  written, whatever the reports say
  2  usage: flags, files, or a file that is no report
  4  a fault of the harness itself")]
pub(super) struct ReportArguments {
    /// The reports, as `--report json=FILE` wrote them; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Write this format: `junit=FILE`, or `junit=-` for stdout
    ///
    /// The formats are those of `harness run`. May be repeated. `{name}` in FILE is the name of the report without its
    /// ending; of several reports each needs a file of its own.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = value::target, required = true)]
    report: Vec<Target>,
}

/// Runs the command.
pub(super) fn main(arguments: &ReportArguments) -> Exit {
    let read: Result<Vec<(Vec<Target>, Document)>, String> = arguments
        .files
        .iter()
        .map(|path| Ok((targets(arguments, path)?, document(path)?)))
        .collect();
    let all = read.and_then(|read| {
        let targets: Vec<Target> = read
            .iter()
            .flat_map(|(targets, _)| targets.clone())
            .collect();
        reports::prepare(&targets).map(|()| read)
    });
    let all = match all {
        Ok(all) => all,
        Err(why) => {
            error(why);
            return Exit::Usage;
        }
    };
    for (targets, document) in all {
        if let Err(why) = reports::write(&targets, &document) {
            error(format_args!("{why}; {REPORT_FAULT}"));
            return Exit::Fault;
        }
    }
    Exit::Fine
}

/// Reads a report.
///
/// # Errors
/// A sentence on why it is none.
pub(super) fn document(path: &Path) -> Result<Document, String> {
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text).map(|_| ()),
        false => fs::read_to_string(path).map(|read| text = read),
    };
    let named = || plain(&path.display().to_string());
    read.map_err(|error| format!("`{}` cannot be read: {error}", named()))?;
    Document::parse(&text)
        .map_err(|error| format!("`{}` is no report: {}", named(), plain(&error.to_string())))
}

/// Where the formats of one report go.
fn targets(arguments: &ReportArguments, path: &Path) -> Result<Vec<Target>, String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let each = arguments.report.iter().map(|target| {
        let place = match &target.place {
            Place::File(file) if file.to_string_lossy().contains(NAME) => {
                let name = file.to_string_lossy().replace(NAME, &stem);
                Place::File(PathBuf::from(name))
            }
            _ if arguments.files.len() > 1 => {
                return Err(format!(
                    "several reports are given, and each needs a file of its own: put `{NAME}` into its name, as in `{}={NAME}.out`",
                    target.format.as_str()
                ));
            }
            place => place.clone(),
        };
        Ok(Target {
            format: target.format,
            place,
        })
    });
    each.collect()
}
