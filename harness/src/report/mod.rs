//! The faces of a run: what people and programs read. They read findings and traces, and never judge.

mod badge;
mod differences;
pub mod document;
mod evidence;
mod excerpt;
mod failure;
mod format;
mod json;
mod junit;
mod markdown;
mod paint;
pub mod part;
mod plain;
mod run;
mod surroundings;
mod table;
mod text;

pub use differences::{Showing, counts, differences};
pub use document::Document;
pub use format::Format;
pub use paint::Paint;
pub use plain::plain;
pub use run::{AgentIdentity, Failed, Fault, Recording, Run, Scenario};
pub use surroundings::Surroundings;
pub(crate) use table::{table, wrapped};
pub use text::{Detail, text};
