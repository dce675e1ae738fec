//! Shows what replays gave: differences first, then what was judged.

use std::io;

use serde_json::{Value, json};

use super::super::output::{error, print, say};
use super::super::reports::REPORT_FAULT;
use super::super::value::Target;
use super::ReplayArguments;
use super::play::{Played, Seen};
use super::sources::Source;
use crate::report::{self, Detail, Paint, Run, plain};

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
    let to_stdout = arguments.output.report.contains(&Target::Stdout);
    let paint = if to_stdout {
        arguments.color.paint(&io::stderr())
    } else {
        arguments.color.paint(&io::stdout())
    };
    let detail = if arguments.verbose {
        Detail::Much
    } else {
        Detail::Little
    };
    let mut text = String::new();
    for (source, played) in sources.iter().zip(played) {
        of_one(&mut text, arguments, source, played, paint);
    }
    text.push_str(&report::text(run, detail, paint));
    if to_stdout {
        say(text.trim_end());
    } else {
        print(&text)
            .map_err(|error| format!("the report could not be written to stdout: {error}"))?;
    }
    for target in &arguments.output.report {
        let report = to_json(sources, played, run)
            .map_err(|error| format!("no report could be made: {error}; {REPORT_FAULT}"))?;
        target.write(&report).map_err(|error| match target {
            Target::Stdout => format!("the report could not be written to stdout: {error}"),
            Target::File(path) => format!(
                "the report could not be written to `{}`: {error}",
                path.display()
            ),
        })?;
    }
    Ok(())
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
    let count = played
        .differences
        .iter()
        .filter(|seen| seen.difference.class >= arguments.level)
        .count();
    let below = played.differences.len() - count;
    let below = match below {
        0 => String::new(),
        below => format!(", {below} below the level"),
    };
    let head = match count {
        0 => format!("{}{below}", paint.good("no difference")),
        1 => format!("{}{below}", paint.bad("1 difference")),
        count => format!("{}{below}", paint.bad(&format!("{count} differences"))),
    };
    if played.runs.iter().all(|run| run.no_agent.is_none()) {
        line(
            0,
            &format!("{}: {head}", plain(&source.path.display().to_string())),
        );
    }
    let runs = played.runs.len();
    for seen in &played.differences {
        let difference = &seen.difference;
        if difference.class < arguments.level && !arguments.verbose {
            continue;
        }
        let often = frequency(seen, runs);
        line(
            2,
            &format!(
                "{} {}{often}: {}",
                paint.strong(difference.class.as_str()),
                plain(&difference.place),
                plain(&difference.message)
            ),
        );
        for (name, value) in [("recorded", &difference.left), ("now", &difference.right)] {
            if let Some(value) = value {
                line(4, &format!("{name:<8}  {}", plain(value)));
            }
        }
    }
    if !arguments.quiet {
        for note in &played.notes {
            line(2, &format!("{} {}", paint.faint("note"), plain(note)));
        }
        for run in &played.runs {
            if let Some(trace) = &run.trace {
                let path = plain(&trace.display().to_string());
                line(2, &format!("{}  {path}", paint.faint("trace")));
            }
        }
    }
    text.push('\n');
}

fn frequency(seen: &Seen, runs: usize) -> String {
    match runs {
        1 => String::new(),
        runs if seen.runs >= runs => format!(" (in all {runs} replays)"),
        runs => format!(" (in {} of {runs} replays)", seen.runs),
    }
}

/// The report of the judgement with the differences of all recordings.
fn to_json(sources: &[Source], played: &[Played], run: &Run) -> serde_json::Result<String> {
    let mut report: Value = serde_json::from_str(&report::to_json(run)?)?;
    let mut differences = Vec::new();
    let mut replays = Vec::new();
    for (source, played) in sources.iter().zip(played) {
        let path = source.path.display().to_string();
        let traces: Vec<String> = played
            .runs
            .iter()
            .filter_map(|run| Some(run.trace.as_ref()?.display().to_string()))
            .collect();
        for seen in &played.differences {
            let mut difference = serde_json::to_value(&seen.difference)?;
            if let Some(members) = difference.as_object_mut() {
                members.insert("recording".into(), json!(path));
                members.insert("runs".into(), json!(seen.runs));
                members.insert("of".into(), json!(played.runs.len()));
            }
            differences.push(difference);
        }
        replays.push(json!({
            "recording": path,
            "traces": traces,
            "differences": played.differences.len(),
            "notes": played.notes,
        }));
    }
    if let Some(members) = report.as_object_mut() {
        members.insert("differences".into(), Value::Array(differences));
        members.insert("replays".into(), Value::Array(replays));
    }
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}
