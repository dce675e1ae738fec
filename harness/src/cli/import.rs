//! `harness import`: makes traces of the recordings of other tools.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Exit;
use super::output::{error, say};
use super::redaction::Redaction;
use crate::import::{Format, ImportError, Sink, import};
use crate::redact::Redactor;
use crate::report::plain;
use crate::trace::{Event, Header, TraceWriter};

/// What `harness import` is told.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 imported, 2 usage or no such recording, 4 the trace could not be written."
)]
#[command(after_long_help = "\
What could not be told from the recording (who sent a message, where it begins) is said on stderr, with \
line numbers, and the trace says so where it matters: `harness check` then raises nothing that rests on it.

Formats:
  raw           lines with JSON-RPC messages of one or both sides: bare, behind marks
                (`> `, `<- `, `client:`, `agent -> client`), behind times and words
                of a log, or in wrappers such as
                {\"direction\":\"send\",\"timestamp\":…,\"message\":{…}}; also one JSON
                array of such. Who sent a bare message is told by its method, or by
                the request that it answers
  conductor     what `agent-client-protocol-conductor --trace FILE` writes; of its
                hops the one to the agent
  acp-devtools  what acp-devtools exports: one JSON document with `session` and
                `messages`

Examples:
  harness import --from raw editor.log -o bug.jsonl
  harness import --from conductor trace.jsons -o - | harness check -")]
pub(super) struct ImportArguments {
    /// The recording; `-` for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// What wrote it
    #[arg(long, value_name = "FORMAT", value_enum)]
    from: From,

    /// The trace to write; `-` for stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten, next_help_heading = "Redaction")]
    redaction: Redaction,

    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

/// The formats by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum From {
    /// Lines of JSON-RPC, with or without marks of direction.
    Raw,
    /// `agent-client-protocol-conductor --trace`.
    Conductor,
    /// An export of acp-devtools.
    AcpDevtools,
}

impl From {
    const fn format(self) -> Format {
        match self {
            Self::Raw => Format::Raw,
            Self::Conductor => Format::Conductor,
            Self::AcpDevtools => Format::AcpDevtools,
        }
    }
}

/// Runs the command.
pub(super) fn main(arguments: &ImportArguments) -> Exit {
    let name = arguments.file.display();
    let mut input = match open(arguments) {
        Ok(input) => input,
        Err(why) => {
            error(plain(&why));
            return Exit::Usage;
        }
    };
    let redactor = arguments.redaction.options().map(Redactor::new).transpose();
    let redactor = match redactor {
        Ok(redactor) => redactor,
        Err(why) => {
            error(why);
            return Exit::Fault;
        }
    };
    let mut sink = Output::new(&arguments.output, redactor);
    let outcome = import(arguments.from.format(), &mut *input, &mut sink)
        .and_then(|outcome| sink.close().map_err(ImportError::Write).map(|()| outcome));
    match outcome {
        Ok(outcome) => {
            if !arguments.quiet {
                for (number, sentence) in outcome.sentences().iter().enumerate() {
                    let mark = if number == 0 { "imported" } else { "note:" };
                    say(plain(&format!("{mark} {sentence}")));
                }
            }
            Exit::Fine
        }
        Err(ImportError::Write(why)) if why.kind() == io::ErrorKind::BrokenPipe => Exit::Fine,
        Err(why) => {
            let (file, exit) = match why {
                ImportError::Write(_) => (arguments.output.display(), Exit::Fault),
                ImportError::Read(_) | ImportError::Unfit(_) => (name, Exit::Usage),
            };
            error(plain(&format!("`{file}`: {why}")));
            exit
        }
    }
}

/// Opens the recording.
///
/// # Errors
/// A sentence on why it cannot be used.
fn open(arguments: &ImportArguments) -> Result<Box<dyn BufRead>, String> {
    let path = &arguments.file;
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let same = |one: &Path, other: &Path| matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other);
    if same(path, &arguments.output) {
        return Err(format!(
            "`{}` cannot be read and written at once: name another file with -o",
            path.display()
        ));
    }
    let folder = arguments.output.parent().unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() && !folder.is_dir() {
        return Err(format!(
            "`{}` cannot be written: there is no folder `{}`",
            arguments.output.display(),
            folder.display()
        ));
    }
    let file = File::open(path)
        .map_err(|error| format!("`{}` could not be opened: {error}", path.display()))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// The trace that is written. The file is made with the header, so that nothing is there where nothing was found.
struct Output<'a> {
    path: &'a Path,
    redactor: Option<Redactor>,
    /// Events that are ready to be written.
    ready: Vec<Event>,
    writer: Option<TraceWriter<Lazy>>,
}

/// What only flushes when it is full or closed: an import that is stopped is made again.
struct Lazy(BufWriter<Box<dyn Write>>);

impl Write for Lazy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> Output<'a> {
    fn new(path: &'a Path, redactor: Option<Redactor>) -> Self {
        Self {
            path,
            redactor,
            ready: Vec::new(),
            writer: None,
        }
    }

    fn close(mut self) -> io::Result<()> {
        if let Some(redactor) = &mut self.redactor {
            redactor.finish(&mut self.ready);
        }
        self.write()?;
        match self.writer {
            Some(writer) => writer.into_inner().0.flush(),
            None => Ok(()),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        for event in self.ready.drain(..) {
            if let Some(writer) = &mut self.writer {
                writer.append(&event)?;
            }
        }
        Ok(())
    }
}

impl Sink for Output<'_> {
    fn header(&mut self, header: &Header) -> io::Result<()> {
        let mut header = header.clone();
        if let Some(redactor) = &mut self.redactor {
            redactor.header(&mut header);
        }
        let out: Box<dyn Write> = if self.path.as_os_str() == "-" {
            Box::new(io::stdout())
        } else {
            // It may hold what nobody else is to read.
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            Box::new(options.open(self.path)?)
        };
        let out = Lazy(BufWriter::with_capacity(1 << 16, out));
        self.writer = Some(TraceWriter::begin(out, &header)?);
        Ok(())
    }

    fn event(&mut self, event: Event) -> io::Result<()> {
        match &mut self.redactor {
            Some(redactor) => redactor.push(event, &mut self.ready),
            None => self.ready.push(event),
        }
        self.write()
    }
}
