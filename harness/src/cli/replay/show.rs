//! Shows what replays gave: differences first, then what was judged.

use std::io;

use super::super::agent::HomeChoice;
use super::super::output::{error, print, say};
use super::super::reports;
use super::ReplayArguments;
use super::arguments::ModelChoice;
use super::play::{Played, Seen};
use super::sources::Source;
use crate::agent::Named;
use crate::diff::{Class, Comparison};
use crate::report::document::{Differs, Replayed};
use crate::report::{self, Detail, Document, Paint, Run, Showing, plain};

/// Shows the reports.
///
/// # Errors
/// A sentence on what could not be written.
pub(super) fn show(
    arguments: &ReplayArguments,
    sources: &[Source],
    played: &[Played],
    run: &Run,
) -> Result<(), String> {
    if let Some(blocked) = run.blocked.as_ref().filter(|_| run.has_no_agent()) {
        error(plain(&blocked.why));
    }
    let to_stdout = reports::to_stdout(&arguments.output.report);
    let screen = if to_stdout {
        arguments.look.screen(&io::stderr())
    } else {
        arguments.look.screen(&io::stdout())
    };
    let detail = if arguments.verbose {
        Detail::Much
    } else {
        Detail::Little
    };
    let mut text = String::new();
    for (source, played) in sources.iter().zip(played) {
        of_one(&mut text, arguments, source, played, screen.paint);
    }
    text.push_str(&report::text(run, detail, screen));
    if to_stdout {
        say(text.trim_end());
    } else {
        print(&text)
            .map_err(|error| format!("the report could not be written to stdout: {error}"))?;
    }
    if arguments.output.report.is_empty() {
        return Ok(());
    }
    let document = document(arguments, sources, played, run);
    reports::write(&arguments.output.report, &document)
}

fn of_one(
    text: &mut String,
    arguments: &ReplayArguments,
    source: &Source,
    played: &Played,
    paint: Paint,
) {
    let mut line = |indent: usize, words: &str| {
        text.push_str(&" ".repeat(indent));
        text.push_str(words);
        text.push('\n');
    };
    let path = plain(&source.path.display().to_string());
    if played.runs.iter().any(|run| run.no_agent.is_some()) {
        line(0, &format!("{path}: not replayed"));
        return;
    }
    let runs = played.runs.len();
    let mut comparison = Comparison::default();
    for seen in &played.differences {
        let mut difference = seen.difference.clone();
        difference.message.push_str(&frequency(seen, runs));
        comparison.differences.push(difference);
    }
    comparison.omitted = played.omitted;
    let count = comparison.at_least(arguments.level);
    let counts = report::counts(&comparison, arguments.level);
    let counts = if count == 0 {
        paint.good(&counts)
    } else {
        paint.bad(&counts)
    };
    line(0, &format!("{}: {counts}", paint.strong(&path)));
    if count > 0 {
        let showing = Showing {
            level: arguments.level,
            all: arguments.verbose,
            paint,
        };
        let all = report::differences(&comparison, showing);
        // The line that counts them stands above.
        let all = all.trim_end().rsplit_once('\n').map_or("", |(all, _)| all);
        line(0, "");
        for words in all.trim_end().lines() {
            line(if words.is_empty() { 0 } else { 2 }, words);
        }
        line(0, "");
    }
    if runs > 1 && !played.differences.is_empty() {
        line(2, &steadiness(&played.differences, arguments.level, runs));
        line(0, "");
    }
    if !arguments.quiet {
        for note in &played.notes {
            line(2, &format!("{}  {}", paint.faint("note "), plain(note)));
        }
        for run in &played.runs {
            if let Some(trace) = &run.trace {
                let path = plain(&trace.display().to_string());
                line(2, &format!("{}  {path}", paint.faint("trace")));
            }
        }
        if count > 0 {
            let words = plain(&repeat(arguments, source));
            line(2, &format!("{}  {words}", paint.faint("repeat")));
        }
        line(0, "");
    }
}

fn frequency(seen: &Seen, runs: usize) -> String {
    match runs {
        1 => String::new(),
        runs if seen.runs >= runs => format!(" (in all {runs} replays)"),
        runs => format!(" (in {} of {runs} replays)", seen.runs),
    }
}

/// The command that replays a recording again. Values of variables are left out: they may be secret.
fn repeat(arguments: &ReplayArguments, source: &Source) -> String {
    let mut words = vec!["harness".to_owned(), "replay".to_owned()];
    words.push(source.path.display().to_string());
    let mut put = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    if let Some(agent) = &arguments.agent.agent {
        put("--agent", agent.clone());
    }
    if let Some(profile) = &arguments.agent.profile {
        put("--profile", profile.clone());
    }
    if arguments.model != ModelChoice::Recorded {
        put("--model", arguments.model.as_str().to_owned());
    }
    for named in &arguments.surroundings.env {
        match named {
            Named::Set(name, _) => put("--env", format!("{name}=…")),
            Named::Pass(name) => put("--env", name.clone()),
        }
    }
    if arguments.surroundings.home == HomeChoice::Keep {
        put("--home", "keep".to_owned());
    }
    if arguments.level != Class::Behaviour {
        put("--level", arguments.level.to_string());
    }
    let flags = [
        ("--env-all", arguments.surroundings.env_all),
        ("--trust", arguments.trust),
    ];
    words.extend(
        flags
            .iter()
            .filter(|(_, is_on)| *is_on)
            .map(|(flag, _)| (*flag).to_owned()),
    );
    if !arguments.agent.words.is_empty() {
        words.push("--".to_owned());
        let given = arguments.agent.words.iter();
        words.extend(given.map(|word| word.to_string_lossy().into_owned()));
    }
    shell_words::join(words)
}

/// Which of the differences are in each replay and which come and go, in a sentence.
fn steadiness(all: &[Seen], level: Class, runs: usize) -> String {
    const NAMED: usize = 3;
    let shown = all.iter().filter(|seen| seen.difference.class >= level);
    let (stable, passing): (Vec<&Seen>, Vec<&Seen>) = shown.partition(|seen| seen.runs >= runs);
    let listed = |them: &[&Seen]| {
        let mut places: Vec<String> = Vec::new();
        for seen in them {
            let place = plain(&seen.difference.place);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let more = places.len().saturating_sub(NAMED);
        places.truncate(NAMED);
        if more > 0 {
            places.push(format!("{more} more places"));
        }
        match places.is_empty() {
            true => "none".to_owned(),
            false => format!("{} ({})", them.len(), places.join("; ")),
        }
    };
    format!(
        "in {runs} replays stable: {}; come and go: {}",
        listed(&stable),
        listed(&passing)
    )
}

/// The report of the judgement with the differences of all recordings.
fn document(
    arguments: &ReplayArguments,
    sources: &[Source],
    played: &[Played],
    run: &Run,
) -> Document {
    let mut differences = Vec::new();
    let mut replays = Vec::new();
    for (source, played) in sources.iter().zip(played) {
        let recording = source.path.display().to_string();
        let traces = played.runs.iter();
        differences.extend(played.differences.iter().map(|seen| Differs {
            difference: seen.difference.clone(),
            recording: Some(recording.clone()),
            runs: Some(seen.runs),
            of: Some(played.runs.len()),
        }));
        replays.push(Replayed {
            traces: traces
                .filter_map(|run| Some(run.trace.as_ref()?.display().to_string()))
                .collect(),
            differences: played.differences.len(),
            notes: played.notes.clone(),
            recording,
        });
    }
    Document {
        differences: Some(differences),
        level: Some(arguments.level),
        replays: Some(replays),
        ..Document::of(run, arguments.strict)
    }
}
