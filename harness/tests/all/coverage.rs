//! Every requirement of the areas that are judged has a rule, a scenario, or a reason why it has neither.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use acp_harness::rules::Judge;
use acp_harness::scenario::file::Set;
use acp_harness::spec::{Catalogue, Level};

/// The areas in which every requirement is judged.
const AREAS: [&str; 20] = [
    "TRANSPORT",
    "JSONRPC",
    "INIT",
    "SESSION",
    "PROMPT",
    "CONTENT",
    "UPDATE",
    "TOOLCALL",
    "PERM",
    "CANCEL",
    "EXT",
    "ERROR",
    "COMMANDS",
    "PLAN",
    "USAGE",
    "FS",
    "TERMINAL",
    "ELICIT",
    "MODE",
    "CONFIG",
];

/// Single requirements of other areas that are judged too.
const SINGLE: [&str; 7] = [
    "AUTH-01", "AUTH-02", "AUTH-03", "AUTH-05", "AUTH-06", "AUTH-07", "INIT-10",
];

/// What is judged by neither rule nor scenario yet, and why.
const OPEN: [(&str, &str); 3] = [
    ("UPDATE-07", "session/list is not exercised yet"),
    ("USAGE-03", "session/load is not exercised yet"),
    (
        "INTEROP-22",
        "session/close and session/delete are not exercised yet",
    ),
];

/// What is only observed or permitted needs no judge.
fn is_judged_level(level: Level) -> bool {
    matches!(level, Level::Must | Level::Should | Level::Interop)
}

fn judged() -> BTreeSet<String> {
    let known = |id: &str| Catalogue::v1().get(id).is_some();
    let set = Set::built_in(&known).unwrap();
    let by_scenarios = set
        .iter()
        .flat_map(|scenario| scenario.covers.iter().cloned());
    let by_rules = Judge::judged_ids().into_iter().map(str::to_owned);
    by_scenarios.chain(by_rules).collect()
}

#[test]
fn every_requirement_of_the_judged_areas_has_a_rule_or_a_scenario() {
    let judged = judged();
    let missing: Vec<&str> = Catalogue::v1()
        .iter()
        .filter(|requirement| is_judged_level(requirement.level))
        .filter(|requirement| {
            AREAS.contains(&requirement.area())
                || SINGLE.contains(&requirement.id.as_str())
                || requirement.area() == "INTEROP"
        })
        .map(|requirement| requirement.id.as_str())
        .filter(|id| !judged.contains(*id) && !OPEN.iter().any(|(open, _)| open == id))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn what_is_said_to_be_open_is_open() {
    let judged = judged();
    for (id, why) in OPEN {
        assert!(
            !judged.contains(id),
            "{id} is judged now, so it is not open because {why}"
        );
    }
}

#[test]
fn every_passive_requirement_of_the_judged_areas_has_a_rule() {
    let rules: BTreeSet<&str> = Judge::judged_ids().into_iter().collect();
    let missing: Vec<&str> = Catalogue::v1()
        .iter()
        .filter(|requirement| requirement.passive && is_judged_level(requirement.level))
        .filter(|requirement| {
            AREAS.contains(&requirement.area())
                || SINGLE.contains(&requirement.id.as_str())
                || requirement.area() == "INTEROP"
        })
        .map(|requirement| requirement.id.as_str())
        .filter(|id| !rules.contains(id))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn there_are_sixty_scenarios_at_least() {
    let known = |id: &str| Catalogue::v1().get(id).is_some();
    let files: BTreeSet<String> = Set::built_in(&known)
        .unwrap()
        .iter()
        .map(|scenario| scenario.file.clone())
        .collect();
    assert!(files.len() >= 60, "{}", files.len());
}
