//! JUnit XML: a scenario is a case, a requirement a property; what failed is told whole.
//!
//! It holds to the schema that the xunit plugin of Jenkins publishes (`junit-10.xsd`). A case fails where the exit code
//! counts the failure; what is known, advice or could not be told is skipped and says why.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::document::{Document, Requirement, Scenario};
use super::plain;
use crate::diff::Class;
use crate::scenario::Status;
use crate::verdict::{State, Verdict};

/// The report as JUnit XML.
///
/// # Errors
/// A sentence on what could not be written; nothing in a report is known to make it fail.
pub(super) fn junit(document: &Document) -> Result<String, String> {
    let mut suite = TestSuite::new(plain(&document.subject()));
    let seconds: f64 = document.scenarios.iter().map(|it| it.seconds).sum();
    suite.set_time(duration(seconds));
    suite.add_properties([
        ("verdict".to_owned(), document.verdict.as_str().to_owned()),
        ("harness".to_owned(), plain(&document.harness)),
        ("specification".to_owned(), plain(&document.spec.revision)),
    ]);
    suite.add_properties(document.requirements.iter().map(|requirement| {
        let known = if requirement.known { " known" } else { "" };
        let words = format!(
            "{} {}{known}",
            requirement.level.as_str(),
            requirement.status
        );
        (plain(&requirement.id), words)
    }));
    let mut told: Vec<&str> = Vec::new();
    for scenario in &document.scenarios {
        let status = of_scenario(document, scenario, &mut told);
        let mut case = case(area(document, scenario), &scenario.id, status);
        case.set_time(duration(scenario.seconds));
        suite.add_test_case(case);
    }
    suite.add_test_cases(replays(document));
    // What failed in scenarios that are about something else, or in a replay.
    for requirement in &document.requirements {
        if requirement.status == State::Fail && !told.contains(&requirement.id.as_str()) {
            let status = of_requirements(document, &[requirement], None);
            suite.add_test_case(case("requirements", &requirement.id, status));
        }
    }
    suite.add_test_cases(of_the_whole(document));
    let mut report = Report::new("harness");
    report.set_time(duration(seconds));
    report.add_test_suite(suite);
    let text = report.to_string().map_err(|error| error.to_string())?;
    Ok(without_skipped(&text))
}

/// The schema knows the number of skipped cases on a suite, and not on all suites together.
fn without_skipped(text: &str) -> String {
    const NAME: &str = " skipped=\"";
    let cut = || {
        let tag = text.find("<testsuites ")?;
        let end = tag + text.get(tag..)?.find('>')?;
        let from = tag + text.get(tag..end)?.find(NAME)?;
        let value = from + NAME.len();
        let to = value + text.get(value..end)?.find('"')? + 1;
        Some(format!("{}{}", text.get(..from)?, text.get(to..)?))
    };
    cut().unwrap_or_else(|| text.to_owned())
}

/// How a scenario or a recording came out; the requirements whose failure it tells are added to `told`.
fn of_scenario<'a>(
    document: &'a Document,
    scenario: &Scenario,
    told: &mut Vec<&'a str>,
) -> TestCaseStatus {
    let mut faults = document.faults.iter();
    if let Some(fault) = faults.find(|fault| fault.scenario.as_ref() == Some(&scenario.id)) {
        return fault_of_the_harness(&fault.message);
    }
    let why = scenario.why.join("; ");
    match scenario.status {
        Status::Pass => return TestCaseStatus::success(),
        Status::Inconclusive | Status::NotApplicable => {
            return skipped(scenario.status.as_str(), &why, &[]);
        }
        Status::Fail => {}
    }
    let ids = scenario.failed.iter().chain(&scenario.known);
    let failed: Vec<&Requirement> = ids
        .filter_map(|id| document.requirement(id))
        .filter(|requirement| requirement.status == State::Fail)
        .collect();
    told.extend(failed.iter().map(|requirement| requirement.id.as_str()));
    match &document.blocked {
        _ if !failed.is_empty() => of_requirements(document, &failed, Some(scenario)),
        Some(blocked) => skipped("inconclusive", blocked, &[]),
        None => skipped("not judged", &why, &[]),
    }
}

