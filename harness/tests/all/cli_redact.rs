//! What is secret is in no byte of a recording, whether it was redacted while it was recorded or later.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use acp_harness::trace::{Body, Event, Recording};
use serde_json::{Value, json};

use crate::recorder::Recorder;

const IN_PROMPT: &str = "sk-ant-api03-Pr0mptPr0mptPr0mpt";
const IN_CHUNKS: &str = "ghp_Chunk1Chunk2Chunk3Chunk4Chunk5Chunk6";
const IN_ENV: &str = "env value, not of any form";
const IN_HEADER: &str = "headervalue0123456789";
const ON_STDERR: &str = "glpat-Stderr1Stderr2Stderr3";

/// What a client sends, with a secret in each place.
fn sent(home: &str) -> String {
    let new = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": format!("{home}/project"), "mcpServers": [
        {"name": "a", "command": "x", "args": [], "env": [{"name": "ANY", "value": IN_ENV}]},
        {"type": "http", "name": "b", "url": "https://b", "headers": [{"name": "Authorization", "value": format!("Bearer {IN_HEADER}")}]}]}});
    let prompt = json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [
        {"type": "text", "text": format!("my key is {IN_PROMPT}, keep it")}]}});
    format!("{new}\n{prompt}\n")
}

/// An agent that repeats what it was told, splits a secret over chunks, and writes one to stderr. It is a file, as the command
/// of the agent is in the header of the recording.
fn agent(recorder: &Recorder) -> String {
    let chunk = |text: &str| {
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})
        .to_string()
    };
    let mut script = format!("echo 'with {ON_STDERR} as key' >&2; cat;");
    for part in IN_CHUNKS.as_bytes().chunks(7) {
        let part = std::str::from_utf8(part).unwrap();
        script.push_str(&format!(" echo '{}';", chunk(part)));
    }
    for text in [
        " and ",
        IN_ENV,
        " and ",
        IN_HEADER,
        " and from-the-environment-1",
    ] {
        script.push_str(&format!(" echo '{}';", chunk(text)));
    }
    script.push_str(
        " echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"stopReason\":\"end_turn\"}}'",
    );
    let file = recorder.folder.path().join("agent.sh");
    fs::write(&file, script).unwrap();
    file.into_os_string().into_string().unwrap()
}

fn home() -> String {
    std::env::var("HOME").unwrap_or_else(|_| "/root".into())
}

fn assert_clean(text: &str) {
    for secret in [
        IN_PROMPT,
        IN_CHUNKS,
        IN_ENV,
        IN_HEADER,
        ON_STDERR,
        "from-the-environment-1",
    ] {
        for part in secret.as_bytes().chunks(8).filter(|part| part.len() == 8) {
            let part = std::str::from_utf8(part).unwrap();
            assert!(!text.contains(part), "{part} in {text}");
        }
    }
}

#[test]
fn no_secret_is_in_a_byte_of_the_file_and_the_client_sees_them_all() {
    let recorder = Recorder::new();
    let sent = sent(&home());
    let (status, output) = recorder.talk(&[], &["sh", &agent(&recorder)], sent.as_bytes());
    assert!(status.success());
    let passed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    for secret in [IN_PROMPT, "ghp_Chu", IN_ENV, IN_HEADER, ON_STDERR] {
        assert!(passed.contains(secret), "{secret}");
    }
    let text = fs::read_to_string(recorder.file()).unwrap();
    assert_clean(&text);
    assert!(!text.contains(&format!("{}/", home())), "{text}");
    // Equal secrets are equal placeholders.
    let said: String = recorder
        .events()
        .iter()
        .filter_map(|event| serde_json::from_slice::<Value>(event.body.wire_bytes()?).ok())
        .filter_map(|message| {
            Some(
                message
                    .pointer("/params/update/content/text")?
                    .as_str()?
                    .to_owned(),
            )
        })
        .collect();
    let words: Vec<&str> = said.split(" and ").collect();
    assert_eq!(words.len(), 4, "{said}");
    assert!(
        words.iter().all(|word| word.starts_with("{secret-")),
        "{said}"
    );
    let env = format!(r#""name":"ANY","value":"{}""#, words[1]);
    assert!(text.contains(&env), "{text}");
}

#[test]
fn redacting_later_gives_the_same_as_redacting_while_recording() {
    let recorder = Recorder::new();
    let script = agent(&recorder);
    recorder.talk(&["--no-redact"], &["sh", &script], sent(&home()).as_bytes());
    let raw = recorder.recording();
    assert!(!raw.header.redacted);
    let clean = recorder.folder.path().join("clean.jsonl");
    let output = recorder
        .plain(&[
            "redact",
            recorder.file().to_str().unwrap(),
            "-o",
            clean.to_str().unwrap(),
        ])
        .env("AGENT_API_KEY", "from-the-environment-1")
        .output()
        .unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    assert_clean(&fs::read_to_string(&clean).unwrap());
    let clean = Recording::read(&clean).unwrap();
    assert!(clean.header.redacted);

    // The same conversation once more, redacted at once: the same lines, whatever came first of the two sides.
    let live = Recorder::new();
    live.talk(&[], &["sh", &script], sent(&home()).as_bytes());
    let agent = |events: &[Event]| -> Vec<String> {
        events
            .iter()
            .filter(|event| matches!(event.body, Body::Message { .. } | Body::Line { .. }))
            .map(|event| String::from_utf8_lossy(event.body.wire_bytes().unwrap()).into_owned())
            .map(|line| without_numbers(&line))
            .collect()
    };
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(sorted(agent(&clean.events)), sorted(agent(&live.events())));
}

/// Placeholders without their numbers, which depend on what came first.
fn without_numbers(line: &str) -> String {
    let mut parts = line.split("{secret-");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("{secret");
        out.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    }
    out
}

