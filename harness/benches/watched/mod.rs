//! A process, watched from its start to its end.

#![allow(dead_code, reason = "each benchmark uses its part")]

use std::fs;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a process took.
pub(crate) struct Watched {
    /// From its start to its end.
    pub(crate) seconds: f64,
    /// The most memory that it held.
    pub(crate) megabytes: f64,
    /// What it wrote to the streams that are pipes; little, as nobody reads before its end.
    pub(crate) output: Output,
}

/// Runs a process to its end.
pub(crate) fn watch(command: &mut Command) -> Watched {
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak(child.id()).unwrap_or(0));
        sleep(Duration::from_millis(5));
    }
    Watched {
        seconds: began.elapsed().as_secs_f64(),
        megabytes: most as f64 / f64::from(1 << 20),
        output: child.wait_with_output().unwrap(),
    }
}

/// The most memory that a process has held so far, in bytes.
pub(crate) fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}