/// The status of a case in which these requirements failed; `scenario` is the one that it is about.
fn of_requirements(
    document: &Document,
    failed: &[&Requirement],
    scenario: Option<&Scenario>,
) -> TestCaseStatus {
    let known = |requirement: &Requirement| match scenario {
        Some(scenario) => !scenario.failed.contains(&requirement.id),
        None => requirement.known,
    };
    let (known, others): (Vec<&Requirement>, Vec<&Requirement>) =
        failed.iter().partition(|requirement| known(requirement));
    let (counted, advice): (Vec<&Requirement>, Vec<&Requirement>) = others
        .iter()
        .partition(|requirement| document.counts(requirement.level));
    let mut lines = Vec::new();
    for requirement in counted.iter().chain(&advice).chain(&known) {
        lines.extend(paragraph(document, requirement, scenario));
        lines.push(String::new());
    }
    let ids = |them: &[&Requirement]| {
        let ids: Vec<&str> = them.iter().map(|it| it.id.as_str()).collect();
        ids.join(", ")
    };
    match (counted.as_slice(), advice.as_slice(), known.as_slice()) {
        ([only], ..) => failure("fail", &format!("{}: {}", only.id, only.statement), &lines),
        ([_, ..], ..) => failure("fail", &format!("{} failed", ids(&counted)), &lines),
        ([], [first, ..], _) => {
            let title = format!("{} failed, which counts with --strict only", ids(&advice));
            skipped(first.level.as_str(), &title, &lines)
        }
        ([], [], known) => {
            let reason = known.iter().find_map(|it| it.reason.as_deref());
            let title = format!("{} known: {}", ids(known), reason.unwrap_or_default());
            skipped("known", &title, &lines)
        }
    }
}

/// All that there is to say of a requirement that failed, in one scenario or wherever it did.
fn paragraph(
    document: &Document,
    requirement: &Requirement,
    scenario: Option<&Scenario>,
) -> Vec<String> {
    let mut lines = vec![
        format!("{} {}", requirement.id, requirement.weight()),
        plain(&requirement.statement),
    ];
    if let Some(reason) = &requirement.reason {
        lines.push(format!("known: {}", plain(reason)));
    }
    let here: Vec<_> = requirement
        .findings
        .iter()
        .filter(|finding| scenario.is_none_or(|scenario| finding.is_in(scenario)))
        .collect();
    for finding in &here {
        lines.push(String::new());
        lines.push(plain(&finding.message));
        lines.push(format!("at      {}", finding.place()));
        if let Some(trace) = &finding.trace {
            lines.push(format!("trace   {}", plain(trace)));
        }
        if let Some(words) = document.repeat_finding(&requirement.id, finding) {
            lines.push(format!("repeat  {words}"));
        }
    }
    if let Some(scenario) = scenario.filter(|_| here.is_empty()) {
        lines.push("It fails so often that the report does not hold this place.".to_owned());
        if let Some(trace) = &scenario.trace {
            lines.push(format!("trace   {}", plain(trace)));
        }
        lines.extend(
            document
                .repeat_scenario(&scenario.id)
                .map(|words| format!("repeat  {words}")),
        );
    }
    let links = requirement
        .cite
        .iter()
        .map(|url| format!("text    {}", plain(url)));
    let reports = requirement
        .reports
        .iter()
        .map(|it| format!("report  {}", plain(it)));
    lines.extend(links.chain(reports));
    lines
}

