//! The report that a person reads on the terminal: failures first, then counts, then the verdict.

use std::collections::BTreeSet;

use super::failure::{failure, found_in};
use super::table::{spaced, wrapped};
use super::{Paint, Run, Screen, plain};
use crate::rules::Missing;
use crate::scenario::Status;
use crate::spec::Level;
use crate::verdict::{Standing, State, Verdict};

/// From so many columns on there is room between the columns of the table.
const ROOMY: usize = 64;

/// The order in which levels are shown.
const ORDER: [Level; 5] = [
    Level::Must,
    Level::Interop,
    Level::Should,
    Level::May,
    Level::Observe,
];

/// So many damaged lines of a recording are shown.
const NAMED_DAMAGE: usize = 5;

/// So many scenarios that could show nothing are named.
const NAMED_SCENARIOS: usize = 3;

/// How many ids a line of the short report names per level and state.
const NAMED: usize = 12;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Failures and the verdict (`-q`).
    Little,
    /// Counts, and what was not exercised by its ids.
    Normal,
    /// Notes, and why each requirement was not judged (`-v`).
    Much,
}

/// The whole report, with a newline at its end.
pub fn text(run: &Run, detail: Detail, screen: impl Into<Screen>) -> String {
    let screen = screen.into();
    let (paint, width) = (screen.paint, screen.prose());
    let mut out: Vec<String> = Vec::new();
    let mut pictured = BTreeSet::new();
    for standing in failures(run) {
        if standing.known.is_none() || detail == Detail::Much {
            out.extend(failure(run, standing, screen, &mut pictured));
            out.push(String::new());
        }
    }
    if detail < Detail::Much {
        known(&mut out, run, detail, width);
    }
    if detail == Detail::Much {
        notes(&mut out, run, paint);
    }
    for fault in &run.faults {
        let place = fault
            .scenario
            .as_ref()
            .map_or(String::new(), |id| format!(" in {id}"));
        out.push(paint.bad(&plain(&format!(
            "fault of the harness{place}: {}",
            fault.message
        ))));
    }
    if !run.faults.is_empty() {
        out.push("Please report this with the command, the platform and the trace.".to_owned());
        out.push(String::new());
    }
    for stale in &run.assessment.stale {
        out.push(format!("{} {}", paint.bad("stale:"), plain(&stale.why)));
    }
    if !run.assessment.stale.is_empty() {
        out.push(String::new());
    }
    if detail > Detail::Little && run.blocked.is_none() {
        counts(&mut out, run, screen);
        if run.is_of_recordings() {
            recordings(&mut out, run, detail, width);
        } else {
            scenarios(&mut out, run, width);
        }
        if let Some(surroundings) = &run.surroundings {
            out.extend(wrapped(&plain(&surroundings.in_words()), width));
            out.push(String::new());
        }
        open(&mut out, run, detail, screen);
        out.extend(super::unexercised::unexercised(run, detail, width));
    }
    if let Some(blocked) = run.blocked.as_ref().filter(|_| !run.has_no_agent()) {
        out.extend(wrapped(&plain(&blocked.why), width));
        out.extend(blocked.advice.iter().map(|line| plain(line)));
    } else if run.blocked.is_none() && run.assessment.verdict == Verdict::Inconclusive {
        lacking(&mut out, run, width);
    } else if detail > Detail::Little && !run.assessment.missing.is_empty() && !run.has_no_agent() {
        let ids: Vec<&str> = run.assessment.missing.iter().map(|(id, _)| *id).collect();
        let text = format!(
            "The verdict is on what was judged; for one on the agent as a whole {} must pass too.",
            ids.join(", ")
        );
        out.extend(wrapped(&text, width));
    }
    out.push(verdict(run, paint));
    let mut text = out.join("\n");
    text.push('\n');
    screen.characters(text)
}

/// The failures that are known, in a sentence each.
fn known(out: &mut Vec<String>, run: &Run, detail: Detail, width: usize) {
    let before = out.len();
    for standing in failures(run) {
        if let Some(reason) = &standing.known {
            let text = format!(
                "{} {}, known: {}",
                standing.requirement.id,
                standing.requirement.level.as_str(),
                plain(reason)
            );
            out.extend(wrapped(&text, width));
        }
    }
    if out.len() > before && detail > Detail::Little {
        out.push(String::new());
    }
}

/// The standings that failed, those that count most first.
fn failures(run: &Run) -> impl Iterator<Item = &Standing> {
    ORDER.into_iter().flat_map(move |level| {
        let fails = move |standing: &&Standing| {
            standing.state == State::Fail && standing.requirement.level == level
        };
        let known = run.assessment.standings.iter().filter(fails);
        let mut list: Vec<&Standing> = known.collect();
        list.sort_by_key(|standing| standing.known.is_some());
        list
    })
}