#[test]
fn a_redacted_recording_is_not_changed_once_more_and_damage_is_left_out() {
    let recorder = Recorder::new();
    let input = recorder.folder.path().join("in.jsonl");
    let lines = [
        r#"{"acptrace":1,"command":["a","--token","abcdef"]}"#,
        r#"{"at":0.5,"from":"client","message":{"token":"abcdefgh1","x":"{secret-7}"}}"#,
        r#"{"at":0.6,"from":"agent","message":{"broken":"sk-ant-api03-AAAABBBBCCCC"}"#,
        r#"{"at":0.7,"from":"agent","base64":"/yBzay1hbnQtYXBpMDMtQUFBQUJCQkJDQ0ND"}"#,
        "",
    ];
    fs::write(&input, lines.join("\n")).unwrap();
    let run = |input: &str, stdin: Stdio| {
        recorder
            .plain(&["redact", input, "-o", "-"])
            .stdin(stdin)
            .output()
            .unwrap()
    };
    let output = run(input.to_str().unwrap(), Stdio::null());
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr.starts_with("line 3 is left out: "), "{stderr}");
    assert!(!stderr.contains("AAAABBBB"), "{stderr}");
    assert_eq!(
        stdout.lines().skip(1).collect::<Vec<_>>(),
        [
            r#"{"at":0.500000,"from":"client","message":{"token":"{secret-9}","x":"{secret-7}"},"redacted":true}"#,
            r#"{"at":0.700000,"from":"agent","base64":"/yB7c2VjcmV0LTEwfQ==","redacted":true}"#,
        ]
    );
    assert!(
        stdout.contains(r#""command":["a","--token","{secret-8}"]"#),
        "{stdout}"
    );
    let mut again = recorder
        .plain(&["redact", "-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    again
        .stdin
        .take()
        .unwrap()
        .write_all(stdout.as_bytes())
        .unwrap();
    let output = again.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), stdout);
}

#[test]
fn a_recording_is_not_overwritten_by_itself_and_faults_are_told_without_what_is_secret() {
    let recorder = Recorder::new();
    let input = recorder.folder.path().join("in.jsonl");
    fs::write(&input, "token sk-ant-api03-AAAABBBBCCCC\n").unwrap();
    let path = input.to_str().unwrap();
    for (words, part) in [
        (vec!["redact", path, "-o", path], "its own place"),
        (vec!["redact", path, "-o", "-"], "no header of a trace"),
        (vec!["redact", "nowhere", "-o", "-"], "`nowhere`"),
        (
            vec!["redact", path, "-o", "-", "--redact-also", "("],
            "--redact-also",
        ),
    ] {
        let output = recorder.plain(&words).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(part) && !stderr.contains("AAAABBBB"),
            "{stderr}"
        );
    }
    assert!(fs::read_to_string(&input).unwrap().starts_with("token"));
}

#[test]
fn patterns_of_the_user_are_replaced_too() {
    let recorder = Recorder::new();
    let sent = b"{\"text\":\"ACME-12345 and more\"}\n";
    let (_, output) = recorder.talk(&["--redact-also", "ACME-[0-9]+"], &["cat"], sent);
    assert_eq!(output.stdout, sent);
    let text = fs::read_to_string(recorder.file()).unwrap();
    assert!(
        text.contains("{secret-1} and more") && !text.contains("ACME-1"),
        "{text}"
    );
}

/// What one file holds of two processes is redacted and kept, both headers too.
#[test]
fn a_recording_of_two_processes_keeps_both() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (
        folder.path().join("in.jsonl"),
        folder.path().join("out.jsonl"),
    );
    let of = |command: &str| {
        let event = json!({"at": 0.1, "from": "agent", "message": {"jsonrpc": "2.0", "method": "_say", "params": {"text": IN_PROMPT}}});
        format!(
            "{}\n{event}\n",
            json!({"acptrace": 1, "command": [command, IN_CHUNKS]})
        )
    };
    fs::write(&input, of("first") + &of("second")).unwrap();
    let output_text = |arguments: &[&std::ffi::OsStr]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_harness"))
            .arg("redact")
            .args(arguments)
            .output()
            .unwrap()
    };
    let done = output_text(&[input.as_os_str(), "-o".as_ref(), output.as_os_str()]);
    assert!(done.status.success(), "{done:?}");
    let text = fs::read_to_string(&output).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(
        lines[0].contains("first") && lines[2].contains("second"),
        "{text}"
    );
    assert!(lines[2].starts_with("{\"acptrace\":1"), "{text}");
    assert!(
        !text.contains(IN_PROMPT) && !text.contains(IN_CHUNKS),
        "{text}"
    );
}
