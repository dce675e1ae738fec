//! The arguments of `harness show`.

use std::path::PathBuf;

use clap::Args;

use super::super::look::LookArguments;

const CHOICE: &str = "What is shown";
const OUTPUT: &str = super::super::agent::OUTPUT;

/// What `harness show` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 something was shown, 2 usage, a file that is no recording, or nothing that matched, 4 a fault of the harness."
)]
#[command(after_long_help = "\
Each event is a line: its number, the seconds since the recording began, session and turn, and an arrow between client \
and agent. Solid lines are requests, dashed ones answers (with the event that they answer), dotted ones the rest; arrows \
at the right edge go to the model. A lane is bold while its side has a request to answer. Chunks of one text that follow \
each other are one line.

Examples:
  harness show bug.jsonl
  harness show bug.jsonl --findings
  harness show bug.jsonl --around 41:10
  harness show bug.jsonl --event 41
  harness show bug.jsonl --session 2 --turn 1 --method 'tool_call*,session/request_permission'
  harness show -f live.jsonl
  harness show bug.jsonl --html bug.html

Exit codes:
  0  something was shown
  2  usage, a file that is no recording, or nothing that matched
  4  a fault of the harness itself")]
pub(crate) struct ShowArguments {
    /// The recording: a file, or `-` for stdin
    #[arg(value_name = "TRACE")]
    pub(super) trace: PathBuf,

    /// Only what belongs to this session: its id, or its number in the recording
    ///
    /// What names no session (stderr, the model) belongs to the turn that is under way, if it is the only one.
    #[arg(long, value_name = "ID|N", help_heading = CHOICE)]
    pub(super) session: Option<String>,

    /// Only this turn of a session, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = CHOICE)]
    pub(super) turn: Option<u64>,

    /// Only these methods and kinds of updates, with the answers
    ///
    /// A name (`session/prompt`, `tool_call`) or a pattern (`fs/*`); several with commas, or by repeating the flag.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = CHOICE)]
    pub(super) method: Vec<String>,

    /// Judge the recording, and show where rules are broken
    ///
    /// Events with findings and their neighbours, with what was found beneath.
    #[arg(long, help_heading = CHOICE)]
    pub(super) findings: bool,

    /// Only an event and its neighbours, five on each side or N
    #[arg(long, value_name = "EVENT[:N]", value_parser = around, help_heading = CHOICE)]
    pub(super) around: Option<Around>,

    /// One event whole, its message with each member on a line
    #[arg(long, value_name = "N", conflicts_with_all = ["session", "turn", "method", "findings", "around", "follow", "verbose"], help_heading = CHOICE)]
    pub(super) event: Option<u64>,

    /// Go on with what is still being written, until interrupted
    #[arg(short, long, conflicts_with = "findings", help_heading = OUTPUT)]
    pub(super) follow: bool,

    /// Show each chunk of a text on a line of its own
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) verbose: bool,

    /// Make a page for a browser of the recording, and of what the rules have against it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["session", "turn", "method", "findings", "around", "event", "follow", "verbose"], help_heading = OUTPUT)]
    pub(super) html: Option<PathBuf>,

    #[command(flatten)]
    pub(super) look: LookArguments,
}

/// An event and how many neighbours of it are shown on each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) event: u64,
    pub(super) neighbours: u64,
}

impl Around {
    /// Whether an event is among them.
    pub(super) fn holds(self, event: u64) -> bool {
        event.abs_diff(self.event) <= self.neighbours
    }

    /// Whether all of them are before this event.
    pub(super) fn is_past(self, event: u64) -> bool {
        event > self.event.saturating_add(self.neighbours)
    }
}

fn around(text: &str) -> Result<Around, String> {
    const NEIGHBOURS: u64 = 5;
    let (event, neighbours) = match text.split_once(':') {
        Some((event, neighbours)) => (event, neighbours.parse().ok()),
        None => (text, Some(NEIGHBOURS)),
    };
    match (event.parse(), neighbours) {
        (Ok(event), Some(neighbours)) => Ok(Around { event, neighbours }),
        _ => Err(
            "expected the number of an event, and how many neighbours on each side, such as `41` or `41:10`"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_may_be_given_or_not() {
        let five = around("41").unwrap();
        assert!(five.holds(36) && five.holds(46) && !five.holds(47));
        assert!(five.is_past(47) && !five.is_past(46));
        assert_eq!(around("0:2").map(|it| it.neighbours), Ok(2));
        for wrong in ["", "x", "1:", "-1", "1:2:3", "99999999999999999999"] {
            assert!(around(wrong).is_err(), "{wrong}");
        }
    }
}
