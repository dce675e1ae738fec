//! Each fault that `bob` has on demand breaks the requirements that it names and no others, and no quirk breaks any.
//!
//! All of them take some minutes, so a plain `cargo test` tries every sixth; `FAULTS=all cargo test -p acp-harness --test all
//! bob_faults` tries each, `FAULTS=NAME,NAME` those with these names, where `NAME*` is all that begin so, and
//! `scripts/faults` each with all scenarios. With `-- --nocapture` the figure is printed that stands in the README.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use acp_harness::spec::{Catalogue, Level};
use serde_json::Value;

use crate::bob_faults_shown::{SHOWN_IN, chosen, covering, texts};
use crate::command_line::Harness;

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

/// The entries that `FAULTS` names, or every sixth.
fn asked_for(all: &[Value]) -> Vec<&Value> {
    let named = std::env::var("FAULTS").ok();
    match named.as_deref() {
        None => all.iter().step_by(6).collect(),
        Some("all") => all.iter().collect(),
        Some(names) => {
            let is_named = |name: &str| {
                names
                    .split(',')
                    .any(|wanted| match wanted.strip_suffix('*') {
                        Some(beginning) => name.starts_with(beginning),
                        None => name == wanted,
                    })
            };
            let named = all.iter();
            named
                .filter(|entry| is_named(entry["name"].as_str().unwrap()))
                .collect()
        }
    }
}

/// What came of a table.
struct Tried {
    entries: usize,
    /// Entries that break an id less than they name.
    missed: usize,
    /// Ids that they break and do not name.
    besides: usize,
    /// A line for each entry that breaks others than it names.
    wrong: Vec<String>,
}

/// Tries the entries of a table that were asked for.
fn try_out(noun: &str, flag: &str) -> Tried {
    let table = table(noun);
    let entries = asked_for(table[noun].as_array().unwrap());
    let (missed, besides) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (covering, next, wrong) = (covering(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let breaks = texts(&entry["breaks"]);
                    let found = failed(flag, entry, &chosen(entry, &covering));
                    let ids: Vec<String> = found.keys().cloned().collect();
                    let miss = breaks.iter().any(|id| !ids.contains(id));
                    missed.fetch_add(usize::from(miss), Ordering::Relaxed);
                    let more = ids.iter().filter(|id| !breaks.contains(id)).count();
                    besides.fetch_add(more, Ordering::Relaxed);
                    if ids != breaks {
                        let name = &entry["name"];
                        let line = format!("{name}: expected {breaks:?}, found {found:#?}");
                        wrong.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    Tried {
        entries: entries.len(),
        missed: missed.into_inner(),
        besides: besides.into_inner(),
        wrong: wrong.into_inner().unwrap(),
    }
}

#[test]
fn each_fault_breaks_what_it_names_and_nothing_else() {
    let tried = try_out("faults", "--fault");
    println!(
        "{} of {} faults found, {} ids besides",
        tried.entries - tried.missed,
        tried.entries,
        tried.besides
    );
    assert!(tried.wrong.is_empty(), "{}", tried.wrong.join("\n"));
}

#[test]
fn no_quirk_breaks_anything() {
    let tried = try_out("quirks", "--quirk");
    println!("{} quirks, {} ids besides", tried.entries, tried.besides);
    assert!(tried.wrong.is_empty(), "{}", tried.wrong.join("\n"));
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
fn the_readme_tells_how_many_there_are() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let count = |noun: &str| table(noun)[noun].as_array().unwrap().len();
    let (faults, quirks) = (count("faults"), count("quirks"));
    let figure = format!("{faults} of {faults} faults found, {quirks} quirks, 0 ids besides");
    assert!(readme.contains(&figure), "the README lacks: {figure}");
}

#[test]
fn scenarios_are_named_for_what_there_is() {
    let (faults, quirks) = (table("faults"), table("quirks"));
    let (faults, quirks) = (faults["faults"].as_array(), quirks["quirks"].as_array());
    let names: Vec<&Value> = faults
        .into_iter()
        .chain(quirks)
        .flatten()
        .map(|entry| &entry["name"])
        .collect();
    for (name, _) in SHOWN_IN {
        assert!(names.iter().any(|known| **known == name), "{name}");
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
