//! Markdown for the summary of a job, an issue or a comment: the verdict, the counts, and each failure folded up.
//!
//! Text that others wrote stands in code spans, where nothing is markup, a link or a mention. All of it fits in 64 KiB,
//! which is what a comment holds; what is left out is counted.

use super::document::{Document, Finding, Requirement};
use super::plain;
use crate::diff::Class;
use crate::spec::{Catalogue, Level};
use crate::verdict::{State, Verdict};

/// The most that a comment holds, in bytes.
const MOST: usize = 65_536;
/// The most that a section beside the failures takes, in bytes.
const SECTION: usize = 6_000;
/// The most of one text of others, in bytes.
const LONGEST: usize = 1_200;
/// So many sightings of a failure are shown.
const SIGHTINGS: usize = 3;

/// The order in which levels are shown.
const ORDER: [Level; 5] = [
    Level::Must,
    Level::Interop,
    Level::Should,
    Level::May,
    Level::Observe,
];

/// The report as Markdown.
pub(super) fn markdown(document: &Document) -> String {
    let before = [head(document), faults(document), stale(document)].concat();
    let after = [
        known(document),
        differences(document),
        open(document),
        foot(document),
    ]
    .concat();
    let room = MOST.saturating_sub(before.len() + after.len());
    let failed =
        |requirement: &&Requirement| requirement.status == State::Fail && !requirement.known;
    let failures: Vec<String> = in_order(document)
        .filter(failed)
        .map(|requirement| failure(document, requirement))
        .collect();
    let failures = section("Failures", "\n", &failures, room);
    [before, failures, after].concat()
}

/// Verdict and counts.
fn head(document: &Document) -> String {
    let subject = code(&document.subject());
    let mut text = format!("## {subject}: {}\n\n", document.verdict.as_str());
    if document.verdict == Verdict::Inconclusive {
        text.push_str(&format!("{}\n\n", code(&document.lacking())));
    }
    text.push_str("| |");
    for state in State::ALL {
        text.push_str(&format!(" {} |", state.as_str()));
    }
    text.push_str("\n|---|--:|--:|--:|--:|--:|\n");
    for level in ORDER {
        text.push_str(&format!("| {} |", level.as_str()));
        for state in State::ALL {
            match document.count(level, state) {
                0 => text.push_str(" |"),
                count => text.push_str(&format!(" {count} |")),
            }
        }
        text.push('\n');
    }
    let all = document.scenarios.iter();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for status in all.map(|scenario| scenario.status.as_str()) {
        match counts.iter_mut().find(|(word, _)| *word == status) {
            Some((_, count)) => *count += 1,
            None => counts.push((status, 1)),
        }
    }
    counts.sort_by_key(|(word, _)| State::ALL.iter().position(|state| state.as_str() == *word));
    let what = match document.recordings.is_empty() {
        true => "Scenarios",
        false => "Recordings",
    };
    let counts: Vec<String> = counts
        .iter()
        .map(|(word, n)| format!("{n} {word}"))
        .collect();
    if !counts.is_empty() {
        text.push_str(&format!("\n{what}: {}.\n", counts.join(", ")));
    }
    text
}

fn faults(document: &Document) -> String {
    let faults = document.faults.iter().map(|fault| {
        let place = fault.scenario.as_deref().map(code).unwrap_or_default();
        format!("- {} {place}\n", code(&fault.message))
    });
    let items: Vec<String> = faults.collect();
    section("Faults of the harness itself", "", &items, SECTION)
}

fn stale(document: &Document) -> String {
    let stale = document.stale.iter();
    let items: Vec<String> = stale
        .map(|stale| format!("- {}\n", code(&stale.why)))
        .collect();
    section("Known failures that no longer hold", "", &items, SECTION)
}

