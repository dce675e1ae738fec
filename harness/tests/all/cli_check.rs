//! `harness check` on recordings that are whole, late, one-sided, damaged, or none at all.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use crate::command_line::{Harness, Ran};
use serde_json::{Value, json};
use tempfile::TempDir;

const HEADER: &str = r#"{"acptrace":1,"by":"recorder 1","command":["my-agent","--acp"]}"#;

/// A conversation of one turn: a line each, `>` from the client and `<` from the agent.
const WHOLE: [&str; 9] = [
    r#">{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
    r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"sample","version":"2.1"},"authMethods":[]}}"#,
    r#">{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}"#,
    r#"<{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}"#,
    r#">{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}"#,
    r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}"#,
    r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Look","status":"in_progress"}}}"#,
    r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}}"#,
    r#"<{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
];

/// A turn that ends with a stop reason that there is not.
const FAULTY_END: &str = r#"<{"jsonrpc":"2.0","id":2,"result":{"stopReason":"done"}}"#;

fn event(number: usize, line: &str) -> String {
    let (from, message) = line.split_at(1);
    let from = if from == ">" { "client" } else { "agent" };
    format!(r#"{{"at":{number}.5,"from":"{from}","message":{message}}}"#)
}

fn events(lines: &[&str]) -> Vec<String> {
    let lines = lines.iter().enumerate();
    lines.map(|(number, line)| event(number, line)).collect()
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A file with these lines, each with a newline.
    fn file(&self, name: &str, lines: &[String]) -> String {
        self.text(name, &(lines.join("\n") + "\n"))
    }

    fn text(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A trace of these lines of a conversation.
    fn trace(&self, name: &str, lines: &[&str]) -> String {
        let mut all = vec![HEADER.to_owned()];
        all.extend(events(lines));
        self.file(name, &all)
    }
}

fn check(words: &[&str]) -> Ran {
    Harness::new().call(&[&["check"], words].concat())
}

fn report(words: &[&str]) -> Value {
    check(&[words, &["--report", "json=-"]].concat()).json()
}

/// The ids of what failed.
fn failed(report: &Value) -> Vec<String> {
    let requirements = report["requirements"].as_array().unwrap().iter();
    requirements
        .filter(|entry| entry["status"] == "fail")
        .map(|entry| entry["id"].as_str().unwrap().to_owned())
        .collect()
}

fn entry<'a>(report: &'a Value, id: &str) -> &'a Value {
    let mut entries = report["requirements"].as_array().unwrap().iter();
    entries.find(|entry| entry["id"] == id).unwrap()
}

