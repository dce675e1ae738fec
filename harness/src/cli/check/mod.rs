//! `harness check`: judges stored recordings.

mod arguments;
pub(super) mod files;

use std::path::{Path, PathBuf};

use super::Exit;
use super::output::error;
use super::reports::{self, REPORT_FAULT};
use super::tables;
use crate::check::{Checked, check};
use crate::profile::{Known, Profile, Profiles};
use crate::report::{AgentIdentity, Failed, Recording, Run};
use crate::scenario::Status;
use crate::scenario::file::{Selection, Set};
use crate::spec::Requirement;
use crate::verdict::{Blocked, Blocker, KnownFailures, Piece, Verdict, assess_recordings};
pub(super) use arguments::CheckArguments;

/// Runs the command.
pub(super) fn main(arguments: &CheckArguments) -> Exit {
    let judged = match judge(arguments) {
        Ok(run) => run,
        Err(wrong) => {
            for why in wrong {
                error(why);
            }
            return Exit::Usage;
        }
    };
    match arguments.output().show(&judged) {
        Ok(()) => exit(&judged, arguments.strict),
        Err(why) => {
            error(format_args!("{why}; {REPORT_FAULT}"));
            Exit::Fault
        }
    }
}

/// Judges one recording by everything.
///
/// # Errors
/// A sentence on why it cannot be judged.
pub(super) fn judge_file(path: &Path) -> Result<Run, String> {
    judge(&CheckArguments::of_file(path)).map_err(|wrong| wrong.join("\n"))
}

/// Judges every recording.
///
/// # Errors
/// A sentence on each thing that is wrong with the arguments or the files that they name.
fn judge(arguments: &CheckArguments) -> Result<Run, Vec<String>> {
    let one = |error: &dyn std::fmt::Display| vec![error.to_string()];
    // Recordings have no scenarios: a word such as `cancel` means the area.
    let selection = tables::selection(&arguments.only, &arguments.skip, &Set::default())
        .map_err(|error| one(&error))?;
    let profiles = tables::profiles().map_err(|error| one(&error))?;
    let given = match &arguments.profile {
        Some(name) => Some(tables::profile(name, profiles.clone()).map_err(|error| one(&error))?),
        None => None,
    };
    let own = tables::settings(&profiles).map_err(|error| one(&error))?;
    let paths = files::paths(&arguments.files)?;
    reports::prepare(&arguments.report).map_err(|error| vec![error])?;
    let mut recordings = Vec::new();
    let mut known = Vec::new();
    for path in paths {
        let source = files::open(&path).map_err(|error| vec![error])?;
        let checked = check(source.reader)
            .map_err(|error| vec![format!("`{}` could not be read: {error}", path.display())])?;
        let agent = AgentIdentity::new(checked.header.command.clone(), checked.handshake.as_ref());
        let mut profile = given
            .clone()
            .unwrap_or_else(|| profile_of(&agent, &profiles));
        if let Some(own) = &own {
            own.lay_over(&mut profile);
        }
        known.push(profile.known);
        recordings.push((source.path, agent, checked));
    }
    Ok(conclude(arguments, &selection, recordings, &known))
}

/// The profile of the agent by the name that it gives itself, else by its command.
fn profile_of(agent: &AgentIdentity, profiles: &Profiles) -> Profile {
    let by_name = agent.name.as_deref().and_then(|name| {
        let is_it = |profile: &&Profile| {
            profile.name == name || profile.programs.iter().any(|own| own == name)
        };
        profiles.iter().find(is_it).cloned()
    });
    by_name.unwrap_or_else(|| profiles.find(&agent.command))
}

