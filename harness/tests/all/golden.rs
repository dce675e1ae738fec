//! The golden traces: `bob` still does what they hold, and an agent that differs from it in one
//! way is told from it at the place where it differs.
//!
//! Every file in `traces/` is taken up by itself. `GOLDEN_REPEAT=100 cargo test -p acp-harness --test all golden`
//! replays each of them a hundred times in a row.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::command_line::{Harness, Ran};
use acp_harness::trace::Recording;
use serde::Deserialize;
use serde_json::Value;

/// The folder of the traces, as seen from the folder of the crate.
const FOLDER: &str = "../traces";

/// How an agent differs from `bob` in one trace, and what a replay has to say about it.
#[derive(Deserialize)]
struct Deviation {
    /// The name of the trace.
    trace: String,
    /// What `bob-but.sh` is told: a verb, a pattern, which of the lines that hold it, old and new where the verb needs them.
    but: Vec<String>,
    /// The differences, all of them: class, change and place.
    differences: Vec<String>,
}

fn deviations() -> Vec<Deviation> {
    #[derive(Deserialize)]
    struct Table {
        deviation: Vec<Deviation>,
    }
    let text = fs::read_to_string("tests/golden/deviations.toml").unwrap();
    toml::from_str::<Table>(&text).unwrap().deviation
}

/// The traces by name, in order.
fn traces() -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    found.sort();
    found
}

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}.jsonl")
}

#[test]
fn every_trace_can_be_read_and_says_what_it_shows() {
    let traces = traces();
    assert!(traces.len() >= 20, "only {} traces", traces.len());
    for (name, path) in traces {
        let recording = Recording::read(&path).unwrap();
        assert!(
            recording.damage.is_empty(),
            "{name}: {:?}",
            recording.damage
        );
        assert!(!recording.events.is_empty(), "{name} is empty");
        let about = recording.header.about.unwrap_or_default();
        assert!(about.ends_with('.'), "{name} does not say what it shows");
        assert!(recording.header.redacted, "{name} is not redacted");
    }
}

#[test]
fn no_trace_holds_anything_of_the_machine_that_it_was_recorded_on() {
    for (name, path) in traces() {
        let text = fs::read_to_string(path).unwrap();
        for place in ["/tmp/", "/home/", "/root/", "/Users/", "C:\\\\"] {
            assert!(!text.contains(place), "{name} holds a path below {place}");
        }
        assert!(text.len() < 48_000, "{name} has {} bytes", text.len());
    }
}

#[test]
fn no_trace_breaks_a_requirement() {
    let run = Harness::new().call(&["check", FOLDER, "--strict", "--report", "json=-"]);
    let report = run.json();
    let failed: Vec<&Value> = report["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["status"] == "fail")
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(run.code, 0, "{}", run.stderr);
}

/// The words of the command by which the agent of a trace was started, without the `harness` in front: `bob`, and the surface.
fn agent_of(path: &Path) -> Vec<String> {
    let command = Recording::read(path).unwrap().header.command;
    assert_eq!(command[..2], ["harness", "bob"], "{}", path.display());
    command[1..].to_vec()
}

/// What `harness replay` says of this trace and this agent.
fn replay(harness: &Harness, trace: &str, agent: &str, more: &[&str]) -> Ran {
    let words = ["replay", &path(trace), "--agent", agent, "--level", "text"];
    harness.call(&[&words[..], more].concat())
}

/// Class, change and place of each difference of the level `text` or above.
fn differences(report: &Value) -> Vec<String> {
    let words = |difference: &Value| {
        ["class", "change", "place"].map(|member| difference[member].as_str().unwrap().to_owned())
    };
    report["differences"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|difference| difference["class"] != "timing")
        .map(|difference| words(difference).join(" "))
        .collect()
}

/// What is wrong with the items, a few of them looked at side by side: a replay mostly waits.
fn wrong<T: Sync>(items: &[T], look: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut found = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(look(item));
        }
        found
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        let found = workers.into_iter().map(|worker| worker.join().unwrap());
        found.flatten().collect()
    })
}

#[test]
fn bob_does_what_each_trace_holds() {
    let repeat = std::env::var("GOLDEN_REPEAT").unwrap_or_else(|_| "1".to_owned());
    let harness = Harness::new();
    let wrong = wrong(&traces(), |(name, path)| {
        let bob = shell_words::join(agent_of(path));
        let run = replay(&harness, name, &bob, &["--repeat", &repeat]);
        (run.code != 0).then(|| format!("{name}: exit code {}\n{}", run.code, run.stdout))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_deviation_is_found_where_it_is_and_no_other() {
    let harness = Harness::new();
    let script = fs::canonicalize("tests/agents/bob-but.sh").unwrap();
    let script = script.to_str().unwrap();
    let wrong = wrong(&deviations(), |deviation| {
        let bob = agent_of(Path::new(&path(&deviation.trace)));
        let mut words = vec!["sh", script];
        words.extend(deviation.but.iter().map(String::as_str));
        words.resize(2 + 5, "");
        words.push(env!("CARGO_BIN_EXE_harness"));
        words.extend(bob.iter().map(String::as_str));
        let agent = shell_words::join(words);
        let more = ["--timeout", "15", "--report", "json=-"];
        let run = replay(&harness, &deviation.trace, &agent, &more);
        let found = differences(&run.json());
        (found != deviation.differences || run.code != 1).then(|| {
            format!(
                "{} with {:?}: exit code {}\n  expected {:#?}\n  found {found:#?}",
                deviation.trace, deviation.but, run.code, deviation.differences
            )
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_conversation_of_the_clients_has_a_trace_a_deviation_and_a_row_in_the_readme() {
    let readme = fs::read_to_string(Path::new(FOLDER).join("README.md")).unwrap();
    let table = fs::read_to_string("../scripts/third-party/conversations.json").unwrap();
    let table: Value = serde_json::from_str(&table).unwrap();
    let recorded: BTreeSet<String> = traces().into_iter().map(|(name, _)| name).collect();
    let deviations = deviations();
    for name in table.as_object().unwrap().keys() {
        assert!(recorded.contains(name), "{name} is not recorded");
        let deviates = deviations.iter().any(|each| each.trace == *name);
        assert!(deviates, "no agent differs from bob in {name}");
        let link = format!("[{name}]({name}.jsonl)");
        assert!(readme.contains(&link), "traces/README.md lacks {link}");
    }
}