#[test]
fn a_clean_recording_is_conformant_on_what_was_judged() {
    let folder = Folder::new();
    let trace = folder.trace("a.jsonl", &WHOLE);
    let ran = check(&[&trace]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.starts_with("sample 2.1: conformant ("), "{last}");
    assert!(
        ran.stdout.contains("9 events of sample 2.1, pass"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_finding_is_named_by_file_and_line_and_by_event() {
    let folder = Folder::new();
    let mut lines = vec![HEADER.to_owned()];
    lines.extend(events(&WHOLE[..8]));
    // Neither an empty line nor a damaged one is an event, but both are lines.
    lines.insert(7, String::new());
    lines.insert(8, "{\"at\":6.1,\"from\":\"agent\",\"mess".to_owned());
    lines.push(event(8, FAULTY_END));
    let trace = folder.file("a.jsonl", &lines);
    let ran = check(&[&trace, "-q"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(
        ran.stdout.contains(&format!("in {trace}:12, event 8\n")),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("\"stopReason\": \"done\"\n        ^^^^"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains(&format!("harness check -v --only PROMPT-02 {trace}")),
        "{}",
        ran.stdout
    );
    let report = report(&[&trace]);
    assert_eq!(failed(&report), ["JSONRPC-12", "PROMPT-02"]);
    assert_eq!(report["verdict"], "not-conformant");
    let finding = &entry(&report, "PROMPT-02")["findings"][0];
    assert_eq!(
        (&finding["event"], &finding["line"], &finding["trace"]),
        (&json!(8), &json!(12), &json!(trace))
    );
    assert_eq!(finding["path"], "/result/stopReason");
    let recording = &report["recordings"][0];
    assert_eq!(recording["damaged"], 1);
    assert_eq!(recording["damage"][0]["line"], 9);
    assert!(recording["damage"][0]["reason"].is_string());
    assert_eq!(recording["events"], 9);
    assert_eq!(report["scenarios"][0]["id"], json!(trace));
    assert_eq!(report["scenarios"][0]["status"], "fail");
}

#[test]
fn damage_is_told_with_its_line_and_what_may_rest_on_it_is_not_failed() {
    let folder = Folder::new();
    let mut lines = vec![HEADER.to_owned()];
    lines.extend(events(&WHOLE));
    // The announcement of the tool call.
    lines[7] = "\u{1}not json".to_owned();
    let trace = folder.file("a.jsonl", &lines);
    let ran = check(&[&trace]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("1 line of it could not be read"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains(&format!("{trace}:8: ")),
        "{}",
        ran.stdout
    );
    let report = report(&[&trace]);
    assert_eq!(failed(&report), [""; 0]);
    let standing = entry(&report, "TOOLCALL-01");
    assert_eq!(standing["status"], "inconclusive");
    let why = standing["why"][0].as_str().unwrap();
    assert!(why.contains("could not be read"), "{why}");
}

#[test]
fn a_recorder_that_was_killed_in_a_line_is_told() {
    let folder = Folder::new();
    let mut lines = vec![HEADER.to_owned()];
    lines.extend(events(&WHOLE[..6]));
    let whole = lines.join("\n");
    let trace = folder.text("a.jsonl", &whole[..whole.len() - 20]);
    let ran = check(&[&trace]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("it breaks off in line 7"),
        "{}",
        ran.stdout
    );
}

#[test]
fn what_follows_from_a_failure_does_not_fail_as_well() {
    let folder = Folder::new();
    for (name, line, text, expected) in [
        (
            "no-session",
            3,
            r#"<{"jsonrpc":"2.0","id":1,"result":{}}"#,
            &["JSONRPC-12", "SESSION-01"][..],
        ),
        (
            "no-call",
            6,
            r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","title":"Look"}}}"#,
            &["JSONRPC-11", "TOOLCALL-03"],
        ),
        (
            "both",
            8,
            r#"<{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"},"error":{"code":-32603,"message":"no"}}"#,
            &["JSONRPC-02"],
        ),
    ] {
        let mut lines = WHOLE.to_vec();
        lines[line] = text;
        let trace = folder.trace(&format!("{name}.jsonl"), &lines);
        assert_eq!(failed(&report(&[&trace])), expected, "{name}");
    }
}

#[test]
fn an_error_may_be_the_models_where_the_model_is_out_of_sight() {
    let folder = Folder::new();
    let mut lines = WHOLE[..5].to_vec();
    lines.push(r#"<{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"connection lost"}}"#);
    let trace = folder.trace("a.jsonl", &lines);
    let report = report(&[&trace]);
    assert_eq!(failed(&report), [""; 0]);
    assert_eq!(entry(&report, "PROMPT-01")["status"], "inconclusive");
}

#[test]
fn two_recordings_in_one_file_are_two_conversations() {
    let folder = Folder::new();
    let exit = r#"{"at":99,"from":"agent","exit":{"code":0}}"#.to_owned();
    let eof = r#"{"at":98,"from":"client","eof":true}"#.to_owned();
    let mut whole = events(&WHOLE);
    whole.extend([eof, exit]);
    let header = vec![HEADER.to_owned()];
    let behind = [header.clone(), whole.clone(), header.clone(), whole.clone()].concat();
    let without_header = [header, whole.clone(), whole].concat();
    for (name, lines) in [("a.jsonl", behind), ("b.jsonl", without_header)] {
        let trace = folder.file(name, &lines);
        let report = report(&[&trace]);
        assert_eq!(failed(&report), [""; 0], "{name}");
        assert_eq!(report["recordings"][0]["damaged"], 0, "{name}");
    }
}

#[test]
fn a_mark_of_the_byte_order_is_no_damage() {
    let folder = Folder::new();
    let lines = [vec![HEADER.to_owned()], events(&WHOLE)]
        .concat()
        .join("\r\n");
    let trace = folder.text("a.jsonl", &format!("\u{feff}{lines}\r\n"));
    let ran = check(&[&trace]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_recorder_that_could_not_go_on_is_told_in_its_words() {
    let folder = Folder::new();
    let mut lines = vec![HEADER.to_owned()];
    lines.extend(events(&WHOLE[..6]));
    lines.push(r#"{"at":9,"from":"harness","ended":"the disk is full"}"#.to_owned());
    let trace = folder.file("a.jsonl", &lines);
    let ran = check(&[&trace]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("stopped before the agent did: the disk is full"),
        "{}",
        ran.stdout
    );
}

#[test]
fn an_agent_that_dies_when_its_client_is_gone_left_nothing_unanswered() {
    let folder = Folder::new();
    let mut lines = vec![HEADER.to_owned()];
    lines.extend(events(&WHOLE[..6]));
    lines.push(r#"{"at":9,"from":"agent","exit":{"code":101}}"#.to_owned());
    let trace = folder.file("a.jsonl", &lines);
    assert_eq!(failed(&report(&[&trace])), ["JSONRPC-04"]);
    lines.insert(
        7,
        r#"{"at":8,"from":"harness","closed":"client"}"#.to_owned(),
    );
    let trace = folder.file("b.jsonl", &lines);
    assert_eq!(failed(&report(&[&trace])), [""; 0]);
}

#[test]
fn a_recording_of_the_agent_alone_is_judged_for_what_it_holds() {
    let folder = Folder::new();
    let agent: Vec<&str> = WHOLE
        .into_iter()
        .filter(|line| line.starts_with('<'))
        .collect();
    let trace = folder.trace("a.jsonl", &agent);
    let clean = report(&[&trace]);
    assert_eq!(failed(&clean), [""; 0]);
    assert_eq!(clean["verdict"], "conformant");
    let missing = clean["recordings"][0]["missing"][0].as_str().unwrap();
    assert!(missing.contains("no message of the client"), "{missing}");
    let wrong = r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan"}}}"#;
    let mut faulty = agent.clone();
    faulty.push(wrong);
    let trace = folder.trace("b.jsonl", &faulty);
    assert_eq!(failed(&report(&[&trace])), ["JSONRPC-11", "UPDATE-01"]);
}

#[test]
fn a_recording_without_its_start_is_told_and_judged() {
    let folder = Folder::new();
    let trace = folder.trace("a.jsonl", &WHOLE[4..]);
    let ran = check(&[&trace]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("it seems to begin after the start"),
        "{}",
        ran.stdout
    );
    let mut faulty = WHOLE[4..8].to_vec();
    faulty.push(FAULTY_END);
    let trace = folder.trace("b.jsonl", &faulty);
    assert_eq!(failed(&report(&[&trace])), ["JSONRPC-12", "PROMPT-02"]);
}

#[test]
fn another_version_of_the_protocol_is_not_judged_and_that_is_said() {
    let folder = Folder::new();
    let lines = [
        r#">{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2}}"#,
        r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":{}}}"#,
        r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"running"}}}"#,
    ];
    for (name, lines) in [
        ("whole", &lines[..]),
        ("agent", &lines[1..]),
        ("late", &lines[2..]),
    ] {
        let trace = folder.trace(&format!("{name}.jsonl"), lines);
        let report = report(&[&trace]);
        assert_eq!(failed(&report), [""; 0], "{name}");
        assert_eq!(report["verdict"], "inconclusive", "{name}");
        assert!(
            report["blocked"].as_str().unwrap().contains("Version 2"),
            "{name}"
        );
        assert_eq!(check(&[&trace]).code, 1, "{name}");
    }
}

#[test]
fn a_recording_of_nothing_is_inconclusive() {
    let folder = Folder::new();
    let trace = folder.trace("a.jsonl", &[]);
    let ran = check(&[&trace]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("it holds no events"), "{}", ran.stdout);
    assert!(ran.stdout.contains(": inconclusive ("), "{}", ran.stdout);
}

#[test]
fn only_and_skip_choose_requirements_and_areas() {
    let folder = Folder::new();
    let mut lines = WHOLE[..8].to_vec();
    lines.push(FAULTY_END);
    let trace = folder.trace("a.jsonl", &lines);
    assert_eq!(
        failed(&report(&[&trace, "--only", "prompt"])),
        ["PROMPT-02"]
    );
    let ran = check(&[&trace, "--skip", "PROMPT-02,JSONRPC"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let ran = check(&[&trace, "--only", "PROMTP"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("did you mean `PROMPT`?"),
        "{}",
        ran.stderr
    );
}

#[test]
fn advice_counts_only_when_strict() {
    let folder = Folder::new();
    let mut lines = WHOLE.to_vec();
    lines[1] = r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}}"#;
    let trace = folder.trace("a.jsonl", &lines);
    assert_eq!(failed(&report(&[&trace])), ["INIT-06"]);
    assert_eq!(check(&[&trace]).code, 0);
    assert_eq!(check(&[&trace, "--strict"]).code, 1);
}

#[test]
fn a_failure_that_is_known_for_the_agent_is_known_in_its_recording() {
    let folder = Folder::new();
    let mut lines = WHOLE[..8].to_vec();
    lines.push(FAULTY_END);
    let trace = folder.trace("a.jsonl", &lines);
    let profile = folder.text(
        "sample.toml",
        "name = \"sample\"\nabout = \"A sample\"\ncommand = [\"my-agent\", \"--acp\"]\n\
         [[known]]\nid = \"PROMPT-02\"\nversions = [\"2.1\"]\nreason = \"an old word\"\n\
         [[known]]\nid = \"JSONRPC-12\"\nreason = \"an old word\"\n\
         [[known]]\nid = \"INIT-01\"\nreason = \"passes here\"\n",
    );
    let ran = check(&[&trace, "--profile", &profile]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("known: an old word"), "{}", ran.stdout);
    assert!(ran.stdout.contains("known-failures"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("stale"), "{}", ran.stdout);
}

#[test]
fn a_folder_means_the_recordings_in_it_and_several_are_told_apart() {
    let folder = Folder::new();
    let mut faulty = WHOLE[..8].to_vec();
    faulty.push(FAULTY_END);
    let clean = folder.trace("traces/a.jsonl", &WHOLE);
    let wrong = folder.trace("traces/deep/b.jsonl", &faulty);
    folder.text("traces/c.jsonl", "hello\n");
    folder.text("traces/readme.md", "no trace");
    let traces = folder.path("traces");
    let ran = check(&[traces.to_str().unwrap(), &clean]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("note: left out: "), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("recordings: 1 pass, 1 fail"),
        "{}",
        ran.stdout
    );
    let report = report(&[traces.to_str().unwrap()]);
    let statuses = report["recordings"].as_array().unwrap().iter();
    let statuses: Vec<_> = statuses
        .map(|it| {
            (
                it["trace"].as_str().unwrap(),
                it["status"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        statuses,
        [(clean.as_str(), "pass"), (wrong.as_str(), "fail")]
    );
    let empty = folder.path("empty");
    fs::create_dir(&empty).unwrap();
    assert_eq!(check(&[empty.to_str().unwrap()]).code, 2);
}

#[test]
fn what_is_no_recording_is_refused_with_what_was_found_and_what_to_do() {
    let folder = Folder::new();
    let text = folder.text("log.txt", "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n");
    let ran = check(&[&text]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("is no recording"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("harness import --from raw"),
        "{}",
        ran.stderr
    );
    let newer = folder.text("new.jsonl", "{\"acptrace\":2}\n");
    let ran = check(&[&newer]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("use a newer harness"), "{}", ran.stderr);
    let ran = check(&[folder.path("none.jsonl").to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("could not be opened"), "{}", ran.stderr);
    assert_eq!(check(&[]).code, 2);
}

#[test]
fn a_recording_comes_from_stdin_too() {
    let mut text = format!("{HEADER}\n");
    for line in events(&WHOLE) {
        text.push_str(&line);
        text.push('\n');
    }
    let harness = Harness::new();
    let mut child = harness
        .command(&["check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.contains("-: 9 events of sample 2.1, pass"),
        "{stdout}"
    );
}

#[test]
fn text_of_an_agent_is_no_control_sequence_on_the_terminal() {
    let folder = Folder::new();
    let mut lines = WHOLE.to_vec();
    lines[1] = r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a\u001b[2Jb","version":"\u202e1"},"authMethods":[]}}"#;
    lines[8] = r#"<{"jsonrpc":"2.0","id":2,"result":{"stopReason":"x\u001b]0;y\u0007"}}"#;
    let trace = folder.trace("a.jsonl", &lines);
    for words in [&[trace.as_str()][..], &[&trace, "-v"], &[&trace, "-q"]] {
        let ran = check(words);
        assert!(
            !ran.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn what_was_redacted_is_not_held_against_the_agent() {
    let folder = Folder::new();
    let mut lines = vec![r#"{"acptrace":1,"redacted":true}"#.to_owned()];
    let mut whole = WHOLE.to_vec();
    whole[2] = r#">{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"{home}/project","mcpServers":[]}}"#;
    whole[7] = r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","locations":[{"path":"{home}/project/a"}],"content":[{"type":"content","content":{"type":"image","mimeType":"image/png","data":"{secret-1}"}}]}}}"#;
    let events = events(&whole);
    lines.extend(
        events
            .into_iter()
            .map(|line| line.replace(r#","message":"#, r#","redacted":true,"message":"#)),
    );
    let trace = folder.file("a.jsonl", &lines);
    assert_eq!(failed(&report(&[&trace])), [""; 0]);
}
