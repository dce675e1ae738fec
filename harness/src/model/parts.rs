//! The body of a reply that is written piece by piece while it is sent, and that can break off.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc;

/// A part of a reply's body.
#[derive(Debug)]
pub(super) enum Part {
    /// These bytes.
    Bytes(Bytes),
    /// The connection breaks off.
    Break,
}

/// The body of a reply, which its exchange writes.
#[derive(Debug)]
pub(crate) struct Parts {
    parts: mpsc::Receiver<Part>,
    breaking: bool,
}

impl Parts {
    /// A body, and what writes it: one part at a time, the next when that has been taken to be sent.
    pub(super) fn new() -> (mpsc::Sender<Part>, Self) {
        let (sender, parts) = mpsc::channel(1);
        let body = Self {
            parts,
            breaking: false,
        };
        (sender, body)
    }
}

impl Body for Parts {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.breaking {
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())));
        }
        match self.parts.poll_recv(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Ready(Some(Part::Bytes(bytes))) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Poll::Ready(Some(Part::Break)) => {
                // What came before is written out while the body has nothing to give, and lost after an error.
                self.breaking = true;
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}
