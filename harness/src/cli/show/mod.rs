//! `harness show`: a recording as a picture of two lanes, or one of its messages whole.

mod arguments;
mod filter;
mod findings;
mod one;
mod source;
mod view;

use std::io;
use std::path::Path;

use super::Exit;
use super::check::{files, judge_file};
use super::output::error;
use super::pager::Pager;
use super::reports::REPORT_FAULT;
use super::value::Place;
use crate::report::{self, Document, Front, plain};
use crate::trace::OpenError;
pub(super) use arguments::ShowArguments;
use filter::Filter;
use findings::Findings;
use source::Growing;
use view::View;

/// Why nothing more is shown.
enum Trouble {
    /// What the user can do something about.
    Usage(String),
    /// Writing or reading failed; a reader that has gone is no trouble.
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs the command.
pub(super) fn main(arguments: &ShowArguments) -> Exit {
    let shown = match (&arguments.html, arguments.event) {
        (Some(file), _) => html(&arguments.trace, file),
        (None, Some(event)) => one_event(arguments, event),
        (None, None) => picture(arguments),
    };
    match shown {
        Ok(()) => Exit::Fine,
        Err(Trouble::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Fine,
        Err(Trouble::Usage(why)) => {
            error(plain(&why));
            Exit::Usage
        }
        Err(Trouble::Io(why)) => {
            error(format_args!(
                "`{}` could not be shown: {why}; {REPORT_FAULT}",
                plain(&arguments.trace.display().to_string())
            ));
            Exit::Fault
        }
    }
}

fn one_event(arguments: &ShowArguments, event: u64) -> Result<(), Trouble> {
    let source = files::open(&arguments.trace).map_err(Trouble::Usage)?;
    let screen = arguments.look.screen(&io::stdout());
    let mut text = Vec::new();
    match one::show(source.reader, event, screen, &mut text)? {
        None => {
            let mut out = Pager::start(true);
            io::Write::write_all(&mut out, &text)?;
            Ok(io::Write::flush(&mut out)?)
        }
        Some(events) => Err(Trouble::Usage(format!(
            "`{}`: there is no event {event}: it holds {events}, numbered from 0",
            arguments.trace.display()
        ))),
    }
}

/// Makes a page of the recording.
fn html(trace: &Path, file: &Path) -> Result<(), Trouble> {
    if trace.as_os_str() == "-" {
        return Err(Trouble::Usage(
            "a page reads a recording twice, and stdin can be read once: give it a file".to_owned(),
        ));
    }
    let place = match file.as_os_str() == "-" {
        true => Place::Stdout,
        false => Place::File(file.to_owned()),
    };
    let run = judge_file(trace).map_err(Trouble::Usage)?;
    let fault = |error: &dyn std::fmt::Display| Trouble::Io(io::Error::other(error.to_string()));
    let report = Document::of(&run, false)
        .to_json()
        .map_err(|error| fault(&error))?;
    let page = report::page(&report, Front::Recording).map_err(|error| fault(&error))?;
    place.write(&page).map_err(Trouble::Usage)
}

fn picture(arguments: &ShowArguments) -> Result<(), Trouble> {
    let path = &arguments.trace;
    let findings = if arguments.findings {
        if path.as_os_str() == "-" {
            return Err(Trouble::Usage(
                "`--findings` reads a recording twice, and stdin can be read once: give it a file"
                    .to_owned(),
            ));
        }
        Some(Findings::of(path).map_err(Trouble::Usage)?)
    } else {
        None
    };
    let filter = Filter::new(arguments, findings).map_err(Trouble::Usage)?;
    let screen = arguments.look.screen(&io::stdout());
    let how = (!arguments.verbose, !arguments.follow);
    let ended = if arguments.follow {
        let mut growing = Growing::open(path).map_err(|error| no_recording(arguments, &error))?;
        let mut view = View::new(path, &growing.header, filter, screen, how);
        while let Some(item) = growing.next()? {
            if !view.take(&item)? {
                break;
            }
        }
        view.end()?
    } else {
        let mut reader = files::open(path).map_err(Trouble::Usage)?.reader;
        let mut view = View::new(path, reader.header(), filter, screen, how);
        while let Some(item) = source::next(&mut reader)? {
            if !view.take(&item)? {
                break;
            }
        }
        view.end()?
    };
    ended.map_err(|why| Trouble::Usage(format!("`{}`: {why}", path.display())))
}

fn no_recording(arguments: &ShowArguments, error: &OpenError) -> Trouble {
    // Told as for a file that is read to its end, unless that would find another reason.
    Trouble::Usage(match files::open(&arguments.trace) {
        Err(why) => why,
        Ok(_) => format!("`{}`: {error}", arguments.trace.display()),
    })
}
