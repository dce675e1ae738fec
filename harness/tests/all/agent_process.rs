//! Real processes as agents: what they write, how they end, and that nothing outlives them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use acp_harness::agent::{
    AgentProcess, Command, Ending, Launch, Marker, Needed, Patience, RunFolder, StartError, guard,
};
use acp_harness::trace::{Body, Exit, Observed, Party};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long a test waits for what must come; it is never waited for in vain.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent that is a script for `sh`, and what came out of it.
struct Agent {
    process: AgentProcess,
    inbox: mpsc::Receiver<Observed>,
    folder: RunFolder,
}

fn launch(words: &[&str], cwd: &Path) -> Launch {
    let path = std::env::var_os("PATH").unwrap();
    Launch {
        command: Command::of_words(words.iter().copied()).unwrap(),
        cwd: cwd.to_owned(),
        env: BTreeMap::from([(OsString::from("PATH"), path)]),
        marker: Marker::fresh(),
    }
}

fn start_with(script: &str, room: usize) -> Agent {
    let folder = RunFolder::new().unwrap();
    let (out, inbox) = mpsc::channel(room);
    let process =
        AgentProcess::start(&launch(&["sh", "-c", script], folder.workspace()), out).unwrap();
    Agent {
        process,
        inbox,
        folder,
    }
}

fn start(script: &str) -> Agent {
    start_with(script, 64)
}

/// Little patience, for agents that will need all of it.
fn hurry() -> Patience {
    Patience {
        stdin: Duration::from_millis(50),
        term: Duration::from_millis(50),
        left: Duration::from_millis(50),
        told: PATIENCE,
    }
}

impl Agent {
    async fn next(&mut self) -> Observed {
        timeout(PATIENCE, self.inbox.recv())
            .await
            .expect("nothing came")
            .expect("the outbox was closed")
    }

    /// The next line as text.
    async fn line(&mut self) -> String {
        loop {
            if let Some(bytes) = self.next().await.body.wire_bytes() {
                return String::from_utf8(bytes.to_vec()).unwrap();
            }
        }
    }

    /// Receives until the agent says that it is ready.
    async fn ready(&mut self) {
        while self.line().await != "ready" {}
    }

    /// All events up to the exit.
    async fn until_exit(&mut self) -> Vec<Body> {
        let mut bodies = Vec::new();
        loop {
            let body = self.next().await.body;
            let last = matches!(body, Body::Exit(_));
            bodies.push(body);
            if last {
                return bodies;
            }
        }
    }

    async fn end(mut self, patience: Patience) -> (Ending, Vec<(Party, Body)>) {
        let mut events = Vec::new();
        let seen = |event: Observed| events.push((event.from, event.body));
        let ending = self.process.end_draining(patience, &mut self.inbox, seen);
        let ending = timeout(PATIENCE, ending)
            .await
            .expect("the ending does not end");
        (ending, events)
    }
}

fn line(text: &str) -> Body {
    Body::of_line(text.as_bytes().to_vec(), false)
}

/// Whether a process lives; one that is dead and not waited for does not.
fn lives(pid: &str) -> bool {
    let state = if cfg!(target_os = "linux") {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().unwrap().trim().to_owned()
    } else {
        let ps = std::process::Command::new("ps")
            .args(["-o", "stat=", "-p", pid])
            .output()
            .unwrap();
        String::from_utf8(ps.stdout).unwrap().trim().to_owned()
    };
    !state.is_empty() && !state.starts_with('Z')
}

