//! One requirement that failed, as a person reads it: what is required, what was seen and where, and what to do next.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::excerpt::excerpt;
use super::table::wrapped;
use super::vicinity::vicinity;
use super::{Run, Screen, plain};
use crate::spec::{Basis, Level};
use crate::verdict::{Sighting, Standing};

/// Columns left of a message and of the picture.
const INDENT: usize = 4;
/// How many other scenarios or places of a failure are named.
const NAMED: usize = 4;

/// The lines on one failure. What was near an event is shown once: `pictured` holds the events that have their picture.
pub(super) fn failure(
    run: &Run,
    standing: &Standing,
    screen: Screen,
    pictured: &mut BTreeSet<(PathBuf, u64)>,
) -> Vec<String> {
    let paint = screen.paint;
    let requirement = standing.requirement;
    let mut out = Vec::new();
    out.push(format!(
        "{} {}",
        paint.bad(&requirement.id),
        paint.strong(&weight(standing)),
    ));
    if let Some(reason) = &standing.known {
        push(&mut out, screen, &format!("Known: {}", plain(reason)));
    }
    push(&mut out, screen, &requirement.statement);
    out.push(String::new());
    if let Some(first) = standing.findings.first() {
        sighting(&mut out, first, screen, pictured);
        if let Some(together) = together(run, standing, first) {
            push(&mut out, screen, &together);
        }
    }
    if let Some(others) = others(standing) {
        push(&mut out, screen, &others);
    }
    if let Some(url) = requirement.url() {
        out.push(format!("  {}  {url}", paint.faint("text  ")));
    }
    for report in &requirement.reports {
        out.push(format!("  {}  {report}", paint.faint("report")));
    }
    if let Some(first) = standing.findings.first() {
        if let Some(words) = look(first) {
            out.push(format!("  {}  {words}", paint.faint("look  ")));
        }
        let words = match (&first.scenario, &first.trace) {
            (Some(scenario), _) => Some(repeat(run, scenario, &[])),
            (None, Some(trace)) if trace.as_os_str() != "-" => {
                let file = trace.display().to_string();
                Some(if run.is_of_recordings() {
                    repeat(run, &requirement.id, &[&file])
                } else {
                    // What a replay left behind is judged as any recording is.
                    let words = ["harness", "check", "-v", "--only", &requirement.id, &file];
                    plain(&shell_words::join(words))
                })
            }
            (None, _) => None,
        };
        if let Some(words) = words {
            out.push(format!("  {}  {words}", paint.faint("repeat")));
        }
    }
    out
}

/// The command that shows what was found in its surroundings.
fn look(sighting: &Sighting) -> Option<String> {
    let trace = sighting.trace.as_ref()?;
    if trace.as_os_str() == "-" {
        return None;
    }
    let mut words = vec![
        "harness".to_owned(),
        "show".to_owned(),
        trace.display().to_string(),
    ];
    if let Some(place) = &sighting.finding.place {
        words.extend(["--around".to_owned(), place.event.to_string()]);
    }
    Some(plain(&shell_words::join(words)))
}

/// The level and on what it rests.
fn weight(standing: &Standing) -> String {
    let requirement = standing.requirement;
    match (requirement.level, requirement.basis) {
        (Level::Interop, _) => {
            "interop (no text demands it, but clients are known to break on it)".to_owned()
        }
        (level, Basis::Prose) => format!(
            "{} (by the sense of the text, which has no keyword here)",
            level.as_str()
        ),
        (level, Basis::Schema) => format!("{} (by the schema)", level.as_str()),
        (level, Basis::Jsonrpc) => format!("{} (by JSON-RPC 2.0)", level.as_str()),
        (level, Basis::Rfd) => format!("{} (by a design document)", level.as_str()),
        (level, Basis::Keyword) => format!("{} (by a keyword in the text)", level.as_str()),
        (level, Basis::None) => level.as_str().to_owned(),
    }
}

