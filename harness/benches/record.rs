//! What the recorder costs: `cargo bench -p acp-harness --bench record` measures and prints it.
//!
//! The same work is done over a plain pipe, through `harness record`, and, where `CONDUCTOR` names an
//! `agent-client-protocol-conductor`, through `conductor agent --trace-path`. This binary is client and agent.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod watched;

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use watched::peak;

const FLOOD: usize = 3_000_000;
const ROUND_TRIPS: usize = 20_000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["flood", count] => flood(count.parse().unwrap()),
        ["echo"] => echo(),
        // `cargo test --all-targets` runs this too, without the flag, and unoptimised.
        ref words if words.contains(&"--bench") => return measure(),
        _ => {}
    }
    ExitCode::SUCCESS
}

/// The id of a request, as it is written.
fn id(line: &str) -> &str {
    let rest = line.split_once("\"id\":").unwrap().1;
    rest.split_once(',').unwrap().0
}

/// Answers `initialize`, which the conductor waits for before anything else.
fn begin(input: &mut impl BufRead, out: &mut impl Write) {
    let mut line = String::new();
    input.read_line(&mut line).unwrap();
    answer(
        out,
        id(&line),
        r#"{"protocolVersion":1,"agentCapabilities":{}}"#,
    );
}

fn answer(out: &mut impl Write, id: &str, result: &str) {
    writeln!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).unwrap();
    out.flush().unwrap();
}

/// An agent that answers a request with chunks of text, as fast as they can be written.
fn flood(count: usize) {
    let mut input = io::stdin().lock();
    begin(&mut input, &mut io::stdout());
    let mut line = String::new();
    input.read_line(&mut line).unwrap();
    let words = [
        "the",
        "token",
        "stands",
        "in",
        "a",
        "sentence,",
        "as",
        "words",
        "do.",
        "Then:",
    ];
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    for number in 0..count {
        let word = words[number % words.len()];
        let mut line = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"sess_01","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":" {word} {number}"#
        );
        while line.len() < 194 {
            line.push_str(" s");
        }
        line.truncate(194);
        writeln!(out, "{line}\"}}}}}}}}").unwrap();
    }
    out.flush().unwrap();
}

/// An agent that answers each request with the text that came with it.
fn echo() {
    let (mut input, mut out) = (io::stdin().lock(), io::stdout());
    begin(&mut input, &mut out);
    let mut line = String::new();
    while input.read_line(&mut line).unwrap() > 0 {
        let params = line.split_once("\"params\":").unwrap().1;
        let result = params.trim_end().strip_suffix('}').unwrap();
        answer(&mut out, id(&line), result);
        line.clear();
    }
}

/// Starts the conversation as a client.
fn initialize(input: &mut impl Write, output: &mut impl BufRead) {
    writeln!(
        input,
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{{}}}}}}"#
    )
    .unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.contains("protocolVersion"), "{line}");
}

/// A way from client to agent.
struct Way {
    name: &'static str,
    before: Vec<OsString>,
    /// Whether the messages are those of the protocol only.
    strict: bool,
}