#[tokio::test]
async fn lines_come_in_order_and_the_exit_comes_last() {
    let mut agent =
        start(r#"echo '{"a":1}'; echo one >&2; echo two; echo; echo three >&2; printf 'four\r\n'"#);
    let (stderr, others): (Vec<_>, Vec<_>) = agent
        .until_exit()
        .await
        .into_iter()
        .partition(|body| matches!(body, Body::Stderr(_)));
    assert_eq!(
        stderr,
        [
            Body::Stderr(b"one".to_vec()),
            Body::Stderr(b"three".to_vec())
        ]
    );
    let message = Body::Message {
        text: r#"{"a":1}"#.into(),
        partial: false,
    };
    let lines = [message, line("two"), line(""), line("four\r")];
    let last = [Body::Eof, Body::Exit(Exit::Code(0))];
    assert_eq!(others, [lines.as_slice(), last.as_slice()].concat());
}

#[tokio::test]
async fn a_last_line_without_its_newline_is_partial() {
    let bodies = start(r#"printf 'a\n{"b":1}'; printf 'c' >&2"#)
        .until_exit()
        .await;
    let partial = Body::Message {
        text: r#"{"b":1}"#.into(),
        partial: true,
    };
    assert!(bodies.contains(&partial), "{bodies:?}");
    assert!(bodies.contains(&Body::Stderr(b"c".to_vec())), "{bodies:?}");
}

#[tokio::test]
async fn bytes_that_are_no_utf8_are_kept() {
    let bodies = start(r#"printf '{"a":"\377"}\n'; printf '\376\n' >&2"#)
        .until_exit()
        .await;
    let expected = Body::Line {
        bytes: b"{\"a\":\"\xff\"}".to_vec(),
        partial: false,
    };
    assert!(bodies.contains(&expected), "{bodies:?}");
    assert!(bodies.contains(&Body::Stderr(vec![0xfe])), "{bodies:?}");
}

#[tokio::test]
async fn an_endless_line_on_stderr_is_cut() {
    let bodies = start("head -c 300000 /dev/zero | tr '\\0' x >&2; echo >&2; echo next >&2")
        .until_exit()
        .await;
    let lengths: Vec<_> = bodies
        .iter()
        .filter_map(|body| match body {
            Body::Stderr(bytes) => Some(bytes.len()),
            _ => None,
        })
        .collect();
    assert_eq!(lengths, [64 << 10, 4]);
}

#[tokio::test]
async fn exit_codes_and_signals_are_told_apart() {
    assert_eq!(
        start("exit 7").until_exit().await.last(),
        Some(&Body::Exit(Exit::Code(7)))
    );
    let mut agent = start("kill -9 $$");
    assert_eq!(
        agent.until_exit().await.last(),
        Some(&Body::Exit(Exit::Signal(9)))
    );
    assert!(!agent.process.is_running());
    assert!(agent.process.signal(15).is_err());
    let (ending, events) = agent.end(hurry()).await;
    assert_eq!(
        (ending.needed, ending.exit),
        (Needed::Nothing, Some(Exit::Signal(9)))
    );
    assert_eq!(events, []);
}

#[tokio::test]
async fn an_agent_that_heeds_its_stdin_needs_no_signal() {
    let (ending, events) = start("cat >/dev/null; exit 4")
        .end(Patience::default())
        .await;
    assert_eq!(
        (ending.needed, ending.exit),
        (Needed::StdinClosed, Some(Exit::Code(4)))
    );
    assert_eq!((ending.left, ending.complete), (vec![], true));
    assert_eq!(
        events,
        [
            (Party::Agent, Body::Eof),
            (Party::Agent, Body::Exit(Exit::Code(4)))
        ]
    );
}

#[tokio::test]
async fn an_agent_that_ignores_its_stdin_needs_sigterm() {
    let mut agent = start("trap 'exit 3' TERM; (echo ready; exec sleep 1000) & wait");
    agent.ready().await;
    let patience = Patience {
        stdin: hurry().stdin,
        ..Patience::default()
    };
    let (ending, events) = agent.end(patience).await;
    assert_eq!(
        (ending.needed, ending.exit),
        (Needed::Term, Some(Exit::Code(3)))
    );
    let expected = [
        (Party::Harness, Body::Signal(15)),
        (Party::Agent, Body::Eof),
        (Party::Agent, Body::Exit(Exit::Code(3))),
    ];
    assert_eq!(events, expected);
}

#[tokio::test]
async fn an_agent_that_ignores_sigterm_too_is_killed() {
    let mut agent = start("trap '' TERM; echo ready; sleep 1000; sleep 1000");
    agent.ready().await;
    let (ending, events) = agent.end(hurry()).await;
    assert_eq!(
        (ending.needed, ending.exit),
        (Needed::Kill, Some(Exit::Signal(9)))
    );
    assert!(ending.seconds >= 0.1, "{}", ending.seconds);
    let expected = [
        (Party::Harness, Body::Signal(15)),
        (Party::Harness, Body::Signal(9)),
        (Party::Agent, Body::Eof),
        (Party::Agent, Body::Exit(Exit::Signal(9))),
    ];
    assert_eq!(events, expected);
}

#[tokio::test]
async fn a_child_that_holds_stdout_open_delays_the_exit_by_no_more_than_a_second() {
    let mut agent = start("sleep 1000 & echo $!");
    let pid = agent.line().await;
    let bodies = agent.until_exit().await;
    assert_eq!(bodies, [Body::Exit(Exit::Code(0))], "stdout is still open");
    assert!(lives(&pid));
    let (ending, events) = agent.end(hurry()).await;
    assert_eq!(ending.needed, Needed::Nothing);
    assert_eq!(ending.left.len(), 1, "{:?}", ending.left);
    assert_eq!(ending.left[0].to_string(), format!("{pid} sleep 1000"));
    assert!(ending.left[0].inside_group);
    assert!(!lives(&pid));
    let expected = [
        (Party::Agent, Body::Eof),
        (
            Party::Harness,
            Body::Left(vec![format!("{pid} sleep 1000")]),
        ),
    ];
    assert_eq!(events, expected);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_that_left_the_group_is_found_by_its_environment() {
    let mut agent =
        start("setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' & cat >/dev/null");
    let pid = agent.line().await;
    let (ending, _) = agent.end(hurry()).await;
    assert_eq!(ending.needed, Needed::StdinClosed);
    assert_eq!(ending.left.len(), 1, "{:?}", ending.left);
    let left = ending.left[0].to_string();
    // The shell may be seen before the command takes its place.
    assert!(left.starts_with(&format!("{pid} ")), "{left}");
    assert!(
        left.ends_with("sleep 1000") || left.contains("exec sleep 1000"),
        "{left}"
    );
    assert!(!ending.left[0].inside_group);
    assert!(!lives(&pid));
}

#[tokio::test]
async fn a_child_that_ends_within_the_patience_is_not_left_behind() {
    // The shell gives a command in the background no stdin unless it is named.
    let mut agent = start("exec 3<&0; (cat <&3 >/dev/null; echo late) & echo ready");
    agent.ready().await;
    let (ending, events) = agent
        .end(Patience {
            left: PATIENCE,
            ..Patience::default()
        })
        .await;
    assert_eq!(ending.left, []);
    assert!(events.contains(&(Party::Agent, line("late"))), "{events:?}");
}

#[tokio::test]
async fn a_flood_waits_for_a_slow_receiver() {
    let mut agent = start_with("yes | head -n 1000000; touch finished", 16);
    let finished = agent.folder.workspace().join("finished");
    let mut lines = 0;
    while agent.next().await.body.wire_bytes().is_some() {
        lines += 1;
        if lines == 500_000 {
            // The reader and the pipes hold a small part of the other half.
            assert!(
                !finished.exists(),
                "the flood was taken in before anybody asked for it"
            );
        }
    }
    assert_eq!(lines, 1_000_000);
    let exit = timeout(PATIENCE, agent.process.exited()).await.unwrap();
    assert_eq!(exit, Some(Exit::Code(0)));
    assert!(finished.exists());
}

#[tokio::test]
async fn an_agent_goes_on_where_nobody_receives_any_more() {
    let Agent { process, inbox, .. } = start("yes | head -n 200000; exit 5");
    drop(inbox);
    let exit = timeout(PATIENCE, process.exited()).await.unwrap();
    assert_eq!(exit, Some(Exit::Code(5)));
}

#[tokio::test]
async fn an_ending_does_not_wait_for_ever_for_a_receiver() {
    let Agent { process, inbox, .. } = start_with("yes | head -n 100000; exec sleep 1000", 1);
    let patience = Patience {
        // However busy the machine is, the signal is enough.
        term: PATIENCE,
        told: Duration::from_millis(50),
        ..hurry()
    };
    let ending = timeout(PATIENCE, process.end(patience)).await.unwrap();
    assert_eq!(ending.needed, Needed::Term);
    assert!(!ending.complete);
    drop(inbox);
}

#[tokio::test]
async fn writing_to_an_agent_that_does_not_read_waits_for_nothing() {
    let mut agent = start("echo ready; exec sleep 1000");
    agent.ready().await;
    let write = agent.process.write(vec![b'x'; 10_000_000]);
    timeout(PATIENCE, write)
        .await
        .expect("the write waits for the agent");
    let mut queued = 0;
    while agent.process.try_write(vec![b'y']).is_ok() {
        queued += 1;
        assert!(queued <= 256, "the queue has no bound");
    }
    assert!(agent.process.write_fault().is_none());
    let (ending, _) = agent.end(hurry()).await;
    assert_eq!(ending.needed, Needed::Term);
}

#[tokio::test]
async fn ten_megabytes_reach_an_agent_that_reads() {
    let mut agent = start("wc -c");
    agent.process.write(vec![b'x'; 10_000_000]).await;
    agent.process.close_stdin();
    assert_eq!(agent.line().await.trim(), "10000000");
    assert!(agent.process.write_fault().is_none());
    agent.process.write(b"late".to_vec()).await;
    assert!(agent.process.write_fault().is_some());
}

#[tokio::test]
async fn bytes_one_by_one_arrive_as_they_are() {
    let mut agent = start("cat");
    agent
        .process
        .write_split(b"{\"a\":\"\xc3\xa4\"}\n".to_vec())
        .await;
    agent.process.write(b"next\n".to_vec()).await;
    assert_eq!(agent.line().await, "{\"a\":\"ä\"}");
    assert_eq!(agent.line().await, "next");
}

#[tokio::test]
async fn an_agent_that_closes_its_stdin_is_no_error_but_is_known() {
    let mut agent = start("exec <&-; echo ready; exec sleep 1000");
    agent.ready().await;
    let fault = async {
        while agent.process.write_fault().is_none() {
            agent.process.write(b"x\n".to_vec()).await;
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, fault).await.expect("no fault");
    let kind = agent.process.write_fault().map(std::io::Error::kind);
    assert_eq!(kind, Some(std::io::ErrorKind::BrokenPipe));
    assert!(agent.process.is_running());
}

#[tokio::test]
async fn the_environment_is_what_was_given_and_the_mark() {
    let mut names = Vec::new();
    for body in start("env").until_exit().await {
        if let Some(bytes) = body.wire_bytes() {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            names.push(text.split('=').next().unwrap().to_owned());
        }
    }
    // What a shell sets for itself.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()));
    names.sort();
    assert_eq!(names, ["ACP_HARNESS_RUN", "PATH"]);
}

#[tokio::test]
async fn nothing_is_left_after_a_drop() {
    let mut agent = start("trap '' TERM; sleep 1000 & echo $!; echo $$; wait");
    let child = agent.line().await;
    let own = agent.line().await;
    assert_eq!(own, agent.process.pid().to_string());
    assert!(lives(&child) && lives(&own));
    drop(agent.process);
    assert!(!lives(&child) && !lives(&own));
}

#[tokio::test]
async fn what_cannot_be_started_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let start = |words: &[&str], cwd: &Path| {
        let (out, _inbox) = mpsc::channel(1);
        AgentProcess::start(&launch(words, cwd), out).unwrap_err()
    };
    let error = start(&["sh"], &folder.path().join("gone"));
    assert!(matches!(error, StartError::NoCwd(_)), "{error}");
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(&script)
        .status()
        .unwrap();
    let error = start(&[script.to_str().unwrap()], folder.path());
    assert!(matches!(error, StartError::NoInterpreter(_)), "{error}");
    let error = start(&["no-such-agent", "--acp"], folder.path());
    assert_eq!(
        error.to_string(),
        "`no-such-agent` was not found on the PATH; install it, or give the path of the program"
    );
}

/// Not a test of its own: the harness that the next test interrupts.
#[tokio::test]
#[ignore = "started by a_harness_that_is_interrupted_leaves_nothing"]
async fn a_harness_that_waits() {
    guard::install(|number| std::process::exit(128 + number)).unwrap();
    // Where processes are found by their environment, one that leaves the group is found too.
    let leave = if cfg!(target_os = "linux") {
        "setsid"
    } else {
        ""
    };
    let mut agent = start(&format!(
        "trap '' TERM INT HUP; {leave} sleep 1000 & echo $!; sleep 1000 & echo $!; wait"
    ));
    let children = [agent.line().await, agent.line().await].join(" ");
    let folder = agent.folder.root().display();
    eprintln!("agent {folder} {} {children}", agent.process.pid());
    std::future::pending::<()>().await;
}

#[test]
fn a_harness_that_is_interrupted_leaves_nothing() {
    for (name, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        let mut harness = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "agent_process::a_harness_that_waits",
                "--ignored",
                "--nocapture",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(harness.stderr.take().unwrap()).lines();
        let started = lines
            .find_map(|line| Some(line.unwrap().strip_prefix("agent ")?.to_owned()))
            .unwrap();
        let kill = ["kill", name, &harness.id().to_string()].join(" ");
        std::process::Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap();
        assert_eq!(harness.wait().unwrap().code(), Some(128 + number));
        let (folder, pids) = started.split_once(' ').unwrap();
        assert!(
            !Path::new(folder).exists(),
            "{folder} outlived a harness ended by {name}"
        );
        for pid in pids.split(' ') {
            assert!(!lives(pid), "{pid} outlived a harness ended by {name}");
        }
    }
}
