//! The faces of a run: what people and programs read. They read findings and traces, and never judge.

mod differences;
mod excerpt;
mod failure;
mod json;
mod paint;
pub(crate) mod picture;
mod plain;
pub(crate) mod pretty;
mod run;
mod screen;
mod surroundings;
mod table;
mod text;
mod vicinity;

pub use differences::{Showing, counts, differences};
pub use json::{to_json, to_json_with};
pub use paint::Paint;
pub use plain::plain;
pub use run::{AgentIdentity, Fault, Recording, Run, Scenario};
pub use screen::{NARROWEST, Screen, WIDEST};
pub use surroundings::Surroundings;
pub(crate) use table::{table, wrapped};
pub use text::{Detail, text};
