//! `harness diff`: compares two recordings.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Exit;
use super::check::files::whole;
use super::output::{error, print, say};
use super::redaction::redact;
use super::reports::{self, REPORT_FAULT};
use super::value::{self, Color, Target};
use crate::canon::{Scrutiny, Volatility};
use crate::check::check;
use crate::diff::{Class, Comparison, Sides, delays, diff_looking_at};
use crate::report::document::Differs;
use crate::report::{self, AgentIdentity, Document, Failed, Format, Run, Showing, plain};
use crate::scenario::Status;
use crate::trace::Recording;
use crate::verdict::{KnownFailures, Piece, Verdict, assess_recordings};

const CHOICE: &str = "What counts";
const OUTPUT: &str = "Output";

/// What `harness diff` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no difference from the level on, 1 differences, 2 usage, 4 a fault of the harness."
)]
#[command(after_long_help = "\
Two recordings of the same behaviour are equal, however their ids, folders and chunks came out, however their \
sessions were interleaved, and wherever state updates stand. What may differ from run to run is listed in \
harness/spec/acp-v1/volatile.toml; a file NAME.volatile.toml beside NAME.jsonl adds to it or switches it off.

Examples:
  harness diff yesterday.jsonl today.jsonl
  harness diff bob.jsonl other.jsonl --level breaking
  harness diff a.jsonl b.jsonl --report json=-

Exit codes, the first that holds of 2, 4, 1:
  0  no difference of the level or a higher class
  1  differences
  2  usage: flags, files, or a file that is no recording
  4  a fault of the harness itself")]
pub(super) struct DiffArguments {
    /// The recording that is compared with; `-` is stdin
    #[arg(value_name = "LEFT")]
    left: PathBuf,

    /// The recording that is looked at; `-` is stdin
    #[arg(value_name = "RIGHT")]
    right: PathBuf,

    /// From which class on differences are shown and count for the exit code
    ///
    /// `breaking`: a requirement is newly violated on the right. `behaviour`: a message appears, vanishes, moves, or
    /// changes in a field that carries meaning. `text`: only what a model or a person wrote differs, or name and version of
    /// the agent. `timing`: only when something happened.
    #[arg(long, value_name = "CLASS", value_enum, default_value_t = Class::Behaviour, help_heading = CHOICE)]
    level: Class,

    /// Compare what the agent wrote to stderr, too
    #[arg(long, help_heading = CHOICE)]
    stderr: bool,

    /// Write a report: `json=FILE`, or `json=-` for stdout
    ///
    /// The formats are `json` and `markdown`. May be repeated. With `-` as the file the text goes to stderr.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = value::target, help_heading = OUTPUT)]
    report: Vec<Target>,

    /// Show how many differences there are, and no more
    #[arg(short, long, conflicts_with = "verbose", help_heading = OUTPUT)]
    quiet: bool,

    /// Show every difference, with whole values
    #[arg(short, long, help_heading = OUTPUT)]
    verbose: bool,

    /// Colour: `auto`, `always` or `never`; NO_COLOR is heeded
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = OUTPUT)]
    color: Color,
}

/// Runs the command.
pub(super) fn main(arguments: &DiffArguments) -> Exit {
    if let Err(why) = fits(&arguments.report).and_then(|()| reports::prepare(&arguments.report)) {
        error(why);
        return Exit::Usage;
    }
    let (left, right, volatility) = match read(arguments) {
        Ok(read) => read,
        Err(wrong) => {
            for why in wrong {
                error(why);
            }
            return Exit::Usage;
        }
    };
    let scrutiny = Scrutiny {
        stderr: arguments.stderr,
    };
    let mut comparison = diff_looking_at(&left, &right, &volatility, scrutiny, Sides::RECORDINGS);
    comparison.differences.extend(delays(&left, &right));
    warn(arguments, [&left, &right], &comparison);
    let shown = show(arguments, &comparison);
    // The process ends, and with it all that they take: giving back each event first would take a second for millions.
    std::mem::forget((left, right));
    match shown {
        Ok(()) if comparison.at_least(arguments.level) > 0 => Exit::Findings,
        Ok(()) => Exit::Fine,
        Err(why) => {
            error(format_args!("{why}; {REPORT_FAULT}"));
            Exit::Fault
        }
    }
}

/// Two recordings that are compared are no test that passes or fails, and give no badge.
fn fits(targets: &[Target]) -> Result<(), String> {
    let other = |target: &&Target| !matches!(target.format, Format::Json | Format::Markdown);
    match targets.iter().find(other) {
        None => Ok(()),
        Some(target) => Err(format!(
            "`harness diff` writes no `{}`: it writes `json` and `markdown`; `harness replay` and `harness check` write all",
            target.format.as_str()
        )),
    }
}

