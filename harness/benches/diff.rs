//! How fast two recordings are compared, and in how much memory: `cargo bench -p acp-harness --bench diff`.
//!
//! Two recordings of half a million events each, a million together, must be compared in time; with twice as many it is shown
//! whether time and memory grow in proportion. Both are those of a `harness diff` as a process of its own, reading included.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod watched;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use watched::{Watched, watch};

/// Events of both sides together, in the smaller of the two measurements.
const EVENTS: u64 = 1_000_000;
/// Seconds that these may take.
const SECONDS: f64 = 10.0;
/// How much more twice the events may take, in time and memory.
const GROWTH: f64 = 2.6;

/// What is compared, and what writes one side of it.
type Kind = (&'static str, fn(&mut Script));

const KINDS: [Kind; 7] = [
    ("the same with other ids", mixed),
    ("one more at the start", one_more),
    ("all texts differ", other_texts),
    ("nothing in common", nothing_in_common),
    ("one turn, cut otherwise", one_turn),
    ("100,000 tool calls, one missing", calls),
    ("50,000 sessions in another order", sessions),
];

fn main() -> ExitCode {
    // `cargo test --all-targets` runs this too, without the flag, and unoptimised.
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let wanted = arguments.get(1).filter(|word| !word.starts_with('-'));
    let folder = tempfile::tempdir().unwrap();
    let mut all_hold = true;
    for (name, write) in KINDS {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let mut measured = Vec::new();
        for events in [EVENTS / 2, EVENTS] {
            let paths = [false, true].map(|other| {
                let path = folder
                    .path()
                    .join(if other { "right.jsonl" } else { "left.jsonl" });
                let mut script = Script::new(&path, other, events);
                write(&mut script);
                script.out.flush().unwrap();
                path
            });
            measured.push(process(&paths[0], &paths[1]));
        }
        let (half, whole) = (&measured[0], &measured[1]);
        let holds = half.seconds <= SECONDS
            && whole.seconds / half.seconds <= GROWTH
            && whole.megabytes / half.megabytes <= GROWTH;
        all_hold &= holds;
        println!(
            "{name:<34} {:>6.2} s {:>7.0} MB   twice as many {:>6.2} s {:>7.0} MB   {}{}",
            half.seconds,
            half.megabytes,
            whole.seconds,
            whole.megabytes,
            String::from_utf8_lossy(&half.output.stdout).trim(),
            if holds { "" } else { "  MISSED" },
        );
    }
    println!(
        "({EVENTS} events together; at most {SECONDS:.0} s, and twice as many at most {GROWTH} times that)"
    );
    if all_hold {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// `harness diff` as a process of its own.
fn process(left: &Path, right: &Path) -> Watched {
    watch(
        Command::new(env!("CARGO_BIN_EXE_harness"))
            .arg("diff")
            .args([left, right])
            .args(["-q", "--level", "text"])
            .stdout(Stdio::piped()),
    )
}

/// Writes one side event by event.
struct Script {
    out: BufWriter<File>,
    /// Whether it is the right side.
    other: bool,
    limit: u64,
    events: u64,
    requests: u64,
}

impl Script {
    fn new(path: &Path, other: bool, limit: u64) -> Self {
        let mut out = BufWriter::new(File::create(path).unwrap());
        writeln!(out, r#"{{"acptrace":1,"by":"benchmark"}}"#).unwrap();
        let requests = if other { 700 } else { 0 };
        let mut script = Self {
            out,
            other,
            limit,
            events: 0,
            requests,
        };
        let id = script.ask("initialize", r#"{"protocolVersion":1}"#);
        script.answer(
            id,
            r#"{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"}}"#,
        );
        script
    }

    fn event(&mut self, from: &str, rest: &str) {
        self.events += 1;
        let at = self.events as f64 / 1000.0;
        writeln!(
            self.out,
            r#"{{"at":{at:.6},"from":"{from}","message":{{"jsonrpc":"2.0",{rest}}}}}"#
        )
        .unwrap();
    }

    fn ask(&mut self, method: &str, params: &str) -> u64 {
        self.requests += 1;
        let id = self.requests;
        self.event(
            "client",
            &format!(r#""id":{id},"method":"{method}","params":{params}"#),
        );
        id
    }

    fn answer(&mut self, id: u64, result: &str) {
        self.event("agent", &format!(r#""id":{id},"result":{result}"#));
    }

    /// A session, by the id that this side gives it.
    fn session(&mut self, number: u64) -> String {
        let name = if self.other {
            format!("another-{number:06}")
        } else {
            format!("session-{number}")
        };
        let id = self.ask("session/new", r#"{"cwd":"/project","mcpServers":[]}"#);
        self.answer(id, &format!(r#"{{"sessionId":"{name}"}}"#));
        name
    }

    fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.ask(
            "session/prompt",
            &format!(r#"{{"sessionId":"{session}","prompt":[{{"type":"text","text":"{text}"}}]}}"#),
        )
    }

    fn end(&mut self, prompt: u64) {
        self.answer(prompt, r#"{"stopReason":"end_turn"}"#);
    }

    fn update(&mut self, session: &str, update: &str) {
        self.event(
            "agent",
            &format!(r#""method":"session/update","params":{{"sessionId":"{session}","update":{update}}}"#),
        );
    }

    fn chunk(&mut self, session: &str, text: &str) {
        self.update(
            session,
            &format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#),
        );
    }

    fn call(&mut self, session: &str, number: u64) {
        let id = if self.other {
            format!("tool-{number}")
        } else {
            format!("call_{number:08}")
        };
        self.update(
            session,
            &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"{id}","title":"Change {number}","kind":"edit","status":"pending","rawInput":{{"path":"/project/{number}"}}}}"#),
        );
        for status in ["in_progress", "completed"] {
            self.update(
                session,
                &format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"{id}","status":"{status}"}}"#),
            );
        }
    }
}

/// Turns of ten chunks and three calls, in ten sessions.
fn turns(script: &mut Script, text: impl Fn(u64) -> String) {
    let names: Vec<String> = (0..10).map(|number| script.session(number)).collect();
    let mut number = 0;
    while script.events < script.limit {
        let name = &names[(number % 10) as usize];
        let prompt = script.prompt(name, &text(number));
        for step in 0..10 {
            script.chunk(name, &text(number * 10 + step));
            if step % 3 == 0 {
                script.call(name, number * 10 + step);
            }
        }
        script.end(prompt);
        number += 1;
    }
}

fn mixed(script: &mut Script) {
    turns(script, |number| {
        format!("The {number}th thing that is said here, at some length, is this.")
    });
}

fn one_more(script: &mut Script) {
    if script.other {
        let id = script.ask("session/list", "{}");
        script.answer(id, r#"{"sessions":[]}"#);
    }
    mixed(script);
}

fn other_texts(script: &mut Script) {
    let word = if script.other { "said" } else { "told" };
    turns(script, |number| {
        format!("The {number}th thing that is {word} here, at some length, is this.")
    });
}

fn nothing_in_common(script: &mut Script) {
    let session = script.session(0);
    let (side, stop) = if script.other {
        ("right", "max_tokens")
    } else {
        ("left", "end_turn")
    };
    let mut number = 0;
    while script.events < script.limit {
        number += 1;
        let prompt = script.prompt(&session, &format!("{side} {number}"));
        script.chunk(&session, &format!("{side} {number}"));
        script.answer(prompt, &format!(r#"{{"stopReason":"{stop}"}}"#));
    }
}

fn one_turn(script: &mut Script) {
    let session = script.session(0);
    let prompt = script.prompt(&session, "Go on");
    if script.other {
        while script.events < script.limit {
            script.chunk(&session, "word ");
        }
    } else {
        while script.events < script.limit / 2 {
            script.chunk(&session, "word word ");
        }
    }
    script.end(prompt);
}

fn calls(script: &mut Script) {
    let session = script.session(0);
    let prompt = script.prompt(&session, "Go on");
    for number in 0..script.limit / 10 {
        if !(script.other && number == 50) {
            script.call(&session, number);
        }
        for _ in 0..7 {
            script.chunk(&session, "and then ");
        }
    }
    script.end(prompt);
}

fn sessions(script: &mut Script) {
    let count = script.limit / 20;
    for number in 0..count {
        let number = if script.other {
            count - 1 - number
        } else {
            number
        };
        let name = script.session(number);
        let prompt = script.prompt(&name, &format!("Number {number}"));
        for _ in 0..15 {
            script.chunk(&name, "It is done. ");
        }
        script.end(prompt);
    }
}
