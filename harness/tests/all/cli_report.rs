//! The JSON report is a contract with programs: its members, their order and their words.

use crate::command_line::{Harness, agent};
use serde_json::{Value, json};

fn report(name: &str) -> Value {
    Harness::new()
        .run(&[
            "--agent",
            &agent(name),
            "--only",
            "init/handshake",
            "--report",
            "json=-",
        ])
        .json()
}

/// Replaces what differs from run to run and from one revision of the catalogue to the next.
fn shape(mut report: Value) -> Value {
    report["harness"] = json!("VERSION");
    report["spec"]["revision"] = json!("REVISION");
    for scenario in report["scenarios"].as_array_mut().unwrap() {
        scenario["seconds"] = json!(0.1);
        scenario["trace"] = json!("TRACE");
    }
    for states in report["totals"].as_object_mut().unwrap().values_mut() {
        for count in states.as_object_mut().unwrap().values_mut() {
            *count = json!(0);
        }
    }
    let requirements = report["requirements"].as_array_mut().unwrap();
    requirements.retain(|entry| {
        ["TRANSPORT-02", "INIT-01", "CANCEL-01"].contains(&entry["id"].as_str().unwrap())
    });
    for entry in requirements {
        entry["statement"] = json!("TEXT");
        for link in entry["cite"].as_array_mut().unwrap() {
            *link = json!("LINK");
        }
        if let Some(shown) = entry.get_mut("shown") {
            shown["trace"] = json!("TRACE");
        }
        for list in ["findings", "notes"] {
            let Some(found) = entry.get_mut(list) else {
                continue;
            };
            for finding in found.as_array_mut().unwrap() {
                finding["trace"] = json!("TRACE");
            }
        }
    }
    report
}

#[test]
fn the_shape_of_the_report_is_held() {
    insta::assert_json_snapshot!(shape(report("banner")));
}

#[test]
fn two_runs_give_the_same_report() {
    assert_eq!(shape(report("echo")), shape(report("echo")));
}

#[test]
fn every_requirement_in_scope_is_there_in_the_order_of_the_catalogue() {
    let ids: Vec<String> = report("echo")["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["id"].as_str().unwrap().to_owned())
        .collect();
    let all: Vec<String> = acp_harness::spec::Catalogue::v1()
        .iter()
        .map(|requirement| requirement.id.clone())
        .collect();
    assert_eq!(ids, all);
}
