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
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use agent_client_protocol::{Channel, TransportFrame};
use futures::channel::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

pub(crate) use gate::Gate;

/// The ends of a running transport.
pub(crate) struct Transport {
    /// Bounds the updates that wait to be written.
    pub(crate) gate: Arc<Gate>,
    /// Cancelled when the peer no longer takes output.
    pub(crate) output_lost: CancellationToken,
    outgoing: UnboundedSender<TransportFrame>,
    written: mpsc::Receiver<()>,
}

impl Transport {
    /// Starts a thread for each direction. The channel is the SDK's side of the connection.
    pub(crate) fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> std::io::Result<(Self, Channel)> {
        let (ours, theirs) = Channel::duplex();
        let (from_sdk, to_sdk) = theirs.into_parts();
        let gate = Arc::new(Gate::default());
        let output_lost = CancellationToken::new();
        let (done, written) = mpsc::channel();

        let answers = ours.tx.clone();
        thread::Builder::new()
            .name("reader".into())
            .spawn(move || reader::run(input, &to_sdk, &answers))?;

        let (gate_of_writer, lost) = (Arc::clone(&gate), output_lost.clone());
        thread::Builder::new()
            .name("writer".into())
            .spawn(move || {
                if writer::run(from_sdk, output, &gate_of_writer).is_err() {
                    lost.cancel();
                }
                let _ = done.send(());
            })?;

        let transport = Self {
            gate,
            output_lost,
            outgoing: ours.tx.clone(),
            written,
        };
        Ok((transport, ours))
    }

    /// Lets the writer finish what is queued. A peer that does not read cannot hold the process
    /// longer than `limit`.
    pub(crate) fn finish(self, limit: Duration) {
        self.outgoing.close_channel();
        let _ = self.written.recv_timeout(limit);
    }
}