fn counts(out: &mut Vec<String>, run: &Run, screen: Screen) {
    let head = std::iter::once(String::new())
        .chain(State::ALL.iter().map(|state| state.as_str().to_owned()));
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for level in ORDER {
        let cell = |state: State| match run.assessment.count(level, state) {
            0 => "-".to_owned(),
            count => count.to_string(),
        };
        let row = std::iter::once(level.as_str().to_owned()).chain(State::ALL.map(cell));
        rows.push(row.collect());
    }
    let gap = if screen.width < ROOMY { 1 } else { 2 };
    let mut lines = spaced(&rows, gap, |column| column > 0).into_iter();
    if let Some(head) = lines.next() {
        out.push(screen.paint.faint(&head));
    }
    out.extend(lines);
    out.push(String::new());
}

/// How the scenarios came out; a few that could show nothing are named with what stood in the way.
fn scenarios(out: &mut Vec<String>, run: &Run, width: usize) {
    const ALL: [Status; 4] = [
        Status::Pass,
        Status::Fail,
        Status::Inconclusive,
        Status::NotApplicable,
    ];
    let of = |status: Status| run.scenarios.iter().filter(move |it| it.status == status);
    let counts: Vec<String> = ALL
        .into_iter()
        .map(|status| (of(status).count(), status))
        .filter(|(count, _)| *count > 0)
        .map(|(count, status)| format!("{count} {status}"))
        .collect();
    if counts.is_empty() {
        return;
    }
    out.push(format!("scenarios: {}", counts.join(", ")));
    if of(Status::Inconclusive).count() <= NAMED_SCENARIOS {
        for scenario in of(Status::Inconclusive) {
            let text = format!("{}: {}", scenario.id, plain(&scenario.why.join("; ")));
            out.extend(
                wrapped(&text, width - 2)
                    .into_iter()
                    .map(|line| format!("  {line}")),
            );
        }
    }
    out.push(String::new());
}

/// The recordings, each with what of it could not be judged. Of many, those that lack nothing are only counted.
fn recordings(out: &mut Vec<String>, run: &Run, detail: Detail, width: usize) {
    let alone = run.recordings.len() == 1;
    let mut told = 0;
    for recording in &run.recordings {
        let missing = recording.missing();
        let tells = alone || detail == Detail::Much || recording.status != Status::Pass;
        let lacks =
            recording.checked.damaged > 0 || recording.checked.missing != Missing::default();
        if !tells && (!lacks || told == NAMED) {
            continue;
        }
        told += 1;
        let checked = &recording.checked;
        let called = recording.agent.called();
        let of = if called.is_empty() {
            String::new()
        } else {
            format!(" of {called}")
        };
        let events = if checked.events == 1 {
            "event"
        } else {
            "events"
        };
        let title = format!(
            "{}: {} {events}{of}, {}",
            recording.trace.display(),
            checked.events,
            recording.status
        );
        out.extend(wrapped(&plain(&title), width));
        let most = match detail {
            Detail::Much => usize::MAX,
            _ => NAMED_DAMAGE,
        };
        let lines = checked.damage.iter().take(most).map(|damage| {
            let place = format!("{}:{}", recording.trace.display(), damage.line);
            format!("{place}: {}", damage.reason)
        });
        for line in missing.iter().cloned().chain(lines) {
            let lines = wrapped(&plain(&line), width - 2).into_iter();
            out.extend(lines.map(|line| format!("  {line}")));
        }
    }
    if !alone {
        let of = |status: Status| {
            let all = run.recordings.iter();
            all.filter(|it| it.status == status).count()
        };
        let counts: Vec<String> = [Status::Pass, Status::Fail, Status::Inconclusive]
            .into_iter()
            .map(|status| (of(status), status))
            .filter(|(count, _)| *count > 0)
            .map(|(count, status)| format!("{count} {status}"))
            .collect();
        out.push(format!("recordings: {}", counts.join(", ")));
    }
    out.push(String::new());
}

/// What was not exercised and what could not be told.
fn open(out: &mut Vec<String>, run: &Run, detail: Detail, screen: Screen) {
    let (paint, width) = (screen.paint, screen.prose());
    let before = out.len();
    let levels: &[Level] = match detail {
        Detail::Much => &ORDER,
        _ => &[Level::Must, Level::Interop, Level::Should],
    };
    // A recording exercises little; what it does not is counted in the table.
    let states: &[State] = if run.is_of_recordings() && detail != Detail::Much {
        &[State::Inconclusive]
    } else {
        &[State::Inconclusive, State::NotExercised]
    };
    for level in levels {
        for state in states {
            let list: Vec<&Standing> = run
                .assessment
                .standings
                .iter()
                .filter(|standing| standing.state == *state && standing.requirement.level == *level)
                .collect();
            if list.is_empty() {
                continue;
            }
            let title = format!("{} {}:", level.as_str(), state.as_str());
            if detail == Detail::Much && *state == State::Inconclusive {
                out.push(paint.open(&title));
                for standing in list {
                    let why = plain(&standing.why.join("; "));
                    out.push(format!("  {}  {why}", standing.requirement.id));
                }
                continue;
            }
            let most = if detail == Detail::Much {
                usize::MAX
            } else {
                NAMED
            };
            let text = format!("{title} {}", grouped(&list, most));
            let mut lines = wrapped(&text, width).into_iter();
            out.extend(lines.next());
            out.extend(lines.map(|line| format!("  {line}")));
        }
    }
    if out.len() > before {
        if detail != Detail::Much {
            out.push(paint.faint("(-v tells why, `harness explain ID` what it takes)"));
        }
        out.push(String::new());
    }
}

