//! Runs `harness record` with a file of its own, and reads what was recorded.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;

use acp_harness::trace::{Body, Event, Party, Recording};
use tempfile::TempDir;

use crate::command_line::Harness;

/// A folder for one recording, and how to make it.
pub(crate) struct Recorder {
    pub(crate) folder: TempDir,
    harness: Harness,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            harness: Harness::new(),
        }
    }

    /// Where it records, unless a flag says something else.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("trace.jsonl")
    }

    /// `harness` with these words, and a home and a state folder of its own.
    pub(crate) fn plain(&self, words: &[&str]) -> Command {
        let mut command = self.harness.command(words);
        command.stdin(Stdio::null());
        command
    }

    /// Starts it between pipes.
    pub(crate) fn start(&self, flags: &[&str], agent: &[&str]) -> Child {
        let file = self.file();
        let place = ["-o", file.to_str().unwrap()];
        let place = if flags.contains(&"-o") {
            &[]
        } else {
            &place[..]
        };
        self.plain(&[&["record"], place, flags, &["--"], agent].concat())
            .env("AGENT_API_KEY", "from-the-environment-1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Sends these bytes and the end of stdin, and waits for the end of the agent.
    pub(crate) fn talk(&self, flags: &[&str], agent: &[&str], sent: &[u8]) -> (ExitStatus, Output) {
        let mut child = self.start(flags, agent);
        let mut input = child.stdin.take().unwrap();
        let sent = sent.to_vec();
        // An agent that reads nothing may be gone by now.
        let writer = thread::spawn(move || drop(input.write_all(&sent)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        (output.status, output)
    }

    pub(crate) fn recording(&self) -> Recording {
        let recording = Recording::read(&self.file()).unwrap();
        assert_eq!(recording.damage, []);
        recording
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.recording().events
    }
}

/// All bytes of one direction.
pub(crate) fn wire(events: &[Event], from: Party) -> Vec<u8> {
    let mut bytes = Vec::new();
    for event in events.iter().filter(|event| event.from == from) {
        let (Some(line), Body::Message { partial, .. } | Body::Line { partial, .. }) =
            (event.body.wire_bytes(), &event.body)
        else {
            continue;
        };
        bytes.extend_from_slice(line);
        if !partial {
            bytes.push(b'\n');
        }
    }
    bytes
}
