//! `harness model`: a script is served alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use crate::command_line::Harness;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A server that runs, with what it said on stdout.
struct Serving {
    harness: Harness,
    process: Child,
    variables: BTreeMap<String, String>,
    addresses: Vec<String>,
}

/// The variable that is said last.
const LAST: &str = "OPENAI_HOST";

fn script(harness: &Harness, text: &str) -> String {
    let path = harness.state.path().join("script.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn serve(text: &str) -> Serving {
    let harness = Harness::new();
    let path = script(&harness, text);
    let mut process = harness
        .command(&["model", &path])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut variables = BTreeMap::new();
    let mut addresses = Vec::new();
    for line in BufReader::new(process.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        match line.strip_prefix("export ") {
            Some(variable) => {
                let (name, value) = variable.split_once('=').unwrap();
                variables.insert(name.to_owned(), value.to_owned());
                if name == LAST {
                    break;
                }
            }
            None => addresses.push(line),
        }
    }
    Serving {
        harness,
        process,
        variables,
        addresses,
    }
}

impl Serving {
    fn address(&self) -> &str {
        self.variables[LAST].strip_prefix("http://").unwrap()
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it by a signal; gives the exit code and stderr.
    fn end(mut self, signal: Signal) -> (i32, String) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap());
        kill(pid, signal).unwrap();
        let mut said = String::new();
        let mut stderr = self.process.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        let code = self.process.wait().unwrap().code().unwrap();
        drop(self.harness);
        (code, said)
    }
}

#[test]
fn a_script_is_served_until_a_signal_and_each_exchange_is_a_line() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let serving = serve("[[model]]\nsay = \"From {{cwd}}.\"");
        assert_eq!(serving.addresses.len(), 4, "{:?}", serving.addresses);
        let root = &serving.variables["ANTHROPIC_BASE_URL"];
        assert_eq!(serving.variables["OPENAI_BASE_URL"], format!("{root}/v1"));
        assert!(serving.addresses[2].ends_with(&format!("{root}/v1/messages")));
        let body = r#"{"model":"m","max_tokens":900,"messages":[{"role":"user","content":"hi"}]}"#;
        let length = body.len();
        let answer = serving.ask(&format!(
            "POST /v1/messages HTTP/1.1\r\nhost: h\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
        let folder = env!("CARGO_MANIFEST_DIR");
        assert!(answer.contains(&format!("From {folder}.")), "{answer}");
        serving.ask("GET /v1/models HTTP/1.1\r\nhost: h\r\n\r\n");
        let (code, said) = serving.end(signal);
        assert_eq!(code, 0, "{said}");
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].starts_with("1 /v1/messages m (a turn) 200, "),
            "{said}"
        );
        assert!(
            lines[1].starts_with("note: the script is at its end: "),
            "{said}"
        );
        assert!(
            lines[2].starts_with("2 /v1/models (beside the script: models) 200, "),
            "{said}"
        );
        assert_eq!(lines.len(), 3, "{said}");
    }
}

#[test]
fn the_end_of_the_script_and_a_call_without_a_tool_are_said() {
    let serving =
        serve("[[model]]\ncall = { kind = \"execute\", command = \"ls\" }\n[[model]]\nsay = \"a\"");
    for text in ["one", "two", "three", "four"] {
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"{text}"}}],"tools":[{{"type":"function","function":{{"name":"fly","parameters":{{"type":"object"}}}}}}]}}"#
        );
        serving.ask(&format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ));
    }
    let (_, said) = serving.end(Signal::SIGTERM);
    let notes: Vec<&str> = said.lines().filter(|it| it.starts_with("note: ")).collect();
    assert!(
        notes[0].contains("execute") && notes[0].ends_with(": fly"),
        "{said}"
    );
    assert!(notes[1].contains("is at its end"), "{said}");
    // Of turns that follow each other closely it may be told at once.
    let last = notes.last().unwrap();
    assert!(last.starts_with("note: 2 turns beyond the end"), "{said}");
}

#[test]
fn a_port_that_is_taken_is_said() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let harness = Harness::new();
    let path = script(&harness, "[[model]]\nsay = \"a\"");
    let run = harness.call(&["model", &path, "--port", &port]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr
            .contains(&format!("port {port} of 127.0.0.1 is taken")),
        "{}",
        run.stderr
    );
}

#[test]
fn a_script_that_is_not_right_is_shown_at_its_place() {
    for (text, part) in [
        (
            "[[model]]\nsya = \"a\"",
            "script.toml:2:1: unknown key `sya`",
        ),
        (
            "title = \"x\"\n[[model]]\nsay = \"a\"",
            "script.toml:1:1: unknown key `title`",
        ),
        ("", "`model`"),
        ("[[model]]\nfail = \"refused\"", "`fail = \"refused\"`"),
        ("[[model]]\nsay = \"{{session}}\"", "`{{cwd}}`"),
    ] {
        let harness = Harness::new();
        let path = script(&harness, text);
        let run = harness.call(&["model", &path]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{text}");
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
    }
    let run = Harness::new().call(&["model", "no-such-file.toml"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no-such-file.toml: "), "{}", run.stderr);
}
