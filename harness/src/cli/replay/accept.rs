//! Writes what an agent did now into the recording.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::super::redaction::redact;
use super::play::Replay;
use super::sources::Source;
use crate::model::NOT_RECORDED;
use crate::replay::accepted;
use crate::trace::{Body, Event, Exchange, ExchangePart, Recording, TraceWriter};

/// Writes a replay into its recording, through the redaction if the recording went through it.
///
/// # Errors
/// A sentence on why it is not written.
pub(super) fn accept(source: &Source, replay: &Replay) -> Result<(), String> {
    let path = source.path.display();
    if !replay.whole {
        return Err(format!(
            "`{path}` is left as it is: the conversation did not come to its end"
        ));
    }
    if replay.live.events.iter().any(was_not_recorded) {
        return Err(format!(
            "`{path}` is left as it is: it has no reply to a request of the agent to its model, so what the agent did after \
             that request shows nothing"
        ));
    }
    let mut live = accepted(
        &source.recording,
        &replay.live,
        &replay.folders,
        &replay.put_in,
    );
    if source.recording.header.redacted {
        redact(&mut live)?;
    }
    write(&source.path, &live)
        .map_err(|error| format!("`{path}` could not be written and is left as it is: {error}"))
}

/// Whether an event is a request to the model that the recording does not have.
fn was_not_recorded(event: &Event) -> bool {
    matches!(&event.body, Body::Model(Exchange { part: ExchangePart::Request { side: Some(side), .. }, .. })
        if side == NOT_RECORDED)
}

/// Writes beside the file and then moves into its place, so that it is never half written.
fn write(path: &Path, recording: &Recording) -> std::io::Result<()> {
    let real = std::fs::canonicalize(path)?;
    let folder = real.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let mut writer = TraceWriter::begin(BufWriter::new(file.as_file_mut()), &recording.header)?;
    for event in &recording.events {
        writer.append(event)?;
    }
    writer.into_inner().flush()?;
    let permissions = std::fs::metadata(&real)?.permissions();
    file.as_file().set_permissions(permissions)?;
    file.persist(&real).map_err(|error| error.error)?;
    Ok(())
}
