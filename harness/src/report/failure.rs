//! One requirement that failed, as a person reads it: what is required, what was seen and where, and what to do next.

use std::collections::BTreeMap;

use super::excerpt::excerpt;
use super::table::wrapped;
use super::{Paint, Run, plain};
use crate::spec::{Basis, Level};
use crate::verdict::{Sighting, Standing};

/// Columns of prose.
const WIDTH: usize = 96;
/// How many other scenarios of a failure are named.
const NAMED: usize = 4;

/// The lines on one failure.
pub(super) fn failure(run: &Run, standing: &Standing, paint: Paint) -> Vec<String> {
    let requirement = standing.requirement;
    let mut out = Vec::new();
    out.push(format!(
        "{} {}",
        paint.bad(&requirement.id),
        paint.strong(&weight(standing)),
    ));
    if let Some(reason) = &standing.known {
        push(&mut out, &format!("Known: {}", plain(reason)));
    }
    push(&mut out, &requirement.statement);
    out.push(String::new());
    if let Some(first) = standing.findings.first() {
        sighting(&mut out, first, paint);
    }
    if let Some(others) = others(standing) {
        push(&mut out, &others);
    }
    if let Some(url) = requirement.url() {
        out.push(format!("  {}  {url}", paint.faint("text  ")));
    }
    for report in &requirement.reports {
        out.push(format!("  {}  {report}", paint.faint("report")));
    }
    if let Some(first) = standing.findings.first() {
        if let Some(trace) = &first.trace {
            out.push(format!(
                "  {}  {}",
                paint.faint("trace "),
                plain(&trace.display().to_string())
            ));
        }
        if let Some(scenario) = &first.scenario {
            out.push(format!(
                "  {}  {}",
                paint.faint("repeat"),
                repeat(run, scenario)
            ));
        }
    }
    out
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

fn sighting(out: &mut Vec<String>, sighting: &Sighting, paint: Paint) {
    push(out, &plain(&sighting.finding.message));
    let place = sighting.finding.place.as_ref();
    let title = sighting.scenario.as_deref().map(|id| match place {
        Some(place) => format!("in {id}, event {}", place.event),
        None => format!("in {id}"),
    });
    if let Some(title) = title {
        out.push(format!("  {}", paint.faint(&plain(&title))));
    }
    let lines = match (&sighting.trace, place) {
        (Some(trace), Some(place)) => excerpt(trace, place),
        _ => None,
    };
    if let Some(lines) = lines {
        out.push(String::new());
        for line in lines {
            let text = if line.marked {
                paint.bad(&line.text)
            } else {
                line.text
            };
            out.push(format!("    {text}"));
        }
        out.push(String::new());
    }
}

/// How often else it was seen, and where.
fn others(standing: &Standing) -> Option<String> {
    let more = standing.fails.checked_sub(1).filter(|more| *more > 0)?;
    let mut scenarios: BTreeMap<&str, usize> = BTreeMap::new();
    for sighting in standing.findings.iter().skip(1) {
        *scenarios
            .entry(sighting.scenario.as_deref().unwrap_or("the trace"))
            .or_default() += 1;
    }
    let mut named: Vec<String> = scenarios.keys().take(NAMED).map(|id| plain(id)).collect();
    if scenarios.len() > NAMED {
        named.push("other scenarios".to_owned());
    }
    let last = named.pop()?;
    let places = match named.as_slice() {
        [] => last,
        _ => format!("{} and {last}", named.join(", ")),
    };
    let times = if more == 1 { "time" } else { "times" };
    Some(format!("Seen {more} more {times}, in {places}."))
}

/// The command that runs one scenario again.
pub(super) fn repeat(run: &Run, scenario: &str) -> String {
    let (before, after) = &run.repeat;
    let words = before
        .iter()
        .map(String::as_str)
        .chain(["--only", scenario])
        .chain(after.iter().map(String::as_str));
    plain(&shell_words::join(words))
}

fn push(out: &mut Vec<String>, text: &str) {
    out.extend(
        wrapped(text, WIDTH)
            .into_iter()
            .map(|line| format!("  {line}")),
    );
}
