//! `harness redact`: replaces secrets in a recording that exists.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use clap::Args;
use memchr::memmem;
use regex::bytes::Regex;

use super::Exit;
use super::output::{error, say};
use super::redaction::{options, pattern};
use crate::redact::Redactor;
use crate::trace::{Damage, Event, OpenError, TraceReader};

/// What stands before the number of a placeholder.
const PLACEHOLDER: &[u8] = b"{secret-";

/// What `harness redact` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, files, or no recording, 4 a fault of the harness."
)]
#[command(after_long_help = "\
Replaces what `harness record` replaces, in the same way: see --no-redact there. Placeholders that are in the recording \
already stay, and new ones get higher numbers. Lines that cannot be read are left out and named on stderr.

Examples:
  harness redact bug.jsonl -o bug-clean.jsonl
  harness redact - -o - --redact-also 'ACME-[0-9]+' < bug.jsonl

Exit codes:
  0  done; also where damaged lines were left out
  2  usage, a file that cannot be read or written, or no recording
  4  a fault of the harness itself")]
pub(crate) struct RedactArguments {
    /// The recording; `-` for stdin
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// Where the redacted recording goes; `-` for stdout
    ///
    /// It must not be the recording itself. A file that is there is overwritten.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Replace also what this regular expression matches; may be repeated
    ///
    /// It is matched against texts as they read, without the escapes of JSON, and over the ends of chunks as far as 256 bytes.
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    redact_also: Vec<Regex>,
}

/// Runs the command.
pub(super) fn main(arguments: RedactArguments) -> Exit {
    match redact(&arguments) {
        Ok(damages) => {
            for Damage { line, reason } in damages.first {
                say(format_args!("line {line} is left out: {reason}"));
            }
            if damages.more > 0 {
                say(format_args!("{} more lines are left out", damages.more));
            }
            Exit::Fine
        }
        Err((why, exit)) => {
            error(why);
            exit
        }
    }
}

/// What could not be read: the first of it, and how much more.
#[derive(Debug, Default)]
struct Damages {
    first: Vec<Damage>,
    more: u64,
}

impl Damages {
    fn add(&mut self, damage: Damage) {
        if self.first.len() < 10 {
            self.first.push(Damage {
                line: damage.line,
                reason: without_quotes(&damage.reason),
            });
        } else {
            self.more += 1;
        }
    }
}

/// A reason as far as it quotes nothing of the line, which may hold a secret.
fn without_quotes(reason: &str) -> String {
    match reason.find(['`', '"']) {
        None => reason.to_owned(),
        Some(_) if reason.starts_with("cut off") => {
            "cut off, the recorder was probably stopped here".to_owned()
        }
        Some(_) => "no event of a trace".to_owned(),
    }
}

fn redact(arguments: &RedactArguments) -> Result<Damages, (String, Exit)> {
    let RedactArguments {
        input,
        output,
        redact_also,
    } = arguments;
    let usage = |path: &Path, error: &dyn std::fmt::Display| {
        (format!("`{}`: {error}", path.display()), Exit::Usage)
    };
    let mut redactor = Redactor::new(options(redact_also.clone()))
        .map_err(|error| (error.to_string(), Exit::Fault))?;
    let is_stdin = input.as_os_str() == "-";
    let source: Box<dyn Read> = if is_stdin {
        Box::new(io::stdin())
    } else {
        if is_same_file(input, output) {
            let why = "the recording cannot be redacted in its own place; give another file to -o";
            return Err(usage(input, &why));
        }
        let before = last_placeholder(input).map_err(|error| usage(input, &error))?;
        redactor.note(before);
        Box::new(File::open(input).map_err(|error| usage(input, &error))?)
    };
    let mut reader =
        TraceReader::open(BufReader::with_capacity(1 << 18, source)).map_err(|error| {
            match error {
                // The line itself may hold a secret.
                OpenError::NoHeader { .. } => usage(input, &"line 1 is no header of a trace"),
                error => usage(input, &error),
            }
        })?;
    let mut header = reader.header().clone();
    redactor.header(&mut header);
    let sink: Box<dyn Write> = if output.as_os_str() == "-" {
        Box::new(io::stdout())
    } else {
        Box::new(create(output).map_err(|error| usage(output, &error))?)
    };
    let mut out = BufWriter::with_capacity(1 << 18, sink);
    let mut line = serde_json::to_vec(&header).map_err(|error| (error.to_string(), Exit::Fault))?;
    line.push(b'\n');
    let mut damages = Damages::default();
    let mut events: Vec<Event> = Vec::new();
    // The header of another recording behind the first one.
    let mut further = None;
    let mut is_end = false;
    while !is_end {
        match reader.next_event().map_err(|error| usage(input, &error))? {
            Some(Ok(event)) => redactor.push(event, &mut events),
            Some(Err(damage)) => match reader.next_header() {
                // What was held back is of the process before.
                Some(next) => {
                    redactor.finish(&mut events);
                    let mut next = next.clone();
                    redactor.header(&mut next);
                    further = Some(next);
                }
                None => damages.add(damage),
            },
            None => {
                redactor.finish(&mut events);
                is_end = true;
            }
        }
        for event in events.drain(..) {
            event.write_line(&mut line);
        }
        if let Some(next) = further.take() {
            serde_json::to_writer(&mut line, &next)
                .map_err(|error| (error.to_string(), Exit::Fault))?;
            line.push(b'\n');
        }
        match out.write_all(&line) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(damages),
            written => written.map_err(|error| usage(output, &error))?,
        }
        line.clear();
    }
    match out.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(usage(output, &error)),
        _ => Ok(damages),
    }
}

/// Makes the file, or empties it; a new one is readable by nobody else.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

fn is_same_file(left: &Path, right: &Path) -> bool {
    match (fs::metadata(left), fs::metadata(right)) {
        (Ok(left), Ok(right)) => {
            left.is_file() && (left.dev(), left.ino()) == (right.dev(), right.ino())
        }
        _ => false,
    }
}

/// The highest number of a placeholder in a file; 0 where there is none. What is no file is not read for this.
fn last_placeholder(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(0);
    }
    const OVERLAP: usize = 32;
    let finder = memmem::Finder::new(PLACEHOLDER);
    let mut buffer = vec![0; 1 << 18];
    let (mut kept, mut last) = (0, 0);
    loop {
        let length = match file.read(buffer.get_mut(kept..).unwrap_or_default())? {
            0 => return Ok(last),
            read => kept + read,
        };
        let bytes = buffer.get(..length).unwrap_or_default();
        for at in finder.find_iter(bytes) {
            let digits = bytes.get(at + PLACEHOLDER.len()..).unwrap_or_default();
            let number = digits
                .iter()
                .take(12)
                .take_while(|byte| byte.is_ascii_digit())
                .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
            last = last.max(number);
        }
        let from = length.saturating_sub(OVERLAP);
        kept = length - from;
        buffer.copy_within(from..length, 0);
    }
}
