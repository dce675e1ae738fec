//! What the agent writes: stdout and stderr, read in large pieces and handed on line by line.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::trace::{Body, Observed, Outbox, Party};
use crate::wire::{LineSplitter, Piece};

/// The most bytes of one line of stdout that are read.
pub(crate) const LINE_BOUND: usize = 64 << 20;

/// The most bytes of one line of stderr that are kept.
pub(crate) const STDERR_BOUND: usize = 64 << 10;

/// What is kept of a line of stdout that is over its bound.
pub(crate) const CUT_LINE: usize = 64 << 10;

/// How much is read at once.
const READ: usize = 128 << 10;

/// How long after the agent's exit a pipe that stays open is waited for: somebody else holds it.
const SETTLE: Duration = Duration::from_secs(1);

/// The most that a pipe can hold on Linux; what is read beyond it after the exit was written after the exit.
const PIPE_CAPACITY: usize = 1 << 20;

/// Which of the agent's streams is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Lines of the wire; its end is an event.
    Stdout,
    /// Lines of text; its end is none.
    Stderr,
}

/// Reads a stream to its end, or as long as the task lives, and hands on its lines.
///
/// `settled` is dropped once all that the agent itself wrote has been handed on: at the end of the stream, or where a
/// second after `exited` nothing more came. What others who hold the stream write later is handed on too.
/// Where nobody takes the lines any more, the stream is read on and what it holds is dropped, so that the agent does
/// not stop at a full pipe.
pub(super) async fn read(
    mut pipe: impl AsyncRead + Unpin,
    stream: Stream,
    out: Outbox,
    exited: CancellationToken,
    settled: oneshot::Sender<()>,
) {
    let mut settled = Some(settled);
    let mut splitter = LineSplitter::new(match stream {
        Stream::Stdout => LINE_BOUND,
        Stream::Stderr => STDERR_BOUND,
    });
    let mut buffer = vec![0; READ];
    let mut pieces = Vec::new();
    let mut after_exit = 0;
    let quiet = async {
        exited.cancelled().await;
        sleep(SETTLE).await;
    };
    tokio::pin!(quiet);
    loop {
        let read = tokio::select! {
            // What is there already counts, however late it is read.
            biased;
            read = pipe.read(&mut buffer) => read,
            () = &mut quiet, if settled.is_some() => {
                settled = None;
                continue;
            }
        };
        let at = Instant::now();
        let bytes = match read {
            // A pipe gives no other error than that it is gone.
            Ok(0) | Err(_) => break,
            Ok(length) => buffer.get(..length).unwrap_or_default(),
        };
        splitter.push(bytes, |piece| pieces.push(piece));
        for piece in pieces.drain(..) {
            give(&out, at, stream, piece).await;
        }
        if exited.is_cancelled() {
            after_exit += bytes.len();
            if after_exit > PIPE_CAPACITY {
                settled = None;
            }
        }
    }
    let at = Instant::now();
    if let Some(piece) = splitter.finish() {
        give(&out, at, stream, piece).await;
    }
    if stream == Stream::Stdout {
        send(&out, at, Party::Agent, Body::Eof).await;
    }
}

async fn give(out: &Outbox, at: Instant, stream: Stream, piece: Piece) {
    let body = match (stream, piece) {
        (Stream::Stderr, Piece::Line(bytes) | Piece::Partial(bytes) | Piece::TooLong(bytes)) => {
            Body::Stderr(bytes)
        }
        (Stream::Stdout, Piece::Line(bytes)) => Body::of_line(bytes, false),
        (Stream::Stdout, Piece::Partial(bytes)) => Body::of_line(bytes, true),
        (Stream::Stdout, Piece::TooLong(mut bytes)) => {
            let note = Body::Other(json!({ "cut": { "bound": LINE_BOUND, "kept": CUT_LINE } }));
            send(out, at, Party::Harness, note).await;
            bytes.truncate(CUT_LINE);
            bytes.shrink_to_fit();
            Body::Line {
                bytes,
                partial: false,
            }
        }
    };
    send(out, at, Party::Agent, body).await;
}

async fn send(out: &Outbox, at: Instant, from: Party, body: Body) {
    // Without a receiver nobody wants to know.
    let _ = out.send(Observed { at, from, body }).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn a_line_over_the_bound_is_given_cut_after_a_word_from_the_harness() {
        let (out, mut inbox) = mpsc::channel(4);
        give(
            &out,
            Instant::now(),
            Stream::Stdout,
            Piece::TooLong(vec![b'x'; CUT_LINE + 1]),
        )
        .await;
        let note = inbox.try_recv().unwrap();
        assert_eq!(note.from, Party::Harness);
        let line = crate::trace::Event::new(0.0, note.from, note.body).to_line();
        assert_eq!(
            line,
            r#"{"at":0.000000,"from":"harness","cut":{"bound":67108864,"kept":65536}}"#
        );
        let cut = inbox.try_recv().unwrap();
        assert_eq!(cut.from, Party::Agent);
        assert_eq!(cut.body.wire_bytes().map(<[u8]>::len), Some(CUT_LINE));
    }

    #[tokio::test]
    async fn a_stream_that_stays_open_settles_a_second_after_the_exit() {
        let (out, mut inbox) = mpsc::channel(4);
        let (mut writer, reader) = tokio::io::duplex(64);
        let (settled, mut has_settled) = oneshot::channel();
        let exited = CancellationToken::new();
        let task = tokio::spawn(read(reader, Stream::Stdout, out, exited.clone(), settled));
        tokio::io::AsyncWriteExt::write_all(&mut writer, b"before\n")
            .await
            .unwrap();
        assert_eq!(
            inbox.recv().await.unwrap().body,
            Body::of_line(b"before".to_vec(), false)
        );
        assert!(
            has_settled
                .try_recv()
                .is_err_and(|error| error == oneshot::error::TryRecvError::Empty)
        );
        exited.cancel();
        assert!((&mut has_settled).await.is_err(), "dropped");
        tokio::io::AsyncWriteExt::write_all(&mut writer, b"after\n")
            .await
            .unwrap();
        assert_eq!(
            inbox.recv().await.unwrap().body,
            Body::of_line(b"after".to_vec(), false)
        );
        drop(writer);
        assert_eq!(inbox.recv().await.unwrap().body, Body::Eof);
        task.await.unwrap();
    }
}
