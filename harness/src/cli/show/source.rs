//! The lines of a recording, to its end or on and on.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::trace::{Damage, Event, Header, OpenError, TraceReader};

/// How long it is waited before a file that has not grown is looked at again: short after it has grown, then longer.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(500);
/// After so long without anything new, what is held back is shown.
const IDLE: Duration = Duration::from_millis(200);
/// So many lines wait at most.
const WAITING: usize = 256;

/// What a line holds.
pub(super) enum Item {
    /// An event.
    Event(Event),
    /// The header of another process's recording.
    Header,
    /// Nothing that can be read.
    Damage(Damage),
    /// No line: nothing new has come for a moment.
    Idle,
}

/// The next line of a recording; `None` at its end.
pub(super) fn next<R: BufRead>(reader: &mut TraceReader<R>) -> io::Result<Option<Item>> {
    Ok(reader.next_event()?.map(|next| match next {
        Ok(event) => Item::Event(event),
        Err(_) if reader.is_header() => Item::Header,
        Err(damage) => Item::Damage(damage),
    }))
}

/// A recording that is still being written: its header, and its lines as they come.
pub(super) struct Growing {
    pub(super) header: Header,
    items: Receiver<io::Result<Item>>,
    idle: bool,
}

impl Growing {
    /// Opens a recording, and waits for its header.
    ///
    /// # Errors
    /// Where it cannot be opened, or is none.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let input: Box<dyn Read + Send> = if path.as_os_str() == "-" {
            Box::new(io::stdin())
        } else {
            Box::new(Tail {
                file: File::open(path)?,
                read: 0,
            })
        };
        let mut reader = TraceReader::open(BufReader::with_capacity(1 << 16, input))?;
        let header = reader.header().clone();
        let (give, items) = sync_channel(WAITING);
        thread::spawn(move || read_on(&mut reader, &give));
        Ok(Self {
            header,
            items,
            idle: false,
        })
    }

    /// The next line, or that there is none for now; `None` where no more can come.
    ///
    /// # Errors
    /// What reading gave.
    pub(super) fn next(&mut self) -> io::Result<Option<Item>> {
        if !self.idle {
            match self.items.recv_timeout(IDLE) {
                Ok(item) => return item.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {
                    self.idle = true;
                    return Ok(Some(Item::Idle));
                }
            }
        }
        self.idle = false;
        self.items.recv().ok().transpose()
    }
}

fn read_on(reader: &mut TraceReader<impl BufRead>, give: &SyncSender<io::Result<Item>>) {
    loop {
        let next = next(reader).transpose();
        match next {
            None => return,
            Some(item) => {
                let is_last = item.is_err();
                if give.send(item).is_err() || is_last {
                    return;
                }
            }
        }
    }
}

/// A file that has no end: at its end it is waited until there is more.
struct Tail {
    file: File,
    read: u64,
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut pause = SHORTEST;
        loop {
            let read = self.file.read(buffer)?;
            self.read += read as u64;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let length = self.file.metadata()?.len();
            if self.file.metadata()?.is_file() && length < self.read {
                return Err(io::Error::other(
                    "the file has become shorter: it was written anew",
                ));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}
