//! `harness import` on what other tools write.

use std::fs;
use std::path::Path;

use crate::command_line::{Harness, Ran};
use acp_harness::trace::{Body, Party, Recording};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A conversation: `>` from the client, `<` from the agent. Spaces and spellings must survive.
const LINES: [&str; 8] = [
    r#">{"jsonrpc":"2.0", "id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}"#,
    r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"sample","version":"1"},"authMethods":[]}}"#,
    r#">{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}"#,
    r#"<{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}"#,
    r#">{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"say \"{\""}]}}"#,
    r#"<{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/project/a","_meta":{"x":1.0e2}}}"#,
    r#">{"jsonrpc":"2.0","id":2,"result":{"content":"é\u00e9"}}"#,
    r#"<{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
];

/// Each line with what a tool writes around it.
fn lines(write: impl Fn(usize, bool, &str) -> String) -> String {
    let lines = LINES.iter().enumerate().map(|(number, line)| {
        let (side, text) = line.split_at(1);
        write(number, side == ">", text) + "\n"
    });
    lines.collect()
}

fn imported(from: &str, text: &str) -> (Ran, Option<Recording>) {
    let folder = TempDir::new().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out.jsonl"));
    fs::write(&input, text).unwrap();
    let words = [
        "import",
        "--from",
        from,
        input.to_str().unwrap(),
        "-o",
        output.to_str().unwrap(),
    ];
    let ran = Harness::new().call(&words);
    let recording = output.exists().then(|| Recording::read(&output).unwrap());
    (ran, recording)
}

/// The messages of a trace, as [`LINES`] has them.
fn messages(recording: &Recording) -> Vec<String> {
    let messages = recording
        .events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Message { text, .. } => Some((event.from, text)),
            _ => None,
        });
    messages
        .map(|(from, text)| match from {
            Party::Client => format!(">{text}"),
            _ => format!("<{text}"),
        })
        .collect()
}

#[test]
fn every_way_of_writing_lines_gives_the_same_messages() {
    let quoted = |text: &str| Value::from(text).to_string();
    let ways: [(&str, String); 20] = [
        ("bare", lines(|_, _, text| text.to_owned())),
        (
            "arrows",
            lines(|_, client, text| format!("{} {text}", if client { ">" } else { "<" })),
        ),
        (
            "long arrows",
            lines(|_, client, text| format!("{}{text}", if client { ">>> " } else { "<<< " })),
        ),
        (
            "thin arrows",
            lines(|_, client, text| format!("{} {text}", if client { "->" } else { "<-" })),
        ),
        (
            "an agent's arrows",
            lines(|_, client, text| format!("{} {text}", if client { "<-" } else { "->" })),
        ),
        (
            "two ends",
            lines(|_, client, text| {
                format!(
                    "{}: {text}",
                    if client {
                        "client→agent"
                    } else {
                        "agent→client"
                    }
                )
            }),
        ),
        (
            "sides",
            lines(|_, client, text| {
                format!("[{}] {text}", if client { "client" } else { "agent" })
            }),
        ),
        (
            "receivers",
            lines(|_, client, text| {
                format!("to_{} {text}", if client { "agent" } else { "client" })
            }),
        ),
        (
            "a log",
            lines(|number, client, text| {
                format!(
                    "2026-01-02T03:04:0{number}.000Z TRACE agent_client_protocol::rpc: {} {text}",
                    if client { "send" } else { "recv" }
                )
            }),
        ),
        (
            "a log of the agent",
            lines(|number, client, text| {
                format!(
                    "2026-01-02 03:04:0{number} [debug] my_agent: {}: {text}",
                    if client { "incoming" } else { "outgoing" }
                )
            }),
        ),
        (
            "quoted in a log",
            lines(|number, client, text| {
                format!(
                    "2026-01-02T03:04:0{number}Z DEBUG rpc: {} line={}",
                    if client { "sent" } else { "received" },
                    quoted(text)
                )
            }),
        ),
        (
            "wrapped",
            lines(|number, client, text| {
                format!(
                    r#"{{"direction":"{}","timestamp":{number}.5,"message":{text}}}"#,
                    if client { "out" } else { "in" }
                )
            }),
        ),
        (
            "wrapped as text",
            lines(|number, client, text| {
                format!(
                    r#"{{"ts":"2026-01-02T03:04:0{number}Z","direction":"{}","json":{}}}"#,
                    if client { "fromClient" } else { "fromAgent" },
                    quoted(text)
                )
            }),
        ),
        (
            "wrapped with ends",
            lines(|_, client, text| {
                format!(
                    r#"{{"to":"{}","payload":{text}}}"#,
                    if client { "agent" } else { "client" }
                )
            }),
        ),
        (
            "streams",
            lines(|_, client, text| {
                format!(
                    r#"{{"stream":"{}","data":{}}}"#,
                    if client { "stdin" } else { "stdout" },
                    quoted(text)
                )
            }),
        ),
        (
            "a trace without its header",
            lines(|number, client, text| {
                format!(
                    r#"{{"at":{number}.25,"from":"{}","message":{text}}}"#,
                    if client { "client" } else { "agent" }
                )
            }),
        ),
        (
            "structured logs",
            lines(|number, client, text| {
                format!(
                    r#"{{"timestamp":"2026-01-02T03:04:0{number}Z","level":"TRACE","fields":{{"message":{}}},"target":"acp"}}"#,
                    quoted(&format!("{} {text}", if client { "send" } else { "recv" }))
                )
            }),
        ),
        (
            "an array",
            format!(
                "[\n  {}\n]\n",
                LINES.map(|line| line[1..].to_owned()).join(",\n  ")
            ),
        ),
        (
            "an array on one line",
            format!("[{}]\n", LINES.map(|line| line[1..].to_owned()).join(",")),
        ),
        ("with CR", lines(|_, _, text| format!("{text}\r"))),
    ];
    for (way, text) in ways {
        let (ran, recording) = imported("raw", &text);
        assert_eq!(ran.code, 0, "{way}: {}", ran.stderr);
        let recording = recording.unwrap();
        assert_eq!(messages(&recording), LINES, "{way}");
        assert_eq!(recording.events.len(), LINES.len(), "{way}");
        assert_eq!(recording.header.start, None, "{way}");
        assert!(!ran.stderr.contains("guessed"), "{way}: {}", ran.stderr);
    }
}