fn sighting(
    out: &mut Vec<String>,
    sighting: &Sighting,
    screen: Screen,
    pictured: &mut BTreeSet<(PathBuf, u64)>,
) {
    let paint = screen.paint;
    push(out, screen, &plain(&sighting.finding.message));
    let place = sighting.finding.place.as_ref();
    let title = match place {
        Some(place) => format!("in {}, event {}", found_in(sighting), place.event),
        None => format!("in {}", found_in(sighting)),
    };
    out.push(format!("  {}", paint.faint(&plain(&title))));
    let lines = match (&sighting.trace, place) {
        (Some(trace), Some(place)) => excerpt(trace, sighting.line, place, screen.width),
        _ => None,
    };
    if let Some(lines) = lines {
        out.push(String::new());
        for line in lines {
            let text = screen.text(&line.text);
            let text = if line.marked { paint.bad(&text) } else { text };
            out.push(format!("{:INDENT$}{text}", ""));
        }
        out.push(String::new());
    }
    let near = match (&sighting.trace, place) {
        (Some(trace), Some(place)) if pictured.insert((trace.clone(), place.event)) => {
            vicinity(trace, sighting.line, place.event, screen.narrower(INDENT))
        }
        _ => Vec::new(),
    };
    if !near.is_empty() {
        let lines = near.iter().map(|line| format!("{:INDENT$}{line}", ""));
        out.extend(lines.map(|line| line.trim_end().to_owned()));
        out.push(String::new());
    }
}

/// That what was seen is held against other requirements as well: an expectation of a scenario that is for several.
fn together(run: &Run, standing: &Standing, first: &Sighting) -> Option<String> {
    let scenario = first.scenario.as_ref()?;
    let same = |other: &Sighting| {
        other.scenario == first.scenario
            && other.trace == first.trace
            && other.finding == first.finding
    };
    let ids: Vec<&str> = run
        .assessment
        .standings
        .iter()
        .filter(|other| other.requirement.id != standing.requirement.id)
        .filter(|other| other.findings.iter().any(same))
        .map(|other| other.requirement.id.as_str())
        .collect();
    (!ids.is_empty()).then(|| {
        format!(
            "One expectation of {} is for {} as well: it does not tell which of them is broken.",
            plain(scenario),
            ids.join(", ")
        )
    })
}

/// How often else it was seen, and where.
fn others(standing: &Standing) -> Option<String> {
    let more = standing.fails.checked_sub(1).filter(|more| *more > 0)?;
    let mut places: Vec<String> = Vec::new();
    for sighting in standing.findings.iter().skip(1) {
        let place = found_in(sighting);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.sort();
    let mut named: Vec<String> = places
        .iter()
        .take(NAMED)
        .map(|place| plain(place))
        .collect();
    if places.len() > NAMED {
        named.push("other places".to_owned());
    }
    let last = named.pop()?;
    let list = match named.as_slice() {
        [] => last,
        _ => format!("{} and {last}", named.join(", ")),
    };
    let times = if more == 1 { "time" } else { "times" };
    Some(format!("Seen {more} more {times}, in {list}."))
}

/// The scenario in which something was found; else the file and the line.
pub(super) fn found_in(sighting: &Sighting) -> String {
    match (&sighting.scenario, &sighting.trace, sighting.line) {
        (Some(scenario), _, _) => scenario.clone(),
        (None, Some(trace), Some(line)) => format!("{}:{line}", trace.display()),
        (None, Some(trace), None) => trace.display().to_string(),
        (None, None, _) => "the trace".to_owned(),
    }
}

/// The command that runs one scenario again, or judges a recording by one requirement.
fn repeat(run: &Run, only: &str, files: &[&str]) -> String {
    let (before, after) = &run.repeat;
    let words = before
        .iter()
        .map(String::as_str)
        .chain(["--only", only])
        .chain(files.iter().copied())
        .chain(after.iter().map(String::as_str));
    plain(&shell_words::join(words))
}

fn push(out: &mut Vec<String>, screen: Screen, text: &str) {
    out.extend(
        wrapped(&screen.text(text), screen.prose())
            .into_iter()
            .map(|line| format!("  {line}")),
    );
}
