//! Every requirement of the catalogue that can be judged has a rule, a scenario, or a reason why it has neither.

use std::collections::BTreeSet;

use acp_harness::rules::Judge;
use acp_harness::scenario::file::Set;
use acp_harness::spec::{Catalogue, Level};

/// What is judged by neither rule nor scenario, and why.
const OPEN: [(&str, &str); 1] = [(
    "AUTH-04",
    "whether a login in a terminal works shows only to a person who completes it there",
)];

/// What is only observed or permitted needs no judge.
fn is_judged_level(level: Level) -> bool {
    matches!(level, Level::Must | Level::Should | Level::Interop)
}

fn known(id: &str) -> bool {
    Catalogue::v1().get(id).is_some()
}

/// What scenarios cover.
fn covered() -> BTreeSet<String> {
    let set = Set::built_in(&known).unwrap();
    set.iter()
        .flat_map(|scenario| scenario.covers.iter().cloned())
        .collect()
}

fn judged() -> BTreeSet<String> {
    let by_rules = Judge::judged_ids().into_iter().map(str::to_owned);
    covered().into_iter().chain(by_rules).collect()
}

#[test]
fn every_requirement_has_a_rule_or_a_scenario() {
    let judged = judged();
    let missing: Vec<&str> = Catalogue::v1()
        .iter()
        .filter(|requirement| is_judged_level(requirement.level))
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
fn every_passive_requirement_has_a_rule() {
    let rules: BTreeSet<&str> = Judge::judged_ids().into_iter().collect();
    let missing: Vec<&str> = Catalogue::v1()
        .iter()
        .filter(|requirement| requirement.passive && is_judged_level(requirement.level))
        .map(|requirement| requirement.id.as_str())
        .filter(|id| !rules.contains(id))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn every_id_in_the_code_is_one_of_the_catalogue() {
    let unknown: Vec<&str> = Judge::judged_ids()
        .into_iter()
        .filter(|id| !known(id))
        .collect();
    assert_eq!(unknown, Vec::<&str>::new());
}
