//! The exit codes of every command.

use std::process::ExitCode;

/// How a command ends. The first that holds of 2, 4, 3, 1 is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: all holds; known failures too.
    Fine = 0,
    /// 1: findings, differences, stale known failures, or an inconclusive verdict.
    Findings = 1,
    /// 2: flags, files, or nothing that matched.
    Usage = 2,
    /// 3: the agent could not be started or never answered `initialize`.
    NoAgent = 3,
    /// 4: a fault of the harness itself.
    Fault = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
