//! Compression of a history: older turns become one summary.

use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::history::{History, Message};
use crate::model::{Failure, Model};
use crate::settings::Context;

/// Compresses what is older than the last turns that are kept, and says in one line what came of
/// it. `None`: cancelled. The history changes only if the summary succeeded.
pub(crate) async fn compress(
    history: &mut History,
    model: &dyn Model,
    settings: &Context,
    cancel: &CancellationToken,
) -> Option<String> {
    let Some(start) = history.start_of_last(settings.keep_last_turns) else {
        return Some(format!(
            "🗜️ nothing to compact: {} message(s), no turn older than the last {}",
            history.messages.len(),
            settings.keep_last_turns,
        ));
    };
    let began = Instant::now();
    let before = history.estimated_tokens();
    let older = history.messages.get(..start).unwrap_or_default();
    let summary = cancel.run_until_cancelled(model.summary(older)).await?;
    let summary = match summary {
        Ok(summary) => summary,
        Err(error) => return Some(failed(&error)),
    };
    history
        .messages
        .splice(..start, [Message::Summary(summary)]);
    history.input_tokens = None;
    Some(format!(
        "🗜️ compressed {start} messages → 1 summary + {} kept ({before} → {} tokens, {:.1}s)",
        history.messages.len().saturating_sub(1),
        history.estimated_tokens(),
        began.elapsed().as_secs_f64(),
    ))
}

/// The line that says that there is no summary.
pub(crate) fn failed(failure: &Failure) -> String {
    format!("[compact: failed, history kept: {failure}]")
}

/// Whether the last answer used so much of the model's window that it is time to compress.
pub(crate) fn is_due(history: &History, settings: &Context) -> bool {
    #[allow(clippy::cast_precision_loss)]
    let limit = settings.window as f64 * settings.threshold;
    #[allow(clippy::cast_precision_loss)]
    let used = history.input_tokens.unwrap_or(0) as f64;
    settings.window > 0 && used > limit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(window: u64) -> Context {
        Context {
            window,
            ..Context::default()
        }
    }

    #[test]
    fn a_history_is_compressed_when_it_fills_the_share_of_the_window() {
        let mut history = History::new(String::new());
        assert!(!is_due(&history, &context(100)));
        history.input_tokens = Some(80);
        assert!(!is_due(&history, &context(100)));
        history.input_tokens = Some(81);
        assert!(is_due(&history, &context(100)));
    }

    #[test]
    fn without_a_known_window_nothing_is_ever_due() {
        let mut history = History::new(String::new());
        history.input_tokens = Some(u64::MAX);
        assert!(!is_due(&history, &context(0)));
    }
}
