//! The recording of one agent process: its events, and the file that holds them (JSON Lines).

mod event;
mod exchange;
mod header;
mod lines;
mod observed;
mod reader;
mod recording;
mod writer;

pub use event::{Body, Event, Exit, Party};
pub use exchange::{Exchange, ExchangeEnd, ExchangePart};
pub use header::{FORMAT, Header};
pub use lines::Lines;
pub use observed::{Observed, Outbox};
pub use reader::{Damage, OpenError, TraceReader};
pub use recording::{Recording, RecordingError};
pub use writer::TraceWriter;