fn measure() -> ExitCode {
    let folder = std::env::temp_dir().join(format!("bench-record-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let trace = folder.join("trace.jsonl");
    let harness = env!("CARGO_BIN_EXE_harness");
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let file = trace.to_str().unwrap();
    let mut ways = vec![
        Way {
            name: "plain pipe",
            before: Vec::new(),
            strict: false,
        },
        Way {
            name: "harness record",
            before: words(&[harness, "record", "-o", file, "--"]),
            strict: false,
        },
        Way {
            name: "harness record --no-redact",
            before: words(&[harness, "record", "--no-redact", "-o", file, "--"]),
            strict: false,
        },
    ];
    if let Some(conductor) = std::env::var_os("CONDUCTOR") {
        ways.push(Way {
            name: "conductor agent --trace",
            before: [vec![conductor], words(&["--trace", file, "agent"])].concat(),
            strict: true,
        });
    }
    let mut all_hold = true;
    let mut direct = Duration::ZERO;
    println!(
        "{:<28} {:>14} {:>12} {:>12} {:>10}",
        "", "messages/s", "round trip", "added", "memory"
    );
    for way in &ways {
        let count = if way.strict { FLOOD / 100 } else { FLOOD };
        let (rate, memory) = throughput(way, count, &trace);
        let trip = round_trip(way);
        if way.before.is_empty() {
            direct = trip;
        }
        let added = trip.saturating_sub(direct);
        println!(
            "{:<28} {:>14.0} {:>9.1} µs {:>9.1} µs {:>7} MB",
            way.name,
            rate,
            trip.as_secs_f64() * 1e6,
            added.as_secs_f64() * 1e6,
            memory.map_or("-".to_owned(), |bytes| (bytes >> 20).to_string())
        );
        if way.name.starts_with("harness") {
            let holds = rate >= 500_000.0 && added < Duration::from_micros(50);
            all_hold &= holds;
            if !holds {
                println!("  MISSED: at least 500000 messages a second, less than 50 µs added");
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    if all_hold {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn start(way: &Way, agent: &[&str]) -> Child {
    let own = std::env::current_exe().unwrap();
    let mut words = way.before.clone();
    if way.strict {
        // The conductor takes one word that a shell could split.
        words.push(format!("{} {}", own.display(), agent.join(" ")).into());
    } else {
        words.push(own.into());
        words.extend(agent.iter().map(OsString::from));
    }
    Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Messages a second, and the most memory that the process between took.
fn throughput(way: &Way, count: usize, trace: &Path) -> (f64, Option<u64>) {
    let _ = fs::remove_file(trace);
    let mut child = start(way, &["flood", &count.to_string()]);
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    initialize(&mut input, &mut output);
    let since = Instant::now();
    writeln!(
        input,
        r#"{{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{{"sessionId":"sess_01","prompt":[]}}}}"#
    )
    .unwrap();
    let (mut buffer, mut lines, mut memory) = (vec![0; 1 << 17], 0, None);
    while lines < count {
        let read = output.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count();
        if lines % 5_000 < 500 && !way.before.is_empty() {
            memory = peak(child.id()).or(memory);
        }
    }
    let rate = lines as f64 / since.elapsed().as_secs_f64();
    drop(input);
    if way.strict {
        child.kill().unwrap();
    }
    child.wait().unwrap();
    assert!(lines == count, "{}: {lines} of {count} messages", way.name);
    if way.name.starts_with("harness") {
        check(trace, count);
    }
    (rate, memory)
}

/// All that passed must be in the file.
fn check(trace: &Path, count: usize) {
    let recorded = BufReader::new(fs::File::open(trace).unwrap())
        .split(b'\n')
        .filter(|line| {
            line.as_ref()
                .unwrap()
                .windows(16)
                .any(|part| part == b"\"from\":\"agent\",\"")
        })
        .count();
    assert!(
        recorded >= count,
        "{recorded} of {count} messages are in the file"
    );
}

/// The median of a round trip.
fn round_trip(way: &Way) -> Duration {
    let mut child = start(way, &["echo"]);
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    initialize(&mut input, &mut output);
    let padding = "x".repeat(120);
    let (mut line, mut times) = (Vec::new(), Vec::new());
    for number in 0..ROUND_TRIPS {
        let since = Instant::now();
        writeln!(
            input,
            r#"{{"jsonrpc":"2.0","id":{},"method":"_ping","params":{{"text":"{padding}"}}}}"#,
            number + 1
        )
        .unwrap();
        line.clear();
        if output.read_until(b'\n', &mut line).unwrap() == 0 {
            break;
        }
        times.push(since.elapsed());
    }
    drop(input);
    if way.strict {
        child.kill().unwrap();
    }
    child.wait().unwrap();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
