//! Scenario files: what is read from them, and what is said where one is wrong.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use acp_harness::scenario::file::{
    Action, Condition, Params, Permission, Scenario, Selection, SelectionError, Set, read,
};
use acp_harness::source::Source;
use acp_harness::spec::{Catalogue, Level};
use proptest::prelude::*;
use serde_json::json;

fn scenarios(text: &str) -> Vec<Scenario> {
    match read(
        "area/name",
        &Source::new("scenarios/area/name.toml", text),
        &|id| id != "NOPE-01",
    ) {
        Ok(scenarios) => scenarios,
        Err(problem) => panic!("{problem}"),
    }
}

#[test]
fn the_example_of_the_design_is_read_as_it_is() {
    let read = scenarios(
        r#"
title = "A rejected tool call does not happen"
covers = ["PERM-04"]
needs = { permission = true }                # no permission asked: inconclusive

[[model]]                                    # what the scripted model replies, turn by turn
call = { kind = "execute", command = "touch out.txt" }
[[model]]
say = "Understood."

[[step]]
prompt = "Make the file out.txt"             # initialize and session/new are implied; write them to change them
permission = "reject_once"                   # not offered: reject_always, else inconclusive
expect.workspace.absent = "out.txt"
note.toolCall.status = "failed"              # recorded, not judged: no text demands it
"#,
    );
    assert_eq!(read.len(), 1);
    let scenario = &read[0];
    assert_eq!(scenario.id, "area/name");
    assert!(scenario.needs.permission && scenario.needs.model && !scenario.needs.tool);
    assert_eq!(scenario.model.len(), 2);
    let keys: Vec<_> = scenario
        .steps
        .iter()
        .map(|step| (step.action.key(), step.implied))
        .collect();
    assert_eq!(
        keys,
        [("initialize", true), ("new", true), ("prompt", false)]
    );
    let prompt = &scenario.steps[2];
    assert!(matches!(&prompt.action, Action::Prompt(blocks) if blocks.len() == 1));
    assert_eq!(prompt.permission, [Permission::RejectOnce]);
    assert_eq!(prompt.expect[0].covers, ["PERM-04"]);
    assert!(
        matches!(&prompt.expect[0].conditions[..], [Condition::Workspace(files)] if files.absent == ["out.txt"])
    );
    assert!(
        matches!(&prompt.note[0].conditions[..], [Condition::ToolCall(call)] if call.status == ["failed"])
    );
}

#[test]
fn all_scenarios_of_the_project_are_right() {
    let catalogue = Catalogue::v1();
    let set = match Set::built_in(&|id| catalogue.get(id).is_some()) {
        Ok(set) => set,
        Err(error) => panic!("{error}"),
    };
    assert!(set.iter().count() > 40, "found {}", set.iter().count());
}

/// What is said about a scenario that is wrong.
fn problem(text: &str) -> String {
    let source = Source::new("scenarios/area/name.toml", text);
    match read("area/name", &source, &|id| id != "NOPE-01") {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(problem) => problem.to_string(),
    }
}