/// Puts the judgements together.
fn conclude(
    arguments: &CheckArguments,
    selection: &Selection,
    judged: Vec<(PathBuf, AgentIdentity, Checked)>,
    known: &[Vec<Known>],
) -> Run {
    let today = jiff::Zoned::now().date().to_string();
    let in_scope = |requirement: &Requirement| selection.judges(&requirement.id);
    let pieces: Vec<(Piece, KnownFailures)> = judged
        .iter()
        .zip(known)
        .map(|((path, agent, checked), entries)| {
            let piece = Piece {
                scenario: None,
                trace: Some(path.clone()),
                lines: Some(checked.lines.clone()),
                judgement: checked.judgement.clone(),
            };
            let known = KnownFailures {
                entries,
                version: agent.version.as_deref(),
                today: &today,
            };
            (piece, known)
        })
        .collect();
    let each: Vec<(Status, Vec<Failed>)> = pieces
        .iter()
        .map(|piece| {
            let mut failed = Failed::all(&piece.0.judgement, None, &piece.1);
            failed.retain(|failed| selection.judges(failed.id));
            (status(std::slice::from_ref(piece), in_scope), failed)
        })
        .collect();
    let mut assessment = assess_recordings(&pieces, in_scope);
    drop(pieces);
    let blocked = other_version(judged.iter().map(|(_, _, checked)| checked));
    if let Some(blocked) = &blocked {
        assessment = assessment.blocked(blocked);
    }
    let recordings: Vec<Recording> = judged
        .into_iter()
        .zip(each)
        .map(|((trace, agent, checked), (status, failed))| Recording {
            trace,
            agent,
            status,
            checked,
            failed,
        })
        .collect();
    Run {
        agent: of_all(&recordings),
        surroundings: None,
        assessment,
        blocked,
        scenarios: recordings.iter().map(Recording::as_scenario).collect(),
        recordings,
        faults: Vec::new(),
        repeat: (repeat(arguments), Vec::new()),
        part: None,
    }
}

/// How one recording came out.
fn status(piece: &[(Piece, KnownFailures<'_>)], in_scope: impl Fn(&Requirement) -> bool) -> Status {
    match assess_recordings(piece, in_scope).verdict {
        Verdict::Conformant | Verdict::KnownFailures => Status::Pass,
        Verdict::NotConformant => Status::Fail,
        Verdict::Inconclusive => Status::Inconclusive,
    }
}

/// Where no recording is of version 1.
fn other_version<'a>(mut all: impl Iterator<Item = &'a Checked>) -> Option<Blocked> {
    let first = all.next()?.missing.version?;
    all.all(|checked| checked.missing.version.is_some())
        .then(|| Blocked {
            by: Blocker::Version,
            why: format!(
                "Version {first} of the protocol is spoken here; the harness judges version 1."
            ),
            advice: Vec::new(),
        })
}

/// The agent, if all recordings are of one; else nothing is said of it.
fn of_all(recordings: &[Recording]) -> AgentIdentity {
    let agents = recordings.iter().map(|recording| &recording.agent);
    let mut named = agents.clone().filter(|agent| agent.name.is_some());
    let Some(first) = named.next().or(agents.clone().next()) else {
        return AgentIdentity::default();
    };
    // One that says no name is taken for the same if it was started in the same way.
    let same = |other: &AgentIdentity| {
        other.called() == first.called() || (other.name.is_none() && other.command == first.command)
    };
    if agents.clone().all(same) {
        first.clone()
    } else {
        AgentIdentity::default()
    }
}

/// The words that judge a recording again, before `--only` and the file.
fn repeat(arguments: &CheckArguments) -> Vec<String> {
    let mut words = ["harness", "check", "-v"].map(str::to_owned).to_vec();
    if let Some(profile) = &arguments.profile {
        words.extend(["--profile".to_owned(), profile.clone()]);
    }
    words
}

/// The exit code: 1 for what counts, and where nothing could be judged.
fn exit(run: &Run, strict: bool) -> Exit {
    let assessment = &run.assessment;
    let verdict = matches!(
        assessment.verdict,
        Verdict::NotConformant | Verdict::Inconclusive
    );
    if verdict || assessment.failures(strict).next().is_some() {
        Exit::Findings
    } else {
        Exit::Fine
    }
}
