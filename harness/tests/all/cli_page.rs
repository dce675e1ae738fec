//! The page of `--report html=FILE` on the real binary. `scripts/page/run` tests it in a browser.

use std::fs;

use crate::command_line::Harness;

/// What stands in the page between two marks.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn a_run_gives_a_page_with_its_report_and_its_recordings_and_its_json_gives_the_same_later() {
    let harness = Harness::new();
    let folder = harness.state.path();
    let file = |name: &str| folder.join(name).display().to_string();
    let (html, json) = (file("run.html"), file("run.json"));
    let ran = harness.call(&[
        "run",
        "--agent",
        "bob",
        "--only",
        "init/handshake",
        "--report",
        &format!("html={html}"),
        "--report",
        &format!("json={json}"),
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let page = fs::read_to_string(&html).unwrap();
    let report = fs::read_to_string(&json).unwrap();
    let held = between(&page, "id=\"report\">", "</script>");
    assert_eq!(held, report.replace('<', "\\u003c"));
    let recordings = between(&page, "id=\"recordings\">", "</script>");
    assert!(
        recordings.contains("\"name\":\"init/handshake\""),
        "{recordings}"
    );
    assert!(page.contains("id=\"trace-0\">"), "{recordings}");
    let later = harness.call(&["report", &json, "--report", "html=-"]);
    assert_eq!(later.code, 0, "{}", later.stderr);
    assert!(later.stdout == page, "the page that is made later differs");
}

#[test]
fn a_check_and_a_replay_give_a_page_too() {
    let harness = Harness::new();
    let recording = "../traces/cancel-while-streaming.jsonl";
    let check: &[&str] = &["check", recording, "--report", "html=-"];
    let replay: &[&str] = &["replay", recording, "--agent", "bob", "--report", "html=-"];
    for (words, names) in [
        (check, &["\"cancel-while-streaming\""][..]),
        (
            replay,
            &[
                "\"cancel-while-streaming\"",
                "\"cancel-while-streaming.replay\"",
            ],
        ),
    ] {
        let ran = harness.call(words);
        assert!(ran.code < 2, "{words:?}: {}", ran.stderr);
        let recordings = between(&ran.stdout, "id=\"recordings\">", "</script>");
        for name in names {
            let member = format!("\"name\":{name}");
            assert!(recordings.contains(&member), "{words:?}: {recordings}");
        }
        assert!(!recordings.contains("\"left_out\":\""), "{recordings}");
    }
}
