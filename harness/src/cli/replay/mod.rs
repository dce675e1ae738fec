//! `harness replay`: plays the client of recordings to an agent and says what the agent does otherwise.

mod accept;
mod arguments;
mod play;
mod show;
pub(super) mod sources;

use super::Exit;
use super::agent::Prepared;
use super::output::{error, say};
use super::reports::{self, REPORT_FAULT};
use crate::profile::Known;
use crate::report::{AgentIdentity, Fault, Run};
use crate::rules::judge_recording;
use crate::source::Position;
use crate::spec::Side;
use crate::trace::Lines;
use crate::verdict::{Blocked, Blocker, KnownFailures, Piece, assess_recordings};
pub(super) use arguments::ReplayArguments;
use play::{How, Played};
use sources::Source;

/// Runs the command.
pub(super) fn main(arguments: &ReplayArguments) -> Exit {
    let sources = match sources::read(&arguments.files, Side::Client) {
        Ok(sources) => sources,
        Err(wrong) => {
            for why in wrong {
                error(why);
            }
            return Exit::Usage;
        }
    };
    if !trusted(arguments, &sources) {
        return Exit::Usage;
    }
    let prepared = Prepared::new(&arguments.agent, arguments.output.keep.as_deref(), "replay")
        .and_then(|prepared| reports::prepare(&arguments.output.report).map(|()| prepared));
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(why) => {
            error(why);
            return Exit::Usage;
        }
    };
    let words = prepared.words.clone();
    let setup = prepared.setup(
        &arguments.limits,
        &arguments.surroundings,
        arguments.slow,
        false,
    );
    let how = How {
        repeat: arguments.repeat,
        model: arguments.model.into(),
        progress: !arguments.quiet,
    };
    let played = match play::all(&sources, &setup, how) {
        Ok(played) => played,
        Err(why) => {
            error(format_args!("{why}; {REPORT_FAULT}"));
            return Exit::Fault;
        }
    };
    let run = conclude(arguments, words, &setup.profile.known, &sources, &played);
    match show::show(arguments, &sources, &played, &run) {
        Ok(()) if arguments.accept => match accept_all(&sources, &played) {
            true => accepted_exit(&run),
            false => Exit::Findings,
        },
        Ok(()) => exit(arguments, &played, &run),
        Err(why) => {
            error(why);
            Exit::Fault
        }
    }
}

/// Whether all recordings are the project's own or the user trusts them; else what is in them is listed.
fn trusted(arguments: &ReplayArguments, sources: &[Source]) -> bool {
    let mut all = true;
    for source in sources.iter().filter(|source| !source.is_golden()) {
        if !arguments.quiet || !arguments.trust {
            source.list_commands();
        }
        all = false;
    }
    if all || arguments.trust {
        return true;
    }
    say(
        "An agent may run others too. It runs in a fresh folder with a home of its own, and with your permissions.",
    );
    error(
        "the recording is not one of the project's own: look at the commands, and start with `--trust` if you trust them",
    );
    false
}

/// Judges what was played.
fn conclude(
    arguments: &ReplayArguments,
    words: Vec<String>,
    known: &[Known],
    sources: &[Source],
    played: &[Played],
) -> Run {
    let all = || played.iter().flat_map(|played| &played.runs);
    let handshake = all().find_map(|run| run.handshake.as_ref());
    let agent = AgentIdentity::new(words, handshake);
    let today = jiff::Zoned::now().date().to_string();
    let known: Vec<Vec<Known>> = sources
        .iter()
        .map(|source| {
            let of_agent = known.iter().cloned();
            of_agent.chain(recorded_failures(source)).collect()
        })
        .collect();
    let pieces: Vec<_> = played
        .iter()
        .zip(&known)
        .flat_map(|(played, entries)| played.runs.iter().map(move |run| (run, entries)))
        .map(|(run, entries)| {
            let piece = Piece {
                scenario: None,
                trace: run.trace.clone(),
                lines: Some(Lines::whole()),
                judgement: run.judgement.clone(),
            };
            let known = KnownFailures {
                entries,
                version: agent.version.as_deref(),
                today: &today,
            };
            (piece, known)
        })
        .collect();
    let mut assessment = assess_recordings(&pieces, |_| true);
    drop(pieces);
    let silent = all().find_map(|run| run.no_agent.clone());
    let blocked = match silent {
        Some(why) => Some(Blocked {
            by: Blocker::NoAgent,
            why,
            advice: Vec::new(),
        }),
        None => all()
            .find_map(|run| run.login.as_ref())
            .map(|words| Blocked {
                by: Blocker::Login,
                why: format!("The agent wants a login first: {words}."),
                advice: vec![
                    "Pass its key with `--env NAME`, or log in yourself and use `--home keep`."
                        .to_owned(),
                ],
            }),
    };
    if let Some(blocked) = &blocked {
        assessment = assessment.blocked(blocked);
    }
    Run {
        agent,
        surroundings: None,
        assessment,
        blocked,
        scenarios: Vec::new(),
        recordings: Vec::new(),
        faults: all()
            .filter_map(|run| {
                Some(Fault {
                    scenario: None,
                    message: run.fault.clone()?,
                })
            })
            .collect(),
        repeat: (repeat(arguments), Vec::new()),
        part: None,
    }
}

/// What the recording itself fails: where the replay fails it too, nothing has changed. What it fails newly is a difference
/// of the class `breaking`.
fn recorded_failures(source: &Source) -> Vec<Known> {
    let judgement = judge_recording(&source.recording);
    let failed = judgement.iter().filter(|(_, tally)| tally.fails > 0);
    failed
        .map(|(id, _)| Known {
            file: source.path.display().to_string(),
            position: Position::default(),
            id: id.to_owned(),
            scenario: None,
            versions: Vec::new(),
            reason: "the recording shows it too.".to_owned(),
            link: None,
            until: None,
        })
        .collect()
}

/// Writes what was played into the recordings that it differs from; says of each whether it was written.
fn accept_all(sources: &[Source], played: &[Played]) -> bool {
    let mut all = true;
    for (source, played) in sources.iter().zip(played) {
        let [replay] = played.runs.as_slice() else {
            continue;
        };
        if played.differences.is_empty() {
            continue;
        }
        match accept::accept(source, replay) {
            Ok(()) => say(format_args!("{}: accepted", source.path.display())),
            Err(why) => {
                error(why);
                all = false;
            }
        }
    }
    all
}

/// The exit code after all differences were accepted.
fn accepted_exit(run: &Run) -> Exit {
    if !run.faults.is_empty() {
        Exit::Fault
    } else if run.has_no_agent() {
        Exit::NoAgent
    } else {
        Exit::Fine
    }
}

/// The words that repeat the replay.
fn repeat(arguments: &ReplayArguments) -> Vec<String> {
    let mut words = ["harness", "replay"].map(str::to_owned).to_vec();
    let files = arguments.files.iter();
    words.extend(files.map(|path| path.display().to_string()));
    words
}

/// The exit code: the first that holds of 4, 3, 1.
fn exit(arguments: &ReplayArguments, played: &[Played], run: &Run) -> Exit {
    let differs = played.iter().any(|played| {
        let mut all = played.differences.iter();
        all.any(|it| it.difference.class >= arguments.level)
    });
    let findings = run.assessment.failures(arguments.strict).next().is_some();
    if !run.faults.is_empty() {
        Exit::Fault
    } else if run.has_no_agent() {
        Exit::NoAgent
    } else if differs || findings {
        Exit::Findings
    } else {
        Exit::Fine
    }
}
