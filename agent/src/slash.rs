//! The slash commands: prompts that need no generation.

use tokio_util::sync::CancellationToken;

use crate::compact;
use crate::history::History;
use crate::log;
use crate::session::Session;

/// A prompt that is nothing but a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    New,
    Compact,
}

impl Command {
    /// The command that a prompt is, if it is one: nothing else may stand beside it.
    pub(crate) fn parse(prompt: &str) -> Option<Self> {
        match prompt.trim() {
            "/new" => Some(Self::New),
            "/compact" => Some(Self::Compact),
            _ => None,
        }
    }

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
                log::acp(format_args!(
                    "session {}: new session, {forgotten} message(s) forgotten",
                    session.id
                ));
                Some(format!("🆕 New session: {forgotten} message(s) forgotten."))
            }
            Self::Compact => {
                let model = session.model.as_ref();
                let context = &session.settings.context;
                let said = compact::compress(history, model, context, cancel).await?;
                log::acp(format_args!("session {}: /compact — {said}", session.id));
                Some(said)
            }
        }
    }
}