/// A case for each recording that was replayed, or for two that were compared.
fn replays(document: &Document) -> Vec<TestCase> {
    let (Some(differences), Some(replays)) = (&document.differences, &document.replays) else {
        return Vec::new();
    };
    let level = document.level.unwrap_or(Class::Behaviour);
    replays
        .iter()
        .map(|replay| {
            let of_it = differences.iter().filter(|it| {
                it.recording.as_ref() == Some(&replay.recording) && it.difference.class >= level
            });
            let mut lines = Vec::new();
            for differs in of_it.clone() {
                let it = &differs.difference;
                lines.push(plain(&format!(
                    "{} · {} · {}",
                    it.class, it.change, it.place
                )));
                lines.push(plain(&it.message));
                let sides = [("recorded", &it.left), ("now", &it.right)];
                for (name, value) in sides {
                    let value = value.as_ref().map(|value| plain(value));
                    lines.extend(value.map(|value| format!("{name:8}  {value}")));
                }
                lines.push(String::new());
            }
            lines.extend(
                replay
                    .traces
                    .iter()
                    .map(|it| format!("trace   {}", plain(it))),
            );
            let status = match of_it.count() {
                _ if document.blocked.is_some() => skipped(
                    "inconclusive",
                    document.blocked.as_deref().unwrap_or_default(),
                    &[],
                ),
                0 => TestCaseStatus::success(),
                1 => failure("difference", "1 difference", &lines),
                count => failure("difference", &format!("{count} differences"), &lines),
            };
            case("replay", &replay.recording, status)
        })
        .collect()
}

/// What is not about one scenario or requirement: stale known failures, a verdict that could not be given, faults.
fn of_the_whole(document: &Document) -> Vec<TestCase> {
    let stale = document.stale.iter();
    let mut cases: Vec<TestCase> = stale
        .map(|stale| {
            case(
                "known-failures",
                &stale.id,
                failure("stale", &stale.why, &[]),
            )
        })
        .collect();
    // A replay is held against its recording, and needs no verdict.
    let needed = document.replays.is_none() || document.blocked.is_some();
    if document.verdict == Verdict::Inconclusive && needed {
        let why = document.lacking();
        let lines: Vec<String> = document.advice.iter().map(|line| plain(line)).collect();
        cases.push(case(
            "verdict",
            "verdict",
            failure("inconclusive", &why, &lines),
        ));
    }
    for fault in &document.faults {
        let told = |id: &String| document.scenarios.iter().any(|other| other.id == *id);
        if !fault.scenario.as_ref().is_some_and(told) {
            let name = fault.scenario.as_deref().unwrap_or("harness");
            cases.push(case("harness", name, fault_of_the_harness(&fault.message)));
        }
    }
    cases
}

fn case(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(plain(name), status);
    case.set_classname(plain(class));
    case
}

/// The area of a scenario.
fn area<'a>(document: &Document, scenario: &'a Scenario) -> &'a str {
    match scenario.id.split_once('/') {
        _ if !document.recordings.is_empty() => "recordings",
        Some((area, _)) => area,
        None => "scenarios",
    }
}

fn failure(kind: &str, title: &str, lines: &[String]) -> TestCaseStatus {
    told(
        TestCaseStatus::non_success(NonSuccessKind::Failure),
        kind,
        title,
        lines,
    )
}

fn skipped(kind: &str, title: &str, lines: &[String]) -> TestCaseStatus {
    told(TestCaseStatus::skipped(), kind, title, lines)
}

fn fault_of_the_harness(message: &str) -> TestCaseStatus {
    let lines = [
        "This is a fault of the harness and says nothing about the agent; please report it."
            .to_owned(),
    ];
    let status = TestCaseStatus::non_success(NonSuccessKind::Error);
    told(status, "fault of the harness", message, &lines)
}

/// A status with its title and its lines; a viewer that shows only one of both shows the whole with the lines.
fn told(mut status: TestCaseStatus, kind: &str, title: &str, lines: &[String]) -> TestCaseStatus {
    let title = if title.is_empty() { kind } else { title };
    status.set_type(kind).set_message(plain(title));
    let lines = lines.join("\n");
    let text = match lines.trim_end() {
        "" => plain(title),
        lines => format!("\n{lines}\n"),
    };
    status.set_description(text);
    status
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
