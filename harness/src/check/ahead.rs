//! Reads events in a thread of its own, so that one core reads while another judges.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use crate::trace::{Damage, Event, TraceReader};
use crate::wire::Reading;

/// So many events are handed over at once.
const BATCH: usize = 256;
/// So many bytes of lines of the wire are handed over at once, but for one that is longer by itself.
const BATCH_BYTES: usize = 1 << 20;
/// So many batches wait at most.
const WAITING: usize = 4;

/// What a line of a recording holds.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all items are events, and a box for each would cost more than it saves"
)]
pub(super) enum Item {
    /// An event, and what its line of the wire holds.
    Event {
        line: u64,
        event: Event,
        reading: Option<Reading>,
    },
    /// The header of another recording.
    Header,
    /// Nothing that can be read; `cut`: the line has no end.
    Damage { damage: Damage, cut: bool },
}

/// Gives every item of a recording in order.
///
/// # Errors
/// What reading gave, after everything before it was given.
pub(super) fn read(
    reader: TraceReader<impl BufRead + Send>,
    mut give: impl FnMut(&Item),
) -> io::Result<()> {
    let (batches, taken) = sync_channel(WAITING);
    // What was judged goes back, to be freed where it was made.
    let (back, spent) = channel();
    thread::scope(|scope| {
        let reading = scope.spawn(move || read_ahead(reader, &batches, &spent));
        for batch in taken {
            let batch: Vec<Item> = batch;
            batch.iter().for_each(&mut give);
            let _ = back.send(batch);
        }
        drop(back);
        reading
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that reads has ended")))
    })
}

fn read_ahead(
    mut reader: TraceReader<impl BufRead>,
    batches: &SyncSender<Vec<Item>>,
    spent: &Receiver<Vec<Item>>,
) -> io::Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut bytes = 0;
    loop {
        let next = reader.next_event();
        let is_last = !matches!(next, Ok(Some(_)));
        let outcome = match next {
            Ok(Some(Ok(event))) => {
                bytes += event.body.wire_bytes().map_or(0, <[u8]>::len);
                batch.push(Item::Event {
                    line: reader.line(),
                    reading: event.body.reading(),
                    event,
                });
                Ok(())
            }
            Ok(Some(Err(damage))) => {
                batch.push(if reader.is_header() {
                    Item::Header
                } else {
                    Item::Damage {
                        damage,
                        cut: reader.is_cut(),
                    }
                });
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if is_last || batch.len() >= BATCH || bytes >= BATCH_BYTES {
            bytes = 0;
            if batches.send(std::mem::take(&mut batch)).is_err() || is_last {
                return outcome;
            }
            // One that was judged is emptied and used again.
            while let Ok(old) = spent.try_recv() {
                batch = old;
                batch.clear();
            }
        }
    }
}
