//! The slash commands: prompts that need no generation.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::compact;
use crate::history::History;
use crate::log;
use crate::session::Session;
use crate::skills::{self, Skill};
use crate::surface::Parts;

/// A command as the client sees it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// What the text behind it is, where it takes one.
    pub(crate) hint: Option<&'static str>,
    effect: Effect,
}

/// How a command is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// It stands alone, and needs no model.
    Alone(Action),
    /// It takes a text: see [`Typed::Plan`].
    Plan,
}

/// What a command does that stands alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    New,
    Compact,
    Unload,
}

pub(crate) static NEW: Command = Command {
    name: "new",
    description: "Clear the history and start a new session",
    hint: None,
    effect: Effect::Alone(Action::New),
};

pub(crate) static COMPACT: Command = Command {
    name: "compact",
    description: "Compress the history now, keeping the last turns",
    hint: None,
    effect: Effect::Alone(Action::Compact),
};

pub(crate) static UNLOAD: Command = Command {
    name: "unload",
    description: "Unload the model from memory",
    hint: None,
    effect: Effect::Alone(Action::Unload),
};

pub(crate) static PLAN: Command = Command {
    name: "plan",
    description: "Change to the mode `plan` and plan something",
    hint: Some("what to plan"),
    effect: Effect::Plan,
};

/// What a prompt is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Command(Action),
    /// `/plan`, and what stands behind it.
    Plan(String),
    /// A skill's name, and what stands behind it.
    Skill {
        name: String,
        text: String,
    },
    /// Something for the model.
    Question(String),
}

/// Reads a prompt: a command stands alone, a skill at the beginning.
pub(crate) fn parse(prompt: String, parts: &Parts, cwd: &Path) -> Typed {
    let Some(typed) = prompt.trim().strip_prefix('/') else {
        return Typed::Question(prompt);
    };
    let (name, text) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    for command in parts.commands {
        match command.effect {
            Effect::Alone(action) if command.name == typed => return Typed::Command(action),
            Effect::Plan if command.name == name => {
                return Typed::Plan(text.trim_start().to_owned());
            }
            _ => {}
        }
    }
    if skills(parts, cwd).iter().any(|skill| skill.name == name) {
        return Typed::Skill {
            name: name.to_owned(),
            text: text.trim_start().to_owned(),
        };
    }
    Typed::Question(prompt)
}

/// The skills of a folder that are commands of this surface: those whose name is one word and not
/// that of another command.
pub(crate) fn skills(parts: &Parts, cwd: &Path) -> Vec<Skill> {
    if !parts.skill_commands {
        return Vec::new();
    }
    let mut skills = skills::of_folder(cwd);
    skills.retain(|skill| {
        !skill.name.contains(char::is_whitespace)
            && parts.commands.iter().all(|known| known.name != skill.name)
    });
    skills.dedup_by(|second, first| second.name == first.name);
    skills
}

impl Action {
    /// Carries the command out, logs it, and returns the one line that answers it. `None`:
    /// cancelled.
    pub(crate) async fn run(
        self,
        session: &Session,
        history: &mut History,
        cancel: &CancellationToken,
    ) -> Option<String> {
        match self {
            Self::New => {
                let forgotten = history.clear();
                session.with_kept(|kept| kept.shown.clear());
                log::acp(format_args!(
                    "session {}: new session, {forgotten} message(s) forgotten",
                    session.id
                ));
                Some(format!("🆕 New session: {forgotten} message(s) forgotten."))
            }
            Self::Compact => {
                let context = &session.settings.context;
                let said = match session.model.get() {
                    Ok(model) => {
                        compact::compress(history, model.as_ref(), context, cancel).await?
                    }
                    Err(failure) => compact::failed(&failure),
                };
                log::acp(format_args!("session {}: /compact — {said}", session.id));
                Some(said)
            }
            Self::Unload => {
                session.model.unload();
                let said = "Model unloaded.";
                log::acp(format_args!("session {}: /unload — {said}", session.id));
                Some(said.to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Surface;

    fn read(surface: Surface, prompt: &str) -> Typed {
        let folder = tempfile::tempdir().unwrap();
        for name in ["paint", "new", "two words"] {
            let skill = folder.path().join("skills").join(name);
            std::fs::create_dir_all(&skill).unwrap();
            std::fs::write(skill.join("SKILL.md"), "text").unwrap();
        }
        parse(prompt.to_owned(), surface.parts(), folder.path())
    }

    fn skill(text: &str) -> Typed {
        Typed::Skill {
            name: "paint".into(),
            text: text.into(),
        }
    }

    #[test]
    fn a_command_stands_alone() {
        let later = Surface::V1_0_3;
        assert_eq!(read(later, " /new\n"), Typed::Command(Action::New));
        assert_eq!(read(later, "/unload"), Typed::Command(Action::Unload));
        for text in ["/new it", "new", "/two words", "/", "see /new"] {
            assert_eq!(read(later, text), Typed::Question(text.into()));
        }
    }

    #[test]
    fn a_skill_takes_the_text_behind_it() {
        let later = Surface::V1_0_3;
        assert_eq!(read(later, "/paint  it\nred "), skill("it\nred"));
        assert_eq!(read(later, "/paint"), skill(""));
    }

    #[test]
    fn a_surface_knows_its_own_commands_only() {
        for text in ["/unload", "/paint it"] {
            assert_eq!(
                read(Surface::V0_11_0, text),
                Typed::Question(text.to_owned())
            );
        }
    }
}
