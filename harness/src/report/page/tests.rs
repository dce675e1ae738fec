use std::fs;

use serde_json::json;

use super::*;

/// What stands between two marks.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

fn recordings(page: &str) -> Value {
    let list = between(page, "id=\"recordings\">", "</script>");
    serde_json::from_str(list).unwrap()
}

#[test]
fn the_report_is_in_the_page_as_it_was_written() {
    let report = "{\n  \"format\": 1,\n  \"odd\": 1.50e3,\n  \"text\": \"a < b\"\n}\n";
    let page = page(report, Front::Overview).unwrap();
    let held = between(&page, "id=\"report\">", "</script>");
    assert_eq!(held, report.replace('<', "\\u003c"));
    assert_eq!(
        serde_json::from_str::<Value>(held).unwrap(),
        serde_json::from_str::<Value>(report).unwrap()
    );
}

#[test]
fn text_of_an_agent_ends_no_element_and_fills_no_place() {
    let hostile = "</script><script>alert(1)</script><!--<script>{{script}}{{style}}";
    let report = json!({"format": 1, "agent": {"name": hostile}, "verdict": hostile});
    let page = page(&report.to_string(), Front::Overview).unwrap();
    let calm = super::page(r#"{"format":1}"#, Front::Overview).unwrap();
    assert!(!page.contains("<script>alert"), "it became an element");
    for mark in ["<script", "</script>", "<!--", "<style"] {
        assert_eq!(
            page.matches(mark).count(),
            calm.matches(mark).count(),
            "{mark}"
        );
    }
    assert!(page.contains("{{script}}{{style}}"), "a place was filled");
}

#[test]
fn the_policy_allows_the_script_and_the_style_of_the_page_alone() {
    let page = page("{}", Front::Recording).unwrap();
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\">");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (directive, start, end) in [
        ("script-src", "<script>", "</script>"),
        ("style-src", "<style>", "</style>"),
    ] {
        let allowed = between(policy, &format!("{directive} "), ";");
        assert_eq!(allowed, source(between(&page, start, end)), "{directive}");
    }
}

#[test]
fn the_page_needs_no_other_file() {
    for mark in [
        " src=",
        "<link",
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ] {
        let frame = FRAME.contains(mark);
        let parts = STYLES.iter().chain(SCRIPTS).any(|part| part.contains(mark));
        assert!(!frame && !parts, "{mark}");
    }
}

#[test]
fn no_script_makes_markup_of_a_text() {
    for mark in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "srcdoc",
    ] {
        assert!(
            !SCRIPTS.iter().any(|script| script.contains(mark)),
            "{mark}"
        );
    }
}

#[test]
fn every_script_and_style_of_the_folder_is_in_the_page() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/page");
    let page = page("{}", Front::Overview).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|ending| ending == "js" || ending == "css")
        {
            let text = fs::read_to_string(&path).unwrap();
            assert!(page.contains(text.trim_end()), "{}", path.display());
        }
    }
}

#[test]
fn a_recording_is_in_the_page_byte_for_byte() {
    use std::io::Read as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.jsonl");
    let text = "{\"acptrace\":1,\"about\":\"A first turn\"}\n{\"at\":0,\"from\":\"agent\",\"line\":\"<b>\\u202e\"}\nhalf a li";
    fs::write(&path, text).unwrap();
    let report = json!({"scenarios": [{"id": "cancel/twice", "trace": path}]});
    let page = page(&report.to_string(), Front::Overview).unwrap();
    let entry = &recordings(&page)[0];
    assert_eq!(entry["name"], "cancel/twice");
    assert_eq!(entry["about"], "A first turn");
    let held = between(&page, "id=\"trace-0\">", "</script>");
    let packed = BASE64.decode(held).unwrap();
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_string(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, text);
}

#[test]
fn of_a_recording_that_cannot_be_read_the_page_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("odd.jsonl");
    fs::write(&odd, "hello\n").unwrap();
    let gone = folder.path().join("gone.jsonl");
    let report = json!({"recordings": [{"trace": odd}, {"trace": gone}, {"trace": "-"}]});
    let list = recordings(&page(&report.to_string(), Front::Overview).unwrap());
    for (index, part) in [
        "line 1 is no header",
        "gone.jsonl` could not be read",
        "stdin",
    ]
    .into_iter()
    .enumerate()
    {
        let why = list[index]["left_out"].as_str().unwrap();
        assert!(why.contains(part), "{why}");
        assert_eq!(list[index]["element"], Value::Null);
    }
}

#[test]
fn recordings_are_named_by_their_scenario_or_by_as_much_of_their_path_as_tells_them_apart() {
    let report = json!({
        "scenarios": [{"id": "a/x", "trace": "/k/a/x.jsonl"}, {"id": "/t/1/one.jsonl", "trace": "/t/1/one.jsonl"}],
        "recordings": [{"trace": "/t/1/one.jsonl"}, {"trace": "/t/2/one.jsonl"}],
        "replays": [{"recording": "two.jsonl", "traces": ["/k/two.replay.jsonl"]}],
    });
    let list = recordings(&page(&report.to_string(), Front::Overview).unwrap());
    let names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a/x", "one", "2/one", "two", "two.replay"]);
}
