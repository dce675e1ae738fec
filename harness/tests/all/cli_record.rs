//! `harness record` between a client and an agent: it is as a pipe, and what passes is in the file.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use acp_harness::trace::{Body, Event, Exit, Party};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proptest::prelude::*;

use crate::recorder::{Recorder, wire};

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

fn exit_of(events: &[Event]) -> Option<Exit> {
    events.iter().find_map(|event| match event.body {
        Body::Exit(exit) => Some(exit),
        _ => None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_pass_both_ways_unchanged_and_are_in_the_file(
        parts in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..200),
                Just(b"{\"jsonrpc\":\"2.0\",\"id\":1}\n".to_vec()),
                Just(b"\n".to_vec()),
                Just(vec![b'x'; 300_000]),
            ],
            0..12,
        ),
    ) {
        let recorder = Recorder::new();
        let sent = parts.concat();
        let (status, output) = recorder.talk(&["--no-redact"], &["cat"], &sent);
        prop_assert_eq!(status.code(), Some(0));
        prop_assert_eq!(&output.stdout, &sent);
        prop_assert_eq!(output.stderr, b"");
        let events = recorder.events();
        prop_assert_eq!(&wire(&events, Party::Client), &sent);
        prop_assert_eq!(&wire(&events, Party::Agent), &sent);
    }
}

#[test]
fn a_line_that_never_ends_flows() {
    let recorder = Recorder::new();
    let mut child = recorder.start(&[], &["cat"]);
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    for _ in 0..50 {
        input.write_all(b"no line").unwrap();
        let mut back = [0; 7];
        output.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"no line");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(
        wire(&recorder.events(), Party::Agent),
        b"no line".repeat(50)
    );
}

#[test]
fn the_exit_code_is_passed_on() {
    let recorder = Recorder::new();
    let (status, _) = recorder.talk(&[], &["sh", "-c", "exit 7"], b"");
    assert_eq!(status.code(), Some(7));
    assert_eq!(exit_of(&recorder.events()), Some(Exit::Code(7)));
}

#[test]
fn a_signal_that_ends_the_agent_ends_the_recorder() {
    for signal in [9, 15, 11] {
        let recorder = Recorder::new();
        let (status, _) = recorder.talk(&[], &["sh", "-c", &format!("kill -{signal} $$")], b"");
        assert_eq!(status.signal(), Some(signal));
        assert_eq!(exit_of(&recorder.events()), Some(Exit::Signal(signal)));
    }
}

#[test]
fn signals_are_passed_on_and_recorded() {
    for (signal, name) in [
        (Signal::SIGTERM, "TERM"),
        (Signal::SIGINT, "INT"),
        (Signal::SIGHUP, "HUP"),
        (Signal::SIGUSR1, "USR1"),
    ] {
        // Whoever started this test may ignore the signal, and a shell cannot trap what was ignored when it began. What is
        // handled here, if only as it would be anyway, begins anew in each process that is started from here.
        let as_usual = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_default(signal as i32, as_usual).unwrap();
        let recorder = Recorder::new();
        // A `wait` ends with the signal, whenever that comes.
        let script = format!(
            "sleep 1000 >/dev/null 2>&1 & trap 'kill $!; echo got; exit 5' {name}; echo up; wait"
        );
        let mut child = recorder.start(&[], &["sh", "-c", &script]);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        send(&child, signal);
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "up\ngot\n");
        assert_eq!(child.wait().unwrap().code(), Some(5));
        let events = recorder.events();
        let recorded = events
            .iter()
            .find(|event| event.body == Body::Signal(signal as i32));
        assert_eq!(recorded.map(|event| event.from), Some(Party::Harness));
    }
}

#[test]
fn stderr_is_passed_on_and_recorded_by_lines() {
    let recorder = Recorder::new();
    let (_, output) = recorder.talk(&[], &["sh", "-c", "printf 'one\\ntwo' >&2"], b"");
    assert_eq!(output.stderr, b"one\ntwo");
    let lines: Vec<Body> = recorder
        .events()
        .into_iter()
        .map(|event| event.body)
        .filter(|body| matches!(body, Body::Stderr(_)))
        .collect();
    assert_eq!(
        lines,
        [Body::Stderr(b"one".to_vec()), Body::Stderr(b"two".to_vec())]
    );
}

#[test]
fn the_end_of_stdin_reaches_the_agent_and_comes_before_its_exit() {
    let recorder = Recorder::new();
    let (status, output) = recorder.talk(&[], &["sh", "-c", "cat >/dev/null; echo over"], b"{}\n");
    assert!(status.success());
    assert_eq!(output.stdout, b"over\n");
    let events = recorder.events();
    let at = |from, body: &Body| {
        events
            .iter()
            .position(|event| event.from == from && event.body == *body)
    };
    let client = at(Party::Client, &Body::Eof).unwrap();
    let agent = at(Party::Agent, &Body::Eof).unwrap();
    assert!(client < agent);
    assert_eq!(
        events.last().map(|event| &event.body),
        Some(&Body::Exit(Exit::Code(0)))
    );
}