#[test]
fn secrets_are_replaced_unless_they_are_wanted() {
    let secret = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[{"name":"m","command":"m","args":[],"env":[{"name":"KEY","value":"s3cr3t-value-of-mine"}]}]}}"#;
    let text = format!("{}\n{secret}\n", &LINES[0][1..]);
    let (_, recording) = imported("raw", &text);
    let recording = recording.unwrap();
    assert!(recording.header.redacted && recording.events[1].redacted);
    assert!(
        !messages(&recording)[1].contains("s3cr3t"),
        "{:?}",
        messages(&recording)
    );
    let folder = TempDir::new().unwrap();
    let input = folder.path().join("in");
    fs::write(&input, &text).unwrap();
    let words = [
        "import",
        "--from",
        "raw",
        "--no-redact",
        input.to_str().unwrap(),
        "-o",
        "-",
    ];
    let ran = Harness::new().call(&words);
    assert!(
        ran.stdout.contains("s3cr3t-value-of-mine"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("\"redacted\":false"), "{}", ran.stdout);
}

#[test]
fn times_count_from_the_first() {
    let (_, recording) = imported(
        "raw",
        &lines(|number, _, text| {
            format!(
                r#"{{"time":{},"msg":{text}}}"#,
                1_767_323_045_000_u64 + number as u64 * 250
            )
        }),
    );
    let recording = recording.unwrap();
    let at: Vec<f64> = recording.events.iter().map(|event| event.at).collect();
    assert_eq!(at[..4], [0.0, 0.25, 0.5, 0.75]);
    assert_eq!(
        recording.header.recorded.as_deref(),
        Some("2026-01-02T03:04:05Z")
    );
}

#[test]
fn indented_messages_are_put_on_one_line() {
    let text: String = LINES
        .iter()
        .map(|line| {
            let value: Value = serde_json::from_str(&line[1..]).unwrap();
            serde_json::to_string_pretty(&value).unwrap() + "\n"
        })
        .collect();
    let (ran, recording) = imported("raw", &text);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let recording = recording.unwrap();
    assert_eq!(messages(&recording).len(), LINES.len());
    assert_eq!(recording.events.len(), LINES.len());
}

