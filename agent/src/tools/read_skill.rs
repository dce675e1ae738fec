//! `read_skill`: the instructions of a skill.

use std::path::Path;

use super::Output;
use crate::skills;

/// Reads the skill of the session's folder that is called `name`.
pub(crate) fn run(cwd: &Path, name: &str) -> Output {
    match skills::read(cwd, name) {
        Ok(text) => Output::done(text),
        Err(reason) => Output::failure(reason),
    }
}
