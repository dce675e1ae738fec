//! The deviations that take a change inside the agent.

use std::sync::OnceLock;

use serde::Deserialize;

/// A place in the agent that does otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hook {
    /// A cancel with nothing running ends the next turn.
    CancelStays,
    /// A cancel of one session ends the turns of all.
    CancelsAll,
    /// The history is empty at the beginning of each turn.
    Forgets,
    /// A tool runs before permission for it is asked for.
    RunsBeforeAsking,
    /// A permission that comes after the turn's end still runs the command.
    RunsLate,
    /// A process is left behind at the end.
    LeavesProcess,
    /// What is read behind a line together with it is lost.
    OneLineARead,
    /// A load shows what was said from its end to its beginning.
    ReplaysBackwards,
    /// A session that is loaded or resumed has no history.
    ReopensEmpty,
    /// A session that is loaded or resumed keeps its further folders, whatever the client says.
    FoldersComeBack,
}

/// What is switched on in this process, which serves one client. Set once, before it serves.
static ON: OnceLock<Vec<Hook>> = OnceLock::new();

/// Switches hooks on, for the whole process.
pub(crate) fn switch_on(hooks: Vec<Hook>) {
    let _ = ON.set(hooks);
}

/// Whether a place does otherwise.
pub(crate) fn is_on(hook: Hook) -> bool {
    ON.get().is_some_and(|on| on.contains(&hook))
}
