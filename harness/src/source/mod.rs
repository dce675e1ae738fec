//! TOML files that people write: scenarios, profiles, settings. What is wrong in one is shown with file, line, column,
//! the line itself and what is allowed there.

mod field;
mod nearest;
mod problem;
mod text;
mod tree;

pub use field::{Field, Table};
pub use nearest::nearest;
pub use problem::{Details, Position, Problem};
pub use text::Source;
pub use tree::{Entry, Node, Value, parse};
