//! Each fault that `bob` has on demand breaks the requirements that it names and no others, and no quirk breaks any.
//!
//! All of them take two minutes, so a plain `cargo test` tries every third; `FAULTS=all cargo test -p acp-harness --test all
//! bob_faults` tries each, and `scripts/faults` each with all scenarios.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use acp_harness::scenario::file::Set;
use acp_harness::spec::{Catalogue, Level};
use serde_json::Value;

use crate::command_line::Harness;

/// What is run for each fault, whatever it is about: a handshake, a session, a turn with a tool that is allowed.
const SMOKE: &str = "toolcall/execute";

/// Where requirements that all traffic is judged by are seen best.
const SEEN_IN: [(&str, &[&str]); 16] = [
    (
        "INTEROP-24",
        &["robust/nothing-waits-at-the-start", "init/initialize-twice"],
    ),
    ("TOOLCALL-02", &["toolcall/several-at-once"]),
    ("INIT-03", &["init/version-unknown"]),
    ("SESSION-03", &["session/started-elsewhere"]),
    ("TRANSPORT-07", &["transport/text-to-the-model"]),
    ("JSONRPC-01", &["jsonrpc/after-errors"]),
    ("JSONRPC-02", &["jsonrpc/after-errors"]),
    ("JSONRPC-03", &["jsonrpc/after-errors"]),
    (
        "JSONRPC-05",
        &["ext/custom-notification", "cancel/while-streaming"],
    ),
    ("JSONRPC-06", &["jsonrpc/after-errors"]),
    ("TRANSPORT-03", &["jsonrpc/after-errors"]),
    ("ERROR-01", &["jsonrpc/after-errors"]),
    ("ERROR-02", &["jsonrpc/after-errors"]),
    ("SESSION-09", &["toolcall/edit"]),
    ("TOOLCALL-08", &["toolcall/edit", "toolcall/read"]),
    ("TOOLCALL-10", &["toolcall/edit"]),
];

/// Scenarios that take long and show nothing that others do not, but for the requirements that they alone cover.
const SLOW: [&str; 4] = ["robust/long", "shutdown/", "interop/model", "transport/"];

/// So many scenarios are run for a requirement at most.
const FOR_ONE: usize = 2;

/// So many faults are tried side by side: they mostly wait.
const SIDE_BY_SIDE: usize = 8;

/// Requirements that a fault has to break, or that are said to be broken by none.
fn is_judged(level: Level) -> bool {
    matches!(level, Level::Must | Level::Interop)
}