#[test]
fn other_lines_become_stderr_and_are_told() {
    let mut text = String::from("agent 1.0 starting\n");
    text.push_str(&lines(|_, _, text| text.to_owned()));
    text.push_str("\n{\"level\":\"info\",\"text\":1}\n{\"jsonrpc\":\"2.0\",\"id\":\n");
    let (ran, recording) = imported("raw", &text);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("3 lines without a message, taken for stderr of the agent: 1, 11, 12"),
        "{}",
        ran.stderr
    );
    let recording = recording.unwrap();
    let stderr = |text: &str| Body::Stderr(text.as_bytes().to_vec());
    assert_eq!(recording.events[0].body, stderr("agent 1.0 starting"));
    assert_eq!(messages(&recording), LINES);
}

#[test]
fn a_line_that_an_arrow_marks_is_a_line_of_the_wire() {
    let mut text = String::from("< Starting…\n");
    text.push_str(&lines(|_, client, text| {
        format!("{} {text}", if client { ">" } else { "<" })
    }));
    let (_, recording) = imported("raw", &text);
    let first = &recording.unwrap().events[0];
    assert_eq!(first.from, Party::Agent);
    assert_eq!(first.body, Body::of_line("Starting…".into(), false));
}

#[test]
fn what_is_guessed_or_missing_is_said() {
    let mut text: String = LINES[4..]
        .iter()
        .map(|line| format!("{}\n", &line[1..]))
        .collect();
    text.push_str("{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n");
    let (ran, recording) = imported("raw", &text);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(recording.unwrap().header.start, Some(false));
    for part in [
        "was guessed: line 5",
        "\"start\":false",
        "it tells no times",
    ] {
        assert!(ran.stderr.contains(part), "{part} in\n{}", ran.stderr);
    }
    let agent = lines(|_, client, text| {
        if client {
            String::new()
        } else {
            text.to_owned()
        }
    });
    let (ran, _) = imported("raw", &agent);
    assert!(
        ran.stderr.contains("no message of the client is in it"),
        "{}",
        ran.stderr
    );
}

/// What the conductor writes for a message on a hop.
fn conductor(number: usize, from: &str, to: &str, text: &str) -> String {
    let message: Value = serde_json::from_str(text).unwrap();
    let mut event =
        json!({"ts": number as f64 / 8.0, "from": from, "to": to, "id": message.get("id")});
    let members = event.as_object_mut().unwrap();
    if let Some(method) = message.get("method") {
        members.insert(
            "type".into(),
            json!(if message.get("id").is_some() {
                "request"
            } else {
                "notification"
            }),
        );
        members.insert("protocol".into(), json!("acp"));
        members.insert("method".into(), method.clone());
        members.insert("params".into(), message["params"].clone());
    } else {
        members.insert("type".into(), json!("response"));
        members.insert("is_error".into(), json!(message.get("error").is_some()));
        members.insert("payload".into(), message["result"].clone());
    }
    event.to_string()
}

#[test]
fn a_trace_of_the_conductor_is_taken_at_the_hop_to_the_agent() {
    let chain = lines(|number, client, text| {
        let ends = if client {
            [("Client", "Proxy(0)"), ("Proxy(0)", "Agent")]
        } else {
            [("Agent", "Proxy(0)"), ("Proxy(0)", "Client")]
        };
        ends.map(|(from, to)| conductor(number, from, to, text))
            .join("\n")
    });
    for (name, text) in [
        ("chain", chain.clone()),
        (
            "alone",
            lines(|number, client, text| {
                let (from, to) = if client {
                    ("Client", "Agent")
                } else {
                    ("Agent", "Client")
                };
                conductor(number, from, to, text)
            }),
        ),
    ] {
        let (ran, recording) = imported("conductor", &text);
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        let recording = recording.unwrap();
        let of = |text: &str| serde_json::from_str::<Value>(&text[1..]).unwrap();
        let messages = messages(&recording);
        assert_eq!(messages.len(), LINES.len(), "{name}");
        for (message, line) in messages.iter().zip(LINES) {
            assert_eq!(
                (&message[..1], of(message)),
                (&line[..1], of(line)),
                "{name}"
            );
        }
        assert_eq!(recording.events[2].at, 0.25, "{name}");
        assert!(ran.stderr.contains("written anew"), "{}", ran.stderr);
    }
    let (ran, recording) = imported("raw", &chain);
    assert_eq!((ran.code, recording), (2, None));
    assert!(
        ran.stderr.contains("use --from conductor"),
        "{}",
        ran.stderr
    );
}

