//! The faces of a run: what people and programs read. They read findings and traces, and never judge.

mod differences;
mod excerpt;
mod failure;
mod json;
mod page;
mod paint;
mod plain;
mod run;
mod surroundings;
mod table;
mod text;

pub use differences::{Showing, counts, differences};
pub use json::{to_json, to_json_with};
pub use page::{Front, PageError, page};
pub use paint::Paint;
pub use plain::plain;
pub use run::{AgentIdentity, Fault, Recording, Run, Scenario};
pub use surroundings::Surroundings;
pub(crate) use table::{table, wrapped};
pub use text::{Detail, text};