#[test]
fn an_agent_that_closes_its_stdout_is_seen_to_do_so_while_it_lives() {
    let recorder = Recorder::new();
    let mut child = recorder.start(&[], &["sh", "-c", "exec >&-; read -r line; exit 4"]);
    let mut rest = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    assert_eq!(child.try_wait().unwrap(), None);
    writeln!(child.stdin.take().unwrap(), "go").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

#[test]
fn an_agent_that_exits_ends_the_recorder_though_the_client_goes_on() {
    let recorder = Recorder::new();
    let mut child = recorder.start(&[], &["sh", "-c", "read -r line; exit 3"]);
    let mut input = child.stdin.take().unwrap();
    // The client writes until it is told that nobody reads.
    let error = loop {
        if let Err(error) = input.write_all(b"again\n") {
            break error;
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn an_agent_that_closes_its_stdin_is_seen_to_do_so_by_a_client_that_writes_nothing() {
    let recorder = Recorder::new();
    let mut child = recorder.start(&[], &["sh", "-c", "exec <&-; echo closed; sleep 100"]);
    let input = child.stdin.take().unwrap();
    let mut poll = [nix::poll::PollFd::new(
        std::os::fd::AsFd::as_fd(&input),
        nix::poll::PollFlags::empty(),
    )];
    assert_eq!(nix::poll::poll(&mut poll, 20_000u16), Ok(1));
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

#[test]
fn a_client_that_reads_no_more_is_seen_by_the_agent() {
    let recorder = Recorder::new();
    let mut child = recorder.start(
        &[],
        &[
            "sh",
            "-c",
            "trap '' PIPE; while echo line 2>/dev/null; do :; done; exit 9",
        ],
    );
    let mut line = [0; 5];
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut line).unwrap();
    drop(output);
    assert_eq!(child.wait().unwrap().code(), Some(9));
    let closed = Body::Other(serde_json::json!({"closed": "client"}));
    assert!(recorder.events().iter().any(|event| event.body == closed));
}

#[test]
fn a_client_that_waits_for_the_exit_before_it_reads_gets_both() {
    let recorder = Recorder::new();
    let script = "trap 'exit 6' TERM; echo up; while :; do echo 0123456789012345678901234567890123456789; done";
    let mut child = recorder.start(&[], &["sh", "-c", script]);
    let mut output = child.stdout.take().unwrap();
    let mut line = [0; 3];
    output.read_exact(&mut line).unwrap();
    send(&child, Signal::SIGTERM);
    // What the agent wrote fills all pipes by now, or will.
    let code = child.wait().unwrap().code();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(code, Some(6));
    // The last line may have been cut by the signal.
    let lines: Vec<&str> = rest.lines().collect();
    let whole = "0123456789012345678901234567890123456789";
    assert!(lines.iter().rev().skip(1).all(|line| *line == whole));
    assert_eq!(exit_of(&recorder.events()), Some(Exit::Code(6)));
}

#[test]
fn what_the_agent_leaves_behind_is_served_after_its_exit() {
    let recorder = Recorder::new();
    let mut child = recorder.start(
        &[],
        &[
            "sh",
            "-c",
            "exec 3<&0; { read -r line <&3; echo \"late $line\"; } & echo early",
        ],
    );
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut input = child.stdin.take().unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    writeln!(input, "word").unwrap();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "early\nlate word\n");
    line.clear();
    assert_eq!(output.read_line(&mut line).unwrap(), 0);
}

#[test]
fn an_agent_that_cannot_be_started_is_named() {
    let recorder = Recorder::new();
    let (status, output) = recorder.talk(&[], &["no-such-agent"], b"");
    assert_eq!(status.code(), Some(3));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: `no-such-agent` cannot be started"),
        "{stderr}"
    );
    let (status, _) = recorder.talk(&["--nonsense"], &["cat"], b"");
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_file_that_cannot_be_written_does_not_stop_the_traffic() {
    for file in ["no/such/folder/file", "/dev/full"] {
        let recorder = Recorder::new();
        let sent = b"{\"id\":1}\n".repeat(10_000);
        let (status, output) = recorder.talk(&["-o", file], &["cat"], &sent);
        assert!(status.success());
        assert_eq!(output.stdout, sent);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(
            stderr.contains(file) && stderr.contains("the traffic goes on"),
            "{stderr}"
        );
    }
}

#[test]
fn a_file_that_nobody_takes_up_does_not_stop_the_traffic() {
    let recorder = Recorder::new();
    let pipe = recorder.folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let sent = vec![b'x'; 20 << 20];
    let (status, output) = recorder.talk(&["-o", pipe.to_str().unwrap()], &["cat"], &sent);
    assert!(status.success());
    assert_eq!(output.stdout.len(), sent.len());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn the_file_says_where_it_ends_if_the_disk_is_full() {
    let recorder = Recorder::new();
    // The limit on the size of files stands for a disk that is full.
    let script = format!(
        "ulimit -f 64; trap '' XFSZ; exec {} record -o {} -- cat",
        env!("CARGO_BIN_EXE_harness"),
        recorder.file().display()
    );
    let mut child = std::process::Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        for number in 0..5_000 {
            writeln!(
                input,
                "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"x\"}}"
            )
            .unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    assert_eq!(
        output.stdout.iter().filter(|byte| **byte == b'\n').count(),
        5_000
    );
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("the recording ends here")
    );
    let read = acp_harness::trace::Recording::read(&recorder.file()).unwrap();
    assert!(
        !read.events.is_empty() && read.damage.is_empty(),
        "{:?}",
        read.damage
    );
}

#[test]
fn in_a_folder_each_process_has_its_own_file() {
    let recorder = Recorder::new();
    let folder = recorder.folder.path().join("new/traces/");
    fs::create_dir_all(&folder).unwrap();
    let place = folder.to_str().unwrap();
    for _ in 0..2 {
        assert!(
            recorder
                .talk(&["-o", place], &["/bin/cat"], b"{}\n")
                .0
                .success()
        );
    }
    let names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 2);
    for name in names {
        let parts: Vec<&str> = name.strip_suffix(".jsonl").unwrap().split('-').collect();
        assert_eq!(parts[0], "cat");
        assert!(parts.last().unwrap().parse::<u32>().is_ok(), "{name}");
    }
}

#[test]
fn without_a_place_the_recording_is_in_the_state_folder_and_only_its_user_reads_it() {
    let recorder = Recorder::new();
    let output = recorder
        .plain(&["record", "--verbose", "--", "cat"])
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let path = stderr
        .trim()
        .strip_prefix("recording into `")
        .unwrap()
        .strip_suffix('`')
        .unwrap();
    assert!(path.contains("/acp-harness/cat/cat-"), "{path}");
    assert_eq!(
        fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn the_agent_gets_folder_environment_and_arguments_as_they_are() {
    let recorder = Recorder::new();
    let script = "pwd; env | sort; echo \"$@\"";
    let words = ["sh", "-c", script, "name", "--flag", "a b", "--"];
    let run = |mut command: std::process::Command| {
        let output = command
            .env("MARK", "x y")
            .current_dir(recorder.folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let recorded = run(recorder.plain(&[&["record", "--"][..], &words[..]].concat()));
    let mut direct = recorder.plain(&[]);
    let state = direct
        .get_envs()
        .find(|(name, _)| *name == "XDG_STATE_HOME")
        .unwrap()
        .1
        .unwrap()
        .to_owned();
    direct = std::process::Command::new(words[0]);
    direct
        .args(&words[1..])
        .env("XDG_STATE_HOME", state)
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR");
    assert_eq!(recorded, run(direct));
}

#[test]
fn the_header_says_what_was_recorded() {
    let recorder = Recorder::new();
    recorder.talk(&[], &["cat", "-u"], b"");
    let header = recorder.recording().header;
    assert_eq!(header.command, ["cat", "-u"]);
    assert!(header.redacted && header.from_start());
    assert!(
        header.by.unwrap().starts_with("harness ")
            && header.cwd.is_some()
            && header.recorded.is_some()
    );
}

#[test]
fn recordings_that_are_killed_at_any_moment_can_be_read() {
    let recorder = Recorder::new();
    let script = "while read -r line; do echo '{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"text\":\"some words, and more\"}}'; done";
    for round in 0..200u32 {
        let file = recorder.folder.path().join(format!("{round}.jsonl"));
        let mut child = recorder.start(&["-o", file.to_str().unwrap()], &["sh", "-c", script]);
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        // How far the conversation gets differs from round to round, and so does what is under way at that moment.
        for _ in 0..round % 40 {
            input
                .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1}\n{\"id\":2}\n")
                .unwrap();
            if round % 3 > 0 {
                output.read_line(&mut line).unwrap();
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // The agent notices by itself: it is not this process's child, and its pipes are closed.
        output.read_to_string(&mut line).unwrap();
        if !file.exists() {
            continue;
        }
        let read = acp_harness::trace::Recording::read(&file).unwrap();
        assert!(read.damage.len() <= 1, "{:?}", read.damage);
        for damage in &read.damage {
            assert!(damage.reason.starts_with("cut off"), "{damage:?}");
            assert_eq!(damage.line, 2 + read.events.len() as u64);
        }
    }
}