/// Reads both recordings side by side, and their sidecars.
fn read(arguments: &DiffArguments) -> Result<(Recording, Recording, Volatility), Vec<String>> {
    let (left, right) = std::thread::scope(|scope| {
        let right = scope.spawn(|| whole(&arguments.right));
        let left = whole(&arguments.left);
        match right.join() {
            Ok(right) => (left, right),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    let volatility = Volatility::built_in()
        .with_sidecar(&arguments.left)
        .and_then(|volatility| volatility.with_sidecar(&arguments.right))
        .map_err(|error| error.to_string());
    match (left, right, volatility) {
        (Ok(mut left), Ok(mut right), Ok(volatility)) => {
            // One was redacted: what is secret in the other is a placeholder before they are compared.
            if left.header.redacted != right.header.redacted {
                let open = if left.header.redacted {
                    &mut right
                } else {
                    &mut left
                };
                redact(open).map_err(|error| vec![error])?;
            }
            Ok((left, right, volatility))
        }
        (left, right, volatility) => Err([left.err(), right.err(), volatility.err()]
            .into_iter()
            .flatten()
            .collect()),
    }
}

/// Says what stands in the way of trusting the outcome.
fn warn(arguments: &DiffArguments, sides: [&Recording; 2], comparison: &Comparison) {
    for (path, recording) in [&arguments.left, &arguments.right].into_iter().zip(sides) {
        if let [first, ..] = recording.damage.as_slice() {
            let count = recording.damage.len();
            let lines = if count == 1 { "line" } else { "lines" };
            say(format_args!(
                "warning: `{}`: {count} {lines} could not be read and {} left out, the first is line {}: {}",
                plain(&path.display().to_string()),
                if count == 1 { "is" } else { "are" },
                first.line,
                plain(&first.reason)
            ));
        }
    }
    for unmatched in &comparison.unmatched {
        say(format_args!(
            "warning: {}:{}:{}: nothing matches `{}`",
            plain(&unmatched.file),
            unmatched.position.line,
            unmatched.position.column,
            plain(&unmatched.selector)
        ));
    }
}

fn show(arguments: &DiffArguments, comparison: &Comparison) -> Result<(), String> {
    let to_stdout = reports::to_stdout(&arguments.report);
    let paint = if to_stdout {
        arguments.color.paint(&io::stderr())
    } else {
        arguments.color.paint(&io::stdout())
    };
    let mut text = if arguments.quiet {
        format!("{}\n", report::counts(comparison, arguments.level))
    } else {
        let showing = Showing {
            level: arguments.level,
            all: arguments.verbose,
            paint,
        };
        report::differences(comparison, showing)
    };
    let breaks = comparison.at_least(Class::Breaking) > 0;
    if !arguments.quiet && breaks {
        let file = arguments.right.display().to_string();
        text.push_str(&format!(
            "what is violated on the right: harness check {}\n",
            plain(&shell_words::quote(&file))
        ));
    }
    if to_stdout {
        say(text.trim_end());
    } else {
        print(&text)
            .map_err(|error| format!("the report could not be written to stdout: {error}"))?;
    }
    if arguments.report.is_empty() {
        return Ok(());
    }
    let run = judged(&arguments.right)?;
    let mut document = Document::of(&run, false);
    let differences = comparison.differences.iter().cloned();
    document.differences = Some(differences.map(Differs::from).collect());
    document.differences_omitted = Some(comparison.omitted);
    document.level = Some(arguments.level);
    reports::write(&arguments.report, &document)
}

/// The recording on the right, judged by itself: what the report says beside the differences.
fn judged(path: &Path) -> Result<Run, String> {
    let file =
        std::fs::File::open(path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    let reader = crate::trace::TraceReader::open(io::BufReader::new(file))
        .map_err(|error| format!("`{}`: {error}", path.display()))?;
    let checked = check(reader).map_err(|error| format!("`{}`: {error}", path.display()))?;
    let agent = AgentIdentity::new(checked.header.command.clone(), checked.handshake.as_ref());
    let piece = Piece {
        scenario: None,
        trace: Some(path.to_owned()),
        lines: Some(checked.lines.clone()),
        judgement: checked.judgement.clone(),
    };
    let known = KnownFailures {
        entries: &[],
        version: agent.version.as_deref(),
        today: "",
    };
    let failed = Failed::all(&checked.judgement, None, &known);
    let assessment = assess_recordings(&[(piece, known)], |_| true);
    let status = match assessment.verdict {
        Verdict::Conformant | Verdict::KnownFailures => Status::Pass,
        Verdict::NotConformant => Status::Fail,
        Verdict::Inconclusive => Status::Inconclusive,
    };
    let recording = report::Recording {
        trace: path.to_owned(),
        agent: agent.clone(),
        status,
        checked,
        failed,
    };
    Ok(Run {
        agent,
        surroundings: None,
        assessment,
        blocked: None,
        scenarios: vec![recording.as_scenario()],
        recordings: vec![recording],
        faults: Vec::new(),
        repeat: (Vec::new(), Vec::new()),
        part: None,
    })
}
