//! The system prompt of a session.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::{log, skills};

const ROLE: &str = "You are Bob, a coding agent that works in one folder, mostly with the shell. \
    Use the tools to look at the facts before you answer, change only what was asked for, and say \
    briefly what you did. A tool call that the user rejected must not be repeated in another form.";

/// The role, the folder and those beside it, its skills, and its `AGENTS.md`.
pub(crate) fn of_folder(folder: &Path, others: &[PathBuf]) -> String {
    let mut prompt = format!("{ROLE}\n\nThe folder is {}.", folder.display());
    for other in others {
        let _ = write!(prompt, "\nA further folder is {}.", other.display());
    }
    let skills = skills::of_folder(folder);
    if !skills.is_empty() {
        prompt.push_str("\n\nSkills, to be read with read_skill when the subject comes up:");
        for skill in skills {
            let _ = write!(prompt, "\n- {}: {}", skill.name, skill.description);
        }
    }
    let path = folder.join("AGENTS.md");
    match std::fs::read_to_string(&path) {
        Ok(instructions) => {
            let instructions = instructions.trim_end();
            let _ = write!(prompt, "\n\nInstructions from AGENTS.md:\n\n{instructions}");
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => log::line(format_args!(
            "warning: {}: left out, cannot be read: {error}",
            path.display()
        )),
    }
    prompt
}
