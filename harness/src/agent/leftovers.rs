//! Processes that an agent leaves behind: found, named and killed.
//!
//! On Linux a process belongs to a run if it is in the agent's process group or session, or if its environment holds
//! the run's marker, wherever it went. On other systems only the group is known. A process that left the session and
//! also cleared its environment is not found.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::time::sleep;

/// How long killed processes may take to vanish.
const KILL_PATIENCE: Duration = Duration::from_secs(2);

/// The most characters of a command that are kept.
const COMMAND_LENGTH: usize = 200;

/// A process that outlived its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its number.
    pub pid: i32,
    /// Its command line, cut after 200 characters, without control characters.
    pub command: String,
    /// Whether it was still in the agent's process group.
    pub inside_group: bool,
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.pid, self.command)
    }
}

/// What is known of the processes of one run, so that they can be found again.
#[derive(Debug)]
pub(super) struct Trail {
    /// The number of the agent's process group and session; 0 once nothing is in them, since the number may then be
    /// given to somebody else's processes.
    group: AtomicI32,
    marker: String,
}

impl Trail {
    pub(super) fn new(group: i32, marker: String) -> Self {
        Self {
            group: AtomicI32::new(group),
            marker,
        }
    }

    fn group(&self) -> Option<i32> {
        match self.group.load(Ordering::Acquire) {
            0 => None,
            group => Some(group),
        }
    }