fn export() -> String {
    let messages: Vec<Value> = LINES
        .iter()
        .enumerate()
        .map(|(number, line)| {
            let direction = if line.starts_with('>') { "editor-to-agent" } else { "agent-to-editor" };
            json!({"seq": number, "timestamp": 1_767_323_045_000_u64 + number as u64, "direction": direction,
                   "kind": "unknown", "raw": &line[1..], "payload": null})
        })
        .collect();
    let document = json!({"version": 1, "exportedAt": 0, "tool": {"name": "acp-devtools", "version": "1"},
        "session": {"id": 1, "name": "a bug", "agentCommand": "my-agent --acp 'x y'", "clientName": null,
                    "startedAt": 1_767_323_045_000_u64, "endedAt": null},
        "messages": messages});
    serde_json::to_string_pretty(&document).unwrap()
}

#[test]
fn an_export_of_acp_devtools_keeps_the_text_of_the_wire() {
    let (ran, recording) = imported("acp-devtools", &export());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let recording = recording.unwrap();
    assert_eq!(messages(&recording), LINES);
    assert_eq!(recording.header.command, ["my-agent", "--acp", "x y"]);
    assert_eq!(recording.header.about.as_deref(), Some("a bug"));
    assert_eq!(
        recording.header.recorded.as_deref(),
        Some("2026-01-02T03:04:05Z")
    );
    assert_eq!(recording.events[3].at, 0.003);
}

#[test]
fn a_recording_of_another_kind_is_named() {
    let bare = lines(|_, _, text| text.to_owned());
    let trace = format!("{{\"acptrace\":1}}\n{bare}");
    for (from, text, hint) in [
        ("raw", export(), "use --from acp-devtools"),
        ("conductor", export(), "use --from acp-devtools"),
        ("conductor", bare.clone(), "use --from raw"),
        ("acp-devtools", bare.clone(), "use --from raw"),
        ("raw", trace.clone(), "this is a trace already"),
        ("conductor", trace.clone(), "this is a trace already"),
        ("acp-devtools", trace, "this is a trace already"),
        (
            "raw",
            "hello\n".to_owned(),
            "no message of the protocol was found",
        ),
        ("raw", String::new(), "it is empty"),
        (
            "conductor",
            "hello\n".to_owned(),
            "no event of the conductor",
        ),
        ("acp-devtools", "{}".to_owned(), "no export of acp-devtools"),
    ] {
        let (ran, recording) = imported(from, &text);
        assert_eq!((ran.code, recording), (2, None), "{from} {hint}");
        assert!(ran.stderr.contains(hint), "{hint} in\n{}", ran.stderr);
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    let input = folder.path().join("in");
    fs::write(&input, lines(|_, _, text| text.to_owned())).unwrap();
    let output = folder.path().join("none/out.jsonl");
    let words = ["import", "--from", "raw", input.to_str().unwrap(), "-o"];
    let ran = Harness::new().call(&[&words[..], &[output.to_str().unwrap()]].concat());
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("there is no folder `"),
        "{}",
        ran.stderr
    );
}

#[test]
fn check_points_to_the_importer_that_fits() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let conductor = conductor(0, "Client", "Agent", &LINES[0][1..]);
    for (name, text, hint) in [
        (
            "raw",
            lines(|_, _, text| text.to_owned()),
            "import --from raw ",
        ),
        ("conductor", conductor, "import --from conductor "),
        ("devtools", export(), "import --from acp-devtools "),
    ] {
        let ran = Harness::new().call(&["check", &file(name, &text)]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(hint), "{hint} in\n{}", ran.stderr);
    }
}

#[test]
fn an_imported_recording_can_be_judged() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (
        folder.path().join("in.log"),
        folder.path().join("out.jsonl"),
    );
    fs::write(&input, lines(|_, _, text| text.to_owned())).unwrap();
    let [input, output] = [&input, &output].map(|path: &std::path::PathBuf| path.to_str().unwrap());
    let ran = Harness::new().call(&["import", "--from", "raw", input, "-o", output, "-q"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let ran = Harness::new().call(&["check", output]);
    assert!(ran.stdout.contains("sample 1: "), "{}", ran.stdout);
    let ran = Harness::new().call(&["import", "--from", "raw", input, "-o", input]);
    assert_eq!(ran.code, 2);
    assert!(Path::new(input).metadata().unwrap().len() > 0);
    let ran = Harness::new().call(&["import", "--from", "raw", input, "-o", "-", "-q"]);
    assert!(ran.stdout.starts_with("{\"acptrace\":1"), "{}", ran.stdout);
}
