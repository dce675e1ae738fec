//! Messages to lines.

use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_client_protocol::{RawJsonRpcMessage, TransportFrame};
use futures::StreamExt as _;
use futures::channel::mpsc::UnboundedReceiver;
use futures::executor::block_on;

use super::Gate;

/// Places are given back to the gate this many at a time: each return may wake a turn.
const BATCH: usize = 256;

/// Writes until the queue is closed. Output is flushed whenever nothing else waits.
///
/// # Errors
///
/// Returns the error of the output, which has then taken nothing more.
pub(super) fn run(
    mut queue: UnboundedReceiver<TransportFrame>,
    output: impl Write,
    gate: &Gate,
    progress: &AtomicUsize,
) -> std::io::Result<()> {
    let mut output = BufWriter::with_capacity(64 * 1024, output);
    let mut written = 0;
    loop {
        let frame = match queue.try_recv() {
            Ok(frame) => frame,
            Err(_) => {
                output.flush()?;
                gate.leave(std::mem::take(&mut written));
                match block_on(queue.next()) {
                    Some(frame) => frame,
                    None => return output.flush(),
                }
            }
        };
        let TransportFrame::Single(message) = frame else {
            continue;
        };
        serde_json::to_writer(&mut output, &message)?;
        output.write_all(b"\n")?;
        progress.fetch_add(1, Ordering::Relaxed);
        if is_update(&message) {
            written += 1;
        }
        if written == BATCH {
            gate.leave(std::mem::take(&mut written));
        }
    }
}

fn is_update(message: &RawJsonRpcMessage) -> bool {
    matches!(message, RawJsonRpcMessage::Notification(note) if &*note.method == "session/update")
}
