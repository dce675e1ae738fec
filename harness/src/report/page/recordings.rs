//! The recordings that a report names, packed into the page.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::Value;

use crate::trace::TraceReader;

/// The most that is taken of one recording, in bytes.
const MOST_OF_ONE: u64 = 192 * 1024 * 1024;
/// The most that all take in the page, in bytes as they are packed.
const MOST_OF_ALL: usize = 64 * 1024 * 1024;
/// How hard they are packed: harder is slower and hardly smaller.
const PACKED: Compression = Compression::new(4);

/// What the page says of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Entry {
    /// By which addresses in the page name it: the scenario, or as much of the path as tells it from others.
    pub(super) name: String,
    /// As the report names it.
    pub(super) path: String,
    /// What it shows, as its header says.
    pub(super) about: Option<String>,
    /// The id of the element that holds it, where it is in the page.
    pub(super) element: Option<String>,
    /// Why it is not.
    pub(super) left_out: Option<String>,
    /// How much of it is missing, where only its start is in the page.
    pub(super) cut: Option<String>,
}

/// All recordings of a report.
#[derive(Debug, Default)]
pub(super) struct Recordings {
    pub(super) list: Vec<Entry>,
    /// The elements that hold them.
    pub(super) elements: String,
}

impl Recordings {
    /// Those that a report names, from their files.
    pub(super) fn of(report: &Value) -> Self {
        let mut all = Self::default();
        for (path, name) in named(report) {
            all.list.push(Entry {
                name,
                path,
                about: None,
                element: None,
                left_out: None,
                cut: None,
            });
        }
        // Where not all have room, those that show a failure come first.
        let failed = failed(report);
        let mut order: Vec<usize> = (0..all.list.len()).collect();
        let fails = |index: &usize| {
            let entry = all.list.get(*index);
            entry.is_some_and(|entry| failed.contains(entry.path.as_str()))
        };
        order.sort_by_key(|index| !fails(index));
        for index in order {
            all.pack(index);
        }
        all
    }

    /// Packs the recording at `index` of the list, if there is room.
    fn pack(&mut self, index: usize) {
        let room = MOST_OF_ALL.saturating_sub(self.elements.len());
        let Some(entry) = self.list.get_mut(index) else {
            return;
        };
        match packed(Path::new(&entry.path), room / 4 * 3) {
            Ok(Packed { about, bytes, cut }) => {
                let id = format!("trace-{index}");
                self.elements
                    .push_str(&format!("<script type=\"text/plain\" id=\"{id}\">"));
                BASE64.encode_string(bytes, &mut self.elements);
                self.elements.push_str("</script>\n");
                entry.about = about;
                entry.cut = cut;
                entry.element = Some(id);
            }
            Err(why) => entry.left_out = Some(why),
        }
    }
}

/// A recording, packed.
struct Packed {
    about: Option<String>,
    bytes: Vec<u8>,
    cut: Option<String>,
}

/// Reads and packs a file.
///
/// # Errors
/// A sentence on why it is not in the page.
fn packed(path: &Path, room: usize) -> Result<Packed, String> {
    if path == Path::new("-") {
        return Err("it came from stdin, which can be read only once".to_owned());
    }
    let unread = |error: io::Error| format!("`{}` could not be read: {error}", path.display());
    let reader = TraceReader::open(BufReader::new(File::open(path).map_err(unread)?))
        .map_err(|error| format!("`{}`: {error}", path.display()))?;
    let about = reader.header().about.clone();
    let file = File::open(path).map_err(unread)?;
    let length = file.metadata().map_err(unread)?.len();
    let mut encoder = GzEncoder::new(Vec::new(), PACKED);
    io::copy(&mut file.take(MOST_OF_ONE), &mut encoder).map_err(unread)?;
    let bytes = encoder.finish().map_err(unread)?;
    if bytes.len() > room {
        return Err(format!(
            "the page is large already; the recording is in `{}`",
            path.display()
        ));
    }
    let cut = (length > MOST_OF_ONE).then(|| {
        format!(
            "the first {} MiB of {} MiB are in this page",
            MOST_OF_ONE >> 20,
            length >> 20
        )
    });
    Ok(Packed { about, bytes, cut })
}

/// The paths of all recordings in a report, each once and with its name.
fn named(report: &Value) -> Vec<(String, String)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |path: Option<&Value>, scenario: Option<&str>| {
        if let Some(path) = path.and_then(Value::as_str)
            && seen.insert(path.to_owned())
        {
            let name = scenario.filter(|name| *name != path).map(str::to_owned);
            found.push((path.to_owned(), name));
        }
    };
    for scenario in items(report, "scenarios") {
        add(
            scenario.get("trace"),
            scenario.get("id").and_then(Value::as_str),
        );
    }
    for recording in items(report, "recordings") {
        add(recording.get("trace"), None);
    }
    for replay in items(report, "replays") {
        add(replay.get("recording"), None);
        for trace in items(replay, "traces") {
            add(Some(trace), None);
        }
    }
    let mut taken: HashSet<String> = found.iter().filter_map(|(_, name)| name.clone()).collect();
    found
        .into_iter()
        .map(|(path, name)| {
            let name = name.unwrap_or_else(|| short(&path, &taken));
            taken.insert(name.clone());
            (path, name)
        })
        .collect()
}

/// As many of the last parts of a path, without the ending, as no other has.
fn short(path: &str, taken: &HashSet<String>) -> String {
    let whole = path.strip_suffix(".jsonl").unwrap_or(path);
    let mut ends = whole.rmatch_indices('/').map(|(index, _)| index + 1);
    let free = ends.find_map(|start| whole.get(start..).filter(|name| !taken.contains(*name)));
    free.unwrap_or(whole).to_owned()
}

/// The recordings that show a failure.
fn failed(report: &Value) -> HashSet<&str> {
    let requirements = items(report, "requirements");
    let findings = requirements.flat_map(|requirement| items(requirement, "findings"));
    findings
        .filter_map(|finding| finding.get("trace")?.as_str())
        .collect()
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}
