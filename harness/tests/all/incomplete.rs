//! The law of incomplete recordings: a clean recording of which something is missing raises no finding.
//!
//! The recordings are those of the reference agent and of a test agent under the built-in scenarios, and one that was
//! written by hand and holds every feature of version 1.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::command_line::{Harness, agent};
use acp_harness::check::check;
use acp_harness::spec::{Catalogue, Level};
use acp_harness::trace::TraceReader;
use proptest::prelude::*;
use tempfile::TempDir;

/// A conversation with every feature of version 1.
const EVERY_FEATURE: &str = "tests/recordings/every-feature.jsonl";

/// A line that holds no event.
const DAMAGE: &str = "{\"at\":1.0,\"from\":\"agent\",\"mess";

/// A recording by its lines, the header first.
struct Trace {
    name: String,
    lines: Vec<String>,
}

/// The recordings that raise no finding as they are.
static CLEAN: LazyLock<Vec<Trace>> = LazyLock::new(|| {
    let mut traces = recorded(&["--agent", "bob"]);
    assert!(traces.len() > 150, "{}", traces.len());
    traces.extend(recorded(&[
        "--agent",
        &agent("well-equipped"),
        "--profile",
        "tests/agents/well-equipped.toml",
        "--only",
        "auth/*,content/*,fs/*,session/additional*,init/handshake,prompt/hello",
    ]));
    traces.push(Trace::read(Path::new(EVERY_FEATURE), EVERY_FEATURE));
    traces.retain(|trace| failed(trace.all()).is_empty());
    assert!(traces.len() > 200, "{}", traces.len());
    traces
});

impl Trace {
    fn read(file: &Path, name: &str) -> Self {
        let text = fs::read_to_string(file).unwrap();
        Self {
            name: name.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
        }
    }

    fn all(&self) -> Vec<&str> {
        self.lines.iter().map(String::as_str).collect()
    }

    /// Some of its lines behind the header, spread over the whole of it; all of the one that holds every feature.
    fn some(&self) -> impl Iterator<Item = usize> {
        let step = match self.name.as_str() {
            EVERY_FEATURE => 1,
            name => 4 + (name.len() + self.lines.len()) % 9,
        };
        (1..self.lines.len()).step_by(step)
    }
}

/// The recordings of a run.
fn recorded(words: &[&str]) -> Vec<Trace> {
    let folder = TempDir::new().unwrap();
    let keep = folder.path().to_str().unwrap();
    let run = Harness::new().run(&[words, &["-q", "--keep", keep]].concat());
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    let mut files = Vec::new();
    collect(folder.path(), &mut files);
    files.sort();
    let name = |file: &PathBuf| file.strip_prefix(keep).unwrap().display().to_string();
    files
        .iter()
        .map(|file| Trace::read(file, &name(file)))
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// What fails of the levels that count, as `ID@event: message`.
fn failed<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let text = lines.into_iter().collect::<Vec<_>>().join("\n") + "\n";
    let checked = check(TraceReader::open(text.as_bytes()).unwrap()).unwrap();
    let counts = |id: &str| {
        let level = Catalogue::v1().get(id).unwrap().level;
        matches!(level, Level::Must | Level::Should | Level::Interop)
    };
    let failed = checked.judgement.iter().filter(|(id, _)| counts(id));
    failed
        .flat_map(|(id, tally)| tally.findings.iter().map(move |finding| (id, finding)))
        .map(|(id, finding)| {
            let event = finding.place.as_ref().map(|place| place.event);
            format!("{id}@{event:?}: {}", finding.message)
        })
        .collect()
}

/// Holds the law for one way to make recordings incomplete; `variants` gives the lines of each with a name for it.
fn law(variants: impl Fn(&Trace, &mut dyn FnMut(String, Vec<&str>))) {
    let mut broken = BTreeSet::new();
    for trace in CLEAN.iter() {
        variants(trace, &mut |variant, lines| {
            for failure in failed(lines) {
                broken.insert(format!("{} {variant}: {failure}", trace.name));
            }
        });
    }
    let all: Vec<String> = broken.into_iter().collect();
    assert!(all.is_empty(), "{} broken:\n{}", all.len(), all.join("\n"));
}

#[test]
fn the_recording_of_every_feature_is_clean() {
    let trace = Trace::read(Path::new(EVERY_FEATURE), EVERY_FEATURE);
    assert_eq!(failed(trace.all()), Vec::<String>::new());
}

#[test]
fn a_line_that_cannot_be_read() {
    law(|trace, give| {
        for line in trace.some() {
            let mut lines = trace.all();
            lines[line] = DAMAGE;
            give(format!("without line {}", line + 1), lines);
        }
    });
}

#[test]
fn a_recording_that_begins_late_and_says_so() {
    law(|trace, give| {
        let header = trace.lines[0].replacen('{', "{\"start\":false,", 1);
        for first in trace.some().filter(|first| *first > 1) {
            let mut lines = trace.all();
            lines[0] = &header;
            lines.drain(1..first);
            give(format!("from line {}", first + 1), lines);
        }
    });
}

#[test]
fn a_recording_that_begins_late_and_does_not_say_so() {
    law(|trace, give| {
        for first in trace.some().filter(|first| *first > 1) {
            let mut lines = trace.all();
            lines.drain(1..first);
            // One that was cut right before an `initialize` looks like one that begins there.
            let client = lines
                .iter()
                .find(|line| line.contains("\"from\":\"client\""));
            if client.is_some_and(|line| line.contains("\"method\":\"initialize\""))
                && trace.lines[1..first]
                    .iter()
                    .any(|line| line.contains("\"from\":\"client\""))
            {
                continue;
            }
            give(format!("from line {}", first + 1), lines);
        }
    });
}

#[test]
fn a_recording_that_ends_early() {
    law(|trace, give| {
        for end in trace.some() {
            give(format!("up to line {end}"), trace.all()[..end].to_vec());
        }
    });
}

#[test]
fn a_recording_of_one_side() {
    law(|trace, give| {
        for side in ["client", "agent"] {
            let mark = format!("\"from\":\"{side}\"");
            let lines = trace.all().into_iter();
            let lines = lines.filter(|line| !line.contains(&mark)).collect();
            give(format!("without the {side}"), lines);
        }
    });
}

#[test]
fn two_lines_that_cannot_be_read() {
    let trace = Trace::read(Path::new(EVERY_FEATURE), EVERY_FEATURE);
    let mut broken = Vec::new();
    for first in 1..trace.lines.len() {
        for second in (first + 1..trace.lines.len()).step_by(7) {
            let mut lines = trace.all();
            lines[first] = DAMAGE;
            lines[second] = DAMAGE;
            for failure in failed(lines) {
                broken.push(format!(
                    "without lines {} and {}: {failure}",
                    first + 1,
                    second + 1
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_lines_that_cannot_be_read(
        which in any::<prop::sample::Index>(),
        lost in proptest::collection::vec(any::<prop::sample::Index>(), 1..12),
        late in any::<bool>(),
    ) {
        let trace = &CLEAN[which.index(CLEAN.len())];
        let mut lines = trace.all();
        for index in lost {
            let line = 1 + index.index(lines.len() - 1);
            lines[line] = DAMAGE;
        }
        if late {
            lines.remove(1);
        }
        prop_assert_eq!(failed(lines), Vec::<String>::new(), "{}", &trace.name);
    }
}
