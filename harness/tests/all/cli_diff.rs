//! `harness diff` on recordings that differ in one way each: what it says, and its exit code.

use std::fs;
use std::path::PathBuf;

use crate::command_line::{Harness, Ran};
use serde_json::json;
use tempfile::TempDir;

/// A conversation of one turn with a call: a line each, `>` from the client and `<` from the agent.
const TALK: [&str; 13] = [
    r#">{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
    r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"sample","version":"2.1"},"authMethods":[]}}"#,
    r#">{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}"#,
    r#"<{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}"#,
    r#">{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}"#,
    r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}"#,
    r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Look","kind":"read","status":"in_progress","rawInput":{"path":"/project/a"}}}}"#,
    r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}}"#,
    r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"It took 3.5 s in all, and there was nothing in it that one could have found elsewhere."}}}}"#,
    r#"<{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
    r#">{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"bye"}]}}"#,
    r#"<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Bye."}}}}"#,
    r#"<{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#,
];

struct Pair {
    folder: TempDir,
}

impl Pair {
    /// The talk on the left, and another form of it on the right.
    fn new(change: impl Fn(&mut Vec<String>)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut lines: Vec<String> = TALK.iter().map(|line| (*line).to_owned()).collect();
        write(&folder.path().join("left.jsonl"), &lines);
        change(&mut lines);
        write(&folder.path().join("right.jsonl"), &lines);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn diff(&self, words: &[&str]) -> Ran {
        let (left, right) = (self.path("left.jsonl"), self.path("right.jsonl"));
        let files = [left.to_str().unwrap(), right.to_str().unwrap()];
        Harness::new().call(&[&["diff"], &files[..], words].concat())
    }
}

fn write(path: &PathBuf, lines: &[String]) {
    let mut text = "{\"acptrace\":1,\"by\":\"test\"}\n".to_owned();
    for (number, line) in lines.iter().enumerate() {
        let (from, message) = line.split_at(1);
        let from = if from == ">" { "client" } else { "agent" };
        text.push_str(&format!(
            "{{\"at\":{number}.5,\"from\":\"{from}\",\"message\":{message}}}\n"
        ));
    }
    fs::write(path, text).unwrap();
}

fn replaced(number: usize, from: &'static str, to: &'static str) -> impl Fn(&mut Vec<String>) {
    move |lines| {
        assert!(lines[number].contains(from));
        lines[number] = lines[number].replace(from, to);
    }
}

#[test]
fn a_state_that_changed_is_shown_with_its_place_and_neighbours() {
    let ran = Pair::new(replaced(7, "completed", "failed")).diff(&[]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    insta::assert_snapshot!(ran.stdout, @r"
    behaviour · changed · session-1 · turn 1 · tool-1 · status
      `status` has another value
          client: session/prompt `hello`
          agent: agent message `hi`
        - completed  (event 7)
        + failed  (event 7)
          agent: agent message `It took {duration} in all, and there was nothing in it that …`
          agent: session/prompt response `end_turn`

    1 difference: 1 behaviour
    ");
}

#[test]
fn text_counts_at_its_own_level_and_is_shown_by_word() {
    let pair = Pair::new(replaced(8, "nothing in it", "something in it"));
    let ran = pair.diff(&[]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(
        ran.stdout,
        "no difference of class behaviour or higher; not shown: 1 text (--level text)\n"
    );
    let ran = pair.diff(&["--level", "text"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout
            .contains("there was [-nothing-]{+something+} in it"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_requirement_that_is_newly_violated_is_breaking() {
    let pair = Pair::new(replaced(9, "end_turn", "done"));
    let ran = pair.diff(&["--level", "breaking"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.starts_with(
            "breaking · changed · session-1 · turn 1 · session/prompt response · stopReason"
        ),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("is newly violated"), "{}", ran.stdout);
    // The other way round nothing is newly violated, but it is another behaviour.
    let (left, right) = (pair.path("left.jsonl"), pair.path("right.jsonl"));
    let files = [right.to_str().unwrap(), left.to_str().unwrap()];
    assert_eq!(
        Harness::new()
            .call(&["diff", files[0], files[1], "--level", "breaking"])
            .code,
        0
    );
    assert_eq!(Harness::new().call(&["diff", files[0], files[1]]).code, 1);
}

#[test]
fn a_trace_that_ends_early_is_one_difference() {
    let ran = Pair::new(|lines| lines.truncate(9)).diff(&["--report", "json=-"]);
    assert_eq!(ran.code, 1);
    let differences = ran.json()["differences"].clone();
    assert_eq!(differences.as_array().unwrap().len(), 1, "{differences:#}");
    assert_eq!(differences[0]["change"], "vanished");
    assert_eq!(
        differences[0]["message"],
        "the right ends here: 4 more follow on the left"
    );
    assert_eq!(differences[0]["left_event"], 9);
}

#[test]
fn the_report_is_that_of_a_check_with_the_differences() {
    let ran = Pair::new(replaced(7, "completed", "failed")).diff(&["--report", "json=-"]);
    let report = ran.json();
    assert_eq!(report["format"], 1);
    assert_eq!(report["agent"]["name"], "sample");
    assert_eq!(report["differences"].as_array().unwrap().len(), 1);
    let difference = &report["differences"][0];
    assert_eq!(difference["class"], "behaviour");
    assert_eq!(difference["change"], "changed");
    assert_eq!(difference["place"], "session-1 · turn 1 · tool-1 · status");
    assert_eq!(
        (&difference["left"], &difference["right"]),
        (&json!("completed"), &json!("failed"))
    );
    assert_eq!(
        (&difference["left_event"], &difference["right_event"]),
        (&json!(7), &json!(7))
    );
    assert_eq!(difference["requirements"], json!([]));
    // The text goes where it does not disturb.
    assert!(
        ran.stderr.contains("1 difference: 1 behaviour"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_sidecar_says_what_may_differ_and_what_may_not() {
    let pair = Pair::new(|lines| {
        lines[6] = lines[6].replace("Look", "Look 17");
        lines[8] = lines[8].replace("3.5 s", "4.25 s");
    });
    let ran = pair.diff(&["--level", "text"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("1 difference: 1 text"),
        "{}",
        ran.stdout
    );
    fs::write(
        pair.path("left.volatile.toml"),
        "off = [\"duration\"]\n[[volatile]]\nmessage = \"session/update tool_call\"\nat = \"/params/update/title\"\npattern = '^Look.*'\nreason = \"a counter\"\n",
    )
    .unwrap();
    let ran = pair.diff(&["--level", "text"]);
    assert!(ran.stdout.contains("agent message"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("title"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn what_a_sidecar_names_in_vain_is_warned_about() {
    let pair = Pair::new(|_| {});
    fs::write(
        pair.path("right.volatile.toml"),
        "[[volatile]]\nmessage = \"session/update plan\"\nat = \"/params/update/entries\"\nreason = \"?\"\n",
    )
    .unwrap();
    let ran = pair.diff(&[]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stderr.contains(
            "right.volatile.toml:1:1: nothing matches `session/update plan /params/update/entries`"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_wrong_sidecar_is_shown_with_its_place() {
    for (text, parts) in [
        (
            "[[volatile]]\nmesage = \"x\"\n",
            [":2:1: unknown key `mesage`", "did you mean `message`?"],
        ),
        (
            "off = [\"durations\"]\n",
            [
                ":1:8: `durations` is no entry that is built in",
                "did you mean `duration`?",
            ],
        ),
        (
            "[[volatile]]\nmessage = \"*\"\nat = \"/a\"\npattern = \"(\"\nreason = \"r\"\n",
            [":4:11: not a regular expression", "unclosed group"],
        ),
    ] {
        let pair = Pair::new(|_| {});
        fs::write(pair.path("left.volatile.toml"), text).unwrap();
        let ran = pair.diff(&[]);
        assert_eq!(ran.code, 2, "{text}");
        for part in parts {
            assert!(ran.stderr.contains(part), "{part} in\n{}", ran.stderr);
        }
    }
}

#[test]
fn what_is_no_recording_is_a_matter_of_usage() {
    let pair = Pair::new(|_| {});
    fs::write(pair.path("right.jsonl"), "hello\n").unwrap();
    let ran = pair.diff(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("line 1 is no header of a trace"),
        "{}",
        ran.stderr
    );
    fs::remove_file(pair.path("right.jsonl")).unwrap();
    assert_eq!(pair.diff(&[]).code, 2);
    assert_eq!(Harness::new().call(&["diff", "one"]).code, 2);
}

#[test]
fn an_empty_file_is_called_so_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.jsonl");
    fs::write(&path, "").unwrap();
    let file = path.to_str().unwrap();
    let golden = "../traces/initialize.jsonl";
    let out = folder.path().join("out.jsonl");
    for words in [
        &["check", file][..],
        &["diff", golden, file],
        &["replay", "--agent", "bob", file],
        &["play", file],
        &["redact", file, "-o", out.to_str().unwrap()],
    ] {
        let ran = Harness::new().call(words);
        assert_eq!(ran.code, 2, "{words:?}\n{}", ran.stderr);
        assert!(
            ran.stderr.contains("empty.jsonl")
                && ran.stderr.contains("it is empty: expected a trace"),
            "{words:?}\n{}",
            ran.stderr
        );
    }
}

#[test]
fn one_side_may_come_from_stdin() {
    let golden = "../traces/initialize.jsonl";
    let harness = Harness::new();
    let output = harness
        .command(&["diff", golden, "-"])
        .stdin(
            fs::File::open(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../traces/initialize.jsonl"
            ))
            .unwrap(),
        )
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// The events of a call of a tool, from its start to its end.
fn call(id: &str, title: &str, path: &str) -> [String; 2] {
    [
        format!(
            r#"<{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"tool_call","toolCallId":"{id}","title":"{title}","kind":"edit","status":"in_progress","rawInput":{{"path":"{path}","text":"{title}"}},"locations":[{{"path":"{path}"}}]}}}}}}"#
        ),
        format!(
            r#"<{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"tool_call_update","toolCallId":"{id}","status":"completed"}}}}}}"#
        ),
    ]
}

#[test]
fn calls_that_share_a_common_word_alone_are_two_calls() {
    let pair = Pair::new(|lines| {
        lines.splice(6..8, call("t1", "edit_file: /project/b", "/project/b"));
    });
    let mut left: Vec<String> = TALK.iter().map(|line| (*line).to_owned()).collect();
    left.splice(
        6..8,
        call("t1", "Change the configuration file", "/project/a"),
    );
    write(&pair.path("left.jsonl"), &left);
    let ran = pair.diff(&["--quiet"]);
    assert_eq!(ran.stdout, "2 differences: 2 behaviour\n");
}

#[test]
fn neighbours_that_differences_share_are_shown_once() {
    let pair = Pair::new(|lines| {
        lines[6] = lines[6]
            .replace("\"read\"", "\"search\"")
            .replace("/project/a", "/project/b");
    });
    let ran = pair.diff(&[]);
    assert!(ran.stdout.contains("2 differences"), "{}", ran.stdout);
    assert_eq!(
        ran.stdout.matches("session/prompt `hello`").count(),
        1,
        "{}",
        ran.stdout
    );
}

#[test]
fn what_a_permission_request_repeats_of_its_call_is_one_difference() {
    let ask = r#"<{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t1","title":"Look","kind":"read","rawInput":{"path":"/project/a"}},"options":[{"optionId":"y","kind":"allow_once","name":"Yes"}]}}"#;
    let answer =
        r#">{"jsonrpc":"2.0","id":"p","result":{"outcome":{"outcome":"selected","optionId":"y"}}}"#;
    let mut left: Vec<String> = TALK.iter().map(|line| (*line).to_owned()).collect();
    left.splice(7..7, [ask.to_owned(), answer.to_owned()]);
    let pair = Pair::new(|lines| {
        *lines = left
            .iter()
            .map(|line| line.replace("/project/a", "/project/b"))
            .collect();
    });
    write(&pair.path("left.jsonl"), &left);
    let ran = pair.diff(&["--quiet"]);
    assert_eq!(ran.stdout, "1 difference: 1 behaviour\n");
    // What the request alone says otherwise is one of its own.
    let other: Vec<String> = left
        .iter()
        .map(|line| match line.contains("request_permission") {
            true => line.replace("/project/a", "/project/b"),
            false => line.clone(),
        })
        .collect();
    write(&pair.path("right.jsonl"), &other);
    let ran = pair.diff(&["--quiet"]);
    assert_eq!(ran.stdout, "1 difference: 1 behaviour\n");
}

#[test]
fn damage_is_named_and_the_rest_is_compared() {
    let pair = Pair::new(|_| {});
    let path = pair.path("right.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{{\"at\":9,\"fr")).unwrap();
    let ran = pair.diff(&[]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        ran.stderr
            .contains("1 line could not be read and is left out, the first is line 15: cut off"),
        "{}",
        ran.stderr
    );
}

#[test]
fn stderr_is_compared_if_asked() {
    let pair = Pair::new(|_| {});
    let path = pair.path("right.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        format!("{text}{{\"at\":99,\"from\":\"agent\",\"stderr\":\"oh\"}}\n"),
    )
    .unwrap();
    assert_eq!(pair.diff(&[]).code, 0);
    assert_eq!(pair.diff(&["--stderr"]).code, 1);
}

#[test]
fn text_of_an_agent_is_never_a_control_sequence() {
    let ran = Pair::new(replaced(6, "Look", "\\u001b[31mLook"))
        .diff(&["--level", "text", "--color", "never"]);
    assert_eq!(ran.code, 1);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    assert!(ran.stdout.contains("\\u001b[31mLook"), "{}", ran.stdout);
}