    /// Sends a signal to all of the group.
    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        let group = self.group().ok_or(Errno::ESRCH)?;
        Ok(killpg(Pid::from_raw(group), signal)?)
    }

    /// Forgets the group's number if nothing is in the group any more. To be called once the agent has been waited
    /// for: from then on nothing else keeps the number from being given away.
    pub(super) async fn forget_empty_group(self: &Arc<Self>) {
        if self.scan().await.is_empty() {
            self.group.store(0, Ordering::Release);
        }
    }

    /// Waits up to `grace` for the run's processes to end by themselves, names those that did not, and kills them.
    pub(super) async fn sweep(self: &Arc<Self>, grace: Duration) -> Vec<Leftover> {
        let deadline = Instant::now() + grace;
        let mut pause = Duration::from_millis(5);
        loop {
            let found = self.scan().await;
            if found.is_empty() {
                return found;
            }
            if Instant::now() >= deadline {
                return self.kill_until_gone(found).await;
            }
            // Only children can be waited for, and these are children of others.
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    async fn kill_until_gone(self: &Arc<Self>, mut named: Vec<Leftover>) -> Vec<Leftover> {
        let deadline = Instant::now() + KILL_PATIENCE;
        let mut found = named.clone();
        while !found.is_empty() && Instant::now() < deadline {
            self.strike(&found);
            sleep(Duration::from_millis(5)).await;
            found = self.scan().await;
            for late in &found {
                if named.iter().all(|known| known.pid != late.pid) {
                    named.push(late.clone());
                }
            }
        }
        named
    }

    /// Kills what belongs to the run at once. Blocks until it is gone, two seconds at most.
    pub(super) fn kill(&self) {
        // Before anything is looked up: this needs no list of processes.
        let _ = self.signal(Signal::SIGKILL);
        let deadline = Instant::now() + KILL_PATIENCE;
        loop {
            let found = processes::of_run(self.group(), &self.marker);
            if found.is_empty() || Instant::now() >= deadline {
                return;
            }
            self.strike(&found);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn strike(&self, found: &[Leftover]) {
        // Where a signal cannot be sent, the process has ended, which is what is wanted.
        if found.iter().any(|process| process.inside_group) {
            let _ = self.signal(Signal::SIGKILL);
        }
        for process in found.iter().filter(|process| !process.inside_group) {
            let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
        }
    }

    async fn scan(self: &Arc<Self>) -> Vec<Leftover> {
        let trail = Arc::clone(self);
        tokio::task::spawn_blocking(move || processes::of_run(trail.group(), &trail.marker))
            .await
            .unwrap_or_default()
    }
}

/// A command line fit to be shown: one line, no control characters, not endless.
fn shown(command: &str) -> String {
    command
        .trim_end_matches(['\0', '\n'])
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(COMMAND_LENGTH)
        .collect()
}

#[cfg(target_os = "linux")]
mod processes {
    //! The list of processes as `/proc` tells it.

    use std::fs;
    use std::path::Path;
    use std::sync::OnceLock;

    use super::super::marker::MARKER_VARIABLE;
    use super::{Leftover, shown};

    /// The living processes of a run, the harness itself never among them.
    pub(super) fn of_run(group: Option<i32>, marker: &str) -> Vec<Leftover> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        let mark = format!("{MARKER_VARIABLE}={marker}");
        entries
            .flatten()
            .filter_map(|entry| {
                let pid = entry.file_name().to_str()?.parse::<i32>().ok()?;
                if pid == own {
                    return None;
                }
                let folder = entry.path();
                let stat = Stat::read(&fs::read(folder.join("stat")).ok()?)?;
                let inside_group = group == Some(stat.group);
                // What is older than the harness is none of its agents; most of a machine is.
                let older = stat
                    .started
                    .zip(own_start())
                    .is_some_and(|(it, own)| it < own);
                let ours = inside_group
                    || group == Some(stat.session)
                    || (!older && is_marked(&folder, mark.as_bytes()));
                (ours && !stat.dead).then(|| Leftover {
                    pid,
                    command: command(&folder),
                    inside_group,
                })
            })
            .collect()
    }

    /// What is needed of `/proc/PID/stat`.
    #[derive(Debug, PartialEq, Eq)]
    pub(super) struct Stat {
        pub(super) dead: bool,
        pub(super) group: i32,
        pub(super) session: i32,
        /// When it was started, in ticks since the machine was.
        pub(super) started: Option<u64>,
    }

    /// When the harness was started.
    fn own_start() -> Option<u64> {
        static START: OnceLock<Option<u64>> = OnceLock::new();
        *START.get_or_init(|| Stat::read(&fs::read("/proc/self/stat").ok()?)?.started)
    }

    impl Stat {
        /// Reads `pid (name) state parent group session … started …`, the start being the 22nd field; the name may hold
        /// spaces, brackets and any byte.
        pub(super) fn read(bytes: &[u8]) -> Option<Self> {
            let end = bytes.iter().rposition(|byte| *byte == b')')?;
            let rest = std::str::from_utf8(bytes.get(end + 1..)?).ok()?;
            let mut fields = rest.split_ascii_whitespace();
            let state = fields.next()?;
            let _parent = fields.next()?;
            Some(Self {
                dead: matches!(state, "Z" | "X" | "x"),
                group: fields.next()?.parse().ok()?,
                session: fields.next()?.parse().ok()?,
                started: fields.nth(15).and_then(|field| field.parse().ok()),
            })
        }
    }

    fn is_marked(folder: &Path, mark: &[u8]) -> bool {
        fs::read(folder.join("environ")).is_ok_and(|variables| {
            variables
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark)
        })
    }

    fn command(folder: &Path) -> String {
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        let text = shown(&String::from_utf8_lossy(&line));
        if text.is_empty() {
            let name = fs::read(folder.join("comm")).unwrap_or_default();
            return format!("[{}]", shown(&String::from_utf8_lossy(&name)));
        }
        text
    }
}

#[cfg(not(target_os = "linux"))]
mod processes {
    //! The process group as `ps` tells it.

    use super::{Leftover, listed};

    /// The living processes of a run's group.
    pub(super) fn of_run(group: Option<i32>, _marker: &str) -> Vec<Leftover> {
        let Some(group) = group else {
            return Vec::new();
        };
        std::process::Command::new("ps")
            .args(["-ax", "-o", "pid=,pgid=,stat=,command="])
            .output()
            .map(|output| listed(&String::from_utf8_lossy(&output.stdout), group))
            .unwrap_or_default()
    }
}

/// The living processes of a group in the output of `ps -ax -o pid=,pgid=,stat=,command=`.
#[cfg(any(test, not(target_os = "linux")))]
fn listed(output: &str, group: i32) -> Vec<Leftover> {
    output
        .lines()
        .filter_map(|line| {
            let mut rest = line;
            let mut field = || {
                let start = rest.trim_start();
                let (field, tail) = start.split_once(' ').unwrap_or((start, ""));
                rest = tail;
                field
            };
            let (pid, of_group, state) =
                (field().parse().ok()?, field().parse::<i32>().ok()?, field());
            (of_group == group && !state.starts_with('Z')).then(|| Leftover {
                pid,
                command: shown(rest.trim()),
                inside_group: true,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ps_lines_of_the_group_are_read_and_dead_ones_are_not() {
        let output = "    1     1 Ss   /sbin/init\n  812   800 S+   node a.js --acp\n  813   800 Z    (node)\n";
        let process = Leftover {
            pid: 812,
            command: "node a.js --acp".into(),
            inside_group: true,
        };
        assert_eq!(listed(output, 800), [process]);
    }

    #[test]
    fn a_command_line_is_shown_on_one_line_and_cut() {
        assert_eq!(shown("sh\0-c\0a\x1b[31mb\0"), "sh -c a [31mb");
        assert_eq!(shown(&"x".repeat(1000)).len(), COMMAND_LENGTH);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_name_with_brackets_and_spaces_does_not_confuse_the_reading() {
        let stat = processes::Stat::read(b"42 (a) Z 1 (b) S 7 40 39 0 -1").unwrap();
        assert_eq!((stat.dead, stat.group, stat.session), (false, 40, 39));
        assert_eq!(processes::Stat::read(b"42 (a"), None);
    }
}