/// One failure, folded up.
fn failure(document: &Document, requirement: &Requirement) -> String {
    let level = requirement.level.as_str();
    let counts = match document.counts(requirement.level) {
        true => "",
        false => ", counts with --strict only",
    };
    let mut text = format!(
        "<details><summary><b>{}</b> ({level}{counts})</summary>\n\n{}\n\n",
        word(&requirement.id),
        statement(requirement)
    );
    for finding in requirement.findings.iter().take(SIGHTINGS) {
        text.push_str(&sighting(document, requirement, finding));
    }
    let shown = requirement.findings.len().min(SIGHTINGS) as u64;
    match requirement.fails.saturating_sub(shown) {
        0 => {}
        1 => text.push_str("- seen 1 more time\n"),
        more => text.push_str(&format!("- seen {more} more times\n")),
    }
    for url in &requirement.cite {
        text.push_str(&format!("- text: {}\n", link(url)));
    }
    for report in &requirement.reports {
        text.push_str(&format!("- report: {}\n", code(report)));
    }
    text.push_str("\n</details>\n");
    text
}

fn sighting(document: &Document, requirement: &Requirement, finding: &Finding) -> String {
    let mut text = format!("- {}\n", code(&finding.message));
    text.push_str(&format!("  - at {}\n", code(&finding.place())));
    if let Some(trace) = &finding.trace {
        text.push_str(&format!("  - trace {}\n", code(trace)));
    }
    if let Some(words) = document.repeat_finding(&requirement.id, finding) {
        text.push_str(&format!("  - repeat {}\n", code(&words)));
    }
    text
}

fn known(document: &Document) -> String {
    let known = in_order(document)
        .filter(|requirement| requirement.status == State::Fail && requirement.known);
    let items: Vec<String> = known
        .map(|requirement| {
            let reason = requirement.reason.as_deref().unwrap_or_default();
            let level = requirement.level.as_str();
            format!(
                "- **{}** ({level}): {}\n",
                word(&requirement.id),
                code(reason)
            )
        })
        .collect();
    section("Known failures", "", &items, SECTION)
}

/// What differs, where traces were compared.
fn differences(document: &Document) -> String {
    let Some(all) = &document.differences else {
        return String::new();
    };
    let level = document.level.unwrap_or(Class::Behaviour);
    let items: Vec<String> = all
        .iter()
        .filter(|it| it.difference.class >= level)
        .map(|it| {
            let difference = &it.difference;
            let recording = it.recording.as_deref().map(code).unwrap_or_default();
            format!(
                "- {} {} {}: {} {recording}\n",
                difference.class,
                difference.change,
                code(&difference.place),
                code(&difference.message)
            )
        })
        .collect();
    if items.is_empty() {
        return format!("\nNo difference of class {level} or higher.\n");
    }
    section("Differences", "", &items, SECTION)
}

/// What was not shown, by level and state.
fn open(document: &Document) -> String {
    let mut items = Vec::new();
    for level in [Level::Must, Level::Interop, Level::Should] {
        for state in [State::Inconclusive, State::NotExercised] {
            let ids: Vec<String> = document
                .requirements
                .iter()
                .filter(|it| it.level == level && it.status == state)
                .map(|it| word(&it.id))
                .collect();
            if !ids.is_empty() {
                items.push(format!(
                    "- {} {state}: {}\n",
                    level.as_str(),
                    ids.join(", ")
                ));
            }
        }
    }
    let text = section("Not shown", "", &items, SECTION);
    match text.split_once("\n\n") {
        Some((_, list)) => {
            format!(
                "\n<details><summary>Inconclusive and not exercised</summary>\n\n{list}\n</details>\n"
            )
        }
        None => String::new(),
    }
}

fn foot(document: &Document) -> String {
    let short: String = document.spec.revision.chars().take(12).collect();
    format!(
        "\nharness {}, specification {}\n",
        code(&document.harness),
        code(&short)
    )
}

/// A heading with as many items as fit into so many bytes; the others are counted. Nothing where there is no item.
fn section(title: &str, between: &str, items: &[String], room: usize) -> String {
    if items.is_empty() {
        return String::new();
    }
    let mut text = format!("\n### {title}\n\n");
    let more = |count: usize| {
        format!("\n{count} more are left out, since the whole has to fit in 64 KiB.\n")
    };
    for (number, item) in items.iter().enumerate() {
        let rest = more(items.len() - number);
        if text.len() + between.len() + item.len() + rest.len() > room {
            text.push_str(&rest);
            return text;
        }
        if number > 0 {
            text.push_str(between);
        }
        text.push_str(item);
    }
    text
}

fn in_order(document: &Document) -> impl Iterator<Item = &Requirement> {
    let of = |level: Level| {
        let all = document.requirements.iter();
        all.filter(move |requirement| requirement.level == level)
    };
    ORDER.into_iter().flat_map(of)
}

