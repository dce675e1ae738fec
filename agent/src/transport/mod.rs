//! Our own transport below the SDK: one JSON-RPC message a line, over any reader and writer.
//!
//! The SDK's own stdio transport ends on a line that is not UTF-8, answers blank lines, repeats
//! bad input in its errors and buffers without a bound. This one does none of that.

mod envelope;
mod gate;
mod reader;
mod writer;

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use agent_client_protocol::{Channel, TransportFrame};
use futures::channel::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::fault::Filter;

pub(crate) use gate::Gate;

/// The ends of a running transport.
pub(crate) struct Transport {
    /// Bounds the updates that wait to be written.
    pub(crate) gate: Arc<Gate>,
    /// Cancelled when the peer no longer takes output.
    pub(crate) output_lost: CancellationToken,
    outgoing: UnboundedSender<TransportFrame>,
    /// Counts the messages that were written.
    progress: Arc<AtomicUsize>,
    written: mpsc::Receiver<()>,
}

impl Transport {
    /// Starts a thread for each direction. The channel is the SDK's side of the connection. A
    /// filter changes what passes.
    pub(crate) fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        filter: Option<Filter>,
    ) -> std::io::Result<(Self, Channel)> {
        let (ours, theirs) = Channel::duplex();
        let (from_sdk, to_sdk) = theirs.into_parts();
        let gate = Arc::new(Gate::default());
        let output_lost = CancellationToken::new();
        let (done, written) = mpsc::channel();

        let filter = Arc::new(filter);
        let inward = reader::Inward {
            to_sdk,
            answers: ours.tx.clone(),
        };
        let delivered = inward.clone();
        let filter_of_reader = Arc::clone(&filter);
        thread::Builder::new()
            .name("reader".into())
            .spawn(move || reader::run(input, &inward, filter_of_reader.as_ref().as_ref()))?;

        let progress = Arc::new(AtomicUsize::new(0));
        let (gate_of_writer, lost) = (Arc::clone(&gate), output_lost.clone());
        let count = Arc::clone(&progress);
        thread::Builder::new()
            .name("writer".into())
            .spawn(move || {
                let filtered = filter.as_ref().as_ref().map(|filter| (filter, &delivered));
                if writer::run(from_sdk, output, &gate_of_writer, &count, filtered).is_err() {
                    lost.cancel();
                }
                let _ = done.send(());
            })?;

        let transport = Self {
            gate,
            output_lost,
            outgoing: ours.tx.clone(),
            progress,
            written,
        };
        Ok((transport, ours))
    }

    /// Lets the writer finish what is queued, as long as the peer takes something within each
    /// `patience`.
    pub(crate) fn finish(self, patience: Duration) {
        self.outgoing.close_channel();
        let mut before = self.progress.load(Ordering::Relaxed);
        while self.written.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            let now = self.progress.load(Ordering::Relaxed);
            if now == before {
                return;
            }
            before = now;
        }
    }
}
