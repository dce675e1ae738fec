//! How fast recordings are judged, and in how much memory: `cargo bench -p acp-harness --bench check`.
//!
//! Each recording has a million events or more; the memory is the highest of a `harness check` as a process of its own.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod watched;

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use acp_harness::check::check;
use acp_harness::trace::TraceReader;

use watched::{Watched, watch};

const EVENTS: u64 = 1_000_000;
/// Events a second, at least.
const SPEED: f64 = 200_000.0;
/// Megabytes, at most, however long the recording is: most of it is for each of 100,000 sessions.
const MEMORY: f64 = 200.0;

/// A kind of recording, and what writes it.
type Kind = (&'static str, fn(&mut Script));

const KINDS: [Kind; 5] = [
    ("many sessions and turns, mixed", mixed),
    ("one turn of a million chunks", one_turn),
    ("100,000 tool calls in one session", many_calls),
    ("100,000 sessions", many_sessions),
    ("half a million refused requests", many_errors),
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
        let path = folder.path().join("trace.jsonl");
        let mut script = Script::new(&path);
        write(&mut script);
        script.close();
        let began = Instant::now();
        let input = BufReader::with_capacity(1 << 16, File::open(&path).unwrap());
        let checked = check(TraceReader::open(input).unwrap()).unwrap();
        let inside = checked.events as f64 / began.elapsed().as_secs_f64();
        for (id, tally) in checked.judgement.iter() {
            for finding in tally.findings.iter().take(1) {
                println!("  {id}: {} ({} times)", finding.message, tally.fails);
            }
        }
        let watched = process(&path);
        let (whole, memory) = (checked.events as f64 / watched.seconds, watched.megabytes);
        let holds = inside >= SPEED && whole >= SPEED && memory <= MEMORY;
        all_hold &= holds;
        println!(
            "{name:<36} {:>9} events {inside:>9.0}/s  as a process {whole:>9.0}/s {memory:>6.1} MB{}",
            checked.events,
            if holds { "" } else { "  MISSED" },
        );
        fs::remove_file(&path).unwrap();
    }
    println!("(at least {SPEED:.0} events a second, at most {MEMORY:.0} MB)");
    if all_hold {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// `harness check` as a process of its own.
fn process(path: &Path) -> Watched {
    watch(
        Command::new(env!("CARGO_BIN_EXE_harness"))
            .arg("check")
            .arg(path)
            .arg("-q")
            .stdout(Stdio::null()),
    )
}

/// Writes a recording event by event.
struct Script {
    out: BufWriter<File>,
    events: u64,
    client: u64,
    agent: u64,
    text: String,
}

impl Script {
    fn new(path: &Path) -> Self {
        let mut out = BufWriter::new(File::create(path).unwrap());
        writeln!(out, r#"{{"acptrace":1,"by":"benchmark"}}"#).unwrap();
        let mut script = Self {
            out,
            events: 0,
            client: 0,
            agent: 0,
            text: "Every good boy does fine, and so do words of this length. ".repeat(4)[..200]
                .to_owned(),
        };
        let id = script.ask(
            "initialize",
            r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"c","version":"1"}}"#,
        );
        script.answer(
            id,
            r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"a","version":"1"},"authMethods":[]}"#,
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
        let id = self.client;
        self.client += 1;
        self.event(
            "client",
            &format!(r#""id":{id},"method":"{method}","params":{params}"#),
        );
        id
    }

    fn answer(&mut self, id: u64, result: &str) {
        self.event("agent", &format!(r#""id":{id},"result":{result}"#));
    }

    fn session(&mut self, name: &str) {
        let id = self.ask("session/new", r#"{"cwd":"/project","mcpServers":[]}"#);
        self.answer(id, &format!(r#"{{"sessionId":"{name}"}}"#));
    }

    fn prompt(&mut self, session: &str) -> u64 {
        self.ask(
            "session/prompt",
            &format!(r#"{{"sessionId":"{session}","prompt":[{{"type":"text","text":"Go on"}}]}}"#),
        )
    }

    fn end(&mut self, prompt: u64) {
        self.answer(prompt, r#"{"stopReason":"end_turn"}"#);
    }

    fn update(&mut self, session: &str, update: &str) {
        self.event(
            "agent",
            &format!(
                r#""method":"session/update","params":{{"sessionId":"{session}","update":{update}}}"#
            ),
        );
    }

    fn chunk(&mut self, session: &str) {
        let text = self.text.clone();
        self.update(
            session,
            &format!(
                r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#
            ),
        );
    }

    /// A tool call with its permission: seven events.
    fn call(&mut self, session: &str, number: u64) {
        let id = format!("call-{number}");
        self.update(
            session,
            &format!(
                r#"{{"sessionUpdate":"tool_call","toolCallId":"{id}","title":"Change a file","kind":"edit","status":"pending","locations":[{{"path":"/project/{number}"}}],"rawInput":{{"path":"/project/{number}"}}}}"#
            ),
        );
        let ask = self.agent;
        self.agent += 1;
        self.event(
            "agent",
            &format!(
                r#""id":{ask},"method":"session/request_permission","params":{{"sessionId":"{session}","toolCall":{{"toolCallId":"{id}"}},"options":[{{"optionId":"a","name":"Allow","kind":"allow_once"}},{{"optionId":"r","name":"Reject","kind":"reject_once"}}]}}"#
            ),
        );
        self.event(
            "client",
            &format!(
                r#""id":{ask},"result":{{"outcome":{{"outcome":"selected","optionId":"a"}}}}"#
            ),
        );
        self.update(
            session,
            &format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"{id}","status":"in_progress"}}"#),
        );
        let ask = self.agent;
        self.agent += 1;
        self.event(
            "agent",
            &format!(
                r#""id":{ask},"method":"fs/write_text_file","params":{{"sessionId":"{session}","path":"/project/{number}","content":"x"}}"#
            ),
        );
        self.event("client", &format!(r#""id":{ask},"result":{{}}"#));
        self.update(
            session,
            &format!(
                r#"{{"sessionUpdate":"tool_call_update","toolCallId":"{id}","status":"completed","content":[{{"type":"diff","path":"/project/{number}","oldText":"","newText":"x"}}]}}"#
            ),
        );
    }

    fn close(mut self) {
        self.out.flush().unwrap();
    }
}

/// 40 sessions of which four go on side by side; in each turn 60 chunks, a plan, usage and three tool calls.
fn mixed(script: &mut Script) {
    let mut call = 0;
    let mut round = 0;
    while script.events < EVENTS {
        let names: Vec<String> = (0..4)
            .map(|number| format!("session-{}", (round * 4 + number) % 40))
            .collect();
        if round < 10 {
            for name in &names {
                script.session(name);
            }
        }
        let prompts: Vec<u64> = names.iter().map(|name| script.prompt(name)).collect();
        for step in 0..60 {
            for name in &names {
                script.chunk(name);
                if step == 0 {
                    script.update(name, r#"{"sessionUpdate":"plan","entries":[{"content":"all","priority":"high","status":"completed"}]}"#);
                } else if step % 20 == 10 {
                    call += 1;
                    script.call(name, call);
                } else if step == 59 {
                    script.update(
                        name,
                        r#"{"sessionUpdate":"usage_update","used":10,"size":1000}"#,
                    );
                }
            }
        }
        for prompt in prompts {
            script.end(prompt);
        }
        round += 1;
    }
}

fn one_turn(script: &mut Script) {
    script.session("s");
    let prompt = script.prompt("s");
    while script.events < EVENTS {
        script.chunk("s");
    }
    script.end(prompt);
}

fn many_calls(script: &mut Script) {
    script.session("s");
    let mut call = 0;
    for _ in 0..1000 {
        let prompt = script.prompt("s");
        for _ in 0..100 {
            call += 1;
            script.call("s", call);
            for _ in 0..3 {
                script.chunk("s");
            }
        }
        script.end(prompt);
    }
}

fn many_sessions(script: &mut Script) {
    for number in 0..100_000 {
        let name = format!("session-{number}");
        script.session(&name);
        let prompt = script.prompt(&name);
        for _ in 0..5 {
            script.chunk(&name);
        }
        script.end(prompt);
        let id = script.ask("session/close", &format!(r#"{{"sessionId":"{name}"}}"#));
        script.answer(id, "{}");
    }
}

fn many_errors(script: &mut Script) {
    for _ in 0..500_000 {
        let id = script.ask("_own/thing", "{}");
        script.event(
            "agent",
            &format!(r#""id":{id},"error":{{"code":-32601,"message":"Method not found"}}"#),
        );
    }
}