/// The problems of several texts, each after what it is about.
fn problems(cases: &[(&str, &str)]) -> String {
    let shown = |(about, text): &(&str, &str)| format!("-- {about}\n{}\n", problem(text));
    cases.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// A whole scenario with these lines as its only step.
fn stepped(step: &str) -> String {
    format!("title = \"T\"\ncovers = [\"PERM-04\"]\n\n[[step]]\n{step}\n")
}

#[test]
fn mistakes_in_the_head_are_shown_at_their_place() {
    let step = "[[step]]\nprompt = \"x\"\n";
    let head = |lines: &str| format!("{lines}\n{step}");
    let shown = problems(&[
        ("not TOML", "title = \"T\ncovers = 1"),
        ("a key that stands twice", "title = \"T\"\ntitle = \"U\""),
        ("empty", ""),
        ("no step", "title = \"T\"\ncovers = [\"PERM-04\"]"),
        (
            "a slip in a key",
            &head("titel = \"T\"\ncovers = [\"PERM-04\"]"),
        ),
        (
            "a key that means nothing",
            &head("title = \"T\"\ncovers = [\"PERM-04\"]\nbanana = 1"),
        ),
        (
            "a requirement that does not exist",
            &head("title = \"T\"\ncovers = [\"PERM-04\", \"NOPE-01\"]"),
        ),
        ("no requirement", &head("title = \"T\"\ncovers = []")),
        (
            "an id twice",
            &head("title = \"T\"\ncovers = [\"PERM-04\", \"PERM-04\"]"),
        ),
        (
            "no condition",
            &head("title = \"T\"\ncovers = [\"PERM-04\"]\nwhen = \"agent.loadSession\""),
        ),
        (
            "a need that there is not",
            &head("title = \"T\"\ncovers = [\"PERM-04\"]\nneeds = { permissions = true }"),
        ),
        (
            "a file outside",
            &head("title = \"T\"\ncovers = [\"PERM-04\"]\nworkspace = { \"../x\" = \"\" }"),
        ),
        (
            "a place holder too early",
            &head("title = \"{{session}}\"\ncovers = [\"PERM-04\"]"),
        ),
        (
            "an unknown consent",
            &head("title = \"T\"\ncovers = [\"PERM-04\"]\nallow = [\"log-out\"]"),
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn mistakes_in_steps_are_shown_at_their_place() {
    let cases = [
        ("no action", "name = \"a\""),
        ("two actions", "prompt = \"x\"\ncancel = true"),
        (
            "a slip in an expectation's key",
            "prompt = \"x\"\nexpct = 1",
        ),
        (
            "an option that means nothing there",
            "wait = 300\npermission = \"hold\"",
        ),
        (
            "an unknown policy",
            "prompt = \"x\"\npermission = [\"allow_once\", \"reject-once\"]",
        ),
        ("a number for a text", "prompt = 7"),
        ("a wait that is too long", "wait = 9999999"),
        ("a wait of no time", "wait = 0"),
        ("no JSON", "prompt.json = '[{'"),
        (
            "a placeholder that there is not",
            "prompt = \"in {{folder}}\"",
        ),
        (
            "a result of no step",
            "prompt = \"{{result:first/sessionId}}\"",
        ),
        ("a step that is not there", "finish = \"turn\""),
        ("a permission that nobody holds", "answer = \"allow_once\""),
        ("a model that is not held", "until.held = true"),
        ("two states", "until = { text = 1, tool = \"any\" }"),
        ("no signal", "signal = \"USR1\""),
        ("no base64", "send.base64 = \"?\""),
        ("an id that is none", "prompt = \"x\"\nid = [1]"),
        ("no session open", "prompt = \"x\"\nsession = \"\""),
    ]
    .map(|(about, step)| (about, stepped(step)));
    let cases: Vec<(&str, &str)> = cases
        .iter()
        .map(|(about, text)| (*about, text.as_str()))
        .collect();
    let shown = problems(&cases);
    insta::assert_snapshot!(shown);
}

#[test]
fn mistakes_in_expectations_are_shown_at_their_place() {
    let cases = [
        (
            "nothing expected",
            "prompt = \"x\"\nexpect = { why = \"so\" }",
        ),
        (
            "a requirement that is not covered",
            "prompt = \"x\"\nexpect = { for = [\"PERM-05\"], answer = \"any\" }",
        ),
        (
            "an answer that there cannot be",
            "wait = 300\nexpect.answer = \"result\"",
        ),
        (
            "an answer that is not awaited",
            "prompt = \"x\"\nawait = false\nexpect.answer = \"result\"",
        ),
        (
            "an unknown status",
            "prompt = \"x\"\nexpect.toolCall.status = [\"faild\"]",
        ),
        (
            "an unknown answer",
            "prompt = \"x\"\nexpect.answer = \"results\"",
        ),
        (
            "an unknown type",
            "prompt = \"x\"\nexpect.result.stopReason.type = \"text\"",
        ),
        (
            "limits that nothing meets",
            "prompt = \"x\"\nexpect.permissions = { min = 2, max = 1 }",
        ),
        (
            "a code that is no number",
            "prompt = \"x\"\nexpect.error.code = \"-32601\"",
        ),
        (
            "a slip in a condition",
            "prompt = \"x\"\nexpect.toolcall.status = \"failed\"",
        ),
        (
            "in a list",
            "prompt = \"x\"\nexpect = [{ answer = \"any\" }, { answer = 1 }]",
        ),
    ]
    .map(|(about, step)| (about, stepped(step)));
    let cases: Vec<(&str, &str)> = cases
        .iter()
        .map(|(about, text)| (*about, text.as_str()))
        .collect();
    let shown = problems(&cases);
    insta::assert_snapshot!(shown);
}

#[test]
fn mistakes_between_parts_of_a_file_are_shown_at_their_place() {
    let head = "title = \"T\"\ncovers = [\"PERM-04\"]\n";
    let with = |rest: &str| format!("{head}{rest}");
    let shown = problems(&[
        (
            "a name twice",
            &with("[[step]]\nname = \"a\"\nnew = true\n[[step]]\nname = \"a\"\nprompt = \"x\""),
        ),
        (
            "the name of an implied step",
            &with("[[step]]\nname = \"initialize\"\nprompt = \"x\""),
        ),
        (
            "an answer awaited twice",
            &with("[[step]]\nname = \"turn\"\nprompt = \"x\"\n[[step]]\nfinish = \"turn\""),
        ),
        (
            "a slip in a step's name",
            &with(
                "[[step]]\nname = \"turn\"\nprompt = \"x\"\nawait = false\n[[step]]\nfinish = \"trun\"",
            ),
        ),
        (
            "no session where none is implied",
            &with("implied = false\n[[step]]\ninitialize = true\n[[step]]\nprompt = \"x\""),
        ),
        (
            "a run without a name",
            &with("[[each]]\nx = 1\n[[step]]\nprompt = \"{{x}}\""),
        ),
        (
            "runs of one name",
            &with("[[each]]\nname = \"a\"\n[[each]]\nname = \"a\"\n[[step]]\nprompt = \"x\""),
        ),
        (
            "a variable that is not used",
            &with("[[each]]\nname = \"a\"\ny = 1\n[[step]]\nprompt = \"x\""),
        ),
        (
            "a variable that a run lacks",
            &with(
                "[[each]]\nname = \"a\"\nx = \"1\"\n[[each]]\nname = \"b\"\n[[step]]\nprompt = \"{{x}}\"",
            ),
        ),
        (
            "a table inside a text",
            &with("[[each]]\nname = \"a\"\nx = {}\n[[step]]\nprompt = \"with {{x}}\""),
        ),
        (
            "a value of the wrong kind",
            &with("[[each]]\nname = \"a\"\nx = 1\n[[step]]\nprompt = \"{{x}}\""),
        ),
        (
            "a call of no kind",
            &with("[[model]]\ncall = { command = \"ls\" }\n[[step]]\nprompt = \"x\""),
        ),
        (
            "a call without its command",
            &with("[[model]]\ncall = { kind = \"execute\" }\n[[step]]\nprompt = \"x\""),
        ),
        (
            "an unknown failure",
            &with("[[model]]\nfail = \"cuts\"\n[[step]]\nprompt = \"x\""),
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn each_run_gets_its_values_with_their_types() {
    let read = scenarios(
        r#"
title = "Version {{version}}"
covers = ["INIT-03"]
[[each]]
name = "two"
version = 2
[[each]]
name = "text"
version = "2"
[[step]]
initialize.protocolVersion = "{{version}}"
"#,
    );
    let seen: Vec<_> = read
        .iter()
        .map(|scenario| {
            let Action::Initialize(Params::Over(params)) = &scenario.steps[0].action else {
                panic!("no initialize")
            };
            (
                scenario.id.as_str(),
                scenario.title.as_str(),
                params["protocolVersion"].clone(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("area/name[two]", "Version 2", json!(2)),
            ("area/name[text]", "Version 2", json!("2"))
        ]
    );
}

#[test]
fn sessions_are_opened_right_before_they_are_needed() {
    let text = "title = \"T\"\ncovers = [\"SESSION-01\"]\n
[[step]]\nprompt = \"x\"\n
[[step]]\nrequest = { method = \"session/close\", params = { sessionId = \"{{session:b}}\" } }\n
[[step]]\nnew = true\nas = \"c\"\n
[[step]]\nprompt = \"y\"\nsession = \"c\"\n
[[step]]\ncancel.sessionId = \"no-such-session\"\nsession = \"d\"\n";
    let read = scenarios(text);
    let names: Vec<_> = read[0]
        .steps
        .iter()
        .map(|step| step.name.as_deref().unwrap_or(step.action.key()))
        .collect();
    assert_eq!(
        names,
        [
            "initialize",
            "new:main",
            "prompt",
            "new:b",
            "request",
            "new",
            "prompt",
            "cancel"
        ]
    );
}

#[test]
fn an_agent_that_is_started_again_is_initialized_again() {
    let keys = |head: &str| {
        let text = format!(
            "title = \"T\"\ncovers = [\"LOAD-01\"]\n{head}\n
[[step]]\nnew = true\ntimes = 3\n
[[step]]\nrestart = true\n
[[step]]\nload = true\nrequire = {{ answer = \"result\", otherwise = \"not-applicable\" }}\n"
        );
        let steps = scenarios(&text).remove(0).steps;
        let keys = steps.iter().map(|step| step.action.key());
        keys.collect::<Vec<_>>()
    };
    assert_eq!(
        keys(""),
        ["initialize", "new", "restart", "initialize", "load"]
    );
    assert_eq!(keys("implied = false"), ["new", "restart", "load"]);
}

#[test]
fn exact_json_keeps_its_spelling() {
    let read = scenarios(&stepped(
        "initialize.json = '{ \"protocolVersion\" : 1.0, \"x\":null }'",
    ));
    let exact = Params::Exact("{ \"protocolVersion\" : 1.0, \"x\":null }".to_owned());
    assert_eq!(read[0].steps[0].action, Action::Initialize(exact));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".*") {
        let _ = read("x", &Source::new("x.toml", text), &|_| true).map_err(|problem| problem.to_string());
    }

    #[test]
    fn no_damage_to_a_scenario_makes_the_reader_panic(which in 0..1000_usize, at in 0.0..1.0, length in 0..40_usize, put in "[\\[\\]{}=\"'\n.,a-z0-9é🦊 ]{0,8}") {
        let (_, path, text) = &files()[which % files().len()];
        let mut characters: Vec<char> = text.chars().collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
        let start = (characters.len() as f64 * at) as usize;
        let end = (start + length).min(characters.len());
        characters.splice(start..end, put.chars());
        let text: String = characters.into_iter().collect();
        let _ = read("x", &Source::new(path.as_str(), text), &|_| true).map_err(|problem| problem.to_string());
    }
}

/// The project's scenario files: folder, path, text.
fn files() -> &'static [(String, String, String)] {
    static FILES: LazyLock<Vec<(String, String, String)>> = LazyLock::new(|| {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
        let mut files = Vec::new();
        for folder in fs::read_dir(scenarios).unwrap() {
            let folder = folder.unwrap();
            for file in fs::read_dir(folder.path()).unwrap() {
                let path = file.unwrap().path();
                let text = fs::read_to_string(&path).unwrap();
                files.push((
                    folder.file_name().to_string_lossy().into_owned(),
                    path.display().to_string(),
                    text,
                ));
            }
        }
        files
    });
    &FILES
}

fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn selected(only: &[&str], skip: &[&str]) -> Result<(Selection, Vec<String>), SelectionError> {
    let catalogue = Catalogue::v1();
    let set = Set::built_in(&|id| catalogue.get(id).is_some()).unwrap();
    let ids: Vec<&str> = catalogue
        .iter()
        .map(|requirement| requirement.id.as_str())
        .collect();
    let selection = Selection::new(&words(only), &words(skip), &set, &ids)?;
    let chosen = set
        .iter()
        .filter(|scenario| selection.runs(scenario))
        .map(|scenario| scenario.id.clone())
        .collect();
    Ok((selection, chosen))
}

#[test]
fn a_pattern_is_an_id_an_area_a_folder_a_file_a_run_or_a_glob() {
    let chosen = |only: &[&str]| selected(only, &[]).unwrap().1;
    assert_eq!(chosen(&["init-12"]), ["init/unknown-capabilities"]);
    assert!(chosen(&["TRANSPORT"]).contains(&"init/handshake".to_owned()));
    assert!(
        chosen(&["transport"])
            .iter()
            .all(|id| id.starts_with("transport/"))
    );
    assert_eq!(chosen(&["transport"]), chosen(&["transport/*"]));
    assert_eq!(
        chosen(&["init/version-unknown"]),
        ["init/version-unknown[3000]", "init/version-unknown[65535]"]
    );
    assert_eq!(
        chosen(&["init/version-unknown[3000]"]),
        ["init/version-unknown[3000]"]
    );
    assert_eq!(chosen(&["*/*-wri?e"]), ["transport/one-write"]);
}

#[test]
fn what_is_skipped_is_neither_run_nor_judged() {
    let (selection, chosen) = selected(&[], &["JSONRPC", "init/*", "TRANSPORT-09"]).unwrap();
    assert!(!selection.is_everything());
    assert!(!selection.judges("JSONRPC-13") && selection.judges("INIT-01"));
    assert!(
        chosen
            .iter()
            .all(|id| !id.starts_with("init/") && id != "transport/before-initialize")
    );
    assert!(
        chosen.contains(&"jsonrpc/batch".to_owned()),
        "it covers INTEROP-06 too"
    );
    assert!(!chosen.contains(&"jsonrpc/id-forms".to_owned()));
}

#[test]
fn only_with_a_requirement_judges_nothing_else() {
    let (selection, _) = selected(&["INIT-12"], &[]).unwrap();
    assert!(selection.judges("INIT-12") && !selection.judges("INIT-01"));
    assert!(selected(&["init/*"], &[]).unwrap().0.judges("JSONRPC-01"));
}

#[test]
fn a_pattern_that_fits_nothing_is_named_with_what_is_near() {
    let refused = |pattern: &str| selected(&[pattern], &[]).unwrap_err().to_string();
    let shown = [
        "INIT-99",
        "CANCLE",
        "transprot",
        "init/handshak",
        "zebra",
        "{a",
    ]
    .map(refused)
    .join("\n");
    insta::assert_snapshot!(shown);
}

#[test]
fn each_active_requirement_of_a_finished_area_is_exercised() {
    let catalogue = Catalogue::v1();
    let set = Set::built_in(&|id| catalogue.get(id).is_some()).unwrap();
    let covered: BTreeSet<&str> = set
        .iter()
        .flat_map(|scenario| scenario.covers.iter().map(String::as_str))
        .collect();
    let missing: Vec<&str> = catalogue
        .iter()
        .filter(|entry| ["TRANSPORT", "JSONRPC", "INIT"].contains(&entry.area()))
        .filter(|entry| {
            !entry.passive && entry.level != Level::May && !covered.contains(entry.id.as_str())
        })
        .map(|entry| entry.id.as_str())
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn a_folder_adds_its_scenarios_and_replaces_those_of_the_same_id() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("area")).unwrap();
    fs::write(
        folder.path().join("area/own.toml"),
        stepped("prompt = \"x\""),
    )
    .unwrap();
    fs::write(folder.path().join("notes.md"), "no scenario").unwrap();
    let mut set = Set::default();
    set.add_folder(folder.path(), &|_| true).unwrap();
    fs::write(folder.path().join("area/own.toml"), stepped("new = true")).unwrap();
    set.add_folder(folder.path(), &|_| true).unwrap();
    let keys: Vec<_> = set
        .iter()
        .map(|scenario| {
            (
                scenario.id.as_str(),
                scenario.steps.last().unwrap().action.key(),
            )
        })
        .collect();
    assert_eq!(keys, [("area/own", "new")]);
}

#[test]
fn a_folder_without_scenarios_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut set = Set::default();
    let said = set
        .add_folder(folder.path(), &|_| true)
        .unwrap_err()
        .to_string();
    assert!(
        said.ends_with("expected files that end in `.toml`"),
        "{said}"
    );
    let said = set
        .add_folder(&folder.path().join("missing"), &|_| true)
        .unwrap_err()
        .to_string();
    assert!(said.starts_with("cannot read"), "{said}");
}

#[test]
fn the_examples_of_the_reference_are_right() {
    let reference =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md"))
            .unwrap();
    let examples: Vec<&str> = reference
        .split("```toml\n")
        .skip(1)
        .filter_map(|part| part.split("```").next())
        .collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        scenarios(example);
    }
}

#[test]
fn the_reference_names_every_key() {
    let reference =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md"))
            .unwrap();
    for wrong in [
        stepped("zzzz = 1"),
        stepped("prompt = \"x\"\nexpect.zzzz = 1"),
        format!("zzzz = 1\n{}", stepped("")),
    ] {
        let said = problem(&wrong);
        let allowed: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("= expected"))
            .flat_map(|line| line.split('`').skip(1).step_by(2))
            .collect();
        assert!(allowed.len() > 10, "{said}");
        for key in allowed {
            let named = [format!("`{key}"), format!("[{key}]")]
                .iter()
                .any(|written| reference.contains(written.as_str()));
            assert!(named, "docs/scenarios.md does not describe `{key}`");
        }
    }
}

#[test]
fn deep_nesting_is_refused_and_does_no_harm() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let deep = format!("title = {}1{}", open.repeat(50_000), close.repeat(50_000));
        assert!(problem(&deep).starts_with("scenarios/area/name.toml:1:"));
    }
    let dotted = format!("title.{}a = 1", "a.".repeat(50_000));
    assert!(problem(&dotted).starts_with("scenarios/area/name.toml:1:"));
    let json = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let blocks = stepped(&format!("prompt.json = '{json}'"));
    assert!(problem(&blocks).contains("recursion limit"));
    // Exact parameters are only looked at, so that deep ones can be sent.
    scenarios(&stepped(&format!("initialize.json = '{json}'")));
}

#[test]
fn answers_to_requests_of_the_agent_are_read() {
    use acp_harness::client::{Content, Planned};
    let read = scenarios(
        r#"
title = "t"
covers = ["ELICIT-12"]

[[step]]
prompt = "p"
elicitation = ["accept", "hold", { action = "_later", content = { json = 'null' } }]
replies."terminal/create" = { error = -32603 }
replies."fs/write_text_file" = ["serve", { result = { json = 'null' }, served = true }]
"#,
    );
    let step = read[0].steps.last().unwrap();
    let of = |method: &str| {
        let found = step.replies.iter().find(|(own, _)| own == method);
        found.unwrap().1.clone()
    };
    let elicited = |action: &str, content: Content| Planned::Elicited {
        action: action.to_owned(),
        content,
        probe: None,
    };
    assert_eq!(
        of("elicitation/create"),
        [
            elicited("accept", Content::Filled),
            Planned::Hold,
            elicited("_later", Content::Given(json!(null))),
        ]
    );
    assert!(matches!(
        of("terminal/create")[..],
        [Planned::Error { code: -32603, .. }]
    ));
    assert!(matches!(
        of("fs/write_text_file")[..],
        [Planned::Serve, Planned::Result { served: true, .. }]
    ));
}

#[test]
fn answers_that_make_no_sense_are_refused() {
    let said = |line: &str| {
        let text =
            format!("title = \"t\"\ncovers = [\"FS-06\"]\n[[step]]\nprompt = \"p\"\n{line}\n");
        read("a/b", &Source::new("a/b.toml", text), &|_| true)
            .unwrap_err()
            .to_string()
    };
    for (line, part) in [
        ("replies.\"fs/read\" = \"serve\"", "unknown key `fs/read`"),
        (
            "replies.\"terminal/kill\" = {}",
            "either `error` or `result`",
        ),
        ("replies.\"terminal/kill\" = []", "one answer at least"),
        ("elicitation = \"acept\"", "did you mean `accept`?"),
        (
            "elicitation = { content = \"full\" }",
            "`full` is no value of `content`",
        ),
        (
            "expect.toolCall.same = \"x\"",
            "no step before this one is named `x`",
        ),
    ] {
        let said = said(line);
        assert!(said.contains(part), "{line}: {said}");
    }
}
