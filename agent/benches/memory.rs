//! Whether `bob` holds its memory over a long day: `cargo bench -p bob --bench memory`.
//!
//! One process per surface answers prompts over a hundred sessions, with `/new` between. What it takes at the end may be
//! at most a tenth more or less than after the first tenth of the time.
//!
//!   MEMORY_MINUTES    how long for each surface, fractions too   (10)
//!   MEMORY_SURFACES   which surfaces, with blanks between         (0.11.0 1.0.3 everything)
//!   BOB               another binary                              (the one that cargo built)
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SESSIONS: usize = 100;
/// Between two turns, so that the machine is not taken whole.
const PAUSE: Duration = Duration::from_millis(3);
/// What is said in a session between one `/new` and the next, a part in each visit.
const VISITS: [&[&str]; 4] = [
    &["Hello there.", "stream 50 0"],
    &[r"write note.txt one\nedit note.txt one => two\nread note.txt"],
    &[r"run seq 200\nsay Counted.", "fail the model is gone"],
    &["read absent.txt", "wait 60000"],
];
/// What only the everything surface can do.
const EVERYTHING: [&str; 2] = [
    r"think Let me see.\nplan look; change; check\ndone 3\nsay Done.",
    r"mode code\nrun true\nmode ask\nask Which one?",
];

fn main() -> ExitCode {
    // `cargo test --all-targets` runs this too, without the flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let minutes = std::env::var("MEMORY_MINUTES").map_or(10.0, |text| text.parse().unwrap());
    let surfaces = std::env::var("MEMORY_SURFACES");
    let surfaces = surfaces.unwrap_or_else(|_| "0.11.0 1.0.3 everything".to_owned());
    let mut all_hold = true;
    for surface in surfaces.split_whitespace() {
        all_hold &= holds(surface, Duration::from_secs_f64(minutes * 60.0));
    }
    if all_hold {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Talks to one process for so long, and prints what it took.
fn holds(surface: &str, length: Duration) -> bool {
    let mut bob = Bob::start(surface);
    let began = Instant::now();
    let (mut visits, mut first) = (0, None);
    while began.elapsed() < length {
        for session in 0..SESSIONS {
            bob.visit(session, visits);
            if first.is_none() && began.elapsed() >= length / 10 {
                first = Some(bob.megabytes());
            }
        }
        visits += 1;
    }
    let (first, last) = (first.unwrap(), bob.megabytes());
    let change = (last / first - 1.0) * 100.0;
    let holds = change.abs() <= 10.0;
    println!(
        "{surface:<11} {first:>6.1} MB after {:.0} s, {last:>6.1} MB after {:.0} s: {change:+.1} % \
         ({} turns, {visits} visits to each of {SESSIONS} sessions){}",
        length.as_secs_f64() / 10.0,
        began.elapsed().as_secs_f64(),
        bob.turns,
        if holds { "" } else { "  MISSED: at most 10 %" },
    );
    holds
}

struct Bob {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Where the sessions work and, if they are stored, where.
    folder: PathBuf,
    everything: bool,
    sessions: Vec<String>,
    requests: u64,
    turns: u64,
}

impl Bob {
    fn start(surface: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("bob-memory-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("work")).unwrap();
        let binary = std::env::var_os("BOB").unwrap_or(env!("CARGO_BIN_EXE_bob").into());
        let mut child = Command::new(binary)
            .args(["--surface", surface, "--state"])
            .arg(folder.join("state"))
            .env_remove("OPENAI_BASE_URL")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut bob = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            everything: surface == "everything",
            folder,
            sessions: Vec::new(),
            requests: 0,
            turns: 0,
        };
        bob.call("initialize", r#""protocolVersion":1"#);
        let opening = opening(&bob.folder);
        for _ in 0..SESSIONS {
            let answer = bob.call("session/new", &opening);
            let id = answer.split(r#""sessionId":""#).nth(1).unwrap();
            bob.sessions.push(id.split('"').next().unwrap().to_owned());
        }
        bob
    }

    /// A few turns in a session, and `/new`.
    fn visit(&mut self, session: usize, visits: usize) {
        for text in VISITS[(session + visits) % VISITS.len()] {
            self.turn(session, text);
        }
        if self.everything {
            self.turn(session, EVERYTHING[(session + visits) % EVERYTHING.len()]);
        }
        self.turn(session, "/new");
        if self.everything && session % 10 == visits % 10 {
            let id = format!(r#""sessionId":"{}""#, self.sessions[session]);
            self.call("session/close", &id);
            let opening = opening(&self.folder);
            self.call("session/load", &format!("{id},{opening}"));
        }
    }

    fn turn(&mut self, session: usize, text: &str) {
        let session = self.sessions[session].clone();
        let prompt =
            format!(r#""sessionId":"{session}","prompt":[{{"type":"text","text":"{text}"}}]"#);
        self.request("session/prompt", &prompt);
        if text.starts_with("wait") {
            let params = format!(r#"{{"sessionId":"{session}"}}"#);
            self.send(&format!(
                r#"{{"jsonrpc":"2.0","method":"session/cancel","params":{params}}}"#
            ));
        }
        let answer = self.answer();
        let failed = answer.contains("the model is gone");
        assert!(failed || answer.contains("stopReason"), "{text}: {answer}");
        self.turns += 1;
        sleep(PAUSE);
    }

    fn call(&mut self, method: &str, members: &str) -> String {
        self.request(method, members);
        let answer = self.answer();
        assert!(answer.contains(r#""result""#), "{method}: {answer}");
        answer
    }

    fn request(&mut self, method: &str, members: &str) {
        self.requests += 1;
        let id = self.requests;
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}}}}}"#
        ));
    }

    /// Reads up to the answer to the last request; permissions are given on the way.
    fn answer(&mut self) -> String {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"#, self.requests);
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "bob ended");
            if line.starts_with(&answer) {
                return line;
            }
            if line.contains(r#""method":"session/request_permission""#) {
                let id = line.split('"').nth(7).unwrap();
                self.send(&format!(
                    r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"outcome":{{"outcome":"selected","optionId":"allow"}}}}}}"#
                ));
            }
        }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// What the process has in memory now.
    fn megabytes(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS"));
        let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
        kilobytes.parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Bob {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The members of a request that opens a session.
fn opening(folder: &Path) -> String {
    let cwd = folder.join("work");
    format!(r#""cwd":"{}","mcpServers":[]"#, cwd.display())
}