/// `bob --list-faults` or `--list-quirks`.
fn table(noun: &str) -> Value {
    let ran = Harness::new().call(&["bob", &format!("--list-{noun}"), "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json()
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Which scenarios cover a requirement.
fn covering() -> BTreeMap<String, Vec<String>> {
    let known = |id: &str| Catalogue::v1().get(id).is_some();
    let mut covering: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for scenario in Set::built_in(&known).unwrap().iter() {
        for id in &scenario.covers {
            let files = covering.entry(id.clone()).or_default();
            files.insert(scenario.file.clone());
        }
    }
    let in_order = covering.into_iter().map(|(id, files)| {
        let area = id.split_once('-').unwrap().0.to_lowercase() + "/";
        let mut files: Vec<String> = files.into_iter().collect();
        files.sort_by_key(|file| {
            let slow = SLOW.iter().any(|slow| file.starts_with(slow));
            (slow, !file.starts_with(&area))
        });
        (id, files)
    });
    in_order.collect()
}

/// The scenarios that are run for a fault with these ids.
fn chosen(
    breaks: &[String],
    arguments: &[String],
    covering: &BTreeMap<String, Vec<String>>,
) -> String {
    let mut chosen: Vec<&str> = Vec::new();
    // Where a login comes first, an ordinary turn shows nothing, and hides why.
    if !arguments.iter().any(|argument| argument == "--auth") {
        chosen.push(SMOKE);
    }
    for id in breaks {
        let best = SEEN_IN.iter().find(|(seen, _)| seen == id);
        let files: Vec<&str> = match best {
            Some((_, files)) => files.to_vec(),
            None => covering
                .get(id)
                .map(|files| files.iter().map(String::as_str).collect())
                .unwrap_or_default(),
        };
        for file in files.into_iter().take(FOR_ONE) {
            if !chosen.contains(&file) {
                chosen.push(file);
            }
        }
    }
    chosen.join(",")
}

/// The ids that fail on `bob` with a fault or a quirk, each with its first message.
fn failed(flag: &str, entry: &Value, only: &str) -> BTreeMap<String, String> {
    let name = entry["name"].as_str().unwrap();
    let agent = format!("bob {} {flag} {name}", texts(&entry["arguments"]).join(" "));
    let run = Harness::new().run(&[
        "--agent",
        &agent,
        "--only",
        only,
        "--timeout",
        "3",
        "--jobs",
        "4",
        "--report",
        "json=-",
    ]);
    let report = run.json();
    let requirements = report["requirements"].as_array().unwrap().iter();
    requirements
        .filter(|entry| entry["status"] == "fail" && entry["known"] == false)
        .filter(|entry| ["must", "should", "interop"].contains(&entry["level"].as_str().unwrap()))
        .map(|entry| {
            let first = &entry["findings"][0];
            let message = format!("{}: {}", first["scenario"], first["message"]);
            (entry["id"].as_str().unwrap().to_owned(), message)
        })
        .collect()
}

/// Tries all entries of a table, and tells those that break other ids than they name.
fn wrong(noun: &str, flag: &str) -> Vec<String> {
    let table = table(noun);
    let step = if std::env::var("FAULTS").is_ok_and(|which| which == "all") {
        1
    } else {
        3
    };
    let entries: Vec<&Value> = table[noun]
        .as_array()
        .unwrap()
        .iter()
        .step_by(step)
        .collect();
    let (covering, next, wrong) = (covering(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let breaks = texts(&entry["breaks"]);
                    let found = failed(
                        flag,
                        entry,
                        &chosen(&breaks, &texts(&entry["arguments"]), &covering),
                    );
                    let ids: Vec<String> = found.keys().cloned().collect();
                    if ids != breaks {
                        let name = &entry["name"];
                        let line = format!("{name}: expected {breaks:?}, found {found:#?}");
                        wrong.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn each_fault_breaks_what_it_names_and_nothing_else() {
    let wrong = wrong("faults", "--fault");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_quirk_breaks_anything() {
    let wrong = wrong("quirks", "--quirk");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_fault_names_requirements_in_order_and_once() {
    for entry in table("faults")["faults"].as_array().unwrap() {
        let breaks = texts(&entry["breaks"]);
        let sorted: BTreeSet<String> = breaks.iter().cloned().collect();
        assert_eq!(
            breaks,
            sorted.into_iter().collect::<Vec<_>>(),
            "{}",
            entry["name"]
        );
        for id in breaks {
            assert!(
                Catalogue::v1().get(&id).is_some(),
                "{}: {id}",
                entry["name"]
            );
        }
    }
}

#[test]
fn what_no_fault_breaks_is_listed_with_a_reason() {
    let table = table("faults");
    let broken: BTreeSet<String> = table["faults"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|entry| texts(&entry["breaks"]))
        .collect();
    let mut unseen = BTreeSet::new();
    for entry in table["unseen"].as_array().unwrap() {
        assert!(entry["why"].as_str().unwrap().ends_with('.'));
        for id in texts(&entry["ids"]) {
            assert!(Catalogue::v1().get(&id).is_some(), "{id}");
            assert!(!broken.contains(&id), "{id} is broken by a fault");
            assert!(unseen.insert(id.clone()), "{id} is there twice");
        }
    }
    let missing: Vec<&str> = Catalogue::v1()
        .iter()
        .filter(|requirement| is_judged(requirement.level))
        .map(|requirement| requirement.id.as_str())
        .filter(|id| !broken.contains(*id) && !unseen.contains(*id))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}
