//! The figures that `bob` is held to: `cargo bench -p bob` measures and prints them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const CHUNKS: u32 = 200_000;

fn main() -> ExitCode {
    // `cargo test --all-targets` runs this too, without the flag, and unoptimised.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let [by_clock, by_processor_time] = chunks_per_second();
    let figures = [
        first_reply(),
        by_clock,
        by_processor_time,
        memory_while_nobody_reads(),
        exit_after("when idle", None, 100.0),
        exit_after("while an answer streams", Some("stream 100000 1"), 100.0),
        exit_after("while a tool runs", Some(&run_a_child()), 100.0),
        exit_after("while nobody reads", Some("stream 100000000 0"), 1000.0),
    ];
    let mut all_hold = true;
    for figure in figures {
        let holds = if figure.at_least {
            figure.value >= figure.limit
        } else {
            figure.value <= figure.limit
        };
        all_hold &= holds;
        println!(
            "{:<48} {:>10.1} {:<4} ({} {}){}",
            figure.name,
            figure.value,
            figure.unit,
            if figure.at_least {
                "at least"
            } else {
                "at most"
            },
            figure.limit,
            if holds { "" } else { "  MISSED" },
        );
    }
    if all_hold {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    limit: f64,
    at_least: bool,
}

struct Bob {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    session: String,
}

impl Bob {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bob"))
            .env_remove("OPENAI_BASE_URL")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::with_capacity(1 << 20, child.stdout.take().unwrap()),
            child,
            session: String::new(),
        }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn wait(&mut self, text: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "bob ended");
            if line.contains(text) {
                return line;
            }
        }
    }

    fn initialize(&mut self) {
        self.send(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
        );
        self.wait("agentInfo");
    }

    fn with_session() -> Self {
        let mut bob = Self::start();
        bob.initialize();
        bob.send(r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/tmp","mcpServers":[]}}"#);
        let answer = bob.wait("sessionId");
        bob.session = answer.split('"').nth(11).unwrap().to_owned();
        bob
    }

    fn prompt(&mut self, text: &str) {
        let session = self.session.clone();
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{{"sessionId":"{session}","prompt":[{{"type":"text","text":"{text}"}}]}}}}"#
        ));
    }

    /// What bob has used of the processor so far; the kernel counts in hundredths of a second.
    fn processor_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        let ticks = |index: usize| fields[index].parse::<f64>().unwrap();
        (ticks(11) + ticks(12)) / 100.0
    }

    /// A figure of `/proc/<pid>/status` in megabytes.
    fn megabytes(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        let kilobytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kilobytes / 1024.0
    }
}

impl Drop for Bob {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn first_reply() -> Figure {
    let mut times: Vec<f64> = (0..31)
        .map(|_| {
            let began = Instant::now();
            Bob::start().initialize();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    Figure {
        name: "start to the answer to initialize, median".into(),
        value: times[15],
        unit: "ms",
        limit: 10.0,
        at_least: false,
    }
}

/// By the clock, and by the processor time of bob alone, which a busy machine changes less.
fn chunks_per_second() -> [Figure; 2] {
    let mut bob = Bob::with_session();
    let began = Instant::now();
    bob.prompt(&format!("stream {CHUNKS} 0"));
    bob.wait("stopReason");
    let times = [began.elapsed().as_secs_f64(), bob.processor_seconds()];
    ["clock", "processor time"].map(|measure| {
        let seconds = times[usize::from(measure != "clock")];
        Figure {
            name: format!("{CHUNKS} chunks, by {measure}"),
            value: f64::from(CHUNKS) / seconds,
            unit: "/s",
            limit: 100_000.0,
            at_least: true,
        }
    })
}

fn memory_while_nobody_reads() -> Figure {
    let mut bob = Bob::with_session();
    bob.prompt(&format!("stream {CHUNKS} 0"));
    sleep(Duration::from_secs(2));
    Figure {
        name: "memory at most, while nobody reads".into(),
        value: bob.megabytes("VmHWM"),
        unit: "MB",
        limit: 30.0,
        at_least: false,
    }
}

/// A child that is told from those of others by the time it would sleep.
fn child() -> String {
    format!("sleep 77{}", std::process::id())
}

fn run_a_child() -> String {
    format!("run {} & {}", child(), child())
}

fn exit_after(situation: &str, prompt: Option<&str>, limit: f64) -> Figure {
    let mut bob = Bob::with_session();
    if let Some(prompt) = prompt {
        bob.prompt(prompt);
        if prompt.starts_with("run") {
            let request = bob.wait("request_permission");
            let id = request.split('"').nth(7).unwrap().to_owned();
            bob.send(&format!(
                r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"outcome":{{"outcome":"selected","optionId":"allow"}}}}}}"#
            ));
            bob.wait("in_progress");
        }
        sleep(Duration::from_millis(300));
    }
    let began = Instant::now();
    bob.input = None;
    assert!(bob.child.wait().unwrap().success());
    let took = began.elapsed();
    let left = Command::new("pgrep").args(["-f", &child()]).output();
    let left = left.map_or(Vec::new(), |found| found.stdout);
    assert!(left.is_empty(), "a child is left {situation}");
    Figure {
        name: format!("end of the input to the exit, {situation}"),
        value: took.as_secs_f64() * 1e3,
        unit: "ms",
        limit,
        at_least: false,
    }
}
