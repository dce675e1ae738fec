//! Which scenarios show a fault or a quirk of `bob`.

use std::collections::{BTreeMap, BTreeSet};

use acp_harness::scenario::file::Set;
use acp_harness::spec::Catalogue;
use serde_json::Value;

/// What is run for each fault, whatever it is about: a handshake, a session, a turn with a tool that is allowed.
const SMOKE: &str = "toolcall/execute";

/// Where requirements that all traffic is judged by are seen best.
const SEEN_IN: [(&str, &[&str]); 23] = [
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
    ("TOOLCALL-12", &["terminal/commands"]),
    ("UPDATE-05", &["load/new-process"]),
    ("CONFIG-06", &["mode/each"]),
    ("INIT-02", &["init/initialize-twice"]),
    ("SESSION-04", &["session/relative-path-with-two-folders"]),
    ("CLOSE-03", &["close/with-a-terminal"]),
    (
        "CLOSE-02",
        &["close/while-streaming", "close/while-permission-is-asked"],
    ),
];

/// Where a fault or a quirk is seen that the scenarios for its requirements do not bring about.
pub(crate) const SHOWN_IN: [(&str, &str); 60] = [
    ("cursor-object", "list/pages"),
    ("asks-twice-at-once", "reqcancel/while-permission-is-asked"),
    ("current-mode-not-offered-after-a-load", "load/new-process"),
    (
        "current-mode-not-offered-after-a-resume",
        "resume/new-process",
    ),
    ("option-category-unknown-after-a-load", "load/new-process"),
    ("listed-without-id", "list/all"),
    ("list-says-something", "list/between-turns"),
    ("current-value-by-name", "mode/each"),
    ("listed-folder-missing", "list/all"),
    ("listed-folders-text", "list/all"),
    ("title-updated-in-words", "list/all"),
    ("load-answers-null", "load/new-process"),
    ("load-answers-a-text", "load/new-process"),
    ("resume-answers-null", "resume/new-process"),
    ("closed-session-prompted", "close/then-prompt"),
    ("deleted-session-prompted", "delete/then-prompt"),
    ("options-told-by-another-name", "mode/each"),
    ("what-is-not-offered-is-taken", "config/not-offered"),
    ("read-line-negative", "fs/offered"),
    ("read-line-fraction", "fs/offered"),
    ("read-without-session", "fs/offered"),
    ("form-missing", "elicit/answered"),
    ("done-without-id", "elicit/page"),
    ("request-cancel-answered-twice", "reqcancel/while-streaming"),
    ("switch-as-text", "config/switch"),
    ("state-after-a-load", "load/new-process,load/listed"),
    ("state-in-a-resume", "resume/new-process,resume/live"),
    ("state-in-a-replay", "load/new-process,load/after-close"),
    (
        "replay-character-by-character",
        "load/new-process,load/tool-calls",
    ),
    ("replay-without-ids", "load/new-process,load/tool-calls"),
    ("replay-with-thoughts", "load/new-process,load/tool-calls"),
    (
        "commands-and-title-after-a-load",
        "load/new-process,resume/new-process",
    ),
    (
        "open-session-not-loaded",
        "load/after-close,load/live,resume/live",
    ),
    (
        "opened-again-without-choices",
        "load/new-process,resume/new-process",
    ),
    ("time-in-small-letters", "list/all"),
    ("time-elsewhere", "list/all"),
    ("null-in-lists", "list/all,list/pages"),
    (
        "meta-in-results",
        "list/all,load/new-process,mode/each,config/another-value",
    ),
    (
        "meta-in-requests",
        "fs/offered,terminal/commands,elicit/answered",
    ),
    ("cursor-odd", "list/pages"),
    (
        "first-page-empty",
        "list/all,list/pages,delete/listed,load/listed",
    ),
    (
        "done-is-null",
        "close/idle,close/while-streaming,delete/after-close,session/object-results",
    ),
    (
        "logged-out-is-null",
        "auth/authenticate,auth/logged-out,auth/logout",
    ),
    (
        "closes-before-the-turn",
        "close/while-streaming,close/while-permission-is-asked",
    ),
    (
        "chosen-after-the-turn",
        "mode/while-a-turn-runs,config/while-a-turn-runs",
    ),
    ("category-of-its-own", "config/another-value,mode/each"),
    ("null-in-choices", "config/another-value,mode/each"),
    ("values-in-groups", "config/another-value,config/defaults"),
    (
        "an-option-vanishes",
        "config/another-value,config/mode-option",
    ),
    ("reads-a-part", "fs/offered,fs/refused"),
    (
        "null-in-requests",
        "fs/offered,terminal/commands,elicit/answered",
    ),
    (
        "released-late",
        "terminal/commands,cancel/while-a-terminal-runs",
    ),
    ("released-slowly", "terminal/commands"),
    ("released-twice", "terminal/commands"),
    (
        "form-with-more",
        "elicit/answered,elicit/content-to-be-ignored,elicit/no-content",
    ),
    ("page-with-port", "elicit/page"),
    ("done-twice", "elicit/page"),
    ("question-of-the-session", "elicit/answered,elicit/page"),
    ("takes-back-too-late", "cancel/next-turn"),
    (
        "request-cancelled",
        "reqcancel/while-streaming,reqcancel/while-permission-is-asked",
    ),
];

/// Scenarios that take long and show nothing that others do not, but for the requirements that they alone cover.
const SLOW: [&str; 4] = ["robust/long", "shutdown/", "interop/model", "transport/"];

/// So many scenarios are run for a requirement at most.
const FOR_ONE: usize = 2;

pub(crate) fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Which scenarios cover a requirement.
pub(crate) fn covering() -> BTreeMap<String, Vec<String>> {
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

/// The scenarios that are run for a fault or a quirk.
pub(crate) fn chosen(entry: &Value, covering: &BTreeMap<String, Vec<String>>) -> String {
    let (breaks, arguments) = (texts(&entry["breaks"]), texts(&entry["arguments"]));
    let mut chosen: Vec<&str> = Vec::new();
    // Where a login comes first, an ordinary turn shows nothing, and hides why.
    if !arguments.iter().any(|argument| argument == "--auth") {
        chosen.push(SMOKE);
    }
    let shown = SHOWN_IN.iter().filter(|(name, _)| entry["name"] == *name);
    chosen.extend(shown.map(|(_, scenario)| *scenario));
    for id in &breaks {
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