/// Ids by area, such as `CANCEL-01 -02, FS-01`, at most so many.
fn grouped(list: &[&Standing], most: usize) -> String {
    let mut out = String::new();
    let mut area = "";
    for standing in list.iter().take(most) {
        let requirement = standing.requirement;
        if requirement.area() == area {
            let number = requirement.id.strip_prefix(area).unwrap_or(&requirement.id);
            out.push(' ');
            out.push_str(number);
            continue;
        }
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(&requirement.id);
        area = requirement.area();
    }
    if list.len() > most {
        out.push_str(&format!(", and {} more", list.len() - most));
    }
    out
}

fn notes(out: &mut Vec<String>, run: &Run, paint: Paint) {
    let mut any = false;
    for standing in &run.assessment.standings {
        let first = match standing.state {
            State::Fail => standing.notes.first(),
            _ => standing.findings.first().or(standing.notes.first()),
        };
        let Some(first) = first else { continue };
        let place = found_in(first);
        out.push(format!(
            "{} {}: {} {}",
            paint.faint("note"),
            standing.requirement.id,
            plain(&first.finding.message),
            paint.faint(&plain(&format!("({place})")))
        ));
        any = true;
    }
    if any {
        out.push(String::new());
    }
}

/// What is missing for a verdict.
fn lacking(out: &mut Vec<String>, run: &Run, width: usize) {
    let missing: Vec<String> = run
        .assessment
        .missing
        .iter()
        .map(|(id, state)| format!("{id} is {state}"))
        .collect();
    let text = if missing.is_empty() || run.is_of_recordings() {
        "Nothing that was asked for could be judged.".to_owned()
    } else {
        format!(
            "A verdict needs a handshake, a session and a turn that really took place: {}.",
            missing.join(", ")
        )
    };
    out.extend(wrapped(&text, width));
    if run.is_of_recordings() {
        return;
    }
    for id in run.assessment.missing.iter().map(|(id, _)| id) {
        if let Some(why) = run
            .assessment
            .get(id)
            .and_then(|standing| standing.why.first())
        {
            out.extend(wrapped(&plain(&format!("{id}: {why}")), width));
        }
    }
}

/// The last line.
fn verdict(run: &Run, paint: Paint) -> String {
    let assessment = &run.assessment;
    let count = |state| assessment.count(Level::Must, state);
    let total: usize = State::ALL.into_iter().map(count).sum();
    let word = assessment.verdict.as_str();
    let word = match assessment.verdict {
        Verdict::Conformant | Verdict::KnownFailures => paint.good(word),
        Verdict::NotConformant => paint.bad(word),
        Verdict::Inconclusive => paint.open(word),
    };
    let mut parts = Vec::new();
    for (number, what) in [
        (count(State::Fail), "failed"),
        (count(State::Pass), "passed"),
        (
            count(State::Inconclusive) + count(State::NotExercised),
            "not exercised or inconclusive",
        ),
        (count(State::NotApplicable), "not applicable"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    if run.has_no_agent() {
        return format!(
            "{}: {word} (nothing could be judged)",
            paint.strong(&plain(&run.agent.called()))
        );
    }
    let musts = if total == 1 { "must" } else { "musts" };
    let sum = if total == 0 {
        "no must was judged".to_owned()
    } else {
        format!("{total} {musts}: {}", parts.join(", "))
    };
    let others: Vec<String> = [Level::Should, Level::Interop]
        .into_iter()
        .filter_map(|level| match assessment.count(level, State::Fail) {
            0 => None,
            count => {
                let known = assessment.standings.iter().filter(|standing| {
                    standing.requirement.level == level
                        && standing.state == State::Fail
                        && standing.known.is_some()
                });
                let known = match known.count() {
                    0 => String::new(),
                    all if all == count => " (known)".to_owned(),
                    some => format!(" ({some} known)"),
                };
                Some(format!("{count} {} failed{known}", level.as_str()))
            }
        })
        .collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!("; {}", others.join(", "))
    };
    format!(
        "{}: {word} ({sum}{others})",
        paint.strong(&plain(&run.subject()))
    )
}
