//! The faces of a run: what people and programs read. They read findings and traces, and never judge.

mod badge;
pub mod compare;
mod differences;
pub mod document;
mod evidence;
mod excerpt;
mod failure;
mod format;
mod json;
mod junit;
mod markdown;
mod page;
mod paint;
pub mod part;
pub(crate) mod picture;
mod plain;
pub(crate) mod pretty;
mod run;
mod screen;
mod surroundings;
mod table;
mod text;
mod unexercised;
mod vicinity;

pub use differences::{Showing, counts, differences};
pub use document::Document;
pub use format::Format;
pub use page::{Front, PageError, page};
pub use paint::Paint;
pub use plain::plain;
pub use run::{AgentIdentity, Failed, Fault, Recording, Run, Scenario};
pub use screen::{NARROWEST, Screen, WIDEST};
pub use surroundings::Surroundings;
pub(crate) use table::{table, wrapped};
pub use text::{Detail, text};