/// The text of a requirement: as it is if it is the catalogue's own, which is written as Markdown; else as code.
fn statement(requirement: &Requirement) -> String {
    match Catalogue::v1().get(&requirement.id) {
        Some(own) if own.statement == requirement.statement => own.statement.clone(),
        _ => code(&requirement.statement),
    }
}

/// An id as it is, if it is one.
pub(super) fn word(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match id.chars().all(is_plain) {
        true => id.to_owned(),
        false => code(id),
    }
}

/// A link of the catalogue; any other is code.
fn link(url: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/#?=&%+$".contains(c);
    let is_catalogues = Catalogue::v1()
        .iter()
        .any(|own| own.cite.iter().any(|citation| citation.url == url));
    match is_catalogues && url.chars().all(is_plain) {
        // A dollar sign begins a formula for some.
        true => format!("<{}>", url.replace('$', "%24")),
        false => code(url),
    }
}

/// Text of others as a code span, on one line. The fence is longer than any row of backticks within, and no character turns
/// or hides what stands around it.
pub(super) fn code(text: &str) -> String {
    let mut text = plain(text);
    if text.len() > LONGEST {
        let end = text.floor_char_boundary(LONGEST);
        text.truncate(end);
        text.push('…');
    }
    if text.trim().is_empty() {
        return String::new();
    }
    let mut longest = 0;
    let mut row = 0;
    for character in text.chars() {
        row = if character == '`' { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    let fence = "`".repeat(longest + 1);
    let space = match text.starts_with('`') || text.ends_with('`') {
        true => " ",
        false => "",
    };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stands_in_a_fence_that_it_cannot_close() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("```"), "```` ``` ````");
        assert_eq!(code("x\n# y\u{202e}"), "`x\\u000a# y\\u202e`");
        assert_eq!(code(" "), "");
        assert!(code(&"é".repeat(5_000)).len() < LONGEST + 10);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let items = vec!["x".repeat(100); 10];
        let text = section("T", "", &items, 500);
        assert!(text.len() <= 500, "{}", text.len());
        assert!(text.contains("\n6 more are left out"), "{text}");
        let all = section("T", "", &items, 5_000);
        assert!(!all.contains("left out"), "{all}");
    }

    /// A report in which every requirement failed fifty times, with long texts of others.
    fn enormous() -> Document {
        use serde_json::json;
        let long = "`x|<b>@all\u{202e} ".repeat(400);
        let finding =
            json!({"message": long, "scenario": long, "trace": long, "event": 1, "path": long});
        let requirement = |id: &str, level: &str, known: bool| {
            json!({
                "id": id, "level": level, "basis": "none", "statement": long, "cite": [long],
                "status": "fail", "known": known, "reason": long, "fails": 50,
                "findings": vec![&finding; 50],
            })
        };
        let requirements: Vec<_> = (0..300)
            .flat_map(|n| {
                let id = format!("X-{n}");
                [
                    requirement(&id, "must", false),
                    requirement(&id, "should", true),
                ]
            })
            .collect();
        let difference = json!({
            "class": "breaking", "change": "changed", "place": long, "left": long, "right": long,
            "left_event": 1, "right_event": 1, "requirements": [], "message": long,
            "before": [], "after": [],
        });
        let text = json!({
            "format": 1, "harness": long, "spec": {"version": 1, "revision": long, "schema": long},
            "agent": {"command": [long], "name": long, "version": long, "capabilities": null},
            "verdict": "not-conformant", "blocked": null, "missing": [],
            "stale": vec![json!({"id": long, "why": long}); 100],
            "totals": {}, "requirements": requirements, "scenarios": [],
            "faults": vec![json!({"scenario": long, "message": long}); 100],
            "differences": vec![difference; 100],
        });
        Document::parse(&text.to_string()).unwrap()
    }

    #[test]
    fn the_largest_report_fits_and_says_how_much_is_left_out() {
        let text = markdown(&enormous());
        assert!(text.len() <= MOST, "{}", text.len());
        assert!(text.len() > MOST / 2, "{}", text.len());
        let left_out = text.matches("more are left out").count();
        assert_eq!(left_out, 5, "{text}");
    }
}
