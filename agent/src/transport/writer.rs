//! Messages to lines.

use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use agent_client_protocol::{RawJsonRpcMessage, TransportFrame};
use futures::StreamExt as _;
use futures::channel::mpsc::UnboundedReceiver;
use futures::executor::block_on;

use super::reader::Inward;
use super::{Gate, envelope};
use crate::fault::{Filter, Outward};

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
    filtered: Option<(&Filter, &Inward)>,
) -> std::io::Result<()> {
    let mut output = BufWriter::with_capacity(64 * 1024, output);
    if let Some((filter, inward)) = filtered {
        carry_out(filter.start(), &mut output, inward)?;
    }
    let mut written = 0;
    loop {
        let frame = match queue.try_recv() {
            Ok(frame) => frame,
            Err(_) => {
                output.flush()?;
                gate.leave(std::mem::take(&mut written));
                match block_on(queue.next()) {
                    Some(frame) => frame,
                    None => break,
                }
            }
        };
        let TransportFrame::Single(message) = frame else {
            continue;
        };
        match filtered {
            None => {
                serde_json::to_writer(&mut output, &message)?;
                output.write_all(b"\n")?;
            }
            Some((filter, inward)) => {
                let steps = filter.outward(serde_json::to_value(&message)?);
                carry_out(steps, &mut output, inward)?;
            }
        }
        progress.fetch_add(1, Ordering::Relaxed);
        if is_update(&message) {
            written += 1;
        }
        if written == BATCH {
            gate.leave(std::mem::take(&mut written));
        }
    }
    if let Some((filter, inward)) = filtered {
        carry_out(filter.end(), &mut output, inward)?;
    }
    output.flush()
}

/// Does what a filter says.
fn carry_out(steps: Vec<Outward>, output: &mut impl Write, inward: &Inward) -> std::io::Result<()> {
    for step in steps {
        match step {
            Outward::Write(line) => output.write_all(&line)?,
            Outward::Deliver(line) => {
                inward.pass(envelope::read(&line));
            }
            Outward::Wait(time) => {
                output.flush()?;
                thread::sleep(time);
            }
            Outward::Exit(code) => {
                output.flush()?;
                std::process::exit(code.into());
            }
        }
    }
    Ok(())
}

fn is_update(message: &RawJsonRpcMessage) -> bool {
    matches!(message, RawJsonRpcMessage::Notification(note) if &*note.method == "session/update")
}
