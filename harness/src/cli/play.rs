//! `harness play`: the agent of a recording for a live client on stdin and stdout.

use std::io;
use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::output::{error, say};
use super::redaction::redact;
use super::replay::sources;
use super::reports::REPORT_FAULT;
use super::value::Color;
use crate::diff::{Class, Sides};
use crate::replay::{self, Live, compared};
use crate::report::{self, Showing, plain};
use crate::spec::Side;

/// What `harness play` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the client did what is recorded, 1 it did something else, 2 usage, 4 a fault of the harness."
)]
#[command(after_long_help = "\
The player answers a client as the agent of the recording did, each message when what it rests on has happened. It runs \
nothing. What the client does otherwise than recorded is said on stderr and in the exit code.

Put it in the place of an agent in the settings of a client:
  harness play bug.jsonl
  harness play bug.jsonl --lenient

Exit codes, the first that holds of 2, 4, 1:
  0  the client did what is recorded
  1  the client did something else
  2  usage: flags, or a file that cannot be played
  4  a fault of the harness itself")]
pub(crate) struct PlayArguments {
    /// The recording
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Go on where it can be done when the client does something else
    ///
    /// A prompt with another text gets the next recorded turn, and a request that the recording does not have an answer
    /// of the same kind. Without this it is answered with an error.
    #[arg(long)]
    lenient: bool,

    /// From which class on differences are shown and count for the exit code
    ///
    /// The classes are those of `harness diff`. What a person wrote to the agent is what a client is played for, so texts
    /// count here.
    #[arg(long, value_name = "CLASS", value_enum, default_value_t = Class::Text)]
    level: Class,

    /// Say only at the end, and in one line, what the client did otherwise
    #[arg(short, long)]
    quiet: bool,

    /// Colour of what is said: `auto`, `always` or `never`; NO_COLOR is heeded
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,
}

/// Runs the command.
pub(super) fn main(arguments: &PlayArguments) -> Exit {
    let source = match sources::source(arguments.file.clone(), Side::Agent) {
        Ok(source) => source,
        Err(why) => {
            error(why);
            return Exit::Usage;
        }
    };
    let tell = |words: &str| {
        if !arguments.quiet {
            say(format_args!("play: {}", plain(words)));
        }
    };
    let performed = replay::play(
        &source.recording,
        arguments.lenient,
        io::stdin(),
        io::stdout(),
        tell,
    );
    let mut performed = match performed {
        Ok(performed) => performed,
        Err(why) => {
            error(format_args!("{}: {why}", arguments.file.display()));
            return Exit::Usage;
        }
    };
    for note in &performed.notes {
        tell(note);
    }
    // What was replaced in the recording is replaced in what the client sent, before the two are compared.
    if source.recording.header.redacted
        && let Err(why) = redact(&mut performed.live)
    {
        error(format_args!("{why}; {REPORT_FAULT}"));
        return Exit::Fault;
    }
    let live = Live {
        plan: &performed.plan,
        trace: &performed.live,
        put_in: &[],
        incidents: &performed.incidents,
        sides: Sides::RECORDINGS,
    };
    let comparison = compared(&source.recording, &live, &source.volatile);
    let differs = comparison.at_least(arguments.level) > 0;
    let showing = Showing {
        level: arguments.level,
        all: false,
        paint: arguments.color.paint(&io::stderr()),
    };
    if arguments.quiet {
        say(report::counts(&comparison, arguments.level));
    } else {
        let mut comparison = comparison;
        // What the client sent is in no file, so that its events have no numbers that anybody could look up.
        for difference in &mut comparison.differences {
            difference.right_event = None;
        }
        let shown = comparison.differences.iter();
        if shown
            .filter(|it| it.class >= arguments.level)
            .any(|it| it.left_event.is_some())
        {
            say(format_args!(
                "play: events are those of {}, counted from 0 (its second line)",
                plain(&arguments.file.display().to_string())
            ));
        }
        say(report::differences(&comparison, showing).trim_end());
    }
    if differs { Exit::Findings } else { Exit::Fine }
}
