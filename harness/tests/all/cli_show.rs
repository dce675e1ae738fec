//! `harness show`: a recording as two lanes, filtered, paged, followed; one event whole.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use crate::command_line::{Harness, Ran};
use crate::pseudo_terminal::{On, on_a_terminal};

fn golden(name: &str) -> String {
    format!("../traces/{name}.jsonl")
}

fn show(words: &[&str]) -> Ran {
    Harness::new().call(&[&["show"], words].concat())
}

/// A golden trace in which one answer is wrong.
fn wrong_stop_reason(harness: &Harness) -> PathBuf {
    let text = std::fs::read_to_string(golden("tool-failed")).unwrap();
    let path = harness.state.path().join("bug.jsonl");
    let text = text.replace(r#""stopReason":"end_turn""#, r#""stopReason":"done""#);
    std::fs::write(&path, text).unwrap();
    path
}

/// The numbers of the events that are shown.
fn numbers(text: &str) -> Vec<u64> {
    text.lines()
        .filter_map(|line| {
            let number: String = line.chars().take(6).collect();
            number.trim_start_matches([' ', '▸', '>']).parse().ok()
        })
        .collect()
}

#[test]
fn a_whole_trace_is_two_lanes() {
    let ran = show(&[&golden("everything-files-and-terminals")]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn filters_leave_what_belongs_to_a_session_a_turn_and_a_method() {
    let trace = golden("two-sessions");
    let all = numbers(&show(&[&trace, "-v"]).stdout);
    assert_eq!(all, (0..all.len() as u64).collect::<Vec<_>>());
    let ran = show(&[&trace, "--session", "2", "--turn", "1"]);
    let of_turn = numbers(&ran.stdout);
    assert!(
        of_turn.len() > 3 && of_turn.len() < all.len() / 2,
        "{}",
        ran.stdout
    );
    let by_id = show(&[&trace, "--session", "bob-17625-2", "--turn", "1"]);
    assert_eq!(numbers(&by_id.stdout), of_turn);
    let ran = show(&[&trace, "--method", "session/request_*,tool_call"]);
    let lines = ran.stdout.lines();
    for line in lines.skip_while(|line| !line.contains(" seconds ")).skip(1) {
        let expected = ["tool_call call", "session/request_permission", "left out"];
        assert!(expected.iter().any(|it| line.contains(it)), "{line}");
    }
}

#[test]
fn what_matches_nothing_is_an_error_that_says_what_there_is() {
    let trace = golden("prompt");
    for (words, part) in [
        (
            &["--method", "fs/*"][..],
            "nothing in it matches `--method fs/*`",
        ),
        (&["--method", "fs/*"], "there are initialize, session/new"),
        (&["--session", "7"], "of 1 session"),
        (&["--around", "99"], "there is no event 99"),
        (&["--event", "99"], "there is no event 99"),
        (&["--findings"], "find nothing wrong"),
    ] {
        let ran = show(&[&[trace.as_str()], words].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{words:?}");
        assert!(ran.stderr.contains(part), "{words:?}: {}", ran.stderr);
    }
    let ran = show(&["Cargo.toml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("is no recording"), "{}", ran.stderr);
}

#[test]
fn findings_stand_beneath_their_event_with_its_neighbours_and_its_request() {
    let harness = Harness::new();
    let trace = wrong_stop_reason(&harness);
    let ran = harness.call(&["show", trace.to_str().unwrap(), "--findings"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(numbers(&ran.stdout), [18, 19, 7, 20, 21, 22]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let at = |part: &str| {
        let found = lines.iter().position(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("{part} in\n{}", ran.stdout))
    };
    assert_eq!(
        at("↑ JSONRPC-12 must, at /result/stopReason"),
        at("#2 session/prompt done") + 1
    );
    assert!(at("found the string \"done\"") < at("closes the agent's stdin"));
}

#[test]
fn an_event_is_shown_whole_with_its_neighbours_or_alone() {
    let ran = show(&[&golden("prompt"), "--around", "6:2"]);
    assert_eq!(numbers(&ran.stdout), [4, 5, 6, 7, 8]);
    let ran = show(&[&golden("prompt"), "--event", "0"]);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn what_an_agent_says_is_never_a_control_sequence_and_ascii_is_ascii() {
    let harness = Harness::new();
    let path = harness.state.path().join("hostile.jsonl");
    let nasty = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}ü\r\n";
    let mut text =
        "{\"acptrace\":1,\"about\":\"x\\u001b[2J\",\"command\":[\"\\u001b[1m\"]}\n".to_owned();
    let message = serde_json::json!({"jsonrpc":"2.0","id":nasty,"method":nasty,"params":{nasty:nasty,"sessionId":nasty}});
    let update = serde_json::json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":nasty,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":nasty}}}});
    let answer = serde_json::json!({"jsonrpc":"2.0","id":nasty,"error":{"code":1,"message":nasty}});
    for (from, member) in [
        ("agent", serde_json::json!({"message":message})),
        ("agent", serde_json::json!({"message":update})),
        ("client", serde_json::json!({"message":answer})),
        ("agent", serde_json::json!({"line":nasty})),
        ("agent", serde_json::json!({"stderr":nasty})),
        ("harness", serde_json::json!({"left":[nasty]})),
        ("harness", serde_json::json!({nasty:nasty})),
        (
            "client",
            serde_json::json!({"message":{"jsonrpc":"2.0","method":"x"},"probe":nasty}),
        ),
        (
            "model",
            serde_json::json!({"exchange":1,"path":nasty,"request":{nasty:nasty},"side":nasty}),
        ),
        ("model", serde_json::json!({"exchange":1,"chunk":nasty})),
    ] {
        let mut line = serde_json::json!({"at":0.0,"from":from});
        line.as_object_mut()
            .unwrap()
            .extend(member.as_object().unwrap().clone());
        text.push_str(&format!("{line}\n"));
    }
    text.push_str("\u{1b}[2J damaged\n");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let hidden = |text: &str| {
        text.chars()
            .any(|it| (it.is_control() && it != '\n') || it == '\u{202e}')
    };
    let mut all = vec![
        harness.call(&["show", path]),
        harness.call(&["show", path, "-v", "--findings"]),
    ];
    let ascii = harness.call(&["show", path, "--ascii"]);
    assert!(ascii.stdout.is_ascii(), "{}", ascii.stdout);
    all.push(ascii);
    for event in 0..10 {
        all.push(harness.call(&["show", path, "--event", &event.to_string()]));
    }
    for ran in all {
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!hidden(&ran.stdout), "{:?}", ran.stdout);
    }
}

#[test]
fn a_page_of_one_recording_begins_with_it() {
    let harness = Harness::new();
    let trace = wrong_stop_reason(&harness);
    let file = harness.state.path().join("bug.html");
    let words = [trace.to_str().unwrap(), "--html", file.to_str().unwrap()];
    let ran = harness.call(&[&["show"], &words[..]].concat());
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", "")
    );
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains(r#"data-front="recording""#));
    assert!(page.contains("JSONRPC-12") && page.contains("bug.jsonl"));
    for (words, part) in [
        (&["-", "--html", "x.html"][..], "give it a file"),
        (
            &[&golden("prompt"), "--html", "no/such/folder/x.html"],
            "no/such/folder",
        ),
        (
            &[&golden("prompt"), "--html", "x.html", "--findings"],
            "cannot be used with",
        ),
    ] {
        let ran = show(words);
        assert_eq!(ran.code, 2, "{words:?}");
        assert!(ran.stderr.contains(part), "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn a_report_fits_sixty_columns_and_can_be_ascii() {
    let harness = Harness::new();
    let trace = wrong_stop_reason(&harness);
    let mut command = harness.command(&["check", trace.to_str().unwrap(), "--ascii"]);
    let output = command.env("COLUMNS", "60").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.is_ascii(), "{text}");
    // Addresses, commands and paths are not broken: they are to be copied. The verdict is one line, to be found by programs.
    let copied = [
        "text ",
        "look ",
        "repeat ",
        "in /",
        "/",
        "bob 0.11.0: not-conformant",
    ];
    for line in text.lines() {
        let is_copied = copied
            .iter()
            .any(|start| line.trim_start().starts_with(start));
        assert!(
            line.len() <= 60 || is_copied,
            "{} columns: {line}",
            line.len()
        );
    }
    assert!(text.contains("> 20"), "{text}");
}

#[test]
fn a_file_that_grows_is_followed() {
    let harness = Harness::new();
    let text = std::fs::read_to_string(golden("prompt")).unwrap();
    let mut lines = text.lines();
    let path = harness.state.path().join("live.jsonl");
    let mut file = File::create(&path).unwrap();
    let mut put = |count: usize| {
        for line in lines.by_ref().take(count) {
            writeln!(file, "{line}").unwrap();
        }
        file.flush().unwrap();
    };
    put(2);
    let mut command = harness.command(&["show", "-f", path.to_str().unwrap()]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Ended(command.spawn().unwrap());
    let mut shown = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut until = |number: u64| {
        shown
            .by_ref()
            .map(Result::unwrap)
            .find(|line| numbers(line) == [number])
            .unwrap()
    };
    until(0);
    put(4);
    until(4);
    // Half a line is no event yet.
    let rest: Vec<&str> = text.lines().skip(6).collect();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    let (start, end) = rest[0].split_at(20);
    file.write_all(start.as_bytes()).unwrap();
    file.write_all(format!("{end}\n").as_bytes()).unwrap();
    until(5);
}

/// A process that is ended with the test, whichever way that ends.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn on_a_terminal_a_pager_shows_it_as_wide_as_the_terminal_is() {
    let harness = Harness::new();
    let pager = harness.state.path().join("pager");
    std::fs::write(&pager, "echo '<paged>'\ncat\n").unwrap();
    let paged = |words: &[&str]| {
        let trace = golden("prompt");
        let mut command = harness.command(&[&["show", &trace], words].concat());
        command.env("PAGER", format!("sh '{}'", pager.display()));
        on_a_terminal(command, On::Stdout, 72)
    };
    let (sent, errors, code) = paged(&[]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(sent.starts_with("<paged>"), "{sent}");
    assert!(sent.contains("\u{1b}["), "there is colour: {sent}");
    let (sent, _, _) = paged(&["--color", "never"]);
    let widest = sent
        .lines()
        .map(|line| line.trim_end().chars().count())
        .max();
    assert_eq!(
        widest,
        Some(71),
        "a column is free for arrows to the model: {sent}"
    );
    // What is not to be shown starts no pager.
    let (sent, errors, code) = paged(&["--around", "99"]);
    assert_eq!((code, sent.as_str()), (2, ""), "{errors}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let harness = Harness::new();
    let mut command = harness.command(&["show", &golden("prompt")]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}
