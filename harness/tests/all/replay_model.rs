//! A session recorded with the exchanges of its model is replayed without that model.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};

use crate::command_line::{Harness, Ran};
use crate::recorder::Recorder;

/// A model that calls a tool when the user asks for a file, and else talks. It lives as long as the test.
fn model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}")
}

fn serve(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let request: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let last = &request["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    let tool = &request["tools"][0]["function"]["name"];
    let deltas = match last["role"].as_str().unwrap() {
        "user" if last["content"].to_string().contains("file") => vec![
            json!({"tool_calls": [{"index": 0, "id": "call-9", "type": "function",
            "function": {"name": tool, "arguments": "{\"command\":\"echo hi > out.txt; cat out.txt\"}"}}]}),
        ],
        "user" => vec![json!({"content": "Good "}), json!({"content": "day."})],
        _ => vec![json!({"content": "It is "}), json!({"content": "there."})],
    };
    let mut reply =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
            .to_owned();
    for delta in deltas {
        let chunk = json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        reply.push_str(&format!("data: {chunk}\n\n"));
    }
    let end = json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    reply.push_str(&format!("data: {end}\n\ndata: [DONE]\n\n"));
    stream.write_all(reply.as_bytes()).unwrap();
}

/// Records two turns of the reference agent with that model.
fn recorded() -> (Recorder, PathBuf) {
    let recorder = Recorder::new();
    let file = recorder.file();
    let upstream = model();
    let words = [
        "record",
        "-o",
        file.to_str().unwrap(),
        "--model-upstream",
        &upstream,
        "--",
        "bob",
    ];
    let mut child = recorder
        .plain(&words)
        .env("OPENAI_API_KEY", "no-key-at-all")
        .current_dir(recorder.folder.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |id: u64, method: &str, params: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "the agent ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "session/request_permission" {
                let options = message["params"]["options"].as_array().unwrap();
                let allow = options
                    .iter()
                    .find(|it| it["kind"] == "allow_once")
                    .unwrap();
                let outcome =
                    json!({"outcome": {"outcome": "selected", "optionId": allow["optionId"]}});
                writeln!(
                    input,
                    "{}",
                    json!({"jsonrpc": "2.0", "id": message["id"], "result": outcome})
                )
                .unwrap();
            } else if message["id"] == id && message.get("method").is_none() {
                return message["result"].clone();
            }
        }
    };
    ask(
        0,
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": {}}),
    );
    let folder = recorder.folder.path().to_str().unwrap();
    let session =
        ask(1, "session/new", json!({"cwd": folder, "mcpServers": []}))["sessionId"].clone();
    for (id, text) in [(2, "Say good day."), (3, "Make the file.")] {
        let prompt = json!([{"type": "text", "text": text}]);
        let ended = ask(
            id,
            "session/prompt",
            json!({"sessionId": session, "prompt": prompt}),
        );
        assert_eq!(ended["stopReason"], "end_turn");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    (recorder, file)
}

fn replay(file: &Path, more: &[&str]) -> Ran {
    let words = [
        &[
            "replay",
            file.to_str().unwrap(),
            "--agent",
            "bob",
            "--trust",
            "--level",
            "text",
        ],
        more,
    ]
    .concat();
    Harness::new().call(&words)
}

/// The recording without the lines that `out` names.
fn without(file: &Path, out: impl Fn(&Value) -> bool) -> PathBuf {
    let text = fs::read_to_string(file).unwrap();
    let kept = text
        .lines()
        .filter(|line| !out(&serde_json::from_str(line).unwrap()));
    let other = file.with_file_name("less.jsonl");
    fs::write(
        &other,
        kept.map(|line| format!("{line}\n")).collect::<String>(),
    )
    .unwrap();
    other
}

#[test]
fn a_session_held_with_a_model_runs_again_without_it() {
    let (_recorder, file) = recorded();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.matches("\"request\":").count() >= 3, "{text}");
    let ran = replay(&file, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);

    // A model that is asked for what was not recorded says so: on stderr, in the report, and by an error.
    let less = without(&file, |event| event["exchange"] == 2);
    let ran = replay(&less, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    for told in [&ran.stderr, &ran.stdout] {
        assert!(
            told.contains("the recording has no reply of the model to this request"),
            "{told}"
        );
        assert!(told.contains("comes nearest"), "{told}");
    }
    // What the agent did without the reply is not what it does.
    let before = fs::read(&less).unwrap();
    let ran = replay(&less, &["--accept"]);
    assert!(
        ran.stderr.contains("it has no reply to a request"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read(&less).unwrap(), before);
}

#[test]
fn exchanges_that_cannot_be_read_leave_the_agent_without_another_model() {
    let (_recorder, file) = recorded();
    let less = without(&file, |event| !event["request"].is_null());
    let ran = replay(&less, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains("the recording has no reply of the model to"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_recording_without_the_model_is_replayed_with_one_that_is_derived_from_it() {
    let (_recorder, file) = recorded();
    let less = without(&file, |event| event["from"] == "model");
    let ran = replay(&less, &["--model", "derived"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("approximation"), "{}", ran.stdout);
}

#[test]
fn what_the_recorded_model_calls_for_is_among_the_commands_that_are_listed() {
    let (_recorder, file) = recorded();
    let without_calls = without(&file, |event| {
        event.to_string().contains("tool_call_update")
            || event.to_string().contains("\"tool_call\"")
            || event["message"]["method"] == "session/request_permission"
    });
    let ran = Harness::new().call(&["replay", without_calls.to_str().unwrap(), "--agent", "bob"]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("echo hi > out.txt"), "{}", ran.stderr);
}

#[test]
fn a_run_with_a_real_model_keeps_its_exchanges_in_the_traces() {
    let folder = tempfile::tempdir().unwrap();
    let keep = folder.path().to_str().unwrap();
    let words = [
        "run",
        "--agent",
        "bob",
        "--only",
        "prompt/*",
        "--keep",
        keep,
        "--record-model",
        &model(),
        "--env",
        "OPENAI_API_KEY=no-key-at-all",
    ];
    let ran = Harness::new().call(&words);
    assert!(ran.code < 2, "{}{}", ran.stdout, ran.stderr);
    let traces = fs::read_dir(folder.path().join("prompt")).unwrap();
    let texts = traces.map(|trace| fs::read_to_string(trace.unwrap().path()).unwrap());
    let with_model = texts
        .filter(|text| text.contains("\"from\":\"model\"") && text.contains("day."))
        .count();
    assert!(with_model > 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_run_whose_model_never_answers_is_inconclusive_and_says_why() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let words = [
        "run",
        "--agent",
        "bob",
        "--only",
        "commands/with-a-link",
        "--record-model",
        &format!("http://{nobody}"),
    ];
    let ran = Harness::new().call(&words);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(&format!(
            "No turn could be judged, since the one request to the model was not answered: the model server `http://{nobody}` could not be reached"
        )) || text.contains("requests to the model was answered: the model server"),
        "{text}"
    );
    assert!(text.contains("bob 0.11.0: inconclusive"), "{text}");
}
