//! How many scenarios run side by side, if nobody says.

use std::fs;
use std::thread;

/// Memory of one process of an agent of which nothing is known, in MB.
const UNKNOWN_MB: u64 = 250;
/// An agent of at most so much memory mostly waits.
const SMALL_MB: u64 = 100;
/// More is of no use.
const MOST: usize = 32;

/// What the cores and the memory allow for an agent that takes `memory_mb`.
pub(super) fn default_jobs(memory_mb: Option<u64>) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    allowed(cores, memory_mb.unwrap_or(UNKNOWN_MB), free_mb())
}

/// Scenarios mostly wait, so there are several to a core; heavy agents compute while they start. Half of what is free is
/// used at most.
fn allowed(cores: usize, memory_mb: u64, free_mb: Option<u64>) -> usize {
    let by_cores = cores * if memory_mb <= SMALL_MB { 12 } else { 2 };
    let by_memory = free_mb.map_or(usize::MAX, |free| {
        usize::try_from(free / 2 / memory_mb.max(1)).unwrap_or(usize::MAX)
    });
    by_cores.min(by_memory).clamp(1, MOST)
}

/// Memory that is free for new programs, where the system tells.
fn free_mb() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_and_memory_bound_what_runs_side_by_side() {
        assert_eq!(allowed(2, 30, Some(16_000)), 24);
        assert_eq!(allowed(2, 800, Some(16_000)), 4);
        assert_eq!(allowed(8, 800, Some(4_000)), 2);
        assert_eq!(allowed(8, 800, Some(100)), 1);
        assert_eq!(allowed(64, 30, None), MOST);
    }
}
